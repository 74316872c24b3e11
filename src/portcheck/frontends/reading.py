"""What both frontends hand out: a source that was read, the kernels in it, and what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from portcheck.core.source import Span
from portcheck.ir import Program


@dataclass(frozen=True, slots=True)
class KernelSignature:
    """A kernel that a file defines, before it is lowered."""

    name: str
    parameters: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Problem:
    """Text that did not parse: where, and what is wrong with it."""

    span: Span
    message: str


class Module(Protocol):
    """A source file that was read. Reading never raises on what the file says; `problems` holds what did not parse."""

    @property
    def kernels(self) -> tuple[KernelSignature, ...]:
        """The kernels defined in the file, in order."""
        ...

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What did not parse."""
        ...

    def lower(self, names: Sequence[str]) -> Program:
        """The program that launches the kernels `names`, in that order."""
        ...
