"""What CUDA states beside the operation itself: roundings, orders, lanes, volatility, what a gap is."""

import pytest
from tests.frontends.cuda.reading import body, program

from portcheck.core.dtype import BOOL, INT32, UINT32
from portcheck.frontends.cuda import CudaOptions
from portcheck.ir import (
    Atomic,
    Barrier,
    Check,
    Compute,
    Const,
    Fence,
    Load,
    Loop,
    MemoryOrder,
    Op,
    Opaque,
    OpaqueKind,
    Operator,
    Range,
    Reduce,
    Ref,
    Rounding,
    Scope,
    Store,
    Symbol,
    accesses,
)  # fmt: skip
from portcheck.ir.text import parse_program, print_program

N = Symbol("n", INT32)
COUNTED = "unsigned* c, float* x, int n"

FIELDS: list[tuple[str, type, dict[str, object]]] = [
    ("x[0] = __fadd_rn(x[1], 2.0f);", Compute, {"rounding": Rounding.NEAREST_EVEN, "contractible": False}),
    ("x[0] = __fmul_rz(x[1], 2.0f);", Compute, {"rounding": Rounding.TOWARD_ZERO}),
    ("x[0] = __fmaf_ru(x[1], 2.0f, 1.0f);", Compute, {"rounding": Rounding.UP}),
    ("x[0] = __fsqrt_rd(x[1]);", Compute, {"rounding": Rounding.DOWN}),
    ("x[0] = x[1] + 2.0f;", Compute, {"rounding": Rounding.NEAREST_EVEN, "contractible": True}),
    ("__threadfence();", Fence, {"scope": Scope.DEVICE, "order": MemoryOrder.SEQUENTIAL}),
    ("__threadfence_block();", Fence, {"scope": Scope.BLOCK, "order": MemoryOrder.SEQUENTIAL}),
    ("cuda::atomic_thread_fence(cuda::memory_order_acquire);", Fence, {"order": MemoryOrder.ACQUIRE}),
    ("__syncthreads();", Barrier, {"scope": Scope.BLOCK, "participants": None, "combine": None, "type": None}),
    ("__syncwarp();", Barrier, {"scope": Scope.WARP, "participants": None}),
    ("__syncwarp(0xff);", Barrier, {"scope": Scope.WARP, "participants": Const(255, INT32)}),
    ("__syncwarp(0xffffffff);", Barrier, {"participants": None}),
    ("__barrier_sync_count(1, 64);", Barrier, {"scope": Scope.BLOCK, "participants": Const(64, INT32)}),
    ("if (__syncthreads_or(x[0] > 0.0f)) x[1] = 0.0f;", Barrier, {"combine": Operator.LOGICAL_OR}),
    ("if (__syncthreads_and(n)) x[1] = 0.0f;", Barrier, {"combine": Operator.LOGICAL_AND}),
    ("int k = __syncthreads_count(n > 3); x[k] = 0.0f;", Barrier, {"combine": Operator.ADD}),
    ("atomicInc(c, 7u);", Atomic,
     {"operator": Operator.ADD, "value": Const(1, UINT32), "limit": Const(7, UINT32), "order": MemoryOrder.RELAXED}),
    ("atomicDec(c, 7u);", Atomic, {"operator": Operator.SUBTRACT, "limit": Const(7, UINT32)}),
    ("atomicAdd(c, 7u);", Atomic, {"operator": Operator.ADD, "value": Const(7, UINT32), "limit": None}),
    ("c[0] = __reduce_add_sync(0xff, c[1]);", Reduce, {"lanes_mask": Const(255, INT32), "scope": Scope.WARP}),
    ("c[0] = __reduce_max_sync(0xffffffff, c[1]);", Reduce, {"lanes_mask": None}),
    ('printf("%d of %f\\n", n, 2.0);', Check, {"message": "%d of %f\n"}),
    ('printf("a" "b");', Check, {"message": "ab", "operands": ()}),
    ("assert(n > 0);", Check, {"message": "n > 0", "operands": ()}),
]  # fmt: skip


def first(found: list[Op], kind: type) -> Op:
    return next(op for op in found if isinstance(op, kind))


@pytest.mark.parametrize(("text", "kind", "fields"), FIELDS, ids=[text for text, _, _ in FIELDS])
def test_field_says_what_the_source_says(text: str, kind: type, fields: dict[str, object]) -> None:
    op = first(body(text, COUNTED), kind)
    assert {name: getattr(op, name) for name in fields} == fields


def test_vote_at_a_barrier_is_a_truth_value_and_a_count_a_number() -> None:
    vote = first(body("if (__syncthreads_or(x[0] > 0.0f)) x[1] = 0.0f;"), Barrier)
    assert isinstance(vote, Barrier)
    assert vote.type is not None
    assert (vote.type.dtype, type(vote.operand)) == (BOOL, Ref)
    count = first(body("int k = __syncthreads_count(n > 3); x[k] = 0.0f;"), Barrier)
    assert isinstance(count, Barrier)
    assert count.type is not None
    assert count.type.dtype == INT32


