"""Type traits of the standard library: types and truths that templates choose their code by."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import BOOL, FLOAT32, FLOAT64
from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import CType, Scalar, TypeKind
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Const
from portcheck.knowledge import Semantics

_TEMPLATES = frozenset({"template_type", "template_function"})
_FLOATS = frozenset({FLOAT32, FLOAT64})


def trait(state: State, node: Node) -> CType | Scalar | None:
    """What a trait of the standard library gives: a type or a truth; None for any other name, or where it is open."""
    found = _written(node)
    if found is None:
        return None
    name, listed = found
    construct = state.construct(name)
    if construct is None or not construct.semantics.startswith("trait."):
        return None
    return _given(state, construct.semantics, listed)


def _written(node: Node) -> tuple[str, list[Node]] | None:
    """The name of a template with its scopes, and its arguments; a `::type` or `::value` after it is left out."""
    names: list[str] = []
    template: Node | None = None
    current: Node | None = node
    while current is not None and template is None:
        part = current.field("scope") if current.type == "qualified_identifier" else current
        if part is not None and part.type in _TEMPLATES:
            template = part
            part = part.field("name")
        names.append(part.text if part is not None else "")
        current = current.field("name") if current.type == "qualified_identifier" else None
    arguments = template.field("arguments") if template is not None else None
    return ("::".join(names), arguments.named) if arguments is not None else None


def _given(state: State, semantics: Semantics, listed: list[Node]) -> CType | Scalar | None:
    match semantics, len(listed):
        case Semantics.TRAIT_SAME, 2:
            left, right = (_type(state, argument) for argument in listed)
            return None if left is None or right is None else _truth(_plain_name(left) == _plain_name(right))
        case Semantics.TRAIT_CHOICE, 3:
            holds = _holds(state, listed[0])
            return None if holds is None else _type(state, listed[1 if holds else 2])
        case Semantics.TRAIT_IF, 1 | 2:
            holds = _holds(state, listed[0])
            void = CType(kind=TypeKind.VOID, name="void")
            return (void if len(listed) == 1 else _type(state, listed[1])) if holds else None
        case Semantics.TRAIT_PLAIN, 1:
            type_ = _type(state, listed[0])
            return None if type_ is None else replace(type_, constant=False, volatile=False, reference=False)
        case ((Semantics.TRAIT_FLOAT | Semantics.TRAIT_INTEGER), 1):
            type_ = _type(state, listed[0])
            return None if type_ is None else _truth(_is_of(type_, semantics))
        case _:
            pass
    return None


def _type(state: State, argument: Node) -> CType | None:
    type_ = state.type_of(argument)
    return None if type_.kind is TypeKind.UNKNOWN else type_


def _plain_name(type_: CType) -> tuple[str, bool, bool, bool]:
    """What tells a type from another: a number by its format, what else there is by its name."""
    is_number = type_.kind is TypeKind.SCALAR and type_.dtype is not None
    name = str(type_.dtype) if is_number else type_.name
    return (name, type_.constant, type_.volatile, type_.reference)


def _is_of(type_: CType, semantics: Semantics) -> bool:
    if type_.kind is not TypeKind.SCALAR or type_.dtype is None:
        return False
    if semantics is Semantics.TRAIT_FLOAT:
        return type_.dtype in _FLOATS
    return type_.dtype.is_integer or type_.dtype == BOOL


def _holds(state: State, argument: Node) -> bool | None:
    inner = argument.field("type") if argument.type == "type_descriptor" else None
    with state.builder.region():
        value = state.evaluate(inner if inner is not None else argument)
    known = constant_value(value.expr) if isinstance(value, Scalar) else None
    return None if known is None else bool(known)


def _truth(holds: bool) -> Scalar:
    return Scalar(Const(holds, BOOL), BOOL)


def excludes(state: State, node: Node) -> bool:
    """Whether `node` requires, or is an `enable_if` of, what is known not to hold."""
    constraint = node.field("constraint") if node.type == "requires_clause" else None
    if constraint is not None:
        return _holds(state, constraint) is False
    stack = [node]
    while stack:
        current = stack.pop()
        found = _written(current) if current.type in _TEMPLATES or current.type == "qualified_identifier" else None
        construct = state.construct(found[0].removesuffix("::type")) if found is not None else None
        if found is not None and construct is not None and construct.semantics == Semantics.TRAIT_IF:
            return _holds(state, found[1][0]) is False if found[1] else False
        stack.extend(current.named)
    return False
