"""Objects that a kernel is given, of classes whose `__init__` says what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from portcheck.core.dtype import BOOL, DType
from portcheck.frontends.nki.objects.classes import changed_by_methods, found_in
from portcheck.frontends.nki.objects.completing import is_followed
from portcheck.frontends.nki.objects.functions import all_parameters
from portcheck.frontends.nki.source.trees import children
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.values.arithmetic import is_number
from portcheck.frontends.nki.values.callables import Class, ClassKind, Function
from portcheck.frontends.nki.values.values import Instance, Items, Parameter, Value

Declare = Callable[[Frame, str, cst.BaseExpression | None], Value]
"""What a part of a parameter is, by its name and annotation; the frame is that of the annotation."""
Part = Callable[[str, DType], Value]
"""A number that is part of a parameter."""


def as_made(context: Context, name: str, owner: Class, declare: Declare, part: Part) -> Instance | None:
    """The parameter `name` as `__init__` of its class makes it from the defaults and from what it must be given.

    Of the numbers that other methods change nothing is known; a list of objects of a class of the port holds one.
    None where `__init__` is not followed.
    """
    start = found_in(owner, "__init__")
    if owner.kind is not ClassKind.PLAIN or not owner.is_known or not isinstance(start, Function):
        return None
    made = Instance({}, owner.name, owner=owner)
    given: dict[str, Value] = {}
    for parameter in all_parameters(start.node)[1:]:
        word = parameter.name.value
        if word not in start.defaults or f"{name}.{word}" in context.values:
            annotation = parameter.annotation.annotation if parameter.annotation is not None else None
            given[word] = declare(start.home, f"{name}.{word}", annotation)
    if not is_followed(context, start, made, given):
        return None
    for item, path in _objects(made, name):
        forget_what_changes(context, item, path, part)
        _fill_lists(context, item, path, declare)
    context.assume(f"{name} is taken to be as {owner.name} makes it: only its numbers may have changed since")
    return made


def _objects(made: Instance, name: str) -> Iterator[tuple[Instance, str]]:
    """`made` and the objects that were made with it and that it holds, each with its name."""
    pending, seen = [(made, name)], set[int]()
    while pending:
        item, path = pending.pop()
        if id(item) in seen or item.age < made.age or item.owner.kind is ClassKind.ENUMERATION:
            continue
        seen.add(id(item))
        yield item, path
        pending.extend((value, f"{path}.{key}") for key, value in item.held.items() if isinstance(value, Instance))


def forget_what_changes(context: Context, item: Instance, path: str, part: Part) -> None:
    """Of the numbers that methods change nothing is known."""
    for key in sorted(changed_by_methods(item.owner) & set(map(str, item.held))):
        value = item.held[key]
        dtype = context.scalars.get(value.name) if isinstance(value, Parameter) else None
        if is_number(value):
            dtype = value.dtype
        if dtype is not None and dtype != BOOL:
            item.held[key] = part(f"{path}.{key}", dtype)


def _fill_lists(context: Context, item: Instance, path: str, declare: Declare) -> None:
    """Gives each empty list of objects of a class of the port one such object, as a kernel may ask for its last."""
    start = found_in(item.owner, "__init__")
    annotated = _annotated_lists(start) if isinstance(start, Function) else {}
    for key in sorted(annotated.keys() & changed_by_methods(item.owner)):
        value = item.held.get(key)
        if isinstance(start, Function) and isinstance(value, Items) and not value.lost and not value.held:
            inner = declare(start.home, f"{path}.{key}[0]", annotated[key])
            if isinstance(inner, Instance):
                value.held.append(inner)
                context.assume(f"{path}.{key} is taken to hold one object already")


def _annotated_lists(start: Function) -> dict[str, cst.BaseExpression]:
    """The attributes that `__init__` annotates as lists, with what their elements are."""
    found: dict[str, cst.BaseExpression] = {}
    pending: list[cst.CSTNode] = [start.node]
    while pending:
        node = pending.pop()
        pending.extend(children(node))
        if not isinstance(node, cst.AnnAssign) or not isinstance(node.target, cst.Attribute):
            continue
        match node.annotation.annotation:
            case cst.Subscript(value=cst.Name(value=word), slice=[cst.SubscriptElement(slice=cst.Index(value=inner))]):
                if word in ("list", "List"):
                    found[node.target.attr.value] = inner
            case _:
                pass
    return found
