"""Functions of records: found by name, put in with the record's own names around them."""

from __future__ import annotations

from collections.abc import Callable

from portcheck.core.dtype import DType
from portcheck.frontends.cuda.functions.inlining import inline, result_type
from portcheck.frontends.cuda.functions.overloads import chosen_for, signature
from portcheck.frontends.cuda.functions.packs import sized
from portcheck.frontends.cuda.memory.members import as_base, is_punned, member_place, member_value
from portcheck.frontends.cuda.memory.places import pointer_of, read, target
from portcheck.frontends.cuda.memory.vectors import in_memory, is_variable, variable_members
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.frames import Scope
from portcheck.frontends.cuda.model.records import Record, names_of
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.templates import template_parameters
from portcheck.frontends.cuda.model.types import (
    as_constant,
    complete,
    element_type_of,
    named_type,
    type_of,
    type_of_value,
)
from portcheck.frontends.cuda.model.values import (
    BASE,
    Aggregate,
    CType,
    Handle,
    Place,
    Pointer,
    PointerCell,
    Scalar,
    Slot,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.definitions import CONVERSION, Function
from portcheck.frontends.cuda.parsing.namespaces import joined, space_of
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import OpaqueKind

THIS = "this"


def record_of(state: State, type_: CType | None) -> Record | None:
    """What is known of the record `type_`; None for any other type."""
    return state.records.get(type_.name) if type_ is not None and type_.kind is TypeKind.RECORD else None


def owner_of(state: State, value: Value) -> Value:
    """What `value` is a member function called on: what a pointer points to, else itself."""
    if isinstance(value, Handle):
        return value.target
    if isinstance(value, Pointer | PointerCell | Slot):
        pointer = pointer_of(state, value)
        return target(pointer) if pointer is not None else value
    return value


def functions_of(state: State, record: Record, name: str) -> list[tuple[Record, Function]]:
    """The functions called `name` of a record, or of the nearest base that has some."""
    inside = record.functions.get(name, [])
    outside = [
        found for found in state.definitions.scoped.get(record.simple_name, [])
        if found.name == name and _is_of(state, record, found)
    ]  # fmt: skip
    if inside or outside:
        return [(record, function) for function in _without_specialised(state, record, [*inside, *outside])]
    for base in record.bases:
        found = functions_of(state, base, name)
        if found:
            return found
    return []


def _without_specialised(state: State, record: Record, functions: list[Function]) -> list[Function]:
    """`functions` without those of the record's template that these arguments have others for."""
    special = [function for function in functions if function.is_special and not function.specialised]
    if not special:
        return functions
    with names_of(state, record), state.builder.region():
        replaced = [(signature(state, function), function.is_constant) for function in special]
        return [
            function for function in functions
            if function.is_special or (signature(state, function), function.is_constant) not in replaced
        ]  # fmt: skip


def _is_of(state: State, record: Record, function: Function) -> bool:
    """Whether a function defined outside belongs to these arguments of its record's template."""
    scope, spaces = function.scope, state.definitions.spaces.get(record.simple_name, ())
    if len(spaces) > 1 and function.space != joined(space_of(record.node), record.simple_name):
        return False
    if scope is None or scope.type != "template_type":
        return not record.arguments
    listed = template_parameters(function.template)
    if listed:
        return record.node.field("name") is not None and bool(template_parameters(_parameters_of(record.node)))
    return type_of(state, scope).name == record.name


def has_destructor(state: State, record: Record) -> bool:
    """Whether something happens when a variable of a record, or of a member or base of it, ceases to be."""
    name = f"~{record.simple_name}"
    own = [function for holder, function in functions_of(state, record, name) if holder is record]
    if any(function.body is not None and function.body.named for function in own) or (record.is_ending and not own):
        return True
    inner = (record_of(state, element_type_of(type_)) for _, type_ in record.type.fields if not type_.reference)
    return any(found is not None and has_destructor(state, found) for found in inner)


def method_call(state: State, call: CallSite, owner: Value | None, record: Record, values: list[Value]) -> Value | None:
    """The call of a function of `record` on `owner` (None: on none); None where no such function is at hand."""
    count = len(call.templates)
    found = [(holder, sized(state, one, count, values)) for holder, one in functions_of(state, record, call.name)]
    function = chosen_for(state, [function for _, function in found], call, values, owner) if found else None
    if not isinstance(function, Function):
        return function
    holder = next(holder for holder, candidate in found if candidate is function)
    if record.is_virtual and (function.node.has("virtual") or _hides(state, holder, call.name)):
        return state.opaque(call.node, f"virtual call of {call.name}", kind=OpaqueKind.CALL)
    return call_on(state, call, function, (holder, owner), values)


def _hides(state: State, record: Record, name: str) -> bool:
    """Whether bases have functions called like one of `record` that are not virtual: which is meant is not followed."""
    found = [function for base in record.bases for _, function in functions_of(state, base, name)]
    return bool(found) and not any(function.node.has("virtual") for function in found)


def call_on(
    state: State, call: CallSite, function: Function, held: tuple[Record, Value | None], values: list[Value],
    before: Callable[[], None] | None = None,
) -> Value | None:  # fmt: skip
    """Puts in a function of a record; `held` are the record that defines it and what it is called on."""
    holder, owner = held
    scopes = [*holder.scopes, *_renamed(holder, function)]
    if owner is not None:
        owner = as_base(state, _addressable(state, owner, call.node), holder.type)
        owner = as_constant(owner, True) if function.is_constant else owner
        scopes.append(_members(state, owner))
    return inline(state, function, call, values, scopes, before)


def _addressable(state: State, owner: Value, node: Node) -> Value:
    """`owner` as a variable: what is only a value is put into registers."""
    if isinstance(owner, Aggregate) and owner.members and not is_variable(owner):
        if is_punned(state, owner.type):
            return in_memory(state, owner.type.name, owner.type, owner, node)
        return variable_members(state, owner.type.name, owner.type, owner, node, True)
    return owner


def _members(state: State, owner: Value) -> Scope:
    """The names of the members of `owner`, and `this`."""
    scope = Scope(0)
    _add_members(state, owner, scope)
    if isinstance(owner, Place):
        scope[THIS] = Pointer(owner.buffer, owner.index, owner.type, owner.rest)
    elif isinstance(owner, Aggregate):
        scope[THIS] = Handle(owner)
    return scope


def _add_members(state: State, owner: Value, scope: Scope) -> None:
    type_ = complete(state, type_of_value(owner) or CType(kind=TypeKind.UNKNOWN))
    for name, _ in type_.fields:
        member = member_value(owner, name) if isinstance(owner, Aggregate) else None
        if isinstance(owner, Place):
            member = member_place(state, owner, name)
        if member is None:
            continue
        if name.startswith(BASE):
            _add_members(state, member, scope)
        else:
            scope[name] = member


def _renamed(record: Record, function: Function) -> list[Scope]:
    """The template parameters of `record` as a function outside of it calls them."""
    listed = function.scope.field("arguments") if function.scope is not None else None
    own = [name for name, _, _ in template_parameters(_parameters_of(record.node))]
    names = Scope(0)
    for argument, name in zip(listed.named if listed is not None else (), own, strict=False):
        bound = record.scopes[-1].get(name)
        if bound is not None:
            names[argument.text] = bound
    return [names] if names else []


def _parameters_of(node: Node) -> Node | None:
    parent = node.parent
    return parent.field("parameters") if parent is not None and parent.type == "template_declaration" else None


def converted(state: State, value: Value, wanted: CType | DType | None, node: Node) -> Value | None:
    """`value` converted by a conversion function of its record: to the type wanted, or to any number."""
    record = record_of(state, type_of_value(value))
    if record is None:
        return None
    found = functions_of(state, record, CONVERSION)
    best: tuple[Record, Function] | None = None
    for holder, function in found:
        with names_of(state, holder):
            type_ = result_type(state, function)
        fits = type_.dtype == wanted if isinstance(wanted, DType) else wanted is None or type_.kind is wanted.kind
        if fits or (best is None and not isinstance(wanted, CType)):
            best = (holder, function)
        if fits:
            break
    if best is None:
        return None
    result = call_on(state, CallSite(node, CONVERSION, (), ()), best[1], (best[0], value), [])
    return read(state, result, node) if result is not None else None


def number_of(state: State, value: Value, node: Node, dtype: DType | None) -> Scalar | None:
    """The number that a record converts to; None where it does to none."""
    found = converted(state, value, dtype, node)
    return found if isinstance(found, Scalar) else None


def operator_call(state: State, node: Node, name: str, operands: list[tuple[Node, Value]]) -> Value | None:
    """The operator function `name` for these operands: of the first one's record, else a free one."""
    values = [value for _, value in operands]
    record = record_of(state, type_of_value(values[0]))
    if record is not None:
        call = CallSite(node, name, (), tuple(operand for operand, _ in operands[1:]))
        found = method_call(state, call, owner_of(state, values[0]), record, values[1:])
        if found is not None:
            return found
    functions = state.definitions.functions.get(name, [])
    free = [function for function in functions if function.scope is None]
    if not free:
        return None
    call = CallSite(node, name, (), tuple(operand for operand, _ in operands))
    function = chosen_for(state, [function for function in free if _takes(state, function, values)], call, values)
    return inline(state, function, call, values) if isinstance(function, Function) else function


def _takes(state: State, function: Function, values: list[Value]) -> bool:
    """Whether a parameter of `function` names the record or vector of an argument, where there is one."""
    types = [type_of_value(value) for value in values]
    templates = {name for name, _, _ in template_parameters(function.template)}
    if len(function.parameters) != len(values):
        return False
    for parameter, type_ in zip(function.parameters, types, strict=True):
        specifier = parameter.field("type")
        if type_ is None or specifier is None or type_.kind not in (TypeKind.RECORD, TypeKind.VECTOR):
            continue
        named = specifier.field("name") if specifier.type == "template_type" else specifier
        text = named.text if named is not None else specifier.text
        if text not in templates and not _names(state, text, type_, named or specifier):
            return False
    return True


def _names(state: State, text: str, type_: CType, at: Node) -> bool:
    bound = named_type(state, text, at=at)
    return type_.name in (text, bound.name) or type_.name.partition("<")[0] == text.rpartition("::")[2]
