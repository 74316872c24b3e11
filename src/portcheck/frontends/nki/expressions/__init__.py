"""Expressions: what each one stands for."""
