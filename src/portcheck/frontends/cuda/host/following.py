"""Host code up to a launch: what its names stand for there, followed statement by statement.

What stands before the launch in the blocks around it has run; of what runs only sometimes, or in a loop, the names it
changes are known no more. An unknown number is a symbol of its name, or of the parameter that it is passed as.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.host.wholes import whole_number
from portcheck.frontends.cuda.memory.places import read
from portcheck.frontends.cuda.model.callsite import qualified_name
from portcheck.frontends.cuda.model.constants import folded
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.frames import Binding, Scope
from portcheck.frontends.cuda.model.host_facts import facts_of_host, names_in
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import base_type, declare, pointer_to, scalar_type, type_of
from portcheck.frontends.cuda.model.values import Aggregate, CType, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.definitions import declared_name
from portcheck.frontends.cuda.parsing.parse import parse_expression
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.ir import ONE, Const, Expr, Symbol

_DIMENSIONS = "dim3"
_MEMBERS = "xyz"
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
_LARGEST = 100
UNKNOWN = "host("
"""How the symbol for a number begins that is not understood."""
_MOST_CALLS = 8
_DEEPEST_CALLS = 3
"""How far up the callers of host code are looked for."""


class Host:
    """The names at one node of host code, as far as the nodes `wanted` depend on them."""

    def __init__(
        self, state: State, function: Node | None, node: Node, wanted: Sequence[Node],
        passed: Mapping[str, str] | None = None, depth: int = 0, bindings: Mapping[str, Binding] | None = None,
    ) -> None:  # fmt: skip
        self._facts = facts_of_host(state, function if function is not None else node)
        self._needed = self._facts.needed(names_in(state, wanted))
        self._bindings = bindings or {}
        self._types: dict[str, CType] = {}
        self._depth = depth
        self._state = state
        self._function = function
        self._node = node
        self._passed = passed or {}
        self._taken = frozenset(self._passed.values())

    @contextmanager
    def names(self) -> Iterator[None]:
        """Inside the `with` block names mean what they mean at the node."""
        state = self._state
        names = (state.scopes, state.is_device, state.instances)
        found, notes = (state.undefined, state.template_parameters), len(state.notes)
        state.scopes, state.is_device, state.instances = [state.new_scope()], False, []
        state.undefined, state.template_parameters = dict(state.undefined), list(state.template_parameters)
        try:
            with state.builder.region():
                for name, binding in self._bindings.items():
                    state.bind(name, binding)
                self._declare(state.scopes[0])
                yield
        finally:
            state.scopes, state.is_device, state.instances = names
            state.undefined, state.template_parameters = found
            while len(state.notes) > notes:
                state.notes.popitem()

    def extents(self, node: Node) -> tuple[Expr, ...]:
        """The extents a configuration argument gives: one number, or up to three."""
        sizes = self._dimensions(bare(node))
        if sizes is None:
            return (self.number(node),)
        found = [part.expr for _, part in sizes.members if isinstance(part, Scalar)]
        while len(found) > 1 and found[-1] == ONE:
            found.pop()
        return tuple(found)

    def number(self, node: Node) -> Expr:
        """A host expression; one that is not understood is a symbol named by its text."""
        value = self._pure(node)
        if isinstance(value, Scalar):
            return value.expr
        return Symbol(f"{UNKNOWN}{' '.join(node.text.split())})", INT32)

    def type_of(self, node: Node) -> CType | None:
        """The type of what is passed: that of a variable, or of a number; None where it is not known."""
        node = bare(node)
        inner = node.field("argument")
        match node.type:
            case "identifier" if node.text in self._types:
                return self._types[node.text]
            case "cast_expression":
                return type_of(self._state, node.field("type"))
            case "pointer_expression" if node.has("&") and inner is not None:
                found = self.type_of(inner)
                return pointer_to(found) if found is not None else None
            case "subscript_expression" if inner is not None:
                found = self.type_of(inner)
                return found.target if found is not None else None
            case "binary_expression":
                left = node.field("left")
                found = self.type_of(left) if left is not None else None
                if found is not None and found.kind is TypeKind.POINTER:
                    return found
            case _:
                pass
        value = self._pure(node)
        return scalar_type(value.dtype) if value is not None and node.type != "identifier" else None

    # What runs before the node

    def _declare(self, scope: Scope) -> None:
        if self._function is None:
            return
        self._changed_variables(scope)
        for position, parameter in enumerate(parameters_of(self._function)):
            declared = declare(self._state, base_type(self._state, parameter), parameter.field("declarator"))
            if declared.name in self._needed:
                self._types[declared.name] = pointer_to(declared.type) if declared.extents else declared.type
                self._bind(declared.name, self._as_called(position, declared.type), declared.type)
        path = [self._node]
        while path[-1].parent is not None and path[-1].key != self._function.key:
            path.append(path[-1].parent)
        for outer, inner in zip(reversed(path[1:]), reversed(path[:-1]), strict=True):
            self._enter(outer, inner)

    def _as_called(self, position: int, type_: CType) -> Value | None:
        """The constant that every call in reach gives for a parameter; None where there is no call, or they differ."""
        if self._function is None or self._depth == _DEEPEST_CALLS or type_.kind is not TypeKind.SCALAR:
            return None
        key = (*self._function.key, position, self._depth)
        if key not in self._state.host_arguments:
            self._state.host_arguments[key] = None  # while it is looked for: a function that calls itself
            calls = calls_of(self._state, declared_name(self._function.field("declarator")))
            found = {self._given(call, position) for call in calls} if len(calls) <= _MOST_CALLS else set()
            self._state.host_arguments[key] = next(iter(found)) if len(found) == 1 else None
        only = self._state.host_arguments[key]
        return Scalar(only, only.dtype) if only is not None else None

    def _given(self, call: Node, position: int) -> Const | None:
        arguments = call.field("arguments")
        listed = arguments.named if arguments is not None else []
        caller = enclosing_function(call)
        if position >= len(listed) or caller is None:
            return None
        there = Host(self._state, caller, call, [listed[position]], depth=self._depth + 1)
        with there.names():
            value = there.number(listed[position])
        constant = folded(Scalar(value, value.dtype)).expr
        return constant if isinstance(constant, Const) else None

    def _changed_variables(self, scope: Scope) -> None:
        """Variables of the file that some function changes."""
        state = self._state
        for unit in state.definitions.units:
            changed = {name for _, name in facts_of_host(state, unit.root).changes}
            for name in changed & self._needed & state.definitions.variables.keys():
                declaration, declarator = state.definitions.variables[name]
                scope[name] = self._unknown(name, declare(state, base_type(state, declaration), declarator).type)

    def _enter(self, outer: Node, inner: Node) -> None:
        """What of `outer` has run, or may have, where its part `inner` begins."""
        if outer.type in ("compound_statement", "case_statement"):
            for statement in outer.named:
                if statement.end <= inner.start:
                    self._statement(statement)
            return
        if outer.type == "lambda_expression":
            for parameter in parameters_of(outer):
                declared = declare(self._state, base_type(self._state, parameter), parameter.field("declarator"))
                self._state.bind(declared.name, self._unknown(declared.name, declared.type))
            return
        if outer.type in _LOOPS:
            initial = outer.field("initializer") or (outer if outer.type == "for_range_loop" else None)
            if initial is not None:
                self._statement(initial)
            self._forget(outer)

    def _statement(self, node: Node) -> None:
        match node.type:
            case "declaration":
                declarators = [part for part in node.fields("declarator") if declared_name(part) in self._needed]
                for declarator in declarators:
                    self._variable(base_type(self._state, node), declarator)
                if not declarators:
                    self._forget(node)
            case "for_range_loop":
                declared = declare(self._state, base_type(self._state, node), node.field("declarator"))
                self._state.bind(declared.name, self._unknown(declared.name, declared.type))
            case "expression_statement" if node.named and node.named[0].type == "assignment_expression":
                self._assignment(node.named[0])
            case _:
                self._forget(node)

    def _variable(self, base: CType, declarator: Node) -> None:
        state = self._state
        name = declared_name(declarator)
        declared = declare(state, base, declarator)
        self._types[name] = pointer_to(declared.type) if declared.extents else declared.type
        value = declarator.field("value")
        if value is not None:
            self._forget(value)
        state.bind(name, self._unknown(name, declared.type))
        if base.name == _DIMENSIONS:
            given = [] if value is None else [value]
            initial: Value | None = self._dimensions(declarator if value is None else value) or self._sizes(given)
        elif value is None or declared.extents or base.kind not in (TypeKind.SCALAR, TypeKind.DEDUCED):
            return
        else:
            listed = value.named if value.type in ("argument_list", "initializer_list") else [value]
            initial = self._pure(listed[0]) if len(listed) == 1 else None
        self._bind(name, initial, declared.type)

    def _bind(self, name: str, value: Value | None, type_: CType) -> None:
        """A name that has this value from here on; one that is passed on goes by the parameter's name."""
        is_number = isinstance(value, Scalar)
        if isinstance(value, Scalar) and type_.kind is TypeKind.SCALAR and type_.dtype is not None:
            if type_.dtype.is_integer and not value.dtype.is_float:
                value = Scalar(value.expr, type_.dtype, value.size)
            else:
                value = convert(self._state, value, type_.dtype) if isinstance(value.expr, Const) else None
        if value is None or (is_number and name in self._passed):
            value = self._unknown(name, type_)
        self._state.bind(name, value)

    def _assignment(self, node: Node) -> None:
        left, right, operator = node.field("left"), node.field("right"), node.field("operator")
        if left is None or right is None or operator is None or operator.text != "=":
            self._forget(node)
            return
        self._forget(right)
        owner = left.field("argument") if left.type == "field_expression" else None
        if left.type == "identifier":
            bound = self._state.lookup(left.text)
            if isinstance(bound, Aggregate):
                self._bind(left.text, self._dimensions(bare(right)), bound.type)
            elif isinstance(bound, Scalar):
                self._bind(left.text, self._pure(right), scalar_type(bound.dtype))
        elif owner is not None and isinstance(self._state.lookup(owner.text), Aggregate):
            self._member(owner.text, left.text.rpartition(".")[2], right)
        else:
            self._forget(node)

    def _member(self, name: str, member: str, right: Node) -> None:
        whole = self._state.lookup(name)
        assert isinstance(whole, Aggregate)
        value = self._pure(right)
        number = value if isinstance(value, Scalar) else Scalar(self.number(right), INT32)
        parts = tuple((part, number if part == member else old) for part, old in whole.members)
        self._state.bind(name, Aggregate(whole.type, parts))

    def _forget(self, node: Node) -> None:
        """What `node` changes is not known afterwards."""
        for name in self._facts.changed_in(node):
            bound = self._state.lookup(name)
            if isinstance(bound, Scalar):
                self._state.bind(name, self._unknown(name, scalar_type(bound.dtype)))
            elif isinstance(bound, Aggregate):
                parts = tuple((part, Scalar(Symbol(f"{name}.{part}", INT32), INT32)) for part, _ in bound.members)
                self._state.bind(name, Aggregate(bound.type, parts))

    # Values

    def _unknown(self, name: str, type_: CType) -> Scalar:
        dtype = type_.dtype or INT32
        passed = self._passed.get(name)
        if passed is not None:
            return Scalar(Symbol(passed, dtype), dtype)
        return Scalar(Symbol(f"host_{name}" if name in self._taken else name, dtype), dtype)

    def _dimensions(self, node: Node) -> Aggregate | None:
        """The value of type `dim3` that `node` is, or makes; None for a number or anything else."""
        state = self._state
        match node.type:
            case "identifier":
                bound = state.lookup(node.text)
                return bound if isinstance(bound, Aggregate) else None
            case "function_declarator":
                parameters = node.field("parameters")
                return self._sizes(parameters.named if parameters is not None else [])
            case "argument_list" | "initializer_list":
                only = self._dimensions(bare(node.named[0])) if len(node.named) == 1 else None
                return only or self._sizes(node.named)
            case "compound_literal_expression":
                value = node.field("value")
                return self._sizes(value.named) if value is not None else None
            case "call_expression":
                function, arguments = node.field("function"), node.field("arguments")
                name = qualified_name(state, bare(function))[0] if function is not None else ""
                is_made = name == _DIMENSIONS and arguments is not None
                return self._dimensions(arguments) if is_made and arguments is not None else None
            case "init_declarator" | "identifier_declarator":
                return None
            case _:
                pass
        return None

    def _sizes(self, listed: list[Node]) -> Aggregate:
        parts = [Scalar(self.number(_as_expression(node)), INT32) for node in listed[: len(_MEMBERS)]]
        padded = [*parts, *(Scalar(ONE, INT32) for _ in _MEMBERS[len(parts) :])]
        return Aggregate(CType(kind=TypeKind.VECTOR, name=_DIMENSIONS), tuple(zip(_MEMBERS, padded, strict=True)))

    def _pure(self, node: Node) -> Scalar | None:
        """The number `node` is, if it needs no operation, or only such as round a quotient up or down."""
        state = self._state
        with state.builder.region() as emitted:
            value = read(state, state.evaluate(node), node)
        if not isinstance(value, Scalar) or value.size > _LARGEST:
            return None
        if emitted or value.is_data:
            return whole_number(emitted, value)
        return value


