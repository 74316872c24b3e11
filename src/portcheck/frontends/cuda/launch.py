"""Launches: how host code runs a kernel, in terms of the kernel's own parameters where it passes them on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.callsite import qualified_name
from portcheck.frontends.cuda.definitions import Function, declared_name
from portcheck.frontends.cuda.places import read
from portcheck.frontends.cuda.state import Binding, Scope, State
from portcheck.frontends.cuda.syntax import Node, Unit, bare
from portcheck.frontends.cuda.types import declare, type_of
from portcheck.frontends.cuda.values import CType, Scalar, TypeKind, Value
from portcheck.ir import Const, Expr, Launch, Symbol

_DIMENSIONS = "dim3"
_MOST_DECLARATIONS = 500


@dataclass(frozen=True, slots=True)
class LaunchSite:
    """A `kernel<<<...>>>(...)`: the template arguments, the configuration, the arguments, the function around it."""

    name: str
    node: Node
    templates: tuple[Node, ...]
    configuration: tuple[Node, ...]
    arguments: tuple[Node, ...]
    host: Node | None


def launch_sites(state: State, unit: Unit) -> Iterator[LaunchSite]:
    """Every launch written in `unit`, in order."""
    for configuration in unit.root.found("kernel_call_syntax"):
        node = configuration.parent
        if node is None or node.type != "call_expression":
            continue
        function, arguments = node.field("function"), node.field("arguments")
        if function is None or arguments is None:
            continue
        name, templates = qualified_name(state, bare(function))
        if name:
            short = name.rpartition("::")[2]
            yield LaunchSite(
                short, node, tuple(templates), tuple(configuration.named), tuple(arguments.named), _host_of(node)
            )


def _host_of(node: Node) -> Node | None:
    current = node.parent
    while current is not None and current.type != "function_definition":
        current = current.parent
    return current


def read_launch(state: State, kernel: Function, parameters: list[str], site: LaunchSite) -> Launch:
    """The launch at `site` of a kernel with these parameters."""
    host = _Host(state, site, dict(_passed_on(parameters, site)))
    with host.names():
        grid = host.extents(site.configuration[0]) if site.configuration else ()
        block = host.extents(site.configuration[1]) if len(site.configuration) > 1 else ()
        shared = host.number(site.configuration[2]) if len(site.configuration) > 2 else None
    arguments = [
        (parameter, argument.text)
        for parameter, argument in zip(parameters, site.arguments, strict=False)
        if argument.type == "identifier"
    ]
    is_zero = isinstance(shared, Const) and shared.value == 0
    return Launch(
        kernel=kernel.name, grid=grid, block=block, shared_bytes=None if is_zero else shared, span=site.node.span,
        arguments=tuple(arguments),
    )  # fmt: skip


def host_names(state: State, site: LaunchSite) -> AbstractContextManager[None]:
    """A context in which names mean what they mean in the host code at the launch."""
    return _Host(state, site, {}).names()


def _passed_on(parameters: list[str], site: LaunchSite) -> Iterator[tuple[str, str]]:
    """Host names to the parameter each is passed as."""
    seen: set[str] = set()
    for parameter, argument in zip(parameters, site.arguments, strict=False):
        argument = bare(argument)
        while argument.type == "cast_expression":
            inner = argument.field("value")
            if inner is None:
                break
            argument = bare(inner)
        if argument.text not in seen:
            seen.add(argument.text)
            yield argument.text, parameter


class _Host:
    """The names of host code, resolved on demand: passed on, initialised, or left as symbols."""

    def __init__(self, state: State, site: LaunchSite, passed: dict[str, str]) -> None:
        self._state = state
        self._site = site
        self._passed = passed
        self._taken = set(passed.values())

    def names(self) -> _Names:
        """A context in which host names mean what they mean here."""
        return _Names(self)

    def bindings(self) -> Scope:
        """What the names of the host function stand for at the launch."""
        state = self._state
        scope = state.new_scope()
        state.scopes = [scope]
        self._declare_parameters(scope)
        for node in self._declarations():
            base = type_of(state, node.field("type"))
            for declarator in node.fields("declarator"):
                name = declared_name(declarator)
                if name and name not in scope:
                    scope[name] = self._initial(node, declarator, base, name)
        return scope

    def _declare_parameters(self, scope: Scope) -> None:
        host = self._site.host
        declarator = host.field("declarator") if host is not None else None
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.field("declarator")
        listed = declarator.field("parameters") if declarator is not None else None
        for parameter in listed.named if listed is not None else ():
            name = declared_name(parameter.field("declarator"))
            if name:
                scope[name] = self._symbol(name, type_of(self._state, parameter.field("type")))

    def _declarations(self) -> Iterator[Node]:
        body = self._site.host.field("body") if self._site.host is not None else None
        for node in body.found("declaration")[:_MOST_DECLARATIONS] if body is not None else ():
            if node.start >= self._site.node.start:
                return
            yield node

    def _symbol(self, name: str, type_: CType) -> Scalar:
        dtype = type_.dtype or INT32
        passed = self._passed.get(name)
        if passed is not None:
            return Scalar(Symbol(passed, dtype), dtype)
        shown = f"host_{name}" if name in self._taken else name
        return Scalar(Symbol(shown, dtype), dtype)

    def _initial(self, node: Node, declarator: Node, base: CType, name: str) -> Binding:
        """A host variable: the parameter it is passed as, or its initial value, if nothing changes it before."""
        if base.name != _DIMENSIONS and (name in self._passed or self._is_changed(name, declarator)):
            return self._symbol(name, base)
        if base.name == _DIMENSIONS:
            return _Extents(tuple(self._components(declarator)))  # type: ignore[return-value]  # read by extents() alone
        declared = declare(self._state, base, declarator)
        value = declarator.field("value") if declarator.type == "init_declarator" else None
        if value is None or declared.extents or base.kind not in (TypeKind.SCALAR, TypeKind.DEDUCED):
            return self._symbol(name, base)
        listed = value.named if value.type in ("argument_list", "initializer_list") else [value]
        number = self._pure(listed[0]) if len(listed) == 1 else None
        if number is None:
            return self._symbol(name, base)
        return Scalar(number.expr, base.dtype or number.dtype, number.size)

    def _is_changed(self, name: str, declarator: Node) -> bool:
        body = self._site.host.field("body") if self._site.host is not None else None
        if body is None:
            return False
        changes = self._state.host_changes.get(body.key)
        if changes is None:
            changes = self._state.host_changes[body.key] = _changes_in(body)
        return any(declarator.start < start < self._site.node.start for start in changes.get(name, ()))

    def _components(self, declarator: Node) -> Iterator[Expr]:
        """The extents of a declared `dim3`."""
        value = declarator.field("value")
        if declarator.type == "function_declarator":
            parameters = declarator.field("parameters")
            for parameter in parameters.named if parameters is not None else ():
                yield self.number(parameter.field("type") or parameter)
            return
        if value is None:
            return
        if value.type in ("argument_list", "initializer_list"):
            for item in value.named:
                yield from self.extents(item)
            return
        yield from self.extents(value)

    def extents(self, node: Node) -> tuple[Expr, ...]:
        """The extents a configuration argument gives: one number, or up to three."""
        node = bare(node)
        if node.type == "identifier":
            bound = self._state.lookup(node.text)
            if isinstance(bound, _Extents):
                return bound.values
        function = node.field("function") if node.type == "call_expression" else None
        name = qualified_name(self._state, bare(function))[0] if function is not None else ""
        arguments = node.field("arguments") if name == _DIMENSIONS else None
        braces = node.field("value") if node.type == "compound_literal_expression" else None
        listed = arguments or braces or (node if node.type == "initializer_list" else None)
        if listed is not None:
            return tuple(self.number(item) for item in listed.named)
        return (self.number(node),)

    def number(self, node: Node) -> Expr:
        """A host expression; one that is not understood is a symbol named by its text."""
        value = self._pure(node)
        if value is None:
            return Symbol(f"host({' '.join(node.text.split())})", INT32)
        return value.expr

    def _pure(self, node: Node) -> Scalar | None:
        """The expression `node` is, if it needs no operation."""
        state = self._state
        with state.builder.region() as emitted:
            value: Value = read(state, state.evaluate(node), node)
        if emitted or not isinstance(value, Scalar) or value.is_data or value.size > 100:
            return None
        return value


def _changes_in(body: Node) -> dict[str, list[int]]:
    """Where each name is assigned to or counted up or down in host code."""
    found: dict[str, list[int]] = {}
    for node in body.found("assignment_expression", "update_expression"):
        target = node.field("left") or node.field("argument")
        if target is not None:
            found.setdefault(target.text, []).append(node.start)
    return found


@dataclass(frozen=True, slots=True)
class _Extents:
    """A `dim3` variable of the host."""

    values: tuple[Expr, ...]


class _Names(AbstractContextManager[None]):
    def __init__(self, host: _Host) -> None:
        self._host = host

    def __enter__(self) -> None:
        state = self._host._state
        self._outer = (state.scopes, state.is_device, state.instances, state.notes)
        state.is_device = False
        state.instances = []
        state.notes = list(state.notes)
        state.scopes = [self._host.bindings()]

    def __exit__(self, *_: object) -> None:
        state = self._host._state
        state.scopes, state.is_device, state.instances, state.notes = self._outer
