"""Dictionaries whose keys a condition decides, and names that calls bind anew: run for either answer."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.tiles.ports import NEW, executed

_START = """
def k(x, flag, other):
    out = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.shared_hbm)
    t = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
"""
_END = """
    nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=float(s))
    nisa.dma_copy(dst=out, src=t)
    return out
"""


def added(body: str, flag: int, other: int = 0, before: str = "") -> float:
    """What a kernel adds to each element, the `s` that `body` works out."""
    head, mark = NEW.rsplit("@nki.jit", 1)
    lines = "".join(f"    {line}\n" for line in body.strip().split("\n"))
    text = f"{head}{before}\n\n@nki.jit{mark}{_START[1:]}{lines}{_END[1:]}"
    done = executed(text, {"x": np.zeros((4, 4), np.float32), "flag": flag, "other": other})
    return float(done.results[0][0, 0])


@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize(
    ("use", "with_it", "without"),
    [("len(d)", 3, 2), ("1 if 'c' in d else 4", 1, 4), ("d.get('c', 7)", 30, 7), ("sum(d.values())", 60, 30),
     ("d.setdefault('c', 8)", 30, 8), ("count(**d)", 3, 2), ("sum([d[key] for key in d])", 60, 30)],
)  # fmt: skip
def test_a_key_that_one_arm_adds_is_there_in_that_arm_only(use: str, with_it: int, without: int, flag: int) -> None:
    body = f"d = {{'a': 10, 'b': 20}}\nif flag:\n    d['c'] = 30\ns = {use}"
    assert added(body, flag, before="def count(**given):\n    return len(given)\n") == (with_it if flag else without)


@pytest.mark.parametrize("flag", [0, 1])
def test_a_dictionary_that_holds_something_in_one_arm_only_is_empty_in_the_other(flag: int) -> None:
    assert added("d = {}\nif flag:\n    d['a'] = 3\ns = 1\nif d:\n    s = 2", flag) == 1 + flag


@pytest.mark.parametrize(("flag", "other"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_key_that_one_arm_takes_away_is_gone_in_that_arm_only(flag: int, other: int) -> None:
    changes = "d = {1: 5, 2: 6}\nif flag:\n    d.pop(2)\nif other:\n    d[3] = 7"
    body = f"{changes}\ns = 0\nfor key in d:\n    s = 10 * s + d[key]"
    wanted = {(0, 0): 56, (0, 1): 567, (1, 0): 5, (1, 1): 57}
    assert added(body, flag, other) == wanted[flag, other]


@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize("is_new", [False, True])
def test_keys_stand_in_the_order_of_the_arm_that_added_them(flag: int, is_new: bool) -> None:
    made = "d = {'a': 1, 'b': 2}", "d = {'b': 2, 'a': 1}"
    filled = "d['a'] = 1\n    d['b'] = 2", "d['b'] = 2\n    d['a'] = 1"
    one, two = made if is_new else filled
    body = f"d = {{}}\nif flag:\n    {one}\nelse:\n    {two}\ns = 0\nfor value in d.values():\n    s = 10 * s + value"
    assert added(body, flag) == (12 if flag else 21)


@pytest.mark.parametrize("flag", [0, 1])
def test_what_an_arm_adds_is_read_where_the_same_condition_holds(flag: int) -> None:
    assert added("d = {}\nif flag:\n    d['a'] = 3\ns = 1\nif flag:\n    s = d['a']", flag) == (3 if flag else 1)


_BOUND_ANEW = """
N = 3


def bind(value):
    global N
    N = value


def more(number):
    return number + N
"""


def test_a_result_that_depends_on_a_name_that_a_call_binds_anew_is_not_remembered() -> None:
    assert added("s = more(1)\nbind(10)\ns = s + 100 * more(1)", 0, before=_BOUND_ANEW) == 4 + 1100


@pytest.mark.parametrize("flag", [0, 1])
def test_a_name_that_a_call_binds_anew_in_one_arm_is_so_in_that_arm_only(flag: int) -> None:
    body = "s = more(1)\nif flag:\n    bind(10)\ns = s + 100 * more(1)"
    assert added(body, flag, before=_BOUND_ANEW) == 4 + (1100 if flag else 400)


_NONLOCAL = """
n = 1
def more(number):
    nonlocal n
    n = n + number
    return n
first = more(2)
if flag:
    second = more(5)
else:
    second = 0
if other:
    n = 100
third = more(1)
s = first + 10 * second + 1000 * third
"""


@pytest.mark.parametrize(("flag", "other"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_what_an_arm_binds_lasts_where_a_call_in_it_binds_names_of_its_function(flag: int, other: int) -> None:
    second = 8 if flag else 0
    third = 101 if other else (9 if flag else 4)
    assert added(_NONLOCAL, flag, other) == 3 + 10 * second + 1000 * third


_TILES = """
now = t
def step(number):
    nonlocal now
    made = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=made, data=now, op0=nl.add, operand0=float(number))
    now = made
step(1)
if flag:
    step(10)
if other:
    step(100)
nisa.tensor_copy(dst=t, src=now)
s = 0
"""


@pytest.mark.parametrize(("flag", "other"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_tile_that_a_call_in_an_arm_binds_anew_is_the_tile_behind_it(flag: int, other: int) -> None:
    assert added(_TILES, flag, other) == 1 + 10 * flag + 100 * other


@pytest.mark.parametrize(("flag", "other"), [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize(("made", "put"), [("[]", "d.append({})"), ("{}", "d[{}] = {}")])
def test_what_an_arm_changes_whose_condition_decides_what_an_object_holds_is_so_there_only(
    made: str, put: str, flag: int, other: int
) -> None:
    first, second = put.replace("{}", "1"), put.replace("{}", "2")
    body = f"d = {made}\nif flag:\n    {first}\nif flag and other:\n    {second}\ns = len(d)"
    assert added(body, flag, other) == flag + (flag and other)


_SHARED = """
def put(value, held=[]):
    held.append(value)
    return len(held)


class Counts:
    n = 1


class Holder:
    counts = Counts()

    def put(self, value, held={}):
        held[value] = value
        return len(held)
"""


@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize(
    ("change", "use", "with_it", "without"),
    [("put(3)", "put(4)", 2, 1), ("Holder().put(3)", "Holder().put(4)", 2, 1),
     ("Holder.counts.n = 6", "Holder.counts.n", 6, 1)],
)  # fmt: skip
def test_what_functions_and_classes_of_the_file_hold_is_older_than_the_arm_that_first_uses_it(
    change: str, use: str, with_it: int, without: int, flag: int
) -> None:
    assert added(f"if flag:\n    {change}\ns = {use}", flag, before=_SHARED) == (with_it if flag else without)
