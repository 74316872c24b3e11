"""Expressions: what each form of C++ expression stands for and which operations it needs."""

from __future__ import annotations

from math import prod

from portcheck.core.dtype import BOOL, INT32, UINT64
from portcheck.frontends.cuda.assembly.instruction_set import inline_assembly
from portcheck.frontends.cuda.expressions.arithmetic import binary, connective, unary
from portcheck.frontends.cuda.expressions.assignments import (
    assignment,
    has_members,
    is_vector,
    memberwise,
    operands,
    update,
)  # fmt: skip
from portcheck.frontends.cuda.expressions.casts import cast_to, distance, pointer_comparison
from portcheck.frontends.cuda.expressions.choices import choose, pointer_at, short_circuit
from portcheck.frontends.cuda.expressions.names import component, identifier
from portcheck.frontends.cuda.expressions.regrouping import holds_wreck, regrouped, separated
from portcheck.frontends.cuda.functions.closures import closure
from portcheck.frontends.cuda.memory.members import member_place, member_value
from portcheck.frontends.cuda.memory.places import (
    address,
    element,
    pointer_of,
    read,
    scalar,
    target,
)  # fmt: skip
from portcheck.frontends.cuda.memory.stepping import advance
from portcheck.frontends.cuda.memory.vectors import is_variable, kept_variable
from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.frontends.cuda.model.conversions import common
from portcheck.frontends.cuda.model.fragment_types import fragment_member
from portcheck.frontends.cuda.model.layout import layout, offset_of
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import VOID, named_type, type_of, type_of_value
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    Builtin,
    Closure,
    CType,
    Facility,
    FunctionName,
    Handle,
    Lost,
    Nothing,
    Null,
    Place,
    Pointer,
    PointerCell,
    Scalar,
    Slot,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.obstacles import form_kind
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.frontends.cuda.statements.statement_values import statement_value
from portcheck.frontends.cuda.statements.strings import TEXTS, text_value
from portcheck.frontends.cuda.text.literals import character_literal, number_literal
from portcheck.ir import Const, OpaqueKind

_LEAVES = frozenset(
    {
        "identifier",
        "number_literal",
        "char_literal",
        "true",
        "false",
        "null",
        "field_identifier",
        "type_identifier",
        "this",
    }
)


def evaluate(state: State, node: Node) -> Value:
    """What the expression `node` stands for; never raises on what the source says."""
    node = bare(node)
    excess = state.excess()
    if excess:
        return state.opaque(node, excess, kind=OpaqueKind.LIMIT)
    if node.type in _LEAVES:
        return _leaf(state, node)
    state.depth += 1
    try:
        with state.builder.at(node):
            return _compound(state, node)
    finally:
        state.depth -= 1


def _leaf(state: State, node: Node) -> Value:
    match node.type:
        case "number_literal":
            constant = number_literal(node.text)
        case "char_literal":
            constant = character_literal(node.text)
        case "true" | "false":
            constant = Const(node.type == "true", BOOL)
        case "null":
            return Null()
        case "this":
            return identifier(state, node, "this")
        case _:
            return identifier(state, node)
    if constant is None:
        return state.opaque(node, f"literal {node.text}")
    return Scalar(constant, constant.dtype)


def _compound(state: State, node: Node) -> Value:
    meant = regrouped(state, node)
    if meant is None and holds_wreck(node):
        meant = separated(node)
        if meant is None:
            return state.opaque(node, "text that does not parse")
    if meant is not None:
        return state.evaluate(meant)
    match node.type:
        case "binary_expression":
            return _binary(state, node)
        case "unary_expression":
            return _unary(state, node)
        case "assignment_expression":
            return assignment(state, node)
        case "update_expression":
            return update(state, node)
        case "subscript_expression":
            return _subscript(state, node)
        case "pointer_expression":
            return _pointer(state, node)
        case "field_expression":
            return _field(state, node)
        case "call_expression":
            return state.resolve_call(node)
        case "conditional_expression":
            return choose(state, node)
        case "cast_expression":
            inner = node.field("value")
            type_ = type_of(state, node.field("type"))
            via = f"({type_.name})"
            return state.opaque(node, "cast") if inner is None else cast_to(state, node, inner, type_, via)
        case "compound_statement":
            return statement_value(state, node)
        case "comma_expression":
            return _comma(state, node)
        case "sizeof_expression" | "alignof_expression":
            return _size(state, node)
        case "offsetof_expression":
            return _offset(state, node)
        case "gnu_asm_expression":
            return inline_assembly(state, node)
        case "lambda_expression":
            return closure(state, node)
        case kind if kind in TEXTS:
            return text_value(state, node) or state.opaque(node, "string literal", kind=form_kind(kind))
        case "initializer_list" if len(node.named) == 1:
            return state.evaluate(node.named[0])
        case "compound_literal_expression" | "qualified_identifier" | "template_function":
            return _qualified(state, node)
        case _:
            pass
    reason = node.type.replace("_", " ") if node.type != "ERROR" else "text that does not parse"
    return state.opaque(node, reason, kind=form_kind(node.type))


