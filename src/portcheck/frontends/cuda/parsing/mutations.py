"""Which names a body changes, where, and whether in a straight line with their declaration."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from portcheck.frontends.cuda.parsing.references import is_reference
from portcheck.frontends.cuda.parsing.syntax import Node, bare

_CONDITIONAL = frozenset({"conditional_expression", "lambda_expression"})
_SHORT_CIRCUIT = frozenset({"&&", "||", "and", "or"})
_LEADING_ON = frozenset({"conditional_expression", "assignment_expression", "update_expression", "comma_expression"})
_STATEMENTS = frozenset({"expression_statement", "declaration"})
_CHANGING = (
    "assignment_expression", "update_expression", "pointer_expression", "call_expression", "gnu_asm_output_operand",
    "ERROR", "init_declarator", "cast_expression", "function_declarator",
)  # fmt: skip

_CHOOSING = frozenset({"conditional_expression", "call_expression", "comma_expression", "cast_expression"})


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change of a name: where it stands and the block it stands in directly, if it always runs there."""

    start: int
    block: tuple[int, int, int] | None


class Mutations:
    """All changes within one body, by name."""

    def __init__(
        self, body: Node, takes_reference: Callable[[Node, int], bool],
        shows: Callable[[Node, int], bool] = lambda call, position: False,
        keeps: Callable[[Node, int], bool] = lambda declaration, position: False,
    ) -> None:  # fmt: skip
        self._by_name: dict[str, list[Mutation]] = {}
        self._shown: set[str] = set()
        """Names whose bytes may be seen as another type: their address is cast, or goes where nobody looks."""
        may_jump = bool(body.found("goto_statement"))
        for node in body.found(*_CHANGING):
            if node.type == "ERROR" and body.type == "ERROR":
                continue
            self._shown.update(_shown(node, shows))
            for name in _kept(node, keeps):
                self._by_name.setdefault(name, []).append(Mutation(node.start, None))
            for target, moves in _targets(node, takes_reference):
                found = self._by_name.setdefault(target, [])
                found.append(Mutation(node.start, _block_of(node) if moves and not may_jump else None))

    @property
    def shown(self) -> frozenset[str]:
        """The names whose bytes may be seen as another type."""
        return frozenset(self._shown)

    def is_shown(self, name: str) -> bool:
        """Whether the bytes of `name` may be seen as another type."""
        return name in self._shown

    def changes(self, name: str) -> bool:
        """Whether `name` is changed anywhere."""
        return name in self._by_name

    def within(self, name: str, start: int, end: int) -> list[Mutation]:
        """The changes of `name` between two byte offsets."""
        found = self._by_name.get(name, [])  # in the order of the text
        first, last = (bisect_left(found, place, key=_start) for place in (start, end))
        return found[first:last]

    def is_changed(self, name: str, start: int, end: int) -> bool:
        """Whether `name` is changed between two byte offsets."""
        found = self._by_name.get(name, [])
        first = bisect_left(found, start, key=_start)
        return first < len(found) and found[first].start < end

    def is_straight(self, name: str, start: int, scope: Node) -> bool:
        """Whether every change of `name` after `start` in the block `scope` always runs when the block does."""
        return all(found.block == scope.key for found in self.within(name, start, scope.end))


def _start(mutation: Mutation) -> int:
    return mutation.start


def _shown(node: Node, shows: Callable[[Node, int], bool]) -> Iterator[str]:
    """The names whose bytes `node` shows: it casts their address, takes that of a member, or calls what may look."""
    member = node.field("argument") if node.type == "pointer_expression" and node.has("&") else None
    if member is not None and bare(member).type == "field_expression":
        yield from (name for name, _ in _named(member, False))
    if node.type == "cast_expression":
        value = node.field("value")
        yield from _addressed(value) if value is not None else ()
    arguments = node.field("arguments") if node.type == "call_expression" else None
    for position, argument in enumerate(arguments.named if arguments is not None else ()):
        if shows(node, position):
            yield from _addressed(argument)
            yield from (name for name, _ in _named(argument, False))


