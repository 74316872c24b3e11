"""Host code that launches a kernel more than once: whether that is the same as launching it once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from portcheck.frontends.cuda.host.launch import LaunchSite
from portcheck.frontends.cuda.parsing.definitions import Definitions, declared_name
from portcheck.frontends.cuda.parsing.mutations import Mutations
from portcheck.frontends.cuda.parsing.returns import always_returns
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.ir import Kernel, operations
from portcheck.ir.walk import reads, views, writes

_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})


def hosts(sites: Sequence[LaunchSite]) -> list[list[LaunchSite]]:
    """The launches by the function they stand in, in order."""
    found: dict[tuple[int, int, int] | None, list[LaunchSite]] = {}
    for site in sites:
        found.setdefault(site.host.key if site.host is not None else None, []).append(site)
    return list(found.values())


def is_repeated(definitions: Definitions, kernel: Kernel, sites: Sequence[LaunchSite], parameters: list[str]) -> bool:
    """Whether the launches of one host function may together do something else than the first of them."""
    loops = [loop for site in sites for loop in _loops_around(site)]
    pairs = [(one, other) for one, other in combinations(sites, 2) if not _are_alternatives(one.node, other.node)]
    if not loops and not pairs:
        return False
    if any(_reads_what_it_writes(kernel, site, parameters) for site in sites):
        return True
    changes = _Changes(definitions, sites)
    if any(_text(one) != _text(other) or changes.between(one, other.node.start) for one, other in pairs):
        return True
    return any(changes.inside(site, loop) for site in sites for loop in _loops_around(site))


def _text(site: LaunchSite) -> list[str]:
    """Extents and arguments; template arguments that differ are left open in the lowered kernel."""
    return [" ".join(node.text.split()) for node in _given(site)]


def _given(site: LaunchSite) -> tuple[Node, ...]:
    """What decides on the elements a launch computes: grid, block and arguments, not shared memory and stream."""
    return (*site.configuration[:2], *site.arguments)


def _around(node: Node) -> Iterator[Node]:
    """`node` and what it stands in, up to the function."""
    current: Node | None = node
    while current is not None and current.type != "function_definition":
        yield current
        current = current.parent


def _loops_around(site: LaunchSite) -> list[Node]:
    return [node for node in _around(site.node) if node.type in _LOOPS]


def is_in_loop(site: LaunchSite) -> bool:
    """Whether a loop of the host function runs the launch."""
    return bool(_loops_around(site))


def _are_alternatives(first: Node, second: Node) -> bool:
    """Whether no run of the function reaches both: two arms of a choice, or the first one returns."""
    outer = {node.key: node for node in _around(second)}
    path: list[Node] = []
    for node in _around(first):
        if node.key in outer:
            return _parts(node, path[-1] if path else node, second)
        is_arm = node.parent is not None and node.parent.type in ("if_statement", "else_clause")
        if is_arm and always_returns(node):
            return True
        path.append(node)
    return False


def _parts(choice: Node, arm: Node, second: Node) -> bool:
    """Whether `arm` of `choice` and what holds `second` are never both run."""
    if choice.type in ("if_statement", "conditional_expression"):
        condition = choice.field("condition")
        return condition is None or not (condition.start <= arm.start < condition.end)
    holder = choice.parent
    if choice.type != "compound_statement" or holder is None or holder.type != "switch_statement":
        return False
    is_other = not (arm.start <= second.start < arm.end)
    return arm.type == "case_statement" and is_other and _ends(arm)


def _ends(case: Node) -> bool:
    last = case.named[-1] if case.named else None
    if last is not None and last.type == "compound_statement" and last.named:
        last = last.named[-1]
    return last is not None and last.type in ("break_statement", "return_statement")


def _reads_what_it_writes(kernel: Kernel, site: LaunchSite, parameters: list[str]) -> bool:
    given = {name: argument.text for name, argument in zip(parameters, site.arguments, strict=False)}
    shared = {parameter.name for parameter in kernel.parameters if parameter.is_buffer}
    bases = views(kernel.body)
    read = {bases.get(name, name) for op in operations(kernel.body) for name in reads(op)} & shared
    written = {bases.get(name, name) for op in operations(kernel.body) for name in writes(op)} & shared
    return bool({given.get(name, name) for name in read} & {given.get(name, name) for name in written})


class _Changes:
    """What the host function changes of the names that a launch mentions."""

    def __init__(self, definitions: Definitions, sites: Sequence[LaunchSite]) -> None:
        self._definitions = definitions
        self._launches = {site.node.key for site in sites}
        host = sites[0].host
        self._body = host.field("body") if host is not None else None
        self._mutations = Mutations(self._body, self._may_change) if self._body is not None else None

    def between(self, site: LaunchSite, end: int) -> bool:
        """Whether a name that the launch mentions is changed between it and the byte `end`."""
        return self._any(site, site.node.start, end)

    def inside(self, site: LaunchSite, loop: Node) -> bool:
        """Whether a name that the launch mentions is changed, or declared, inside the loop around it."""
        declared = {
            declared_name(found) for node in loop.found("declaration")
            for found in node.fields("declarator")
        }  # fmt: skip
        return bool(declared & _names(site)) or self._any(site, loop.start, loop.end)

    def _any(self, site: LaunchSite, start: int, end: int) -> bool:
        changes = self._mutations
        return changes is None or any(changes.is_changed(name, start, end) for name in _names(site))

    def _may_change(self, call: Node, position: int) -> bool:
        """Whether a call may change its argument: not a launch of this kernel, nor a constant parameter of another."""
        if call.key in self._launches:
            return False
        function = call.field("function")
        name = declared_name(bare(function)) if function is not None else ""
        for known in self._definitions.functions.get(name, []):
            if position < len(known.parameters):
                return not known.parameters[position].has("const")
        return True


def _names(site: LaunchSite) -> set[str]:
    return {node.text for part in _given(site) for node in part.found("identifier")}
