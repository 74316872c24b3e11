"""Reductions that take only part of the terms: every g-th element, or one part in g."""

from __future__ import annotations

from portcheck.ir import Polynomial
from portcheck.values import Element, Fold, subterms
from portcheck.values.fusion import arguments_of_minimum


def skipped(fold: Fold) -> int:
    """g if the summed elements of an input are one part in g of a contiguous stretch; 1 if they are contiguous.

    Only strides and extents that are numbers tell; anything else counts as contiguous.
    """
    shares = [_skipped(fold, node.address) for node in subterms(fold.body) if isinstance(node, Element)]
    return max(shares, default=1)


def _skipped(fold: Fold, address: Polynomial) -> int:
    strides = []
    for bound in fold.bounds:
        coefficient = address.coefficient(bound.variable)
        stride = coefficient.constant if coefficient is not None else None
        step = bound.step.constant
        if stride is not None and step is not None and stride > 0:
            extents = [part.constant for part in arguments_of_minimum(bound.stop) if part.constant is not None]
            strides.append((stride * step, min(extents, default=None)))
    share = 1
    reached: int | None = 1
    for stride, extent in sorted(strides, key=lambda entry: entry[0]):
        if reached is None:
            break
        if stride > reached and stride % reached == 0:
            share *= stride // reached
        reached = stride * extent if extent is not None else None
    return share
