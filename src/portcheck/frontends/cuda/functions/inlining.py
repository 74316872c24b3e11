"""Helpers of the same text: their bodies are put in where they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.cuda.functions.changes import mutations_of
from portcheck.frontends.cuda.functions.overloads import chosen_for, instance_text
from portcheck.frontends.cuda.functions.packs import sized, sized_lambda
from portcheck.frontends.cuda.functions.results import allocate_registers, result_of
from portcheck.frontends.cuda.memory.copies import snapshot
from portcheck.frontends.cuda.memory.places import read
from portcheck.frontends.cuda.memory.vectors import variable_members
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.frames import Frame, Scope
from portcheck.frontends.cuda.model.instances import shown_argument
from portcheck.frontends.cuda.model.records import MemberScope
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.templates import (
    bind_template,
    template_arguments,
)
from portcheck.frontends.cuda.model.types import (
    DEDUCED,
    VOID,
    Declared,
    arrays_of,
    base_type,
    declare,
    pointer_to,
    scalar_type,
    type_of,
    type_of_value,
)  # fmt: skip
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    Closure,
    CType,
    Lost,
    Nothing,
    Place,
    Scalar,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.definitions import Function, declared_name, simple_name
from portcheck.frontends.cuda.parsing.namespaces import space_of
from portcheck.frontends.cuda.parsing.returns import returns, returns_early, returns_inside_loop
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.statements.declarations import bind_reference, bound_value, seen_as_declared
from portcheck.frontends.cuda.statements.exits import open_exit
from portcheck.ir import OpaqueKind

_DEEPEST = 48
_EFFECTS = ("call_expression", "assignment_expression", "update_expression")


_BRACES = "initializer_list"


def helper_call(state: State, call: CallSite, written: str) -> Value | None:
    """The call of a function whose text is at hand, `written` so; None where none so called takes these arguments."""
    values = [Nothing() if argument.type == _BRACES else state.evaluate(argument) for argument in call.arguments]
    free = [
        sized(state, found, len(call.templates), values)
        for found in state.definitions.functions.get(call.name, [])
        if not _is_method(state, found)
    ]
    types = [type_of_value(value) or type_of_value(value, through_pointer=True) for value in values]
    records = [state.records[type_.name].node for type_ in types if type_ is not None and type_.name in state.records]
    free = state.definitions.functions_called(free, call.node, map(space_of, records), written)
    function = chosen_for(state, free, call, values)
    if not isinstance(function, Function):
        return function
    for position, (parameter, argument) in enumerate(zip(function.parameters, call.arguments, strict=False)):
        if argument.type == _BRACES:
            type_ = declare(state, type_of(state, parameter.field("type")), parameter.field("declarator")).type
            values[position] = state.make(type_, argument.named, argument, "")
    return inline(state, function, call, values)


def _is_method(state: State, function: Function) -> bool:
    """Whether a function defined by a name with scopes belongs to a record, not a namespace."""
    if function.scope is None:
        return False
    return function.scope.type == "template_type" or simple_name(function.scope) in state.definitions.types


def inline(
    state: State, function: Function, call: CallSite, values: list[Value], around: Sequence[Scope] = (),
    before: Callable[[], None] | None = None,
) -> Value | None:  # fmt: skip
    """The call of `function` with these arguments; `around` are the names of the record it belongs to.

    `before` is what happens between its parameters and its body. None where it cannot be put in.
    """
    body = function.body
    given = template_arguments(state, function, call)
    owners = [scope.record.name for scope in around if isinstance(scope, MemberScope)]
    key = ("function", function.name, function.node.key, *owners, *map(instance_text, given), len(values))
    depth = sum(1 for instance in state.instances if instance[0] == "function")
    if body is None:
        return None
    if key in state.instances:
        return state.opaque(call.node, f"recursive call of {call.name}", kind=OpaqueKind.CALL)
    if depth >= _DEEPEST or not state.has_room:
        return _too_deep(state, function, call, around)
    if function.node.is_broken:
        return state.opaque(call.node, f"call of {call.name}, part of which does not parse")

    values = [*values]
    for position, (parameter, node) in enumerate(zip(function.parameters, call.arguments, strict=False)):
        if position < len(values):
            values[position] = _made_of_number(state, parameter, values[position], node)

    def bind() -> CType:
        state.scopes = [*around, state.new_scope()]
        if not around or function.scope is None:
            bind_template(state, function, given, values)
            state.instance = tuple(shown_argument(binding) for binding in state.scopes[-1].values())
        _bind_parameters(state, function, body, (call, values))
        if before is not None:
            before()
        return result_type(state, function)

    names = (declared_name(parameter.field("declarator")) for parameter in function.parameters)
    return _inlined(state, key, (call, body), bind, dict(zip(names, values, strict=False)))


def _too_deep(state: State, function: Function, call: CallSite, around: Sequence[Scope]) -> Value:
    """A call that is not followed any further: a number of the type that is declared, or nothing."""
    outer = state.scopes
    state.scopes = [*around, state.new_scope()]
    try:
        declared = result_type(state, function)
    finally:
        state.scopes = outer
    reason = "calls nested too deeply"
    if declared.kind is TypeKind.VOID:
        return state.keep(call.node, reason, kind=OpaqueKind.LIMIT)
    return state.opaque(call.node, reason, declared.dtype or FLOAT32, kind=OpaqueKind.LIMIT)


def _made_of_number(state: State, parameter: Node, value: Value, node: Node) -> Value:
    """`value`, or where it is a number and the parameter a record by name, the record that is made of it."""
    specifier = parameter.field("type")
    is_named = specifier is not None and specifier.type in ("type_identifier", "qualified_identifier")
    if isinstance(value, Lost) or not is_named or not _is_number(value) or node.found(*_EFFECTS):
        return value
    type_ = declare(state, base_type(state, parameter), parameter.field("declarator")).type
    if type_.kind is not TypeKind.RECORD or type_.name not in state.records:
        return value
    return state.make(replace(type_, reference=False), [node], node, "")


def _is_number(value: Value) -> bool:
    type_ = type_of_value(value)
    return type_ is not None and type_.kind is TypeKind.SCALAR


def _inlined(
    state: State, key: tuple[object, ...], called: tuple[CallSite, Node], bind: Callable[[], CType],
    given: Mapping[str, Value],
) -> Value:  # fmt: skip
    """The body put in where it is called with the arguments `given`.

    `bind` makes the scopes it sees and gives the type of its result.
    """
    call, body = called
    held = (state.scopes, state.statement, state.depth, state.mutations, state.exits, state.breaks, state.labels)
    instance = state.instance
    state.instances.append(key)
    state.statement, state.exits, state.breaks, state.labels = None, [], [], {}
    state.mutations = mutations_of(state, body, given)
    frame = Frame(call.name, VOID)
    try:
        with state.builder.region() as emitted:
            frame.result_type = bind()
            frame.depth = state.builder.depth
            _run(state, frame, body)
    finally:
        state.instances.pop()
        state.instance = instance
        state.scopes, state.statement, state.depth, state.mutations, state.exits, state.breaks, state.labels = held
    allocate_registers(state, frame)
    state.builder.adopt(emitted)
    return result_of(state, frame, call.node)


def _run(state: State, frame: Frame, body: Node) -> None:
    if returns_inside_loop(body):
        frame.exit = open_exit(state, f"{frame.name}.returned", returns)
        state.exits.append(frame.exit)
    if frame.result_type.kind in (TypeKind.VECTOR, TypeKind.RECORD) and returns_early(body):
        frame.slot = variable_members(state, f"{frame.name}.result", frame.result_type, None, body, True)
    state.frames.append(frame)
    try:
        with state.scope():
            state.execute_all(body.named)
    finally:
        state.frames.pop()


def _bind_parameters(state: State, function: Function, body: Node, given: tuple[CallSite, list[Value]]) -> None:
    call, values = given
    for position, parameter in enumerate(function.parameters):
        base = base_type(state, parameter)
        declared = declare(state, base, parameter.field("declarator"))
        if not declared.name:
            continue
        default = parameter.field("default_value")
        node = call.arguments[position] if position < len(values) else default
        if node is None:
            continue
        value = values[position] if position < len(values) else state.evaluate(node)
        _bind(state, node, declared, value, body)


def _bind(state: State, node: Node, declared: Declared, value: Value, body: Node) -> None:
    found = _argument(state, node, declared, value, body)
    if declared.type.reference:
        bind_reference(state, declared, found, node)
    else:
        state.bind(declared.name, found)


def _argument(state: State, node: Node, declared: Declared, value: Value, body: Node) -> Value:
    """What a parameter is bound to: the place itself for a reference or array, else a variable with that value."""
    if declared.extents and isinstance(value, Place) and value.remaining == len(declared.extents):
        return value
    if declared.type.reference and not (declared.type.constant and isinstance(value, Place) and not value.index):
        return seen_as_declared(state, value, declared.type)
    if declared.extents:
        row = arrays_of(state, Declared(declared.name, declared.type, declared.extents[1:]))
        declared = Declared(declared.name, pointer_to(row))
    value = state.copy(value, declared.type, node)
    kept = snapshot(state, value, declared.name)
    if kept is not None:
        return kept
    value = seen_as_declared(state, read(state, value, node), declared.type)
    changes = state.mutations
    is_changed = changes is None or changes.is_changed(declared.name, body.start, body.end)
    is_straight = changes is not None and changes.is_straight(declared.name, body.start, body)
    type_ = declared.type
    if type_.kind is TypeKind.RECORD and not isinstance(value, Scalar | Aggregate):
        return value
    if type_.kind in (TypeKind.UNKNOWN, TypeKind.RECORD, TypeKind.DEDUCED):
        declared = Declared(declared.name, scalar_type(value.dtype) if isinstance(value, Scalar) else DEDUCED)
    return bound_value(state, node, declared, value, (is_changed, is_straight))


def result_type(state: State, function: Function) -> CType:
    """What `function` returns: the `*` of `float* f()` stands around its declarator; a constructor has no type."""
    declarator, specifier = function.node.field("declarator"), function.node.field("type")
    if declarator is not None and declarator.type == "operator_cast":
        return declare(state, type_of(state, declarator.field("type")), declarator.field("declarator"), True).type
    if specifier is None:
        return VOID
    is_around = declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator")
    return declare(state, type_of(state, specifier), declarator if is_around else None, True).type


def closure_call(state: State, call: CallSite, closure: Closure, given: list[Value] | None = None) -> Value:
    """The call of a lambda; `given` are its arguments where they are known already."""
    node = sized_lambda(state, closure.node, len(call.arguments if given is None else given))
    body, declarator = node.field("body"), node.field("declarator")
    parameters = declarator.field("parameters") if declarator is not None else None
    key = ("function", call.name, node.key)
    if body is None or key in state.instances or len(state.instances) > _DEEPEST:
        return state.opaque(call.node, f"call of lambda {call.name}", kind=OpaqueKind.CALL)
    listed = [node for node in (parameters.named if parameters is not None else []) if node.field("type") is not None]
    if len(listed) != len(call.arguments):
        return state.opaque(call.node, f"call of lambda {call.name}", kind=OpaqueKind.CALL)
    values = given if given is not None else [state.evaluate(argument) for argument in call.arguments]

    def bind() -> CType:
        state.scopes = [*closure.scopes, state.new_scope()]
        for node, argument, value in zip(listed, call.arguments, values, strict=True):
            declared = declare(state, base_type(state, node), node.field("declarator"))
            _bind(state, argument, declared, value, body)
        return _lambda_result(state, declarator)

    names = (declared_name(parameter.field("declarator")) for parameter in listed)
    return _inlined(state, key, (call, body), bind, dict(zip(names, values, strict=True)))


def _lambda_result(state: State, declarator: Node | None) -> CType:
    """The type after the arrow of a lambda; deduced without one."""
    trailing = [node for node in declarator.named if node.type == "trailing_return_type"] if declarator else []
    return type_of(state, trailing[0].named[0]) if trailing and trailing[0].named else DEDUCED
