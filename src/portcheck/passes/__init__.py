"""Facts about one program, each from one pass over the IR; they sit beside the operations, never on them."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.ir import Atomic, Barrier, Call, Exchange, Opaque, Program, kernel_operations
from portcheck.passes.assertions import Assertion, assertions
from portcheck.passes.precision import Precision, global_buffers, precision
from portcheck.passes.residency import Padding, Swizzle, paddings, swizzles
from portcheck.passes.synchronisation import atomics, block_barriers, exchanges
from portcheck.passes.usage import Usage, usage


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything the passes say about a program."""

    program: Program
    usage: Usage
    precision: Precision
    assertions: tuple[Assertion, ...]
    paddings: tuple[Padding, ...]
    swizzles: tuple[Swizzle, ...]
    barriers: tuple[Barrier, ...]
    exchanges: tuple[Exchange, ...]
    atomics: tuple[Atomic, ...]
    opaque: tuple[Opaque, ...]
    calls: tuple[Call, ...]

    @property
    def is_understood(self) -> bool:
        """Whether nothing in the program was kept as it is written, so that what was not found in it is not there."""
        return not (self.opaque or self.calls)


def facts_of(program: Program) -> Facts:
    """Runs all passes over `program`."""
    ops = tuple(kernel_operations(program))
    return Facts(
        program=program,
        usage=usage(program),
        precision=precision(program),
        assertions=assertions(program),
        paddings=paddings(program),
        swizzles=swizzles(program),
        barriers=block_barriers(program),
        exchanges=exchanges(program),
        atomics=atomics(program),
        opaque=tuple(op for op in ops if isinstance(op, Opaque)),
        calls=tuple(op for op in ops if isinstance(op, Call)),
    )


__all__ = ["Assertion", "Facts", "Padding", "Precision", "Swizzle", "Usage", "facts_of", "global_buffers"]
