"""Names that nothing in reach defines (a `-D` of a build, a header that is missing): numbers that the build gives."""

from __future__ import annotations

from portcheck.core.dtype import INT32, DType
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.frontends.cuda.parsing.syntax import Node, Unit
from portcheck.frontends.cuda.text.lexer import significant
from portcheck.ir import Parameter, Symbol, ValueType

_DECLARATORS = frozenset(
    {
        "init_declarator", "pointer_declarator", "array_declarator", "reference_declarator", "function_declarator",
        "parenthesized_declarator", "attributed_declarator", "variadic_declarator", "structured_binding_declarator",
    }
)  # fmt: skip
_DECLARATIONS = frozenset(
    {
        "declaration", "parameter_declaration", "optional_parameter_declaration", "variadic_parameter_declaration",
        "field_declaration", "for_range_loop", "enumerator", "type_definition", "alias_declaration",
        "type_parameter_declaration", "optional_type_parameter_declaration", "lambda_capture_initializer",
        "class_specifier", "struct_specifier", "union_specifier", "enum_specifier", "namespace_definition",
        "condition_declaration", "function_definition", "concept_definition", "using_declaration",
    }
)  # fmt: skip
_VALUES = ("value", "default_value", "size", "right", "body", "type", "arguments")


def undefined_number(state: State, node: Node, name: str) -> Scalar | None:
    """The number that a name no text in reach declares stands for: a symbol of that name; None for a declared one."""
    if not name.isidentifier() or _is_declared(state, name):
        return None
    if name not in state.undefined:
        state.undefined[name] = node.span
        state.names.add(name)
    state.note(f"{name} is defined nowhere in reach: it is taken to be a number that the build gives")
    return Scalar(Symbol(name, INT32), INT32)


def as_floating(state: State, value: Scalar, dtype: DType) -> Scalar | None:
    """An undefined name where a float is wanted: a number of that type; None for anything else."""
    expr = value.expr
    if not isinstance(expr, Symbol) or expr.name not in state.undefined or not dtype.is_float:
        return None
    if not any(parameter.name == expr.name for parameter in state.template_parameters):
        span = state.undefined[expr.name]
        type_ = ValueType(dtype)
        state.template_parameters.append(Parameter(name=expr.name, type=type_, is_buffer=False, span=span))
    return Scalar(Symbol(expr.name, dtype), dtype)


def _is_declared(state: State, name: str) -> bool:
    known = state.definitions.declared
    if name not in known:
        in_macro = any(_makes(macro.body, name) for macro in state.macros.values() if name in macro.body)
        known[name] = in_macro or any(_declares(unit, name) for unit in state.definitions.units)
    return known[name]


def _makes(text: str, name: str) -> bool:
    """Whether the text of a macro may declare `name`: it mentions it beside other statements than expressions."""
    words = {token.text for token in significant(text)}
    return name in words and bool(words & {";", "=", "{"})


def _declares(unit: Unit, name: str) -> bool:
    encoded = name.encode()
    start = unit.encoded.find(encoded)
    while start >= 0:
        end = start + len(encoded)
        node = unit.at(start, end)
        if node.start == start and node.end == end and _is_declaration(node):
            return True
        start = unit.encoded.find(encoded, end)
    return False


def _is_declaration(node: Node) -> bool:
    """Whether a name is what its declaration declares; also one in text that did not parse."""
    child, current = node, node.parent
    while current is not None:
        if current.type == "ERROR":
            return True
        if any(part is not None and part.key == child.key for part in map(current.field, _VALUES)):
            return False
        if current.type in _DECLARATIONS:
            return True
        if current.type not in _DECLARATORS:
            return False
        child, current = current, current.parent
    return False
