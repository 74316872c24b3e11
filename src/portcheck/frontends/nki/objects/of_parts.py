"""Tensors inside the objects that a kernel is given, where a function of the port asks for an object around one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import libcst as cst

from portcheck.frontends.nki.objects.functions import all_parameters
from portcheck.frontends.nki.objects.objects import instantiated
from portcheck.frontends.nki.objects.parameters import class_of
from portcheck.frontends.nki.objects.wrapping import is_made_of_one, only_with
from portcheck.frontends.nki.source.trees import children
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.values.callables import Class, Function
from portcheck.frontends.nki.values.flags import flag_called
from portcheck.frontends.nki.values.values import NONE, Either, Parameter, Value


def wrap_parts(context: Context, frame: Frame, function: Function) -> None:
    """Makes the arguments of a call in `frame` what the annotations of `function` say.

    A tensor that is part of a parameter is taken to be an object made of it, where the function asks for one of a class
    that is made of one thing: the objects of a port may hold either in one field. A function asks for it by an
    annotation, or by methods that no tensor has. So is a parameter itself where the function reads a field that no
    tensor has: with a tensor it would fail.
    """
    for parameter in all_parameters(function.node):
        name = parameter.name.value
        value = frame.names.get(name)
        if isinstance(value, Parameter) and name not in _indexed(function.node):
            is_part, annotation = context.facts[value.name].is_part, parameter.annotation
            owner = class_of(context, function.home, annotation.annotation) if is_part and annotation else None
            if not isinstance(owner, Class):
                asked = _asked(function.node).get(name, frozenset())
                owner = only_with(context, [function.home], asked, by_fields=not is_part)
            if owner is not None and is_made_of_one(owner):
                frame.names[name] = _wrapped(context, owner, value)


@lru_cache(maxsize=4096)
def _indexed(node: cst.CSTNode) -> frozenset[str]:
    """The names of which the text of a function takes elements: whatever its annotations say, they are tensors."""
    found: set[str] = set()
    pending = [node]
    while pending:
        item = pending.pop()
        pending.extend(children(item))
        if isinstance(item, cst.Subscript) and isinstance(item.value, cst.Name):
            found.add(item.value.value)
    return frozenset(found)


@lru_cache(maxsize=4096)
def _asked(node: cst.CSTNode) -> Mapping[str, frozenset[str]]:
    """The attributes that the text of a function asks for of each name, and of what its methods give at once."""
    found: dict[str, set[str]] = {}
    pending = [node]
    while pending:
        item = pending.pop()
        pending.extend(children(item))
        owner = item
        while isinstance(owner, cst.Attribute | cst.Call):
            owner = owner.value if isinstance(owner, cst.Attribute) else owner.func
        if isinstance(item, cst.Attribute) and isinstance(owner, cst.Name):
            found.setdefault(owner.value, set()).add(item.attr.value)
    return {name: frozenset(words) for name, words in found.items()}


def _wrapped(context: Context, owner: Class, value: Parameter) -> Value:
    facts = context.facts[value.name]
    missing = flag_called(f"{value.name} is None")
    is_missing = context.holds(missing) if facts.is_optional else False
    if not facts.is_tensor or is_missing:
        return value
    if is_missing is None:
        with context.assuming(missing, False):
            made = instantiated(context, owner, [value], {})
    else:
        made = instantiated(context, owner, [value], {})
    if made is None:
        return value
    context.assume(f"{value.name} is taken to be the {owner.name} of a whole tensor where one is asked for")
    return made if is_missing is False else Either(missing, NONE, made)
