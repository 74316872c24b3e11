"""Kernels launched one after the other: their order, what they are given, what only they see; doubts end it."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import program
from tests.frontends.cuda.test_module import shown

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaModule, CudaOptions, read_cuda
from portcheck.ir import Program
from portcheck.ir.text import parse_program, print_program

KERNELS = """
__global__ void last(const float* in, float* out, int n) { if (threadIdx.x < n) atomicAdd(out, in[threadIdx.x]); }
__global__ void first(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.f * in[i];
}
"""
OPEN = "void run(const float* x, float* y, int n, cudaStream_t s) { int b = (n + 31) / 32; float* t; "
MADE = "cudaMalloc(&t, n * sizeof(float)); "
FIRST, LAST = "first<<<b, 32>>>(x, t, n); ", "last<<<1, 1024>>>(t, y, n); "
NOTE = "run launches first, last one after the other: one program"


def module(text: str) -> CudaModule:
    return read_cuda(SourceFile("kernel.cu", text), CudaOptions())


def chain(host: str) -> Program:
    return program(f"{KERNELS}{OPEN}{host} }}")


def is_chain(lowered: Program) -> bool:
    return any("one after the other: one program" in note for note in lowered.notes)


def test_launches_are_in_the_order_of_the_host_with_its_names() -> None:
    lowered = chain(f"{MADE}{FIRST}{LAST}cudaFree(t);")
    assert [launch.kernel for launch in lowered.launches] == ["first", "last"]
    assert lowered.launches[0].arguments == (("in", "x"), ("out", "t"), ("n", "n"))
    assert lowered.launches[1].arguments == (("in", "t"), ("out", "y"), ("n", "n"))
    assert lowered.temporaries == ("t",)
    assert NOTE in lowered.notes
    assert parse_program(print_program(lowered)) == lowered


def test_numbers_of_the_host_are_values() -> None:
    last = "last<<<1, 64>>>(t, y, b); "
    lowered = chain(f"{MADE}{FIRST}{last}")
    ((name, value),) = lowered.launches[1].values
    assert (name, shown(value)) == ("n", "truncated_divide(add(n,31),32)")
    assert parse_program(print_program(lowered)) == lowered


def test_a_kernel_launched_twice_in_a_line_has_two_launches() -> None:
    text = KERNELS.partition("__global__ void first")[0].replace("last", "sum")
    lowered = program(f"{text}{OPEN}{MADE}sum<<<2, 32>>>(x, t, n); sum<<<1, 64>>>(t, y, 64); }}")
    assert [launch.kernel for launch in lowered.launches] == ["sum", "sum"]
    assert [shown(launch.block[0]) for launch in lowered.launches] == ["32", "64"]
    assert len(lowered.kernels) == 1
    assert not any(launch.is_repeated for launch in lowered.launches)


CLEAR = {
    "one stream": MADE + FIRST.replace("32>", "32, 0, s>") + LAST.replace("1024>", "1024, 0, s>"),
    "the default stream by number": MADE + FIRST.replace("32>", "32, 0, 0>") + LAST,
    "a guard around both": f"{MADE}if (n > 0) {{ {FIRST}{LAST} }}",
    "what does not touch the buffers between": f"{MADE}{FIRST}check(cudaGetLastError()); {LAST}",
    "cleared before": f"{MADE}cudaMemset(y, 0, 4); {FIRST}{LAST}",
    "a cast": f"{MADE}{FIRST}{LAST.replace('(t,', '((const float*)t,')}",
    "made by a cast": f"cudaMalloc((void**)&t, n * sizeof(float)); {FIRST}{LAST}",
}
DOUBTFUL = {
    "two streams": MADE + FIRST.replace("32>", "32, 0, s>") + LAST,
    "a loop around": f"{MADE}for (int i = 0; i < 3; i++) {{ {FIRST}{LAST} }}",
    "only the first in a branch": f"{MADE}if (n > 5) {{ {FIRST} }} {LAST}",
    "only the second in a branch": f"{MADE}{FIRST} if (n > 5) {LAST}",
    "a return between": f"{MADE}{FIRST} if (n > 5) return; {LAST}",
    "cleared between": f"{MADE}{FIRST}cudaMemset(t, 0, 4); {LAST}",
    "copied over between": f"{MADE}{FIRST}cudaMemcpy(t, x, 4, cudaMemcpyDeviceToDevice); {LAST}",
    "by a function between": f"{MADE}{FIRST}change(t); {LAST}",
    "an alias": f"t = y; {FIRST}{LAST}",
    "an alias by declaration": f"float* u = y; {FIRST.replace('t,', 'u,')}last<<<1, 32>>>(u, y, n);",
    "from an unknown allocator": f"give(&t); {FIRST}{LAST}",
    "a part of a buffer": f"{MADE}{FIRST}{LAST.replace('(t,', '(t + 1,')}",
    "a size that changes": f"{MADE}{FIRST}n = n / 2; {LAST}",
    "a size that changes by address": f"{MADE}{FIRST}ask(&n); {LAST}",
    "nothing passed on": f"{MADE}{FIRST}last<<<1, 32>>>(x, y, n);",
    "a third launch in a branch": f"{MADE}{FIRST}{LAST}if (n > 3) {{ {LAST} }}",
    "made again between": f"{MADE}{FIRST}{MADE}{LAST}",
    "a name that means two things": f"{MADE}{{ int n = 3; use(n); }} {FIRST}{LAST}",
    "a size of a call that may differ": f"{MADE}first<<<many(), 32>>>(x, t, n); {LAST}",
}  # fmt: skip


@pytest.mark.parametrize("host", CLEAR.values(), ids=CLEAR)
def test_a_clear_chain_is_one_program(host: str) -> None:
    lowered = chain(host)
    assert is_chain(lowered)
    assert [launch.kernel for launch in lowered.launches] == ["first", "last"]


@pytest.mark.parametrize("host", DOUBTFUL.values(), ids=DOUBTFUL)
def test_a_doubtful_one_stays_as_it_was(host: str) -> None:
    lowered = chain(host)
    assert not is_chain(lowered)
    assert [launch.kernel for launch in lowered.launches] == ["last", "first"]
    assert module(f"{KERNELS}{OPEN}{host} }}").chain == ()


def test_a_second_host_function_is_a_doubt() -> None:
    text = f"{KERNELS}{OPEN}{MADE}{FIRST}{LAST} }}\nvoid other(float* x, float* y) {{ first<<<1, 32>>>(x, y, 5); }}"
    assert not is_chain(program(text))


def test_the_chain_of_a_file() -> None:
    assert module(f"{KERNELS}{OPEN}{MADE}{FIRST}{LAST}cudaFree(t); }}").chain == ("first", "last")
    assert module(f"{KERNELS}{OPEN}{MADE}{FIRST}{LAST}show(t); }}").chain == ()
    more = "__global__ void more(float* x) { x[0] = 1.f; }"
    assert module(f"{KERNELS}{more}{OPEN}{MADE}{FIRST}{LAST} }}").chain == ()
