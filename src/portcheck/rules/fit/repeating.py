"""The numbers that a size takes in the rounds of a loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from portcheck.ir import Expr, Kernel, Loop, Range, integer, substitute, symbols_in
from portcheck.ir.walk import operations
from portcheck.rules.fit.port import number_of

_MOST = 1024
"""Rounds that are looked at."""


def rounds_of(kernel: Kernel) -> Mapping[str, range]:
    """The values of the loop variables of `kernel` with known bounds, without names that two loops differ in."""
    found: dict[str, set[range]] = {}
    for op in operations(kernel.body):
        if isinstance(op, Loop):
            found.setdefault(op.variable, set()).add(_values(op) or range(0))
    return {name: next(iter(values)) for name, values in found.items() if len(values) == 1}


def _values(loop: Loop) -> range | None:
    if not isinstance(loop.values, Range):
        return None
    bounds = [number_of(size) for size in (loop.values.start, loop.values.stop, loop.values.step)]
    start, stop, step = bounds
    return None if start is None or stop is None or not step else range(start, stop, step)


def numbers_of(size: Expr, rounds: Mapping[str, range]) -> Iterator[int]:
    """`size` as a number, or in each round of the only loop whose variable is in it."""
    known = number_of(size)
    if known is not None:
        yield known
        return
    names = set(symbols_in(size))
    if len(names) != 1 or not names <= set(rounds):
        return
    (name,) = names
    for value in rounds[name][:_MOST]:
        found = number_of(substitute(size, {name: integer(value)}))
        if found is not None:
            yield found