def _kept(node: Node, keeps: Callable[[Node, int], bool]) -> Iterator[str]:
    """The names that a variable is made of and may change later: it keeps a reference to them."""
    parent = node.parent
    parameters = node.field("parameters") if node.type == "function_declarator" else None
    if parent is not None and parent.type == "declaration" and parameters is not None:
        for position, parameter in enumerate(parameters.named):  # `T v(a)` in a body is a variable made of `a`
            yield from (found.text for found in parameter.named[:1] if keeps(parent, position))
    value = node.field("value") if node.type == "init_declarator" else None
    if value is None or parent is None or value.type not in ("argument_list", "initializer_list"):
        return
    for position, argument in enumerate(value.named):
        if keeps(parent, position):
            yield from (name for name, _ in _named(argument, False))


def _addressed(node: Node) -> Iterator[str]:
    node = bare(node)
    argument = node.field("argument") if node.type == "pointer_expression" and node.has("&") else None
    yield from (name for name, _ in _named(argument, False))


def _targets(node: Node, takes_reference: Callable[[Node, int], bool]) -> list[tuple[str, bool]]:
    """The names `node` itself changes, and whether it says what they become."""
    match node.type:
        case "assignment_expression":
            return _assigned(node.field("left"))
        case "update_expression":
            return _assigned(node.field("argument"))
        case "pointer_expression" if node.has("&"):
            return _named(node.field("argument"), False)
        case "call_expression":
            arguments = node.field("arguments")
            listed = arguments.named if arguments is not None else []
            return [
                pair
                for position, argument in enumerate(listed)
                if takes_reference(node, position)
                for pair in _named(argument, False)
            ]
        case "gnu_asm_output_operand":
            return _named(node.field("value"), False)
        case "ERROR":
            return [(found.text, False) for found in _wrecked(node).found("identifier")]
        case "init_declarator":
            value = node.field("value")
            declarator = node.field("declarator")
            if value is not None and is_reference(declarator):
                return _named(value, False)
        case _:
            pass
    return []


def _wrecked(node: Node) -> Node:
    """The expression that text which does not parse is a part of, else that text."""
    parent = node.parent
    return parent if parent is not None and parent.type.endswith("_expression") else node


def _assigned(node: Node | None) -> list[tuple[str, bool]]:
    """The names that an assignment to `node` changes: all that stand there where it is no plain name or element."""
    if node is not None and bare(node).type in _CHOOSING:
        return [(found.text, False) for found in node.found("identifier")]
    return _named(node, True)


def _named(node: Node | None, moves: bool) -> list[tuple[str, bool]]:
    if node is None:
        return []
    node = bare(node)
    if node.type in _LEADING_ON:
        parts = [node.field(name) for name in ("left", "argument")] if node.type != "comma_expression" else []
        parts += [node.field(name) for name in ("consequence", "alternative")]
        parts += [node.field("right")] if node.type == "comma_expression" else []
        return [pair for part in parts for pair in _named(part, False)]
    while node.type == "field_expression":
        argument = node.field("argument")
        if argument is None or node.has("->"):
            return []
        node = bare(argument)
    return [(node.text, moves)] if node.type == "identifier" else []


def _block_of(node: Node) -> tuple[int, int, int] | None:
    """The block whose every run runs `node`; None where that depends."""
    current = node.parent
    while current is not None and current.type not in _STATEMENTS:
        if current.type in _CONDITIONAL or current.type.endswith("_statement"):
            return None
        operator = current.field("operator") if current.type == "binary_expression" else None
        if operator is not None and operator.text in _SHORT_CIRCUIT:
            return None
        current = current.parent
    block = current.parent if current is not None else None
    return block.key if block is not None and block.type == "compound_statement" else None


def mentions(node: Node, names: frozenset[str]) -> bool:
    """Whether an identifier of `names` stands in `node`."""
    return any(found.text in names for found in node.found("identifier"))
