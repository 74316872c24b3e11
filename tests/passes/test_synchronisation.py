"""Barriers, exchanges and atomics, in source order; and all facts of one program together."""

from __future__ import annotations

from tests.passes.program_text import original

from portcheck.passes import facts_of
from portcheck.passes.synchronisation import atomics, block_barriers, exchanges

PROGRAM = original(
    "%1: barrier block",
    "%2 = load w[0] -> float32",
    "%3: barrier warp",
    "%4: fence block",
    "%5: branch threadIdx.x < n",
    "  %6 = exchange xor(%2) lane(16) width(32) -> float32",
    "  %7 = atomic add y[0] value(%6) -> float32",
    "  %8: barrier block",
    "%9 = exchange down(%2) lane(1) width(32) -> float32",
    "%10 = atomic maximum y[0] value(%9) -> float32",
    '%11: opaque "asm"',
    "%12: call helper(%9)",
)


def test_only_barriers_of_a_block_are_block_barriers() -> None:
    assert [op.id for op in block_barriers(PROGRAM)] == [1, 8]


def test_exchanges_are_found_in_branches_too() -> None:
    assert [op.id for op in exchanges(PROGRAM)] == [6, 9]


def test_atomics_are_found_in_branches_too() -> None:
    assert [op.id for op in atomics(PROGRAM)] == [7, 10]


def test_the_facts_of_a_program_hold_what_every_pass_says() -> None:
    facts = facts_of(PROGRAM)
    assert (facts.barriers, facts.exchanges, facts.atomics) == (
        block_barriers(PROGRAM), exchanges(PROGRAM), atomics(PROGRAM),
    )  # fmt: skip
    assert [op.id for op in (*facts.opaque, *facts.calls)] == [11, 12]
