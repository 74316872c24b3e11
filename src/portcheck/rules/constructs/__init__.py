"""PC1xx: CUDA constructs that have no one-to-one counterpart in NKI."""
