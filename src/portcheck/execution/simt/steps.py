"""Which operation is compiled by what."""

from __future__ import annotations

from typing import assert_never

from portcheck.core.errors import InputError
from portcheck.execution.simt.accesses import copy, load, store
from portcheck.execution.simt.atomics import atomic
from portcheck.execution.simt.barriers import barrier
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.collectives import reduce, scan
from portcheck.execution.simt.compilation import Compilation, Step
from portcheck.execution.simt.computing import compute, convert, product_of, select
from portcheck.execution.simt.control import Body, body, branch, leave, leave_kernel
from portcheck.execution.simt.divisions import division_check, wanted_in
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.lanes import exchange
from portcheck.execution.simt.loops import loop, repeat
from portcheck.execution.simt.random import random
from portcheck.execution.simt.remaining import allocate, assume, check, not_of_threads, unknown
from portcheck.execution.simt.sampling import sample
from portcheck.execution.simt.tiles import matmul, transpose
from portcheck.ir import (
    Alloc,
    Assume,
    Atomic,
    Barrier,
    Branch,
    Call,
    Cast,
    Check,
    Collective,
    Compute,
    Copy,
    Exchange,
    Fence,
    Leave,
    Load,
    Loop,
    Matmul,
    Op,
    Opaque,
    Random,
    Reduce,
    Return,
    Sample,
    Scan,
    Select,
    Sort,
    Store,
    Transpose,
    While,
    operations,
)  # fmt: skip


def compile_kernel(compilation: Compilation) -> Body:
    """The body of a kernel, ready to run for a batch of its blocks."""
    for op in operations(compilation.kernel.body):
        if isinstance(op, Compute) and (product := product_of(compilation, op)) is not None:
            compilation.fused.add(product.id)
    compilation.wanted = wanted_in(compilation.kernel)
    return body(compilation, compilation.kernel.body, compile_step, compilation.kernel.span)


def compile_step(compilation: Compilation, op: Op) -> Step | None:
    """The step of one operation; None for one that does nothing.

    An operation in a form that is not executed ends the run where it is reached.
    """
    try:
        step, check = _step(compilation, op), division_check(compilation, op)
        return step if check is None or step is None else _checked(check, step)
    except InputError as error:
        if error.hint:
            raise
        return _refusal(op, error.message)


def _checked(check: Step, step: Step) -> Step:
    def run(batch: Batch) -> None:
        check(batch)
        step(batch)

    return run


def _refusal(op: Op, message: str) -> Step:
    def run(batch: Batch) -> None:
        raise batch.stop(EventKind.NOT_EXECUTED, op.span, message)

    return run


def _step(compilation: Compilation, op: Op) -> Step | None:
    match op:
        case Loop() | While() | Branch() | Leave() | Return():
            return _control(compilation, op)
        case Load():
            return load(compilation, op)
        case Store():
            return store(compilation, op)
        case Copy():
            return copy(compilation, op)
        case Atomic():
            return atomic(compilation, op)
        case Alloc():
            return allocate(compilation, op)
        case Compute():
            return compute(compilation, op)
        case Cast():
            return convert(compilation, op)
        case Select():
            return select(compilation, op)
        case _:
            return _rarer(compilation, op)


def _rarer(
    compilation: Compilation,
    op: Reduce
    | Scan
    | Matmul
    | Transpose
    | Exchange
    | Barrier
    | Fence
    | Random
    | Sample
    | Sort
    | Collective
    | Call
    | Assume
    | Check
    | Opaque,
) -> Step | None:
    match op:
        case Exchange():
            return exchange(compilation, op)
        case Barrier():
            return barrier(compilation, op)
        case Reduce():
            return reduce(compilation, op)
        case Scan():
            return scan(compilation, op)
        case Matmul():
            return matmul(compilation, op)
        case Transpose():
            return transpose(compilation, op)
        case Assume():
            return assume(compilation, op)
        case Check():
            return check(compilation, op)
        case Fence():
            return None  # memory is one, and every operation done before the next begins
        case Sample():
            return sample(compilation, op)
        case Random():
            return random(compilation, op)
        case Opaque() | Call():
            return unknown(compilation, op)
        case Sort() | Collective():
            return not_of_threads(compilation, op)
        case _:
            assert_never(op)


def _control(compilation: Compilation, op: Loop | While | Branch | Leave | Return) -> Step:
    match op:
        case Branch():
            return branch(compilation, op, compile_step)
        case Loop():
            return loop(compilation, op, compile_step)
        case While():
            return repeat(compilation, op, compile_step)
        case Leave():
            return leave(compilation, op)
        case Return():
            return leave_kernel(compilation, op)
        case _:
            assert_never(op)
