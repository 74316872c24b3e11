"""Executes kernels of public CUDA sources and compares them with references written by us."""
