"""What a value is made of: the values in it, the buffers and results that they stand in, its dtype."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from portcheck.core.dtype import BOOL, FLOAT32, FLOAT64, INT32, INT64, UINT8, DType
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.values.callables import BoundMethod, Method, Super
from portcheck.frontends.nki.values.data import as_number, is_in_sight
from portcheck.frontends.nki.values.tiles import Grid, Joining, Masked, Result, View
from portcheck.frontends.nki.values.values import Either, Items, Parameter, Table, Unknown, Value
from portcheck.ir import Expr


def leaves_of(value: Value | None) -> list[Value]:
    """The values in a list, table or object, each object once, or `value` itself; of a method what it is called on.

    Of a choice these are the values in both.
    """
    return [
        item
        for item in reached_from(value)
        if not isinstance(item, Either | Items | Table | Method | BoundMethod | Super)
    ]


def every_leaf(value: Value | None) -> list[Value]:
    """As `leaves_of`; of one of two values by a condition both of them, and the condition."""
    found: list[Value] = []
    pending, seen = [value], set[int]()
    while pending:
        for item in reached_from(pending.pop()):
            if isinstance(item, Either) and id(item) not in seen:
                seen.add(id(item))
                found.append(item.condition)
                pending.extend((item.second, item.first))
            found.extend(leaves_of(item) if not isinstance(item, Items | Table) else ())
    return found


def either_in(context: Context, value: Value | None) -> Either | None:
    """One of two values by a condition that is not known: `value` itself, or the first in a tuple of them."""
    pending = [value] if value is not None else []
    seen: set[int] = set()
    while pending:
        item = context.resolve(pending.pop())
        if isinstance(item, Either):
            return item
        if isinstance(item, Items | Table) and item.choice is not None:
            return item.choice
        if isinstance(item, Items) and not item.lost and id(item) not in seen:
            seen.add(id(item))
            pending.extend(reversed(item.held))
    return None


def buffers_of(context: Context, *values: Value | None) -> tuple[str, ...]:
    """The buffers that `values` stand in."""
    found: list[str] = []
    for value in _with_parts(context, values):
        if isinstance(value, View):
            found.extend([value.buffer.name] if is_in_sight(context, value) else [])
            found.extend(name for item in value.gathered for name in buffers_of(context, item.source))
        elif isinstance(value, Result) and value.view is not None:
            found.extend([value.view.buffer.name] if is_in_sight(context, value.view) else [])
        elif isinstance(value, Parameter) and context.facts[value.name].is_tensor:
            found.append(value.name)
        elif isinstance(value, Masked | Joining):
            found.extend(buffers_of(context, value.source))
    return tuple(dict.fromkeys(found))


_PARTS = 32
"""Parts of what is not understood that are looked at for the price of one syntax node."""


def _with_parts(context: Context, values: Sequence[Value | None]) -> Iterator[Value]:
    """`values` with what is not understood replaced by what it was made from, and a choice by both, each once."""
    pending = [value for value in reversed(values) if value is not None]
    seen: set[int] = set()
    visited = 0
    while pending:
        visited += 1
        if visited % _PARTS == 0:
            context.burn()
        value = pending.pop()
        if not isinstance(value, Unknown | Either):
            yield value
        elif id(value) not in seen:
            seen.add(id(value))
            parts = value.parts if isinstance(value, Unknown) else (value.first, value.second)
            pending.extend(reversed(parts))


def expressions_of(context: Context, *values: Value | None) -> tuple[Expr, ...]:
    """The results and numbers among `values`."""
    found: list[Expr] = []
    for value in _with_parts(context, values):
        if isinstance(value, Result) and (value.view is None or not is_in_sight(context, value.view)):
            found.extend([value.expression] if context.builder.sees(value.expression) else [])
        elif isinstance(value, Masked | Joining):
            found.extend(expressions_of(context, value.source))
        else:
            number = as_number(context, value)
            if number is not None:
                found.append(number)
    return tuple(found)


def dtype_of_value(context: Context, value: Value | None) -> DType | None:
    """The dtype of a tile, tensor or immediate; a Python bool acts as uint8, an int as int32, a float as float32."""
    match value:
        case View():
            return value.buffer.dtype
        case Result():
            return value.dtype
        case Parameter(name) if context.facts[name].is_tensor:
            return context.parameter_view(name).buffer.dtype
        case Grid():
            return INT32
        case _:
            number = as_number(context, value)
    if number is None:
        return None
    return FLOAT32 if number.dtype.is_symbolic else _WEAK.get(number.dtype, number.dtype)


_WEAK = {BOOL: UINT8, INT64: INT32, FLOAT64: FLOAT32}
