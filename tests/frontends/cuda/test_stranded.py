"""Kernels are found in text that does not parse around them."""

import pytest
from tests.frontends.cuda.reading import not_understood, program

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import operations

PLAIN = "__global__ void k(float* x, int n) { if (n > 0) { x[0] = 2.f; } }\n"
TEMPLATE = (
    "template <typename T, int N = (1 > 2)> static __global__ void k(T* x, int n) { if (n > N) { x[0] = 2.f; } }\n"
)
BEFORE = {
    "an open parenthesis": "a b ( ",
    "many open parentheses": "a b ( " * 3000,
    "a call that is not closed": "void run() { f(1; }\n",
    "an array that is not closed": "int table[] = { 1, 2, f(3\n",
    "an initialiser that is not closed": "Options options = Options().with(3\n",
}
AFTER = {"nothing": "", "a brace too many": "}\n", "another kernel": "__global__ void other(int* y) { y[0] = 1; }\n"}


@pytest.mark.parametrize("after", AFTER.values(), ids=AFTER)
@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
@pytest.mark.parametrize("written", [PLAIN, TEMPLATE], ids=["plain", "template"])
def test_a_kernel_in_text_that_does_not_parse_is_read(before: str, written: str, after: str) -> None:
    found = program(before + written + after)
    assert [kernel.name for kernel in found.kernels] == ["k", "other"][: 1 + ("other" in after)]
    assert found.kernels[0].span.start.line == 1 + before.count("\n")
    assert not_understood(list(operations(found.kernels[0].body))) == []


NONE = {
    "declaration": "__global__ void k(float* x);\n",
    "comment": "// __global__ void k(float* x) { }\n",
    "string": 'const char* text = "__global__ void k(float* x) { }";\n',
    "branch that is not taken": "#if 0\n__global__ void k(float* x) { }\n#endif\n",
    "macro": "#define KERNEL __global__ void k(float* x) { }\n",
    "end of the text": "__global__",
}


@pytest.mark.parametrize("text", NONE.values(), ids=NONE)
def test_what_defines_no_kernel_is_none(text: str) -> None:
    assert program(f"{text}__device__ float f() {{ return 1.f; }}\n").kernels == ()


def test_a_kernel_that_is_read_is_not_read_again() -> None:
    declared = "__global__ void k(float* x, int n);\n" * 3
    assert [kernel.name for kernel in program(declared + PLAIN).kernels] == ["k"]


def test_too_many_kernels_are_left_out_and_noted() -> None:
    text = "a ( " + "".join(PLAIN.replace("k(", f"k{number}(") + "a ( " for number in range(100))
    module = read_cuda(SourceFile("kernel.cu", text), CudaOptions())
    notes = module.lower(["k0"]).notes
    left = 100 - len(module.kernels)
    assert left > 0
    assert f"{left} more kernels stand in text that does not parse, and were not read" in notes
