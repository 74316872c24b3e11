"""What a file and its headers define: kernels, functions, constants, types, aliases of namespaces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

from portcheck.frontends.cuda.parsing.namespaces import Lookup, inner_space, joined, scope_text, written_scope
from portcheck.frontends.cuda.parsing.parse import part_of
from portcheck.frontends.cuda.parsing.references import is_reference
from portcheck.frontends.cuda.parsing.syntax import Node, Unit, Wreck
from portcheck.frontends.cuda.text.lexer import significant

_ENTRY = "__global__"
_BROKEN = "ERROR"
_SEVERAL = 2
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition; `template` is its template parameter list, `launch_bounds` and the like stay in `node`.

    `scope` is what a name with scopes stands in: the record of a function that is defined outside of it.
    """

    name: str
    node: Node
    declarator: Node
    template: Node | None
    is_kernel: bool
    scope: Node | None = None
    space: str = ""
    """The namespace it is in; of a function outside of its record, the path of the record."""
    is_packed: bool = False
    """Whether it is written out from a template with parameter packs, which yields to one without."""

    @property
    def specialised(self) -> list[Node]:
        """The template arguments that an explicit specialisation is for."""
        name = self.declarator.field("declarator")
        while name is not None and name.type == "qualified_identifier":
            name = name.field("name")
        listed = name.field("arguments") if name is not None and name.type == "template_function" else None
        return listed.named if listed is not None else []

    @property
    def is_special(self) -> bool:
        """Whether it is an explicit specialisation: `template <>` stands before it."""
        return self.template is not None and not self.template.named

    @property
    def is_constant(self) -> bool:
        """Whether it is a function of a record that does not change what it is called on."""
        return any(child.type == "type_qualifier" and child.text == "const" for child in self.declarator.named)

    @property
    def body(self) -> Node | None:
        """The block of the definition."""
        return self.node.field("body")

    @property
    def parameters(self) -> list[Node]:
        """The parameter declarations."""
        listed = self.declarator.field("parameters")
        kinds = ("parameter_declaration", "optional_parameter_declaration")
        return [child for child in listed.named if child.type in kinds] if listed is not None else []

    @property
    def pack(self) -> Node | None:
        """The declaration of the parameter pack that ends its parameters."""
        listed = self.declarator.field("parameters")
        packs = [child for child in listed.named if child.type == "variadic_parameter_declaration"] if listed else []
        return packs[-1] if packs else None


