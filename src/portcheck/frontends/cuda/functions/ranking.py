"""How well the parameters of one overload fit the arguments of a call, as far as that is seen."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.core.dtype import BOOL, FLOAT32, FLOAT64, INT8, INT16, INT32, UINT8, UINT16, DType
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.frames import Binding
from portcheck.frontends.cuda.model.instances import shown_argument
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.templates import bind_template, template_arguments, template_parameters
from portcheck.frontends.cuda.model.traits import excludes
from portcheck.frontends.cuda.model.types import base_type, declare, type_of_value
from portcheck.frontends.cuda.model.values import CType, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.definitions import CONVERSION, Function
from portcheck.frontends.cuda.parsing.syntax import Node

_EXACT, _QUALIFIED, _PROMOTED, _CONVERTED, _MADE, _NULL = 8, 6, 4, 2, 0, -4
"""How good conversions are, the best first: none, to `const`, two of numbers, by a class, from the null pointer."""
_NEARLY = 7
"""The best that a type that is not at hand may be: it is not just the type of what is known."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How well an overload fits: at least and at most (`low`, `high`), and how much its template says of its types."""

    low: int
    high: int
    detail: int


def fit_of(state: State, function: Function, call: CallSite | None, values: list[Value]) -> Fit | None:
    """How well the parameters fit the arguments; None where one takes no such value, or the template excludes them."""
    names = {name for name, _, _ in template_parameters(function.template) if name}
    low = high = detail = 0
    with state.builder.region(), state.scope():
        if function.template is not None:
            given = template_arguments(state, function, call) if call is not None else []
            bind_template(state, function, given, values)
            if any(excludes(state, node) for node in _conditions(function)):
                return None
        nodes = call.arguments if call is not None and len(call.arguments) == len(values) else (None,) * len(values)
        for parameter, value, node in zip(function.parameters, values, nodes, strict=False):
            fit = _parameter_fit(state, parameter, names, value)
            fit = _bound(parameter, names, node, fit) if fit is not None else None
            if fit is None:
                return None
            low, high = low + fit[0], high + fit[1]
            detail += _detail(parameter, names)
    return Fit(low, high, detail)


def _conditions(function: Function) -> list[Node]:
    """What may exclude a template: its parameters, its result and what it requires."""
    result = function.node.field("type")
    listed = [*function.template.named] if function.template is not None else []
    return [*listed, *([result] if result is not None else ()), *requirements(function)]


def requirements(function: Function) -> list[Node]:
    """The `requires` clauses of a function, before or behind its parameters."""
    around = function.node.parent if function.template is not None else None
    listed = [*(around.named if around is not None else ()), *function.declarator.named]
    return [node for node in listed if node.type == "requires_clause"]


def _detail(parameter: Node, names: set[str]) -> int:
    """How much of the type of a parameter is written out: `T` is nothing, `T*` and `A<T, N>` less than `A<T, 2>`."""
    specifier, declarator = parameter.field("type"), parameter.field("declarator")
    is_pointer = declarator is not None and declarator.type in _POINTERS
    if specifier is None or specifier.text in names:
        return is_pointer * (1 + parameter.has("const"))
    listed = specifier.field("arguments") if specifier.type == "template_type" else None
    return 1 + is_pointer + sum(argument.text not in names for argument in (listed.named if listed is not None else ()))


_POINTERS = frozenset({"pointer_declarator", "abstract_pointer_declarator"})


def _parameter_fit(state: State, parameter: Node, names: set[str], value: Value) -> tuple[int, int] | None:
    specifier, declarator = parameter.field("type"), parameter.field("declarator")
    is_pointer = declarator is not None and declarator.type in _POINTERS
    if specifier is not None and specifier.text in names and not is_pointer:
        return _EXACT, _EXACT
    type_ = declare(state, base_type(state, parameter), declarator).type
    mentioned = specifier is not None and any(_mentions(argument, names) for argument in _arguments_of(specifier))
    if specifier is not None and mentioned and not is_pointer and _is_unlike(state, specifier, names, value):
        return None
    if mentioned and type_.kind is TypeKind.RECORD and "<" in type_.name and not _is_known(state, type_, names):
        return _MADE, _EXACT
    if specifier is not None and _is_enumeration(state, specifier) and not is_pointer:
        return (_MADE, _EXACT) if type_of_value(value) is None or _dtype(value) == INT32 else None
    found = level(state, value, type_)
    is_bound = declarator is not None and declarator.text.startswith("&") and not declarator.text.startswith("&&")
    is_other = found in ((_PROMOTED, _PROMOTED), (_CONVERTED, _CONVERTED)) and type_.kind is TypeKind.SCALAR
    return None if is_bound and is_other and not parameter.has("const") else found


def _bound(parameter: Node, names: set[str], node: Node | None, fit: tuple[int, int]) -> tuple[int, int] | None:
    """`fit` as the reference to what passes away has it: it takes no variable, and all else better than others."""
    declarator, specifier = parameter.field("declarator"), parameter.field("type")
    if declarator is None or not declarator.text.startswith("&&") or (specifier and specifier.text in names):
        return fit
    is_variable = node is not None and node.type in _VARIABLES
    return None if is_variable else (fit[0], fit[1] + 1)


_VARIABLES = frozenset({"identifier", "subscript_expression", "field_expression"})


def _mentions(node: Node, names: set[str]) -> bool:
    return node.text in names or any(_mentions(child, names) for child in node.named)


