"""What a value that is not understood was made from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from portcheck.frontends.nki.values.arithmetic import is_number
from portcheck.frontends.nki.values.callables import Function
from portcheck.frontends.nki.values.values import External, Format, Items, Nothing, Parameter, Text, Unknown, Value
from portcheck.ir import OpaqueKind, Ref, refs_in, symbols_in

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context


def may_vary(context: Context, value: Value) -> bool:
    """Whether `value` is made from data, from a loop's variable or from something that may hold tiles."""
    for item in _made_from(context, value):
        if is_number(item):
            if refs_in(item) or any(context.is_bound(name) for name in symbols_in(item)):
                return True
        elif isinstance(item, Parameter):
            if context.facts[item.name].is_tensor:
                return True
        elif isinstance(item, Function):
            if context.loop_depth:  # what is around it may be a loop's variable
                return True
        elif not isinstance(item, Unknown | Nothing | Text | External | Format | Items):
            return True
    return False


def is_fixed(context: Context, value: Unknown) -> bool:
    """Whether `value` is computed from numbers while tracing, by operators and calls that are followed."""
    for item in _made_from(context, value):
        if isinstance(item, Unknown) and item.kind is OpaqueKind.CALL:
            return False
        if not isinstance(item, Unknown | Items) and not is_number(item):
            return False
    return not may_vary(context, value)


def _made_from(context: Context, value: Value) -> Iterator[Value]:
    """`value`, what it was made from if it was not understood, and so on; each once."""
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        yield item
        if not isinstance(item, Unknown | Items) or id(item) in seen:
            continue
        seen.add(id(item))
        context.burn()
        if isinstance(item, Items):
            pending.extend(item.held if item.series is None else [item.series.element])
            choice = item.choice
            pending.extend([] if choice is None else [choice.condition, choice.first, choice.second])
        else:
            is_call = item.kind is OpaqueKind.CALL and bool(item.parts) and isinstance(item.parts[0], Ref)
            pending.extend(item.parts[is_call:])