@dataclass
class Definitions:
    """Everything named at file scope, over all units."""

    functions: dict[str, list[Function]] = field(default_factory=dict)
    kernels: list[Function] = field(default_factory=list)
    special_kernels: dict[str, list[Function]] = field(default_factory=dict)
    """A kernel's name to the explicit specialisations of its template."""
    variables: dict[str, tuple[Node, Node]] = field(default_factory=dict)
    """A variable's name to its declaration and its declarator."""
    types: dict[str, Node] = field(default_factory=dict)
    """A type's name to the typedef, alias, record or enumeration that defines it."""
    specialisations: dict[str, list[Node]] = field(default_factory=dict)
    """The name of a record with template parameters to its definitions for some of their arguments."""
    scoped: dict[str, list[Function]] = field(default_factory=dict)
    """A scope's last name to the functions that are defined in it by a name with scopes."""
    enumerators: dict[str, tuple[Node, Node]] = field(default_factory=dict)
    """An enumerator's name to itself and its list."""
    namespaces: dict[str, str] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    declared: dict[str, bool] = field(default_factory=dict)
    """Whether any text in reach declares a name, as far as that was asked."""
    methods: dict[str, list[Function]] = field(default_factory=dict)
    """The name of a function to those that records define under it."""
    spaces: dict[str, set[str]] = field(default_factory=dict)
    """The name of a type, variable or enumerator to the namespaces that define one."""
    _types_in: dict[tuple[str, str], Node] = field(default_factory=dict)
    _variables_in: dict[tuple[str, str], tuple[Node, Node]] = field(default_factory=dict)
    _enumerators_in: dict[tuple[str, str], tuple[Node, Node]] = field(default_factory=dict)
    _lookup: Lookup | None = None
    _read_again: int = 0

    def collect(self, unit: Unit, own: bool) -> None:
        """Adds what `unit` defines; `own` marks the file that was asked for: kernels are taken from it alone."""
        self.units.append(unit)
        stack: list[tuple[Node, Node | None, str]] = [(unit.root, None, "")]
        while stack:
            node, template, space = stack.pop()
            if node.type == "function_definition":
                self._function(node, (template, space), own)
                continue
            self.declare(node, space)
            space = inner_space(space, node) if node.type == "namespace_definition" else space
            inner = node.field("parameters") if node.type == "template_declaration" else None
            children = self._before_stranded(node) if own and node.type == _BROKEN else node.branches
            if node.type == "field_declaration_list":
                self._methods(node)
            if node.type not in ("compound_statement", "lambda_expression", "field_declaration_list"):
                stack.extend((child, inner, space) for child in reversed(children))
        unit.forget()

    def holds_reference(self, name: str) -> bool:
        """Whether the record `name` has a member that is a reference."""
        record = self.types.get(name)
        body = record.field("body") if record is not None else None
        for member in body.named if body is not None else ():
            if member.type == "field_declaration" and any(
                is_reference(declarator) for declarator in member.fields("declarator")
            ):
                return True
        return False

    def _methods(self, body: Node) -> None:
        """The functions that a record defines, for what they may change of their arguments."""
        for node in body.named:
            inner = node.named[-1] if node.type == "template_declaration" and node.named else node
            function = function_of(inner, None) if inner.type == "function_definition" else None
            if function is not None:
                self.methods.setdefault(function.name, []).append(function)

    def _function(self, node: Node, where: tuple[Node | None, str], own: bool) -> None:
        template, space = where
        function = function_of(node, template)
        if function is None:
            return
        written = scope_text(function.declarator.field("declarator"))
        function = replace(function, space=joined(space, written.removeprefix("::")))
        self.functions.setdefault(function.name, []).append(function)
        if function.scope is not None:
            self.scoped.setdefault(simple_name(function.scope), []).append(function)
            self.methods.setdefault(function.name, []).append(function)
        if function.is_kernel and own:
            self.kernels.append(function)

    def forget_kernel(self, start: int, end: int) -> None:
        """Takes back the kernels that are written between two bytes of the file that was asked for."""
        gone = [function for function in self.kernels if start <= function.node.start < end]
        for function in gone:
            self.kernels.remove(function)
            listed = self.functions.get(function.name, [])
            listed[:] = [other for other in listed if other is not function]

    def _before_stranded(self, broken: Node) -> list[Node]:
        """What stands in text that did not parse, up to the head of a kernel.

        The kernel is added, and what follows it is read again by itself; without such a head, all of the text.
        """
        parts = broken.children
        start = next((place for place, part in enumerate(parts) if part.type == _ENTRY), len(parts))
        end = next((at for at in range(start + 1, len(parts)) if parts[at].type in _BOUNDARIES), len(parts))
        kernel = _kernel_in(parts[start:end], parts[start - 1] if start else None)
        if kernel is None or self._read_again == _MOST_READ_AGAIN:
            return parts
        self.kernels.append(kernel)
        if end < len(parts):
            self._read_again += 1
            self.collect(part_of(broken.unit, parts[end].start, broken.end), own=True)
        return parts[:start]

    def types_called(self, name: str, at: Node | None) -> Node | None:
        """What defines the type `name` that is meant at `at`, where several namespaces have one."""
        space = self.space_meant(name, at)
        return self.types.get(name) if space is None else self._types_in.get((space, last_part(name)))

    def variable_called(self, name: str, at: Node | None) -> tuple[Node, Node] | None:
        """The declaration and declarator of the variable `name` that is meant at `at`."""
        space = self.space_meant(name, at)
        return self.variables.get(name) if space is None else self._variables_in.get((space, last_part(name)))

    def enumerator_called(self, name: str, at: Node | None) -> tuple[Node, Node] | None:
        """The enumerator `name` that is meant at `at`, and its list."""
        space = self.space_meant(name, at)
        return self.enumerators.get(name) if space is None else self._enumerators_in.get((space, last_part(name)))

    def space_meant(self, name: str, at: Node | None) -> str | None:
        """The namespace whose `name` is meant at `at`; None where not several have one, "?" where it is not seen."""
        spaces = self.spaces.get(last_part(name), set())
        if len(spaces) < _SEVERAL or at is None:
            return None
        return next(iter(self._meant(at, last_part(name), spaces)), "?")

    def functions_called(
        self, functions: list[Function], at: Node, near: Iterable[str] = (), name: str = ""
    ) -> list[Function]:
        """Those of `functions` of one name that are meant at `at`, or by `name` if it begins with `::`.

        The namespaces of arguments, `near`, count for a name without scopes.
        """
        spaces = {function.space for function in functions}
        if len(spaces) < _SEVERAL:
            return functions
        if name.startswith("::"):
            chosen = {name[2:].rpartition("::")[0]}
        else:
            chosen = {*self._meant(at, functions[0].name, spaces), *(() if written_scope(at) else near)}
        return [function for function in functions if function.space in chosen]

    def _meant(self, at: Node, name: str, spaces: set[str]) -> tuple[str, ...]:
        self._lookup = self._lookup or Lookup(self.namespaces)
        return self._lookup.meant(at, name, spaces)

    def _place(self, table: dict[tuple[str, str], _Found], name: str, space: str | None, found: _Found) -> None:
        if space is None:
            self.spaces.pop(name, None)  # a name of a body counts for the whole file
            return
        self.spaces.setdefault(name, set()).add(space)
        table[space, name] = found

    def declare(self, node: Node, space: str | None = None) -> None:
        """Adds what the single declaration `node` declares, in the namespace `space` or (None) in a body."""
        match node.type:
            case "declaration":
                for declarator in node.fields("declarator"):
                    name = declared_name(declarator)
                    if name:
                        self.variables.setdefault(name, (node, declarator))
                    if name and declarator.type != "function_declarator":
                        found = self._variables_in.get((space or "", name), (node, declarator))
                        self._place(self._variables_in, name, space, found)
            case "type_definition":
                for declarator in node.fields("declarator"):
                    self.types[declared_name(declarator)] = node
                    self._place(self._types_in, declared_name(declarator), space, node)
            case "alias_declaration" | "struct_specifier" | "class_specifier" | "union_specifier":
                named = node.field("name")
                is_definition = node.type == "alias_declaration" or node.field("body") is not None
                if named is not None and is_definition and named.type == "template_type":
                    self.specialisations.setdefault(simple_name(named), []).append(node)
                elif named is not None and is_definition:
                    self.types[named.text] = node
                    self._place(self._types_in, named.text, space, node)
            case "enum_specifier":
                self._enumeration(node, space)
            case "namespace_alias_definition":
                if len(node.named) == 2:
                    self.namespaces[node.named[0].text] = node.named[1].text
            case "using_declaration":
                if node.has("namespace") and node.named:
                    self.opened.append(node.named[-1].text)
            case _:
                pass

    def _enumeration(self, node: Node, space: str | None) -> None:
        named, body = node.field("name"), node.field("body")
        if named is not None:
            self.types[named.text] = node
            self._place(self._types_in, named.text, space, node)
        if space is not None and named is not None and (node.has("class") or node.has("struct")):
            space = joined(space, named.text)
        for enumerator in body.named if body is not None else ():
            name = enumerator.field("name")
            if body is not None and name is not None:
                self.enumerators[name.text] = (enumerator, body)
                self._place(self._enumerators_in, name.text, space, (enumerator, body))


