"""Memory as bytes: how types lie in it, and elements read and written as another type than their buffer's."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, kernel, not_understood

from portcheck.ir import Alloc, Atomic, Cast, Const, Load, Op, Store, operations, views
from portcheck.ir.algebra import polynomial_of

SIZES = {
    "char": 1, "float": 4, "double": 8, "float*": 8, "float3": 12, "float4": 16, "half2": 4, "Mixed": 24, "Mixed*": 8,
    "Nested": 32, "Aligned": 16, "Empty": 1, "Derived": 12, "Either": 8, "Named": 8, "Grid": 48, "Packed<half>": 16,
    "Packed<double>": 16, "Packed<float>::value_type": 4, "Special": 8,
}  # fmt: skip
TYPES = """
struct Mixed { char tag; double weight; int count; };
struct Nested { short a; struct { float x; char y; } inner; float rest[5]; };
struct alignas(16) Aligned { float x; };
struct Empty {};
struct Derived : Aligned0 { float y; };
union Either { char bytes[5]; float number; };
typedef struct { float x, y; } Named;
typedef float Grid[3][4];
template <class T> struct Packed { using value_type = T; static constexpr int size = 16 / sizeof(T); T data[size]; };
template <> struct Packed<int> { int data[2]; };
using Special = Packed<int>;
"""
TYPES = TYPES.replace("struct Derived", "struct Aligned0 { int x; short z; };\nstruct Derived")


@pytest.mark.parametrize(("type_", "size"), SIZES.items())
def test_a_type_takes_as_many_bytes_as_in_cuda(type_: str, size: int) -> None:
    store = next(op for op in body(f"x[0] = sizeof({type_});", before=TYPES) if isinstance(op, Store))
    assert store.value == Const(float(size), store.value.dtype)


OFFSETS = [
    ("Mixed* p", "p[i].tag", "p", "24*i"),
    ("Mixed* p", "p[i].weight", "p.float64", "3*i + 1"),
    ("Mixed* p", "p[i].count", "p.int32", "6*i + 4"),
    ("Nested* p", "p[i].inner.x", "p.float32", "8*i + 1"),
    ("Nested* p", "p[i].rest[2]", "p.float32", "8*i + 5"),
    ("Named* p", "p[i].y", "p", "2*i + 1"),
    ("const float* p", "((const Named*)p)[i].y", "p", "2*i + 1"),
    ("const half* p", "((const float4*)p)[i].z", "p.float32", "4*i + 2"),
    ("const void* p", "((const float*)p)[i]", "p.float32", "i"),
    ("const unsigned* p", "((const int*)p)[i]", "p", "i"),
    ("Packed<float>* p", "p[i].data[3]", "p", "4*i + 3"),
    ("Mixed* p", "(p + 1)->count", "p.int32", "10"),
    ("Mixed* p", "((char*)p + i)[3]", "p", "i + 3"),
]


@pytest.mark.parametrize(("parameter", "member", "buffer", "offset"), OFFSETS, ids=[case[1] for case in OFFSETS])
def test_a_member_lies_where_cuda_puts_it(parameter: str, member: str, buffer: str, offset: str) -> None:
    found = body(f"x[0] = {member};", f"float* x, {parameter}, int i", TYPES)
    assert not_understood(found) == []
    load = next(op for op in found if isinstance(op, Load))
    assert (load.access.buffer, str(polynomial_of(load.access.index[0]))) == (buffer, offset)


def allocations(found: list[Op]) -> dict[str, Alloc]:
    return {op.name: op for op in found if isinstance(op, Alloc)}


def test_dynamic_shared_memory_is_carved_into_arrays() -> None:
    text = """
    extern __shared__ char memory[];
    __global__ void k(float* x, int n) {
      float* first = reinterpret_cast<float*>(memory);
      int* second = (int*)(first + n);
      first[threadIdx.x] = x[threadIdx.x];
      second[threadIdx.x] = n;
      __syncthreads();
      x[threadIdx.x] = first[0] + second[1];
    }
    """
    lowered = kernel(text)
    found = list(operations(lowered.body))
    assert not_understood(found) == []
    assert views(lowered.body) == {"memory.float32": "memory", "memory.int32": "memory"}
    stores = {op.access.buffer: str(polynomial_of(op.access.index[0])) for op in found if isinstance(op, Store)}
    assert stores["memory.int32"] == "n + threadIdx.x"
    assert stores["memory.float32"] == "threadIdx.x"


def test_a_view_stands_beside_the_local_array_it_shows() -> None:
    found = body("if (n) { short v[8]; ((int*)v)[n] = 1; x[0] = v[3]; }")
    names = [op.name for op in found if isinstance(op, Alloc)]
    assert names == ["v", "v.int32"]
    assert not_understood(found) == []


CASTS = {
    "registers of one width": ("float f = x[0]; x[1] = *(int*)&f;", 1),
    "a union": ("union { float f; unsigned u; } v; v.f = x[0]; x[1] = v.u;", 1),
}


@pytest.mark.parametrize(("statements", "count"), CASTS.values(), ids=CASTS)
def test_registers_are_read_by_their_bits(statements: str, count: int) -> None:
    found = body(statements)
    assert not_understood(found) == []
    assert sum(isinstance(op, Cast) and op.bitwise for op in found) == count


def test_an_atomic_on_other_bits_goes_through_a_view() -> None:
    found = body("atomicMax((int*)&x[n], 3);")
    [atomic] = [op for op in found if isinstance(op, Atomic)]
    assert (atomic.access.buffer, allocations(found)["x.int32"].base) == ("x.int32", "x")


def test_what_is_constant_is_constant_through_a_view() -> None:
    assert not_understood(body("((int*)w)[0] = 1;")) == ["write to constant w"]


FILE_SCOPE = {
    "array of records": ("struct P { int a; float b; };\n__constant__ P table[4];", "table[n].b"),
    "shared memory": ("__shared__ float table[4];", "table[n]"),
    "matrix type": ("typedef float M[2][3];\n__device__ M table;", "table[n][1]"),
    "constant array": ("__device__ const float table[2] = {1.f, 2.f};", "table[n]"),
}


@pytest.mark.parametrize(("before", "value"), FILE_SCOPE.values(), ids=FILE_SCOPE)
def test_memory_of_the_file_is_known(before: str, value: str) -> None:
    found = body(f"x[0] = {value};", before=before)
    assert not_understood(found) == []
    assert any(isinstance(op, Load) and op.access.buffer.startswith("table") for op in found)


PACKED = {
    "pragma": "#pragma pack(push, 1)\nstruct A { char c; int i; };\n#pragma pack(pop)",
    "attribute": "struct __attribute__((packed)) A { char c; int i; };",
    "attribute behind": "struct A { char c; int i; } __attribute__((packed));",
}


@pytest.mark.parametrize("before", PACKED.values(), ids=PACKED)
def test_what_is_packed_has_no_known_layout(before: str) -> None:
    assert not_understood(body("x[0] = sizeof(A);", before=before)) == ["size of A"]


def test_what_follows_a_packed_record_is_laid_out_as_usual() -> None:
    before = f"{PACKED['pragma']}\nstruct D {{ char c; int i; }};"
    assert not_understood(body("x[0] = sizeof(D);", before=before)) == []


def test_what_was_not_understood_is_counted_once() -> None:
    assert not_understood(body("float** q = (float**)w; x[0] = q[n][3] + 1.f;")) == ["pointer read in memory"]
