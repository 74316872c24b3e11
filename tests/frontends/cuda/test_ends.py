"""What grows without bound is followed up to a limit, and said to be at that limit; what ends before it is read."""

import pytest
from tests.frontends.cuda.reading import kernel, not_understood

from portcheck.core.dtype import INT32
from portcheck.ir import Call, Const, Op, Opaque, OpaqueKind, Store, operations


def found(text: str) -> list[Op]:
    """All operations of the first kernel of `text`."""
    return list(operations(kernel(text).body))


def doubled(levels: int) -> str:
    """A record of 2**levels numbers, made of two of the one before."""
    inner = (f"struct A{level} {{ A{level - 1} a, b; }};\n" for level in range(1, levels + 1))
    return "struct A0 { int x; };\n" + "".join(inner)


USES = {
    "a copy": "A24 z; A24 y = z; o[0] = 1;",
    "an array": "A24 z[4]; z[0] = z[1];",
    "a parameter": "A24 y = p; o[0] = p.a.b.a.x;",
    "behind a pointer": "r[0] = r[1]; A24 z = r[2];",
    "a comparison": "A24 z; o[0] = &z == r; o[1] = z == p;",
    "an argument": "A24 z; o[0] = sum(z);",
    "a member": "H z; H y = z; o[0] = y.few;",
}
AROUND = "__device__ int sum(A24 v) { A24 w = v; return w.a.a.a.x; } struct H { int few; A24 many[2]; };"


@pytest.mark.parametrize("use", USES)
def test_records_nested_without_end_are_not_followed(use: str) -> None:
    text = f"{doubled(24)}{AROUND}__global__ void k(int* o, A24 p, A24* r) {{ {USES[use]} }}"
    assert not_understood(found(text))


def test_a_variable_of_too_many_members_is_at_a_limit() -> None:
    ops = found(f"{doubled(24)}__global__ void k(int* o) {{ A24 z; o[0] = sizeof(A24); }}")
    assert [(op.reason, op.kind) for op in ops if isinstance(op, Opaque)] == [
        ("variable of too many members", OpaqueKind.LIMIT)
    ]
    assert [op.value for op in ops if isinstance(op, Store)] == [Const(1 << 26, INT32)]


def test_records_of_many_members_are_followed() -> None:
    uses = "A9 z; z.b.a.b.a.b.a.b.a.b.x = 3; A9 y = z; o[0] = y.a.a.a.a.a.a.a.a.a.x;"
    assert not_understood(found(f"{doubled(9)}__global__ void k(int* o) {{ {uses} }}")) == []


def test_large_arrays_of_numbers_are_one_member() -> None:
    text = "struct S { float a[100000]; int n; };\n__global__ void k(float* o) { S s; s.a[7] = 1.f; o[0] = s.a[7]; }"
    assert not_understood(found(text)) == []


COUNTING = """template<int N> __device__ int f() { return 1 + f<N - 1>(); }
template<> __device__ int f<0>() { return 0; }
"""


def test_templates_that_count_down_are_followed() -> None:
    assert not_understood(found(COUNTING + "__global__ void k(int* o) { o[0] = f<32>(); }")) == []


def test_calls_nested_too_deeply_say_so() -> None:
    helpers = "".join(f"__device__ int g{level}(int a) {{ return g{level - 1}(a) + 1; }}\n" for level in range(1, 90))
    ops = found(f"__device__ int g0(int a) {{ return a; }}\n{helpers}__global__ void k(int* o) {{ o[0] = g89(o[1]); }}")
    opaque = [op for op in ops if isinstance(op, Opaque)]
    assert [(op.reason, op.kind) for op in opaque] == [("calls nested too deeply", OpaqueKind.LIMIT)]
    assert opaque[0].type is not None
    assert opaque[0].type.dtype == INT32
    assert not any(isinstance(op, Call) for op in ops)


SUM = """template<int N> struct Sum { static __device__ float run(float* x) { return x[N - 1] + Sum<N - 1>::run(x); } };
template<> struct Sum<0> { static __device__ float run(float* x) { return 0.f; } };
struct Down { __device__ int run(int n) { return n + run(n - 1); } };
"""


def test_a_function_of_another_instance_of_a_record_is_no_recursion() -> None:
    assert not_understood(found(SUM + "__global__ void k(float* x) { x[0] = Sum<4>::run(x); }")) == []


def test_a_function_of_a_record_that_calls_itself_is_one() -> None:
    text = SUM + "__global__ void k(float* x) { Down d; x[0] = d.run(4); }"
    assert not_understood(found(text)) == ["recursive call of run"]
