"""Launches by functions of the host are launches like any other; what is not simple is none."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import program
from tests.frontends.cuda.test_module import shown

KERNEL = """
template <typename T> __global__ void any(T* x, int n) { x[threadIdx.x] = n; }
__global__ void k(float* x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] = n; }
"""
ARRAY = "void* args[] = {&x, &n}; dim3 g((n + 63) / 64); "
SET = "cudaLaunchConfig_t c = {0}; c.gridDim = n / 64; c.blockDim = dim3(64); "
CALLS = {
    "by address": ARRAY + "cudaLaunchKernel((void*)k, g, dim3(64), args, 0, s);",
    "with the address operator": ARRAY + "cudaLaunchKernel((const void*)&k, g, dim3(64), args);",
    "cooperative": ARRAY + "check(cudaLaunchCooperativeKernel((void*)k, g, 64, args, 0, s));",
    "addresses that are cast": (
        "void* args[2] = {(void*)&x, (void*)&n}; cudaLaunchKernel((void*)k, (n + 63) / 64, 64, args, 0, 0);"
    ),
}
NONE = {
    "an array made elsewhere": "void** args = pack(x, n); cudaLaunchKernel((void*)k, 2, 64, args, 0, s);",
    "an array that is changed": f"{ARRAY}args[0] = &s; cudaLaunchKernel((void*)k, 2, 64, args, 0, s);",
    "values in the array": "void* args[] = {x, 0}; cudaLaunchKernel((void*)k, 2, 64, args, 0, s);",
    "a function that is no kernel": f"{ARRAY}cudaLaunchKernel(chosen, 2, 64, args, 0, s);",
    "a configuration set twice": f"{SET}if (n > 5) c.gridDim = 3; cudaLaunchKernelEx(&c, k, x, n);",
    "a configuration made elsewhere": "cudaLaunchConfig_t c = made(n); cudaLaunchKernelEx(&c, k, x, n);",
}


def host(body: str) -> str:
    return f"{KERNEL}void run(float* x, int n, cudaStream_t s) {{ {body} }}"


@pytest.mark.parametrize("body", CALLS.values(), ids=CALLS)
def test_a_launch_by_a_function(body: str) -> None:
    launch = program(host(body), "k").launches[0]
    assert launch.span is not None
    assert [shown(extent) for extent in launch.grid] == ["truncated_divide(add(n,63),64)"]
    assert [shown(extent) for extent in launch.block] == ["64"]


def test_a_launch_with_a_configuration() -> None:
    launch = program(host(f"{SET}c.dynamicSmemBytes = 128; cudaLaunchKernelEx(&c, k, x, n);"), "k").launches[0]
    assert [shown(extent) for extent in (*launch.grid, *launch.block)] == ["truncated_divide(n,64)", "64"]
    assert launch.shared_bytes is not None
    assert shown(launch.shared_bytes) == "128"


@pytest.mark.parametrize("body", NONE.values(), ids=NONE)
def test_what_is_not_simple_is_no_launch(body: str) -> None:
    assert program(host(body), "k").launches[0].span is None
