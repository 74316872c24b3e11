"""Heights of stages, by formula and by building the tree."""

from __future__ import annotations

import pytest

from portcheck.core.dtype import FLOAT32
from portcheck.ir import Order, number
from portcheck.ir.polynomial import symbol
from portcheck.numerics import Stage, height, stage_height


def stage(terms: int, order: Order) -> Stage:
    return Stage(name="s", terms=number(terms), order=order, dtype=FLOAT32)


def deepest_leaf_of_a_halving_tree(terms: int) -> int:
    """Builds the tree and counts the additions above its deepest leaf."""
    depths = [0] * terms
    while len(depths) > 1:
        half = (len(depths) + 1) // 2
        merged = [max(depths[i], depths[i + half]) + 1 for i in range(len(depths) - half)]
        depths = merged + depths[len(depths) - half : half]
    return depths[0]


@pytest.mark.parametrize("terms", [1, 2, 3, 5, 8, 31, 32, 33, 100, 256])
@pytest.mark.parametrize("order", [Order.PAIRWISE, Order.BUTTERFLY])
def test_a_tree_is_as_high_as_the_tree_that_was_built(terms: int, order: Order) -> None:
    assert stage_height(stage(terms, order)) == number(deepest_leaf_of_a_halving_tree(terms))


@pytest.mark.parametrize("order", [Order.SEQUENTIAL, Order.ANY, Order.UNDOCUMENTED])
def test_orders_that_may_be_a_chain_are_charged_one_less_than_their_terms(order: Order) -> None:
    assert stage_height(stage(100, order)) == number(99)


def test_the_walkthrough_reduction_has_the_height_of_its_stages_together() -> None:
    stages = (stage(16, Order.SEQUENTIAL), stage(32, Order.BUTTERFLY), stage(8, Order.BUTTERFLY))
    assert height(stages) == number(23)


def test_a_symbolic_chain_keeps_its_symbol() -> None:
    unknown = Stage(name="s", terms=symbol("n"), order=Order.SEQUENTIAL, dtype=FLOAT32)
    assert str(stage_height(unknown)) == "n - 1"