def calls_of(state: State, name: str) -> list[Node]:
    """The calls of functions of this name in all that was read."""
    if not state.host_calls:
        for unit in state.definitions.units:
            for call in unit.root.found("call_expression"):
                function = call.field("function")
                written = qualified_name(state, bare(function))[0] if function is not None else ""
                state.host_calls.setdefault(written.rpartition("::")[2], []).append(call)
    return state.host_calls.get(name, [])


def enclosing_function(node: Node) -> Node | None:
    """The definition of the function that `node` stands in."""
    current = node.parent
    while current is not None and current.type != "function_definition":
        current = current.parent
    return current


def parameters_of(function: Node) -> list[Node]:
    """The parameter declarations of a function definition or a lambda."""
    declarator = function.field("declarator")
    while declarator is not None and declarator.type not in ("function_declarator", "lambda_declarator"):
        declarator = declarator.field("declarator")
    listed = declarator.field("parameters") if declarator is not None else None
    kinds = ("parameter_declaration", "optional_parameter_declaration")
    return [node for node in listed.named if node.type in kinds] if listed is not None else []


def _as_expression(node: Node) -> Node:
    """What the grammar reads as a parameter of `dim3 g(a, b * c)`, as the expression it is."""
    if node.type != "parameter_declaration":
        return node
    if node.field("declarator") is None:
        return node.field("type") or node
    return parse_expression(node.text, node.span) or node
