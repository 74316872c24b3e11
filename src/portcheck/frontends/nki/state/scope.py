"""The module-level names of one file: what binds each of them, and what it stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portcheck.frontends.nki.source.discovery import Definition, names_bound_by, names_bound_in, statements_around
from portcheck.frontends.nki.source.imports import Imported, aliases_in, import_statements, imported_by
from portcheck.frontends.nki.source.nodes import nodes_in
from portcheck.frontends.nki.source.parse import Segment, empty_segment, first_line, parse_statement
from portcheck.frontends.nki.source.screen import Screened
from portcheck.frontends.nki.state.failure import RaisedError, UnfollowedError
from portcheck.frontends.nki.state.holding import set_back
from portcheck.frontends.nki.values.ages import BEFORE
from portcheck.frontends.nki.values.callables import Function
from portcheck.frontends.nki.values.constants import CONSTANTS
from portcheck.frontends.nki.values.values import External, Package, Unknown, Value
from portcheck.ir import OpaqueKind
from portcheck.knowledge import load

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context
    from portcheck.frontends.nki.state.frame import Frame
    from portcheck.frontends.nki.state.reach import Reach


@dataclass(frozen=True, slots=True, eq=False)
class _Binding:
    """A module-level statement that binds a name, or an import of it."""

    statement: ast.stmt
    imported: Imported | None = None


class Scope:
    """A file of a port. Its names are evaluated when they are first asked for, anew for every lowering."""

    def __init__(self, reach: Reach, path: Path, shown: str, screened: Screened) -> None:
        self._reach = reach
        self.path = path
        self.shown = shown
        self.screened = screened
        self._segments: dict[ast.stmt, Segment | None] = {}

    @property
    def folder(self) -> Path | None:
        """The folder of a package; None for a plain file."""
        if self.path.name == "__init__.py":
            return self.path.parent
        return None if self.path.suffix == ".py" else self.path

    @cached_property
    def rebound(self) -> frozenset[str]:
        """The names that functions of the file declare as `global`: calls of these may bind them anew."""
        return frozenset(name for node in self.screened.nodes if isinstance(node, ast.Global) for name in node.names)

    def segment(self, node: ast.stmt) -> Segment | None:
        """The top-level statement `node` as a tree, made once."""
        if node not in self._segments:
            try:
                self._segments[node] = parse_statement(self.screened, node, self.shown)
            except RecursionError:
                return None  # so deep inside other calls; it may be read from elsewhere
        return self._segments[node]

    def home(self, context: Context) -> Frame:
        """The frame of the file's names."""
        from portcheck.frontends.nki.state.frame import Frame

        if self not in context.homes:
            context.homes[self] = Frame(empty_segment(self.shown), scope=self)
            context.homes[self].age = BEFORE
        return context.homes[self]

    def value(self, context: Context, name: str) -> Value | None:
        """What the module-level name `name` stands for; None if the file does not bind it."""
        home = self.home(context)
        if name in home.names or (self, name) in context.pending:
            return home.names.get(name)
        context.pending.add((self, name))
        try:
            for binding in self._bindings.get(name, ()):
                self._bind(context, home, name, binding)
            if name not in home.names and (found := self._starred(context, name)) is not None:
                home.names[name] = found
        finally:
            context.pending.discard((self, name))
        return home.names.get(name)

    def definition(self, context: Context, node: Definition) -> Function | None:
        """The function that `node` defines, parsed now."""
        around = statements_around(self.screened.tree, node) if node.col_offset else [node]
        segment = self.segment(around[0])
        found = _function_at(segment, node) if segment is not None else None
        if segment is None or found is None:
            return None
        return Function(node.name, found, segment, self._home_inside(context, segment, around[:-1], node))

    def _home_inside(self, context: Context, segment: Segment, around: Sequence[ast.stmt], inner: ast.stmt) -> Frame:
        """The frame that a function inside other functions closes over: what they bind before it, where that is known.

        Their parameters are what they are by default, which is an assumption, or not known.
        """
        from portcheck.frontends.nki.state.context import OutOfFuelError
        from portcheck.frontends.nki.state.frame import Frame

        home = self.home(context)
        for item in around:
            outer = _function_at(segment, item) if isinstance(item, Definition) else None
            if outer is None or not isinstance(item, Definition):
                continue
            home = Frame(segment, home)
            for name in sorted(names_bound_in(item)):
                home.names[name] = Unknown(f"{item.name}.{name}", f"{name} is a name of the function around")
            with suppress(OutOfFuelError, RecursionError, UnfollowedError, RaisedError), context.aside():
                self._take_defaults(context, home, outer, item.name)
                context.run(context, home, _before(segment, outer, inner))
        return home

    def _take_defaults(self, context: Context, home: Frame, outer: Any, owner: str) -> None:
        """Gives the parameters of a function around a kernel their defaults."""
        from portcheck.frontends.nki.objects.functions import function_of

        for name, value in function_of(context, home, outer, owner).defaults.items():
            home.names[name] = value
            self.assume(f"{name} of {owner} is taken to be its default")

    def assume(self, text: str) -> None:
        """Notes something that is taken to hold, which a report must say."""
        self._reach.assumed[text] = None

    def _bind(self, context: Context, home: Frame, name: str, binding: _Binding) -> None:
        if binding.imported is not None:
            found = self.imported(context, binding.imported)
            if not isinstance(found, Unknown) or name not in home.names:
                home.names[name] = found
            return
        segment = self.segment(binding.statement)
        if segment is None:
            home.names[name] = Unknown(name, f"{name} is bound in text that is not read", kind=OpaqueKind.LIMIT)
            return
        from portcheck.frontends.nki.state.frame import Frame

        frame = Frame(segment, home)
        with context.aside():
            context.run(context, frame, segment.module.body)
        value = frame.names.pop(name, None)
        if isinstance(value, Unknown) and name in self.aliases:
            value = External(self.aliases[name])  # imported by both arms of a branch
        if value is not None:
            home.names[name] = value
            set_back(value)
        home.names.update({other: found for other, found in frame.names.items() if self._is_bound_once(other)})

    def _is_bound_once(self, name: str) -> bool:
        return len(self._bindings.get(name, ())) == 1

    def imported(self, context: Context, item: Imported) -> Value:
        """What an import binds."""
        found = self._reach.module(self, item)
        if item.member is None:
            return External(item.module) if found is None else Package(found)
        value = found.member(context, item.member) if found is not None else None
        if value is not None:
            return value
        if found is None and not item.level:
            named = CONSTANTS.get(f"{item.module}.{item.member}")
            return (
                named
                if named is not None
                else External(context.knowledge.releases.canonical(f"{item.module}.{item.member}"))
            )
        where = "." * item.level + item.module
        return Unknown(item.member, f"{item.member} of {where} is not in reach", kind=OpaqueKind.CALL)

    def member(self, context: Context, name: str) -> Value | None:
        """What `name` is in this module: a name that it binds, or a module of the package."""
        found = self.value(context, name)
        if found is None and (inner := self._reach.inside(self, name)) is not None:
            return Package(inner)
        return found

    def _starred(self, context: Context, name: str) -> Value | None:
        """What `from ... import *` brings as `name`; the last one that does."""
        for item in reversed(self._stars):
            found = self._reach.module(self, item)
            if found is not None and found.offers(name):
                value = found.value(context, name)
                if value is not None:
                    return value
            if found is None and name in context.knowledge.members(item.module):
                return External(f"{item.module}.{name}")
        return None

    def offers(self, name: str) -> bool:
        """Whether `import *` takes `name` from here."""
        listed = self._listed
        return name in listed if listed is not None else not name.startswith("_")

    @cached_property
    def _listed(self) -> frozenset[str] | None:
        """The names in `__all__`, where it is a list of texts."""
        for node in self.screened.tree.body:
            if isinstance(node, ast.Assign) and any(
                isinstance(item, ast.Name) and item.id == "__all__" for item in node.targets
            ):
                try:
                    return frozenset(map(str, ast.literal_eval(node.value)))
                except (ValueError, TypeError):
                    return None
        return None

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """The qualified names of what the file imports, also inside functions."""
        return aliases_in(self.imports, load(), self._followed)

    @cached_property
    def imports(self) -> tuple[ast.stmt, ...]:
        """The imports of the file, also those inside functions."""
        return import_statements(self.screened.tree)

    def _followed(self, item: Imported) -> str:
        """The qualified name of something imported from another file of the port, which may only hand it on."""
        is_used = item.name in self._roots and item.member is not None
        found = self._reach.module(self, item) if is_used else None
        if found is None or item.member is None or found in self._reach.following:
            return ""
        self._reach.following.add(found)
        try:
            return found.aliases.get(item.member, "")
        finally:
            self._reach.following.discard(found)

    @cached_property
    def _roots(self) -> frozenset[str]:
        """The names that attributes are taken of, or that decorate."""
        found: set[str] = set()
        for node in self.screened.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found.add(node.value.id)
            elif isinstance(node, Definition):
                found.update(
                    name.id for item in node.decorator_list for name in nodes_in(item) if isinstance(name, ast.Name)
                )
        return frozenset(found)

    @cached_property
    def _stars(self) -> list[Imported]:
        return [item for node in self._running for item in imported_by(node) if item.member == "*"]

    @cached_property
    def _running(self) -> list[ast.stmt]:
        """The statements that run, as far as it is known: of `try` what does not fail, and `if` as a whole."""
        return list(self._that_run(self.screened.tree.body))

    def _that_run(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        for node in body:
            if not isinstance(node, ast.Try):
                yield node
                continue
            failing = any(self._fails(item) for inner in node.body for item in imported_by(inner))
            handled = [inner for handler in node.handlers for inner in handler.body]
            yield from self._that_run([*(handled if failing else [*node.body, *node.orelse]), *node.finalbody])

    def _fails(self, item: Imported) -> bool:
        """Whether an import is of a file of the port that is not there."""
        return self._reach.is_missing(self, item)

    @cached_property
    def classes_named(self) -> tuple[str, ...]:
        """The names that the file binds to classes, or imports."""
        return tuple(
            name
            for name, bindings in self._bindings.items()
            if any(item.imported is not None or isinstance(item.statement, ast.ClassDef) for item in bindings)
        )

    @cached_property
    def _bindings(self) -> dict[str, list[_Binding]]:
        """What binds each name, in order, from the last statement on that does not depend on what was before it."""
        found: dict[str, list[_Binding]] = {}
        for node in self._running:
            for item in imported_by(node):
                found.setdefault(item.name, []).append(_Binding(node, item))
            names = names_bound_by(node) if not isinstance(node, ast.Import | ast.ImportFrom) else []
            for name in dict.fromkeys([*names, *_changed_by(node)]):
                before = [] if _is_fresh(node, name) else found.get(name, [])
                found[name] = [*before, _Binding(node)]
        return found


def _is_fresh(node: ast.stmt, name: str) -> bool:
    """Whether `node` binds `name` to something that does not depend on what it was."""
    if isinstance(node, Definition | ast.ClassDef | ast.Assign):
        if not isinstance(node, ast.Assign):
            return True
        read = {item.id for item in nodes_in(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)}
        return any(isinstance(item, ast.Name) for item in node.targets) and name not in read
    return False


def _changed_by(node: ast.stmt) -> list[str]:
    """The names of objects that a module-level statement changes: `name.append(...)`, `name[...] = ...`."""
    places: list[ast.expr] = []
    for item in nodes_in(node) if not isinstance(node, Definition | ast.ClassDef) else ():
        if isinstance(item, ast.Attribute | ast.Subscript) and isinstance(item.ctx, ast.Store):
            places.append(item.value)
        elif (
            isinstance(item, ast.Expr)
            and isinstance(item.value, ast.Call)
            and isinstance(item.value.func, ast.Attribute)
        ):
            places.append(item.value.func.value)
    return [place.id for place in places if isinstance(place, ast.Name)]


def _before(segment: Segment, outer: Any, inner: ast.stmt) -> list[Any]:
    """The statements of the function `outer` that bind names before `inner`, one after the other."""
    import libcst as cst

    found: list[Any] = []
    for statement in outer.body.body:
        if segment.span(statement).end.line >= first_line(inner):
            break
        if isinstance(statement, cst.SimpleStatementLine | cst.FunctionDef | cst.ClassDef):
            found.append(statement)
    return found


def _function_at(segment: Segment, wanted: Definition) -> Any | None:
    """The function `wanted` in the tree of its statement."""
    import libcst as cst

    from portcheck.frontends.nki.source.trees import children

    stack: list[cst.CSTNode] = [segment.module]
    while stack:
        node = stack.pop(0)
        name = node.name if isinstance(node, cst.FunctionDef) else None
        if name is not None and name.value == wanted.name and segment.span(name).start.line == wanted.lineno:
            return node
        stack.extend(children(node))
    return None
