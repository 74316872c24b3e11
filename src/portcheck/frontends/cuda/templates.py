"""Template parameters: what they stand for in one instance of a kernel or helper."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32, INT32
from portcheck.frontends.cuda.callsite import CallSite
from portcheck.frontends.cuda.conversions import convert
from portcheck.frontends.cuda.definitions import Function, declared_name
from portcheck.frontends.cuda.places import scalar
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.syntax import Node
from portcheck.frontends.cuda.types import scalar_type, type_of, type_of_value
from portcheck.frontends.cuda.values import (
    CType,
    FunctionName,
    Scalar,
    Value,
)  # fmt: skip
from portcheck.ir import Symbol

_TYPE_PARAMETERS = frozenset({"type_parameter_declaration", "optional_type_parameter_declaration"})


def template_parameters(template: Node | None) -> list[tuple[str, Node, bool]]:
    """Name, declaration and whether it is a type, of each template parameter."""
    found: list[tuple[str, Node, bool]] = []
    for node in template.named if template is not None else ():
        if node.type in _TYPE_PARAMETERS:
            named = node.field("name") or next((child for child in node.named if child.type == "type_identifier"), None)
            found.append((named.text if named is not None else "", node, True))
        elif node.type in ("parameter_declaration", "optional_parameter_declaration"):
            found.append((declared_name(node.field("declarator")), node, False))
        else:
            found.append(("", node, False))
    return found


def template_arguments(state: State, function: Function, call: CallSite) -> list[Value | CType | None]:
    """The template arguments as given, read where the call stands: their names are the caller's."""
    pairs = zip(template_parameters(function.template), call.templates, strict=False)
    return [_given(state, argument, node, is_type) for (_, node, is_type), argument in pairs]


def bind_template(state: State, function: Function, given: list[Value | CType | None], values: list[Value]) -> None:
    """Binds the template parameters of a helper: as given, deduced from the arguments, or by default."""
    for position, (name, node, is_type) in enumerate(template_parameters(function.template)):
        binding = given[position] if position < len(given) else None
        if binding is None and is_type:
            binding = _deduced(function, name, values)
        if binding is None:
            binding = default_argument(state, node, is_type)
        if binding is None and not is_type and name:
            dtype = type_of(state, node.field("type")).dtype or INT32
            binding = Scalar(Symbol(name, dtype), dtype)
        if name and binding is not None:
            state.bind(name, binding)


def _given(state: State, argument: Node, node: Node, is_type: bool) -> Value | CType | None:
    if is_type:
        return type_of(state, argument)
    inner = argument.field("type") if argument.type == "type_descriptor" else None
    value = state.evaluate(inner if inner is not None else argument)
    if isinstance(value, FunctionName):
        return value
    number = scalar(state, value, argument)
    dtype = type_of(state, node.field("type")).dtype
    return convert(state, number, dtype) if dtype is not None else number


def default_argument(state: State, node: Node, is_type: bool) -> Value | CType | None:
    """The default of a template parameter."""
    default = node.field("default_type") if is_type else node.field("default_value")
    if default is None:
        return None
    if is_type:
        return type_of(state, default)
    number = scalar(state, state.evaluate(default), default)
    dtype = type_of(state, node.field("type")).dtype
    return convert(state, number, dtype) if dtype is not None else number


def _deduced(function: Function, name: str, values: list[Value]) -> CType | None:
    """The type that makes a parameter declared with `name` fit its argument."""
    for parameter, value in zip(function.parameters, values, strict=False):
        named = parameter.field("type")
        if named is None or named.text != name:
            continue
        declared = parameter.field("declarator")
        found = type_of_value(value, declared is not None and declared.type == "pointer_declarator")
        if found is not None:
            return found
    return None


def fallback_type(state: State, name: str) -> CType:
    """The type a kernel's type parameter stands for when nobody says."""
    state.note(f"template parameter {name} is taken to be float: nothing in reach says")
    return scalar_type(FLOAT32)
