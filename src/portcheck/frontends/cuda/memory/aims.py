"""Pointers that may point into one of several buffers: which one it is, and accesses to each where it is the one.

While a kernel is lowered such a pointer points into a buffer that does not exist (an aim). Once all is lowered an
access to it becomes one to either buffer, masked, and a choice between what both give.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.model.frames import Aim
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Buffer
from portcheck.ir import (
    Access,
    Apply,
    Atomic,
    Call,
    Const,
    Copy,
    Expr,
    Load,
    Op,
    Opaque,
    OpaqueKind,
    Operator,
    Random,
    Ref,
    Select,
    Space,
    Store,
    apply,
)
from portcheck.ir.walk import reads, rebuild, writes

NONE = ""
"""Stands among the buffers of a pointer for none: the null pointer."""
REASON = "pointer that may point into several buffers"


def aimed(state: State, holds: Expr, first: str, second: str) -> str | None:
    """A name for the buffer that is `first` (or none) where `holds`, else `second`; None where they are not alike."""
    if not are_alike(state, (first, second)):
        return None
    other = state.buffers[second]
    one = state.buffers.get(first, other)
    key = Aim(holds, first, second)
    known = next((name for name, aim in state.aims.items() if aim == key), None)
    if known is None:
        known = state.unique(f"{first}|{second}")
        state.aims[known] = key
        space = one.space if one.space is other.space else Space.GLOBAL
        state.buffers[known] = Buffer(known, one.dtype, (), one.constant or other.constant, space)
    return known


def are_alike(state: State, names: Iterable[str]) -> bool:
    """Whether a pointer may point into any of these buffers: all hold the same sort of number, none is a variable."""
    buffers = [state.buffers.get(name) for name in names if name != NONE]
    spaces = {buffer.space if buffer is not None else Space.REGISTER for buffer in buffers}
    return Space.REGISTER not in spaces and len({buffer.dtype for buffer in buffers if buffer is not None}) == 1


def options_of(state: State, name: str) -> tuple[str, ...]:
    """The buffers that an aim may be, `NONE` first where it may be none; a buffer itself."""
    aim = state.aims.get(name)
    if aim is None:
        return (name,)
    return united(options_of(state, aim.first), options_of(state, aim.second))


def united(*options: tuple[str, ...]) -> tuple[str, ...]:
    """Buffers of several pointers, `NONE` first."""
    found = dict.fromkeys(name for listed in options for name in listed)
    return tuple(sorted(found, key=lambda name: name != NONE))


def buffers_behind(state: State, name: str) -> tuple[str, ...]:
    """The buffers that an aim may be; a buffer itself."""
    return tuple(option for option in options_of(state, name) if option != NONE)


def number_in(state: State, name: str, options: tuple[str, ...]) -> Expr | None:
    """The position among `options` of the buffer that `name` is; None where it may be another one."""
    aim = state.aims.get(name)
    if aim is None:
        return Const(options.index(name), INT32) if name in options else None
    first, second = number_in(state, aim.first, options), number_in(state, aim.second, options)
    if first is None or second is None:
        return None
    return Apply(Operator.SELECT, (aim.holds, first, second), INT32)


def of_number(state: State, number: Expr, options: tuple[str, ...]) -> str | None:
    """The aim that is the buffer at the position `number` among `options`."""
    found: str | None = options[-1]
    for position in reversed(range(len(options) - 1)):
        if found is not None:
            holds = apply(Operator.EQUAL, number, Const(position, INT32))
            found = aimed(state, holds, options[position], found)
    return found


def without_aims(state: State, body: tuple[Op, ...]) -> tuple[Op, ...]:
    """`body` with accesses to buffers that exist in place of those to aims."""
    return rebuild(body, partial(_without, state)) if state.aims else body


def _without(state: State, op: Op) -> tuple[Op, ...]:
    named = [name for name in (*reads(op), *writes(op)) if name in state.aims]
    if not named:
        return (op,)
    aim = state.aims[named[0]]
    if aim.first == NONE and not isinstance(op, Opaque | Call):
        return _without(state, _elsewhere(op, named[0], aim.second))
    match op:
        case Load() | Store() | Atomic():
            first = replace(op, id=state.builder.fresh(), access=_at(op.access, aim.first, aim.holds))
            other = apply(Operator.LOGICAL_NOT, aim.holds)
            second = replace(op, id=state.builder.fresh(), access=_at(op.access, aim.second, other))
            parts: list[Op] = [*_without(state, first), *_without(state, second)]
            if not isinstance(op, Store):
                dtype = op.type.dtype
                parts.append(
                    Select(
                        id=op.id, span=op.span, via=op.via, condition=aim.holds, on_true=Ref(first.id, dtype),
                        on_false=Ref(second.id, dtype), type=op.type,
                    )
                )  # fmt: skip
            return tuple(parts)
        case Copy():
            first_copy = _copied(op, named[0], aim.first, aim.holds)
            second_copy = _copied(op, named[0], aim.second, apply(Operator.LOGICAL_NOT, aim.holds))
            return (*_without(state, first_copy), *_without(state, replace(second_copy, id=state.builder.fresh())))
        case Opaque() | Call():
            return (replace(op, reads=_real(state, op.reads), writes=_real(state, op.writes)),)
        case _:
            unread = Opaque(
                id=op.id, span=op.span, via=op.via, reason=REASON, reads=_real(state, reads(op)),
                writes=_real(state, writes(op)), type=getattr(op, "type", None), kind=OpaqueKind.MEMORY,
            )  # fmt: skip
            return (unread,)


def _elsewhere(op: Op, aim: str, buffer: str) -> Op:
    """`op` on another buffer: nothing is accessed through a null pointer."""
    match op:
        case Load() | Store() | Atomic():
            return replace(op, access=replace(op.access, buffer=buffer))
        case Copy():
            source, destination = (
                replace(access, buffer=buffer) if access.buffer == aim else access
                for access in (op.source, op.destination)
            )
            return replace(op, source=source, destination=destination)
        case Random():
            return replace(op, state=buffer)
        case _:
            return op


def _at(access: Access, buffer: str, holds: Expr) -> Access:
    """The same element of another buffer, only where `holds`."""
    mask = holds if access.mask is None else apply(Operator.LOGICAL_AND, access.mask, holds)
    return replace(access, buffer=buffer, mask=mask)


def _copied(op: Copy, aim: str, buffer: str, holds: Expr) -> Copy:
    source, destination = (
        _at(access, buffer if access.buffer == aim else access.buffer, holds) for access in (op.source, op.destination)
    )
    return replace(op, source=source, destination=destination)


def _real(state: State, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(real for name in names for real in buffers_behind(state, name)))