def function_of(node: Node, template: Node | None) -> Function | None:
    """The function that `node` defines; None where it has no name or no body."""
    declarator = node.field("declarator")
    while declarator is not None and declarator.type not in _FUNCTIONS:
        declarator = declarator.field("declarator") or next(
            (child for child in declarator.named if child.type in _FUNCTIONS), None
        )
    if declarator is None or node.field("body") is None:
        return None
    is_kernel = any(child.type == _ENTRY for child in node.children)
    name = declarator.field("declarator")
    scope = None
    if name is not None and name.type == "parenthesized_declarator" and [part.type for part in name.named] == _ALONE:
        name = name.named[0]
    while name is not None and name.type in ("qualified_identifier", *_FUNCTIONS):
        if name.type == "qualified_identifier":
            scope, name = name.field("scope") or scope, name.field("name")
        else:
            name = name.field("declarator")
    if name is not None and name.type == "operator_cast":
        declarator, name = name.field("declarator") or declarator, None
    if name is None:
        cast = node.field("declarator")
        is_conversion = cast is not None and (cast.type == "operator_cast" or scope is not None)
        return Function(CONVERSION, node, declarator, template, False, scope) if is_conversion else None
    text = "".join(name.text.split()) if name.type == "operator_name" else simple_name(name)
    text = _kernel_name(name) if is_kernel else text
    return Function(text, node, declarator, template, is_kernel, scope) if text else None


