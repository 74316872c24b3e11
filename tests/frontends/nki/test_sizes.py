"""What is asserted of sizes, the loops around and the arms of branches decide conditions and shorten shapes."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores

from portcheck.ir import Alloc, Branch, Expr, Symbol, integer, operations

M = "m = x.shape[1]\n"
HOLDS = {
    "multiples": f"{M}assert m % 128 == 0\nk = m // 128\nif k * 128 == m:",
    "a multiple of a factor": f"{M}assert m % 128 == 0\nif m % 32 == 0:",
    "at most": f"{M}assert m <= 128\nif m < 129:",
    "at most, through a minimum": f"{M}assert m <= 128\nif min(128, m) == m:",
    "an equality": f"{M}assert m == 512\nif m // 4 == 128:",
    "a raised error": f"{M}if m > 128:\n    raise ValueError\nif m <= 128:",
    "an arm": f"{M}if m > 8:\n  if m > 7:\n    nisa.memset(a, 0.0)\nif True:",
    "sizes are not negative": f"{M}if m >= 0:",
    "a helper that asserts": f"{M}def need(c):\n    assert c, 'no'\nneed(m % 4 == 0)\nif m % 2 == 0:",
    "rounded up": f"{M}if (m + 127) // 128 * 128 >= m:",
    "rounded down": f"{M}if m // 128 * 128 <= m:",
}  # fmt: skip


@pytest.mark.parametrize("body", HOLDS.values(), ids=HOLDS)
def test_a_condition_that_follows_is_decided(body: str) -> None:
    made = kernel(f"{body}\n    nisa.memset(b, 0.0)\nelse:\n    nisa.memset(a, 1.0)", parameters="x, n")
    assert opaques(made) == []
    assert [op.access.buffer for op in made.body if op in stores(made.body)] == ["b"]


IN_LOOPS = {
    "below the end": "for i in range(n):\n    if i < n:",
    "not below zero": "for i in range(n):\n    if i >= 0:",
    "whole tiles": "for i in range(8):\n    w = min(512, 4096 - i * 512)\n    if w == 512:",
    "a step": "for i in range(0, n, 4):\n    if i % 2 == 0:",
    "a tail that is not empty": f"{M}for i in range((m + 511) // 512):\n    if i * 512 < m:",
}


@pytest.mark.parametrize("body", IN_LOOPS.values(), ids=IN_LOOPS)
def test_a_loop_says_what_its_variable_can_be(body: str) -> None:
    made = kernel(f"{body}\n        nisa.memset(a, 0.0)", parameters="x, n")
    assert not [op for op in operations(made.body) if isinstance(op, Branch)]
    assert len(stores(made.body)) == 1


OPEN = {
    "a parameter may be negative": "if n >= 0:",
    "an assertion in an arm": f"{M}if n > 3:\n    assert m % 8 == 0\nif m % 8 == 0:",
    "an assertion in a loop that may not run": f"{M}for i in range(n):\n    assert m == 4\nif m == 4:",
    "the other arm": f"{M}if m > 8:\n    nisa.memset(b, 0.0)\nif m > 8:",
    "a larger multiple": f"{M}assert m % 32 == 0\nif m % 128 == 0:",
    "the first round": "for i in range(n):\n  if i == 0:",
    "a float that is no whole number": "assert eps > 1.5\nif eps > 1.7:",
    "counting down": "for i in range(4, n, -1):\n  if i >= 0:",
    "an assertion that was skipped": (
        f"{M}try:\n    assert m == 4\n    raise ValueError\nexcept ValueError:\n    pass\nif m == 4:"
    ),
}


@pytest.mark.parametrize("body", OPEN.values(), ids=OPEN)
def test_a_condition_that_does_not_follow_stays_open(body: str) -> None:
    made = kernel(f"{body}\n    nisa.memset(a, 0.0)", parameters="x, n, eps")
    branches = [op for op in operations(made.body) if isinstance(op, Branch)]
    assert [op.access.buffer for op in stores((branches[-1],))] == ["a"]


SHAPES: dict[str, tuple[str, Expr | str]] = {
    "a minimum of what is asserted": ("m = x.shape[1]\nassert m <= 512\nw = min(512, m)", "m"),
    "whole tiles": ("m = x.shape[1]\nassert m % 128 == 0\nw = m // 128 * 128", "m"),
    "a number": ("w = min(512, 4096 // 16)", integer(256)),
    "what was asserted": ("m = x.shape[1]\nassert m == 96\nw = min(m, 128)", integer(96)),
}


@pytest.mark.parametrize(("body", "extent"), SHAPES.values(), ids=SHAPES)
def test_the_shape_of_a_tile_is_short(body: str, extent: Expr | str) -> None:
    made = kernel(f"{body}\nt = nl.ndarray((128, w), dtype=nl.float32, buffer=nl.sbuf)")
    tile = [op for op in made.body if isinstance(op, Alloc)][-1]
    found = tile.type.shape[1]
    assert (found.name if isinstance(found, Symbol) else found) == extent
