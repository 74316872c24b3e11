"""The two readers: CUDA source and NKI source, each lowered into the IR. They only read; nothing is executed."""
