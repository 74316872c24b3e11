"""Calls: which of the many things a call may be it is."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.cuda.callsite import CallSite, qualified_name, read_call
from portcheck.frontends.cuda.casts import cast_to
from portcheck.frontends.cuda.declarations import initial_value
from portcheck.frontends.cuda.groups import method, operator_named, operator_object
from portcheck.frontends.cuda.inlining import closure_call, helper_call
from portcheck.frontends.cuda.intrinsics import known_call
from portcheck.frontends.cuda.names import constant, identifier
from portcheck.frontends.cuda.obstacles import construct_kind
from portcheck.frontends.cuda.parse import parse_expression
from portcheck.frontends.cuda.places import pointer_of, read
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.syntax import Node, bare
from portcheck.frontends.cuda.types import named_type, type_of
from portcheck.frontends.cuda.values import (
    Aggregate,
    Closure,
    CType,
    FunctionName,
    Group,
    Nothing,
    Place,
    Scalar,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.ir import Call, Expr, Opaque, OpaqueKind, Ref, ValueType
from portcheck.knowledge import Construct

_CASTS = frozenset({"static_cast", "const_cast", "reinterpret_cast", "dynamic_cast"})
_BARE_NAMES = frozenset({"qualified_identifier", "template_function"})


def resolve_call(state: State, node: Node) -> Value:
    """What a call, a name with scopes, or `T{...}` stands for."""
    if node.type in _BARE_NAMES:
        return _bare_name(state, node)
    if node.type == "compound_literal_expression":
        return _braced(state, node)
    function, arguments = node.field("function"), node.field("arguments")
    if any(child.type == "kernel_call_syntax" for child in node.children):
        return state.keep(node, "launch of a kernel from a kernel", kind=OpaqueKind.LAUNCH)
    if function is not None and function.type == "field_expression":
        return _method(state, node, function, arguments)
    call = read_call(state, node, bare(function) if function is not None else None, arguments)
    if call is None:
        return _computed_callee(state, node, function, arguments)
    return _named_call(state, call)


def _named_call(state: State, call: CallSite) -> Value:
    if call.name in _CASTS:
        return _cast(state, call)
    bound = state.lookup(call.name)
    if isinstance(bound, FunctionName):
        call = CallSite(call.node, bound.name, call.templates, call.arguments)
    elif isinstance(bound, Closure):
        return closure_call(state, call, bound)
    macro = state.macros.get(call.name)
    if macro is not None and macro.parameters is not None:
        return state.opaque(call.node, f"macro {call.name}", kind=OpaqueKind.CALL)
    if macro is not None and bound is None:
        renamed = parse_expression(macro.body, call.node.span)
        name = qualified_name(state, bare(renamed))[0] if renamed is not None else ""
        if name and name != call.name and state.macros.get(name) is not macro:
            call = CallSite(call.node, name, call.templates, call.arguments)
    short = call.name.rpartition("::")[2]
    if short in state.definitions.functions and not _is_known_elsewhere(state, call.name):
        inlined = helper_call(state, CallSite(call.node, short, call.templates, call.arguments))
        if inlined is not None:
            return inlined
    type_ = bound if isinstance(bound, CType) else named_type(state, call.name)
    if type_.kind in (TypeKind.SCALAR, TypeKind.VECTOR, TypeKind.RECORD):
        return _constructor(state, call, type_)
    functor = operator_named(state, call.name)
    if functor is not None and not call.arguments:
        return functor
    construct = state.construct(call.name)
    if construct is not None:
        known = known_call(state, call, construct)
        if known is not None:
            return known
    return unknown_call(state, call, construct)


def _is_known_elsewhere(state: State, name: str) -> bool:
    """Whether a qualified name belongs to CUDA although a function of the file has the same last part."""
    return "::" in name and state.construct(name) is not None


def unknown_call(state: State, call: CallSite, construct: Construct | None) -> Value:
    """A call of something whose source is not at hand, or of a construct of CUDA that has no lowering."""
    operands: list[Expr] = []
    reads: dict[str, None] = {}
    for argument in call.arguments:
        value = state.evaluate(argument)
        pointer = pointer_of(state, value)
        if pointer is not None:
            reads[pointer.buffer] = None
            continue
        if isinstance(value, Place):
            reads[value.buffer] = None
        value = read(state, value, argument)
        if isinstance(value, Scalar):
            operands.append(value.expr)
        elif isinstance(value, Aggregate):
            operands.extend(member.expr for _, member in value.members if isinstance(member, Scalar))
    written = tuple(name for name in reads if name in state.buffers and not state.buffers[name].constant)
    has_result = call.node.key != state.statement
    touched = {"reads": tuple(reads), "writes": written, "type": ValueType(FLOAT32) if has_result else None}
    operation: Call | Opaque
    if construct is None:
        operation = state.builder.emit(Call, callee=call.name, arguments=tuple(operands), via=call.name, **touched)
    else:
        operation = state.builder.emit(
            Opaque, reason=f"{call.name} is not modelled", kind=construct_kind(construct), operands=tuple(operands),
            via=call.name, **touched,
        )  # fmt: skip
    return Scalar(Ref(operation.id, FLOAT32), FLOAT32) if has_result else Nothing()


def _cast(state: State, call: CallSite) -> Value:
    if len(call.templates) != 1 or len(call.arguments) != 1:
        return state.opaque(call.node, call.name)
    type_ = type_of(state, call.templates[0])
    return cast_to(state, call.node, call.arguments[0], type_, call.name)


def _constructor(state: State, call: CallSite, type_: CType) -> Value:
    """`T(a, b)` of a number, vector or record."""
    if type_.kind is TypeKind.SCALAR and len(call.arguments) == 1:
        return cast_to(state, call.node, call.arguments[0], type_, call.name)
    return initial_value(state, type_, list(call.arguments), call.node)


def _method(state: State, node: Node, function: Node, arguments: Node | None) -> Value:
    owner_node, field = function.field("argument"), function.field("field")
    if owner_node is None or field is None:
        return state.opaque(node, "call of a method", kind=OpaqueKind.CALL)
    owner = state.evaluate(owner_node)
    name, templates = qualified_name(state, field)
    name = name or field.text
    call = CallSite(node, name, tuple(templates), tuple(arguments.named if arguments is not None else ()))
    if isinstance(owner, Group):
        return method(state, call, owner)
    for argument in call.arguments:
        read(state, state.evaluate(argument), argument)
    reason = f"call of method {name}"
    if node.key == state.statement:
        return state.keep(node, reason, kind=OpaqueKind.CALL)
    return state.opaque(node, reason, kind=OpaqueKind.CALL)


def _computed_callee(state: State, node: Node, function: Node | None, arguments: Node | None) -> Value:
    callee = state.evaluate(function) if function is not None else Nothing()
    call = CallSite(node, "function", (), tuple(arguments.named if arguments is not None else ()))
    if isinstance(callee, Closure):
        return closure_call(state, call, callee)
    if isinstance(callee, FunctionName):
        return _named_call(state, CallSite(node, callee.name, (), call.arguments))
    return state.opaque(node, "call of a computed function", kind=OpaqueKind.CALL)


def _bare_name(state: State, node: Node) -> Value:
    """A name with scopes or template arguments that is not called."""
    name, templates = qualified_name(state, node)
    construct = state.construct(name)
    short = name.rpartition("::")[2]
    if construct is not None and construct.value is not None:
        return identifier(state, node, name)
    if not templates:
        found = constant(state, short)
        if found is not None:
            return found
    if short in state.definitions.functions:
        return FunctionName(short)
    return state.opaque(node, f"unknown name {name}", kind=OpaqueKind.CALL)


def _braced(state: State, node: Node) -> Value:
    """`T{...}`: a function object, a number or a vector."""
    type_node, value = node.field("type"), node.field("value")
    if type_node is None or value is None:
        return state.opaque(node, "braces")
    functor = operator_object(state, type_node)
    if functor is not None:
        return functor
    type_ = type_of(state, type_node)
    if type_.kind is TypeKind.SCALAR and len(value.named) == 1:
        return cast_to(state, node, value.named[0], type_, type_.name)
    return initial_value(state, type_, value.named, node)
