"""What a file uses of NKI outside of the text that was evaluated: decorators of kernels, code of the host."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from portcheck.core.source import Position, Span
from portcheck.frontends.nki.source.discovery import Definition
from portcheck.frontends.nki.source.imports import is_nki, qualified
from portcheck.frontends.nki.source.mentions import Mention, mentions
from portcheck.frontends.nki.source.nodes import below, nodes_in
from portcheck.frontends.nki.state.scope import Scope
from portcheck.frontends.nki.values.arithmetic import literal
from portcheck.ir.uses import Argument, NameUse, NoneUse, NumberUse, OperandUse, OtherUse, Run, TextUse, Use, UseKind


def uses_outside(
    scope: Scope, kernels: Sequence[Definition], wanted: Collection[str], evaluated: Collection[int]
) -> Iterator[Use]:
    """The uses in `scope` outside of its kernels and of the functions defined at the lines `evaluated`.

    Of the kernels called `wanted` the decorators are taken; the others are none of the program's.
    """
    for node in scope.screened.tree.body:
        yield from _uses_of(scope, node, kernels, wanted, evaluated)


def _uses_of(
    scope: Scope, node: ast.AST, kernels: Sequence[Definition], wanted: Collection[str], evaluated: Collection[int]
) -> Iterator[Use]:
    parts: list[ast.AST] = []
    pending = [node]
    while pending:
        item = pending.pop(0)
        if item in kernels:
            assert isinstance(item, Definition)
            parts.extend(item.decorator_list if item.name in wanted else [])
        elif isinstance(item, Definition) and item.lineno in evaluated:
            continue
        elif any(isinstance(inside, Definition) for inside in nodes_in(item)):
            pending[:0] = below(item)
        else:
            parts.append(item)
    for part in parts:
        yield from (_use(scope, mention) for mention in mentions(part, scope.aliases))


def _use(scope: Scope, mention: Mention) -> Use:
    start = _position(scope, mention.node.lineno, mention.node.col_offset)
    end = _position(scope, mention.node.end_lineno or mention.node.lineno, mention.node.end_col_offset or 0)
    span = Span(scope.shown, start, end)
    if not isinstance(mention.node, ast.Call) or mention.written is None:
        return Use(kind=UseKind.NAME, name=mention.name, span=span)
    runs = () if mention.written.is_open else (Run(arguments=tuple(_arguments(mention.node, scope.aliases))),)
    return Use(kind=UseKind.CALL, name=mention.name, span=span, runs=runs)


def _position(scope: Scope, line: int, column: int) -> Position:
    """A place that `ast` counts in bytes."""
    text = scope.screened.lines[line - 1]
    shift = 1 if scope.screened.had_mark and line == 1 else 0
    return Position(line, len(text.encode()[:column].decode(errors="replace")) + 1 + shift)


def _arguments(call: ast.Call, aliases: Mapping[str, str]) -> Iterator[Argument]:
    for place, value in enumerate(call.args):
        yield Argument(parameter="", operand=_operand(value, aliases), position=place)
    for keyword in call.keywords:
        yield Argument(parameter=keyword.arg or "", operand=_operand(keyword.value, aliases))


def _operand(value: ast.expr, aliases: Mapping[str, str]) -> OperandUse:
    name = qualified(value, aliases)
    if is_nki(name):
        return NameUse(name)
    match value:
        case ast.Constant(value=None):
            return NoneUse()
        case ast.Constant(value=bool() | int() | float() as number) if abs(number) < 1 << 62:
            return NumberUse(literal(number))
        case ast.Constant(value=str(text)):
            return TextUse(text)
        case ast.Name(id=word):
            return OtherUse(word)
        case _:
            return OtherUse(type(value).__name__.lower())
