"""What a struct, class or union defines: members and where they lie, bases, functions, types and constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from portcheck.frontends.cuda.expressions.names import enumerator_value
from portcheck.frontends.cuda.model.constants import constant_of, constant_value
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.frames import Binding, Scope
from portcheck.frontends.cuda.model.layout import Layout, layout
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import arrays_of, declare, defined, pointer_to, type_of
from portcheck.frontends.cuda.model.values import BASE, BIT_FIELD, CType, Scalar, TypeKind
from portcheck.frontends.cuda.parsing.definitions import Function, declared_name, function_of
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Const

RECORDS = frozenset({"struct_specifier", "class_specifier", "union_specifier"})
_MOST_NUMBERS = 2048
"""Numbers of a record, those of its members counted: each may become a variable."""
_MOST_COPIED = 64
"""Elements of an array that count one by one; a longer one is never copied so."""
_PACK = "pragma pack"
_DESTRUCTOR = "destructor_name"
_STATIC = frozenset({"static", "constexpr"})


class MemberScope(Scope):
    """The names of a record that stand for types and constants, found when they are first asked for."""

    def __init__(self, record: Record, find: Callable[[str], Binding | None]) -> None:
        super().__init__(0)
        self.record = record
        self._find = find
        self._missing: set[str] = set()

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        if not isinstance(name, str) or name in self._missing:
            return False
        self._missing.add(name)
        found = self._find(name)
        if found is None:
            return False
        self[name] = found
        return True


@dataclass
class Record:
    """One record, template arguments filled in; `layout` is None where it is not known."""

    name: str
    node: Node
    scopes: tuple[Scope, ...]
    """Its own names last, those of the record around it before."""
    type: CType
    arguments: tuple[Binding, ...] = ()
    offsets: dict[str, int] = field(default_factory=dict)
    layout: Layout | None = None
    numbers: int = 0
    """How many variables one of it would be made of."""
    defaults: dict[str, Node] = field(default_factory=dict)
    bases: list[Record] = field(default_factory=list)
    functions: dict[str, list[Function]] = field(default_factory=dict)
    constants: dict[str, tuple[Node, Node, Node]] = field(default_factory=dict)
    """A static member's name to its declaration, declarator and value."""
    types: dict[str, Node] = field(default_factory=dict)
    enumerators: dict[str, tuple[Node, Node]] = field(default_factory=dict)
    is_virtual: bool = False
    is_ending: bool = False
    """Whether it declares a destructor that is defined elsewhere."""
    assigned: set[str] | None = None

    @property
    def is_too_much(self) -> bool:
        """Whether it has more members than are followed one by one: its type is one that is not known."""
        return self.numbers > _MOST_NUMBERS

    @property
    def is_union(self) -> bool:
        """Whether all members begin at the same byte."""
        return self.node.type == "union_specifier"

    @property
    def moving(self) -> set[str]:
        """The members that its functions assign to after it was made."""
        if self.assigned is None:
            named = [listed for name, listed in self.functions.items() if name != self.simple_name]
            bodies = [function.body for listed in named for function in listed]
            self.assigned = {name for body in bodies if body is not None for name in _assigned(body)}
        return self.assigned

    @property
    def simple_name(self) -> str:
        """Its name as constructors have it: without scopes and template arguments."""
        return self.name.partition("<")[0].rpartition("::")[2].rstrip("'")


def _assigned(body: Node) -> Iterator[str]:
    """The names and members that `body` assigns to."""
    for node in body.below():
        if node.type in ("assignment_expression", "update_expression"):
            target = node.field("left") or node.field("argument")
            member = target.field("field") if target is not None and target.type == "field_expression" else target
            if member is not None:
                yield member.text


@contextmanager
def names_of(state: State, record: Record) -> Iterator[None]:
    """Inside the `with` block names are looked up as in the body of `record`."""
    outer = state.scopes
    state.scopes = list(record.scopes)
    try:
        yield
    finally:
        state.scopes = outer


def build(
    state: State, name: str, node: Node, bindings: dict[str, Binding], around: tuple[Scope, ...] = (),
    arguments: tuple[Binding, ...] = (),
) -> Record:  # fmt: skip
    """The record `name` that `node` defines, read once; `bindings` are its template parameters."""
    known = state.records.get(name)
    if known is not None:
        return known
    incomplete = CType(kind=TypeKind.RECORD, name=name)
    record = Record(name, node, (), incomplete, arguments)
    scope = MemberScope(record, lambda wanted: _found(state, record, wanted))
    scope.update(bindings)
    scope.setdefault(record.simple_name, incomplete)
    record.scopes = (*around, scope)
    state.records[name] = record
    with names_of(state, record), state.builder.region():
        placing = _Placing(state, record)
        placing.bases()
        body = node.field("body")
        for member in body.named if body is not None else ():
            placing.member(member)
        placing.finish()
    scope[record.simple_name] = record.type
    return record


