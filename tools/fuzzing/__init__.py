"""What `tools/fuzz.py` reads: made and mutated texts of both sides, and what may be wrong with what became of them."""
