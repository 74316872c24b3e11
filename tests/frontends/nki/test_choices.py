"""Values that are one of several by conditions that are not known: what they cost."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import burnt_by

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Program

HEAD = """
import nki
import nki.isa as nisa
import nki.language as nl

class Holder:
    def __init__(self):
        self.where = None
        self.count = 0

@nki.jit
def kernel(x, {flags}):
    out = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.shared_hbm)
    held = Holder()
    t = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
"""
STEP = """
    if {flag}:
        held.where = Holder() if held.where is None else held.where
        held.where = {value}
        held.where.count += 1
"""
LAST = """
    nisa.dma_copy(dst=out, src=t)
    return out
"""


def lowered(text: str) -> Program:
    port = read_nki(SourceFile("port.py", text), NkiOptions())
    return port.lower([kernel.name for kernel in port.kernels])


def steps(count: int, value: str) -> str:
    """A port that chooses something again by each of `count` conditions."""
    flags = [f"flag{place}" for place in range(count)]
    return HEAD.format(flags=", ".join(flags)) + "".join(STEP.format(flag=flag, value=value) for flag in flags) + LAST


def evaluated(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many nodes are evaluated while `text` is lowered."""
    return burnt_by(lambda: lowered(text), monkeypatch)


@pytest.mark.parametrize("value", ["Holder()", "unknown_name(x)"])
def test_cost_does_not_double_with_each_condition(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (evaluated(steps(count, value), monkeypatch) for count in (4, 8))
    assert many < 6 * few