def _is_unlike(state: State, specifier: Node, names: set[str], value: Value) -> bool:
    """Whether `value` is known to be of no instance of the template that the type of a parameter names."""
    own, named = type_of_value(value), specifier.field("name")
    if own is None or named is None or named.text in names or own.kind not in (TypeKind.SCALAR, TypeKind.RECORD):
        return False
    definition = state.definitions.types_called(named.text, specifier)
    record = state.records.get(own.name)
    if definition is None or definition.type == "alias_declaration" or (record is not None and record.bases):
        return False
    return own.kind is TypeKind.SCALAR or (record is not None and record.simple_name != named.text)


def _arguments_of(specifier: Node) -> list[Node]:
    listed = specifier.field("arguments") if specifier.type == "template_type" else None
    return listed.named if listed is not None else []


def _is_known(state: State, type_: CType, names: set[str]) -> bool:
    """Whether no template parameter of the function is still open in a type."""
    record = state.records.get(type_.name)
    return record is not None and not any(_is_open(state, argument, names) for argument in record.arguments)


def _is_open(state: State, argument: Binding, names: set[str]) -> bool:
    if isinstance(argument, CType) and argument.kind is TypeKind.RECORD:
        return not _is_known(state, argument, names)
    is_lost = isinstance(argument, CType) and argument.kind is TypeKind.UNKNOWN
    return is_lost or shown_argument(argument) in names


def _is_enumeration(state: State, specifier: Node) -> bool:
    definition = state.definitions.types_called(specifier.text, specifier)
    return definition is not None and definition.type == "enum_specifier"


def _dtype(value: Value) -> DType | None:
    type_ = type_of_value(value)
    return type_.dtype if type_ is not None else None


_NAMED = frozenset({TypeKind.UNKNOWN, TypeKind.LIBRARY})


def level(state: State, value: Value, type_: CType) -> tuple[int, int] | None:
    """How well a parameter of `type_` fits `value`, at least and at most; None where it takes no such value."""
    own, pointee = type_of_value(value), type_of_value(value, through_pointer=True)
    if own is not None and own.kind is type_.kind and own.kind in _NAMED and own.name == type_.name:
        return _EXACT, _EXACT
    if type_.kind is TypeKind.UNKNOWN or (own is None and pointee is None):
        return _MADE, _NEARLY
    if type_.kind is TypeKind.POINTER:
        return _pointer(state, value, type_, (own, pointee))
    if own is None and pointee is not None and type_.kind is TypeKind.SCALAR:
        return None
    if own is None or own.kind in (TypeKind.UNKNOWN, TypeKind.LIBRARY):
        is_same = own is not None and own.name == type_.name
        return (_EXACT, _EXACT) if is_same else (_MADE, _NEARLY)
    found = _value_level(state, own, type_)
    return None if found is None else (found, found)


def _pointer(
    state: State, value: Value, type_: CType, types: tuple[CType | None, CType | None]
) -> tuple[int, int] | None:
    own, pointee = types
    if own is not None and own.kind is TypeKind.VECTOR:
        return None
    if own is not None and own.kind is TypeKind.RECORD:
        found = _record_level(state, own, type_)
        return None if found is None else (found, _NEARLY)
    if isinstance(value, Scalar) or (own is not None and own.kind is TypeKind.SCALAR):
        return _NULL, _NULL
    if pointee is None or type_.target is None:
        return _MADE, _NEARLY
    if _is_same(state, pointee, type_.target):
        found = _EXACT if pointee.constant == type_.target.constant else _QUALIFIED
        return found, found
    is_number = pointee.kind is TypeKind.SCALAR and type_.target.kind is TypeKind.SCALAR
    return None if is_number else (_CONVERTED, _CONVERTED)


def _value_level(state: State, own: CType, type_: CType) -> int | None:
    if _is_same(state, own, type_):
        return _EXACT
    if TypeKind.VECTOR in (own.kind, type_.kind):
        return _MADE if TypeKind.RECORD in (own.kind, type_.kind) else None
    if own.kind is TypeKind.SCALAR and type_.kind is TypeKind.SCALAR:
        return _PROMOTED if _is_promotion(own.dtype, type_.dtype) else _CONVERTED
    if TypeKind.RECORD in (own.kind, type_.kind):
        return _record_level(state, own, type_)
    return _MADE


def _is_same(state: State, left: Binding, right: Binding) -> bool:
    """Whether two types or template arguments are one; a record may go by several names."""
    if shown_argument(left) == shown_argument(right):
        return True
    if not isinstance(left, CType) or not isinstance(right, CType):
        return False
    one, other = state.records.get(left.name), state.records.get(right.name)
    if one is None or other is None or one.node.key != other.node.key or len(one.arguments) != len(other.arguments):
        return False
    return all(_is_same(state, *pair) for pair in zip(one.arguments, other.arguments, strict=True))


def _is_promotion(own: DType | None, wanted: DType | None) -> bool:
    return (own == FLOAT32 and wanted == FLOAT64) or (own in _SMALL and wanted == INT32)


_SMALL = frozenset({BOOL, INT8, UINT8, INT16, UINT16})


def _record_level(state: State, own: CType, type_: CType) -> int | None:
    """What is no such record is made one by a constructor, or converts itself, or is one of the bases."""
    source, target = state.records.get(own.name), state.records.get(type_.name)
    if source is not None and source.bases:
        return _CONVERTED if target is not None else _MADE
    makes = target is not None and (
        bool(target.functions.get(target.simple_name)) or _outside(state, target.simple_name)
    )
    converts = source is not None and (bool(source.functions.get(CONVERSION)) or _outside(state, source.simple_name))
    is_open = (own.kind is TypeKind.RECORD and source is None) or (type_.kind is TypeKind.RECORD and target is None)
    return _MADE if makes or converts or is_open else None


def _outside(state: State, name: str) -> bool:
    return any(found.name in (name, CONVERSION) for found in state.definitions.scoped.get(name, ()))
