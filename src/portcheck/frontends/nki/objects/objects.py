"""Objects of classes of a port: how they are made, and what their attributes are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from portcheck.frontends.nki.objects.classes import found_in, order_of
from portcheck.frontends.nki.objects.enumerations import member_with, members_of
from portcheck.frontends.nki.source.imports import is_nki
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import UnfollowedError
from portcheck.frontends.nki.state.mutation import changing
from portcheck.frontends.nki.state.uses import note_form
from portcheck.frontends.nki.values.arithmetic import known
from portcheck.frontends.nki.values.callables import (
    Access,
    Accessed,
    BoundMethod,
    Class,
    ClassKind,
    Function,
    Method,
    Super,
)  # fmt: skip
from portcheck.frontends.nki.values.values import NONE, External, Instance, Table, Text, Unknown, Value
from portcheck.ir import Const, OpaqueKind
from portcheck.knowledge import Form

FIELD = "field"
"""The record of what `dataclasses.field()` gives."""


def attribute_of(context: Context, target: Instance | Class | Super, name: str) -> Value:
    """`target.name`."""
    match target:
        case Instance():
            found = _of_instance(context, target, name)
        case Class():
            found = _of_class(target, name)
        case Super(owner, receiver):
            start = receiver.owner if isinstance(receiver, Instance) else receiver
            value = found_in(start, name, owner) if isinstance(start, Class) else None
            found = _reached(context, value, receiver) if value is not None else None
            if found is None and name in ("__init__", "__post_init__", "__init_subclass__") and owner.is_known:
                return Method(target, name)
    if found is not None:
        return found
    owner = target.owner if isinstance(target, Instance | Super) else target
    return Unknown(f"{owner.name}.{name}", f"{owner.name} has no {name} that is seen", (target,), OpaqueKind.CALL)


def _of_instance(context: Context, target: Instance, name: str) -> Value | None:
    shared = found_in(target.owner, name)
    if isinstance(shared, Accessed) and shared.access is Access.PROPERTY:
        return _reached(context, shared, target)
    if name in target.entries:
        return target.entries[name]
    if shared is not None:
        return _reached(context, shared, target)
    if name == "__class__":
        return target.owner
    if name == "__dict__":
        return Table(dict(target.entries))
    catching = found_in(target.owner, "__getattr__")
    if isinstance(catching, Function) and not name.startswith("__"):
        return context.call(context, catching, [target, Text(name)], {})
    return Method(target, name) if name in _TUPLE_METHODS and target.owner.kind is ClassKind.TUPLE else None


_TUPLE_METHODS = frozenset({"_replace", "_asdict"})


def _of_class(target: Class, name: str) -> Value | None:
    if name in ("__name__", "__qualname__"):
        return Text(target.name)
    if name == "__members__" and target.kind is ClassKind.ENUMERATION:
        return Table({item.record: item for item in members_of(target)})
    value = found_in(target, name)
    if isinstance(value, Accessed):
        return _method(value.function, target) if value.access is Access.CLASS else value.function
    if isinstance(value, Table) and value.record == FIELD:
        return value.entries.get("default")
    return value


def _reached(context: Context, value: Value, receiver: Value) -> Value | None:
    """What a name of a class's body is when it is reached through an object."""
    match value:
        case Function():
            return BoundMethod(value, receiver)
        case Accessed(access, function):
            owner = receiver.owner if isinstance(receiver, Instance) else receiver
            if access is Access.CLASS:
                return _method(function, owner)
            if access is Access.STATIC:
                return function
            return context.invoke(context, function, "", [receiver], {})
        case Table(record=record) if record == FIELD:
            return value.entries.get("default")
        case _:
            return value


def _method(function: Value, receiver: Value) -> Value:
    return BoundMethod(function, receiver) if isinstance(function, Function) else function


def set_attribute(context: Context, target: Value, name: str, value: Value) -> None:
    """`target.name = value`; raises UnfollowedError where what that does is not known."""
    if isinstance(target, Instance):
        shared = found_in(target.owner, name)
        if isinstance(shared, Accessed) and shared.setter is not None:
            context.invoke(context, shared.setter, "", [target, value], {})
            return
        if isinstance(shared, Accessed) or found_in(target.owner, "__setattr__") is not None or target.owner.is_frozen:
            raise UnfollowedError(f"{target.owner.name}.{name} is assigned to")
    elif not isinstance(target, Table):
        raise UnfollowedError(f"the attribute {name} of something that is no object is assigned to")
    changing(context, target)
    target.entries[name] = value


