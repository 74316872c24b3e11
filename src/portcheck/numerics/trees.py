"""A reduction as a list of stages, and the height of each: how many roundings a term passes.

Sources: N. J. Higham, Accuracy and Stability of Numerical Algorithms (2nd ed., SIAM 2002), ch. 4, for summation as a
tree and its height; the stage list is described in docs/explanation/reductions.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.core.dtype import DType
from portcheck.core.source import NOWHERE, Span
from portcheck.ir import Order, Polynomial, number
from portcheck.ir.operators import Operator
from portcheck.ir.polynomial import opaque


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step of a reduction: how many terms are combined in which order, kept in which dtype, written where.

    `buffer` is the buffer that holds the running result, where there is one.
    """

    name: str
    terms: Polynomial
    order: Order
    dtype: DType
    span: Span = NOWHERE
    operations: frozenset[int] = frozenset()
    buffer: str = ""


def stage_height(stage: Stage) -> Polynomial:
    """The most roundings a term of `stage` passes; an order nobody states is charged the worst, terms - 1."""
    if stage.order in (Order.PAIRWISE, Order.BUTTERFLY):
        return _ceiling_of_log2(stage.terms)
    return stage.terms - 1


def _ceiling_of_log2(terms: Polynomial) -> Polynomial:
    value = terms.constant
    if value is not None:
        return number(max(value - 1, 0).bit_length())
    return opaque(Operator.CEIL, opaque(Operator.LOG2, terms))


def height(stages: tuple[Stage, ...]) -> Polynomial:
    """The height of the whole reduction: the sum over its stages."""
    total = number(0)
    for stage in stages:
        total = total + stage_height(stage)
    return total
