"""Templates with parameter packs: written out for as many arguments as a use of one has.

`template <class... T> int f(T... t)` with two arguments is `template <class T__0, class T__1> int f(T__0 t__0, T__1
t__1)`; all else is then said of ordinary templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import type_of_value
from portcheck.frontends.cuda.model.values import Value
from portcheck.frontends.cuda.parsing.composing import Pieces
from portcheck.frontends.cuda.parsing.definitions import Function, declared_name, function_of
from portcheck.frontends.cuda.parsing.namespaces import space_of
from portcheck.frontends.cuda.parsing.syntax import Node

_VARIADIC = frozenset(
    {"variadic_type_parameter_declaration", "variadic_parameter_declaration", "variadic_template_parameter_declaration"}
)
_EXPANSION = "parameter_pack_expansion"
_DOTS = "..."
_CLOSING = frozenset({")", "}", ">", "]"})
_NO_PARAMETER = "class none__ = void"
_EMPTY_FOLDS = {"&&": "true", "||": "false", ",": "((void)0)"}
_LEFT_AND_RIGHT = 5
"""Parts of a fold that has a first or last operand of its own."""
_MOST_COPIES = 64
_MOST_WRITTEN = 400


def sized(state: State, function: Function, templates: int, values: Sequence[Value]) -> Function:
    """`function` for so many template arguments and these arguments; itself where it has no packs that they fill."""
    listed = function.template.named if function.template is not None else []
    packs = {pack_name(node) for node in listed if node.type in _VARIADIC}
    last = function.pack
    if not packs and last is None:
        return function
    sizes: dict[str, int] = {}
    if last is not None:
        count = len(values) - len(function.parameters)
        sizes = dict.fromkeys(_names_in(last, packs), count)
    for parameter, value in zip(function.parameters, values, strict=False):
        sizes |= _of_arguments(state, parameter, value, packs)
    for name in packs:
        sizes.setdefault(name, max(0, templates - (len(listed) - len(packs))))
    outer = function.template.parent if function.template is not None else function.node
    written = _written(state, outer or function.node, sizes, _NO_PARAMETER)
    definition = next(iter(written.found("function_definition")), None) if written is not None else None
    holder = definition.parent if definition is not None else None
    template = holder.field("parameters") if holder is not None and holder.type == "template_declaration" else None
    made = function_of(definition, template) if definition is not None else None
    return replace(made, scope=function.scope, space=function.space, is_packed=True) if made is not None else function


def sized_record(state: State, definition: Node, count: int) -> Node:
    """The record or alias `definition` for so many template arguments; itself where it has no pack."""
    outer = definition.parent
    parameters = outer.field("parameters") if outer is not None and outer.type == "template_declaration" else None
    packs = [node for node in (parameters.named if parameters is not None else ()) if node.type in _VARIADIC]
    if outer is None or parameters is None or len(packs) != 1:
        return definition
    sizes = {pack_name(packs[0]): count - (len(parameters.named) - 1)}
    for inner in definition.found("variadic_parameter_declaration"):
        sizes |= dict.fromkeys(_names_in(inner, {*sizes}), sizes[pack_name(packs[0])]) if _is_of(inner, sizes) else {}
    written = _written(state, outer, sizes, "")
    return next(iter(written.found(definition.type)), definition) if written is not None else definition


def sized_lambda(state: State, node: Node, count: int) -> Node:
    """The lambda `node` for so many arguments; itself where it has no pack."""
    declarator = node.field("declarator")
    parameters = declarator.field("parameters") if declarator is not None else None
    listed = parameters.named if parameters is not None else []
    if not listed or listed[-1].type not in _VARIADIC:
        return node
    written = _written(state, node, {pack_name(listed[-1]): count - (len(listed) - 1)}, "")
    return next(iter(written.found("lambda_expression")), node) if written is not None else node


def pack_name(parameter: Node) -> str:
    """What a pack is called; "" where it has no name."""
    if parameter.type == "variadic_parameter_declaration":
        return declared_name(parameter.field("declarator"))
    return next((child.text for child in parameter.named if child.type == "type_identifier"), "")


def _names_in(parameter: Node, packs: set[str]) -> Iterator[str]:
    """The packs that one parameter of a function expands: of types, and its own."""
    yield from (node.text for node in parameter.found("type_identifier") if node.text in packs)
    if pack_name(parameter):
        yield pack_name(parameter)


def _is_of(parameter: Node, sizes: Mapping[str, int]) -> bool:
    return any(node.text in sizes for node in parameter.found("type_identifier"))


def _of_arguments(state: State, parameter: Node, value: Value, packs: set[str]) -> dict[str, int]:
    """`Packed<T...>` against a value that is a `Packed<int, float>`."""
    specifier = parameter.field("type")
    listed = specifier.field("arguments") if specifier is not None and specifier.type == "template_type" else None
    type_ = type_of_value(value) or type_of_value(value, through_pointer=True)
    record = state.records.get(type_.name) if type_ is not None else None
    last = listed.named[-1] if listed is not None and listed.named else None
    if record is None or listed is None or last is None or last.type != _EXPANSION:
        return {}
    named = [node.text for node in last.found("type_identifier", "identifier") if node.text in packs]
    return dict.fromkeys(named, len(record.arguments) - (len(listed.named) - 1))


def _written(state: State, node: Node, sizes: Mapping[str, int], nothing: str) -> Node | None:
    """The text of `node` written out, read again where it stood: in its namespaces.

    `nothing` stands in a list of template parameters of which none is left. None where the sizes make no sense.
    """
    if any(not 0 <= count <= _MOST_COPIES for count in sizes.values()):
        return None
    key = (node.key, nothing, tuple(sorted(sizes.items())))
    if key not in state.written:
        if len(state.written) > _MOST_WRITTEN:
            return None
        writer = _Writer(node, {name: count for name, count in sizes.items() if name}, nothing)
        around = [part for part in space_of(node).split("::") if part]
        writer.put("".join(f"namespace {part} {{ " for part in around), node)
        writer.put("auto lambda = " if node.type == "lambda_expression" else "", node)
        writer.write(node, None)
        writer.put(";" + " }" * len(around), node)
        state.written[key] = writer.parsed()
    return state.written[key]


class _Writer(Pieces):
    """Collects the text of a node with its packs written out."""

    def __init__(self, node: Node, sizes: Mapping[str, int], nothing: str) -> None:
        super().__init__(node.unit)
        self._sizes = sizes
        self._nothing = nothing

    def write(self, node: Node, position: int | None) -> None:
        """Adds `node`, as the element at `position` of the packs named in it."""
        if not node.children:
            self._leaf(node, position)
        elif node.type == "sizeof_expression" and node.has(_DOTS) and self._size(node) is not None:
            self.put(f"{self._size(node)}ul", node)
        elif node.type == "fold_expression" and self._size(node) is not None:
            self._fold(node, self._size(node) or 0)
        elif any(self._copies(child) is not None for child in node.children):
            self._list(node, position)
        else:
            place = node.start
            for child in node.children:
                self.keep(place, child.start)
                self.write(child, position)
                place = child.end
            self.keep(place, node.end)

    def _leaf(self, node: Node, position: int | None) -> None:
        is_pack = position is not None and node.raw.is_named and node.text in self._sizes
        if is_pack:
            self.put(f"{node.text}__{position}", node)
        elif node.type == _DOTS and position is not None:
            self.put(" ", node)  # `T...t` has two names
        else:
            self.keep(node.start, node.end)

    def _size(self, node: Node) -> int | None:
        """How many elements the packs named in `node` have."""
        kinds = ("identifier", "type_identifier", "namespace_identifier")
        named = (self._sizes[found.text] for found in node.found(*kinds) if found.text in self._sizes)
        return next(named, None)

    def _copies(self, node: Node) -> int | None:
        """How often an item of a list is written; None for one that expands no pack."""
        return self._size(node) if node.type == _EXPANSION or node.type in _VARIADIC else None

    def _list(self, node: Node, position: int | None) -> None:
        first, *items = node.children
        last = items.pop() if items and items[-1].type in _CLOSING else None
        is_open = first.type in ("(", "{", "<", "[", ":")
        listed = items if is_open else [first, *items]
        if is_open:
            self.keep(first.start, first.end)
        copies: list[tuple[Node, int | None]] = []
        for item in (item for item in listed if item.type != ","):
            count = self._copies(item)
            pattern = (item.field("pattern") or item) if item.type == _EXPANSION else item
            copies += [(item, position)] if count is None else [(pattern, one) for one in range(count)]
        for number, (item, one) in enumerate(copies):
            self.put(", " if number else "", node)
            self.write(item, one)
        if not copies and node.type == "template_parameter_list":
            self.put(self._nothing, node)
        if last is not None:
            self.keep(last.start, last.end)

    def _fold(self, node: Node, count: int) -> None:
        parts = [child for child in node.children if child.type not in ("(", ")")]
        operator = parts[1].text
        is_both = len(parts) == _LEFT_AND_RIGHT
        is_left = parts[0].type == _DOTS or (is_both and self._size(parts[0]) is None)
        pattern = parts[-1] if is_left else parts[0]
        operands: list[tuple[Node, int | None]] = [(pattern, one) for one in range(count)]
        if is_both:
            operands = [(parts[0], None), *operands] if is_left else [*operands, (parts[-1], None)]
        if not operands:
            self.put(_EMPTY_FOLDS.get(operator, _DOTS), node)
            return
        self.put("(" * (len(operands) if is_left else 1), node)
        for number, (operand, one) in enumerate(operands):
            self.put(f" {operator} " if number else "", node)
            self.put("((" if not is_left and number else "(", node)
            self.write(operand, one)
            self.put("))" if is_left else ")", node)
        self.put(")" * (0 if is_left else len(operands)), node)
