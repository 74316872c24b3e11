"""Barriers, exchanges and atomics, in source order."""

from __future__ import annotations

from portcheck.ir import Atomic, Barrier, Exchange, Program, Scope, kernel_operations


def block_barriers(program: Program) -> tuple[Barrier, ...]:
    """The barriers that the threads of a block wait at."""
    return tuple(op for op in kernel_operations(program) if isinstance(op, Barrier) and op.scope is Scope.BLOCK)


def exchanges(program: Program) -> tuple[Exchange, ...]:
    """The movements of values between lanes."""
    return tuple(op for op in kernel_operations(program) if isinstance(op, Exchange))


def atomics(program: Program) -> tuple[Atomic, ...]:
    """The atomic operations."""
    return tuple(op for op in kernel_operations(program) if isinstance(op, Atomic))
