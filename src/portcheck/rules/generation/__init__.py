"""PC801 to PC808: the names, arguments and forms of a port against the version of NKI it is read as."""
