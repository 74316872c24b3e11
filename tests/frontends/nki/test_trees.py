"""The trees made from Python's own are those of libcst's parser, and stand where libcst's slow positions say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from portcheck.frontends.nki.source.parse import Segment, parse_statement
from portcheck.frontends.nki.source.screen import Screened, screen
from portcheck.frontends.nki.source.trees import children

PORTS = sorted(Path(__file__).parents[3].glob("corpus/*/*/port.py"))[::5]
EVERYTHING = '''
@decorate(1)(2)
def f(a, /, b: int = 2, *rest, c, d=4, **more) -> "x":
    """Text."""
    x = y = a + b * -c ** d
    x: int = (1)
    x += a and b and (c or d) and not a or b
    e, (f, *g) = a[1], b[1:2, ..., ::3], c[d,], c[()], a[:], b[a[0]:, -1]
    h = {1: a, **b, 'c': [d, *e]}, {1, *a}, (), []
    i = [a for b, c in d if e if f for g in h], {a for a in b}, {a: b for a in c}
    j = f(*a, b, c=d, **e)(i for i in j), f(x=1, *y), f((a), (b),)
    k = lambda q, *r, s=1: (q if r else s)
    l = a < b <= c != d is not e not in g
    m = ('a' 'b') + f"{a!r:>{b}} {{c}} {d}" + f"", b'c', 1.5e300, 0x1F, 3j, 1_000, True, None, ...
    del a, b
    del c
    if (n := a) > 1: pass; x = 1
    elif b:
        return 1,
    else:
        return
    for a, b in c:
        continue
    else: x = 2
    while a:
        break
    else:
        x = 3
    with a as b, c(d) as (e, f):
        raise a from b
    try:
        assert a, b
    except (A, B) as e:
        raise
    except C:
        pass
    else:
        x = 4
    finally:
        x = 5
    match a:
        case [1, *b] if c:
            x = 6
        case {'a': 1 | 2, **d}: pass
        case C(e, f=[g as h, *_]) if a: pass
        case None | -1.5 | 'x' | True: pass
        case _: pass
    global zz; import a.b as c; from d import (e, f)
    from .. import i; from .g.h import i as j
    try: pass
    except* A: pass
    if a:
        pass
    else:
        if b: pass; pass
    @a.b
    def h(*, e=1, **l): nonlocal k; return
    async def g(h):
        await h
        async for i in h: yield i
        async with h as i: x = yield
    def h(): yield from a
    return a.b.c[d].e(f).g


class C(A, metaclass=B):
    x: int = 3
    y = 4; z = (5,
    6); w = 7
from .. import *
\xe4 = "\u4e2d"; b = (\xe4, \xe4 + \xe4, "\U0001f600" + \xe4)
'''
UNLIKE = (cst.Tuple, cst.GeneratorExp, cst.Param, cst.Arg, cst.Element, cst.BooleanOperation)
"""Parentheses of tuples and generators belong to them, annotations to their parameters; not so for libcst.
A part of `a and b and (c)` ends at `c`, for libcst at its parenthesis."""
WITHOUT_PARTS = (cst.FormattedString, cst.Import, cst.ImportFrom, cst.Global, cst.Nonlocal, cst.MatchPattern)
NAMED = (cst.FunctionDef, cst.ClassDef, cst.Param, cst.ExceptHandler)
KINDS = (cst.BaseExpression, cst.BaseStatement, cst.BaseSmallStatement, cst.BaseElement, cst.Param, cst.Arg)
SPELLING = (
    cst.Comma, cst.Dot, cst.Colon, cst.LeftSquareBracket, cst.RightSquareBracket, cst.LeftCurlyBrace,
    cst.RightCurlyBrace, cst.AssignEqual, cst.Semicolon, cst.ParamSlash, cst.TrailingWhitespace, cst.SimpleWhitespace,
)  # fmt: skip


def parts(node: cst.CSTNode) -> list[cst.CSTNode]:
    return [child for child in children(node) if not isinstance(child, SPELLING)]


def in_step(made: cst.CSTNode, parsed: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """Every node that is made and the one that libcst's parser makes of the same text; texts side by side are one."""
    if isinstance(parsed, cst.ConcatenatedString) and isinstance(made, cst.SimpleString):
        assert made.evaluated_value == parsed.evaluated_value
        yield made, parsed
        return
    assert type(made) is type(parsed)
    yield made, parsed
    for own, their in zip(parts(made), parts(parsed), strict=True):
        yield from in_step(own, their)


