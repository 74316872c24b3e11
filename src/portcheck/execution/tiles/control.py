"""Loops, branches and what ends them; assertions, prints, and what is not run."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from enum import Enum, auto
from typing import Any, TypeAlias

import numpy as np

from portcheck.core.errors import InputError
from portcheck.execution.tiles import computing, moving, reducing
from portcheck.execution.tiles.events import EventKind
from portcheck.execution.tiles.expressions import integer_of, number_of, shape_of, undefined_in, unknown_in, value_of
from portcheck.execution.tiles.machine import Instance, Number
from portcheck.ir import (
    Alloc,
    Assume,
    Atomic,
    Barrier,
    Branch,
    Call,
    Cast,
    Check,
    CheckKind,
    Collective,
    Compute,
    Copy,
    Exchange,
    Expr,
    Fence,
    Leave,
    LeaveKind,
    Load,
    Loop,
    Matmul,
    Op,
    Opaque,
    Random,
    Range,
    Reduce,
    Return,
    Sample,
    Scan,
    Select,
    Sort,
    Store,
    Transpose,
    While,
)  # fmt: skip


class Left(Enum):
    """How a region was left before its end."""

    ITERATION = auto()
    LOOP = auto()
    KERNEL = auto()


Running: TypeAlias = Generator[Barrier | Collective, None, Left | None]
"""A region that is run; it pauses where it needs others: at a barrier, and where data is exchanged."""


def run_region(instance: Instance, body: Iterable[Op]) -> Running:
    """Runs operations one after the other."""
    for op in body:
        match op:
            case Loop():
                left = yield from _loop(instance, op)
            case While():
                left = yield from _while(instance, op)
            case Branch():
                region = op.then if condition(instance, op.condition, op) else op.otherwise
                left = yield from run_region(instance, region)
            case Leave():
                return Left.LOOP if op.kind is LeaveKind.LOOP else Left.ITERATION
            case Return():
                _return(instance, op)
                return Left.KERNEL
            case Barrier() | Collective():
                yield op
                continue
            case _:
                _step(instance, op)
                continue
        if left is not None:
            return left
    return None


def _step(instance: Instance, op: Op) -> None:
    """Runs an operation without regions; what NumPy refuses ends the run, above all arrays that do not fit."""
    try:
        _STEPS[type(op)](instance, op)
    except ValueError as error:
        kind = EventKind.SHAPE_MISMATCH if _OF_SHAPES in str(error) else EventKind.NOT_EXECUTED
        raise instance.stop(kind, op, f"{op.via}: {error}") from None


_OF_SHAPES = "broadcast"
"""What NumPy speaks of where the shapes of arrays do not fit each other."""


def _loop(instance: Instance, op: Loop) -> Running:
    for value in _values(instance, op):
        instance.symbols[op.variable] = value
        instance.spend(op, 0)
        left = yield from run_region(instance, op.body)
        if left is Left.KERNEL:
            return left
        if left is Left.LOOP:
            break
    return None


def _values(instance: Instance, op: Loop) -> Iterator[int]:
    if isinstance(op.values, Range):
        bounds = [_bound(instance, bound, op) for bound in (op.values.start, op.values.stop, op.values.step)]
        if bounds[2] == 0:
            raise InputError(f"a loop of {instance.machine.kernel.name} has a step of 0")
        yield from range(*bounds)
        return
    instance.symbols[op.variable] = integer_of(instance, op.values.start)
    while condition(instance, op.values.condition, op):
        value = instance.symbols[op.variable]
        yield int(value)
        instance.symbols[op.variable] = value
        instance.symbols[op.variable] = integer_of(instance, op.values.next)


def _bound(instance: Instance, expression: Expr, op: Op) -> int:
    _check_defined(instance, expression, op)
    return integer_of(instance, expression)


def _while(instance: Instance, op: While) -> Running:
    is_first = op.body_first
    while True:
        instance.spend(op, 0)
        if not is_first:
            yield from run_region(instance, op.test)
            if not condition(instance, op.condition, op):
                return None
        is_first = False
        left = yield from run_region(instance, op.body)
        if left is Left.KERNEL:
            return left
        if left is Left.LOOP:
            return None


def condition(instance: Instance, expression: Expr, op: Op) -> bool:
    """Whether `expression` holds."""
    _check_defined(instance, expression, op)
    return bool(number_of(instance, expression))


def _check_defined(instance: Instance, expression: Expr, op: Op) -> None:
    """Reports a value that is not defined and decides what is run."""
    undefined = undefined_in(instance, expression)
    if undefined is not None and undefined.any():
        text = "a value that is not defined decides what is run"
        instance.report(EventKind.UNDEFINED_CONDITION, op, text)


def _return(instance: Instance, op: Return) -> None:
    instance.machine.returned = op.buffers
    for name in op.buffers:
        instance.machine.made.setdefault(name, instance.memory(name))
    for name, extents in zip(op.buffers, op.shapes, strict=False):
        shape, own = shape_of(instance, extents), instance.memory(name)
        if math.prod(shape) != own.size:
            raise instance.stop(EventKind.SHAPE_MISMATCH, op, f"{name} is {own.shape}, and is returned as {shape}")
        instance.machine.seen[name] = shape


def _assume(instance: Instance, op: Assume) -> None:
    unknown = sorted(unknown_in(instance, op.condition))
    if unknown:
        text = f"what the kernel asserts is taken to hold: nothing states {', '.join(unknown)}"
        instance.report(EventKind.ASSUMED, op, text, subject="assert")
    elif not number_of(instance, op.condition):
        raise instance.stop(EventKind.ASSUMPTION_BROKEN, op, "what the kernel asserts does not hold")


def _check(instance: Instance, op: Check) -> None:
    if op.kind is not CheckKind.PRINT:
        raise instance.stop(EventKind.NOT_EXECUTED, op, f"a check ({op.kind}) is not run")
    shown: list[Number] = []
    for operand in op.operands:
        shown.extend(np.ravel(np.asarray(value_of(instance, operand)))[:_SHOWN].astype(np.float64).tolist())
    instance.report(EventKind.PRINT, op, op.message, values=tuple(shown))


_SHOWN = 8
"""Elements of a tile that a print shows."""


def _nothing(instance: Instance, op: Fence) -> None:
    """Instances run one after the other, so that their memory is in order."""


def _opaque(instance: Instance, op: Opaque) -> None:
    raise instance.stop(EventKind.NOT_EXECUTED, op, f"reaches what was not understood: {op.reason}")


def _call(instance: Instance, op: Call) -> None:
    raise instance.stop(EventKind.NOT_EXECUTED, op, f"calls {op.callee}, whose source is not at hand")


def _sample(instance: Instance, op: Sample) -> None:
    raise instance.stop(EventKind.NOT_EXECUTED, op, "a texture is not read")


_STEPS: Mapping[type[Op], Callable[[Instance, Any], None]] = {
    Alloc: moving.allocate, Load: moving.load, Store: moving.store, Copy: moving.copy, Atomic: moving.atomic,
    Compute: computing.compute, Cast: computing.cast_value, Select: computing.select,
    Transpose: computing.transpose, Exchange: computing.exchange, Random: computing.random,
    Sort: computing.sort,
    Reduce: reducing.reduce, Scan: reducing.scan, Matmul: reducing.matmul,
    Assume: _assume, Check: _check, Fence: _nothing, Opaque: _opaque, Call: _call, Sample: _sample,
}  # fmt: skip
