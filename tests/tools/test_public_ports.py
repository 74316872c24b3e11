"""The tool that executes public ports: right ones pass, and a planted fault of every sort is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tools.public_ports.case import Case, Run, exact, near, unit
from tools.public_ports.catalogue import FIRST_SAMPLES, LIBRARY, SAMPLES
from tools.public_ports.inputs import normal, wide
from tools.public_ports.running import executed

PORT = """
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def row_sums(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, 128):
        size = min(128, rows - start)
        tile = nl.ndarray((size, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[start:start + size, 0:columns])
        total = nl.ndarray((size, 1), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total, op=nl.add, data=TILE, axis=1)
        STORE
    return out
"""
STORE = "nisa.dma_copy(dst=out[start:start + size, 0:1], src=total)"


def case(extra: float = 0.0, shape: tuple[int, ...] = (130, 1), dtype: Any = np.float32) -> Case:
    """The kernel with a reference that is wrong by `extra`."""

    def build(random: np.random.Generator, columns: int) -> Run:
        data = normal(random, 130, columns, dtype=dtype)
        value = wide(data).sum(1).reshape(shape) + extra
        size = np.abs(wide(data)).sum(1).reshape(shape)
        return Run(arguments={"x": data}, reference=lambda: (near(value, dtype, terms=columns, scale=size),))

    return Case(file="port.py", kernel="row_sums", build=build, sizes=({"columns": 70},))


def outcome(folder: Path, tried: Case, tile: str = "tile", store: str = STORE) -> Any:
    (folder / "port.py").write_text(PORT.replace("TILE", tile).replace("STORE", store), encoding="utf-8")
    return executed(folder, tried, tried.sizes[0])


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_a_right_kernel_is_within_its_bound(tmp_path: Path, dtype: Any) -> None:
    found = outcome(tmp_path, case(dtype=dtype))
    assert found.problems == ()
    assert found.how.startswith("bound, ")


def test_an_error_beyond_the_bound_is_found(tmp_path: Path) -> None:
    found = outcome(tmp_path, case(extra=0.001))
    assert len(found.problems) == 1
    assert "130 of 130 off" in found.problems[0]


def test_a_tail_that_is_not_summed_is_found(tmp_path: Path) -> None:
    assert "off" in outcome(tmp_path, case(), tile="tile[0:size, 0:columns - 1]").problems[0]


def test_rows_that_are_not_written_are_found(tmp_path: Path) -> None:
    problems = outcome(
        tmp_path, case(), store="nisa.dma_copy(dst=out[start:start + 1, 0:1], src=total[0:1, 0:1])"
    ).problems
    assert any("unwritten-result" in problem for problem in problems)


def test_a_result_of_another_shape_is_found(tmp_path: Path) -> None:
    assert outcome(tmp_path, case(shape=(65, 2))).problems == ("result 0: shape (130, 1) instead of (65, 2)",)


def test_what_was_not_understood_is_said(tmp_path: Path) -> None:
    found = outcome(tmp_path, case(), store="somewhere.else_(out, total)")
    assert found.how == "not run"
    assert any("somewhere.else_" in problem for problem in found.problems)


@pytest.mark.parametrize(("step", "is_right"), [(0.0, True), (1e-5, False)])
def test_an_exact_result_is_compared_bit_by_bit(tmp_path: Path, step: float, is_right: bool) -> None:
    def build(random: np.random.Generator, columns: int) -> Run:
        data = np.ones((130, columns), np.float32)
        return Run(arguments={"x": data}, reference=lambda: (exact(np.full((130, 1), columns + step)),))

    tried = Case(file="port.py", kernel="row_sums", build=build, sizes=({"columns": 70},))
    assert (not outcome(tmp_path, tried).problems) is is_right


def test_a_bound_is_that_of_a_sum() -> None:
    wanted = near(np.array([3.0]), np.float32, terms=10, scale=np.array([5.0]))
    assert wanted.error is not None
    assert wanted.error[0] == pytest.approx((3 + 1.01 * 12 * 5) * unit(np.float32), rel=1e-5)


def test_cases_name_each_kernel_and_label_once() -> None:
    for cases in (SAMPLES, FIRST_SAMPLES, LIBRARY):
        names = [(case.file, case.kernel, case.label) for case in cases]
        assert len(set(names)) == len(names)
