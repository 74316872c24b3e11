"""Which kernels are compared, when the user does not say."""

from __future__ import annotations

import pytest

from portcheck.align.kernels import Pairing, Signature, choose

NORM = Signature("rmsnorm", ("y", "x", "gamma", "eps"))
SOFTMAX = Signature("softmax", ("y", "x"))
UNNAMED = Signature("kernel_a", ("p", "q"))
TWIN = Signature("kernel_b", ("p", "q"))

CHOICES = {
    "the only ones, whatever their names": ([NORM], [UNNAMED], ("rmsnorm", "kernel_a"), False),
    "the same name": ([SOFTMAX, NORM], [Signature("rmsnorm", ("x",)), UNNAMED], ("rmsnorm", "rmsnorm"), False),
    "a similar name": ([SOFTMAX, NORM], [Signature("rmsnorm_nki", ("x", "gamma"))], ("rmsnorm", "rmsnorm_nki"), False),
    "parameters, where names say nothing": (
        [SOFTMAX, NORM], [Signature("tile", ("gamma", "eps"))], ("rmsnorm", "tile"), True,
    ),
    "none of two alike": ([UNNAMED, TWIN], [SOFTMAX], (None, None), True),
    "none of two alike in the port": ([SOFTMAX], [UNNAMED, TWIN], (None, None), True),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOICES)
def test_the_kernels_chosen_are(name: str) -> None:
    cuda, nki, expected, is_weak = CHOICES[name]
    pairing = choose(cuda, nki)
    assert ((pairing.cuda, pairing.nki), pairing.is_weak) == (expected, is_weak)


def test_the_order_of_kernels_does_not_matter() -> None:
    port = [Signature("rmsnorm_nki", ("x", "gamma"))]
    chosen = [(found.cuda, found.nki) for found in (choose([SOFTMAX, NORM], port), choose([NORM, SOFTMAX], port))]
    assert chosen[0] == chosen[1]


def test_a_choice_that_cannot_be_defended_lists_the_candidates() -> None:
    expected = ("kernel_a with softmax", "kernel_b with softmax")
    assert choose([UNNAMED, TWIN], [SOFTMAX]) == Pairing(
        None, None, "several pairs are equally likely", is_weak=True, candidates=expected
    )
