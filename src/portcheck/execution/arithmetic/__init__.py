"""Arithmetic on the number formats of both languages, rounded once: what the executors compute with."""
