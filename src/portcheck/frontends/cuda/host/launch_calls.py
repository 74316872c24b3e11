"""Launches by a function of the host: the kernel's address, extents and an array of the addresses of its arguments."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.frontends.cuda.host.following import enclosing_function
from portcheck.frontends.cuda.host.launch import LaunchSite, unwrapped, written_launches
from portcheck.frontends.cuda.model.callsite import qualified_name
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.parsing.definitions import declared_name
from portcheck.frontends.cuda.parsing.syntax import Node, Unit, bare
from portcheck.knowledge import Semantics

_HOST = "host::"
_MEMBERS = (
    Semantics.HOST_LAUNCH_GRID,
    Semantics.HOST_LAUNCH_BLOCK,
    Semantics.HOST_LAUNCH_SHARED,
    Semantics.HOST_LAUNCH_STREAM,
)


def launch_sites(state: State, unit: Unit) -> list[LaunchSite]:
    """Every launch in `unit`, in order."""
    found = [*written_launches(state, unit), *_called_launches(state, unit)]
    return sorted(found, key=lambda site: site.node.start)


def _called_launches(state: State, unit: Unit) -> Iterator[LaunchSite]:
    for call in unit.root.found("call_expression"):
        function, arguments = call.field("function"), call.field("arguments")
        name = qualified_name(state, bare(function))[0] if function is not None else ""
        construct = state.construct(_HOST + name)
        host = enclosing_function(call) if construct is not None else None
        if construct is None or arguments is None or host is None:
            continue
        listed = arguments.named
        given = None
        if construct.semantics is Semantics.HOST_LAUNCH and len(listed) >= 4:
            given = _by_addresses(host, call, listed)
        elif construct.semantics is Semantics.HOST_LAUNCH_CONFIGURED and len(listed) >= 2:
            given = _configured(state, host, call, listed)
        kernel, templates = _kernel(state, listed, construct.semantics)
        if given is not None and kernel:
            yield LaunchSite(kernel, call, tuple(templates), *given, host)


def _kernel(state: State, listed: list[Node], semantics: Semantics) -> tuple[str, list[Node]]:
    place = 1 if semantics is Semantics.HOST_LAUNCH_CONFIGURED else 0
    node = unwrapped(listed[place]) if place < len(listed) else None
    inner = node.field("argument") if node is not None and node.type == "pointer_expression" else node
    name, templates = qualified_name(state, bare(inner)) if inner is not None else ("", [])
    known = {function.name for function in state.definitions.kernels}
    short = name.rpartition("::")[2]
    return (short, templates) if short in known else ("", [])


def _by_addresses(host: Node, call: Node, listed: list[Node]) -> tuple[tuple[Node, ...], tuple[Node, ...]] | None:
    """Extents and arguments, where the array holds addresses of variables and is not changed."""
    array = unwrapped(listed[3])
    changed = [
        node
        for node in host.found("assignment_expression")
        if (left := node.field("left")) is not None and left.text.partition("[")[0].strip() == array.text
    ]
    made = [
        node for node in host.found("init_declarator") if declared_name(node) == array.text and node.end <= call.start
    ]
    value = made[0].field("value") if len(made) == 1 and not changed and array.type == "identifier" else None
    if value is None or value.type != "initializer_list":
        return None
    arguments: list[Node] = []
    for node in map(unwrapped, value.named):
        inner = node.field("argument")
        if node.type != "pointer_expression" or not node.has("&") or inner is None:
            return None
        arguments.append(inner)
    return (*listed[1:3], *listed[4:]), tuple(arguments)


def _configured(
    state: State, host: Node, call: Node, listed: list[Node]
) -> tuple[tuple[Node, ...], tuple[Node, ...]] | None:  # fmt: skip
    """Extents and arguments, where each member of the configuration is set once, in the block of the call."""
    owner = unwrapped(listed[0])
    inner = owner.field("argument") if owner.type == "pointer_expression" else owner
    members: dict[Semantics, Node] = {}
    for node in host.found("assignment_expression"):
        left, right = node.field("left"), node.field("right")
        if left is None or right is None or left.type != "field_expression" or inner is None:
            continue
        argument, field = left.field("argument"), left.field("field")
        if argument is None or field is None or argument.text != inner.text:
            continue
        construct = state.construct(f"{_HOST}configuration.{field.text}")
        if construct is None or construct.semantics in members or node.start > call.start:
            return None
        members[construct.semantics] = right
    found: list[Node] = []
    for member in _MEMBERS:
        if member not in members:
            break
        found.append(members[member])
    return (tuple(found), tuple(listed[2:])) if len(found) >= 2 else None
