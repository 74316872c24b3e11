"""Declarations inside a body: aliases, variables, arrays, shared memory."""

from __future__ import annotations

from dataclasses import replace

from portcheck.frontends.cuda.cooperation.objects_of_libraries import facility_of, library_object
from portcheck.frontends.cuda.memory.copies import snapshot
from portcheck.frontends.cuda.memory.members import as_base
from portcheck.frontends.cuda.memory.places import cell_for, pointer_of, read, scalar
from portcheck.frontends.cuda.memory.vectors import is_variable, variable_members
from portcheck.frontends.cuda.model.conversions import constructed, materialised
from portcheck.frontends.cuda.model.frames import Scope
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import Declared, as_constant, base_type, declare, scalar_type, type_of
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    CType,
    Facility,
    Group,
    Handle,
    Lost,
    Null,
    Place,
    Pointer,
    Scalar,
    Slot,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.parse import parse_expression
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.frontends.cuda.statements.arrays import array_variable, initial_value
from portcheck.frontends.cuda.statements.initialisers import is_too_much
from portcheck.frontends.cuda.statements.shared_memory import SHARED, shared_variable
from portcheck.ir import (
    Const,
    OpaqueKind,
)

_STATIC = "static"
_CONSTANT = "const"
_LVALUES = frozenset(
    {
        "identifier", "field_expression", "subscript_expression", "pointer_expression", "cast_expression",
        "conditional_expression", "assignment_expression", "update_expression", "comma_expression",
    }
)  # fmt: skip


def declaration(state: State, node: Node, scope: Node | None) -> None:
    """Declares everything in a declaration; `scope` is the block it stands in."""
    is_constant = node.has("const") or node.has("constexpr")
    base = type_of(state, node.field("type"), is_constant, node.has("volatile"))
    declarators = node.fields("declarator")
    for declarator in declarators:
        with state.builder.at(node):
            read_ = declare(state, base, declarator)
            library = facility_of(state, read_.type)
            if library is not None:
                state.bind(read_.name, library)
            elif node.has(SHARED):
                state.bind(read_.name, shared_variable(state, node, read_))
            elif node.has(_STATIC) and _is_kept(state, declarator, read_, scope):
                reason = f"{read_.name} is one for all threads and calls"
                state.bind(read_.name, state.opaque(node, reason, kind=OpaqueKind.MEMORY))
            elif declarator.type == "function_declarator":
                _constructed(state, node, declarator, base, scope)
            else:
                _local(state, declarator, read_, scope)


def _is_kept(state: State, declarator: Node, declared: Declared, scope: Node | None) -> bool:
    """Whether a static variable holds what other threads and earlier calls left in it."""
    is_number = not declared.extents and declared.type.kind is TypeKind.SCALAR
    changes = state.mutations
    is_changed = scope is None or changes is None or changes.is_changed(declared.name, declarator.end, scope.end)
    return not declared.type.constant and (is_changed or not is_number)


def condition_value(state: State, node: Node) -> Value:
    """The value of what stands in the parentheses of an `if`, `while` or `switch`: an expression or a declaration."""
    declarator, value = node.field("declarator"), node.field("value")
    if node.type != "declaration" or declarator is None or value is None:
        return state.evaluate(node)
    listed = value.named if value.type in ("initializer_list", "argument_list") else [value]
    declared = declare(state, base_type(state, node), declarator)
    declare_variable(state, node, declared, initial_value(state, declared.type, listed, value), None)
    return state.lookup(declared.name)  # type: ignore[return-value]  # a value was bound just now


def constant_array(state: State, declarator: Node, declared: Declared) -> Value | None:
    """An array or record of the file that never changes: made and filled once, at the head of the kernel."""
    initial = declarator.field("value")
    if initial is not None and is_too_much(initial):
        return None
    key = (_CONSTANT, declared.name, declarator.key)
    if key not in state.kept:
        outer = state.scopes
        state.scopes = [Scope(state.builder.depth + 1)]
        try:
            with state.builder.region() as made, state.unmasked():
                _local(state, declarator, declared, None)
            state.kept[key] = state.scopes[0].get(declared.name)
        finally:
            state.scopes = outer
        state.hoisted.extend(made)
    found = state.kept[key]
    return None if isinstance(found, CType) else found


