"""Enumerations of a port: their members, and how one is found by its value."""

from __future__ import annotations

from portcheck.frontends.nki.arithmetic import known, literal
from portcheck.frontends.nki.context import Context
from portcheck.frontends.nki.values import (
    Accessed,
    Class,
    External,
    Function,
    Instance,
    Items,
    Table,
    Text,
    Value,
)  # fmt: skip
from portcheck.ir import Const

AUTOMATIC = "auto"
"""The record of what `enum.auto()` gives."""
_NUMBERS = frozenset({"enum.IntEnum", "enum.IntFlag", "int"})
_TEXTS = frozenset({"enum.StrEnum", "str"})


def make_members(context: Context, owner: Class) -> None:
    """Makes the names that the body binds to values the members of the class."""
    before: Value = literal(0)
    for name, value in list(owner.names.items()):
        if name.startswith("_") or isinstance(value, Function | Accessed | Class):
            continue
        if isinstance(value, Table) and value.record == AUTOMATIC:
            value = _next(owner, name, before)
        before = value
        same = next((item for item in members_of(owner) if _equal(item.held["value"], value)), None)
        owner.names[name] = same or _member(context, owner, name, value)


def _next(owner: Class, name: str, before: Value) -> Value:
    """What `enum.auto()` stands for."""
    if _derives(owner, _TEXTS):
        return Text(name.lower())
    number = known(before) if isinstance(before, Const) else None
    return literal(int(number) + 1 if number is not None else 1)


def _member(context: Context, owner: Class, name: str, value: Value) -> Instance:
    made = Instance({"name": Text(name), "value": value}, name, owner=owner)
    made.held.update({"_name_": made.held["name"], "_value_": value})
    start = owner.names.get("__init__")
    if isinstance(start, Function):
        given = value.values if isinstance(value, Items) and not value.is_list else [value]
        context.call(context, start, [made, *given], {})
    return made


def members_of(owner: Class) -> list[Instance]:
    """The members of an enumeration, in order, each once."""
    found = [value for value in owner.names.values() if isinstance(value, Instance) and value.owner is owner]
    return list(dict.fromkeys(found))


def member_with(owner: Class, value: Value) -> Instance | None:
    """The member that has the value `value`, or is `value`."""
    return next((item for item in members_of(owner) if item is value or _equal(item.held["value"], value)), None)


def plain_value(value: Value | None) -> Value | None:
    """What a member of an enumeration of numbers or texts is to arithmetic: its value; anything else is itself."""
    if isinstance(value, Instance) and _derives(value.owner, _NUMBERS | _TEXTS) and "_value_" in value.held:
        return value.held["_value_"]
    return value


def _derives(owner: Class, names: frozenset[str]) -> bool:
    return any(
        isinstance(base, External) and base.name in names or isinstance(base, Class) and _derives(base, names)
        for base in owner.bases
    )


def _equal(one: Value, other: Value) -> bool:
    if isinstance(one, Const) and isinstance(other, Const):
        return known(one) == known(other)
    return not isinstance(one, Items | Table) and one == other
