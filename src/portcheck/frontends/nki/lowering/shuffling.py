"""Values exchanged between partitions."""

from __future__ import annotations

from portcheck.core.dtype import INT32
from portcheck.frontends.nki.arithmetic import known_int
from portcheck.frontends.nki.bind import Call, as_sizes
from portcheck.frontends.nki.data import Operand
from portcheck.frontends.nki.failure import MisunderstoodError
from portcheck.frontends.nki.lowering.functions import operand_for
from portcheck.frontends.nki.values import Value
from portcheck.ir import ZERO, Exchange, ExchangeKind, ValueType, integer
from portcheck.knowledge import Role


def stream_shuffle(call: Call) -> Value:
    """Partition i of every group takes the value of partition pattern[i] of its group."""
    given = call.given(Role.SOURCE)
    value = operand_for(call, given)
    pattern = _pattern(call)
    made = call.context.builder.result(
        Exchange, via=call.via, kind=ExchangeKind.PATTERN, operand=value.expression, lane=ZERO,
        width=integer(len(pattern), INT32), pattern=pattern, type=ValueType(value.dtype, value.shape),
    )  # fmt: skip
    return call.finish(Operand(made, value.dtype, value.shape), given)


def _pattern(call: Call) -> tuple[int, ...]:
    """The source of each partition of a group; an entry beyond it keeps the destination, which is not followed."""
    sizes = [known_int(size) for size in as_sizes(call.context, call.given(Role.PATTERN)) or ()]
    pattern = tuple(size for size in sizes if size is not None)
    if not pattern or len(pattern) != len(sizes):
        raise MisunderstoodError("the pattern is not known")
    if not all(0 <= source < len(pattern) for source in pattern):
        raise MisunderstoodError("the pattern keeps partitions of the destination")
    return pattern
