"""Kernels of a few lines, lowered; two tiles `a` and `b` stand ready."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.frontends.nki.state.context import Context
from portcheck.ir import Expr, Kernel, Leave, LeaveKind, Op, Opaque, Program, Store, operations
from portcheck.ir.verify import verify

HEAD = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n"
TILES = (
    "a = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "b = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
)


def program(body: str, before: str = "", parameters: str = "x, n") -> Program:
    lines = "".join(f"    {line}\n" for line in (TILES + body).strip().splitlines())
    module = read_nki(SourceFile("port.py", f"{HEAD}{before}\n@nki.jit\ndef k({parameters}):\n{lines}"), NkiOptions())
    made = module.lower(["k"])
    assert verify(made) == ()
    return made


def kernel(body: str, before: str = "", parameters: str = "x, n") -> Kernel:
    return program(body, before, parameters).kernels[0]


def opaques(made: Kernel) -> list[Opaque]:
    return [op for op in operations(made.body) if isinstance(op, Opaque)]


def leaves(ops: tuple[Op, ...]) -> list[LeaveKind]:
    return [op.kind for op in operations(ops) if isinstance(op, Leave)]


def stores(ops: tuple[Op, ...]) -> list[Store]:
    return [op for op in operations(ops) if isinstance(op, Store)]


def value_of(body: str, before: str = "", parameters: str = "x, n") -> Expr:
    """What the first store into `a` writes, in a kernel that is understood."""
    made = kernel(body, before, parameters)
    assert opaques(made) == []
    return next(op.value for op in stores(made.body) if op.access.buffer == "a")


def burnt_by(lower: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> int:
    """How many nodes are evaluated while `lower` lowers a port."""
    burnt = 0
    plain = Context.burn

    def burn(context: Context, count: int = 1) -> None:
        nonlocal burnt
        burnt += count
        plain(context, count)

    with monkeypatch.context() as patch:
        patch.setattr(Context, "burn", burn)
        lower()
    return burnt
