"""Calls: which of the many things a call may be it is."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.cuda.cooperation.atomic_objects import (
    is_atomic_object,
    is_atomic_type,
    object_method,
    seen_atomically,
)
from portcheck.frontends.cuda.cooperation.combining import functor_call
from portcheck.frontends.cuda.cooperation.facilities import facility_function, facility_method
from portcheck.frontends.cuda.cooperation.groups import method, operator_object
from portcheck.frontends.cuda.cooperation.objects_of_libraries import facility_of, operator_named
from portcheck.frontends.cuda.expressions.casts import cast_to
from portcheck.frontends.cuda.expressions.names import constant, function_name, function_pointer, identifier, variable
from portcheck.frontends.cuda.functions.inlining import closure_call, helper_call
from portcheck.frontends.cuda.functions.methods import THIS, functions_of, method_call, owner_of, record_of
from portcheck.frontends.cuda.memory.members import as_base, member_place, member_value
from portcheck.frontends.cuda.memory.places import pointer_of, read
from portcheck.frontends.cuda.model.callsite import CallSite, qualified_name, read_call
from portcheck.frontends.cuda.model.frames import collect
from portcheck.frontends.cuda.model.reach import changed, mentioned
from portcheck.frontends.cuda.model.records import MemberScope, Record
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.traits import trait
from portcheck.frontends.cuda.model.types import named_type, scope_type, type_of, type_of_value
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    Closure,
    CType,
    Facility,
    FunctionName,
    Functor,
    Group,
    Handle,
    Lost,
    Nothing,
    Place,
    Pointer,
    PointerCell,
    Scalar,
    Slot,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.obstacles import construct_kind
from portcheck.frontends.cuda.parsing.parse import parse_expression
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.frontends.cuda.provided.fragments import new_fragment
from portcheck.frontends.cuda.provided.intrinsics import known_call
from portcheck.frontends.cuda.statements.arrays import initial_value
from portcheck.ir import Call, Expr, Opaque, OpaqueKind, Ref, ValueType
from portcheck.knowledge import Construct, ConstructKind

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
    bound = state.lookup(call.name) or function_pointer(state, call.name)
    held = _held_call(state, call, bound)
    if held is not None:
        return held
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
        inlined = helper_call(state, CallSite(call.node, short, call.templates, call.arguments), call.name)
        if inlined is not None:
            return inlined
    type_ = bound if isinstance(bound, CType) else named_type(state, call.name, at=call.node)
    if type_.kind is TypeKind.UNKNOWN and call.node.type == "call_expression":
        type_ = _written_type(state, call) or type_
    if type_.kind in (TypeKind.SCALAR, TypeKind.VECTOR, TypeKind.RECORD):
        return _constructor(state, call, type_)
    library = facility_of(state, type_) or new_fragment(state, type_, call)
    if library is not None:
        return library
    functor = operator_named(state, call.name)
    if functor is not None and not call.arguments:
        return functor
    construct = state.construct(call.name)
    if construct is not None and construct.kind is ConstructKind.INSTRUCTION:
        construct = None  # known as assembly, which is no function
    if construct is not None and construct.value is not None and not call.arguments:
        return identifier(state, call.node, call.name)
    if construct is not None:
        known = known_call(state, call, construct)
        if known is not None:
            return known
    own = facility_function(state, call) if construct is None else None
    return own if own is not None else unknown_call(state, call, construct)


def _held_call(state: State, call: CallSite, bound: object) -> Value | None:
    """The call of a function object, or of a function of a record: its own from inside, a static one by its scope."""
    function = call.node.field("function")
    if isinstance(bound, Functor):
        return functor_call(state, call, bound)
    if isinstance(bound, Aggregate | Place):
        record = record_of(state, type_of_value(bound))
        return _on_record(state, call, bound, record, "operator()") if record is not None else None
    if bound is not None:
        return None
    if function is not None and function.type == "qualified_identifier" and call.node.type == "call_expression":
        owner, name = scope_type(state, function.field("scope")), call.name.rpartition("::")[2]
        record = record_of(state, owner)
        this = state.lookup(THIS)
        is_base = isinstance(this, Pointer | Handle)
        on = owner_of(state, this) if is_base and isinstance(this, Pointer | Handle) else None
        return _on_record(state, call, on, record, name) if record is not None else None
    this = state.lookup(THIS)
    if isinstance(this, Pointer | Handle):
        on = owner_of(state, this)
        record = record_of(state, type_of_value(on))
        return _on_record(state, call, on, record, call.name) if record is not None else None
    for scope in reversed(state.scopes):
        record = scope.record if isinstance(scope, MemberScope) else None
        found = _on_record(state, call, None, record, call.name) if record is not None else None
        if found is not None:
            return found
    return None


def _on_record(state: State, call: CallSite, owner: Value | None, record: Record, name: str) -> Value | None:
    """The call of the function `name` of a record, its arguments evaluated only if there is one."""
    if not functions_of(state, record, name):
        return None
    values = [state.evaluate(argument) for argument in call.arguments]
    return method_call(state, CallSite(call.node, name, call.templates, call.arguments), owner, record, values)


def _written_type(state: State, call: CallSite) -> CType | None:
    """The type that is called as a constructor by a name with scopes or template arguments."""
    function = call.node.field("function")
    forms = ("template_function", "qualified_identifier", "dependent_type")
    return type_of(state, function) if function is not None and function.type in forms else None


def _is_known_elsewhere(state: State, name: str) -> bool:
    """Whether a qualified name belongs to CUDA although a function of the file has the same last part."""
    return "::" in name and state.construct(name) is not None


def unknown_call(state: State, call: CallSite, construct: Construct | None) -> Value:
    """A call of something whose source is not at hand, or of a construct of CUDA that has no lowering."""
    operands: list[Expr] = []
    reads: dict[str, None] = {}
    for argument in call.arguments:
        value = state.evaluate(argument)
        if isinstance(value, Closure):
            reads.update(dict.fromkeys(mentioned(state, argument)[0]))
        collect(value, reads, {})
        if pointer_of(state, value) is not None:
            continue
        value = read(state, value, argument)
        if isinstance(value, Scalar):
            operands.append(value.expr)
        elif isinstance(value, Aggregate):
            operands.extend(member.expr for _, member in value.members if isinstance(member, Scalar))
    has_result = call.node.key != state.statement
    touched = {
        "reads": tuple(reads),
        "writes": changed(state, reads),
        "type": ValueType(FLOAT32) if has_result else None,
    }
    operation: Call | Opaque
    if construct is None:
        operation = state.builder.emit(Call, callee=call.name, arguments=tuple(operands), via=call.name, **touched)
    else:
        operation = state.builder.emit(
            Opaque, reason=f"{call.name} is not modelled", kind=construct_kind(construct), operands=tuple(operands),
            via=call.name, **touched,
        )  # fmt: skip
    return Lost(Ref(operation.id, FLOAT32), FLOAT32) if has_result else Nothing()


def _cast(state: State, call: CallSite) -> Value:
    if len(call.templates) != 1 or len(call.arguments) != 1:
        return state.opaque(call.node, call.name)
    type_ = type_of(state, call.templates[0])
    return cast_to(state, call.node, call.arguments[0], type_, call.name)


def _constructor(state: State, call: CallSite, type_: CType) -> Value:
    """`T(a, b)` of a number, vector or record."""
    if is_atomic_type(type_) and type_.reference and len(call.arguments) == 1:
        found = seen_atomically(state.evaluate(call.arguments[0]), type_)
        return found or state.opaque(call.node, f"cast to {type_.name}", kind=OpaqueKind.DTYPE)
    if type_.kind is TypeKind.SCALAR and len(call.arguments) == 1:
        return cast_to(state, call.node, call.arguments[0], type_, call.name)
    return initial_value(state, type_, list(call.arguments), call.node)


def _method(state: State, node: Node, function: Node, arguments: Node | None) -> Value:
    owner_node, field = function.field("argument"), function.field("field")
    if owner_node is None or field is None:
        return state.opaque(node, "call of a method", kind=OpaqueKind.CALL)
    owner = state.evaluate(owner_node)
    if isinstance(owner, Slot) and not isinstance(owner.value, Pointer | PointerCell):
        owner = owner.value
    name, templates = qualified_name(state, field)
    name = name or field.text
    call = CallSite(node, name, tuple(templates), tuple(arguments.named if arguments is not None else ()))
    if isinstance(owner, Group):
        return method(state, call, owner)
    if isinstance(owner, Facility):
        return facility_method(state, call, owner)
    if isinstance(owner, Lost):
        return _unknown_method(state, node, f"call of method {name} of something unknown")
    on = owner_of(state, owner)
    if isinstance(on, Place) and is_atomic_object(on):
        return object_method(state, call, on)
    record = record_of(state, type_of_value(on))
    if (
        record is not None
        and bare(owner_node).type == "conditional_expression"
        and any(not function.is_constant for _, function in functions_of(state, record, name))
    ):
        return state.opaque(node, "function that may change one of two", kind=OpaqueKind.CALL)
    if record is not None:
        found = _on_record(state, call, on, record, "".join(name.split()))
        if found is not None:
            return found
    called = _member_object(state, on, name)
    if called is not None:
        inner = record_of(state, type_of_value(called))
        found = _on_record(state, call, called, inner, "operator()") if inner is not None else None
        if found is not None:
            return found
    for argument in call.arguments:
        read(state, state.evaluate(argument), argument)
    return _unknown_method(state, node, f"call of method {name}")


def _unknown_method(state: State, node: Node, reason: str) -> Value:
    if node.key == state.statement:
        return state.keep(node, reason, kind=OpaqueKind.CALL)
    return state.opaque(node, reason, kind=OpaqueKind.CALL)


def _member_object(state: State, owner: Value, name: str) -> Value | None:
    """The member of `owner` that is called like a function."""
    if isinstance(owner, Aggregate):
        return member_value(owner, name)
    return member_place(state, owner, name) if isinstance(owner, Place) else None


def _computed_callee(state: State, node: Node, function: Node | None, arguments: Node | None) -> Value:
    callee = state.evaluate(function) if function is not None else Nothing()
    call = CallSite(node, "function", (), tuple(arguments.named if arguments is not None else ()))
    if isinstance(callee, Closure):
        return closure_call(state, call, callee)
    on = owner_of(state, callee)
    record = record_of(state, type_of_value(on))
    if record is not None:
        found = _on_record(state, call, on, record, "operator()")
        if found is not None:
            return found
    known = functor_call(state, call, callee) if isinstance(callee, Functor) else None
    if known is not None:
        return known
    if isinstance(callee, FunctionName):
        return _named_call(state, CallSite(node, callee.name, (), call.arguments))
    return state.opaque(node, "call of a computed function", kind=OpaqueKind.CALL)


def _bare_name(state: State, node: Node) -> Value:
    """A name with scopes or template arguments that is not called."""
    name, templates = qualified_name(state, node)
    construct = state.construct(name)
    short = name.rpartition("::")[2]
    known = trait(state, node)
    if isinstance(known, Scalar):
        return known
    owner = scope_type(state, node.field("scope")) if node.type == "qualified_identifier" else None
    if owner is not None:
        member = state.member_name(owner, short)
        if member is not None and not isinstance(member, CType):
            return member
        hidden = _of_base(state, owner, short)
        if hidden is not None:
            return hidden
    if construct is not None and construct.value is not None:
        return identifier(state, node, name)
    if not templates:
        found = constant(state, short, node) or variable(state, short, node)
        if found is not None:
            return found
    if short in state.definitions.functions:
        return function_name(state, short, node)
    return state.opaque(node, f"unknown name {name}", kind=OpaqueKind.CALL)


def _of_base(state: State, base: CType, name: str) -> Value | None:
    """The member that a base, named as its scope, has of what a function is called on."""
    this = state.lookup(THIS)
    part = as_base(state, owner_of(state, this), base) if isinstance(this, Pointer | Handle) else None
    type_ = type_of_value(part) if part is not None else None
    return _member_object(state, part, name) if part is not None and type_ and type_.name == base.name else None


def _braced(state: State, node: Node) -> Value:
    """`T{...}`: a function object, a number or a vector."""
    type_node, value = node.field("type"), node.field("value")
    if type_node is None or value is None:
        return state.opaque(node, "braces")
    functor = operator_object(state, type_node)
    if functor is not None:
        return functor
    type_ = type_of(state, type_node)
    if is_atomic_type(type_) and type_.reference:
        return _constructor(state, CallSite(node, type_.name, (), tuple(value.named)), type_)
    if type_.kind is TypeKind.SCALAR and len(value.named) == 1:
        return cast_to(state, node, value.named[0], type_, type_.name)
    return initial_value(state, type_, value.named, node)
