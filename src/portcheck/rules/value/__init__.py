"""PC5xx: what each output element is."""
