"""Sums in the orders that kernels add in, float32 step by step: the references of the executor's tests."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def strided(terms: Array, threads: int) -> Array:
    """Each thread's running sum over a row: thread t takes the terms t, t + threads, ... in turn."""
    rows, length = terms.shape
    turns = -(-length // threads)
    total = np.zeros((rows, threads), terms.dtype)
    for turn in range(turns):
        part = terms[:, turn * threads : (turn + 1) * threads]
        total[:, : part.shape[1]] += part
    return total


def halving(values: Array, combine: np.ufunc = np.add) -> Array:
    """A tree: place i takes place i + half, until one is left. As a warp's shuffles down, or xor from the top."""
    while values.shape[-1] > 1:
        half = values.shape[-1] // 2
        values = combine(values[..., :half], values[..., half:])
    return values[..., 0]


def doubling(values: Array) -> Array:
    """A butterfly from neighbours outwards: place i takes place i ^ 1, then i ^ 2, ... as xor from the bottom."""
    while values.shape[-1] > 1:
        values = values[..., 0::2] + values[..., 1::2]
    return values[..., 0]


def in_turn(values: Array) -> Array:
    """One after the other, from the first."""
    total = np.zeros(values.shape[:-1], values.dtype)
    for place in range(values.shape[-1]):
        total = total + values[..., place]
    return total
