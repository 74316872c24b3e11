"""Going through terms from below, without recursion, and how large they may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from portcheck.values.terms import Term, Unknown, size_of

MOST_TERMS = 20_000
"""Terms that a value may be made of."""
Made = TypeVar("Made")


def bounded(term: Term) -> Term:
    """`term`, or that it is too large to be followed."""
    return term if size_of(term) <= MOST_TERMS else Unknown(f"it is made of more than {MOST_TERMS} terms")


def from_below(
    term: Term, inside: Callable[[Term], Sequence[Term]], make: Callable[[Term, Callable[[Term], Made]], Made]
) -> Made:
    """What `make` makes of `term` and of what it made of the terms `inside` it, of each once, however deep they are.

    `make` is given a term and what finds that of a term inside.
    """
    done: dict[int, Made] = {}

    def made(node: Term) -> Made:
        return done[id(node)]

    stack = [term]
    while stack:
        node = stack[-1]
        missing = [] if id(node) in done else [child for child in inside(node) if id(child) not in done]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        if id(node) not in done:
            done[id(node)] = make(node, made)
    return done[id(term)]
