"""Classes of a port, their objects, functions as values."""
