"""Text parsed, and parsed again where the grammar read it wrongly: loudly, as text that does not parse, or silently."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda.parsing.grammar import is_deeper
from portcheck.frontends.cuda.parsing.parse import parse
from portcheck.frontends.cuda.parsing.rewrites import KEYWORDS, rewrites
from portcheck.frontends.cuda.parsing.syntax import Node, Unit
from portcheck.frontends.cuda.text.lexer import TokenKind, significant
from portcheck.frontends.cuda.text.origins import Edit, Origins, edited

_MOST_ROUNDS = 4
_SMALL = 10_000
"""Bytes of text that cannot be nested too deeply."""
_DEEPEST = 8_000
_MOST_NAMES = 1_000
_COMPARING = frozenset({"&&", "||", "<", ">", "<=", ">=", "==", "!="})
_DECLARATORS = frozenset(
    {
        "parameter_declaration", "optional_parameter_declaration", "declaration", "init_declarator",
        "pointer_declarator", "array_declarator", "reference_declarator", "for_range_loop",
    }
)  # fmt: skip


def read_unit(source: SourceFile, text: str, origins: tuple[Origins, ...]) -> Unit:
    """`text` parsed; see `parse` for `origins`."""
    unit = parse(source, text, origins)
    deep = list(depths(unit)) if len(unit.encoded) > _SMALL else []
    if deep:
        unit = _after(unit, deep, must_gain=False)
    if unit.root.is_broken:
        unit = _after(unit, rewrites(unit), must_gain=True)
    for _ in range(_MOST_ROUNDS):
        edits = comparisons(unit) or products(unit)
        if not edits:
            break
        unit = _after(unit, edits, must_gain=False)
    return unit


def depths(unit: Unit) -> Iterator[Edit]:
    """Makes a call that says so, and mentions the same names, of what is nested too deeply to be read."""
    for node in unit.root.children:
        if not is_deeper(node.raw, _DEEPEST):
            continue
        tokens = significant(node.text)
        first = next((token.end for token in tokens if token.text == "{"), 0)
        last = next((token.start for token in reversed(tokens) if token.text == "}"), len(node.text))
        words = (token.text for token in tokens if token.kind is TokenKind.NAME and token.start >= first)
        names = dict.fromkeys(word for word in words if word not in KEYWORDS)
        start = unit.character(node.start)
        mentioned = ", ".join(list(names)[:_MOST_NAMES])
        yield Edit(start + first, start + max(first, last), f" text_nested_too_deeply({mentioned}); ")


def _after(unit: Unit, edits: list[Edit], *, must_gain: bool) -> Unit:
    """`unit` after `edits`; as it was where they must make more of it readable and do not."""
    if not edits:
        return unit
    text, origins = edited(unit.encoded.decode("utf-8", "replace"), edits)
    found = parse(unit.source, text, (origins, *unit.origins))
    return unit if must_gain and _broken_bytes(found) > _broken_bytes(unit) else found


def _broken_bytes(unit: Unit) -> int:
    """How much of a text did not parse; what is missing counts as well."""
    return sum(max(node.end - node.start, 1) for node in unit.root.found("ERROR", "MISSING"))


def comparisons(unit: Unit) -> list[Edit]:
    """Parentheses around what is compared in `a < b && c > (d)`, which parses as the call of a template `a`."""
    templates: set[str] | None = None
    declared: dict[tuple[int, int, int], set[str]] = {}
    edits: list[Edit] = []
    for found in unit.root.found("template_function", "template_method"):
        name, arguments, parent = found.field("name"), found.field("arguments"), found.parent
        if name is None or arguments is None or parent is None:
            continue
        start = parent.start if found.type == "template_method" else found.start
        compares = any(_compares(argument) for argument in arguments.named)
        if compares:
            templates = _templates(unit) if templates is None else templates
            compares = name.text not in templates
        if not compares and found.type == "template_function" and parent.type == "call_expression":
            function = _function_around(found)
            names = declared.setdefault(function.key, set()) if function is not None else set()
            if function is not None and not names:
                names |= _variables(function)
            compares = name.text in names
        if compares and (not edits or unit.character(start) >= edits[-1].end):
            first, last = unit.character(start), unit.character(name.end)
            edits += (Edit(first, first, "("), Edit(last, last, ")"))
    return edits


def products(unit: Unit) -> list[Edit]:
    """Parentheses around the first factor where the value of `({ ...; a * b; })` parses as the declaration of `b`."""
    edits: list[Edit] = []
    for block in unit.root.found("compound_statement") if b"({" in unit.encoded else ():
        last = block.named[-1] if block.named else None
        is_value = block.parent is not None and block.parent.type == "parenthesized_expression"
        type_ = last.field("type") if last is not None and last.type == "declaration" and is_value else None
        declared = last.fields("declarator") if last is not None and type_ is not None else []
        if type_ is not None and len(declared) == 1 and declared[0].type == "pointer_declarator":
            first, last_place = unit.character(type_.start), unit.character(type_.end)
            edits += (Edit(first, first, "("), Edit(last_place, last_place, ")"))
    return edits


def _compares(argument: Node) -> bool:
    operator = argument.field("operator") if argument.type == "binary_expression" else None
    return operator is not None and operator.text in _COMPARING


def _templates(unit: Unit) -> set[str]:
    """The names of the templates that a text declares, methods included."""
    found: set[str] = set()
    for node in unit.root.found("template_declaration"):
        for declarator in node.found("function_declarator")[:1]:
            name = declarator.field("declarator")
            if name is not None:
                found.add(name.text.rpartition("::")[2])
    return found


def _function_around(node: Node) -> Node | None:
    current = node.parent
    while current is not None and current.type != "function_definition":
        current = current.parent
    return current


def _variables(function: Node) -> set[str]:
    """The variables and parameters that a function declares."""
    found: set[str] = set()
    for node in function.found("identifier"):
        parent = node.parent
        if parent is None or parent.type not in _DECLARATORS:
            continue
        declarators = parent.fields("declarator") or parent.named[:1]
        if any(declarator.key == node.key for declarator in declarators):
            found.add(node.text)
    return found
