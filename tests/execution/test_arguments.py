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
DROPPED = object()
REFUSED: dict[str, tuple[dict[str, object], str, str]] = {
    "a list for an array": ({"x": [1, 2]}, "needs an array for x, not a list", "NumPy array"),
    "a text for an array": ({"x": "abc"}, "needs an array for x, not a str", "NumPy array"),
    "a number for an array": ({"x": 3}, "needs an array for x, not a int", "NumPy array"),
    "an array for a number": ({"n": VALUES}, "n is a number for k, and an array is given", "one number"),
    "no number at all": ({"n": float("nan")}, "nan is no int32", "whole number"),
    "a shape below nothing": ({"y": Uninitialised((-3,))}, "the array y has the shape", "0 or more"),
    "a number by another name": ({"n": DROPPED, "nn": 3}, "nothing in the program is called nn", 'did you mean "n"?'),
    "one argument too many": ({"bias": VALUES}, "nothing in the program is called bias", "the program takes n, "),
    "None for a number": ({"n": None}, "needs a value for n", "give a number for n, not None"),
    "an array of records": ({"x": np.zeros(8, [("a", "f4"), ("b", "f4")])}, "the array x is", "x.view('float32')"),
    "an array of complex numbers": ({"x": np.zeros(8, np.complex64)}, "the array x is", "x.view('float32')"),
    "an array of another format": ({"x": np.zeros(8)}, "the array x is float64", "x.astype('float32')"),
    "a shape of fractions": ({"y": Uninitialised((1.5,))}, "the array y has the shape", "whole numbers"),
    "a shape that is a number": ({"y": Uninitialised(8)}, "the array y has the shape 8", "whole numbers"),
    "an array larger than memory": ({"y": Uninitialised((1 << 60,))}, "does not fit into memory", "smaller"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_of_the_wrong_kind_are_refused_by_name(name: str) -> None:
    changed, message, hint = REFUSED[name]
    arguments = {"x": VALUES, "y": VALUES, "n": 3, **changed}
    with pytest.raises(InputError, match=message) as caught:
        executed(PLAIN, {key: value for key, value in arguments.items() if value is not DROPPED}, 1, 32)
    assert caught.value.hint and hint in caught.value.hint


LAUNCHES: dict[str, tuple[tuple[object, object, int], str, str]] = {
    "blocks below nothing": (((-2, -2), 32, 0), "no threads at all", "1 or more along every axis"),
    "a block of no threads": ((1, 0, 0), "no threads at all", "1 or more along every axis"),
    "shared memory below nothing": ((1, 32, -4), "-4 bytes of shared memory", "0 bytes or more"),
    "a part of a block": ((1.5, 2, 0), "grid.x is 1.5", "grid.x takes a whole number"),
    "a text for the threads": ((1, (2, "3"), 0), "block.y is '3'", "block.y takes a whole number"),
    "part of a byte": ((1, 2, 0.5), "shared_bytes is 0.5", "shared_bytes takes a whole number"),
    "four axes": ((1, (2, 2, 2, 2), 0), "block is", "up to 3 of them"),
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_launches_that_cannot_be_are_refused(name: str) -> None:
    (grid, block, shared), message, hint = LAUNCHES[name]
    with pytest.raises(InputError, match=message) as caught:
        executed(PLAIN, {"x": VALUES, "y": VALUES, "n": 3}, grid, block, shared)
    assert hint in caught.value.hint


@pytest.mark.parametrize("block", [32, (32,), [8, 4], np.array([32, 1]), (np.int64(32), 1, 1)])
def test_a_block_may_be_given_in_every_usual_way(block: object) -> None:
    assert Geometry.of(1, block).threads == 32


GEOMETRIES: dict[str, tuple[object, str, str]] = {
    "two numbers": ((1, 32), "the geometry is", "Geometry.of"),
    "two numbers for a kernel": ({"k": (1, 32)}, "the geometry is", "Geometry.of"),
    "a kernel of another name": ({"kk": Geometry.of(1, 32)}, "launches no kernel kk", 'did you mean "k"?'),
}


@pytest.mark.parametrize("name", GEOMETRIES)
def test_what_is_no_geometry_is_refused(name: str) -> None:
    given, message, hint = GEOMETRIES[name]
    with pytest.raises(InputError, match=message) as caught:
        run(lowered(PLAIN), {"x": VALUES, "y": VALUES, "n": 3}, given)
    assert hint in caught.value.hint


OPTIONS: dict[str, tuple[object, str]] = {
    "threads": (0, "1 or more"), "steps": (-1, "0 or more"), "memory": (0, "1 or more"), "seed": (-1, "0 or more"),
    "draws": ("x", "whole number"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_cannot_be_are_refused_with_what_they_take(name: str) -> None:
    value, allowed = OPTIONS[name]
    for given in (value, 2.5):
        with pytest.raises(InputError, match=f"{name} is") as caught:
            Options(**{name: given})
        assert name in caught.value.hint
        assert allowed in caught.value.hint


TWICE = """
__global__ void k(float* a) { a[threadIdx.x] += 1.f; }
void twice(float* a) { k<<<1, 32>>>(a); %s }
"""


def test_a_kernel_launched_several_times_is_run_once_and_that_is_said() -> None:
    done = executed(TWICE % "k<<<1, 32>>>(a);", {"a": VALUES})
    [said] = [event for event in done.events if event.kind is EventKind.ASSUMED]
    assert (said.kernel, said.message, done.faults) == ("k", "launched several times; run once", ())
    np.testing.assert_array_equal(done.arrays["a"], VALUES + 1)
    assert executed(TWICE % "", {"a": VALUES}).events == ()
