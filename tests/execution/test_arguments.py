"""What a run is given: arguments and launches that fit, and errors with a hint for those that do not."""

import numpy as np
import pytest
from tests.execution.running import lowered

from portcheck.core.errors import InputError
from portcheck.core.source import SourceFile
from portcheck.execution import EventKind, Execution, Geometry, Options, run
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