def instantiated(
    context: Context, owner: Class, positional: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    """What calling a class gives; None where that is not known."""
    if owner.kind is ClassKind.ENUMERATION:
        return member_with(owner, positional[0]) if len(positional) == 1 and not keywords else None
    if not owner.is_known or found_in(owner, "__new__") is not None:
        return None
    made = Instance({}, owner.name, owner=owner)
    if any(_is_foreign(base) for base in owner.bases):
        note_form(context, Form.INHERITANCE)
    for item in order_of(owner):
        start = item.names.get("__init__")
        if isinstance(start, Function):
            context.call(context, start, [made, *positional], dict(keywords))
            return made
        is_filled = item.kind in (ClassKind.DATA, ClassKind.TUPLE) or _is_of_nki(item)
        if is_filled and item.annotated:
            return made if _filled(context, made, item, positional, keywords) else None
    return made if _is_plain(context, made, positional, keywords) else None


def _is_foreign(base: Value) -> bool:
    """Whether a base is another class than NKI's own and the one that every class has."""
    return not (isinstance(base, External) and (is_nki(base.name) or base.name == "object"))


def _is_of_nki(owner: Class) -> bool:
    """Whether a class is of NKI's own kind: the compiler makes its initializer, as `@dataclass` does or without it.

    Language guide, "Class Support".
    """
    return any(isinstance(base, External) and is_nki(base.name) for item in order_of(owner) for base in item.bases)


def _is_plain(context: Context, made: Instance, positional: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Takes the arguments of a class that defines no `__init__` and no fields; False where they do not fit."""
    if positional or not set(keywords) <= _settable(made.owner):
        return False
    made.held.update(keywords)
    if _is_of_nki(made.owner):
        _complete(context, made)
    return True


def _complete(context: Context, made: Instance) -> None:
    """Runs what the class runs behind the initializer that was made for it."""
    after = found_in(made.owner, "__post_init__")
    if isinstance(after, Function):
        context.call(context, after, [made], {})


def _settable(owner: Class) -> set[str]:
    """The names that a class of NKI's own kind takes by keyword: all that its body declares or binds to no method."""
    if not _is_of_nki(owner):
        return set()
    declared = {name for item in order_of(owner) for name in item.annotated}
    bound = {name: value for item in reversed(order_of(owner)) for name, value in item.names.items()}
    return declared | {name for name, value in bound.items() if not isinstance(value, Function | Accessed | Class)}


def fields_of(owner: Class) -> dict[str, Value | None]:
    """The fields of a class with generated `__init__`, in order, with what the class binds them to."""
    found: dict[str, Value | None] = {}
    for item in reversed(order_of(owner)):
        if item.kind is owner.kind or (_is_of_nki(item) and _is_of_nki(owner)):
            found.update({name: item.names.get(name) for name in item.annotated})
    return found


def _filled(
    context: Context, made: Instance, owner: Class, positional: Sequence[Value], keywords: Mapping[str, Value]
) -> bool:
    """Gives the fields of `made` their values; False when the arguments do not fit."""
    fields = fields_of(owner)
    taken = [name for name, default in fields.items() if _is_parameter(default)]
    given = dict(zip(taken, positional, strict=False))
    beside = {name: value for name, value in keywords.items() if name not in fields}
    if len(positional) > len(taken) or set(keywords) & set(given):
        return False
    if not set(keywords) <= {*taken, *beside} or not set(beside) <= _settable(owner):
        return False
    made.held.update(beside)
    given.update(keywords)
    for name, default in fields.items():
        made.held[name] = given.get(name) or _default(context, default) or _missing(context, made, name)
    _complete(context, made)
    return True


def _missing(context: Context, made: Instance, name: str) -> Unknown:
    """The value of a field that must be given and is not: Python refuses it, a compiler of kernels may leave it out."""
    context.assume(f"the field {name} of {made.record}, which is not given, is taken to be left out")
    text = context.fresh_symbol(f"{made.record}.{name}")
    return Unknown(text, f"the field {name} of {made.record} is not given", (NONE,), OpaqueKind.CALL)


def _is_parameter(default: Value | None) -> bool:
    """Whether a field is a parameter of the generated `__init__`."""
    if isinstance(default, Table) and default.record == FIELD:
        return not _is_false(default.entries.get("init"))
    return True


def _is_false(value: Value | None) -> bool:
    return isinstance(value, Const) and known(value) is False


def _default(context: Context, default: Value | None) -> Value | None:
    if not isinstance(default, Table) or default.record != FIELD:
        return default
    factory = default.entries.get("default_factory")
    if factory is not None:
        return context.invoke(context, factory, "default_factory", [], {})
    return default.entries.get("default", NONE if _is_false(default.entries.get("init")) else None)


def fields_in_order(target: Instance) -> list[Value] | None:
    """The elements of an object of a named tuple; None for any other."""
    if target.owner.kind is not ClassKind.TUPLE:
        return None
    return [target.entries[name] for name in fields_of(target.owner) if name in target.entries]


def copied(context: Context, target: Instance, changes: Mapping[str, Value]) -> Value | None:
    """The object with some fields changed, as `dataclasses.replace` makes it."""
    fields = fields_of(target.owner)
    if not set(changes) <= set(fields):
        return None
    taken = [name for name, default in fields.items() if _is_parameter(default)]
    given = {name: changes.get(name, target.entries.get(name)) for name in taken}
    present = {name: value for name, value in given.items() if value is not None}
    return instantiated(context, target.owner, [], present)


def as_table(target: Instance) -> Table:
    """The fields of an object by name, as `dataclasses.asdict` gives them."""
    return Table({
        name: as_table(value) if isinstance(value, Instance) else value
        for name, value in target.entries.items()
    })  # fmt: skip
