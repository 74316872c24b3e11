"""What `isinstance` says of values that are no objects of a class of the port."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.core.dtype import BOOL, FLOAT32
from portcheck.frontends.nki.source.imports import is_nki
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.values.callables import Function
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import (
    Counter,
    Either,
    External,
    Items,
    Nothing,
    Parameter,
    ShapeOf,
    Table,
    Text,
    Value,
)  # fmt: skip
from portcheck.ir import Apply, Const, Ref, Symbol

_INTEGERS = frozenset({"int", "Integral", "Number", "integer", "Real"})
_FLOATS = frozenset({"float", "Number", "Real", "floating"})
_KINDS: Mapping[type, frozenset[str]] = {
    Text: frozenset({"str", "Sequence", "Iterable", "Hashable"}),
    Nothing: frozenset({"NoneType"}),
    ShapeOf: frozenset({"tuple", "Sequence", "Iterable"}),
    Counter: frozenset({"range", "Sequence", "Iterable"}),
    Function: frozenset({"Callable", "function"}),
}
_LIST = frozenset({"list", "Sequence", "MutableSequence", "Iterable", "set", "frozenset"})
_TUPLE = frozenset({"tuple", "Sequence", "Iterable", "Hashable"})
_TABLE = frozenset({"dict", "Mapping", "MutableMapping", "Iterable"})


def is_instance(context: Context, value: Value, kind: Value) -> bool | None:
    """Whether `value` is of the class `kind`, or of one of those in a tuple; None when that is not known."""
    if isinstance(kind, Items):
        answers = [is_instance(context, value, item) for item in kind.values]
        if any(answers):
            return True
        return None if None in answers else False
    if not isinstance(kind, External):
        return None
    return _is_plain(context, value, kind.name)


def _is_plain(context: Context, value: Value, kind: str) -> bool | None:
    word = kind.rpartition(".")[2]
    match value:
        case Either(first=first, second=second):
            answers = [_is_plain(context, context.resolve(side), kind) for side in (first, second)]
            return answers[0] if answers[0] is answers[1] else None
        case Const() | Symbol() | Ref() | Apply():
            return _is_number(value, word)
        case View() | Result():
            return _is_tensor(kind)
        case Parameter(name) if context.facts[name].is_tensor:
            return _is_tensor(kind)
        case Parameter(name) if context.scalars.get(name, FLOAT32).is_integer and not context.facts[name].is_optional:
            return _is_number(context.scalar(name), word)
        case Items():
            return word in (_LIST if value.is_list else _TUPLE)
        case Table():
            return None if value.record else word in _TABLE
        case Text() | Nothing() | ShapeOf() | Counter() | Function():
            return word in _KINDS[type(value)]
        case _:
            return None


def _is_number(value: Const | Symbol | Ref | Apply, word: str) -> bool:
    if value.dtype == BOOL:
        return word == "bool" or word in _INTEGERS
    return word in (_INTEGERS if value.dtype.is_integer else _FLOATS)


def _is_tensor(kind: str) -> bool | None:
    if "." not in kind:
        return False
    return True if is_nki(kind) and kind.lower().endswith("tensor") else None
