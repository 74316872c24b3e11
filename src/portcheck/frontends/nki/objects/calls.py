"""Calls of Python about objects and their attributes: `getattr`, `type`, `dataclasses.field` and the like."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from portcheck.frontends.nki.objects.attributes import attribute, items_of
from portcheck.frontends.nki.objects.classes import derives_from, found_in
from portcheck.frontends.nki.objects.dunders import special
from portcheck.frontends.nki.objects.enumerations import AUTOMATIC
from portcheck.frontends.nki.objects.objects import FIELD, as_table, copied, set_attribute
from portcheck.frontends.nki.source.parse import empty_segment
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.mutation import changing
from portcheck.frontends.nki.values.arithmetic import literal
from portcheck.frontends.nki.values.callables import BoundMethod, Class, ClassKind, Function
from portcheck.frontends.nki.values.series import as_iterator
from portcheck.frontends.nki.values.values import (
    NONE,
    Either,
    External,
    Instance,
    Items,
    Nothing,
    Package,
    Parameter,
    Table,
    Text,
    Unknown,
    Value,
)  # fmt: skip

Arguments = Sequence[Value]
Keywords = Mapping[str, Value]


def is_object_word(name: str) -> bool:
    """Whether `name` is a word of Python that is about classes and objects."""
    return name in _FUNCTIONS or name in _WORDS


_WORDS = frozenset({
    "object", "super", "property", "staticmethod", "classmethod", "str",
    "Exception", "ValueError", "RuntimeError", "TypeError", "NotImplementedError",
})  # fmt: skip


def object_call(context: Context, name: str, arguments: Arguments, keywords: Keywords) -> Value | None:
    """The value of a call of a Python function about objects; None when it is not modelled."""
    function = _FUNCTIONS.get(name)
    return function(context, arguments, keywords) if function is not None else None


def _get(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    if len(arguments) not in (2, 3) or not isinstance(arguments[1], Text):
        return None
    name = arguments[1].value
    has_it = _has_attribute(context, arguments[0], name)
    if len(arguments) == 3 and has_it is False:
        return arguments[2]
    return attribute(context, arguments[0], name) if has_it or len(arguments) == 2 else None


def _has(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    if len(arguments) != 2 or not isinstance(arguments[1], Text):
        return None
    answer = _has_attribute(context, arguments[0], arguments[1].value)
    return literal(answer) if answer is not None else None


def _has_attribute(context: Context, target: Value, name: str) -> bool | None:
    """Whether `target` has an attribute; None when that is not known."""
    if isinstance(target, Instance):
        if name in target.entries or found_in(target.owner, name) is not None:
            return True
        return False if target.owner.is_known and found_in(target.owner, "__getattr__") is None else None
    if isinstance(target, Class):
        return found_in(target, name) is not None or (False if target.is_known else None)
    if isinstance(target, Package):
        return target.scope.member(context, name) is not None
    if isinstance(target, External):
        return True if name in context.knowledge.members(target.name) else None
    return False if isinstance(target, Nothing) else None


def _set(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    if len(arguments) != 3 or not isinstance(arguments[1], Text):
        return None
    set_attribute(context, arguments[0], arguments[1].value, arguments[2])
    return NONE


def _set_plainly(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    """`object.__setattr__`, with which a frozen object is completed."""
    if len(arguments) != 3 or not isinstance(arguments[1], Text) or not isinstance(arguments[0], Instance):
        return None
    changing(context, arguments[0])
    arguments[0].entries[arguments[1].value] = arguments[2]
    return NONE


def _callable(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    if len(arguments) != 1:
        return None
    if isinstance(arguments[0], Function | BoundMethod | Class):
        return literal(True)
    if isinstance(arguments[0], Instance) and arguments[0].owner.is_known:
        return literal(found_in(arguments[0].owner, "__call__") is not None)
    return literal(False) if isinstance(arguments[0], Nothing | Text | Items) else None


def _type(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    return arguments[0].owner if len(arguments) == 1 and isinstance(arguments[0], Instance) else None


def _is_subclass(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    if len(arguments) != 2 or not isinstance(arguments[0], Class):
        return None
    answer = derives_from(arguments[0], arguments[1])
    return literal(answer) if answer is not None else None


def _is_instance(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    if len(arguments) != 2:
        return None
    kinds = arguments[1].values if isinstance(arguments[1], Items) else [arguments[1]]
    answers = [_is_of(context, context.resolve(arguments[0]), kind) for kind in kinds]
    if any(answers):
        return literal(True)
    return None if None in answers else literal(False)


def _is_of(context: Context, value: Value, kind: Value) -> bool | None:
    """Whether an object is of a class; None where that is not known, or where neither is one of the port's."""
    if isinstance(value, Either):
        answers = [_is_of(context, context.resolve(side), kind) for side in (value.first, value.second)]
        return answers[0] if answers[0] is answers[1] else None
    if isinstance(value, Instance):
        return derives_from(value.owner, kind)
    if isinstance(value, Parameter):
        return False if isinstance(kind, Class) and context.facts[value.name].is_tensor else None
    return False if isinstance(kind, Class) and not isinstance(value, Unknown) else None