def _found(state: State, record: Record, name: str) -> Binding | None:
    """A nested type, enumerator or constant of `record` or one of its bases."""
    if name in record.types:
        with names_of(state, record):
            return nested_type(state, record, name)
    if name in record.constants:
        with names_of(state, record):
            return _constant(state, *record.constants[name])
    if name in record.enumerators:
        with names_of(state, record):
            return enumerator_value(state, name, *record.enumerators[name])
    for base in record.bases:
        if name in base.scopes[-1]:
            return base.scopes[-1][name]
    return None


def nested_type(state: State, record: Record, name: str) -> CType | None:
    """A type that `record` defines."""
    node = record.types[name]
    if node.type in RECORDS and node.field("body") is not None:
        return build(state, f"{record.name}::{name}", node, {}, record.scopes).type
    return defined(state, name, node)


def _constant(state: State, declaration: Node, declarator: Node, value: Node) -> Binding | None:
    """A static member that is a number known from the text."""
    type_ = declare(state, type_of(state, declaration.field("type")), declarator).type
    with state.builder.region() as emitted:
        number = state.evaluate(value)
    if emitted or not isinstance(number, Scalar):
        return None
    number = convert(state, number, type_.dtype) if type_.dtype is not None else number
    known = constant_value(number.expr) if number.dtype.is_integer else None
    return number if known is None else Scalar(Const(known, number.dtype), number.dtype)


