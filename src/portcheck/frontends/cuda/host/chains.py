"""Chains: kernels that one host function launches one after the other, where a later one reads what an earlier wrote.

Only host code that leaves no doubt is followed: all launches of the function in one block, in one stream, buffers by
their names, and nothing between them that touches a buffer or changes what a launch depends on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from portcheck.frontends.cuda.host.following import parameters_of
from portcheck.frontends.cuda.host.launch import LaunchSite, unwrapped
from portcheck.frontends.cuda.host.repeats import hosts, is_in_loop
from portcheck.frontends.cuda.model.callsite import qualified_name
from portcheck.frontends.cuda.model.host_facts import facts_of_host, names_in
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.parsing.definitions import Definitions, declared_name
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.ir import Kernel, Launch, operations, reads, views, writes
from portcheck.knowledge import Semantics

_HOST = "host::"
_DEFAULT_STREAM = frozenset({"", "0", "nullptr", "NULL"})
_NULL = frozenset({"0", "nullptr", "NULL"})


@dataclass(frozen=True, slots=True)
class Chain:
    """The launches of a host function in their order; `temporaries` are buffers that only they see.

    It is closed if every other buffer comes from outside of the host function.
    """

    host: str
    sites: tuple[LaunchSite, ...]
    temporaries: tuple[str, ...]
    is_closed: bool


def the_chain(state: State, sites: Sequence[LaunchSite], names: Set[str] | None = None) -> Chain | None:
    """The chain that is all launches of exactly the kernels `names` (None: of all the file has); None without one."""
    wanted = names if names is not None else {function.name for function in state.definitions.kernels}
    groups = hosts([site for site in sites if site.name in wanted])
    if len(groups) != 1 or len(groups[0]) < 2 or {site.name for site in groups[0]} != wanted:
        return None
    host = groups[0][0].host
    beside = [site for site in sites if host is not None and site.host is not None and site.host.key == host.key]
    return _chain(state, groups[0]) if len(beside) == len(groups[0]) else None


def _chain(state: State, sites: list[LaunchSite]) -> Chain | None:
    host = sites[0].host
    if host is None or not _is_straight(state.definitions, sites, host) or not _is_settled(state, sites, host):
        return None
    buffers = _buffers(state.definitions, sites)
    if buffers is None or _are_repeated(sites):
        return None
    outer = frozenset(name for node in parameters_of(host) if (name := declared_name(node.field("declarator"))))
    temporaries: list[str] = []
    for name in buffers:
        uses = _Uses(state, host, name, sites)
        if not uses.is_clear(is_parameter=name in outer):
            return None
        if name not in outer and not uses.is_seen:
            temporaries.append(name)
    is_closed = set(buffers) <= {*outer, *temporaries}
    return Chain(declared_name(host.field("declarator")), tuple(sites), tuple(temporaries), is_closed)


def _is_straight(definitions: Definitions, sites: list[LaunchSite], host: Node) -> bool:
    """Whether the launches are statements of one block, that runs once, in one stream."""
    known = {function.name for function in definitions.kernels}
    blocks, streams = set(), set()
    for site in sites:
        statement = site.node.parent
        block = statement.parent if statement is not None else None
        if statement is None or statement.type != "expression_statement" or block is None:
            return False
        blocks.add((block.type, block.key))
        stream = site.configuration[3].text if len(site.configuration) > 3 else ""
        streams.add("" if stream in _DEFAULT_STREAM else stream)
        if site.name not in known or len(site.configuration) < 2 or is_in_loop(site):
            return False
    is_plain = host.parent is None or host.parent.type != "template_declaration"
    is_jumping = bool(host.found("goto_statement", "lambda_expression")) or _may_end_between(sites, host)
    kinds = {kind for kind, _ in blocks}
    return len(blocks) == 1 and kinds == {"compound_statement"} and len(streams) == 1 and is_plain and not is_jumping


def _are_repeated(sites: list[LaunchSite]) -> bool:
    """Whether a kernel is launched twice on the same arguments: to warm up, to time it, or as a step."""
    given = [(site.name, *(unwrapped(node).text for node in site.arguments)) for site in sites]
    return len(set(given)) < len(given)


def _may_end_between(sites: list[LaunchSite], host: Node) -> bool:
    start, end = sites[0].node.start, sites[-1].node.end
    leaving = host.found("return_statement", "throw_statement", "break_statement", "continue_statement")
    return any(start <= node.start < end for node in leaving)


def _is_settled(state: State, sites: list[LaunchSite], host: Node) -> bool:
    """Whether no number that a launch depends on changes once the first has run, and no name means two things."""
    facts = facts_of_host(state, host)
    given = [node for site in sites for node in (*site.configuration, *site.arguments)]
    needed = facts.needed(names_in(state, given))
    start, end = sites[0].node.start, sites[-1].node.start
    buffers = set(_buffers(state.definitions, sites) or ())
    changed = {name for position, name in facts.changes if start <= position < end}
    declared = _declared(host)
    return not changed & (needed - buffers) and all(declared.count(name) < 2 for name in needed)


def _declared(host: Node) -> list[str]:
    nodes = [declarator for node in host.found("declaration") for declarator in node.fields("declarator")]
    nodes += [found for node in parameters_of(host) if (found := node.field("declarator")) is not None]
    return [declared_name(node) for node in nodes]


def _buffers(definitions: Definitions, sites: Sequence[LaunchSite]) -> list[str] | None:
    """The names that are passed for pointers; None where something else is."""
    found: dict[str, None] = {}
    for site in sites:
        kernel = next((one for one in definitions.kernels if one.name == site.name), None)
        if kernel is None or len(kernel.parameters) != len(site.arguments):
            return None
        for parameter, argument in zip(kernel.parameters, site.arguments, strict=True):
            declarator = parameter.field("declarator")
            if declarator is None or declarator.type not in ("pointer_declarator", "array_declarator"):
                continue
            given = unwrapped(argument)
            if given.type != "identifier":
                return None
            found[given.text] = None
    return list(found)


class _Uses:
    """What a host function does with a pointer besides launching kernels on it."""

    def __init__(self, state: State, host: Node, name: str, sites: Sequence[LaunchSite]) -> None:
        self._state = state
        self._host = host
        self._name = name
        mine = [site for site in sites if any(name in names_in(state, [node]) for node in site.arguments)]
        self._start, self._end = mine[0].node.start, mine[-1].node.end
        self._launches = {site.node.key for site in sites}
        self.is_seen = False

    def is_clear(self, *, is_parameter: bool) -> bool:
        """Whether the name means one array of its own, which nothing changes between the launches."""
        body = self._host.field("body")
        is_local = self._name in _declared(self._host)
        mentions = [node for node in body.found("identifier") if node.text == self._name] if body is not None else []
        return is_local and all(self._is_harmless(node, is_parameter) for node in mentions)

    def _is_harmless(self, node: Node, is_parameter: bool) -> bool:
        """Whether this mention makes, frees or passes on the whole array, outside of the chain."""
        if self._declares(node):
            return True
        if _is_below(node, "sizeof_expression"):
            return True
        call = _call_around(node)
        if call is None:
            return False
        if call.key in self._launches:
            return True
        is_outside = node.start < self._start or node.start >= self._end
        kind = self._kind(call)
        if _is_below(node, "pointer_expression"):
            return kind is Semantics.HOST_ALLOCATE and not is_parameter and node.start < self._start
        if kind is not Semantics.HOST_RELEASE:
            self.is_seen = True
        return is_outside

    def _declares(self, node: Node) -> bool:
        """Whether the mention is the declaration itself, which gives no other array's address."""
        current: Node = node
        while current.parent is not None and current.type in ("identifier", "pointer_declarator"):
            current = current.parent
        if current.type == "init_declarator":
            value = current.field("value")
            is_null = value is None or value.text in _NULL
            return is_null and declared_name(current) == self._name
        return current.type == "declaration"

    def _kind(self, call: Node) -> Semantics | None:
        function = call.field("function")
        name = qualified_name(self._state, bare(function))[0] if function is not None else ""
        construct = self._state.construct(_HOST + name)
        return construct.semantics if construct is not None else None


