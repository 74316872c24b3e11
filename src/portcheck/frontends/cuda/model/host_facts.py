"""What a function of the host changes and uses, found once: only what a launch depends on is followed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from portcheck.frontends.cuda.model.callsite import qualified_name
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.parsing.definitions import declared_name
from portcheck.frontends.cuda.parsing.references import may_change
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.frontends.cuda.text.lexer import significant

_CHANGING = ("assignment_expression", "update_expression", "pointer_expression", "call_expression")
_NAMES = ("identifier", "type_identifier")


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Where names change, by the byte, in order; and for each name those that its values are made of."""

    changes: tuple[tuple[int, str], ...]
    uses: dict[str, frozenset[str]]

    def changed_in(self, node: Node) -> Iterator[str]:
        """The names that `node` changes."""
        first, last = (bisect_left(self.changes, (place,)) for place in (node.start, node.end))
        return (name for _, name in self.changes[first:last])

    def needed(self, names: Iterable[str]) -> frozenset[str]:
        """`names`, and all that their values depend on."""
        found: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending.extend(self.uses.get(name, ()))
        return frozenset(found)


def facts_of_host(state: State, function: Node) -> HostFacts:
    """The facts of a function, or of a whole text."""
    known = state.host_facts.get(function.key)
    if known is None:
        changes = tuple(sorted(_changes(state, function)))
        known = state.host_facts[function.key] = HostFacts(changes, _uses(state, function))
    return known


def names_in(state: State, nodes: Iterable[Node]) -> set[str]:
    """The names in `nodes`, those in the macros they use included."""
    return _with_macros(state, [name.text for node in nodes for name in node.found(*_NAMES)])


def _with_macros(state: State, pending: list[str]) -> set[str]:
    """The names `pending`, and those in the macros among them."""
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        macro = state.macros.get(name)
        if macro is not None:
            pending.extend(token.text for token in significant(macro.body))
    return found


def _uses(state: State, function: Node) -> dict[str, frozenset[str]]:
    names = [(name.start, name.text) for name in function.found(*_NAMES)]
    found: dict[str, set[str]] = {}

    def within(node: Node) -> set[str]:
        first, last = (bisect_left(names, (place,)) for place in (node.start, node.end))
        return _with_macros(state, [name for _, name in names[first:last]])

    for node in function.found("declaration", "assignment_expression"):
        if node.type == "declaration":
            for declarator in node.fields("declarator"):
                found.setdefault(declared_name(declarator), set()).update(within(declarator))
            continue
        left = node.field("left")
        mentioned = within(node)
        for name in within(left) if left is not None else ():
            found.setdefault(name, set()).update(mentioned)
    return {name: frozenset(others) for name, others in found.items()}


def _changes(state: State, node: Node) -> Iterator[tuple[int, str]]:
    for found in node.found(*_CHANGING):
        if found.type == "call_expression":
            yield from ((found.start, name) for name in _given_as_references(state, found))
            continue
        target = found.field("left") or found.field("argument")
        if found.type == "pointer_expression" and not found.has("&"):
            continue
        while target is not None and target.type in ("field_expression", "parenthesized_expression"):
            target = target.field("argument") or (target.named[0] if target.named else None)
        if target is not None and target.type == "identifier":
            yield found.start, target.text


def _given_as_references(state: State, call: Node) -> Iterator[str]:
    function, arguments = call.field("function"), call.field("arguments")
    name = qualified_name(state, bare(function))[0] if function is not None else ""
    known = state.definitions.functions.get(name.rpartition("::")[2], [])
    for position, argument in enumerate(arguments.named if arguments is not None and known else ()):
        if argument.type == "identifier" and any(_takes_reference(found.parameters, position) for found in known):
            yield argument.text


def _takes_reference(parameters: list[Node], position: int) -> bool:
    return position < len(parameters) and may_change(parameters[position], parameters[position].field("declarator"))