def _length(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    if len(arguments) != 1 or not isinstance(arguments[0], Instance | Class):
        return None
    found = special(context, arguments[0], "len")
    elements = items_of(context, arguments[0]) if found is None else None
    return found if elements is None else literal(len(elements))


def _of_environment(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    context.assume("the variables of the environment are taken not to be set")
    return arguments[1] if len(arguments) == 2 else NONE if len(arguments) == 1 else None


def _iterated(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    if len(arguments) == 1 and isinstance(arguments[0], Items) and arguments[0].once:
        return arguments[0]
    elements = items_of(context, arguments[0]) if len(arguments) == 1 else None
    return as_iterator(Items(elements)) if elements is not None else None


def _named_tuple(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    """`collections.namedtuple`: a class of tuples whose fields are named in a list or a text."""
    if len(arguments) != 2 or not isinstance(arguments[0], Text) or not set(keywords) <= {"defaults"}:
        return None
    names = _words(arguments[1])
    defaults = items_of(context, keywords["defaults"]) if "defaults" in keywords else []
    if names is None or defaults is None or len(defaults) > len(names):
        return None
    bound = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    home = context.home or Frame(empty_segment(context.path))
    return Class(arguments[0].value, (), bound, dict.fromkeys(names), home, ClassKind.TUPLE)


def _words(value: Value) -> list[str] | None:
    """The words of a text, or the texts of a list."""
    if isinstance(value, Text):
        return value.value.replace(",", " ").split()
    words = [item.value for item in value.values if isinstance(item, Text)] if isinstance(value, Items) else []
    return words if isinstance(value, Items) and len(words) == len(value.values) else None


def _field(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    made = Table({}, FIELD)
    made.held.update(keywords)
    return made if not arguments else None


def _automatic(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    return Table({}, AUTOMATIC)


def _replaced(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    is_object = len(arguments) == 1 and isinstance(arguments[0], Instance)
    return copied(context, arguments[0], keywords) if is_object and isinstance(arguments[0], Instance) else None


def _as_table(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    return as_table(arguments[0]) if len(arguments) == 1 and isinstance(arguments[0], Instance) else None


def _copy(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    match arguments:
        case [Instance() as item]:
            return Instance(dict(item.entries), item.record, owner=item.owner)
        case [Table() as item]:
            return Table(dict(item.entries), item.record)
        case [Items() as item]:
            return Items(list(item.values), item.is_list)
        case _:
            return None


def _variables(context: Context, arguments: Arguments, keywords: Keywords) -> Value | None:
    return Table(dict(arguments[0].entries)) if len(arguments) == 1 and isinstance(arguments[0], Instance) else None


_FUNCTIONS: Mapping[str, Callable[[Context, Arguments, Keywords], Value | None]] = {
    "getattr": _get, "hasattr": _has, "setattr": _set, "object.__setattr__": _set_plainly, "callable": _callable,
    "isinstance": _is_instance, "len": _length, "iter": _iterated,
    "type": _type, "issubclass": _is_subclass, "vars": _variables,
    "dataclasses.field": _field, "dataclasses.replace": _replaced, "dataclasses.asdict": _as_table,
    "os.getenv": _of_environment, "collections.namedtuple": _named_tuple, "enum.auto": _automatic, "copy.copy": _copy,
}  # fmt: skip
