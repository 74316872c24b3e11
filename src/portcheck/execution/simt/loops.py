"""Loops: all threads go round together, and fewer of them as some are done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from portcheck.core.dtype import BOOL, DType
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.simt.batch import Batch, Leaving
from portcheck.execution.simt.compilation import Compilation, Step
from portcheck.execution.simt.control import CompileStep, body, narrow, slots_in
from portcheck.execution.simt.expressions import compiled
from portcheck.ir import Leave, Loop, Op, Range, Return, Symbol, While, operations, subexpressions
from portcheck.ir.walk import expressions


class Iterations:
    """The threads that are still in a loop, and what they take from outside of it."""

    def __init__(self, batch: Batch, inputs: Sequence[int], may_leave: bool) -> None:
        self._batch = batch
        self._inputs = inputs
        self._entered = batch.active
        self._saved = [batch.slots[slot] for slot in inputs]
        self._current = self._saved
        self._outer = batch.leaving
        self.active = batch.active
        if may_leave:
            batch.leaving = Leaving(np.zeros(batch.threads, np.bool_), np.zeros(batch.threads, np.bool_))

    def start(self) -> None:
        """Makes the threads still in the loop the active ones, with what they take from outside."""
        self._batch.active = self.active
        for slot, value in zip(self._inputs, self._current, strict=True):
            self._batch.slots[slot] = value

    def keep(self, positions: Value) -> None:
        """Only the threads at these positions go on."""
        self.active = self.active.narrowed(positions)
        self._current = [value[positions] if value is not None and value.ndim else value for value in self._current]

    def finish_iteration(self) -> Value | None:
        """Brings back who left the iteration only; the positions of those who go on, None where all do."""
        batch = self._batch
        if batch.active is self.active:
            return None
        gone = np.zeros(batch.threads, np.bool_) if batch.returned is None else batch.returned
        if batch.leaving is not None and batch.leaving.has_left:
            gone = gone | batch.leaving.loop
        numbers = np.arange(batch.threads) if self.active.index is None else self.active.index
        stays = ~gone[numbers]
        if stays.all():
            return None
        positions = np.flatnonzero(stays)
        self.keep(positions)
        return positions

    def end(self) -> None:
        """All who entered and have not returned go on behind the loop."""
        batch = self._batch
        for slot, value in zip(self._inputs, self._saved, strict=True):
            batch.slots[slot] = value
        batch.leaving = self._outer
        batch.active = self._entered
        if batch.returned is None:
            return
        numbers = np.arange(batch.threads) if self._entered.index is None else self._entered.index
        stays = ~batch.returned[numbers]
        if not stays.all():
            batch.active = self._entered.narrowed(np.flatnonzero(stays))


def _leaves_loop(ops: Sequence[Op]) -> bool:
    return any(isinstance(inner, Leave | Return) for inner in operations(ops))


def loop(compilation: Compilation, op: Loop, compile_step: CompileStep) -> Step:
    """Runs a body for each value of a variable, for all threads at once as long as they have one."""
    slot = compilation.slot(op.variable)
    dtype = _variable_dtype(op)
    inner = body(compilation, op.body, compile_step, op.span)
    inputs = tuple(number for number in inner.inputs if number != slot)
    stepper = _Stepper(compilation, op, slot, dtype)
    first = compiled(compilation, op.values.start, dtype).code
    inputs = tuple(sorted(set(inputs) | stepper.inputs - {slot}))
    may_part = _leaves_loop(op.body)

    def run(batch: Batch) -> None:
        current = collapsed(first(batch))
        turns = Iterations(batch, inputs, may_part)
        state = stepper.start(batch)
        while turns.active.count:
            turns.start()
            batch.slots[slot] = current
            goes_on = stepper.holds(batch, state, current)
            if goes_on.ndim == 0:
                if not goes_on:
                    break
            elif not goes_on.all():
                positions = np.flatnonzero(goes_on)
                if not positions.size:
                    break
                turns.keep(positions)
                current, state = at(current, positions), stepper.at(state, positions)
                turns.start()
                batch.slots[slot] = current
            inner.run(batch)
            stayed = turns.finish_iteration()
            if stayed is not None:
                current, state = at(current, stayed), stepper.at(state, stayed)
            turns.start()
            batch.slots[slot] = current
            current = stepper.next(batch, state, current)
        turns.end()

    return run


def at(value: Value, positions: Value) -> Value:
    """What belongs to the threads at these positions."""
    return value[positions] if value.ndim else value


def collapsed(value: Value) -> Value:
    """One number instead of the same one for every thread."""
    if value.ndim and value.size and (value[0] == value).all():
        return cast(Value, value[0])
    return value


def _variable_dtype(op: Loop) -> DType:
    """The format the loop variable is kept in: the widest of its uses, else that of its start."""
    places = [expression for inner in operations(op.body) for expression in expressions(inner)]
    if not isinstance(op.values, Range):
        places += [op.values.condition, op.values.next]
    found = [
        part.dtype
        for place in places
        for part in subexpressions(place)
        if isinstance(part, Symbol) and part.name == op.variable
    ]
    return max(found or [op.values.start.dtype], key=lambda dtype: storage(dtype).itemsize)


State = tuple[Value, Value]


class _Stepper:
    """How a loop variable goes on: by a constant step below a bound, or by expressions over the variable."""

    def __init__(self, compilation: Compilation, op: Loop, slot: int, dtype: DType) -> None:
        self._values = op.values
        self.inputs: set[int] = set()
        self._kept = storage(dtype)
        if isinstance(op.values, Range):
            self._stop = compiled(compilation, op.values.stop, None).code
            self._step = compiled(compilation, op.values.step, None).code
        else:
            self._condition = compiled(compilation, op.values.condition, BOOL).code
            self._next = compiled(compilation, op.values.next, dtype).code
            for expression in (op.values.condition, op.values.next):
                slots_in(compilation, expression, self.inputs)

    def start(self, batch: Batch) -> State:
        """The bound and the step, which do not change."""
        if not isinstance(self._values, Range):
            return _NO_STATE
        return collapsed(self._stop(batch)), collapsed(self._step(batch))

    def at(self, state: State, positions: Value) -> State:
        """The bound and the step of the threads at these positions."""
        return at(state[0], positions), at(state[1], positions)

    def holds(self, batch: Batch, state: State, current: Value) -> Value:
        """Whether the loop goes on with the value `current`."""
        if not isinstance(self._values, Range):
            return self._condition(batch)
        stop, step = state
        if step.ndim == 0:
            return cast(Value, current < stop if step > 0 else current > stop)
        return np.where(step > 0, current < stop, current > stop)

    def next(self, batch: Batch, state: State, current: Value) -> Value:
        """The value after `current`, which the variable has."""
        if not isinstance(self._values, Range):
            return self._next(batch)
        return cast(Value, current + state[1].astype(self._kept))


_NO_STATE: State = (cast(Value, np.int32(0)), cast(Value, np.int32(0)))


def repeat(compilation: Compilation, op: While, compile_step: CompileStep) -> Step:
    """Runs a test and a body until the condition fails, thread by thread."""
    test = body(compilation, op.test, compile_step, op.span)
    condition = compiled(compilation, op.condition, BOOL).code
    inner = body(compilation, op.body, compile_step, op.span)
    asked: set[int] = set()
    slots_in(compilation, op.condition, asked)
    made = {compilation.slots[part.id] for part in op.test if part.id in compilation.slots}
    inputs = tuple(sorted(set(test.inputs) | (set(inner.inputs) | asked) - made))
    may_part = _leaves_loop((*op.test, *op.body))
    runs_first = op.body_first

    def run(batch: Batch) -> None:
        turns = Iterations(batch, inputs, may_part)
        if runs_first:
            turns.start()
            inner.run(batch)
            turns.finish_iteration()
        while turns.active.count:
            turns.start()
            test.run(batch)
            goes_on = condition(batch)
            if goes_on.ndim == 0:
                if not goes_on:
                    break
            elif not goes_on.all():
                positions = np.flatnonzero(goes_on)
                if not positions.size:
                    break
                turns.keep(positions)
                turns.start()
                narrow(batch, made, positions)
            inner.run(batch)
            turns.finish_iteration()
        turns.end()

    return run
