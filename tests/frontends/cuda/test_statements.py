"""Declarations, branches and loops become the operations that the decision record names."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, kinds, not_understood, program
from tests.frontends.cuda.test_module import shown

from portcheck.core.dtype import FLOAT32, INT32
from portcheck.frontends.cuda.statements import execute as statements
from portcheck.ir import (
    Alloc,
    Branch,
    Loop,
    Opaque,
    OpaqueKind,
    Operator,
    Range,
    Sequence,
    Space,
    Store,
    While,
    operations,
)
from portcheck.ir.expr import Apply, Const, Symbol
from portcheck.ir.text import parse_program, print_program

SHAPES = {
    "guard": ("int i = threadIdx.x; if (i < n) x[i] = 1.f;", ["Branch", "Store"]),
    "early return": ("if (threadIdx.x >= n) return; x[0] = 1.f;", ["Branch", "Return", "Store"]),
    "if else": ("if (n) x[0] = 1.f; else x[1] = 2.f;", ["Branch", "Store", "Store"]),
    "constant condition": ("if (0) x[0] = 1.f; else x[1] = 2.f;", ["Store"]),
    "mutable local": ("float s = 0.f; for (int i = 0; i < n; i++) s += x[i]; x[0] = s;",
                      ["Alloc", "Store", "Loop", "Load", "Load", "Compute", "Store", "Load", "Store"]),
    "alias": ("const float s = x[0]; x[1] = s; x[2] = s;", ["Load", "Store", "Store"]),
    "straight integer": ("int i = n; i = i * 2; i += 1; x[i] = 1.f;", ["Store"]),
    "pointer alias": ("const float* p = w + n; p = p + 1; x[0] = *p;", ["Load", "Store"]),
    "moving pointer": ("const float* p = w; for (int i = 0; i < n; i++) { x[i] = *p; p += n; }",
                       ["Alloc", "Store", "Loop", "Load", "Load", "Store", "Load", "Store"]),
    "while": ("int i = 0; while (i < n) { i += 2; }",
              ["Alloc", "Store", "While", "Load", "Compute", "Load", "Compute", "Store"]),
    "do": ("int i = n; do { x[i] = 0.f; i--; } while (i > 0);",
           ["Alloc", "Store", "While", "Load", "Compute", "Load", "Store", "Load", "Compute", "Store"]),
    "do once": ("do { x[0] = 1.f; } while (0);", ["Store"]),
    "break": ("for (int i = 0; i < n; i++) { if (i == 3) break; x[i] = 0.f; }", ["Loop", "Branch", "Leave", "Store"]),
    "continue": ("for (int i = 0; i < n; i++) { if (i == 3) continue; x[i] = 0.f; }",
                 ["Loop", "Branch", "Leave", "Store"]),
    "switch": ("switch (n) { case 0: x[0] = 1.f; break; case 1: case 2: x[0] = 2.f; break; default: x[0] = 3.f; }",
               ["Branch", "Store", "Branch", "Store", "Store"]),
    "local array": ("float a[4] = {0.f}; a[n] = 1.f; x[0] = a[0];", ["Alloc", "Store", "Store", "Load", "Store"]),
    "assert": ("assert(n > 0); x[0] = 0.f;", ["Check", "Store"]),
    "printf": ('printf("%d", n); x[0] = 0.f;', ["Check", "Store"]),
    "vector copy": ("float4 v = reinterpret_cast<const float4*>(w)[n]; reinterpret_cast<float4*>(x)[n] = v;",
                    ["Load"] * 4 + ["Store"] * 4),
    "lambda": ("auto f = [&](float a) { return a * 2.f; }; x[0] = f(w[0]);", ["Load", "Compute", "Store"]),
}  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), SHAPES.values(), ids=SHAPES)
def test_statements_become_these_operations(statements: str, expected: list[str]) -> None:
    found = body(statements)
    assert not_understood(found) == []
    assert kinds(found) == expected


RANGES = {
    "upwards": ("int i = 0; i < n; i++", (0, "n", 1)),
    "stepping": ("int i = 1; i < n; i += 4", (1, "n", 4)),
    "inclusive": ("int i = 0; i <= 7; ++i", (0, (Operator.ADD, 7, 1), 1)),
    "downwards": ("int i = 9; i > 0; i--", (9, 0, -1)),
    "downwards inclusive": ("int i = 9; i >= 0; i -= 3", (9, (Operator.SUBTRACT, 0, 1), -3)),
    "flipped": ("int i = 0; n > i; i = i + 2", (0, "n", 2)),
    "unequal": ("int i = 0; i != n; i++", (0, "n", 1)),
}


@pytest.mark.parametrize(("header", "expected"), RANGES.values(), ids=RANGES)
def test_affine_loop_is_a_range(header: str, expected: tuple[object, ...]) -> None:
    loop = next(op for op in body(f"for ({header}) x[i] = 0.f;") if isinstance(op, Loop))
    assert isinstance(loop.values, Range)
    assert (plain(loop.values.start), plain(loop.values.stop), plain(loop.values.step)) == expected


SEQUENCES = {
    "halving by shift": ("int o = 16; o > 0; o >>= 1", Operator.SHIFT_RIGHT_ARITHMETIC),
    "halving by division": ("int o = 16; o > 0; o /= 2", Operator.TRUNCATED_DIVIDE),
    "unsigned": ("unsigned o = 16; o >= 1; o >>= 1", Operator.SHIFT_RIGHT_LOGICAL),
    "doubling": ("int o = 1; o < 32; o *= 2", Operator.MULTIPLY),
    "doubling by shift": ("int o = 1; o < 32; o <<= 1", Operator.SHIFT_LEFT),
    "bare condition": ("int o = 16; o; o >>= 1", Operator.SHIFT_RIGHT_ARITHMETIC),
    "spelled out": ("int o = 16; o > 0; o = o / 2", Operator.TRUNCATED_DIVIDE),
}


@pytest.mark.parametrize(("header", "operator"), SEQUENCES.values(), ids=SEQUENCES)
def test_other_pure_step_is_a_sequence(header: str, operator: Operator) -> None:
    loop = next(op for op in body(f"for ({header}) x[o] = 0.f;") if isinstance(op, Loop))
    assert isinstance(loop.values, Sequence)
    assert isinstance(loop.values.next, Apply)
    assert loop.values.next.operator is operator


def test_bound_that_is_data_and_changes_makes_a_while() -> None:
    found = body("int m = 3; for (int i = 0; i < m; i++) { m = m + i; }")
    assert any(isinstance(op, While) for op in found)
    assert not any(isinstance(op, Loop) for op in found)


def test_second_induction_variable_follows_the_first() -> None:
    found = body("for (int a = n, b = 5; a < 100; a += 4, b += 7) x[b] = 0.f;")
    store = next(op for op in found if isinstance(op, Store))
    assert plain(store.access.index[0]) == (
        Operator.ADD, 5, (Operator.MULTIPLY, (Operator.TRUNCATED_DIVIDE, (Operator.SUBTRACT, "a", "n"), 4), 7)
    )  # fmt: skip


def test_loop_variables_of_one_kernel_have_different_names() -> None:
    found = body("for (int i = 0; i < n; i++) x[i] = 0.f; for (int i = 0; i < n; i++) x[i] = 1.f;")
    names = [op.variable for op in found if isinstance(op, Loop)]
    assert len(names) == len(set(names)) == 2


def test_continue_in_a_general_loop_still_runs_the_update() -> None:
    found = body("for (int i = 0; i < n; i *= 3) { if (x[i] > 0.f) continue; i += 1; }")
    loop = next(op for op in found if isinstance(op, While))
    assert isinstance(loop.test[1], Branch)


def test_static_shared_array_keeps_its_extents_as_written() -> None:
    found = body("__shared__ float t[32][32 + 1]; t[threadIdx.x][0] = 1.f;")
    allocation = found[0]
    assert isinstance(allocation, Alloc)
    assert allocation.type.space is Space.SHARED
    assert [plain(extent) for extent in allocation.type.shape] == [32, (Operator.ADD, 32, 1)]


def test_dynamic_shared_array_has_a_size_of_its_own() -> None:
    allocation = body("extern __shared__ float s[]; s[threadIdx.x] = 0.f;")[0]
    assert isinstance(allocation, Alloc)
    assert allocation.dynamic
    assert plain(allocation.type.shape[0]) == "s.size"


def test_shared_array_of_a_helper_is_one_array() -> None:
    before = "__device__ void f(float v) { static __shared__ float s[8]; s[threadIdx.x] = v; }"
    shared = [op for op in body("f(1.f); f(2.f); x[0] = 0.f;", before=before) if isinstance(op, Alloc)]
    assert [op.type.dtype for op in shared] == [FLOAT32]


def test_shared_scalar_is_memory_of_the_block() -> None:
    found = body("__shared__ int count; if (threadIdx.x == 0) count = n; __syncthreads(); x[0] = count;")
    assert isinstance(found[0], Alloc)
    assert (found[0].type.dtype, found[0].type.shape, found[0].type.space) == (INT32, (), Space.SHARED)


def plain(expression: object) -> object:
    """An expression as nested tuples."""
    match expression:
        case Const(value=value):
            return value
        case Symbol(name=name):
            return name
        case Apply(operator=operator, arguments=arguments):
            return (operator, *(plain(argument) for argument in arguments))
        case _:
            return expression


LEFT_ALONE = {
    "break": ("if (n) break; x[0] = 1.f;", ["break outside a loop"]),
    "continue in a switch": ("switch (n) { case 1: continue; }", ["continue outside a loop"]),
    "break of the loop": ("for (int i = 0; i < n; ++i) { if (x[i] > 1.f) break; }", []),
}


@pytest.mark.parametrize(("statements", "reasons"), LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_what_leaves_no_loop_is_kept(statements: str, reasons: list[str]) -> None:
    assert not_understood(body(statements)) == reasons


def test_a_statement_with_an_attribute_is_one() -> None:
    assert kinds(body("[[likely]] x[0] = 1.f;")) == ["Store"]


def test_dynamic_shared_memory_of_several_dimensions_has_them() -> None:
    (alloc, _) = body("extern __shared__ float s[][32]; s[1][2] = 1.f;")
    assert isinstance(alloc, Alloc)
    assert alloc.type.shape == (Symbol("s.size", INT32), Const(32, INT32))


def test_all_dynamic_shared_arrays_begin_at_one_address() -> None:
    (first, view, *stores) = body(
        "extern __shared__ float s[]; extern __shared__ int t[]; extern __shared__ float4 v[];"
        " s[0] = 1.f; t[1] = 2; v[1].y = 3.f;"
    )
    assert isinstance(first, Alloc) and isinstance(view, Alloc)
    assert (view.base, view.type.dtype) == (first.name, INT32)
    assert [shown(op.access.index[0]) for op in stores if isinstance(op, Store)] == ["0", "1", "5"]


def test_what_was_given_to_text_that_is_not_read_may_be_changed_by_such_text_later() -> None:
    opaque = [op for op in body("Writer out(x); x[0] = 1.f; out.put(2);") if isinstance(op, Opaque)]
    assert [op.writes for op in opaque] == [("x",)] * 3


def test_what_one_kernel_gives_away_is_none_of_another() -> None:
    first = "__global__ void a(float* x) { Writer out(x); out.put(2); }"
    kernels = program(f"{first} __global__ void b(float* y) {{ out.put(2); }}").kernels
    assert [op.writes for op in operations(kernels[1].body) if isinstance(op, Opaque)] == [(), ()]


def test_a_jump_in_text_that_is_not_read_is_control() -> None:
    (found,) = body("try { if (n > 0) return; } catch (...) {}")
    assert isinstance(found, Opaque) and found.kind is OpaqueKind.CONTROL


def test_a_failure_inside_portcheck_costs_one_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise IndexError

    monkeypatch.delenv("PORTCHECK_DEBUG")
    monkeypatch.setattr(statements, "for_loop", fail)
    found = body("x[0] = 1.f; for (int i = 0; i < n; ++i) x[i] = 2.f; x[1] = 3.f;")
    assert kinds(found) == ["Store", "Opaque", "Store"]
    assert "IndexError" in not_understood(found)[0]


@pytest.mark.parametrize("head", ["for (int i = 0; i < n; i++)", "while (x[0] < n)", "if (x[0] < n)"])
def test_bodies_deep_in_each_other_are_kept_and_can_be_printed(head: str) -> None:
    lowered = program(f"__global__ void k(float* x, int n) {{ {(head + ' {') * 300} x[0] = 1.f; {'}' * 300} }}")
    assert set(not_understood(list(operations(lowered.kernels[0].body)))) == {"text nested too deeply"}
    assert parse_program(print_program(lowered)) == lowered
