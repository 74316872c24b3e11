"""Launches: how host code runs a kernel, in terms of the kernel's own parameters where it passes them on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.frontends.cuda.host.following import Host, enclosing_function
from portcheck.frontends.cuda.model.callsite import qualified_name
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.parsing.definitions import Function
from portcheck.frontends.cuda.parsing.syntax import Node, Unit, bare
from portcheck.ir import Const, Launch

_DIMENSIONS = "dim3"


@dataclass(frozen=True, slots=True)
class LaunchSite:
    """A `kernel<<<...>>>(...)`: the template arguments, the configuration, the arguments, the function around it."""

    name: str
    node: Node
    templates: tuple[Node, ...]
    configuration: tuple[Node, ...]
    arguments: tuple[Node, ...]
    host: Node | None


def written_launches(state: State, unit: Unit) -> Iterator[LaunchSite]:
    """Every `kernel<<<...>>>(...)` in `unit`, in order."""
    for configuration in unit.root.found("kernel_call_syntax"):
        node = configuration.parent
        if node is None or node.type != "call_expression":
            continue
        function, arguments = node.field("function"), node.field("arguments")
        if function is None or arguments is None:
            continue
        name, templates = qualified_name(state, bare(function))
        if name:
            short, host = name.rpartition("::")[2], enclosing_function(node)
            yield LaunchSite(
                short,
                node,
                tuple(templates),
                tuple(configuration.named),
                tuple(arguments.named),
                host,
            )


def read_launch(state: State, kernel: Function, parameters: list[str], site: LaunchSite) -> Launch:
    """The launch at `site` of a kernel with these parameters."""
    host = Host(state, site.host, site.node, site.configuration, dict(_passed_on(parameters, site)))
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


def _passed_on(parameters: list[str], site: LaunchSite) -> Iterator[tuple[str, str]]:
    """Host names to the parameter each is passed as."""
    seen: set[str] = set()
    for parameter, argument in zip(parameters, site.arguments, strict=False):
        argument = unwrapped(argument)
        if argument.text not in seen:
            seen.add(argument.text)
            yield argument.text, parameter


def unwrapped(argument: Node) -> Node:
    """An argument without casts and parentheses around it."""
    argument = bare(argument)
    while argument.type == "cast_expression":
        inner = argument.field("value")
        if inner is None:
            break
        argument = bare(inner)
    return argument
