"""Inline PTX: its text, and what each instruction does."""
