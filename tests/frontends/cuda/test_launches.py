"""Host code up to a launch: declarations, assignments, helpers and callers give the sizes; what may change is open."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import program
from tests.frontends.cuda.test_module import shown

KERNEL = "__global__ void k(float* x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] = n; }\n"
HELPERS = "static int cdiv(int a, int b) { return (a + b - 1) / b; }\n#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))\n"

SIZES = {
    "members": ("dim3 g; g.x = n; g.y = 4; dim3 b(32); b.y = 8; k<<<g, b>>>(x, n);", ("n", "4"), ("32", "8")),
    "member of a size": (
        "dim3 b(32, 8); k<<<(n + b.x - 1) / b.x, b>>>(x, n);",
        ("truncated_divide(subtract(add(n,32),1),32)",),
        ("32", "8"),
    ),
    "braces": ("dim3 g{2, 3}; k<<<g, dim3{64}>>>(x, n);", ("2", "3"), ("64",)),
    "copied": ("const dim3 g = dim3(2, 3, 4); dim3 b = g; k<<<g, b>>>(x, n);", ("2", "3", "4"), ("2", "3", "4")),
    "a number": ("dim3 g = n; k<<<g, 32>>>(x, n);", ("n",), ("32",)),
    "products": ("int b = 8; dim3 g(b * n, b); k<<<g, b>>>(x, n);", ("multiply(8,n)", "8"), ("8",)),
    "assigned": ("int t = 64; t = 128; k<<<1, t>>>(x, n);", ("1",), ("128",)),
    "counted on": ("int t = 64; t *= 2; k<<<1, t>>>(x, n);", ("1",), ("t",)),
    "assigned in a branch": ("int t = 64; if (n > 3) t = 128; k<<<1, t>>>(x, n);", ("1",), ("t",)),
    "assigned in the same branch": ("int t; if (n > 3) { t = 128; k<<<1, t>>>(x, n); }", ("1",), ("128",)),
    "loop": ("for (int s = 1; s < n; s *= 2) { k<<<s, 32>>>(x, n); }", ("s",), ("32",)),
    "changed later in the loop": ("int s = 1; while (s < n) { k<<<s, 32>>>(x, n); s *= 2; }", ("s",), ("32",)),
    "by address": ("int t = 64; pick(&t); k<<<1, t>>>(x, n);", ("1",), ("t",)),
    "by reference": ("int t = 64; choose(t); k<<<1, t>>>(x, n);", ("1",), ("t",)),
    "rounded up": ("k<<<(int)ceil((float)n / 256), 256>>>(x, n);", ("ceiling_divide(n,256)",), ("256",)),
    "rounded up in double": ("int g = ceil(n / 256.0); k<<<g, 256>>>(x, n);", ("ceiling_divide(n,256)",), ("256",)),
    "rounded down": ("k<<<floor(n / 256.f), 256>>>(x, n);", ("floor_divide(n,256)",), ("256",)),
    "helper": ("k<<<cdiv(n, 32), 32>>>(x, n);", ("truncated_divide(subtract(add(n,32),1),32)",), ("32",)),
    "macro": ("k<<<CEIL_DIV(n, 32), 32>>>(x, n);", ("truncated_divide(subtract(add(n,32),1),32)",), ("32",)),
    "smaller": ("k<<<std::min(n, 1024), 32>>>(x, n);", ("minimum(n,1024)",), ("32",)),
    "lambda": ("auto go = [&](int b) { k<<<n, b>>>(x, n); }; go(32);", ("n",), ("b",)),
    "case": ("switch (n) { case 1: { int t = 32; k<<<1, t>>>(x, n); } }", ("1",), ("32",)),
    "not understood": ("k<<<props.count[n], 32>>>(x, n);", ("host(props.count[n])",), ("32",)),
}  # fmt: skip


@pytest.mark.parametrize(("host", "grid", "block"), SIZES.values(), ids=SIZES)
def test_sizes_of_a_launch(host: str, grid: tuple[str, ...], block: tuple[str, ...]) -> None:
    text = f"{HELPERS}void choose(int& t) {{ t = 7; }}\n{KERNEL}void f(float* x, int n) {{ {host} }}"
    launch = program(text).launches[0]
    assert tuple(map(shown, launch.grid)) == grid
    assert tuple(map(shown, launch.block)) == block


CALLERS = {
    "once": ("int main() { run(0, 256, 5); }", "256"),
    "twice the same": ("int main() { run(0, 256, 5); run(0, 256, 6); }", "256"),
    "through a variable": ("int main() { const int size = 2 * 64; run(0, size, 5); }", "128"),
    "through a caller": ("void outer(int b) { run(0, b, 5); } int main() { outer(64); }", "64"),
    "differently": ("int main() { run(0, 256, 5); run(0, 128, 5); }", "b"),
    "with a run-time value": ("int main(int argc, char** argv) { run(0, argc, 5); }", "b"),
    "never": ("", "b"),
}


@pytest.mark.parametrize(("callers", "block"), CALLERS.values(), ids=CALLERS)
def test_a_size_that_callers_give(callers: str, block: str) -> None:
    text = f"{KERNEL}void run(float* x, int b, int n) {{ k<<<n, b>>>(x, n); }}\n{callers}"
    (launch,) = program(text).launches
    assert tuple(map(shown, launch.block)) == (block,)
    assert tuple(map(shown, launch.grid)) == ("n",)


VARIABLES = {
    "constant": ("const int threads = 64;", "64"),
    "never changed": ("static int threads = 64;", "64"),
    "changed": ("int threads = 64; void set() { threads = 128; }", "threads"),
    "given an address": ("int threads = 64; void set() { read(&threads); }", "threads"),
}


@pytest.mark.parametrize(("variable", "block"), VARIABLES.values(), ids=VARIABLES)
def test_a_size_that_is_a_variable_of_the_file(variable: str, block: str) -> None:
    text = f"{KERNEL}{variable}\nvoid f(float* x, int n) {{ k<<<n, threads>>>(x, n); }}"
    assert tuple(map(shown, program(text).launches[0].block)) == (block,)
