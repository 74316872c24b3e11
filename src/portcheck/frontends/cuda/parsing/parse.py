"""Text in, units out."""

from __future__ import annotations

from portcheck.core.source import SourceFile, Span
from portcheck.frontends.cuda.parsing.grammar import parser
from portcheck.frontends.cuda.parsing.syntax import Node, Unit
from portcheck.frontends.cuda.text.origins import Origins


def parse(source: SourceFile, text: str, origins: tuple[Origins, ...] = (), fixed: Span | None = None) -> Unit:
    """`text` parsed; its characters stand where `origins`, last edit first, say in `source`, or all at `fixed`."""
    encoded = text.encode("utf-8", "replace")
    return Unit(source, encoded, parser().parse(encoded), origins, fixed)


def part_of(unit: Unit, start: int, end: int) -> Unit:
    """The bytes from `start` to `end` of `unit`, parsed by themselves; their places stay what they are."""
    text = unit.encoded[:end].decode("utf-8", "replace")
    before = unit.character(start)
    return parse(unit.source, " " * before + text[before:], unit.origins, unit.fixed)


def parse_expression(text: str, fixed: Span) -> Node | None:
    """The expression that `text` is; None where it is none."""
    unit = parse(SourceFile(fixed.path, text), f"void f() {{ (\n{text}\n); }}", fixed=fixed)
    if unit.root.is_broken:
        return None
    function = unit.root.named[0] if unit.root.named else None
    body = function.field("body") if function is not None else None
    if body is None or len(body.named) != 1 or body.named[0].type != "expression_statement":
        return None
    inner = body.named[0].named
    return inner[0] if len(inner) == 1 else None
