"""Seeded inputs."""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def normal(random: np.random.Generator, *shape: int, dtype: Any = np.float32) -> Array:
    """Normally distributed numbers of one format."""
    return random.standard_normal(shape).astype(np.float32).astype(dtype)


def untouched(*shape: int, dtype: Any = np.float32) -> Array:
    """What an output holds before the kernel writes it."""
    return np.full(shape, 77, dtype)


def integers(random: np.random.Generator, least: int, stop: int, *shape: int, dtype: Any = np.int32) -> Array:
    """Integers from `least` on, below `stop`."""
    return random.integers(least, stop, shape).astype(dtype)
