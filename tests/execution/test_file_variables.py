"""Variables of the file begin with what their initialisers say, unless an array is given for them."""

import numpy as np
import pytest
from tests.execution.running import executed

from portcheck.core.errors import InputError
from portcheck.execution import EventKind

TABLES = """
enum { SEVEN = 7 };
__constant__ int scale = 4;
__device__ int steps[4] = {1, -2, 3 * 4, SEVEN};
__device__ float rows[2][3] = {{1.5f, -2.f}, {3.f}};
__device__ unsigned char bytes[3] = {255, 'a'};
__device__ half eighth = 0.125f;
void host() { int other = 3; cudaMemcpyToSymbol(scale, &other, 4); cudaMemcpyToSymbol(steps, &other, 4); }
__global__ void read(float* y) {
  int i = threadIdx.x;
  y[i] = scale * steps[i % 4] + rows[i % 2][i % 3] + bytes[i % 3] * __half2float(eighth);
}
"""
COUNTER = """
__device__ unsigned int arrived = 0;
__device__ int last[1];
__global__ void finish(int* y) {
  if (atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1) y[0] += 1;
}
"""


def expected(scale: int) -> np.ndarray:
    i = np.arange(64)
    steps, rows = np.array([1, -2, 12, 7]), np.array([[1.5, -2, 0], [3, 0, 0]])
    whole = scale * steps[i % 4] + rows[i % 2, i % 3] + np.array([255, 97, 0])[i % 3] * 0.125
    return whole.astype(np.float32)


def test_lists_are_read_in_the_order_of_the_elements_and_what_they_leave_out_is_zero() -> None:
    done = executed(TABLES, {"y": np.zeros(64, np.float32)}, 1, 64)
    assert np.array_equal(done.arrays["y"], expected(4))
    assert not done.faults


def test_a_run_says_which_variables_it_took_from_the_file() -> None:
    done = executed(TABLES, {"y": np.zeros(64, np.float32)}, 1, 64)
    said = [event for event in done.events if event.kind is EventKind.ASSUMED]
    assert {event.message.split()[0] for event in said} == {"scale", "steps", "rows", "bytes", "eighth"}


def test_an_array_that_is_given_is_what_the_host_has_copied_there() -> None:
    done = executed(TABLES, {"y": np.zeros(64, np.float32), "scale": np.array([9], np.int32)}, 1, 64)
    assert np.array_equal(done.arrays["y"], expected(9))
    assert "scale" not in {event.message.split()[0] for event in done.events}


def test_a_counter_of_the_file_starts_where_the_file_says_and_is_an_array_at_the_end() -> None:
    done = executed(COUNTER, {"y": np.zeros(1, np.int32)}, 5, 1)
    assert done.arrays["y"].tolist() == [1]
    assert done.arrays["arrived"].tolist() == [0]


def test_variables_without_an_initialiser_are_still_asked_for() -> None:
    text = COUNTER.replace("y[0] += 1", "y[0] += last[0]")
    with pytest.raises(InputError, match="needs an array for last"):
        executed(text, {"y": np.zeros(1, np.int32)}, 5, 1)