class _Placing:
    """Goes through the members of a record and gives each its place."""

    def __init__(self, state: State, record: Record) -> None:
        self._state = state
        self._record = record
        self._fields: list[tuple[str, CType]] = []
        self._end = 0
        self._alignment = 1
        self._is_known = True

    def bases(self) -> None:
        """Bases come first, in order."""
        clause = next((child for child in self._record.node.named if child.type == "base_class_clause"), None)
        if clause is None:
            return
        self._is_known = self._is_known and not clause.has("virtual")
        for node in clause.named:
            if node.type == "access_specifier":
                continue
            type_ = type_of(self._state, node)
            base = self._state.records.get(type_.name)
            if base is None:
                self._is_known = False
                continue
            self._record.bases.append(base)
            self._record.is_virtual = self._record.is_virtual or base.is_virtual
            self._place(f"{BASE}{base.name}", base.type, is_empty=not base.type.fields)

    def member(self, node: Node) -> None:
        """One member declaration."""
        match node.type:
            case "field_declaration" | "declaration":
                self._declaration(node)
            case "function_definition":
                self._function(node, None)
            case "template_declaration":
                self._template(node)
            case "alias_declaration" | "type_definition":
                self._alias(node)
            case kind if kind in RECORDS or kind == "enum_specifier":
                self._nested(node)
            case _:
                pass

    def _alias(self, node: Node) -> None:
        named = [node.field("name")] if node.type == "alias_declaration" else node.fields("declarator")
        for name in named:
            if name is not None:
                self._record.types[declared_name(name)] = node

    def _template(self, node: Node) -> None:
        parameters = node.field("parameters")
        for inner in node.named:
            if inner.type == "function_definition":
                self._function(inner, parameters)

    def _function(self, node: Node, template: Node | None) -> None:
        self._record.is_virtual = self._record.is_virtual or node.has("virtual")
        function = function_of(node, template)
        if function is not None:
            self._record.functions.setdefault(function.name, []).append(function)

    def _nested(self, node: Node) -> None:
        named, body = node.field("name"), node.field("body")
        if named is not None and body is not None:
            self._record.types[named.text] = node
        for enumerator in body.named if body is not None and node.type == "enum_specifier" else ():
            name = enumerator.field("name")
            if body is not None and name is not None:
                self._record.enumerators[name.text] = (enumerator, body)

    def _declaration(self, node: Node) -> None:
        specifier = node.field("type")
        self._record.is_virtual = self._record.is_virtual or node.has("virtual")
        declarators = node.fields("declarator")
        is_definition = specifier is not None and specifier.type in (*RECORDS, "enum_specifier")
        if specifier is not None and is_definition and specifier.field("body") is not None:
            self._nested(specifier)
            if not declarators and specifier.field("name") is None and specifier.type in RECORDS:
                self._anonymous(specifier)
                return
        if not declarators or specifier is None:
            return
        if any(child.text in _STATIC for child in node.children):
            self._static(node)
            return
        base = type_of(self._state, specifier, node.has("const"), node.has("volatile"))
        alignment = max((alignment_stated(self._state, child) for child in node.named), default=1)
        for declarator, default, is_bits in _with_defaults(node):
            self._record.is_ending = self._record.is_ending or bool(declarator.found(_DESTRUCTOR))
            declared = declare(self._state, base, declarator)
            if declared.type.name == "function":
                continue
            type_ = arrays_of(self._state, declared)
            if is_bits:
                type_ = CType(kind=TypeKind.UNKNOWN, name=BIT_FIELD)
            if default is not None:
                self._record.defaults[declared.name] = default
            self._place(declared.name, type_, alignment)

    def _anonymous(self, specifier: Node) -> None:
        name = f"{BASE}{len(self._fields)}"
        record = build(self._state, f"{self._record.name}::{name}", specifier, {}, self._record.scopes)
        self._record.defaults.update({f"{name}.{field}": node for field, node in record.defaults.items()})
        self._place(name, record.type)

    def _static(self, node: Node) -> None:
        for declarator, default, _ in _with_defaults(node):
            if default is not None:
                self._record.constants[declared_name(declarator)] = (node, declarator, default)

    def _place(self, name: str, type_: CType, alignment: int = 1, is_empty: bool = False) -> None:
        self._fields.append((name, type_))
        self._record.numbers += _numbers_of(self._state, type_)
        found = layout(self._state, pointer_to(type_) if type_.reference else type_)
        if found is None:
            self._is_known = False
            return
        alignment = max(alignment, found.alignment)
        start = 0 if self._record.is_union else -(-self._end // alignment) * alignment
        self._record.offsets[name] = start
        self._end = max(self._end, start + (0 if is_empty else found.size))
        self._alignment = max(self._alignment, alignment)

    def finish(self) -> None:
        """The whole: a multiple of its alignment, a byte at least."""
        record = self._record
        record.type = CType(kind=TypeKind.RECORD, name=record.name, fields=tuple(self._fields))
        if record.is_too_much:
            record.type = CType(kind=TypeKind.UNKNOWN, name=record.name)
        for child in record.node.named:
            self._alignment = max(self._alignment, alignment_stated(self._state, child))
        if record.is_virtual or not self._is_known or _is_packed(record.node):
            return
        size = max(1, self._end)
        record.layout = Layout(-(-size // self._alignment) * self._alignment, self._alignment)


def _numbers_of(state: State, type_: CType) -> int:
    """How many variables one of `type_` would be made of."""
    count = 1
    while type_.kind is TypeKind.ARRAY and type_.target is not None:
        count, type_ = count * type_.extent, type_.target
    record = None if type_.reference else state.records.get(type_.name)
    inner = record.numbers if record is not None and type_.kind in _RECORD_KINDS else max(1, len(type_.fields))
    return inner * (count if 0 < count <= _MOST_COPIED else 1)


_RECORD_KINDS = frozenset({TypeKind.RECORD, TypeKind.UNKNOWN})


def _with_defaults(node: Node) -> Iterator[tuple[Node, Node | None, bool]]:
    """The declarators of a member declaration, each with its initial value, and whether it is a bit-field."""
    found: list[tuple[Node, Node | None, bool]] = []
    declarators = {declarator.key for declarator in node.fields("declarator")}
    defaults = {default.key for default in node.fields("default_value")}
    for child in node.named:
        if child.key in declarators:
            inner = child.field("value") if child.type == "init_declarator" else None
            found.append((child, inner, False))
        elif found and (child.key in defaults or child.type == "initializer_list"):
            found[-1] = (found[-1][0], child, found[-1][2])
        elif found and child.type == "bitfield_clause":
            found[-1] = (found[-1][0], found[-1][1], True)
    return iter(found)


def alignment_stated(state: State, node: Node) -> int:
    """What `alignas(n)` asks for; 1 for any other node."""
    if node.type != "alignas_qualifier" or not node.named:
        return 1
    inner = node.named[0]
    if inner.type == "type_descriptor":
        found = layout(state, type_of(state, inner))
        if found is not None:
            return found.alignment
        inner = inner.field("type") or inner
    return max(1, constant_of(state, inner) or 1)


def _is_packed(node: Node) -> bool:
    """Whether the text asks for another layout than the usual one."""
    if any(child.type == "attribute_specifier" and "packed" in child.text for child in node.named):
        return True
    text = node.unit.source.text
    if _PACK not in text:
        return False
    before = text.splitlines()[: node.span.start.line]
    asked = [line.partition(_PACK)[2] for line in before if line.lstrip().startswith("#") and _PACK in line]
    return bool(asked) and asked[-1].strip(" \t()") not in ("", "pop")
