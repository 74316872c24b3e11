"""Rules about what the chip and the version of NKI that a port is meant for accept."""
