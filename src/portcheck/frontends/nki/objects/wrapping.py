"""Parameters that are annotated as tensors and are objects of a class of the port, as the text uses them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from portcheck.frontends.nki.expressions.tensors import tensor_attributes
from portcheck.frontends.nki.objects.classes import found_in, order_of
from portcheck.frontends.nki.objects.functions import all_parameters
from portcheck.frontends.nki.source.imports import ROOT
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.values.callables import Class, ClassKind, Function


def wrapper_of(context: Context, home: Frame, name: str) -> Class | None:
    """The class that the parameter `name` must be of: the text asks for a field that no tensor has.

    It is the only one that has such a field, and all else that is asked for, among the classes that are named in the
    file of its annotation, or of the kernel. Of a part of a parameter methods say as much, if objects of the class are
    made of one thing and have all that is asked for: a part may be a tensor in one arm and an object in another.
    """
    facts = context.facts[name]
    asked = facts.asked - tensor_attributes(context.knowledge, ROOT)
    homes = [home, *((context.home,) if context.home is not None else ())]
    found = _only(context, homes, asked, lambda kind: not asked.isdisjoint(_fields(kind))) if asked else None
    if found is not None or not facts.is_part:
        return found
    found = only_with(context, homes, facts.asked | facts.used, by_fields=False)
    return found if found is not None and is_made_of_one(found) else None


def only_with(context: Context, homes: Sequence[Frame], asked: Collection[str], *, by_fields: bool) -> Class | None:
    """The only class with all attributes of `asked`, some of which no tensor has, among those named in some file.

    That of the first of `homes` counts in whose file there is any. `by_fields` methods alone do not tell.
    """
    telling = frozenset(asked) - tensor_attributes(context.knowledge, ROOT)
    if not telling:
        return None
    return _only(context, homes, asked, lambda kind: not by_fields or not telling.isdisjoint(_fields(kind)))


def _only(
    context: Context, homes: Sequence[Frame], asked: Collection[str], fits: Callable[[Class], bool]
) -> Class | None:
    found: dict[int, Class] = {}
    for home in homes:
        for kind in _classes(context, home) if not found else ():
            fields = _fields(kind)
            if fits(kind) and all(name in fields or found_in(kind, name) is not None for name in asked):
                found[id(kind)] = kind
    return next(iter(found.values())) if len(found) == 1 else None


def _fields(kind: Class) -> set[str]:
    return {field for item in order_of(kind) for field in item.annotated}


def is_made_of_one(owner: Class) -> bool:
    """Whether an object of the class is made of one thing that must be given."""
    start = found_in(owner, "__init__")
    if owner.kind is not ClassKind.PLAIN or not owner.is_known or not isinstance(start, Function):
        return False
    words = [parameter.name.value for parameter in all_parameters(start.node)[1:]]
    return sum(word not in start.defaults for word in words) == 1


def _classes(context: Context, home: Frame) -> Iterator[Class]:
    file = home.file
    for word in file.classes_named if file is not None else ():
        value = file.value(context, word) if file is not None else None
        if isinstance(value, Class) and value.kind is not ClassKind.ENUMERATION:
            yield value
