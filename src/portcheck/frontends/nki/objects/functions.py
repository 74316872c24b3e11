"""Functions of a port as values: their defaults, and what decorators make of them and of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.values.callables import Access, Accessed, BoundMethod, Class, ClassKind, Function
from portcheck.frontends.nki.values.values import External, Unknown, Value
from portcheck.ir import OpaqueKind
from portcheck.knowledge import Semantics

_NEUTRAL = frozenset({
    "functools.lru_cache", "functools.cache", "functools.wraps", "abc.abstractmethod", "enum.unique",
    "typing.final", "typing.overload", "typing.no_type_check", "typing.runtime_checkable", "typing.override",
})  # fmt: skip
"""Decorators of Python's library that change nothing of what a call does."""
_DATA = "dataclasses.dataclass"


def all_parameters(node: cst.FunctionDef | cst.Lambda) -> list[cst.Param]:
    """All parameters of a function but the starred ones."""
    parameters = node.params
    return [*parameters.posonly_params, *parameters.params, *parameters.kwonly_params]


def function_of(
    context: Context, frame: Frame, node: cst.FunctionDef | cst.Lambda, name: str, owner: Class | None = None
) -> Function:
    """The function, with the defaults of its parameters as they are now.

    A method is defined in the frame of its class's body, and sees the names around the class.
    """
    defaults = {
        parameter.name.value: context.evaluate(context, frame, parameter.default, "")
        for parameter in all_parameters(node)
        if parameter.default is not None
    }
    home = frame.parent if owner is not None and frame.parent is not None else frame
    return Function(name, node, frame.segment, home, owner, defaults)


def define_function(context: Context, frame: Frame, node: cst.FunctionDef, owner: Class | None = None) -> Value:
    """The function that `node` defines, decorated; `owner` is the class that it is a method of."""
    return decorated(context, frame, function_of(context, frame, node, node.name.value, owner), node.decorators)


def decorated(context: Context, frame: Frame, value: Value, decorators: Sequence[cst.Decorator]) -> Value:
    """What the decorators, the lowest first, make of a function or class."""
    for decorator in reversed(decorators):
        value = _decorated(context, frame, value, decorator.decorator)
    return value


def _decorated(context: Context, frame: Frame, value: Value, node: cst.BaseExpression) -> Value:
    called = context.evaluate(context, frame, node.func if isinstance(node, cst.Call) else node, "")
    if isinstance(called, External):
        known = _known(context, value, called.name, node)
        if known is not None:
            return known
    accessed = _property_part(frame, value, node)
    if accessed is not None:
        return accessed
    wrapper = context.evaluate(context, frame, node, "") if isinstance(node, cst.Call) else called
    if isinstance(wrapper, Function | BoundMethod | Class):
        return context.invoke(context, wrapper, frame.segment.text(node), [value], {})
    name = value.name if isinstance(value, Function | Class) else frame.segment.text(node)
    reason = f"{name} is decorated by {frame.segment.text(node)}, which is not in reach"
    return Unknown(name, reason, (value,), OpaqueKind.CALL)


def _known(context: Context, value: Value, name: str, node: cst.BaseExpression) -> Value | None:
    """What a decorator from elsewhere makes of `value`; None where it is not known."""
    if name in list(Access):
        return Accessed(Access(name), value)
    if name in _NEUTRAL:
        return value
    if name == _DATA and isinstance(value, Class):
        frozen = any(_is_true(argument, "frozen") for argument in node.args) if isinstance(node, cst.Call) else False
        value.kind, value.is_frozen = ClassKind.DATA, frozen
        return value
    entry = context.knowledge.api_in_any_version(name)
    if entry is not None and entry.latest.semantics in (Semantics.DECORATOR, Semantics.MEASURE):
        return value
    return None


def _is_true(argument: cst.Arg, name: str) -> bool:
    given = argument.keyword is not None and argument.keyword.value == name
    return given and isinstance(argument.value, cst.Name) and argument.value.value == "True"


def _property_part(frame: Frame, value: Value, node: cst.BaseExpression) -> Value | None:
    """`@name.setter` over the function that sets the property `name`."""
    if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Name):
        return None
    found = frame.find(node.value.value)
    if not isinstance(found, Accessed) or found.access is not Access.PROPERTY:
        return None
    return replace(found, setter=value) if node.attr.value == "setter" else found