def said(node: cst.CSTNode) -> object:
    """What a leaf says, however it is spelled."""
    if isinstance(node, cst.SimpleString | cst.Integer | cst.Float | cst.Imaginary):
        return ast.literal_eval(node.value)
    return [getattr(node, name) for name in ("value", "star", "conversion") if isinstance(getattr(node, name, 0), str)]


def placed(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes that have a place of their own."""
    if isinstance(node, KINDS):
        yield node
    if isinstance(node, WITHOUT_PARTS):
        return
    for child in children(node):
        is_name = isinstance(node, cst.Arg) and child is node.keyword
        is_name |= isinstance(node, cst.Attribute) and child is node.attr
        is_name |= isinstance(node, NAMED) and child is node.name
        if not is_name:
            yield from placed(child)


@pytest.mark.parametrize("text", [EVERYTHING, *(path.read_text() for path in PORTS)])
def test_trees_are_those_of_libcst(text: str) -> None:
    for segment, parsed in both(text):
        for own, their in in_step(segment.module, parsed):
            assert said(own) == said(their) or isinstance(their, cst.ConcatenatedString)


@pytest.mark.parametrize("text", [EVERYTHING, *(path.read_text() for path in PORTS)])
def test_every_node_stands_where_libcst_says(text: str) -> None:
    for segment, parsed in both(text):
        places = MetadataWrapper(parsed, unsafe_skip_copy=True).resolve(PositionProvider)
        theirs = {id(own): places[their] for own, their in in_step(segment.module, parsed)}
        for node in placed(segment.module):
            if isinstance(node, UNLIKE):
                assert id(node) in segment.places
                continue
            span, place = segment.span(node), theirs[id(node)]
            lines = segment.first_line - 1
            assert (span.start.line - lines, span.start.column - 1) == (place.start.line, place.start.column)
            assert (span.end.line - lines, span.end.column - 1) == (place.end.line, place.end.column)


def both(text: str) -> Iterator[tuple[Segment, cst.Module]]:
    """Each statement of `text` as it is made, and as libcst's parser reads it."""
    for segment in segments(text):
        last = segment.span(segment.module.body[-1]).end.line
        yield segment, cst.parse_module("\n".join(segment.lines[segment.first_line - 1 : last]) + "\n")


def segments(text: str) -> Iterator[Segment]:
    screened = screen(text)
    assert isinstance(screened, Screened)
    for statement in screened.tree.body:
        segment = parse_statement(screened, statement, "port.py")
        assert segment is not None
        yield segment


def test_statements_that_share_a_line_are_read_together() -> None:
    found = list(segments("a = 1; b = (2,\n3); c = 4\nd = 5\n"))
    assert [(item.first_line, len(item.places)) for item in found] == [(1, 14)] * 3 + [(3, 4)]


def test_columns_count_characters_and_a_mark_is_one() -> None:
    [segment] = segments("\ufeff\xe4 = (\xe4, b)\n")
    [line] = segment.module.body
    assert isinstance(line, cst.SimpleStatementLine)
    [assignment] = line.body
    assert isinstance(assignment, cst.Assign)
    assert isinstance(assignment.value, cst.Tuple)
    last = assignment.value.elements[1].value
    assert (segment.text(last), segment.span(last).start.column) == ("b", 10)


def test_text_that_libcst_has_no_tree_for_is_not_read() -> None:
    screened = screen("x = [1, 2]\n")
    assert isinstance(screened, Screened)
    [statement] = screened.tree.body
    assert isinstance(statement, ast.Assign)
    statement.value = ast.Slice()
    assert parse_statement(screened, statement, "port.py") is None
