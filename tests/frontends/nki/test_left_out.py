"""Fields that are not given, and keys that are not known: what else an object or dictionary holds stays known."""

from __future__ import annotations

from tests.frontends.nki.reading import kernel, opaques, value_of

BEFORE = """
from dataclasses import dataclass


@dataclass
class Sizes:
    rows: int
    factor: float
    more: int = 3


TABLE = {"half": 0.5, "twice": 2.0}


class Choice:
    def __init__(self, table):
        self.table = table
"""


def _stored(expression: str) -> str:
    return f"s = Sizes(factor=2.0)\nc = Choice({{1: 0.5, 2: 4.0}})\nc.table.get(n, 1.0)\n{expression}"


def test_a_field_that_is_not_given_leaves_the_others() -> None:
    expected = value_of("nisa.tensor_scalar(a, b, nl.multiply, 2.0)")
    assert value_of(_stored("nisa.tensor_scalar(a, b, nl.multiply, s.factor)"), BEFORE) == expected
    assert value_of(_stored("nisa.tensor_scalar(a, b, nl.multiply, 2.0 if s.more == 3 else 7.0)"), BEFORE) == expected


def test_a_field_that_is_not_given_is_no_number() -> None:
    assert opaques(kernel(_stored("nisa.tensor_scalar(a, b, nl.multiply, s.rows)"), BEFORE))


def test_a_key_that_is_not_known_changes_no_dictionary() -> None:
    expected = value_of("nisa.tensor_scalar(a, b, nl.multiply, 4.0)")
    assert value_of(_stored("nisa.tensor_scalar(a, b, nl.multiply, c.table[2])"), BEFORE) == expected


def test_what_a_key_that_is_not_known_gives_is_not_guessed() -> None:
    for default in ("", ", 1.0"):
        assert opaques(
            kernel(_stored(f"nisa.tensor_scalar(a, b, nl.multiply, c.table.get(foreign(n){default}))"), BEFORE)
        )
