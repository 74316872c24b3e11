"""libcst's trees of the patterns of a `match`, made from Python's own trees of the same text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst as cst

from portcheck.frontends.nki.source.expression_trees import Trees, UnreadError, expression, new


def pattern(trees: Trees, node: ast.pattern) -> cst.MatchPattern:
    """The tree of a pattern. Raises UnreadError."""
    return trees.put(_made(trees, node), node)


def _made(trees: Trees, node: ast.pattern) -> cst.MatchPattern:
    match node:
        case ast.MatchValue(value=value):
            return new(cst.MatchValue)(value=expression(trees, value))
        case ast.MatchSingleton(value=value):
            return new(cst.MatchSingleton)(value=trees.put(new(cst.Name)(value=str(value)), node))
        case ast.MatchSequence(patterns=parts):
            opened, closed = new(cst.LeftSquareBracket)(), new(cst.RightSquareBracket)()
            return new(cst.MatchList)(patterns=_parts(trees, parts), lbracket=opened, rbracket=closed)
        case ast.MatchMapping():
            return _mapping(trees, node)
        case ast.MatchClass():
            return _class(trees, node)
        case ast.MatchAs(pattern=inner, name=name):
            return new(cst.MatchAs)(pattern=pattern(trees, inner) if inner is not None else None, name=_name(name))
        case ast.MatchOr(patterns=parts):
            return new(cst.MatchOr)(patterns=[_alternative(trees, part, parts) for part in parts])
        case _:
            raise UnreadError(type(node).__name__)


def _name(word: str | None) -> cst.Name | None:
    return new(cst.Name)(value=word) if word is not None else None


def _parts(trees: Trees, nodes: Sequence[ast.pattern]) -> list[Any]:
    return [
        new(cst.MatchStar)(name=_name(node.name))
        if isinstance(node, ast.MatchStar)
        else new(cst.MatchSequenceElement)(value=pattern(trees, node))
        for node in nodes
    ]


def _alternative(trees: Trees, node: ast.pattern, among: Sequence[ast.pattern]) -> cst.MatchOrElement:
    separator = cst.MaybeSentinel.DEFAULT if node is among[-1] else new(cst.BitOr)()
    return new(cst.MatchOrElement)(pattern=pattern(trees, node), separator=separator)


def _mapping(trees: Trees, node: ast.MatchMapping) -> cst.MatchMapping:
    elements = [
        new(cst.MatchMappingElement)(key=expression(trees, key), pattern=pattern(trees, part))
        for key, part in zip(node.keys, node.patterns, strict=True)
    ]
    return new(cst.MatchMapping)(elements=elements, rest=_name(node.rest))


def _class(trees: Trees, node: ast.MatchClass) -> cst.MatchClass:
    named = [
        new(cst.MatchKeywordElement)(key=_name(word), pattern=pattern(trees, part))
        for word, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True)
    ]
    plain = [new(cst.MatchSequenceElement)(value=pattern(trees, part)) for part in node.patterns]
    return new(cst.MatchClass)(cls=expression(trees, node.cls), patterns=plain, kwds=named)
