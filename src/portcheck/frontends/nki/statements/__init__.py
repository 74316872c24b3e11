"""Statements, one after the other, and what both arms of a branch leave behind."""
