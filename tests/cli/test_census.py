"""The census of kernels, which the sweep is measured by, counts what is written."""

from __future__ import annotations

import pytest
from tools.census import kernels_in

COUNTED = {
    "a declaration is none": ("__global__ void k(float* x);", []),
    "bounds and templates": (
        "template <int N> __global__ void __launch_bounds__(N * 2) k(int a[N]) { if (a) { } }",
        ["k"],
    ),
    "a specialisation": ("template <> __global__ void k<float, 3>(float* x) {}", ["k"]),
    "comments and strings": ('// __global__ void a() {}\n/* __global__ void b() {} */ "__global__ void c() {}"', []),
    "a macro": ("#define D(n) \\\n  __global__ void n() {}\n__global__ void k() {}", ["k"]),
    "an unclosed one": ("__global__ void k() { {", []),
    "digit separators": ("int n = 1'000; __global__ void k() { char c = '{'; }", ["k"]),
}


@pytest.mark.parametrize(("text", "names"), COUNTED.values(), ids=COUNTED)
def test_kernels_are_counted(text: str, names: list[str]) -> None:
    assert [kernel.name for kernel in kernels_in(text)] == names


def test_a_guard_around_a_header_decides_nothing() -> None:
    text = "#ifndef H\n#define H\n__global__ void a() {}\n#if X\n__global__ void b() {}\n#endif\n#endif\n"
    assert [(kernel.name, kernel.line, kernel.is_conditional) for kernel in kernels_in(text)] == [
        ("a", 3, False),
        ("b", 5, True),
    ]
