"""Evaluating a kernel symbolically: what every buffer holds, for all threads and tiles at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from portcheck.core.dtype import DTypeKind
from portcheck.ir import (
    PREDICATES,
    Access,
    Alloc,
    Apply,
    Axis,
    Const,
    Expr,
    Kernel,
    Launch,
    Operator,
    Polynomial,
    Ranges,
    Ref,
    Space,
    Symbol,
    ValueType,
    number,
    refs_in,
)
from portcheck.ir.algebra import combine, polynomial_of
from portcheck.ir.operators import INTEGER
from portcheck.ir.polynomial import symbol
from portcheck.values.conditions import ALWAYS, compare, negated, simplified
from portcheck.values.folds import IDENTITIES
from portcheck.values.memory import Buffer, Havoc, Reader
from portcheck.values.substitution import in_term
from portcheck.values.terms import (
    Choice,
    Condition,
    Fold,
    Function,
    Holds,
    Index,
    Literal,
    Scalar,
    Term,
    Unknown,
    has_kind,
    map_children,
    own_children,
)
from portcheck.values.threads import Threads, threads_of
from portcheck.values.walking import from_below

_MOST_DIMENSIONS = 8


def dimension(position: int) -> str:
    """The symbol for the position along dimension `position` of a shaped value."""
    return f"@{position}"


@dataclass(slots=True)
class State:
    """What is known at one point of a kernel: buffers, results, and under which conditions the point is reached.

    `jumps` counts the jumps out of an iteration seen so far in the loop at hand.
    """

    threads: Threads
    symbols: dict[str, Polynomial]
    ranges: Ranges
    parameters: frozenset[str]
    floats: frozenset[str]
    buffers: dict[str, Buffer] = field(default_factory=dict)
    results: dict[int, Term] = field(default_factory=dict)
    shapes: dict[int, tuple[Polynomial, ...]] = field(default_factory=dict)
    predicates: dict[int, tuple[Condition, ...]] = field(default_factory=dict)
    path: tuple[Condition, ...] = ()
    exits: tuple[tuple[Condition, ...], ...] = ()
    assumptions: list[str] = field(default_factory=list)
    jumps: int = 0
    is_trusted: bool = False
    trusted: list[str] = field(default_factory=list)

    def given(self) -> tuple[Condition, ...] | None:
        """The conditions under which this point is reached; None if it never is."""
        conditions = list(self.path)
        for exit_path in self.exits:
            rest = tuple(condition for condition in exit_path if condition not in self.path)
            if not rest:
                return None
            conditions.extend(negated(rest))
        return simplified(conditions, self.ranges)

    def reader(self) -> Reader:
        """A reader of buffers at this point."""
        return self.reader_in(self.ranges)

    def reader_in(self, ranges: Ranges) -> Reader:
        """A reader of buffers at this point, with more known of symbols."""
        return Reader(ranges, self.given() or (), self.is_trusted, self.trusted, self.threads.names())

    def polynomial(self, expression: Expr) -> Polynomial:
        """The canonical form of an integer expression at this point."""
        return polynomial_of(expression, self.ranges, self.symbols, self._integer_result)

    def _integer_result(self, operation: int) -> Polynomial | None:
        result = self.results.get(operation)
        return result.value if isinstance(result, Index) else None

    def term(self, expression: Expr) -> Term:
        """What an expression is at this point."""
        match expression:
            case Const(value, dtype):
                return literal(value) if dtype.is_float else Index(number(int(value)))
            case Symbol(name) if name in self.floats:
                return Scalar(name)
            case Symbol():
                return Index(self.polynomial(expression))
            case Ref(id):
                return self.results.get(id, Unknown("the result of an operation that was not understood"))
            case Apply(operator, arguments):
                if operator in PREDICATES:
                    return _truth_value(self.conditions(expression))
                return computed(operator, tuple(self.term(argument) for argument in arguments), self.ranges)

    def conditions(self, expression: Expr) -> tuple[Condition, ...]:
        """The conjunction that a boolean expression states at this point."""
        match expression:
            case Const(value):
                return ALWAYS if value else negated(ALWAYS)
            case Ref(id) if id in self.predicates:
                return self.predicates[id]
            case Apply(Operator.LOGICAL_AND | Operator.BITWISE_AND, (left, right)):
                return (*self.conditions(left), *self.conditions(right))
            case Apply(Operator.LOGICAL_OR, (left, right)):
                neither = (*negated(self.conditions(left)), *negated(self.conditions(right)))
                return negated(neither)
            case Apply(Operator.LOGICAL_NOT, (operand,)):
                return negated(self.conditions(operand))
            case Apply(operator, (left, right)) if operator in PREDICATES:
                is_unsigned = DTypeKind.UNSIGNED in (left.dtype.kind, right.dtype.kind)
                return comparison(operator, self.term(left), self.term(right), self.ranges if is_unsigned else None)
            case _:
                return (_holds(self.term(expression)),)

    def shape(self, value_type: ValueType) -> tuple[Polynomial, ...]:
        """The extents of a shaped value."""
        return tuple(self.polynomial(extent) for extent in value_type.shape)

    def shape_of(self, expression: Expr) -> tuple[Polynomial, ...]:
        """The extents of what an expression gives."""
        if isinstance(expression, Ref):
            return self.shapes.get(expression.id, ())
        for operation in sorted(refs_in(expression)):
            return self.shapes.get(operation, ())
        return ()

    def operand(self, expression: Expr, shape: tuple[Polynomial, ...]) -> Term:
        """An operand as seen from a result of `shape`: dimensions of extent 1 are broadcast, fewer ones aligned."""
        own = self.shape_of(expression)
        return broadcast(self.term(expression), own, shape, self.ranges)

    def tile_axes(self, axes: Iterable[Axis]) -> tuple[dict[str, Polynomial], Ranges, tuple[Polynomial, ...]]:
        """Symbols for the positions along the axes of an access, their ranges, and the extents."""
        names: dict[str, Polynomial] = {}
        ranges = self.ranges
        extents = []
        for position, axis in enumerate(axes):
            extent = number(1) if axis.extent is None else self.polynomial(axis.extent)
            extents.append(extent)
            names[axis.name] = symbol(dimension(position))
            ranges = ranges.with_extent(dimension(position), extent)
        return names, ranges, tuple(extents)

    def located(self, access: Access) -> tuple[tuple[Polynomial, ...], tuple[Condition, ...], Ranges]:
        """Index and mask of an access over the symbols of its dimensions, and their ranges."""
        names, ranges, _ = self.tile_axes(access.axes)
        inner = replace_state(self, names, ranges)
        index = tuple(inner.polynomial(part) for part in access.index)
        mask = inner.conditions(access.mask) if access.mask is not None else ()
        return index, mask, ranges


def replace_state(state: State, names: dict[str, Polynomial], ranges: Ranges) -> State:
    """`state` with more symbols in scope, for looking at expressions."""
    return replace(state, symbols={**state.symbols, **names}, ranges=ranges)


def initial_state(kernel: Kernel, launch: Launch | None, is_trusted: bool = False) -> State:
    """The state in which `kernel` starts; a trusted kernel is taken never to read what it did not write."""
    threads = threads_of(kernel, launch)
    scalars = frozenset(parameter.name for parameter in kernel.parameters if not parameter.is_buffer)
    floats = frozenset(
        parameter.name
        for parameter in kernel.parameters
        if not parameter.is_buffer and not parameter.type.dtype.is_integer
    )
    positions = {f"dim{place}": symbol(dimension(place)) for place in range(_MOST_DIMENSIONS)}
    state = State(threads, {**positions, **threads.symbols}, threads.ranges, scalars, floats, is_trusted=is_trusted)
    state.assumptions.extend(threads.assumptions)
    for parameter in kernel.parameters:
        if parameter.is_buffer:
            shape = state.shape(parameter.type)
            state.buffers[parameter.name] = Buffer(
                parameter.name, shape, parameter.type.dtype, is_input=True, per_thread=False
            )
    return state


def allocate(state: State, op: Alloc) -> None:
    """Adds the buffer that `op` makes; a view of an input that nobody wrote is an input of its own."""
    per_thread = op.type.space is Space.REGISTER
    base = state.buffers.get(op.base)
    is_input = base is not None and base.is_input
    made = Buffer(op.name, state.shape(op.type), op.type.dtype, is_input=is_input, per_thread=per_thread)
    if base is not None and base.events and is_input:
        made = made.then(Havoc(f"{op.base} was written before it is read as {op.type.dtype}"))
    state.buffers[op.name] = made


def literal(value: int | float | bool) -> Literal:
    """The literal of a Python number."""
    is_exact = isinstance(value, int) or value - value == 0
    return Literal(Fraction(value)) if is_exact else Literal(value)


def comparison(
    operator: Operator, left: Term, right: Term, unsigned_ranges: Ranges | None = None
) -> tuple[Condition, ...]:
    """The condition that a comparison of two terms states.

    With `unsigned_ranges` it is one of unsigned numbers: a side that may be negative there wraps.
    """
    wraps = unsigned_ranges is not None and not all(
        unsigned_ranges.is_nonnegative(side.value) for side in (left, right) if isinstance(side, Index)
    )
    if wraps:
        return (Holds(Function(operator, (left, right, Unknown("an unsigned number that may have wrapped")))),)
    if isinstance(left, Index) and isinstance(right, Index):
        condition = compare(operator, left.value, right.value)
        if condition is not None:
            return (condition,)
    return (Holds(Function(operator, (left, right))),)


def _holds(term: Term) -> Condition:
    if isinstance(term, Index):
        return compare(Operator.NOT_EQUAL, term.value, number(0)) or Holds(term)
    return Holds(term)


def _truth_value(conditions: tuple[Condition, ...]) -> Term:
    return Choice(conditions, Index(number(1)), Index(number(0))) if conditions else Index(number(1))


def computed(operator: Operator, arguments: tuple[Term, ...], ranges: Ranges, approximate: bool = False) -> Term:
    """`operator` applied to terms; integer expressions stay canonical."""
    integers = [argument.value for argument in arguments if isinstance(argument, Index)]
    if len(integers) == len(arguments) and operator in INTEGER:
        return Index(combine(operator, tuple(integers), ranges))
    if operator is Operator.FMA:
        product = Function(Operator.MULTIPLY, arguments[:2])
        return Function(Operator.ADD, (product, arguments[2]))
    if operator is Operator.SELECT:
        return Choice((_holds(arguments[0]),), arguments[1], arguments[2])
    return Function(operator, arguments, approximate)


def is_permuted(own: tuple[Polynomial, ...], shape: tuple[Polynomial, ...]) -> bool:
    """Whether two shapes have the same extents in another order, and so fit only where those are equal."""
    return own != shape and sorted(map(str, own)) == sorted(map(str, shape)) and number(1) not in own


def broadcast(term: Term, own: tuple[Polynomial, ...], shape: tuple[Polynomial, ...], ranges: Ranges) -> Term:
    """`term` of extents `own` as an operand of a result of extents `shape`."""
    if not own or own == shape:
        return term
    if is_permuted(own, shape):
        return Unknown("an operand has the dimensions of the result in another order")
    shift = len(shape) - len(own) if len(own) < len(shape) and own[0] != shape[0] else 0
    moves: dict[str, Polynomial] = {}
    for position, extent in enumerate(own):
        target = position + shift
        if extent == number(1):
            moves[dimension(position)] = number(0)
        elif shift:
            moves[dimension(position)] = symbol(dimension(target))
    return in_term(term, moves, ranges) if moves else term


def pruned(term: Term, ranges: Ranges, given: tuple[Condition, ...]) -> Term:
    """`term` without the choices that the given conditions decide."""

    def inside(node: Term) -> Sequence[Term]:
        if not (has_kind(node, Choice) or has_kind(node, Fold)):
            return ()
        return (node.on_false,) if isinstance(node, Choice) else own_children(node)

    def make(node: Term, of: Callable[[Term], Term]) -> Term:
        if not (has_kind(node, Choice) or has_kind(node, Fold)):
            return node
        if isinstance(node, Choice):
            left = simplified(node.conditions, ranges, given)
            if left is None:
                return of(node.on_false)
            on_true = pruned(node.on_true, ranges, (*given, *left))
            return Choice(left, on_true, of(node.on_false)) if left else on_true
        if not isinstance(node, Fold):
            return map_children(node, of)
        left = simplified(node.conditions, ranges, given)
        if left is None:
            return IDENTITIES.get(node.operator, Unknown("a reduction of nothing"))
        return map_children(replace(node, conditions=left), lambda child: pruned(child, ranges, given))

    return from_below(term, inside, make)