def _constructed(state: State, node: Node, declarator: Node, base: CType, scope: Node | None) -> None:
    """`T v(a, b);`, which the grammar reads as a function: a variable made of its arguments."""
    name = declarator.field("declarator")
    parameters = declarator.field("parameters")
    read_again = [_as_expression(child) for child in (parameters.named if parameters is not None else [])]
    listed = [child for child in read_again if child is not None]
    if name is None or not listed or len(listed) != len(read_again) or base.kind is TypeKind.UNKNOWN:
        state.keep(node, f"declaration of a {base.name}", kind=OpaqueKind.DTYPE)
        return
    if base.kind is TypeKind.RECORD:
        _record(state, Declared(name.text, base), listed, node)
        return
    if base.reference and len(listed) == 1:
        bind_reference(
            state, Declared(name.text, base), seen_as_declared(state, state.evaluate(listed[0]), base), listed[0]
        )
        return
    value = initial_value(state, base, listed, node)
    declare_variable(state, declarator, Declared(name.text, base), value, scope)


def _as_expression(parameter: Node) -> Node | None:
    """What was read as a parameter, as the expression it is."""
    type_ = parameter.field("type")
    if type_ is not None and type_.start == parameter.start and type_.end == parameter.end:
        return type_
    return parse_expression(parameter.text, parameter.span)


def _local(state: State, declarator: Node, declared: Declared, scope: Node | None) -> None:
    initial = declarator.field("value") if declarator.type == "init_declarator" else None
    listed = [initial] if initial is not None else []
    if initial is not None and initial.type in ("initializer_list", "argument_list"):
        listed = initial.named
    if declared.type.reference and len(listed) == 1:
        found = seen_as_declared(state, state.evaluate(listed[0]), declared.type)
        bind_reference(state, declared, found, listed[0])
        return
    if declared.extents or declared.type.kind is TypeKind.ARRAY:
        array_variable(state, declarator, declared, initial)
        return
    if initial is not None and listed == [initial] and declared.type.kind in (TypeKind.VECTOR, TypeKind.DEDUCED):
        source = state.evaluate(initial)
        is_made = isinstance(source, Place) and (source.type.reference or source.type.name in state.fragments)
        if is_made and declared.type.kind is TypeKind.DEDUCED and initial.type == "call_expression":
            state.bind(declared.name, source)
            return
        kept = snapshot(state, source, declared.name)
        if kept is not None:
            state.bind(declared.name, kept)
            return
        declare_variable(state, declarator, declared, read(state, source, initial), scope)
        return
    if declared.type.kind is TypeKind.RECORD:
        _record(state, declared, listed, initial if initial is not None else declarator)
        return
    if initial is None:
        declare_variable(state, declarator, declared, None, scope)
        return
    declare_variable(state, declarator, declared, initial_value(state, declared.type, listed, initial), scope)


def _record(state: State, declared: Declared, listed: list[Node], node: Node) -> None:
    """A variable of a record; what was made for it is the variable, what was there before is copied."""
    value = state.make(declared.type, listed, node, declared.name)
    if isinstance(value, Aggregate) and not is_variable(value):
        value = variable_members(state, declared.name, declared.type, value, node, True)
    state.bind(declared.name, as_constant(value, declared.type.constant))


def seen_as_declared(state: State, value: Value, type_: CType) -> Value:
    """What a reference or pointer of `type_` stands for: the base it names, never to be changed where it says so."""
    if type_.reference and type_.words and isinstance(value, Place) and type_.dtype == value.type.dtype:
        return replace(value, type=type_)
    target = type_.target if type_.kind is TypeKind.POINTER else type_
    if type_.kind is TypeKind.DEDUCED and (type_.constant or not type_.reference) and isinstance(value, Aggregate):
        return as_constant(value, type_.constant)
    if target is None or target.kind is not TypeKind.RECORD:
        return value
    value = as_base(state, value, type_)
    return as_constant(value, target.constant)


