"""What stands in a file: its text as trees, what it imports, which kernels it has, which version it is written for."""
