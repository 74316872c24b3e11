"""Returns in a loop that do what a `break` does: the function returns the same right behind the loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import libcst as cst

from portcheck.frontends.nki.source.trees import children

_NOTHING = "None"
_OWN = cst.For | cst.While | cst.Try | cst.TryStar | cst.FunctionDef | cst.ClassDef


@lru_cache(maxsize=1024)
def returns_as_breaks(function: cst.CSTNode) -> frozenset[cst.CSTNode]:
    """The returns in loops of `function` that leave it as a `break` of their loop would."""
    body = function.body if isinstance(function, cst.FunctionDef) else None
    return frozenset(_in_block(body.body, _NOTHING)) if body is not None else frozenset()


def _in_block(body: Sequence[cst.CSTNode], last: str) -> Iterator[cst.CSTNode]:
    """Those in a block behind which the function returns the name `last` ("" where it does more)."""
    for place, statement in enumerate(body):
        then = last if place + 1 == len(body) else _returned(body[place + 1])
        if not then:
            continue
        if isinstance(statement, cst.If):
            yield from _in_block(statement.body.body, then)
            other = statement.orelse
            yield from _in_block([other] if isinstance(other, cst.If) else other.body.body if other else (), then)
        elif isinstance(statement, cst.For | cst.While) and statement.orelse is None:
            yield from _that_return(statement.body, then)


def _returned(statement: cst.CSTNode) -> str:
    """The name that `statement` returns, "" where it is no such return."""
    if isinstance(statement, cst.SimpleStatementLine):
        return _returned(statement.body[0]) if len(statement.body) == 1 else ""
    if not isinstance(statement, cst.Return):
        return ""
    if statement.value is None:
        return _NOTHING
    return statement.value.value if isinstance(statement.value, cst.Name) else ""


def _that_return(node: cst.CSTNode, name: str) -> Iterator[cst.CSTNode]:
    """The returns of `name` in the body of a loop, those aside that are in inner loops, or that a `finally` follows."""
    if isinstance(node, _OWN | cst.BaseExpression):
        return
    if isinstance(node, cst.Return):
        if _returned(node) == name:
            yield node
        return
    for part in children(node):
        yield from _that_return(part, name)
