"""Data exchanged between cores and devices."""

from __future__ import annotations

from typing import TypeGuard

from portcheck.core.dtype import FLOAT32, INT64
from portcheck.frontends.nki.expressions.bind import Call, as_sizes, ir_operator
from portcheck.frontends.nki.lowering.functions import operand_for, operator_for
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import known_int, same
from portcheck.frontends.nki.values.data import (
    allocate,
    as_number,
    as_view,
    compute,
    load,
    note_written,
    resolved,
    store,
)  # fmt: skip
from portcheck.frontends.nki.values.leaves import leaves_of
from portcheck.frontends.nki.values.operands import cast
from portcheck.frontends.nki.values.series import element
from portcheck.frontends.nki.values.tiles import View
from portcheck.frontends.nki.values.values import NONE, Items, Value
from portcheck.frontends.nki.values.views import access
from portcheck.ir import Collective, CollectiveKind, Expr, Loop, Operator, Range, Space, Symbol, integer
from portcheck.knowledge import Role, Semantics

_KINDS = {
    Semantics.COLLECTIVE_REDUCE: CollectiveKind.REDUCE,
    Semantics.COLLECTIVE_SCATTER: CollectiveKind.SCATTER,
    Semantics.COLLECTIVE_GATHER: CollectiveKind.GATHER,
    Semantics.COLLECTIVE_EXCHANGE: CollectiveKind.EXCHANGE,
    Semantics.COLLECTIVE_PERMUTE: CollectiveKind.PERMUTE,
    Semantics.COLLECTIVE_RING: CollectiveKind.RING,
    Semantics.COLLECTIVE_SEND: CollectiveKind.SEND,
}


def exchange(call: Call) -> Value:
    """What every rank gives and gets, tensor by tensor; one after the other where it is not known how many."""
    length = _length(call)
    if length is None:
        _exchange(call, None)
        return NONE
    context = call.context
    variable = context.bind_symbol("channel")
    with context.builder.region() as body:
        _exchange(call, Symbol(variable, INT64))
    values = Range(start=integer(0), stop=length, step=integer(1))
    context.builder.emit(Loop, via=call.via, variable=variable, values=values, body=tuple(body))
    context.builder.end(variable)
    return NONE


def _exchange(call: Call, place: Expr | None) -> None:
    kind = _KINDS[call.api.semantics]
    destinations = _tensors(call, Role.DESTINATION, place)
    given = [_tensors(call, role, place) for role in _GIVEN]
    present = [tensors for tensors in given if tensors]
    if not present or any(len(tensors) != len(destinations) for tensors in present):
        raise MisunderstoodError("the tensors are not understood")
    operator = _operator(call)
    ranks, size = _ranks(call)
    for position, destination in enumerate(destinations):
        source = present[0][position]
        if kind is CollectiveKind.RING and len(present) > 1:
            source = _combined(call, operator, source, present[1][position])
        _emit(call, kind, destination, source, operator if kind in _COMBINING else None, ranks, size)


def _length(call: Call) -> Expr | None:
    """How many tensors there are, where a loop made the lists of them; None where each is known."""
    values = [value for role in (Role.DESTINATION, *_GIVEN) for value in call.all(role)]
    lists = [value.series for value in values if isinstance(value, Items) and not value.lost]
    lengths = [series.length for series in lists if series is not None]
    if not lengths:
        return None
    if len(lengths) != len(values) or not all(same(length, lengths[0]) for length in lengths):
        raise MisunderstoodError("how many tensors there are is not understood")
    return lengths[0]


_GIVEN = (Role.SOURCES, Role.SOURCE, Role.OPERAND0, Role.OPERAND1)
_COMBINING = (CollectiveKind.REDUCE, CollectiveKind.SCATTER)


def _emit(
    call: Call, kind: CollectiveKind, destination: View, source: View, operator: Operator | None,
    ranks: tuple[int, ...], size: int,
) -> None:  # fmt: skip
    context = call.context
    is_tile = destination.buffer.is_on_chip or source.buffer.is_on_chip
    note_written(context, destination)
    is_sent = kind is CollectiveKind.SEND
    peers = [call.number(role) if is_sent else None for role in (Role.SEND_TO, Role.RECEIVE_FROM)]
    if is_sent and None in peers:
        raise MisunderstoodError("with which rank data is exchanged is not understood")
    dimension = call.constant(Role.AXIS) or 0
    context.builder.emit(
        Collective, via=call.via, kind=kind, operator=operator, dimension=int(dimension), ranks=ranks, group_size=size,
        destination=access(resolved(context, destination), is_tile=is_tile),
        source=access(resolved(context, source), is_tile=is_tile), send_to=peers[0], receive_from=peers[1],
    )  # fmt: skip


