"""Enumerations of a port: their members, and how one is found by its value."""

from __future__ import annotations

from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.values.arithmetic import known, literal
from portcheck.frontends.nki.values.callables import Accessed, Class, Function
from portcheck.frontends.nki.values.values import External, Instance, Items, Table, Text, Value
from portcheck.ir import Const

AUTOMATIC = "auto"
"""The record of what `enum.auto()` gives."""
_NUMBERS = frozenset({"enum.IntEnum", "enum.IntFlag", "int"})
_TEXTS = frozenset({"enum.StrEnum", "str"})


def make_members(context: Context, owner: Class) -> None:
    """Makes the names that the body binds to values the members of the class."""
    before: Value = literal(0)
    made: dict[object, Instance] = {}
    for name, value in list(owner.names.items()):
        if name.startswith("_") or isinstance(value, Function | Accessed | Class):
            continue
        if isinstance(value, Table) and value.record == AUTOMATIC:
            value = _next(owner, name, before)
        before = value
        plain = _plain(value)
        same = made.get(plain)
        owner.names[name] = member = (
            same if same is not None and plain is not None else _member(context, owner, name, value)
        )
        made[plain] = member


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
    pending, seen = [owner], {id(owner)}
    while pending:
        item = pending.pop()
        for base in item.bases:
            if isinstance(base, External) and base.name in names:
                return True
            if isinstance(base, Class) and id(base) not in seen:
                seen.add(id(base))
                pending.append(base)
    return False


def _plain(value: Value) -> object:
    """A number or text as Python compares it; None for any other value, which is equal to none."""
    if isinstance(value, Const):
        return known(value)
    return value.value if isinstance(value, Text) else None


def _equal(one: Value, other: Value) -> bool:
    if isinstance(one, Const) and isinstance(other, Const):
        return known(one) == known(other)
    return not isinstance(one, Items | Table) and one == other
