"""What variables of the file begin with is stated where every number of it is known, and nowhere else."""

import pytest

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda

CASES = {
    "__device__ int v = 4;": [4],
    "__device__ int v = -(1 << 4);": [-16],
    "__device__ float v{0.5f};": [0.5],
    "__device__ bool v = true;": [True],
    "__device__ int v[4] = {1, 2};": [1, 2],
    "__device__ int v[2][2] = {1, 2, 3, 4};": [1, 2, 3, 4],
    "__device__ int v[2][3] = {{1}, {2, 3}};": [1, 0, 0, 2, 3, 0],
    "__device__ float4 v[2] = {{1, 2, 3, 4}, {5}};": [1, 2, 3, 4, 5, 0, 0, 0],
    "__device__ int v[3];": [],
    "__device__ int v[2] = {[1] = 3};": [],
    "__device__ int v[1] = {1, 2};": [],
    "__device__ int v[2] = {{1, 2}, 3};": [],
    "extern __device__ int w; __device__ int v = w + 1;": [],
}


@pytest.mark.parametrize("declaration", CASES)
def test_initial_values_of_a_variable_of_the_file(declaration: str) -> None:
    text = declaration + "\n__global__ void k(int* y) { y[0] = *(int*)&v; }"
    module = read_cuda(SourceFile("k.cu", text), CudaOptions())
    parameters = {found.name: found for found in module.lower(["k"]).kernels[0].parameters}
    assert [number.value for number in parameters["v"].initial] == CASES[declaration]