def bind_reference(state: State, declared: Declared, value: Value, node: Node) -> None:
    """Binds a reference to what `node` names.

    Where that is known as a value only, the name cannot be given another one: nobody else would see it.
    """
    is_lvalue = bare(node).type in _LVALUES
    is_value = isinstance(value, Scalar | Pointer | Null) or (isinstance(value, Aggregate) and not is_variable(value))
    state.bind(declared.name, value, is_fixed=is_lvalue and is_value)


def declare_variable(state: State, node: Node, declared: Declared, value: Value | None, scope: Node | None) -> None:
    """Binds a local: to its value while nothing changes it, else to a register."""
    changes = state.mutations
    is_changed = scope is None or changes is None or changes.is_changed(declared.name, node.end, scope.end)
    is_changed = is_changed and not declared.type.constant
    is_straight = scope is not None and changes is not None and changes.is_straight(declared.name, node.end, scope)
    state.bind(declared.name, bound_value(state, node, declared, value, (is_changed, is_straight)))


def bound_value(state: State, node: Node, declared: Declared, value: Value | None, change: tuple[bool, bool]) -> Value:
    """What a variable with this initial value is bound to; `change` is whether it is changed, and only straight."""
    is_changed, is_straight = change
    type_ = declared.type
    library = library_object(state, type_, value)
    if library is not None:
        return library
    value = seen_as_declared(state, value, type_) if value is not None else None
    if type_.kind is TypeKind.DEDUCED and isinstance(value, Scalar):
        type_ = scalar_type(value.dtype)
    has_members = isinstance(value, Aggregate) or type_.kind is TypeKind.VECTOR
    if has_members and (value is None or isinstance(value, Aggregate | Scalar)):
        is_record = isinstance(value, Aggregate) and value.type.kind is not TypeKind.VECTOR
        is_register = is_record or (is_changed and not is_straight)
        return variable_members(state, declared.name, type_, value, node, is_register)
    if isinstance(value, Place) and value.remaining:
        value = pointer_of(state, value)
    if type_.kind is TypeKind.SCALAR and type_.dtype is not None:
        number = None
        if value is not None:
            number = constructed(state, scalar(state, value, node, type_.dtype), type_, type_.dtype)
        may_alias = number is not None and (not is_changed or (is_straight and type_.dtype.is_integer))
        if number is not None and may_alias:
            return number
        if number is None and is_changed and is_straight and type_.dtype.is_integer:
            return Scalar(Const(0, type_.dtype), type_.dtype)
        place = state.register(declared.name, type_.dtype)
        if number is not None:
            state.store(place, materialised(state, number))
        return place
    if isinstance(value, Pointer):
        return _pointer_variable(state, declared, value, is_changed and not is_straight)
    if value is None and type_.kind is TypeKind.RECORD:
        return variable_members(state, declared.name, type_, None, node, True)
    if value is None:
        if type_.kind is TypeKind.POINTER:
            target = type_.target if type_.target is not None and type_.target.kind is not TypeKind.VOID else None
            return Slot(state.builder.depth, Null(), declared.name, target)
        value = _unread(state, node, type_)
    if isinstance(value, Null) and is_changed and not is_straight and type_.target is not None:
        return Slot(state.builder.depth, value, declared.name, type_.target, is_null=True)
    if isinstance(value, Facility | Group | Lost | Handle) or not is_changed or is_straight:
        return value
    number = value if isinstance(value, Scalar) else _unread(state, node, type_)
    place = state.register(declared.name, number.dtype)
    state.store(place, materialised(state, number))
    return place


def _unread(state: State, node: Node, type_: CType) -> Scalar:
    record = state.records.get(type_.name)
    if record is not None and record.is_too_much:
        return state.opaque(node, "variable of too many members", kind=OpaqueKind.LIMIT)
    return state.opaque(node, f"variable of type {type_.name}", kind=OpaqueKind.DTYPE)


def _pointer_variable(state: State, declared: Declared, value: Pointer, moves: bool) -> Value:
    target = declared.type.target if declared.type.kind is TypeKind.POINTER else value.type
    pointer = value
    if target is not None and target.kind not in (TypeKind.VOID, TypeKind.DEDUCED):
        pointer = Pointer(value.buffer, value.index, target, value.rest)
    if not moves:
        return pointer
    return cell_for(state, declared.name, pointer)
