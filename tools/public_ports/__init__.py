"""Executes kernels of public NKI sources and compares them with references written by us or beside them."""
