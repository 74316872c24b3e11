"""Names that nothing in reach defines are numbers that the build gives; names that something declares are not."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, kernel, not_understood, program

from portcheck.core.dtype import FLOAT32, INT32
from portcheck.ir import Alloc, Compute, Loop, Range, Symbol

USED = {
    "extent": "__shared__ float s[TILE]; s[0] = w[0]; x[0] = s[0];",
    "bound": "for (int i = 0; i < TILE; i++) x[i] = w[i];",
    "index": "x[threadIdx.x + TILE] = w[TILE * 2 - 1];",
    "condition": "if (n < TILE) x[n] = w[n];",
    "shift": "x[n >> TILE] = w[n & (1 << TILE)];",
}


@pytest.mark.parametrize("statements", USED.values(), ids=USED)
def test_an_undefined_name_used_as_a_number_is_a_symbol(statements: str) -> None:
    assert not_understood(body(statements)) == []


def test_what_an_undefined_name_is_taken_for_is_noted() -> None:
    lowered = program("__global__ void k(float* x) { x[TILE] = x[TILE + 1]; }")
    assert [note for note in lowered.notes if "TILE" in note] == [
        "TILE is defined nowhere in reach: it is taken to be a number that the build gives"
    ]


def test_extent_and_bound_are_the_same_symbol() -> None:
    found = body("__shared__ float s[TILE]; for (int i = 0; i < TILE; i++) { s[i] = w[i]; x[i] = s[i]; }")
    (allocation,) = [op for op in found if isinstance(op, Alloc)]
    (loop,) = [op for op in found if isinstance(op, Loop)]
    assert isinstance(loop.values, Range)
    assert allocation.type.shape == (loop.values.stop,) == (Symbol("TILE", INT32),)


def test_an_undefined_name_that_meets_a_float_is_a_float_parameter() -> None:
    found = kernel("__global__ void k(float* x, const float* w) { x[0] = w[0] * SCALE; x[1] = w[1] + SCALE; }")
    assert [(part.name, part.type.dtype) for part in found.parameters][2:] == [("SCALE", FLOAT32)]
    products = [op for op in found.body if isinstance(op, Compute)]
    assert [op.operands[1] for op in products] == [Symbol("SCALE", FLOAT32)] * 2


DECLARED = {
    "a variable of a type that is not known": "opaque_t TILE; x[TILE] = 1.f;",
    "shared memory of a type that is not known": "__shared__ typename P::T TILE; x[0] = TILE;",
    "text that does not parse": "register a b TILE c; x[TILE] = 1.f;",
    "a binding of several names": "auto [TILE, b] = pair(); x[TILE] = 1.f;",
    "a macro that may declare it": "MAKE(3); x[TILE] = 1.f;",
}


@pytest.mark.parametrize("statements", DECLARED.values(), ids=DECLARED)
def test_a_name_that_something_declares_is_no_number(statements: str) -> None:
    assert not_understood(body(statements, before="#define MAKE(v) strange { TILE = v; }"))


def test_a_member_of_a_class_is_no_number_of_the_build() -> None:
    text = "struct A { int TILE; __device__ int twice() { return 2 * TILE; } };\n"
    found = body("A a; x[a.twice()] = 1.f; x[0] = TILE;", before=text)
    assert "unknown name TILE" in not_understood(found)


def test_an_undefined_function_stays_a_call() -> None:
    assert not_understood(body("x[0] = tile(w[0]);")) == ["tile"]
