"""Arithmetic, memory access and calls: types, rounding points and what the table of constructs says."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, kernel, kinds, not_understood

from portcheck.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, UINT32, DType
from portcheck.frontends.cuda import CudaOptions
from portcheck.ir import (
    Atomic,
    Barrier,
    Cast,
    Compute,
    Copy,
    Exchange,
    ExchangeKind,
    Fence,
    Load,
    Op,
    Operator,
    Reduce,
    Rounding,
    Scope,
    Select,
    Store,
    operations,
)  # fmt: skip
from portcheck.ir.expr import Apply, Const, Symbol

PARAMETERS = "float* x, const float* w, half* h, __nv_bfloat16* b, double* d, int* c, int n, float eps"
COMPUTES: dict[str, tuple[str, Operator, DType]] = {
    "float": ("x[0] = w[0] * w[1];", Operator.MULTIPLY, FLOAT32),
    "float and double literal": ("x[0] = w[0] + 1.0;", Operator.ADD, FLOAT64),
    "float and int": ("x[0] = w[0] / n;", Operator.DIVIDE, FLOAT32),
    "half": ("h[0] = h[1] * h[2];", Operator.MULTIPLY, FLOAT16),
    "half and float": ("x[0] = (float)h[1] * w[2];", Operator.MULTIPLY, FLOAT32),
    "bfloat16": ("b[0] = b[1] + b[2];", Operator.ADD, BFLOAT16),
    "int data": ("c[0] = c[1] / 3;", Operator.TRUNCATED_DIVIDE, INT32),
    "shift of data": ("c[0] = c[1] >> 2;", Operator.SHIFT_RIGHT_ARITHMETIC, INT32),
    "negation": ("x[0] = -w[0];", Operator.NEGATE, FLOAT32),
    "comparison": ("if (w[0] > eps) x[0] = 0.f;", Operator.GREATER, BOOL),
    "fmaxf": ("x[0] = fmaxf(w[0], w[1]);", Operator.MAXIMUM, FLOAT32),
    "max": ("x[0] = max(w[0], w[1]);", Operator.MAXIMUM, FLOAT32),
    "std::max": ("x[0] = std::max(w[0], w[1]);", Operator.LESS, BOOL),
    "sqrt of double": ("d[0] = sqrt(d[1]);", Operator.SQRT, FLOAT64),
    "fmaf": ("x[0] = fmaf(w[0], w[1], w[2]);", Operator.FMA, FLOAT32),
    "hadd": ("h[0] = __hadd(h[1], h[2]);", Operator.ADD, FLOAT16),
    "expf": ("x[0] = expf(w[0]);", Operator.EXP, FLOAT32),
}


@pytest.mark.parametrize(("statement", "operator", "dtype"), COMPUTES.values(), ids=COMPUTES)
def test_arithmetic_on_data_is_computed_in_this_type(statement: str, operator: Operator, dtype: DType) -> None:
    found = body(statement, PARAMETERS)
    assert not_understood(found) == []
    computes = [(op.operator, op.type.dtype) for op in found if isinstance(op, Compute)]
    assert computes == [(operator, dtype)]


CASTS: dict[str, tuple[str, DType, Rounding]] = {
    "half to float": ("x[0] = __half2float(h[0]);", FLOAT32, Rounding.EXACT),
    "float to half": ("h[0] = __float2half(w[0]);", FLOAT16, Rounding.NEAREST_EVEN),
    "implicit narrowing": ("h[0] = w[0];", FLOAT16, Rounding.NEAREST_EVEN),
    "int to float": ("x[0] = n;", FLOAT32, Rounding.NEAREST_EVEN),
    "float to int": ("c[0] = w[0];", INT32, Rounding.TOWARD_ZERO),
    "static_cast": ("x[0] = static_cast<float>(h[0]);", FLOAT32, Rounding.EXACT),
    "functional": ("x[0] = float(b[0]);", FLOAT32, Rounding.EXACT),
    "__float2int_rn": ("c[0] = __float2int_rn(w[0]);", INT32, Rounding.NEAREST_EVEN),
}


@pytest.mark.parametrize(("statement", "dtype", "rounding"), CASTS.values(), ids=CASTS)
def test_conversion_is_one_cast(statement: str, dtype: DType, rounding: Rounding) -> None:
    casts = [op for op in body(statement, PARAMETERS) if isinstance(op, Cast)]
    assert [(op.type.dtype, op.rounding) for op in casts] == [(dtype, rounding)]


def test_index_without_data_stays_an_expression() -> None:
    found = body("int i = blockIdx.x * blockDim.x + threadIdx.x; x[i * n + 3] = 0.f;")
    assert kinds(found) == ["Store"]


def test_index_that_depends_on_data_refers_to_it() -> None:
    found = body("x[c[n]] = 0.f;", PARAMETERS)
    assert kinds(found) == ["Load", "Store"]


def test_axes_are_those_the_kernel_uses() -> None:
    found = kernel("__global__ void k(float* x) { x[blockIdx.y * blockDim.x + threadIdx.x] = 0.f; }")
    assert [axis.name for axis in found.axes] == ["blockIdx.y", "threadIdx.x"]
    assert [getattr(axis.extent, "name", "") for axis in found.axes] == ["gridDim.y", "blockDim.x"]


def test_ternary_loads_under_a_mask_and_selects() -> None:
    found = body("x[0] = threadIdx.x < n ? w[threadIdx.x] : 0.f;")
    assert kinds(found) == ["Load", "Select", "Store"]
    load, select, _ = found
    assert isinstance(load, Load)
    assert isinstance(select, Select)
    assert load.access.mask == select.condition


def test_ternary_on_integers_stays_an_expression() -> None:
    store = body("x[n > 3 ? n : 3] = 0.f;")[-1]
    assert isinstance(store, Store)
    assert isinstance(store.access.index[0], Apply)
    assert store.access.index[0].operator is Operator.SELECT


def test_right_side_of_and_is_loaded_under_the_left() -> None:
    load = next(op for op in body("if (n > 0 && w[0] > 1.f) x[0] = 0.f;") if isinstance(op, Load))
    assert load.access.mask is not None


def test_null_check_of_a_pointer_stays_an_expression() -> None:
    found = body("if (x != nullptr) x[0] = 0.f;")
    assert kinds(found) == ["Branch", "Store"]


EXCHANGES = {
    "xor": ("__shfl_xor_sync(0xffffffff, v, 4)", ExchangeKind.XOR, 32, True),
    "down": ("__shfl_down_sync(-1, v, 4)", ExchangeKind.DOWN, 32, True),
    "up": ("__shfl_up_sync(0xFFFFFFFFu, v, 4)", ExchangeKind.UP, 32, True),
    "index": ("__shfl_sync(0xff, v, 4)", ExchangeKind.INDEX, 32, False),
    "width": ("__shfl_xor_sync(0xffffffff, v, 4, 16)", ExchangeKind.XOR, 16, True),
    "legacy": ("__shfl_down(v, 4)", ExchangeKind.DOWN, 32, True),
    "vote": ("__any_sync(0xffffffff, v > 0.f)", ExchangeKind.VOTE_ANY, 32, True),
}


@pytest.mark.parametrize(("call", "kind", "width", "is_full"), EXCHANGES.values(), ids=EXCHANGES)
def test_shuffle_is_an_exchange(call: str, kind: ExchangeKind, width: int, is_full: bool) -> None:
    found = body(f"float v = w[threadIdx.x]; x[0] = {call};")
    exchange = next(op for op in found if isinstance(op, Exchange))
    assert (exchange.kind, exchange.lanes_mask is None) == (kind, is_full)
    assert isinstance(exchange.width, Const)
    assert exchange.width.value == width


def test_atomic_add_says_whether_its_result_is_used() -> None:
    every = body("atomicAdd(&x[0], w[0]); x[1] = atomicMax(&c[1], n);", PARAMETERS)
    found = [op for op in every if isinstance(op, Atomic)]
    assert [(op.operator, op.result_used) for op in found] == [(Operator.ADD, False), (Operator.MAXIMUM, True)]


BLOCK_GROUP = "auto g = cooperative_groups::this_thread_block(); "
ORDER = {
    "block": ("__syncthreads();", Barrier, Scope.BLOCK),
    "warp": ("__syncwarp();", Barrier, Scope.WARP),
    "group": (BLOCK_GROUP + "g.sync();", Barrier, Scope.BLOCK),
    "free function": (BLOCK_GROUP + "cooperative_groups::sync(g);", Barrier, Scope.BLOCK),
    "fence": ("__threadfence();", Fence, Scope.DEVICE),
}


@pytest.mark.parametrize(("statement", "operation", "scope"), ORDER.values(), ids=ORDER)
def test_order_is_kept(statement: str, operation: type[Barrier | Fence], scope: Scope) -> None:
    found = [op for op in body(statement + " x[0] = 0.f;") if isinstance(op, Barrier | Fence)]
    assert [(type(op), op.scope) for op in found] == [(operation, scope)]


def test_group_reduction_is_a_reduce_over_lanes() -> None:
    found = body(
        "namespace cg = cooperative_groups; cg::thread_block b = cg::this_thread_block();"
        "cg::thread_block_tile<32> t = cg::tiled_partition<32>(b);"
        "x[t.meta_group_rank() + t.thread_rank() * t.size()] = cg::reduce(t, w[0], cg::greater<float>{});"
    )
    assert not_understood(found) == []
    reduce = next(op for op in found if isinstance(op, Reduce))
    assert reduce.operator is Operator.MAXIMUM
    assert isinstance(reduce.lanes, Const)
    assert reduce.lanes.value == 32


def test_cache_hints_are_plain_accesses() -> None:
    found = body("__stcs(x + n, __ldg(w + n));")
    assert [(type(op).__name__, op.via) for op in found] == [("Load", "__ldg"), ("Store", "__stcs")]


FLAGS: dict[str, tuple[CudaOptions, bool, bool]] = {
    "default": (CudaOptions(), True, False),
    "no fmad": (CudaOptions(fmad=False), False, False),
    "fast division": (CudaOptions(precise_division=False), True, True),
    "fast math": (CudaOptions(fast_math=True), True, True),
}


@pytest.mark.parametrize(("options", "contractible", "approximate"), FLAGS.values(), ids=FLAGS)
def test_flags_reach_the_operations(options: CudaOptions, contractible: bool, approximate: bool) -> None:
    found = operations(kernel("__global__ void k(float* x) { x[0] = x[1] * x[2] / x[3]; }", options).body)
    product, quotient = (op for op in found if isinstance(op, Compute))
    assert (product.contractible, quotient.approximate) == (contractible, approximate)


def test_rounded_intrinsic_is_not_contracted() -> None:
    product = next(op for op in body("x[0] = __fmul_rn(w[0], w[1]) + w[2];") if isinstance(op, Compute))
    assert not product.contractible


def test_constants_are_cast_when_they_are_read() -> None:
    store = body("x[0] = 1;")[-1]
    assert isinstance(store, Store)
    assert store.value == Const(1.0, FLOAT32)


def test_negative_infinity_is_a_constant() -> None:
    store = body("x[0] = -INFINITY;")[-1]
    assert isinstance(store, Store)
    assert store.value == Const(float("-inf"), FLOAT32)


def test_pure_unsigned_result_keeps_its_arithmetic_when_made_signed() -> None:
    store = body("int i = blockIdx.x * 4u + 1u; x[i] = 0.f;")[-1]
    assert isinstance(store, Store)
    index = store.access.index[0]
    assert isinstance(index, Apply)
    assert (index.dtype, index.arguments[0].dtype) == (INT32, UINT32)


def test_wide_copy_of_narrow_memory_is_a_copy_of_elements() -> None:
    found = body("half a[8]; reinterpret_cast<float4*>(a)[0] = reinterpret_cast<float4*>(h)[n];", PARAMETERS)
    copy = next(op for op in found if isinstance(op, Copy))
    assert copy.destination.axes[0].extent == Const(8, copy.destination.axes[0].extent.dtype)  # type: ignore[union-attr]  # an extent
    assert symbols(copy.source.index) >= {"n"}


def symbols(index: tuple[object, ...]) -> set[str]:
    found: set[str] = set()
    stack = list(index)
    while stack:
        node = stack.pop()
        if isinstance(node, Symbol):
            found.add(node.name)
        stack.extend(getattr(node, "arguments", ()))
    return found


HELPERS = {
    "value": ("__device__ float f(float a) { return a * 2.f; }", "x[0] = f(w[0]);", ["Load", "Compute", "Store"]),
    "template argument": ("template <int N> __device__ float f(float a) { return a * N; }", "x[0] = f<4>(w[0]);",
                          ["Load", "Compute", "Store"]),
    "template default": ("template <int N = 4> __device__ float f(float a) { return a * N; }", "x[0] = f(w[0]);",
                         ["Load", "Compute", "Store"]),
    "deduced type": ("template <typename T> __device__ T f(T a) { return a * a; }", "x[0] = f(w[0]);",
                     ["Load", "Compute", "Store"]),
    "function argument": ("__device__ float g(float a) { return a + 1.f; }\ntemplate <float (*F)(float)> "
                          "__device__ float f(float a) { return F(a); }", "x[0] = f<g>(w[0]);",
                          ["Load", "Compute", "Store"]),
    "pointer": ("__device__ void f(float* p) { p[1] = 0.f; }", "f(x + n);", ["Store"]),
    "reference": ("__device__ void f(float& r) { r += 1.f; }", "float s = 0.f; f(s); x[0] = s;",
                  ["Alloc", "Store", "Load", "Compute", "Store", "Load", "Store"]),
    "early return": ("__device__ float f(float a) { if (a > 0.f) return a; return 0.f; }", "x[0] = f(w[0]);",
                     ["Alloc", "Load", "Compute", "Branch", "Store", "Store", "Load", "Store"]),
    "pointer moved after an early return": ("__device__ void f(float* p, int i) { if (i > 4) return; p += i; "
                                            "if (i > 2) return; p += i; p[0] = 0.f; }", "f(x, n);",
                                            ["Branch", "Branch", "Store"]),
    "object macro": ("#define TWO (1 + 1)", "x[TWO] = 0.f;", ["Store"]),
    "function macro": ("#define AT(p, i) ((p)[(i) + 1])", "AT(x, n) = AT(w, 0);", ["Load", "Store"]),
    "statement macro": ("#define ZERO(p) do { p[0] = 0.f; p[1] = 0.f; } while (0)", "ZERO(x);", ["Store", "Store"]),
    "file constant": ("constexpr int N = 4; enum { A = N, B };", "x[B] = 0.f;", ["Store"]),
    "alias of a type": ("typedef float real; using R = real;", "R a = w[0]; x[0] = a;", ["Load", "Store"]),
}  # fmt: skip


@pytest.mark.parametrize(("before", "statement", "expected"), HELPERS.values(), ids=HELPERS)
def test_what_the_file_defines_is_put_in(before: str, statement: str, expected: list[str]) -> None:
    found: list[Op] = body(statement, before=before)
    assert not_understood(found) == []
    assert kinds(found) == expected
