"""Paddings and swizzles: extents and indices that only serve the banks of on-chip memory."""

from __future__ import annotations

import pytest
from tests.passes.program_text import original

from portcheck.ir.algebra import polynomial_of
from portcheck.passes.residency import paddings, swizzles

PADDINGS = {
    "one more than the other extent of a square": ("tile: float32[32, 33] shared", [(1, "32", 1)]),
    "written as a sum": ("tile: float32[n, d * 2 + 4] shared", [(1, "2*d", 4)]),
    "the last of three extents": ("tile: float32[2, 16, 17] shared", [(2, "16", 1)]),
    "a square": ("tile: float32[32, 32] shared", []),
    "two more than the other extent": ("tile: float32[32, 34] shared", []),
    "one more than an extent that is no power of two": ("tile: float32[30, 31] shared", []),
    "more than any padding": ("tile: float32[n, d * 2 + 9] shared", []),
    "the first extent": ("tile: float32[33, 32] shared", []),
    "not on the chip": ("tile: float32[32, 33] global", []),
    "of one dimension": ("tile: float32[33] shared", []),
}


@pytest.mark.parametrize("name", PADDINGS)
def test_an_extent_with_elements_nobody_uses_is_padding(name: str) -> None:
    declaration, expected = PADDINGS[name]
    found = paddings(original(f"%1: alloc {declaration}"))
    assert [(padding.dimension, str(polynomial_of(padding.used)), padding.padding) for padding in found] == expected


ACCESSES = {
    "a thread's column": ("%2 = load tile[threadIdx.y, threadIdx.x] -> float32", 1),
    "rows as far as they are used": ("%2 = load tile[0, f] over(f: free < 32) -> float32[32] shared", 1),
    "whole rows, padding included": ("%2 = load tile[0, f] over(f: free < 33) -> float32[33] shared", 0),
    "the other dimension": ("%2 = load tile[f, 0] over(f: free < 33) -> float32[33] shared", 1),
}


@pytest.mark.parametrize("name", ACCESSES)
def test_an_extent_that_is_read_to_its_end_is_no_padding(name: str) -> None:
    access, count = ACCESSES[name]
    assert len(paddings(original("%1: alloc tile: float32[32, 33] shared", access))) == count


INDICES = {
    "threads permuted": ("tile[threadIdx.y, threadIdx.x ^ threadIdx.y]", 1),
    "one with a constant": ("tile[threadIdx.y, threadIdx.x ^ 1]", 1),
    "inside a sum": ("tile[(threadIdx.x ^ threadIdx.y) + 1, 0]", 1),
    "of constants": ("tile[0, 3 ^ 1]", 0),
    "no permutation": ("tile[threadIdx.y, threadIdx.x + threadIdx.y]", 0),
    "in global memory": ("w[threadIdx.x ^ threadIdx.y]", 0),
}


@pytest.mark.parametrize("name", INDICES)
def test_an_index_permuted_by_exclusive_or_is_a_swizzle(name: str) -> None:
    access, count = INDICES[name]
    program = original("%1: alloc tile: float32[32, 32] shared", f"%2 = load {access} -> float32")
    assert [(swizzle.op.id, swizzle.buffer) for swizzle in swizzles(program)] == [(2, "tile")] * count
