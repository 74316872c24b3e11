"""Parameters that are annotated as tensors and are objects of a class of the port, as the text uses them."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.frontends.nki.expressions.tensors import tensor_attributes
from portcheck.frontends.nki.objects.classes import found_in, order_of
from portcheck.frontends.nki.source.imports import ROOT
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.values.callables import Class, ClassKind


def wrapper_of(context: Context, home: Frame, name: str) -> Class | None:
    """The class that the parameter `name` must be of: the text asks for a field that no tensor has.

    It is the only one that has such a field, and all else that is asked for, among the classes that are named in the
    file of its annotation, or of the kernel.
    """
    asked = context.facts[name].asked - tensor_attributes(context.knowledge, ROOT)
    if not asked:
        return None
    found: dict[int, Class] = {}
    for frame in (home, context.home):
        for kind in _classes(context, frame) if frame is not None and not found else ():
            fields = {field for item in order_of(kind) for field in item.annotated}
            if asked & fields and all(name in fields or found_in(kind, name) is not None for name in asked):
                found[id(kind)] = kind
    only = next(iter(found.values()), None)
    return only if len(found) == 1 else None


def _classes(context: Context, home: Frame) -> Iterator[Class]:
    file = home.file
    for word in file.classes_named if file is not None else ():
        value = file.value(context, word) if file is not None else None
        if isinstance(value, Class) and value.kind is not ClassKind.ENUMERATION:
            yield value
