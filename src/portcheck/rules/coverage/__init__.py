"""PC0xx: what was not understood, and what the comparison rests on."""
