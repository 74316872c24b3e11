"""Expressions: what each form of C++ expression stands for and which operations it needs."""

from __future__ import annotations

from math import prod

from portcheck.core.dtype import BOOL, INT32, UINT64
from portcheck.frontends.cuda.arithmetic import binary, connective, one_of, unary
from portcheck.frontends.cuda.bits import copy_bits, is_reinterpreted
from portcheck.frontends.cuda.casts import cast_to, pointer_comparison
from portcheck.frontends.cuda.choices import choose, short_circuit
from portcheck.frontends.cuda.constants import constant_value
from portcheck.frontends.cuda.conversions import common, convert
from portcheck.frontends.cuda.instruction_set import inline_assembly
from portcheck.frontends.cuda.layout import layout
from portcheck.frontends.cuda.literals import character_literal, number_literal
from portcheck.frontends.cuda.members import member_place, member_value
from portcheck.frontends.cuda.names import component, identifier
from portcheck.frontends.cuda.obstacles import form_kind
from portcheck.frontends.cuda.places import (
    address,
    advance,
    element,
    pointer_of,
    read,
    scalar,
    target,
    write,
)  # fmt: skip
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.statement_values import statement_value
from portcheck.frontends.cuda.syntax import Node, bare
from portcheck.frontends.cuda.types import named_type, type_of, type_of_value
from portcheck.frontends.cuda.values import (
    Aggregate,
    Builtin,
    Closure,
    CType,
    Handle,
    Lost,
    Nothing,
    Null,
    Place,
    Pointer,
    PointerCell,
    Scalar,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.ir import Const, OpaqueKind

_LEAVES = frozenset(
    {"identifier", "number_literal", "char_literal", "true", "false", "null", "field_identifier", "type_identifier"}
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
        with state.builder.at(node.span):
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
        case _:
            return identifier(state, node)
    if constant is None:
        return state.opaque(node, f"literal {node.text}")
    return Scalar(constant, constant.dtype)


def _compound(state: State, node: Node) -> Value:
    match node.type:
        case "binary_expression":
            return _binary(state, node)
        case "unary_expression":
            return _unary(state, node)
        case "assignment_expression":
            return _assignment(state, node)
        case "update_expression":
            return _update(state, node)
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
        case "gnu_asm_expression":
            return inline_assembly(state, node)
        case "lambda_expression":
            return Closure(node, tuple(state.scopes))
        case "initializer_list" if len(node.named) == 1:
            return state.evaluate(node.named[0])
        case "compound_literal_expression" | "qualified_identifier" | "template_function":
            return _qualified(state, node)
        case _:
            pass
    reason = node.type.replace("_", " ") if node.type != "ERROR" else "text that does not parse"
    return state.opaque(node, reason, kind=form_kind(node.type))


def _operands(node: Node) -> tuple[Node | None, Node | None, str]:
    operator = node.field("operator")
    return node.field("left"), node.field("right"), operator.text if operator is not None else ""


def _binary(state: State, node: Node) -> Value:
    left_node, right_node, text = _operands(node)
    if left_node is None or right_node is None:
        return state.opaque(node, "operator without operands")
    if connective(text) is not None:
        return short_circuit(state, node, left_node, right_node, text)
    left = read(state, state.evaluate(left_node), left_node)
    right = read(state, state.evaluate(right_node), right_node)
    if isinstance(left, Aggregate) or isinstance(right, Aggregate):
        return _memberwise(state, node, (left, right), text)
    if not (isinstance(left, Scalar) and isinstance(right, Scalar)):
        return _address_arithmetic(state, node, (left, right), text)
    result = binary(state, text, left, right)
    return result or state.opaque(node, f"operator {text}", common(left.dtype, right.dtype), kind=OpaqueKind.DTYPE)


def _memberwise(state: State, node: Node, sides: tuple[Value, Value], text: str) -> Value:
    """An operator on vectors: member by member, a number against each."""
    shape = next(side for side in sides if isinstance(side, Aggregate))
    members: list[tuple[str, Value]] = []
    for name, _ in shape.members:
        parts = [side.member(name) if isinstance(side, Aggregate) else side for side in sides]
        left, right = parts
        if shape.type.kind is not TypeKind.VECTOR or not (isinstance(left, Scalar) and isinstance(right, Scalar)):
            return state.opaque(node, f"operator {text} on {shape.type.name}", kind=OpaqueKind.DTYPE)
        result = binary(state, text, left, right)
        if result is None:
            return state.opaque(node, f"operator {text} on {shape.type.name}", kind=OpaqueKind.DTYPE)
        members.append((name, result))
    return Aggregate(shape.type, tuple(members))


def _address_arithmetic(state: State, node: Node, sides: tuple[Value, Value], text: str) -> Value:
    left, right = sides
    if isinstance(left, Pointer) and isinstance(right, Scalar) and text in ("+", "-"):
        return advance(state, left, right, backwards=text == "-")
    if isinstance(right, Pointer) and isinstance(left, Scalar) and text == "+":
        return advance(state, right, left)
    comparison = pointer_comparison(state, left, right, text)
    if comparison is not None:
        return comparison
    return state.opaque(node, f"operator {text} on {_what(left)} and {_what(right)}", kind=OpaqueKind.DTYPE)


def _what(value: Value) -> str:
    if isinstance(value, Aggregate):
        return value.type.name
    return type(value).__name__.lower()


def _unary(state: State, node: Node) -> Value:
    argument, operator = node.field("argument"), node.field("operator")
    if argument is None or operator is None:
        return state.opaque(node, "operator without operands")
    value = read(state, state.evaluate(argument), argument)
    if isinstance(value, Pointer | Null) and operator.text in ("!", "not"):
        return pointer_comparison(state, value, Null(), "==") or state.opaque(node, "negated address", BOOL)
    result = unary(state, operator.text, scalar(state, value, argument))
    return result or state.opaque(node, f"operator {operator.text}", kind=OpaqueKind.DTYPE)


def _assignment(state: State, node: Node) -> Value:
    left, right, text = _operands(node)
    if left is None or right is None:
        return state.keep(node, "assignment without operands")
    source = state.evaluate(right)
    if text == "=" and is_reinterpreted(state, source):
        place = state.evaluate(left)
        copied = copy_bits(state, place, source)
        if copied is not None:
            return copied
        return _assign(state, bare(left), place, read(state, source, right), node, text)
    value = read(state, source, right)
    place = state.evaluate(left)
    if text != "=":
        old = read(state, place, left)
        if isinstance(old, Aggregate) or isinstance(value, Aggregate):
            value = _memberwise(state, node, (old, value), text.removesuffix("="))
        elif isinstance(old, Pointer) and isinstance(value, Scalar) and text in ("+=", "-="):
            value = advance(state, old, value, backwards=text == "-=")
        else:
            old_number, number = scalar(state, old, left), scalar(state, value, right)
            combined = binary(state, text.removesuffix("="), old_number, number, via=text)
            value = combined or state.opaque(node, f"operator {text}", old_number.dtype, kind=OpaqueKind.DTYPE)
    return _assign(state, bare(left), place, value, node, text)


def _assign(state: State, left: Node, place: Value, value: Value, node: Node, via: str) -> Value:
    """Stores into a variable or element; a name that is an alias becomes an alias of the new value."""
    if isinstance(place, Place | PointerCell):
        return write(state, place, value, node, via)
    if isinstance(place, Aggregate) and isinstance(value, Aggregate) and _is_variable(place):
        for name, member in place.members:
            part = value.member(name)
            if isinstance(member, Place) and part is not None:
                write(state, member, part, node, via)
        return value
    if left.type == "identifier" and state.lookup(left.text) is not None:
        kept = convert(state, value, place.dtype) if isinstance(place, Scalar) and isinstance(value, Scalar) else value
        return kept if state.rebind(left.text, kept) else _unbound(state, node)
    return _assign_member(state, left, value, node)


def _is_variable(value: Aggregate) -> bool:
    """Whether the members are registers."""
    return any(isinstance(member, Place) for _, member in value.members)


def _assign_member(state: State, left: Node, value: Value, node: Node) -> Value:
    argument, field = left.field("argument"), left.field("field")
    owner = state.lookup(argument.text) if left.type == "field_expression" and argument is not None else None
    if argument is None or field is None or not isinstance(owner, Aggregate):
        return state.keep(node, f"assignment to {left.type.replace('_', ' ')}", kind=OpaqueKind.MEMORY)
    members = dict(owner.members)
    old = members.get(field.text)
    if old is None:
        return state.keep(node, f"member {field.text}", kind=OpaqueKind.DTYPE)
    if isinstance(old, Place | PointerCell):
        return write(state, old, value, node)
    if isinstance(old, Scalar) and isinstance(value, Scalar):
        value = convert(state, value, old.dtype)
    members[field.text] = value
    changed = Aggregate(owner.type, tuple(members.items()))
    return value if state.rebind(argument.text, changed) else _unbound(state, node)


def _unbound(state: State, node: Node) -> Nothing:
    return state.keep(node, "assignment in a macro or lambda", kind=OpaqueKind.MEMORY)


def _update(state: State, node: Node) -> Value:
    argument, operator = node.field("argument"), node.field("operator")
    if argument is None or operator is None:
        return state.keep(node, "increment without operand")
    place = state.evaluate(argument)
    old = read(state, place, argument)
    step = operator.text[:1]
    if isinstance(old, Pointer):
        new: Value = advance(state, old, one_of(INT32), backwards=step == "-")
    else:
        number = scalar(state, old, argument)
        new = binary(state, step, number, one_of(number.dtype), via=operator.text) or number
    new = _assign(state, bare(argument), place, new, node, operator.text)
    return new if operator.start == node.start else old


def _subscript(state: State, node: Node) -> Value:
    base_node, indices = node.field("argument"), node.field("indices")
    listed = indices.named if indices is not None else []
    if base_node is None or len(listed) != 1:
        return state.opaque(node, "subscript")
    base = _followed(state, state.evaluate(base_node), base_node)
    index = scalar(state, state.evaluate(listed[0]), listed[0])
    if isinstance(base, Lost):
        return base
    found = element(state, base, index)
    return found if found is not None else state.opaque(node, "subscript of " + _what(base), kind=OpaqueKind.MEMORY)


def _pointer(state: State, node: Node) -> Value:
    argument = node.field("argument")
    if argument is None:
        return state.opaque(node, "address of nothing")
    value = state.evaluate(argument)
    if node.has("&"):
        if isinstance(value, Place):
            return address(value)
        if isinstance(value, Lost):
            return value
        if isinstance(value, Aggregate) and _is_variable(value):
            return Handle(value)
        return state.opaque(node, f"address of {_what(value)}", UINT64, kind=OpaqueKind.MEMORY)
    value = _followed(state, value, argument)
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
        member = member_place(state, owner, field.text)
    elif isinstance(owner, Lost):
        return owner
    return member if member is not None else state.opaque(node, f"member {field.text}", kind=OpaqueKind.DTYPE)


def _followed(state: State, value: Value, node: Node) -> Value:
    """`value`, loaded where it is a pointer that lies in memory."""
    is_pointer = isinstance(value, Place) and not value.remaining and value.type.kind is TypeKind.POINTER
    return read(state, value, node) if is_pointer else value


def _comma(state: State, node: Node) -> Value:
    left, right, _ = _operands(node)
    if left is None or right is None:
        return state.opaque(node, "comma")
    state.evaluate(left)
    return state.evaluate(right)


def _qualified(state: State, node: Node) -> Value:
    """A name with a scope, or `T{...}`: resolved as if it were called with the arguments in braces."""
    return state.resolve_call(node)


def _size(state: State, node: Node) -> Value:
    operand = node.field("type") or node.field("value")
    if operand is None:
        return state.opaque(node, "size of nothing", UINT64)
    operand = bare(operand)
    is_type = node.field("type") is not None or operand.type in ("template_function", "qualified_identifier")
    type_: CType | None = type_of(state, operand) if is_type else named_type(state, operand.text)
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
