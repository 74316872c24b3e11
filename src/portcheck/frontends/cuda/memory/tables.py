"""Which arrays of the file keep what their lists say, and what variables of the file begin with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from portcheck.core.dtype import DType
from portcheck.frontends.cuda.memory.places import scalar
from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.parsing.syntax import Node, Unit
from portcheck.ir import Const, Expr, integer

_LIST = "initializer_list"
_MOST_NUMBERS = 4096
_DEVICE = ("__device__", "__global__")


def is_never_changed(state: State, declaration: Node, name: str) -> bool:
    """Whether nothing changes an array: it is `const`, or constant memory that the host hands to no function."""
    if declaration.has("const") or declaration.has("constexpr"):
        return True
    return declaration.has("__constant__") and name not in _handed_by_host(state)


def _handed_by_host(state: State) -> frozenset[str]:
    """The names in what the host hands to functions, found once: a file may use its tables thousands of times."""
    if state.handed_by_host is None:
        units = state.definitions.units
        state.handed_by_host = frozenset(
            name.text for unit in units for listed in _lists_of_host(unit) for name in listed.found("identifier")
        )
    return state.handed_by_host


def _lists_of_host(unit: Unit) -> Iterator[Node]:
    """The argument lists outside of device code; not those inside of others."""
    end = 0
    for listed in unit.root.found("argument_list"):
        if listed.end > end and not _is_in_device_code(listed):
            end = listed.end
            yield listed


def initial_numbers(state: State, initial: Node, dtype: DType, shape: Sequence[Expr]) -> tuple[Const, ...]:
    """The literals that `initial` gives the elements of a variable; none where that is not known of each."""
    extents = [constant_value(extent) for extent in shape]
    known = [extent for extent in extents if extent is not None]
    if len(known) != len(extents) or len(initial.named) > _MOST_NUMBERS:
        return ()
    return tuple(_numbers(state, initial, dtype, known) or ())


def _numbers(state: State, node: Node, dtype: DType, extents: list[int]) -> list[Const] | None:
    """Numbers in the order of the elements: a list inside starts a row, and what it leaves out is 0."""
    if node.type != _LIST:
        number = _literal(state, node, dtype)
        return None if number is None or extents else [number]
    if not extents:
        return _numbers(state, node.named[0], dtype, []) if len(node.named) == 1 else None
    row, found = math.prod(extents[1:]), list[Const]()
    for item in node.named:
        starts_row = item.type == _LIST and len(found) % row == 0
        part = _numbers(state, item, dtype, extents[1:] if starts_row else [])
        if part is None:
            return None
        found += part
        missing = row - len(part) if starts_row else 0
        found += [_zero(dtype)] * missing
    return found if len(found) <= math.prod(extents) else None


def _zero(dtype: DType) -> Const:
    return Const(0.0, dtype) if dtype.is_float else integer(0, dtype)


def _literal(state: State, node: Node, dtype: DType) -> Const | None:
    """The literal an expression is; None where it is none, or takes operations."""
    with state.builder.region() as emitted:
        value = convert(state, scalar(state, state.evaluate(node), node), dtype)
    if emitted or value.dtype != dtype:
        return None
    if isinstance(value.expr, Const):
        return value.expr
    whole = None if dtype.is_float else constant_value(value.expr)
    return None if whole is None else Const(whole, dtype)


def _is_in_device_code(node: Node) -> bool:
    current = node.parent
    while current is not None and current.type != "function_definition":
        current = current.parent
    return current is not None and any(current.has(word) for word in _DEVICE)
