"""Types of CUDA's libraries with template arguments: fragments, classes for threads that work together, pairs."""

from __future__ import annotations

from dataclasses import replace

from portcheck.frontends.cuda.model.constants import constant_of
from portcheck.frontends.cuda.model.fragment_types import fragment_type
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import CType, TypeKind
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.knowledge import Construct, Role, Semantics

_ATOMIC = frozenset({Semantics.ATOMIC_OBJECT, Semantics.ATOMIC_REFERENCE})


def library_template(state: State, name: str, arguments: list[Node]) -> CType:
    """A type of CUDA's libraries with template arguments: fragments are followed."""
    unknown = CType(kind=TypeKind.UNKNOWN, name=name)
    construct = state.construct(name)
    if construct is not None and construct.semantics is Semantics.FACILITY:
        return _facility(state, construct, arguments)
    if construct is not None and construct.semantics in _ATOMIC:
        return _atomic(state, construct, arguments)
    if construct is not None and construct.semantics is Semantics.PAIR:
        return _pair(state, construct, arguments)
    if construct is None or construct.semantics is not Semantics.FRAGMENT_TYPE:
        return unknown
    types = [state.type_of(argument) for argument in arguments]
    words = [found for type_ in types if (found := state.construct(type_.name)) is not None]
    values = [argument.field("type") or argument for argument in arguments]
    numbers = [number for value in values if (number := constant_of(state, value)) is not None]
    dtype = next((type_.dtype for type_ in types if type_.dtype is not None), None)
    return fragment_type(state, words, numbers, dtype) or unknown


def _facility(state: State, construct: Construct, arguments: list[Node]) -> CType:
    """A class whose objects make threads work together; `extent` is its number of lanes where that is an argument."""
    lanes, pattern = (_argument(construct, role, arguments) for role in (Role.WIDTH, Role.PATTERN))
    count = constant_of(state, lanes.field("type") or lanes) if lanes is not None else 0
    if count is None:
        return CType(kind=TypeKind.UNKNOWN, name=construct.name)
    words = (pattern.text,) if pattern is not None else ()
    return CType(kind=TypeKind.LIBRARY, name=construct.name, extent=count, words=words)


def _argument(construct: Construct, role: Role, arguments: list[Node]) -> Node | None:
    """The template argument that plays `role`."""
    position = construct.index_of(role)
    return arguments[position] if position is not None and position < len(arguments) else None


def _atomic(state: State, construct: Construct, arguments: list[Node]) -> CType:
    """A number whose every use is atomic, seen by the threads of a scope; or a reference to one."""
    unknown = CType(kind=TypeKind.UNKNOWN, name=construct.name)
    type_ = state.type_of(arguments[0]) if arguments else unknown
    scope = construct.scope
    if len(arguments) > 1:
        named = state.construct(arguments[1].text)
        scope = named.scope if named is not None else None
    if type_.kind is not TypeKind.SCALAR or type_.dtype is None or scope is None:
        return unknown
    is_reference = construct.semantics is Semantics.ATOMIC_REFERENCE
    return replace(type_, name=construct.name, words=(scope.value,), volatile=True, reference=is_reference)


def _pair(state: State, construct: Construct, arguments: list[Node]) -> CType:
    """Two numbers under the names the class has for them; those of different sizes are not followed."""
    types = [state.type_of(argument) for argument in arguments]
    facts = [state.knowledge.dtype(type_.dtype.name) if type_.dtype is not None else None for type_ in types]
    names = [parameter.name for parameter in construct.parameters]
    widths = {None if found is None else found.bits for found in facts}
    if len(names) != len(types) or len(widths) != 1 or None in widths:
        return CType(kind=TypeKind.UNKNOWN, name=construct.name)
    return CType(kind=TypeKind.VECTOR, name=construct.name, fields=tuple(zip(names, types, strict=True)))


def library_path(state: State, node: Node) -> CType:
    """A template of CUDA's libraries by its name with scopes, or what it calls a type of its own."""
    names: list[str] = []
    found: CType | None = None
    part: Node | None = node
    while part is not None:
        own = part.field("scope") if part.type == "qualified_identifier" else part
        part = part.field("name") if part.type == "qualified_identifier" else None
        inner, listed = (own.field("name"), own.field("arguments")) if own is not None else (None, None)
        if own is not None and own.type == "dependent_name" and own.named:
            inner, listed = own.named[0].field("name"), own.named[0].field("arguments")
        if found is None and inner is not None and listed is not None:
            found = library_template(state, "::".join([*names, inner.text]), listed.named)
        elif found is not None and own is not None:
            found = replace(found, name=f"{found.name}::{own.text}")
        names.append(own.text if own is not None else "")
    is_library = found is not None and (found.kind is not TypeKind.UNKNOWN)
    return found if found is not None and is_library else CType(kind=TypeKind.UNKNOWN, name=node.text)
