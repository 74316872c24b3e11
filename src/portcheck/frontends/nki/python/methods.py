"""Methods of lists, tuples, sets, dictionaries and strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import libcst as cst

from portcheck.core.dtype import BOOL
from portcheck.frontends.nki.expressions.subscripts import key_of
from portcheck.frontends.nki.loops.growing import append
from portcheck.frontends.nki.objects.attributes import items_of, value_of_key
from portcheck.frontends.nki.python.comparing import comparison
from portcheck.frontends.nki.python.texts import NotPlainError, plain, text_method
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.mutation import alike, changing, lose
from portcheck.frontends.nki.state.narrowing import either
from portcheck.frontends.nki.values.arithmetic import is_number, known_int, literal
from portcheck.frontends.nki.values.data import as_number
from portcheck.frontends.nki.values.series import write_out
from portcheck.frontends.nki.values.values import NONE, Items, Key, Table, Text, Value
from portcheck.ir import Apply, Const, Expr, Symbol, integer

Arguments = Sequence[Value]


def method_call(
    context: Context, receiver: Value, name: str, arguments: Arguments, keywords: Mapping[str, Value]
) -> Value | None:
    """A method of a list, dictionary, string or number; None when it is not modelled."""
    match receiver:
        case Const() | Symbol() | Apply():
            return None if arguments or keywords else _of_number(receiver, name)
        case Text():
            return None if keywords else text_method(context, receiver, name, arguments)
        case Items():
            found = _of_items(context, receiver, name, arguments, keywords)
        case Table():
            found = _of_table(context, receiver, name, arguments, keywords)
        case _:
            return None
    if found is None and name in _CHANGING:
        lose(context, receiver, f"it was changed by `{name}` in a way that is not followed")
        return context.unknown(f"{name}()", "what a list or dictionary holds is not known")
    return found


def _of_number(receiver: Expr, name: str) -> Value | None:
    """A method without arguments of a number."""
    if name == "item":
        return receiver
    number = known_int(receiver) if name == "bit_length" and receiver.dtype.is_integer else None
    return literal(number.bit_length()) if number is not None else None


_CHANGING = frozenset(
    {
        "add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault",
        "sort", "update",
    }
)  # fmt: skip


def _of_items(
    context: Context, receiver: Items, name: str, arguments: Arguments, keywords: Mapping[str, Value]
) -> Value | None:
    method = _LIST_METHODS.get(name)
    if method is None or keywords:
        return None
    if name in _CHANGING:
        write_out(context, receiver)
        changing(context, receiver)
    return method(context, receiver, arguments)


def _append(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    if len(arguments) != 1:
        return None
    append(context, receiver, arguments[0])
    return NONE


def _add(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    """Adds to a set what it does not hold yet."""
    if len(arguments) != 1:
        return None
    place = _place(receiver, arguments[0])
    if place is None:
        return None
    if place < 0:
        receiver.values.append(arguments[0])
    return NONE


def _extend(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    values = items_of(context, arguments[0]) if len(arguments) == 1 else None
    if values is None:
        return None
    context.burn(len(values))
    receiver.values.extend(values)
    return NONE


def _insert(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    place = known_int(as_number(context, arguments[0])) if len(arguments) == 2 else None
    if place is None:
        return None
    receiver.values.insert(place, arguments[1])
    return NONE


def _pop(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    place = known_int(as_number(context, arguments[0])) if arguments else -1
    if place is None or not -len(receiver.values) <= place < len(receiver.values):
        return None
    return receiver.values.pop(place)


def _clear(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    receiver.values.clear()
    return NONE


def _remove(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    place = _place(receiver, arguments[0]) if len(arguments) == 1 else None
    if place is None or place < 0:
        return None
    receiver.values.pop(place)
    return NONE


def _discard(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    """Removes from a set what it may not hold at all."""
    place = _place(receiver, arguments[0]) if len(arguments) == 1 else None
    is_whole = not receiver.lost and receiver.series is None
    return NONE if is_whole and place is not None and place < 0 else _remove(context, receiver, arguments)


def _reverse(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    receiver.values.reverse()
    return NONE


def _index(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    place = _place(receiver, arguments[0]) if len(arguments) == 1 else None
    return None if place is None or place < 0 else literal(place)


def _count(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    try:
        wanted = plain(arguments[0]) if len(arguments) == 1 else None
        return integer([plain(item) for item in receiver.values].count(wanted))
    except NotPlainError:
        return None


def _copy(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    return Items(list(receiver.values), receiver.is_list)


def _union(context: Context, receiver: Items, arguments: Arguments) -> Value | None:
    made = Items(list(receiver.values), receiver.is_list)
    for value in arguments:
        for item in items_of(context, value) or ():
            if _add(context, made, [item]) is None:
                return None
    return made


def _place(receiver: Items, wanted: Value) -> int | None:
    """Where `wanted` first stands, -1 for nowhere; None when that is not known."""
    for place, item in enumerate(receiver.values):
        if alike(item, wanted):
            return place
        try:
            if plain(item) == plain(wanted):
                return place
        except NotPlainError:
            return None
    return -1


_LIST_METHODS: Mapping[str, Callable[[Context, Items, Arguments], Value | None]] = {
    "add": _add, "append": _append, "clear": _clear, "copy": _copy, "count": _count, "discard": _discard,
    "extend": _extend, "index": _index, "insert": _insert, "pop": _pop, "remove": _remove, "reverse": _reverse,
    "union": _union,
}  # fmt: skip


def _of_table(
    context: Context, receiver: Table, name: str, arguments: Arguments, keywords: Mapping[str, Value]
) -> Value | None:
    entries = receiver.entries
    keys: list[Value] = [value_of_key(key) for key in entries]
    match name:
        case "keys":
            return Items(keys)
        case "values":
            return Items(list(entries.values()))
        case "items":
            return Items([Items([key, value]) for key, value in zip(keys, entries.values(), strict=True)])
        case "copy":
            return Table(dict(entries), receiver.record)
        case "update":
            return _update(context, receiver, arguments, keywords)
        case "clear":
            changing(context, receiver)
            entries.clear()
            return NONE
        case "get" | "pop" | "setdefault" if arguments and not keywords:
            key = key_of(arguments[0])
            if key is None and name == "get":
                return _some(context, receiver, arguments)
            return None if key is None else _at(context, receiver, name, key, arguments[1:])
        case _:
            return None


def _at(context: Context, receiver: Table, name: str, key: Key, rest: Arguments) -> Value | None:
    if name == "pop":
        changing(context, receiver)
        return receiver.entries.pop(key, rest[0] if rest else None)
    fallback = rest[0] if rest else NONE
    if name == "setdefault" and key not in receiver.entries:
        changing(context, receiver)
        receiver.entries[key] = fallback
    return receiver.entries.get(key, fallback)


_FEW = 6
"""Keys of a dictionary that are compared with one that is not known."""


def _some(context: Context, receiver: Table, arguments: Arguments) -> Value:
    """What `get` gives for a key that is not known: any of the values, or what stands for none."""
    tests = [(comparison(context, cst.Equal, arguments[0], value_of_key(key), ""), key) for key in receiver.entries]
    if len(tests) <= _FEW and all(is_number(test) and test.dtype == BOOL for test, _ in tests):
        found = arguments[1] if len(arguments) > 1 else NONE
        for test, key in reversed(tests):
            assert is_number(test)
            found = either(test, receiver.entries[key], found)
        return found
    parts = (*receiver.entries.values(), *arguments[1:], NONE)
    return context.unknown(context.fresh_symbol("get()"), "a key of a dictionary is not known", *parts)


def _update(context: Context, receiver: Table, arguments: Arguments, keywords: Mapping[str, Value]) -> Value | None:
    added: dict[Key, Value] = {}
    for value in arguments:
        if not isinstance(value, Table):
            return None
        added.update(value.entries)
    changing(context, receiver)
    receiver.entries.update(added)
    receiver.entries.update(keywords.items())
    return NONE