_FUNCTIONS = frozenset({"function_declarator", "abstract_function_declarator"})
_ALONE = ["identifier"]
CONVERSION = "operator T"
"""What functions are called that convert to a type."""


def _kernel_in(parts: list[Node], before: Node | None) -> Function | None:
    """The kernel whose head is the start of `parts`, which did not parse as a whole; None where that is no head."""
    declarator = next((part for part in parts if part.type == "function_declarator"), None)
    name = declarator.field("declarator") if declarator is not None else None
    if declarator is None or name is None or not any(part.type == "{" for part in parts):
        return None
    template = before if before is not None and before.type == "template_parameter_list" else None
    called = _kernel_name(name)
    return Function(called, Wreck(parts), declarator, template, is_kernel=True) if called else None


def _kernel_name(node: Node) -> str:
    """What a kernel is called whose name is `node`; in text that does not parse, the first name before parentheses."""
    called = simple_name(node)
    if called.isidentifier():
        return called
    pairs = pairwise(token.text for token in significant(called))
    return next((word for word, after in pairs if word.isidentifier() and after == "("), "")


_BOUNDARIES = frozenset({_ENTRY, "function_definition", "template", "template_declaration", "linkage_specification"})
_MOST_READ_AGAIN = 8


def declared_name(declarator: Node | None) -> str:
    """The name a declarator declares; "" where it has none."""
    node = declarator
    while node is not None:
        if node.type in ("identifier", "type_identifier", "field_identifier"):
            return node.text
        if node.type == "qualified_identifier":
            return simple_name(node)
        following = node.field("declarator")
        node = following if following is not None else _inner_declarator(node)
    return ""


def _inner_declarator(node: Node) -> Node | None:
    kinds = ("reference_declarator", "parenthesized_declarator", "attributed_declarator", "variadic_declarator")
    if node.type not in kinds:
        return None
    return next((child for child in node.named), None)


def last_part(name: str) -> str:
    """The last part of a name with scopes."""
    return name.rpartition("::")[2]


def simple_name(node: Node) -> str:
    """The last part of a name, without scopes and template arguments."""
    while node.type in ("qualified_identifier", "template_function", "template_type"):
        inner = node.field("name")
        if inner is None:
            break
        node = inner
    return node.text
