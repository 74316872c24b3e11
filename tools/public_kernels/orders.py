"""The orders a kernel sums in, as data: a list of stages, each with its height.

A sum runs as a list of stages along the last axis. A stage puts the terms into groups, each of which becomes one
partial sum. Its fold says in which order a group is added up, and with that how many roundings a term passes at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class Fold(StrEnum):
    """How the terms of a group are added."""

    SEQUENTIAL = "sequential"
    """Starting at 0, one after the other."""
    HALVING = "halving"
    """The upper half to the lower half until one is left: trees in shared memory and by shuffles."""
    ADJACENT = "adjacent"
    """Neighbours, then neighbours of those: interleaved addressing."""
    ANY = "any"
    """Every tree is possible (atomics), or one the vendor does not state (a library's reduction)."""


@dataclass(frozen=True, slots=True)
class Stage:
    """`group` turns (..., terms) into (..., groups, terms of one group); absent terms are 0."""

    fold: Fold
    group: Callable[[Array], Array]


Order: TypeAlias = tuple[Stage, ...]


def strided(lanes: int) -> Stage:
    """Lane t adds the terms t, t + lanes, ... one after the other."""
    return Stage(Fold.SEQUENTIAL, lambda terms: np.swapaxes(rows_of(terms, lanes), -1, -2))


def sequential() -> Stage:
    """One thread adds all terms."""
    return Stage(Fold.SEQUENTIAL, lambda terms: terms[..., None, :])


def together(fold: Fold) -> Stage:
    """All terms in one group."""
    return Stage(fold, lambda terms: terms[..., None, :])


def warps(fold: Fold = Fold.HALVING, lanes: int = 32) -> Stage:
    """Groups of `lanes` neighbours: the lanes of a warp."""
    return Stage(fold, lambda terms: rows_of(terms, lanes))


def rows_of(terms: Array, width: int) -> Array:
    """(..., n) as (..., ceil(n / width), width), filled up with zeros."""
    rows = -(-terms.shape[-1] // width)
    padded = np.zeros((*terms.shape[:-1], rows * width), terms.dtype)
    padded[..., : terms.shape[-1]] = terms
    return padded.reshape(*terms.shape[:-1], rows, width)


def height(fold: Fold, terms: int) -> int:
    """How many roundings a term of a group of `terms` passes at most; from 0 the first addition is exact."""
    match fold:
        case Fold.HALVING | Fold.ADJACENT:
            return (terms - 1).bit_length()
        case Fold.SEQUENTIAL | Fold.ANY:
            return max(terms - 1, 0)


def folded(fold: Fold, groups: Array) -> Array:
    """Every group added up in its order, in the format it has."""
    match fold:
        case Fold.SEQUENTIAL | Fold.ANY:
            total = np.zeros(groups.shape[:-1], groups.dtype)
            for place in range(groups.shape[-1]):
                total = total + groups[..., place]
            return total
        case Fold.HALVING:
            while groups.shape[-1] > 1:
                half = groups.shape[-1] // 2
                groups = groups[..., :half] + groups[..., half:]
        case Fold.ADJACENT:
            while groups.shape[-1] > 1:
                groups = groups[..., 0::2] + groups[..., 1::2]
    return groups[..., 0]
