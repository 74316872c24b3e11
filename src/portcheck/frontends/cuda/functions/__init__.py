"""Calls of functions whose text is at hand: which is meant, and its body put in."""