def test_print_shows_its_numbers() -> None:
    op = first(body('printf("%d %f", n, x[0]);'), Check)
    assert isinstance(op, Check)
    assert op.operands[0] == N
    assert isinstance(op.operands[1], Ref)


VOLATILE = [
    ("volatile float* v = x; v[0] = 1.0f;", "", True),
    ("float* v = x; v[0] = 1.0f;", "", False),
    ("((volatile float*)x)[0] = 1.0f;", "", True),
    ("volatile __shared__ float s[32]; s[n] = 1.0f;", "", True),
    ("__shared__ float s[32]; s[n] = 1.0f;", "", False),
    ("__shared__ float s[32]; last(s);", "__device__ void last(volatile float* t) { t[0] = 1.0f; }", True),
    ("__shared__ volatile int flag; flag = 1;", "", True),
]


@pytest.mark.parametrize(("text", "before", "expected"), VOLATILE, ids=[text for text, *_ in VOLATILE])
def test_access_through_what_is_declared_volatile_is_volatile(text: str, before: str, expected: bool) -> None:
    stores = [op for op in body(text, before=before) if isinstance(op, Store)]
    assert [access.is_volatile for op in stores for access in accesses(op)] == [expected]


def test_reading_a_volatile_parameter_is_volatile_but_not_a_copy_of_it() -> None:
    found = body("float v = x[0]; float u = v; w[0] = u;", "volatile float* x, float* w")
    assert [op.access.is_volatile for op in found if isinstance(op, Load | Store)] == [True, False]


FLAGS = [
    (CudaOptions(), ("fmad", "prec-div")),
    (CudaOptions(fmad=False), ("prec-div",)),
    (CudaOptions(fast_math=True, flush_to_zero=True, precise_division=False), ("fast-math", "fmad", "ftz")),
]


@pytest.mark.parametrize(("options", "flags"), FLAGS, ids=[" ".join(flags) for _, flags in FLAGS])
def test_program_states_the_modes_that_are_on(options: CudaOptions, flags: tuple[str, ...]) -> None:
    assert program("__global__ void k(float* x) { x[0] = 1.0f; }", options=options).flags == flags


GAPS = [
    ("x[0] = tex2DGrad<float>(n, 0.5f, 0.5f, 1.0f, 1.0f);", OpaqueKind.TEXTURE, "tex2DGrad"),
    ('asm volatile("discard.global.L2 [%0], 128;" :: "l"(x));', OpaqueKind.ASSEMBLY, ""),
    ("k<<<1, 1>>>(x, w, n);", OpaqueKind.LAUNCH, ""),
    ("x[0] = curand_uniform(0);", OpaqueKind.LIBRARY, "curand_uniform"),
    ("if (n > 2) { in: x[0] += 1.0f; } if (x[0] < 9.f) goto in;", OpaqueKind.CONTROL, ""),
    ("x[0] = some::nowhere;", OpaqueKind.CALL, ""),
    ("unknown_t v; x[0] = v;", OpaqueKind.DTYPE, ""),
    ("x[0] = *n;", OpaqueKind.MEMORY, ""),
    ("int v = " + "(" * 200 + "n" + " + 1)" * 200 + ";  x[v] = 0.0f;", OpaqueKind.LIMIT, ""),
    ("x[0] = co_await w;", OpaqueKind.SYNTAX, ""),
]


@pytest.mark.parametrize(("text", "kind", "via"), GAPS, ids=[kind for _, kind, _ in GAPS])
def test_gap_says_what_sort_of_construct_it_is(text: str, kind: OpaqueKind, via: str) -> None:
    gap = first(body(text), Opaque)
    assert isinstance(gap, Opaque)
    assert (gap.kind, gap.via) == (kind, via)


GROWING = {
    "a pointer moved again and again": "const float* p = w;\n" + "p = p + n;\n" * 280 + "x[n] = *p;",
    "a number negated again and again": "int a = n;\n" + "a = ~a;\n" * 280 + "x[a] = w[a];",
    "a counter": "int a = n;\n" + "a = a + 1;\n" * 250 + "x[a] = w[a];",
    "products in products": "x[" + "n * (" * 110 + "n" + ")" * 110 + "] = 1.0f;",
}


@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING)
def test_expression_that_grows_without_end_has_a_text_form(text: str) -> None:
    made = program(f"__global__ void k(float* x, const float* w, int n) {{ {text} }}")
    assert parse_program(print_program(made)) == made


def test_loop_that_does_not_move_is_a_while() -> None:
    found = body("for (int i = 0; i < n; i += 0) x[i] = 1.0f; for (int i = 0; i < n; i += -1) x[i] = 1.0f;")
    assert not any(isinstance(op, Loop) and isinstance(op.values, Range) for op in found)
