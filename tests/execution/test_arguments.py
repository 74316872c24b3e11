"""What a run is given: arguments and launches that fit, and errors with a hint for those that do not."""

import numpy as np
import pytest
from tests.execution.running import executed, lowered

from portcheck.core.errors import InputError
from portcheck.core.source import SourceFile
from portcheck.execution import EventKind, Execution, Geometry, Options, Uninitialised, run
from portcheck.frontends.cuda import CudaOptions, read_cuda

N = 4096
X = np.random.default_rng(5).standard_normal(N).astype(np.float32)

SIMPLE = """
__global__ void f(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
"""
ARGUMENTS = {"x": X, "y": np.zeros(N, np.float32), "n": N}
ONE = Geometry.of(16, 256)
MISTAKES = {
    "no array": ({"x": X, "n": N}, ONE),
    "no number": ({"x": X, "y": X}, ONE),
    "another dtype": (ARGUMENTS | {"x": X.astype(np.float64)}, ONE),
    "no launch": (ARGUMENTS, None),
    "a block too large": (ARGUMENTS, Geometry.of(1, 1025)),
    "a number that does not fit": (ARGUMENTS | {"n": 2**40}, ONE),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_arguments_that_do_not_fit_are_errors_with_a_hint(name: str) -> None:
    arguments, geometry = MISTAKES[name]
    with pytest.raises(InputError) as caught:
        run(lowered(SIMPLE), arguments, geometry)
    assert caught.value.hint


def test_arguments_are_never_changed() -> None:
    before = ARGUMENTS["y"].copy()
    done = run(lowered(SIMPLE), ARGUMENTS, ONE)
    np.testing.assert_array_equal(ARGUMENTS["y"], before)
    np.testing.assert_array_equal(done.arrays["y"], X)


def run_text(text: str, **options: object) -> Execution:
    module = read_cuda(SourceFile("kernel.cu", text), CudaOptions())
    program = module.lower([kernel.name for kernel in module.kernels])
    return run(program, ARGUMENTS, ONE, Options(**options))


def test_what_is_not_understood_ends_the_run_where_it_is_reached() -> None:
    text = """
    __global__ void f(const float* x, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      y[i] = 1.f;
      if (i %s 0) y[i] = not_declared_anywhere(x[i]);
    }"""
    done = run_text(text % ">=")
    assert done.stopped is not None
    assert done.stopped.kind is EventKind.NOT_EXECUTED
    assert done.stopped.span.start.line == 5
    assert run_text(text % "<").stopped is None


PLAIN = "__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; y[i] = x[i] + n; }"
VALUES = np.zeros(32, np.float32)
REFUSED: dict[str, tuple[dict[str, object], str, str]] = {
    "a list for an array": ({"x": [1, 2]}, "needs an array for x, not a list", "NumPy array"),
    "a text for an array": ({"x": "abc"}, "needs an array for x, not a str", "NumPy array"),
    "a number for an array": ({"x": 3}, "needs an array for x, not a int", "NumPy array"),
    "an array for a number": ({"n": VALUES}, "n is a number for k, and an array is given", ""),
    "no number at all": ({"n": float("nan")}, "nan is no int32", "whole number"),
    "a shape below nothing": ({"y": Uninitialised((-3,))}, "the array y has the shape", ""),
    "a number by another name": ({"n": None, "nn": 3}, "needs a value for n", "nn"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_of_the_wrong_kind_are_refused_by_name(name: str) -> None:
    changed, message, hint = REFUSED[name]
    arguments = {"x": VALUES, "y": VALUES, "n": 3, **changed}
    with pytest.raises(InputError, match=message) as caught:
        executed(PLAIN, {key: value for key, value in arguments.items() if value is not None}, 1, 32)
    assert hint in caught.value.hint


def test_launches_that_cannot_be_are_refused() -> None:
    arguments = {"x": VALUES, "y": VALUES, "n": 3}
    with pytest.raises(InputError, match="no threads at all"):
        executed(PLAIN, arguments, (-2, -2), 32)
    with pytest.raises(InputError, match="-4 bytes of shared memory"):
        executed(PLAIN, arguments, 1, 32, -4)
