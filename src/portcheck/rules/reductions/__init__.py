"""PC2xx: reductions and the order of their terms."""
