"""Seeded inputs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from tools.public_ports.case import Array

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def normal(random: np.random.Generator, *shape: int, dtype: Any = np.float32) -> Array:
    """Normally distributed numbers of one format."""
    return random.standard_normal(shape).astype(np.float32).astype(dtype)


def integers(random: np.random.Generator, least: int, stop: int, *shape: int, dtype: Any = np.int32) -> Array:
    """Integers from `least` on, below `stop`."""
    return random.integers(least, stop, shape).astype(dtype)


def wide(array: Array) -> Array:
    """An array in float64."""
    return array.astype(np.float64)