def _binary(state: State, node: Node) -> Value:
    left_node, right_node, text = operands(node)
    if left_node is None or right_node is None:
        return state.opaque(node, "operator without operands")
    if connective(text) is not None:
        return short_circuit(state, node, left_node, right_node, text)
    left, right = state.evaluate(left_node), state.evaluate(right_node)
    if has_members(left) or has_members(right):
        found = state.operator_call(node, f"operator{text}", [(left_node, left), (right_node, right)])
        if found is not None:
            return found
    left, right = read(state, left, left_node), read(state, right, right_node)
    if isinstance(left, Aggregate) or isinstance(right, Aggregate):
        if not is_vector(left) and not is_vector(right):
            left, right = scalar(state, left, left_node), scalar(state, right, right_node)
        else:
            return memberwise(state, node, (left, right), text)
    if not (isinstance(left, Scalar) and isinstance(right, Scalar)):
        return _address_arithmetic(state, node, (left, right), text)
    result = binary(state, text, left, right)
    if result is None and isinstance(left, Lost):
        return left
    if result is None and isinstance(right, Lost):
        return right
    return result or state.opaque(node, f"operator {text}", common(left.dtype, right.dtype), kind=OpaqueKind.DTYPE)


def _address_arithmetic(state: State, node: Node, sides: tuple[Value, Value], text: str) -> Value:
    left, right = sides
    for side in sides:
        if isinstance(side, Lost):
            return side
    if isinstance(left, Pointer) and isinstance(right, Scalar) and text in ("+", "-"):
        return advance(state, left, right, backwards=text == "-")
    if isinstance(right, Pointer) and isinstance(left, Scalar) and text == "+":
        return advance(state, right, left)
    between = distance(state, left, right) if text == "-" else pointer_comparison(state, left, right, text)
    if between is not None:
        return between
    return state.opaque(node, f"operator {text} on {_what(left)} and {_what(right)}", kind=OpaqueKind.DTYPE)


def _what(value: Value) -> str:
    if isinstance(value, Aggregate):
        return value.type.name
    return type(value).__name__.lower()


def _unary(state: State, node: Node) -> Value:
    argument, operator = node.field("argument"), node.field("operator")
    if argument is None or operator is None:
        return state.opaque(node, "operator without operands")
    value = state.evaluate(argument)
    if has_members(value):
        found = state.operator_call(node, f"operator{operator.text}", [(argument, value)])
        if found is not None:
            return found
    value = read(state, value, argument)
    if isinstance(value, Aggregate) and is_vector(value):
        zero = Scalar(Const(0, INT32), INT32)
        return memberwise(state, node, (zero, value), operator.text)
    if isinstance(value, Pointer | Null | Handle) and operator.text in ("!", "not"):
        return pointer_comparison(state, value, Null(), "==") or state.opaque(node, "negated address", BOOL)
    number = scalar(state, value, argument)
    result = unary(state, operator.text, number)
    if result is None and isinstance(number, Lost):
        return number
    return result or state.opaque(node, f"operator {operator.text}", kind=OpaqueKind.DTYPE)


def _subscript(state: State, node: Node) -> Value:
    base_node, indices = node.field("argument"), node.field("indices")
    listed = indices.named if indices is not None else []
    if base_node is None or len(listed) != 1:
        return state.opaque(node, "subscript")
    base = _followed(state, state.evaluate(base_node), base_node)
    index = scalar(state, state.evaluate(listed[0]), listed[0])
    if isinstance(base, Lost | Facility):
        return base
    if has_members(base):
        chosen = state.operator_call(node, "operator[]", [(base_node, base), (listed[0], index)])
        if chosen is not None:
            return chosen
    if isinstance(base, Handle) and constant_value(index.expr) == 0:
        return base.target
    if isinstance(base, Aggregate) and base.type.kind is TypeKind.ARRAY:
        position = constant_value(index.expr)
        member = base.member(str(position)) if position is not None else pointer_at(state, node, base, index)
        reason = f"element of {base.type.name} at an index that is no constant"
        return member if member is not None else state.opaque(node, reason, UINT64, kind=OpaqueKind.MEMORY)
    found = element(state, base, index)
    return found if found is not None else state.opaque(node, "subscript of " + _what(base), kind=OpaqueKind.MEMORY)


