"""The tool that executes public kernels: right ones pass, and a planted fault of every sort is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools.public_kernels.arithmetic import FLOAT32, Arithmetic, Number, unit
from tools.public_kernels.case import Case, Expected, Run
from tools.public_kernels.catalogue import LLMC, SAMPLES
from tools.public_kernels.comparing import compared, has_equal_bits
from tools.public_kernels.inputs import normal, untouched
from tools.public_kernels.orders import Fold, Order, folded, height, strided, together, warps
from tools.public_kernels.running import executed

KERNEL = """
__global__ void row_norm(float* out, const float* x, int columns) {
  extern __shared__ float partial[];
  float sum = 0.f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[blockIdx.x * columns + c];
  partial[threadIdx.x] = sum;
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    SYNC
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = FINISH(partial[0]);
}
"""
ROWS, COLUMNS, BLOCK = 33, 333, 64


def case(order: Order, finish: str = "", extra: float = 0.0, **more: Any) -> Case:
    """The kernel with a reference that adds in `order` and is wrong by `extra`."""

    def build(random: np.random.Generator, rows: int) -> Run:
        inputs = normal(random, rows, COLUMNS)

        def reference(arithmetic: Arithmetic) -> Expected:
            total = arithmetic.of(inputs).sum(order)[..., 0]
            result = total.call(finish) if finish else total
            return {"out": result + extra if extra else result}

        arguments = {"out": untouched(rows), "x": inputs, "columns": COLUMNS}
        return Run(grid=(rows,), block=(BLOCK,), shared_bytes=4 * BLOCK, arguments=arguments, reference=reference)

    return Case(file="kernel.cu", kernel="row_norm", build=build, sizes=({"rows": ROWS},), **more)


def outcome(folder: Path, tried: Case, sync: str = "__syncthreads();", finish: str = "") -> Any:
    (folder / "kernel.cu").write_text(KERNEL.replace("SYNC", sync).replace("FINISH", finish), encoding="utf-8")
    return executed(folder, tried, tried.sizes[0])


AS_WRITTEN = (strided(BLOCK), together(Fold.HALVING))


def test_kernel_that_adds_in_the_order_of_the_reference_has_its_bits(tmp_path: Path) -> None:
    found = outcome(tmp_path, case(AS_WRITTEN))
    assert found.problems == ()
    assert found.threads == ROWS * BLOCK
    assert found.how.startswith("bits, sums sequential 5 + halving 6")


def test_another_order_is_not_the_same_bits(tmp_path: Path) -> None:
    found = outcome(tmp_path, case((strided(BLOCK), together(Fold.ADJACENT))))
    assert "differ" in found.problems[0]


def test_order_that_is_not_defined_is_judged_by_the_bound(tmp_path: Path) -> None:
    found = outcome(tmp_path, case((together(Fold.ANY),)))
    assert found.problems == ()
    assert found.how.startswith("bound, sums any 332")


def test_value_beyond_the_bound_is_found(tmp_path: Path) -> None:
    found = outcome(tmp_path, case((together(Fold.ANY),), extra=0.01))
    assert "times the bound" in found.problems[0]


def test_function_without_defined_bits_is_judged_by_its_documented_error(tmp_path: Path) -> None:
    found = outcome(tmp_path, case(AS_WRITTEN, finish="tanhf"), finish="tanhf")
    assert found.problems == ()
    assert found.how.startswith("bound")


def test_missing_barrier_is_a_problem_unless_it_is_explained(tmp_path: Path) -> None:
    assert "race" in outcome(tmp_path, case(AS_WRITTEN), sync="").problems[0]
    explained = case((together(Fold.ANY),), explained={"race": "planted"})
    assert not any("race" in problem for problem in outcome(tmp_path, explained, sync="").problems)


def test_what_was_not_understood_is_a_problem(tmp_path: Path) -> None:
    found = outcome(tmp_path, case(AS_WRITTEN), finish="somewhere_else")
    assert found.how == "not run"
    assert "somewhere_else" in found.problems[0]


def test_buffer_that_the_reference_does_not_name_must_stay_as_it_was() -> None:
    before = np.zeros(3, np.float32)
    run = Run(grid=(1,), block=(3,), arguments={"x": before}, reference=lambda arithmetic: {})
    assert compared(run, {"x": before}, {"x": before}).failures == ()
    assert compared(run, {"x": before}, {"x": before + 1}).failures != ()


@pytest.mark.parametrize(("left", "right", "equal"), [(0.0, 0.0, True), (0.0, -0.0, False), (np.nan, np.nan, True)])
def test_bits_are_compared(left: float, right: float, equal: bool) -> None:
    assert has_equal_bits(np.float32([left]), np.float32([right])) is equal


@pytest.mark.parametrize("fold", [Fold.SEQUENTIAL, Fold.HALVING, Fold.ADJACENT])
def test_sum_in_any_order_is_within_the_bound_of_its_height(fold: Fold) -> None:
    terms = normal(np.random.default_rng(5), 200, 64)
    exact = terms.astype(np.longdouble).sum(-1)
    size = height(fold, 64) * unit(FLOAT32)
    bound = size / (1 - size) * abs(terms).astype(np.float64).sum(-1)
    assert np.all(abs(folded(fold, terms) - exact) <= bound)


OPERATIONS = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: a / (b + 9.0),
    "fused": lambda a, b: a.fused(b, a),
    "exponential of a sum": lambda a, b: (a + b).call("expf"),
    "logarithm": lambda a, b: (a * a + 1.0).call("logf"),
    "root": lambda a, b: (a * a + 1.0).call("sqrtf"),
    "stages": lambda a, b: (a * b).sum((strided(32), warps())),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_what_is_rounded_lies_within_the_bound(operation: Any) -> None:
    random = np.random.default_rng(3)
    left, right = normal(random, 50, 100), normal(random, 50, 100)

    def result(rounded: bool) -> Number:
        arithmetic = Arithmetic(rounded=rounded)
        return operation(arithmetic.of(left), arithmetic.of(right))

    free = result(rounded=False)
    assert free.error is not None
    ratios = abs(result(rounded=True).value - free.value) / free.error
    assert 0 < ratios.max() <= 1


def test_every_case_names_a_kernel_once_a_label() -> None:
    keys = [(case.file, case.kernel, case.label) for case in (*LLMC, *SAMPLES)]
    assert len(keys) == len(set(keys))
    assert len({key[:2] for key in keys}) >= 25
