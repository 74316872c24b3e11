"""Loops: kept, or evaluated round by round."""
