"""C++ types as declarations write them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from portcheck.core.dtype import DType, dtype_named
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.syntax import Node
from portcheck.frontends.cuda.values import CType, TypeKind
from portcheck.knowledge import ConstructKind

_DEEPEST_ALIAS = 16
VOID = CType(kind=TypeKind.VOID, name="void")
DEDUCED = CType(kind=TypeKind.DEDUCED, name="auto")


@dataclass(frozen=True, slots=True)
class Declared:
    """A declarator read: the name, its type, the extents of an array (None: not given), whether it is one."""

    name: str
    type: CType
    extents: tuple[Node | None, ...] = ()


def scalar_type(dtype: DType) -> CType:
    """The C++ type of a number in `dtype`."""
    return CType(kind=TypeKind.SCALAR, name=dtype.name, dtype=dtype)


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


def named_type(state: State, name: str, depth: int = 0) -> CType:
    """The type called `name`: a template argument, an alias of the file, a known CUDA type; else unknown."""
    bound = state.lookup(name)
    if isinstance(bound, CType):
        return bound
    if name == "void":
        return VOID
    facts = state.knowledge.cuda_dtype(name)
    if facts is not None:
        return replace(scalar_type(dtype_named(facts.name)), name=name)
    macro = state.macros.get(name)
    if macro is not None and macro.parameters is None and depth < _DEEPEST_ALIAS:
        return named_type(state, macro.body, depth + 1)
    definition = state.definitions.types.get(name)
    if definition is not None and depth < _DEEPEST_ALIAS:
        return _defined(state, name, definition, depth + 1)
    return _known_construct(state, name)


def _known_construct(state: State, name: str) -> CType:
    construct = state.construct(name)
    if construct is not None and construct.kind is ConstructKind.TYPE and construct.dtype:
        facts = state.knowledge.dtype(construct.dtype)
        if facts is not None and construct.lanes == 1:
            return replace(scalar_type(dtype_named(facts.name)), name=name)
        if facts is not None:
            element = scalar_type(dtype_named(facts.name))
            members = tuple((member, element) for member in "xyzw"[: construct.lanes])
            return CType(kind=TypeKind.VECTOR, name=name, fields=members)
    return CType(kind=TypeKind.UNKNOWN, name=name)


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
        case "template_type" | "template_function" | "dependent_type":
            named = node.field("name")
            return CType(kind=TypeKind.UNKNOWN, name=named.text if named is not None else node.text)
        case "qualified_identifier":
            return _qualified(state, node, depth)
        case "struct_specifier" | "class_specifier" | "enum_specifier":
            named = node.field("name")
            return named_type(state, named.text if named is not None else node.text, depth)
        case _:
            pass
    return named_type(state, node.text, depth)


def _qualified(state: State, node: Node, depth: int) -> CType:
    known = named_type(state, node.text, depth)
    name = node.field("name")
    if known.kind is not TypeKind.UNKNOWN or name is None:
        return known
    if name.type == "template_type":
        inner = name.field("name")
        return CType(kind=TypeKind.UNKNOWN, name=inner.text if inner is not None else name.text)
    return named_type(state, name.text, depth)


def _defined(state: State, name: str, definition: Node, depth: int) -> CType:
    match definition.type:
        case "type_definition":
            inner = definition.field("type")
            base = _specified(state, inner, depth) if inner is not None else DEDUCED
            declarators = definition.fields("declarator")
            return declare(state, base, declarators[0]).type if declarators and depth < _DEEPEST_ALIAS else base
        case "alias_declaration":
            inner = definition.field("type")
            return _specified(state, inner, depth) if inner is not None else DEDUCED
        case "enum_specifier":
            return named_type(state, "int")
        case _:
            pass
    if ("type", name) in state.instances:  # a record that points to itself
        return CType(kind=TypeKind.UNKNOWN, name=name)
    state.instances.append(("type", name))
    try:
        return CType(kind=TypeKind.RECORD, name=name, fields=_record_fields(state, definition, depth))
    finally:
        state.instances.pop()


def _record_fields(state: State, definition: Node, depth: int) -> tuple[tuple[str, CType], ...]:
    body = definition.field("body")
    found: list[tuple[str, CType]] = []
    for member in body.named if body is not None and depth < _DEEPEST_ALIAS else ():
        inner = member.field("type") if member.type == "field_declaration" else None
        if inner is None:
            continue
        base = _specified(state, inner, depth + 1)
        base = _qualified_by(base, member.has("const"), member.has("volatile"))
        for declarator in member.fields("declarator"):
            declared = declare(state, base, declarator)
            unknown = CType(kind=TypeKind.UNKNOWN, name=declared.name)
            found.append((declared.name, unknown if declared.extents else declared.type))
    return tuple(found)


def declare(state: State, base: CType, declarator: Node | None) -> Declared:
    """What `declarator` makes of the type `base`."""
    type_, extents, node = base, [], declarator
    while node is not None:
        match node.type:
            case "pointer_declarator" | "abstract_pointer_declarator":
                type_ = pointer_to(type_)
            case "array_declarator" | "abstract_array_declarator":
                extents.append(node.field("size"))
            case "reference_declarator" | "abstract_reference_declarator":
                type_ = replace(type_, reference=True)
            case "function_declarator" | "abstract_function_declarator":
                type_ = CType(kind=TypeKind.UNKNOWN, name="function")
            case "identifier" | "type_identifier" | "field_identifier" | "qualified_identifier":
                return Declared(node.text, type_, tuple(reversed(extents)))
            case _:
                pass
        node = node.field("declarator") or _nested(node)
    return Declared("", type_, tuple(reversed(extents)))


def _nested(node: Node) -> Node | None:
    kinds = ("reference_declarator", "abstract_reference_declarator", "parenthesized_declarator", "init_declarator")
    if node.type not in kinds:
        return None
    return next((child for child in node.named if child.type != "type_qualifier"), None)
