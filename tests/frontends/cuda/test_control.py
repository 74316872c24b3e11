"""Jumps, choices, instances: control flow of helpers and kernels is put in branches, loops and flags."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, not_understood

from portcheck.ir import Branch, Const, Leave, Loop, Op, Store, While

UNDERSTOOD = {
    "jump backwards": ("", "again: x[0] += 1.f; if (x[0] < 9.f) goto again;"),
    "return in a loop": (
        "__device__ int f(const float* a, int n) { for (int i = 0; i < n; i++) if (a[i] > 0.f) return i; return -1; }",
        "x[f(w, n)] = 0.f;",
    ),
    "return in nested loops": (
        "__device__ int f(int n) { int s = 0; for (int i = 0; i < n; i++) { while (s < i) { if (s == 7) return i;"
        " s++; } s = 0; } return s; }",
        "x[f(n)] = 0.f;",
    ),
    "return from a branch of several": (
        "__device__ void f(float* x, int n) { if (n > 2) { x[0] = 1.f; if (n > 3) return; x[1] = 2.f; } x[2] = 3.f; }",
        "f(x, n);",
    ),
    "pointers returned from two places": (
        "__device__ float* f(float* x, int n) { if (n > 2) return x + 1; return x; }", "f(x, n)[n] = 0.f;",
    ),
    "fall-through": ("", "switch (n) { case 1: x[0] = 1.f; case 2: x[1] = 1.f; break; default: x[2] = 1.f; }"),
    "break from a branch": ("", "switch (n) { case 1: if (w[0] > 0.f) break; x[0] = 1.f; break; case 2: x[1] = 1.f; }"),
    "goto out of loops": (
        "",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (w[i + j] > 1.f) goto out;"
        " x[0] = 1.f; out: x[1] = 1.f;",
    ),
    "declaration in a condition": ("", "if (int m = n - 1) x[m] = 0.f; while (int m = n - (int)x[0]) x[0] += m;"),
    "range for": ("", "float a[4] = {1, 2, 3, 4}; for (auto& v : a) v *= 2.f; for (float v : a) x[0] += v;"),
    "list": ("", "for (int v : {1, 4}) x[v] = 0.f;"),
    "template that ends by if constexpr": (
        "template <int N> __device__ int f() { if constexpr (N <= 1) return 1; else return N * f<N - 1>(); }",
        "x[f<4>()] = 0.f;",
    ),
    "template that ends by a specialisation": (
        "template <int N> __device__ int f() { return N + f<N - 1>(); }"
        " template <> __device__ int f<0>() { return 0; }",
        "x[f<4>()] = 0.f;",
    ),
    "variable that points to a function": (
        "__device__ float twice(float a) { return 2.f * a; }"
        " typedef float (*map)(float); __device__ map chosen = twice;",
        "x[0] = chosen(w[0]); float (*local)(float) = &twice; x[1] = (*local)(w[1]);",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "statements"), UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_control_flow_is_understood(before: str, statements: str) -> None:
    assert not_understood(body(statements, before=before)) == []


NOT_UNDERSTOOD = {
    "run-time recursion": ("__device__ int f(int n) { return n < 2 ? 1 : n * f(n - 1); }", "x[f(n)] = 0.f;"),
    "template that never ends": ("template <int N> __device__ int f() { return f<N + 1>(); }", "x[f<0>()] = 0.f;"),
    "jump back past the end of a loop": (
        "",
        "for (int i = 0; i < n; ++i) { again: x[i] += 1.f; if (x[i] < 2.f) break; if (x[i] < 9.f) goto again; }",
    ),
    "jump back over what is used later": (
        "",
        "again: float v = x[0]; x[0] = v + 1.f; if (v < 9.f) goto again; x[1] = v;",
    ),
    "case in the middle of a loop": ("", "switch (n) { case 0: while (x[0] < 1.f) { case 1: x[0] += 1.f; } }"),
    "pointers to buffers of other numbers": (
        "__device__ float* f(float* x, int* w, int n) { if (n > 2) return (float*)w; return x; }",
        "__shared__ int s[4]; x[0] = f(x, s, n)[1];",
    ),
    "variable that points to one of two functions": (
        "__device__ float a(float v) { return v; } __device__ float b(float v) { return -v; }"
        " __device__ float (*chosen)(float) = a; void choose() { chosen = b; }",
        "x[0] = chosen(w[0]);",
    ),
}


@pytest.mark.parametrize(("before", "statements"), NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_control_flow_that_is_not_followed_is_kept(before: str, statements: str) -> None:
    assert not_understood(body(statements, before=before))


def loops(found: list[Op]) -> list[Op]:
    return [op for op in found if isinstance(op, Loop | While)]


COUNTERS = {
    "wraps": "unsigned char c; for (c = 250; c != 3; c++) x[c] = 0.f;",
    "compared as unsigned": "for (int i = n - 4; i < (unsigned)n; i++) x[i] = 0.f;",
    "steps below zero": "for (unsigned i = n; i > 0; i -= 3) x[i] = 0.f;",
    "never below zero": "for (unsigned i = n; i >= 0; i--) x[i] = 0.f;",
}


@pytest.mark.parametrize("statements", COUNTERS.values(), ids=COUNTERS)
def test_a_counter_that_wraps_is_no_range(statements: str) -> None:
    (loop,) = loops(body(statements))
    assert isinstance(loop, While) or not hasattr(loop.values, "stop")


COUNTED = {
    "unsigned": "for (unsigned i = 0; i != n; i++) x[i] = 0.f;",
    "signed": "for (int i = n; i != 0; i--) x[i] = 0.f;",
    "from a thread": "for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) x[i] = 0.f;",
    "unsigned down": "for (unsigned i = n; i > 0; i--) x[i] = 0.f;",
    "stays above its step": "for (unsigned i = n; i >= 32; i -= 32) x[i] = 0.f;",
}


@pytest.mark.parametrize("statements", COUNTED.values(), ids=COUNTED)
def test_a_counter_that_does_not_wrap_is_a_range(statements: str) -> None:
    (loop,) = loops(body(statements))
    assert isinstance(loop, Loop)
    assert hasattr(loop.values, "stop")


def test_a_case_that_falls_through_has_the_statements_of_the_next() -> None:
    found = body("switch (n) { case 1: x[0] = 1.f; case 2: x[1] = 2.f; }")
    first, second = [op for op in found if isinstance(op, Branch)]
    assert [_value(op) for op in first.then] == [1.0, 2.0]
    assert [_value(op) for op in second.then] == [2.0]


def _value(op: Op) -> object:
    assert isinstance(op, Store)
    assert isinstance(op.value, Const)
    return op.value.value


def test_a_return_from_a_loop_leaves_the_loop_and_skips_the_rest() -> None:
    helper = "__device__ void f(float* x, int n) { for (int i = 0; i < n; i++) if (x[i] > 0.f) return; x[0] = 1.f; }"
    found = body("f(x, n);", before=helper)
    (loop,) = loops(found)
    assert [op for op in found if isinstance(op, Leave)]
    last = [op for op in found if isinstance(op, Branch)][-1]
    assert last not in loop.body  # type: ignore[union-attr]  # a Loop
    assert [_value(op) for op in last.then] == [1.0]


def test_a_condition_of_literals_is_decided() -> None:
    before = "template <int N> __device__ bool f() { return N * 2 > 100; }"
    found = body("if (f<64>()) x[0] = 1.f; else x[1] = 2.f;", before=before)
    assert [_value(op) for op in found] == [1.0]
