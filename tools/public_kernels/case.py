"""What is executed: a kernel of a public source, how it is launched, and what it must give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from tools.public_kernels.arithmetic import Arithmetic, Number

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Argument: TypeAlias = Array | np.generic | int | float | None
"""A buffer (which the kernel may write), a number, or a null pointer."""
Expected: TypeAlias = Mapping[str, Number | Array]
"""What the buffers hold afterwards: numbers with a bound, or integers and copies that are equal bit for bit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One launch with its inputs; buffers the reference does not name must stay as they were."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Mapping[str, Argument]
    reference: Callable[[Arithmetic], Expected]
    shared_bytes: int = 0

    @property
    def threads(self) -> int:
        """Threads in flight."""
        return int(np.prod(self.grid) * np.prod(self.block))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A kernel and the sizes it is run at; `build` makes a run of a generator and the numbers of one size.

    `defines` are macros and template arguments. `explained` says why an event that the executor reports is right:
    the kernel does so, and its source shows that it does no harm or what harm it does.
    """

    file: str
    kernel: str
    build: Callable[..., Run]
    sizes: tuple[Mapping[str, Any], ...]
    defines: tuple[tuple[str, str], ...] = ()
    explained: Mapping[str, str] = field(default_factory=dict)
    label: str = ""


def blocks_for(total: int, block: int) -> int:
    """Blocks that cover `total` threads."""
    return -(-total // block)
