"""What the vendor's own kernels write, and no document refuses, is no finding; what looks like it is one."""

from __future__ import annotations

import pytest
from tests.rules.generation.texts import codes

PORT = """
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def k(x: nl.ndarray, y):
    out = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
    p = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
    nisa.dma_copy(dst=a, src=x)
    {line}
    return out
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nisa.nc_matmul(p, a, a, perf_mode='double_row')", []),
        ("nisa.nc_matmul(p, a, a, perf_mode='doublerow')", ["PC805"]),
        ("nisa.dma_copy(dst=a, src=x.in_tiles())", []),
        ("nisa.dma_copy(dst=out, src=a.in_tiles())", ["PC804"]),
        ("nisa.memset(a, x * 2)", []),
        ("a * 2", ["PC802"]),
        (
            "b = nl.ndarray((128, 8), dtype=y, buffer=nl.sbuf); "
            "nisa.scalar_tensor_tensor(a, a, nl.add, 1.0, nl.add, a, dtype=y)",
            ["PC802"],
        ),
    ],
)
def test_only_what_a_document_refuses_is_a_finding(line: str, expected: list[str]) -> None:
    assert codes(PORT.format(line=line), "0.6") == expected
