"""C++ types as declarations write them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from portcheck.core.dtype import CONCRETE, DType, dtype_named
from portcheck.frontends.cuda.model.constants import constant_of
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.traits import trait
from portcheck.frontends.cuda.model.types_of_libraries import library_path, library_template
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    CType,
    Handle,
    Lost,
    Place,
    Pointer,
    PointerCell,
    Scalar,
    Slot,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.definitions import declared_name
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.knowledge import ConstructKind

_DEEPEST_ALIAS = 16
_RECORDS = frozenset({"struct_specifier", "class_specifier", "union_specifier"})
VOID = CType(kind=TypeKind.VOID, name="void")
DEDUCED = CType(kind=TypeKind.DEDUCED, name="auto")


@dataclass(frozen=True, slots=True)
class Declared:
    """A declarator read: the name, its type, the extents of an array (None: not given), whether it is one."""

    name: str
    type: CType
    extents: tuple[Node | None, ...] = ()


@cache
def scalar_type(dtype: DType, name: str = "") -> CType:
    """The C++ type of a number in `dtype`, spelled `name`."""
    return CType(kind=TypeKind.SCALAR, name=name or dtype.name, dtype=dtype)


def pointer_to(target: CType) -> CType:
    """The type of a pointer to `target`."""
    return CType(kind=TypeKind.POINTER, name=f"{target.name}*", target=target)


def type_of(state: State, node: Node | None, constant: bool = False, volatile: bool = False) -> CType:
    """The type a type specifier names."""
    if node is None:
        return DEDUCED
    return _qualified_by(_specified(state, node, 0), constant, volatile)


def base_type(state: State, declaration: Node) -> CType:
    """The type that a declaration begins with, its qualifiers included."""
    return type_of(state, declaration.field("type"), declaration.has("const"), declaration.has("volatile"))


def _qualified_by(type_: CType, constant: bool, volatile: bool) -> CType:
    if not constant and not volatile:
        return type_
    return replace(type_, constant=type_.constant or constant, volatile=type_.volatile or volatile)


def named_type(state: State, name: str, depth: int = 0, at: Node | None = None) -> CType:
    """The type called `name`: a template argument, an alias of the file, a known CUDA type; else unknown."""
    bound = state.lookup(name)
    if isinstance(bound, CType):
        return bound
    if name == "void":
        return VOID
    facts = state.knowledge.cuda_dtype(name)
    if facts is not None and facts.name in CONCRETE:
        return scalar_type(dtype_named(facts.name), name)
    macro = state.macros.get(name)
    if macro is not None and macro.parameters is None and depth < _DEEPEST_ALIAS:
        return named_type(state, macro.body, depth + 1)
    definition = state.definitions.types_called(name, at)
    if definition is not None and depth < _DEEPEST_ALIAS:
        return defined(state, name, definition, depth + 1)
    return _known_construct(state, name)


def _known_construct(state: State, name: str) -> CType:
    construct = state.construct(name)
    if construct is not None and construct.kind is ConstructKind.TYPE and construct.dtype:
        facts = state.knowledge.dtype(construct.dtype)
        if facts is not None and construct.lanes == 1:
            return scalar_type(dtype_named(facts.name), name)
        if facts is not None:
            return _vector(construct.name, scalar_type(dtype_named(facts.name)), construct.lanes)
    return CType(kind=TypeKind.UNKNOWN, name=name)


@cache
def _vector(name: str, element: CType, lanes: int) -> CType:
    members = tuple((member, element) for member in "xyzw"[:lanes])
    return CType(kind=TypeKind.VECTOR, name=name, fields=members)


def vector_type(state: State, dtype: DType, lanes: int, maker: str = "") -> CType | None:
    """The short vector of `lanes` numbers of `dtype`; of several, the one that `maker`, which makes one, is named for.

    Two types may be made of the same numbers, such as `long2` and `longlong2`.
    """
    found = [
        name for name, construct in state.knowledge.types.items()
        if construct.lanes == lanes and construct.dtype == dtype.name
    ]  # fmt: skip
    found.sort(key=lambda name: len(name) if maker.endswith(name) else 0, reverse=True)
    types = (named_type(state, name) for name in found)
    return next((type_ for type_ in types if type_.kind is TypeKind.VECTOR), None)


def _specified(state: State, node: Node, depth: int) -> CType:
    match node.type:
        case "placeholder_type_specifier" | "auto":
            return DEDUCED
        case "type_descriptor":
            inner = node.field("type")
            base = _specified(state, inner, depth) if inner is not None else DEDUCED
            base = _qualified_by(base, node.has("const"), node.has("volatile"))
            return declare(state, base, node.field("declarator")).type
        case "sized_type_specifier":
            return named_type(state, " ".join(child.text for child in node.children), depth)
        case "template_type" | "template_function":
            return _template(state, node)
        case "dependent_type" if node.named:
            return _specified(state, node.named[-1], depth)
        case "qualified_identifier":
            return _qualified(state, node, depth)
        case kind if kind in _RECORDS and node.field("body") is not None:
            named = node.field("name")
            return state.instantiate(named.text if named is not None else f"{node.type}@{node.start}", node, ())
        case kind if kind in _RECORDS or kind == "enum_specifier":
            named = node.field("name")
            return named_type(state, named.text if named is not None else "int", depth, named)
        case "decltype" if node.named:
            return _type_of_expression(state, node.named[0])
        case _:
            pass
    return named_type(state, node.text, depth, node)


def _template(state: State, node: Node) -> CType:
    """A type with template arguments."""
    named, listed = node.field("name"), node.field("arguments")
    name = named.text if named is not None else node.text
    known = trait(state, node)
    if isinstance(known, CType):
        return known
    definition = state.definitions.types_called(name, node)
    if definition is None and name not in state.definitions.specialisations:
        return library_template(state, name, listed.named if listed is not None else [])
    return state.instantiate(name, definition, tuple(listed.named) if listed is not None else ())


def _qualified(state: State, node: Node, depth: int) -> CType:
    known = named_type(state, node.text, depth, node)
    named = state.construct(node.text) if known.kind is TypeKind.UNKNOWN else None
    if named is not None and named.kind is ConstructKind.TYPE:
        return known
    scope, name = node.field("scope"), node.field("name")
    if known.kind is not TypeKind.UNKNOWN or name is None:
        return known
    standard = trait(state, node)
    if isinstance(standard, CType):
        return standard
    library = library_path(state, node)
    if library.kind is not TypeKind.UNKNOWN:
        return library
    owner = scope_type(state, scope, depth)
    if owner is not None and name.type in ("type_identifier", "identifier"):
        if owner.kind is TypeKind.LIBRARY:
            return replace(owner, name=f"{owner.name}::{name.text}")
        found = state.member_name(owner, name.text)
        return found if isinstance(found, CType) else CType(kind=TypeKind.UNKNOWN, name=node.text)
    return _specified(state, name, depth)


def scope_type(state: State, scope: Node | None, depth: int = 0) -> CType | None:
    """The record that a scope names; None for a namespace."""
    if scope is None:
        return None
    if scope.type == "namespace_identifier":
        bound = state.lookup(scope.text)
        is_defined = isinstance(bound, CType) or scope.text in state.definitions.types
        type_ = named_type(state, scope.text, depth, scope) if is_defined else None
    else:
        type_ = _specified(state, scope, depth)
    is_class = type_ is not None and type_.kind in (TypeKind.RECORD, TypeKind.LIBRARY)
    return type_ if is_class else None


def _type_of_expression(state: State, node: Node) -> CType:
    """What `decltype` gives."""
    with state.builder.region():
        found = type_of_value(state.evaluate(node))
    return found if found is not None else CType(kind=TypeKind.UNKNOWN, name=f"decltype({node.text})")


def type_of_value(value: Value, through_pointer: bool = False) -> CType | None:
    """The type of a value, or of what an address points to; None where that is not known."""
    match value:
        case Lost():
            return None
        case Scalar(dtype=dtype) if not through_pointer:
            return scalar_type(dtype)
        case Place(type=type_, remaining=0) if not through_pointer:
            return type_
        case Place(type=type_, remaining=remaining) if through_pointer and remaining:
            return type_
        case Place(type=CType(kind=TypeKind.ARRAY, target=target)) if through_pointer:
            return target
        case Pointer(type=type_) | PointerCell(type=type_):
            return type_ if through_pointer else pointer_to(type_)
        case Aggregate(type=type_) if not through_pointer:
            return type_
        case Handle(target=target) if through_pointer:
            return type_of_value(target)
        case Slot(target=CType() as target):
            return target if through_pointer else pointer_to(target)
        case _:
            pass
    return None


def is_constant(value: Value) -> bool:
    """Whether what `value` is, or points to, may not be changed through it; so it is with what is no variable."""
    type_ = type_of_value(value, through_pointer=True) or type_of_value(value)
    return isinstance(value, Scalar) or (type_ is not None and type_.constant)


def as_constant(value: Value, constant: bool) -> Value:
    """A record, or its address, as one that is constant or not: that chooses among its functions."""
    match value:
        case Aggregate() if value.type.kind is TypeKind.RECORD:
            types = dict(value.type.fields)
            members = tuple(
                (name, as_constant(member, constant or types[name].constant) if _is_held(member) else member)
                for name, member in value.members
            )
            return Aggregate(replace(value.type, constant=constant), members)
        case Place() | Pointer() if value.type.kind is TypeKind.RECORD:
            return replace(value, type=replace(value.type, constant=constant))
        case Handle(target=target):
            held = as_constant(target, constant)
            return Handle(held) if isinstance(held, Aggregate) else value
        case _:
            pass
    return value


def _is_held(member: Value) -> bool:
    """Whether a member is a record itself, which is constant with what it is part of; not one it leads to."""
    return isinstance(member, Aggregate | Place) and member.type.kind is TypeKind.RECORD


def complete(state: State, type_: CType) -> CType:
    """`type_` with its members, where it was named before they were known."""
    if type_.kind is not TypeKind.RECORD or type_.fields or type_.name not in state.records:
        return type_
    known = state.records[type_.name].type
    return replace(type_, kind=known.kind, fields=known.fields)


def element_type_of(type_: CType) -> CType:
    """What an array is made of, else the type itself."""
    while type_.kind is TypeKind.ARRAY and type_.target is not None:
        type_ = type_.target
    return type_


def arrays_of(state: State, declared: Declared) -> CType:
    """The type that a declarator gives, the extents of an array made part of it; 0 for one that is not known."""
    type_ = declared.type
    for extent in reversed(declared.extents):
        count = constant_of(state, extent) if extent is not None else None
        type_ = array_of(type_, count or 0)
    return type_


def array_of(element: CType, extent: int) -> CType:
    """The type of an array of so many elements."""
    return CType(kind=TypeKind.ARRAY, name=f"{element.name}[]", target=element, extent=extent)


def defined(state: State, name: str, definition: Node, depth: int = 0) -> CType:
    """The type `name` that a typedef, alias, record or enumeration defines."""
    match definition.type:
        case "type_definition":
            inner = definition.field("type")
            if inner is not None and inner.type in _RECORDS and inner.field("name") is None:
                base = state.instantiate(name, inner, ())
            else:
                base = _specified(state, inner, depth) if inner is not None else DEDUCED
            declarators = definition.fields("declarator")
            declarator = next((found for found in declarators if declared_name(found) == name), None)
            if declarator is None or depth >= _DEEPEST_ALIAS:
                return base
            return arrays_of(state, declare(state, base, declarator))
        case "alias_declaration":
            inner = definition.field("type")
            return _specified(state, inner, depth) if inner is not None else DEDUCED
        case "enum_specifier":
            return named_type(state, "int")
        case _:
            pass
    return state.instantiate(name, definition, ())


def declare(state: State, base: CType, declarator: Node | None, is_result: bool = False) -> Declared:
    """What `declarator` makes of the type `base`; as a function's result, what stands around the function."""
    type_, node = base, declarator
    extents: list[Node | None] = []
    while node is not None:
        match node.type:
            case "array_declarator" | "abstract_array_declarator":
                extents.append(node.field("size"))
            case "identifier" | "type_identifier" | "field_identifier" | "qualified_identifier":
                return Declared(node.text, type_, tuple(reversed(extents)))
            case "function_declarator" | "abstract_function_declarator" if is_result:
                return Declared("", type_)
            case kind if kind in _WRAPPING:
                type_ = _wrapped(kind, arrays_of(state, Declared("", type_, tuple(reversed(extents)))))
                extents = []
            case _:
                pass
        node = node.field("declarator") or _nested(node)
    return Declared("", type_, tuple(reversed(extents)))


_WRAPPING = frozenset(
    {
        "pointer_declarator", "abstract_pointer_declarator", "reference_declarator", "abstract_reference_declarator",
        "function_declarator", "abstract_function_declarator",
    }
)  # fmt: skip


def _wrapped(kind: str, type_: CType) -> CType:
    """What the part `kind` of a declarator makes of the type around it."""
    if kind.endswith("pointer_declarator"):
        return pointer_to(type_)
    if kind.endswith("reference_declarator"):
        return replace(type_, reference=True)
    return CType(kind=TypeKind.UNKNOWN, name="function")


def _nested(node: Node) -> Node | None:
    kinds = (
        "reference_declarator", "abstract_reference_declarator", "parenthesized_declarator",
        "abstract_parenthesized_declarator", "init_declarator",
    )  # fmt: skip
    if node.type not in kinds:
        return None
    return next((child for child in node.named if child.type != "type_qualifier"), None)
