"""PTX instructions on memory: loads, stores, atomics, asynchronous copies."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import INT32, UINT32, DType
from portcheck.frontends.cuda.assembly.inline import Handler, Run, Step, UnreadInstructionError
from portcheck.frontends.cuda.assembly.instructions import inputs, typed
from portcheck.frontends.cuda.assembly.ptx import Several, Written
from portcheck.frontends.cuda.cooperation.asynchronous import copy_bytes
from portcheck.frontends.cuda.cooperation.atomics import OPERATORS, update
from portcheck.frontends.cuda.memory.places import element, read, target, unreadable, unwritable, write
from portcheck.frontends.cuda.memory.views import is_seen_as_held, seen_as
from portcheck.frontends.cuda.model.conversions import materialised
from portcheck.frontends.cuda.model.types import scalar_type
from portcheck.frontends.cuda.model.values import Place, Pointer, Scalar
from portcheck.ir import Branch, Const, Fence, MemoryOrder, Scope
from portcheck.knowledge import Semantics


def _places(run: Run, step: Step, address: Written, count: int, dtype: DType) -> list[Place]:
    """The `count` elements of `dtype` from an address on."""
    pointer = run.address(address)
    is_volatile = any(step.has(word) for word in ("volatile", "relaxed", "acquire", "release"))
    type_ = replace(scalar_type(dtype), volatile=is_volatile)
    start = Pointer(pointer.buffer, pointer.index, type_, pointer.rest)
    found: list[Place] = []
    for number in range(count):
        place = element(run.state, start, Scalar(Const(number, INT32), INT32)) if number else target(start)
        if not isinstance(place, Place):
            raise UnreadInstructionError(step.via)
        found.append(place)
    return found


def _load(run: Run, step: Step) -> None:
    """Reads one or several numbers side by side."""
    dtype, lanes = typed(step)
    written = step.written.operands[0]
    names = written.parts if isinstance(written, Several) else (written,)
    places = _places(run, step, inputs(step, 1)[0], len(names) * lanes, dtype)
    for place in places:
        obstacle = unreadable(run.state, place)
        if obstacle is not None:
            raise UnreadInstructionError(f"{step.via} of {obstacle.reason}")
    with run.state.masked(run.guard.expr if run.guard is not None else None):
        values = [read(run.state, place, run.node, step.via) for place in places]
    numbers = [value for value in values if isinstance(value, Scalar)]
    for number, name in enumerate(names):
        part = tuple(numbers[number * lanes : (number + 1) * lanes])
        run.put(name, part[0] if lanes == 1 else part)
    _order_after(run, step)


def _store(run: Run, step: Step) -> None:
    """Writes one or several numbers side by side."""
    dtype, lanes = typed(step)
    written = inputs(step, 1)[0]
    names = written.parts if isinstance(written, Several) else (written,)
    places = _places(run, step, step.written.operands[0], len(names) * lanes, dtype)
    for place in places:
        obstacle = unwritable(run.state, place)
        if obstacle is not None:
            raise UnreadInstructionError(f"{step.via} of {obstacle.reason}")
    _order_before(run, step)
    with run.state.builder.region() as body:
        for number, name in enumerate(names):
            for lane, value in enumerate(run.lanes(name, dtype, lanes)):
                place = places[number * lanes + lane]
                write(run.state, place, value, run.node, step.via)
    if run.guard is None:
        run.state.builder.adopt(body)
    else:
        run.state.builder.emit(Branch, condition=run.guard.expr, then=tuple(body), via=step.via)


def _order_after(run: Run, step: Step) -> None:
    if step.has("acquire"):
        run.state.builder.emit(Fence, scope=_scope(step), order=MemoryOrder.ACQUIRE, via=step.via)


def _order_before(run: Run, step: Step) -> None:
    if step.has("release"):
        run.state.builder.emit(Fence, scope=_scope(step), order=MemoryOrder.RELEASE, via=step.via)


def _scope(step: Step) -> Scope:
    found = step.one(Semantics.QUALIFIER_SCOPE)
    return found.scope if found is not None and found.scope is not None else Scope.DEVICE


def _atomic(run: Run, step: Step) -> None:
    """An update of one element; `red` has no result."""
    action = step.one(*OPERATORS)
    dtype, lanes = typed(step)
    if action is None or run.guard is not None:
        raise UnreadInstructionError(step.via)
    has_result = step.construct.name.endswith("atom")
    operands = step.written.operands[1:] if has_result else step.written.operands
    if lanes != 1 or isinstance(operands[1], Several):
        _several(run, step, (action.semantics, dtype, lanes), has_result)
        return
    place = _places(run, step, operands[0], 1, dtype)[0]
    if unwritable(run.state, place) is not None or place.type.dtype is None:
        raise UnreadInstructionError(step.via)
    if not is_seen_as_held(run.state, place):
        place = seen_as(run.state, place, dtype) or place
    values = [materialised(run.state, run.value(written, dtype)) for written in operands[1:]]
    is_swap = action.semantics is Semantics.ATOMIC_CAS
    order = step.one(Semantics.QUALIFIER_ORDER)
    old = update(
        run.state, place, action.semantics, value=values[1] if is_swap else values[0],
        compare=values[0] if is_swap else None, scope=_scope(step), used=has_result, via=step.via,
        order=order.memory_order if order is not None and order.memory_order is not None else MemoryOrder.RELAXED,
    )  # fmt: skip
    if has_result:
        run.put(step.written.operands[0], old)


def _several(run: Run, step: Step, what: tuple[Semantics, DType, int], has_result: bool) -> None:
    """Numbers side by side are updated one by one; nothing comes back."""
    semantics, dtype, lanes = what
    if has_result or semantics is Semantics.ATOMIC_CAS:
        raise UnreadInstructionError(step.via)
    address, written = step.written.operands[:2]
    names = written.parts if isinstance(written, Several) else (written,)
    values = [value for name in names for value in run.lanes(name, dtype, lanes)]
    for place, value in zip(_places(run, step, address, len(values), dtype), values, strict=True):
        if unwritable(run.state, place) is not None:
            raise UnreadInstructionError(step.via)
        held = place if is_seen_as_held(run.state, place) else seen_as(run.state, place, dtype) or place
        operand = materialised(run.state, value)
        update(run.state, held, semantics, value=operand, scope=_scope(step), used=False, via=step.via)


def _copy(run: Run, step: Step) -> None:
    """Bytes moved from global to shared memory: at once, as nothing looks at them before they have landed."""
    operands = step.written.operands
    if len(operands) < 3 or not isinstance(run.value(operands[2], UINT32).expr, Const):
        raise UnreadInstructionError(step.via)
    _moved(run, step, run.value(operands[3], UINT32) if len(operands) > 3 else None)


def _copy_bulk(run: Run, step: Step) -> None:
    """Bytes moved by one thread; the barrier that hears of it is what is waited for."""
    if len(step.written.operands) < 3 or step.one(*OPERATORS) is not None:
        raise UnreadInstructionError(step.via)
    _moved(run, step, None)


def _moved(run: Run, step: Step, limit: Scalar | None) -> None:
    operands = step.written.operands
    size = run.value(operands[2], UINT32)
    with run.state.builder.region() as body:
        done = copy_bytes(run.state, run.address(operands[0]), run.address(operands[1]), size, limit, step.via)
    if not done:
        raise UnreadInstructionError(step.via)
    if run.guard is None:
        run.state.builder.adopt(body)
    else:
        run.state.builder.emit(Branch, condition=run.guard.expr, then=tuple(body), via=step.via)


MEMORY: dict[Semantics, Handler] = {
    Semantics.LOAD: _load, Semantics.STORE: _store, Semantics.ATOMIC_ADD: _atomic, Semantics.COPY_ASYNC: _copy,
    Semantics.COPY_ASYNC_BULK: _copy_bulk,
}  # fmt: skip
