"""Objects that text which is not read mentions: what it may change of them is unknown after it, and nothing else."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, stores

from portcheck.frontends.nki.values.arithmetic import constant_part
from portcheck.ir import Const, Store, substitute

BEFORE = """
from elsewhere import foreign
from dataclasses import dataclass


class S:
    def __init__(self, inner=None):
        self.n = 1
        self.k = 1
        self.inner = inner
        self.rows = [1]

    def more(self):
        self.n += 1

    def look(self):
        return self.k

    @property
    def size(self):
        return self.k

    @size.setter
    def size(self, value):
        self.k = value


@dataclass(frozen=True)
class F:
    k: int = 1


def set_by_name(s):
    setattr(s, 'k', 3)


def pass_on(s):
    foreign(s)


class V:
    def __init__(self, s):
        self.k, self.n = s.k, s.n

    def __eq__(self, other):
        made = V(self)
        made.k = 4
        return made.k == other


def copied(s):
    made = V(s)
    made.k = 5
    return made


def copied_or(s, made):
    if s.k:
        made = V(s)
    made.k = 5


def picked(s):
    made = same(s)
    made.k = 5


def same(s):
    return s


def again(s):
    s.__init__()


def change(s):
    s.n = 2
    s.inner.n = 3
"""
UNREAD = "for q in m:\n    {}\n"
STAYS = {
    "an attribute that is not assigned": ("s.n = 4", "s.k"),
    "one that a method does not assign": ("s.more()", "s.k"),
    "one of an object that is only looked at": ("s.look()", "s.n"),
    "one that a function does not assign": ("change(s)", "s.k"),
    "one of an object that cannot change": ("foreign(f)", "f.k"),
    "one of another object that a function makes": ("copied(s)", "s.k"),
    "one that is set where an object is made": ("z = V(s)", "s.k"),
    "a list beside an object": ("s.n = 4", "s.rows[0]"),
}
CHANGES = {
    "an attribute that is assigned": ("s.n = 4", "s.n"),
    "one that a method assigns": ("s.more()", "s.n"),
    "one that a property sets": ("s.size = 4", "s.k"),
    "one that a function assigns": ("change(s)", "s.n"),
    "one of what may be an object that a function makes": ("copied_or(t, s)", "s.k"),
    "one of an object that another function gives": ("picked(s)", "s.k"),
    "one of an object that is made again": ("again(s)", "s.k"),
    "one of an object in an object": ("change(s)", "t.n"),
    "one that is assigned in a tuple": ("s.n, z = 4, 5", "s.n"),
    "one that is set by its name": ("set_by_name(s)", "s.k"),
    "one of what text elsewhere is given": ("pass_on(s)", "s.k"),
    "one of what a function that is not known is given": ("q(s)", "s.k"),
    "an element": ("s.rows[0] = 4", "s.rows[0]"),
    "a list that grows": ("s.rows.append(4)", "s.rows[-1]"),
    "one of two objects": ("u.n = 4", "s.n"),
}
MADE = "f = F()\nt = S()\ns = S(t)\nu = s if n > 3 else f\n"


def is_known(unread: str, value: str) -> bool:
    body = MADE + UNREAD.format(unread) + f"w = {value}\nnisa.memset(a[:, w:w + 1], 0.0)"
    made = kernel(body, BEFORE, "x, n, m")
    found = [op for op in made.body if isinstance(op, Store)]
    if not found:
        return False
    index = stores(tuple(found))[0].access.index[1]
    first = {axis.name: Const(0, index.dtype) for axis in found[0].access.axes}
    return constant_part(substitute(index, dict(first))) == 1


@pytest.mark.parametrize(("unread", "value"), STAYS.values(), ids=STAYS)
def test_what_text_that_is_not_read_cannot_change_stays(unread: str, value: str) -> None:
    assert is_known(unread, value)


@pytest.mark.parametrize(("unread", "value"), CHANGES.values(), ids=CHANGES)
def test_what_text_that_is_not_read_may_change_is_not_known(unread: str, value: str) -> None:
    assert not is_known(unread, value)
