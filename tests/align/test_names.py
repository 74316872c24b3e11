"""How alike identifiers are."""

from __future__ import annotations

import pytest

from portcheck.align.names import likeness, words

NAMES = {
    "the same": ("weight", "weight", 1.0),
    "another case": ("Weight", "weight", 0.95),
    "an affix that says what sort of thing it is": ("d_weight", "weight_hbm", 0.95),
    "words joined otherwise": ("eps_value", "epsvalue", 0.95),
    "a shared beginning": ("inp", "input", 0.7),
    "a name of affixes only": ("in", "out", 0.0),
    "unrelated": ("gamma", "x", 0.0),
}


@pytest.mark.parametrize("name", NAMES)
def test_likeness_is_the_same_in_both_directions(name: str) -> None:
    left, right, expected = NAMES[name]
    assert (likeness(left, right), likeness(right, left)) == (expected, expected)


def test_a_misspelled_name_is_alike_but_less_than_the_same_name() -> None:
    assert 0.6 < likeness("residual", "residaul") < likeness("Residual", "residual")


def test_a_name_of_affixes_only_keeps_them() -> None:
    assert (words("d_in_ptr"), words("d_gamma_ptr")) == (("d", "in", "ptr"), ("gamma",))