def over_programs(call: Call) -> Value:
    """A tile combined with those of the program instances along some axes of the launch; each gets the result."""
    given = call.given(Role.SOURCE)
    operator, axes = _operator(call), _program_axes(call)
    value = operand_for(call, given)
    if operator is None or not value.shape:
        raise MisunderstoodError("the operator or the operand is not understood")
    context = call.context
    value = cast(context, value, FLOAT32)
    own, made = (allocate(context, "", FLOAT32, value.shape, Space.SHARED, call.via) for _ in range(2))
    store(context, own, value, mask=call.mask, via=call.via)
    context.builder.emit(
        Collective, via=call.via, kind=CollectiveKind.REDUCE, operator=operator, program_axes=axes,
        destination=access(made, is_tile=True), source=access(own, is_tile=True),
    )  # fmt: skip
    return call.finish(load(context, made), given)


def _program_axes(call: Call) -> tuple[int, ...]:
    """The axes that are given by their numbers, or by the positions of this program instance along them."""
    value = call.given(Role.AXIS)
    positions = {name: int(name.partition("[")[2].rstrip("]")) for name in call.context.program_axes}
    axes: list[int] = []
    for item in value.values if isinstance(value, Items) else [value]:
        number = as_number(call.context, item) if item is not None else None
        axis = positions.get(number.name) if isinstance(number, Symbol) else known_int(number)
        if axis is None or axis < 0 or axis in axes:
            raise MisunderstoodError("the program axes are not understood")
        axes.append(axis)
    if not axes:
        raise MisunderstoodError("the program axes are not understood")
    return tuple(axes)


def _tensors(call: Call, role: Role, place: Expr | None) -> list[View]:
    """The tensors in an argument: one, a list, or a list of lists; those at `place` of a list that a loop made."""
    found: list[View] = []
    for value in call.all(role):
        series = value.series if isinstance(value, Items) and place is not None else None
        taken = value if series is None or place is None else element(series, place)
        for leaf in leaves_of(taken):
            view = as_view(call.context, leaf)
            if view is None:
                raise MisunderstoodError("a tensor is not understood")
            found.append(view)
    return found


def _operator(call: Call) -> Operator | None:
    if not call.api.with_role(Role.OPERATOR):
        return None
    operator = ir_operator(operator_for(call, Role.OPERATOR))
    if operator is None:
        raise MisunderstoodError("the operator is not understood")
    return operator


def _combined(call: Call, operator: Operator | None, first: View, second: View) -> View:
    """A new tensor with two combined, element by element, before they travel."""
    if operator is None:
        raise MisunderstoodError("the operator is not understood")
    context, dtype = call.context, first.buffer.dtype
    sides = [load(context, view, is_tile=first.buffer.is_on_chip) for view in (first, second)]
    made = compute(context, operator, sides, dtype, via=call.via)
    view = allocate(context, "", dtype, first.shape, first.buffer.space, call.via)
    store(context, view, made, via=call.via, is_tile=first.buffer.is_on_chip)
    return view


def _ranks(call: Call) -> tuple[tuple[int, ...], int]:
    """The ranks that take part and how many make a group; none where that is not known."""
    value = call.given(Role.RANKS) or call.given(Role.PATTERN)
    held = value.values if _is_written_out(value) else []
    groups = [as_sizes(call.context, item) if _is_written_out(item) else None for item in held]
    numbers = [[known_int(rank) for rank in group or ()] for group in groups]
    ranks = [rank for group in numbers for rank in group if rank is not None]
    sizes = {len(group) for group in numbers}
    if not ranks or len(sizes) != 1 or len(ranks) != sum(map(len, numbers)):
        return (), 0
    return tuple(ranks), sizes.pop()


def _is_written_out(value: Value | None) -> TypeGuard[Items]:
    """Whether `value` is a list of which each element is known."""
    return isinstance(value, Items) and not value.lost and value.series is None


def group(call: Call) -> Value:
    """Groups of ranks: the lists of them."""
    value = call.given(Role.RANKS)
    return value if value is not None else NONE