def _pointer(state: State, node: Node) -> Value:
    argument = node.field("argument")
    if argument is None:
        return state.opaque(node, "address of nothing")
    value = state.evaluate(argument)
    if isinstance(value, FunctionName | Closure):
        return value
    if node.has("&"):
        if isinstance(value, Place):
            return address(value)
        if isinstance(value, Lost | Facility):
            return value
        if isinstance(value, PointerCell | Slot):
            return Handle(value)
        if isinstance(value, Aggregate):
            return Handle(value if is_variable(value) else kept_variable(state, value, argument))
        return state.opaque(node, f"address of {_what(value)}", UINT64, kind=OpaqueKind.MEMORY)
    value = _followed(state, value, argument)
    if has_members(value):
        found = state.operator_call(node, "operator*", [(argument, value)])
        if found is not None:
            return found
    if isinstance(value, Handle):
        return value.target
    if isinstance(value, Lost):
        return value
    pointer = pointer_of(state, value)
    if pointer is None:
        return state.opaque(node, f"dereference of {_what(value)}", kind=OpaqueKind.MEMORY)
    return target(pointer)


def _field(state: State, node: Node) -> Value:
    argument, field = node.field("argument"), node.field("field")
    if argument is None or field is None:
        return state.opaque(node, "member of nothing")
    owner = _followed(state, state.evaluate(argument), argument)
    member: Value | None = None
    if isinstance(owner, Handle):
        owner = owner.target
    elif isinstance(owner, Pointer | PointerCell):
        pointer = pointer_of(state, owner)
        owner = target(pointer) if pointer is not None else owner
    if isinstance(owner, Builtin):
        member = component(state, owner, field.text)
    elif isinstance(owner, Aggregate):
        member = member_value(owner, field.text)
    elif isinstance(owner, Place):
        member = fragment_member(state, owner, field.text) or member_place(state, owner, field.text)
    elif isinstance(owner, Lost | Facility):
        return owner
    if member is None:
        static = state.member_name(type_of_value(owner) or VOID, field.text)
        member = static if not isinstance(static, CType) else None
    if member is None and isinstance(owner, Scalar) and argument.type == "identifier":
        return _lost_name(state, argument, f"member {field.text}")
    if member is None or isinstance(member, Nothing):
        return state.opaque(node, f"member {field.text}", kind=OpaqueKind.DTYPE)
    return member


def _lost_name(state: State, node: Node, reason: str) -> Value:
    """A name that was taken for a number and is none: it is not understood, once, where it was declared."""
    scope = next((scope for scope in reversed(state.scopes) if node.text in scope), None)
    if scope is None or not 0 < scope.depth <= state.builder.depth:
        return state.opaque(node, reason, kind=OpaqueKind.DTYPE)
    with state.builder.region_at(scope.depth):
        lost = state.opaque(node, reason, kind=OpaqueKind.DTYPE)
    scope[node.text] = lost
    return lost


def _followed(state: State, value: Value, node: Node) -> Value:
    """`value`, loaded where it is a pointer that lies in memory."""
    if isinstance(value, Slot):
        return value.value if isinstance(value.value, Lost) else pointer_of(state, value) or value
    is_pointer = isinstance(value, Place) and not value.remaining and value.type.kind is TypeKind.POINTER
    return read(state, value, node) if is_pointer else value


def _comma(state: State, node: Node) -> Value:
    left, right, _ = operands(node)
    if left is None or right is None:
        return state.opaque(node, "comma")
    state.evaluate(left)
    return state.evaluate(right)


def _qualified(state: State, node: Node) -> Value:
    """A name with a scope, or `T{...}`: resolved as if it were called with the arguments in braces."""
    return state.resolve_call(node)


def _offset(state: State, node: Node) -> Value:
    """`offsetof(T, member)`."""
    type_, member = type_of(state, node.field("type")), node.field("member")
    offset = offset_of(state, type_, member.text) if member is not None else None
    if offset is None:
        return state.opaque(node, f"place of a member of {type_.name}", UINT64, kind=OpaqueKind.DTYPE)
    return Scalar(Const(offset, UINT64), UINT64)


def _size(state: State, node: Node) -> Value:
    operand = node.field("type") or node.field("value")
    if operand is None:
        return state.opaque(node, "size of nothing", UINT64)
    operand = bare(operand)
    is_type = node.field("type") is not None or operand.type in ("template_function", "qualified_identifier")
    type_: CType | None = type_of(state, operand) if is_type else named_type(state, operand.text, at=operand)
    count = 1
    if type_ is not None and type_.kind is TypeKind.UNKNOWN:
        with state.builder.region():
            value = state.evaluate(operand)
        type_ = type_of_value(value) or type_
        if isinstance(value, Place) and value.remaining:
            extents = [constant_value(extent) for extent in state.buffers[value.buffer].shape[len(value.index) :]]
            known = [extent for extent in extents[: value.remaining] if extent is not None]
            type_, count = value.type, prod(known) if len(known) == value.remaining else 0
    found = layout(state, type_) if type_ is not None else None
    if found is None or not count:
        return state.opaque(node, f"size of {type_.name if type_ else operand.text}", UINT64, kind=OpaqueKind.DTYPE)
    size = found.alignment if node.type == "alignof_expression" else found.size * count
    return Scalar(Const(size, UINT64), UINT64)
