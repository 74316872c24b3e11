"""Tensors inside the objects that a kernel is given, where a function of the port asks for an object around one."""

from __future__ import annotations

from functools import lru_cache

import libcst as cst

from portcheck.frontends.nki.objects.classes import found_in
from portcheck.frontends.nki.objects.functions import all_parameters
from portcheck.frontends.nki.objects.objects import instantiated
from portcheck.frontends.nki.objects.parameters import class_of
from portcheck.frontends.nki.source.trees import children
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.values.callables import Class, ClassKind, Function
from portcheck.frontends.nki.values.flags import flag_called
from portcheck.frontends.nki.values.values import NONE, Either, Parameter, Value


def wrap_parts(context: Context, frame: Frame, function: Function) -> None:
    """Makes the arguments of a call in `frame` what the annotations of `function` say.

    A tensor that is part of a parameter is taken to be an object made of it, where the function asks for one of a class
    that is made of one thing: the objects of a port may hold either in one field.
    """
    for parameter in all_parameters(function.node):
        name = parameter.name.value
        value = frame.names.get(name)
        if isinstance(value, Parameter) and context.facts[value.name].is_part and parameter.annotation is not None:
            owner = class_of(context, function.home, parameter.annotation.annotation)
            if isinstance(owner, Class) and _is_made_of_one(owner) and name not in _indexed(function.node):
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


def _is_made_of_one(owner: Class) -> bool:
    """Whether an object of the class is made of one thing that must be given."""
    start = found_in(owner, "__init__")
    if owner.kind is not ClassKind.PLAIN or not owner.is_known or not isinstance(start, Function):
        return False
    words = [parameter.name.value for parameter in all_parameters(start.node)[1:]]
    return sum(word not in start.defaults for word in words) == 1


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
