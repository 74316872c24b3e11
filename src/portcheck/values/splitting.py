"""Flat indices that a kernel takes apart again by division and remainder become rows and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from portcheck.ir import Operator, Polynomial, Ranges, number
from portcheck.ir.algebra import ceiling_divide
from portcheck.ir.polynomial import split, symbol
from portcheck.values.fusion import Quantified, replaced, unit
from portcheck.values.terms import AtLeast, Bound, Condition, condition_polynomials, own_polynomials, subterms

_PARTS = (Operator.FLOOR_DIVIDE, Operator.FLOOR_MODULO)


def in_rows(scope: Quantified, ranges: Ranges) -> Quantified:
    """`scope` with every index that is divided by one radix only written as radix * row + column."""
    for bound in scope.bounds:
        radices = set(_radices(scope, bound.variable))
        if unit(bound) and len(radices) == 1:
            scope = _split(scope, bound, radices.pop(), ranges)
    return scope


def _radices(scope: Quantified, variable: str) -> Iterator[Polynomial]:
    names = {bound.variable for bound in scope.bounds}
    for polynomial in _polynomials(scope):
        for operator, (above, below) in _divisions(polynomial):
            if operator in _PARTS and variable in above.symbols and not below.symbols & names:
                yield below


def _polynomials(scope: Quantified) -> Iterator[Polynomial]:
    yield from scope.index
    for condition in scope.conditions:
        yield from condition_polynomials(condition)
    for node in subterms(scope.value):
        yield from own_polynomials(node)


def _divisions(value: Polynomial) -> Iterator[tuple[Operator, tuple[Polynomial, Polynomial]]]:
    for atom in value.atoms:
        if atom.operator is not None and len(atom.arguments) == 2:
            yield atom.operator, (atom.arguments[0], atom.arguments[1])
        for argument in atom.arguments:
            yield from _divisions(argument)


def _split(scope: Quantified, bound: Bound, radix: Polynomial, ranges: Ranges) -> Quantified:
    row, column = f"{bound.variable}/", f"{bound.variable}%"
    rows, rest = split(bound.stop, radix)
    whole = symbol(row) * radix + symbol(column)
    conditions: tuple[Condition, ...] = ()
    if rest.terms:
        rows = ceiling_divide(bound.stop, radix, ranges)
        conditions = (AtLeast(bound.stop - whole - 1),)
    inner = ranges.with_extent(row, rows).with_extent(column, radix)
    others = tuple(other for other in scope.bounds if other is not bound)
    narrowed = replaced(replace(scope, bounds=others), {bound.variable: whole}, inner)
    zero, one = number(0), number(1)
    bounds = (*narrowed.bounds, Bound(row, zero, rows, one), Bound(column, zero, radix, one))
    return replace(narrowed, bounds=bounds, conditions=(*narrowed.conditions, *conditions))
