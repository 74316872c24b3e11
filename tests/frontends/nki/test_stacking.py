"""Tiles of a loop that last beyond it: how much room each round has in the buffer that holds those of all rounds."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques

from portcheck.frontends.nki.values.arithmetic import known
from portcheck.ir import Alloc, integer, operations, substitute

LOOP = """
tiles = []
for i in range(n):
    tiles.append(nl.ndarray((128, {extent}), dtype=nl.float32, buffer=nl.sbuf))
for i in range(n):
    nisa.memset(tiles[i], value=0.0)
"""
BOUNDED = {
    "the same in each round": ("m", 100),
    "a last one that is shorter": ("min(64, m - i * 64)", 64),
    "a last one of which some is left out": ("min(64, m - i * 64) - 3 if i == n - 1 else min(64, m - i * 64)", 64),
    "a part of it": ("min(64, m - i * 64) // 8 + 2", 10),
    "from a place to the end, or not so far": ("min(i * 64 + min(64, m), m) - i * 64", 64),
}


@pytest.mark.parametrize(("extent", "room"), BOUNDED.values(), ids=BOUNDED)
def test_the_buffer_has_room_for_the_largest_tile(extent: str, room: int) -> None:
    made = kernel(LOOP.format(extent=extent), parameters="x, n: int, m: int")
    assert opaques(made) == []
    rooms = [op.type.shape for op in operations(made.body) if isinstance(op, Alloc) and len(op.type.shape) == 3]
    assert [known(substitute(shape[2], {"m": integer(100)})) for shape in rooms] == [room]


@pytest.mark.parametrize("extent", ["i + 1", "m - i", "min(i, 2 * i)", "64 // (i + 1)", "i * 64 if i == 2 else 64"])
def test_tiles_of_which_no_round_has_the_largest_by_any_of_these_have_no_common_buffer(extent: str) -> None:
    made = kernel(LOOP.format(extent=extent), parameters="x, n: int, m: int")
    assert opaques(made)