def _is_below(node: Node, kind: str) -> bool:
    current = node.parent
    while current is not None and not current.type.endswith("statement"):
        if current.type == kind:
            return True
        current = current.parent
    return False


def _call_around(node: Node) -> Node | None:
    """The call that takes `node`, or its address, perhaps cast, as an argument."""
    current = node.parent
    while current is not None and current.type in ("cast_expression", "pointer_expression", "parenthesized_expression"):
        current = current.parent
    holder = current.parent if current is not None and current.type == "argument_list" else None
    return holder if holder is not None and holder.type == "call_expression" else None


def is_connected(kernels: Mapping[str, Kernel], launches: Sequence[Launch]) -> bool:
    """Whether every launch but the last writes a buffer that a later one reads."""
    used = [_used(kernels[launch.kernel], dict(launch.arguments)) for launch in launches]
    return all(any(written & read for read, _ in used[place + 1 :]) for place, (_, written) in enumerate(used[:-1]))


def _used(kernel: Kernel, names: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """The buffers of the program that a launch reads and writes."""
    shared = {parameter.name for parameter in kernel.parameters if parameter.is_buffer}
    bases = views(kernel.body)
    read = {bases.get(name, name) for op in operations(kernel.body) for name in reads(op)} & shared
    written = {bases.get(name, name) for op in operations(kernel.body) for name in writes(op)} & shared
    return {names.get(name, name) for name in read}, {names.get(name, name) for name in written}
