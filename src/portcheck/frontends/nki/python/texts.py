"""Strings: their text where it is known, formatting, methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import libcst as cst

from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.holding import is_small
from portcheck.frontends.nki.values.arithmetic import is_number, known, literal
from portcheck.frontends.nki.values.data import as_number
from portcheck.frontends.nki.values.values import Format, Items, Nothing, Parameter, PiecedText, SomeText, Text, Value

_UNKNOWN = "a text that is not known"
LENGTH_LIMIT = 4096
"""Characters of a string that is kept."""
_SPEC_LIMIT = 12

Plain = str | int | float | bool | tuple["Plain", ...] | list["Plain"] | None


class NotPlainError(Exception):
    """The value is not known, or no string, number, `None` or list of them."""


def plain(value: Value) -> Plain:
    """`value` as the Python value that it is; raises NotPlainError."""
    match value:
        case Text(text):
            return text
        case Nothing():
            return None
        case Items(values) if is_small(value):
            held = [plain(item) for item in values]
            return held if value.is_list else tuple(held)
        case _ if is_number(value):
            number = known(value)
            if number is not None:
                return number
    raise NotPlainError


def as_value(found: Any) -> Value | None:
    """The plain Python value `found` as a value; None for anything else or what is too long."""
    match found:
        case str():
            return Text(found) if len(found) <= LENGTH_LIMIT else None
        case bool() | int() | float():
            return literal(found)
        case None:
            return Nothing()
        case list() | tuple() if len(found) <= LENGTH_LIMIT:
            values = [as_value(item) for item in found]
            present = [item for item in values if item is not None]
            return Items(present, isinstance(found, list)) if len(present) == len(values) else None
        case _:
            return None


def text_of(value: Value) -> str | None:
    """What `str` makes of `value`; None when that is not known."""
    if isinstance(value, Format):
        return None if value.dtype.is_symbolic else value.dtype.name
    try:
        found = str(plain(value))
    except (NotPlainError, ValueError):
        return None
    return found if len(found) <= LENGTH_LIMIT else None


def unknown_text(text: str, *parts: Value) -> Value:
    """A string that is not known."""
    return SomeText(text, _UNKNOWN, parts)


def string(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    """The value of a string literal or of an f-string."""
    match node:
        case cst.SimpleString():
            found = _literal(node)
            return Text(found) if found is not None else unknown_text(frame.segment.text(node))
        case cst.FormattedString(parts=parts):
            return _formatted_string(frame.segment.text(node), [_part(context, frame, part) for part in parts])
        case _:
            return unknown_text(frame.segment.text(node))


def _literal(node: cst.SimpleString) -> str | None:
    try:
        value = node.evaluated_value
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


def _formatted_string(text: str, parts: Sequence[str | Value | None]) -> Value:
    """The pieces as one string; one that is not known consists of them, where they are texts and numbers."""
    pieces = [Text(part) if isinstance(part, str) else part for part in parts]
    present = [piece for piece in pieces if isinstance(piece, Text) or (piece is not None and is_number(piece))]
    found = _joined([piece.value if isinstance(piece, Text) else None for piece in pieces])
    if found is not None:
        return Text(found)
    return PiecedText(text, _UNKNOWN, tuple(present)) if len(present) == len(pieces) else unknown_text(text)


def _joined(parts: Sequence[str | None]) -> str | None:
    """The parts as one string; None where one is not known or it grows too long."""
    present = [part for part in parts if part is not None]
    length = sum(map(len, present))
    return "".join(present) if len(present) == len(parts) and length <= LENGTH_LIMIT else None


def _part(context: Context, frame: Frame, part: cst.BaseFormattedStringContent) -> str | Value | None:
    """A piece of a string: its text, or the value of which no more is known than that it is put in."""
    match part:
        case cst.FormattedStringText(value=text):
            return text.replace("{{", "{").replace("}}", "}")
        case cst.FormattedStringExpression(expression=inner, equal=None, conversion=conversion):
            value = context.evaluate(context, frame, inner, "")
            specs = [_part(context, frame, item) for item in part.format_spec or ()]
            spec = _joined([item if isinstance(item, str) else None for item in specs])
            found = None if spec is None else _formatted(value, conversion or "", spec)
            if found is None and not specs and not conversion:
                return as_number(context, value) if isinstance(value, Parameter) else value
            return found
        case _:
            return None


def _formatted(value: Value, conversion: str, spec: str) -> str | None:
    if not spec and conversion in ("", "s"):
        return text_of(value)
    if len(spec) > _SPEC_LIMIT or any(len(part) > 2 for part in _digits(spec)):
        return None
    try:
        found: object = plain(value)
        found = repr(found) if conversion == "r" else str(found) if conversion else found
        return format(found, spec)
    except (NotPlainError, ValueError, TypeError):
        return None


def _digits(spec: str) -> list[str]:
    return "".join(letter if letter.isdigit() else " " for letter in spec).split()


_METHODS: Mapping[str, Callable[..., Any]] = {
    "capitalize": str.capitalize, "count": str.count, "endswith": str.endswith, "find": str.find, "index": str.index,
    "isalpha": str.isalpha, "isdigit": str.isdigit, "isupper": str.isupper, "islower": str.islower,
    "lower": str.lower, "lstrip": str.lstrip, "partition": str.partition, "removeprefix": str.removeprefix,
    "removesuffix": str.removesuffix, "rfind": str.rfind, "rpartition": str.rpartition, "rsplit": str.rsplit,
    "rstrip": str.rstrip, "split": str.split, "splitlines": str.splitlines, "startswith": str.startswith,
    "strip": str.strip, "title": str.title, "upper": str.upper,
}  # fmt: skip


def text_method(context: Context, receiver: Text, name: str, arguments: Sequence[Value]) -> Value:
    """A method of a string."""
    text = f"{receiver.value[:40]!r}.{name}()"
    try:
        given = [plain(argument) for argument in arguments]
    except NotPlainError:
        return context.unknown(text, _UNKNOWN)
    found: Any = None
    if name == "join" and len(given) == 1 and isinstance(given[0], list | tuple):
        found = _joined_by(receiver.value, given[0])
    elif name == "replace" and len(given) == 2 and all(isinstance(item, str) for item in given):
        found = _replaced(receiver.value, str(given[0]), str(given[1]))
    elif name in _METHODS:
        found = _called(_METHODS[name], receiver.value, given)
    value = as_value(found) if found is not None else None
    return value if value is not None else context.unknown(text, _UNKNOWN)


def _called(method: Callable[..., Any], text: str, given: Sequence[Plain]) -> Any:
    try:
        return method(text, *given)
    except (TypeError, ValueError):
        return None


def _joined_by(separator: str, parts: Sequence[Plain]) -> str | None:
    words = [part for part in parts if isinstance(part, str)]
    length = sum(map(len, words)) + len(separator) * len(words)
    return separator.join(words) if len(words) == len(parts) and length <= LENGTH_LIMIT else None


def _replaced(text: str, old: str, new: str) -> str | None:
    is_short = (len(text) + 1) * (len(new) + 1) <= 16 * LENGTH_LIMIT
    return text.replace(old, new) if is_short else None


def combined_texts(context: Context, sign: str, left: Value, right: Value, text: str) -> Value:
    """`left sign right` where one of them is a string."""
    try:
        first, second = plain(left), plain(right)
    except NotPlainError:
        return unknown_text(text, left, right)
    found: str | None = None
    if sign == "+" and isinstance(first, str) and isinstance(second, str):
        found = _joined([first, second])
    elif sign == "*":
        found = _repeated(first, second)
    elif sign == "%" and isinstance(first, str) and not any(len(part) > 2 for part in _digits(first)):
        found = _called(str.__mod__, first, [second])
    value = as_value(found) if found is not None else None
    return value if value is not None else unknown_text(text, left, right)


def _repeated(first: Plain, second: Plain) -> str | None:
    word, times = (first, second) if isinstance(first, str) else (second, first)
    if not isinstance(word, str) or not isinstance(times, int):
        return None
    return word * times if len(word) * times <= LENGTH_LIMIT else None
