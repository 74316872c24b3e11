"""Template parameters: what they stand for in one instance of a kernel or helper."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import FLOAT32, INT32
from portcheck.frontends.cuda.memory.places import read, scalar
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.constants import folded
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import scalar_type, type_of, type_of_value
from portcheck.frontends.cuda.model.values import (
    CType,
    FunctionName,
    Place,
    Scalar,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.definitions import Function, declared_name
from portcheck.frontends.cuda.parsing.syntax import Node
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
    deduced = _deduced(state, function, values)
    for position, (name, node, is_type) in enumerate(template_parameters(function.template)):
        binding = given[position] if position < len(given) else None
        if binding is None:
            binding = deduced.get(name)
        if binding is None:
            binding = default_argument(state, node, is_type)
        if binding is None and not is_type and name:
            dtype = type_of(state, node.field("type")).dtype or INT32
            binding = Scalar(Symbol(name, dtype), dtype)
        if name and binding is not None:
            state.bind(name, binding)


def template_argument(state: State, argument: Node) -> Value | CType | None:
    """What a template argument says, a type or a value, whatever the parameter is."""
    inner = argument.field("type") if argument.type == "type_descriptor" else None
    name = inner if inner is not None else argument
    type_ = type_of(state, argument)
    if type_.kind is not TypeKind.UNKNOWN and inner is not None:
        return type_
    with state.builder.region():
        value = read(state, state.evaluate(name), name)
    return folded(value) if isinstance(value, Scalar) else value


def _given(state: State, argument: Node, node: Node, is_type: bool) -> Value | CType | None:
    if is_type:
        return type_of(state, argument)
    inner = argument.field("type") if argument.type == "type_descriptor" else None
    value = state.evaluate(inner if inner is not None else argument)
    if isinstance(value, FunctionName):
        return value
    number = scalar(state, value, argument)
    dtype = type_of(state, node.field("type")).dtype
    return folded(convert(state, number, dtype) if dtype is not None else number)


def default_argument(state: State, node: Node, is_type: bool) -> Value | CType | None:
    """The default of a template parameter; None where there is none, or it is no constant."""
    default = node.field("default_type") if is_type else node.field("default_value")
    if default is None:
        return None
    if is_type:
        return type_of(state, default)
    with state.builder.region() as emitted:
        number = scalar(state, state.evaluate(default), default)
        dtype = type_of(state, node.field("type")).dtype
        number = convert(state, number, dtype) if dtype is not None else number
    return None if emitted else number


def _deduced(state: State, function: Function, values: list[Value]) -> dict[str, Value | CType]:
    """The template arguments that make the parameters fit the arguments, as far as they say."""
    names = {name for name, _, _ in template_parameters(function.template) if name}
    found: dict[str, Value | CType] = {}
    for parameter, value in zip(function.parameters if names else (), values, strict=False):
        specifier, declarator = parameter.field("type"), parameter.field("declarator")
        if specifier is None:
            continue
        if specifier.text in names:
            _deduce_type(found, parameter, specifier.text, value)
        elif specifier.type == "template_type":
            _deduce_arguments(state, names, found, specifier, value)
        if declarator is not None and declarator.type == "array_declarator":
            _deduce_extents(state, names, found, declarator, value)
    return found


def _deduce_type(found: dict[str, Value | CType], parameter: Node, name: str, value: Value) -> None:
    declarator = parameter.field("declarator")
    kind = declarator.type.removeprefix("abstract_") if declarator is not None else ""
    is_array = kind == "array_declarator"
    through = kind == "pointer_declarator" or is_array
    type_ = type_of_value(value, through)
    if type_ is None:
        return
    if parameter.has("const") or not through:
        type_ = replace(type_, constant=False)
    found.setdefault(name, replace(type_, reference=False))


def _deduce_arguments(
    state: State, names: set[str], found: dict[str, Value | CType], specifier: Node, value: Value
) -> None:
    """`Packed<T>` against a value that is a `Packed<float>`."""
    type_ = type_of_value(value) or type_of_value(value, through_pointer=True)
    record = state.records.get(type_.name) if type_ is not None else None
    named, listed = specifier.field("name"), specifier.field("arguments")
    if record is None or named is None or listed is None or record.simple_name != named.text:
        return
    for argument, known in zip(listed.named, record.arguments, strict=False):
        if argument.text in names:
            found.setdefault(argument.text, known)


def _deduce_extents(
    state: State, names: set[str], found: dict[str, Value | CType], declarator: Node, value: Value
) -> None:
    """`T (&a)[N]` against an array."""
    if not isinstance(value, Place) or value.buffer not in state.buffers:
        return
    extents = list(state.buffers[value.buffer].shape[len(value.index) : len(value.index) + value.remaining])
    node: Node | None = declarator
    while node is not None and node.type == "array_declarator" and extents:
        size, extent = node.field("size"), extents.pop()
        if size is not None and size.text in names:
            found.setdefault(size.text, Scalar(extent, extent.dtype))
        node = node.field("declarator")


def fallback_type(state: State, name: str) -> CType:
    """The type a kernel's type parameter stands for when nobody says."""
    state.note(f"template parameter {name} is taken to be float: nothing in reach says")
    return scalar_type(FLOAT32)
