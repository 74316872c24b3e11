"""Conditions that nothing states: two are one only where they must be equal."""

from __future__ import annotations

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Branch, Expr, operations

PORT = """import nki
import nki.isa as nisa
import nki.language as nl
from elsewhere import FLAG, look

def is_good(thing):
    return thing.of_a_name_that_is_long_enough_to_be_cut_where_texts_are_cut(1, 2, 3, 4) > 0

def is_odd(number):
    return number % 2 == 1

@nki.jit
def k(x):
    a = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    y = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    if FIRST:
        nisa.memset(a, 0.0)
    if SECOND:
        nisa.memset(a, 1.0)
    nisa.dma_copy(dst=y, src=a)
    return y
"""


def conditions(first: str, second: str) -> list[Expr]:
    text = PORT.replace("FIRST", first).replace("SECOND", second)
    program = read_nki(SourceFile("port.py", text), NkiOptions()).lower(["k"])
    return [op.condition for op in operations(program.kernels[0].body) if isinstance(op, Branch)]


def test_a_name_that_nothing_defines_is_the_same_everywhere() -> None:
    first, second = conditions("UNDEFINED", "UNDEFINED")
    assert first == second


def test_an_imported_name_is_not_taken_to_be_true_and_is_the_same_everywhere() -> None:
    first, second = conditions("FLAG", "FLAG")
    assert first == second


def test_calls_with_other_arguments_are_not_equal() -> None:
    first, second = conditions("look(1)", "look(2)")
    assert first != second


def test_the_same_call_may_give_something_else() -> None:
    first, second = conditions("look(1)", "look(1)")
    assert first != second


def test_conditions_inside_of_a_helper_are_those_of_its_arguments() -> None:
    assert len(set(conditions("is_good(look(1))", "is_good(look(2))"))) == 2
    assert len(set(conditions("is_odd(look(1))", "is_odd(look(2))"))) == 2


def test_long_conditions_that_begin_alike_are_not_equal() -> None:
    start = "UNDEFINED.attribute_of_a_name_that_is_long + UNDEFINED.attribute_of_a_name_that_is_long"
    first, second = conditions(f"{start} > 1", f"{start} > 2")
    assert first != second
