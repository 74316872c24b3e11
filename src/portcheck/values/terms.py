"""What a value is: a term over the elements of inputs, parameters, constants, functions and reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from portcheck.core.dtype import DType
from portcheck.core.source import NOWHERE, Span
from portcheck.ir import ExchangeKind, Operator, Polynomial
from portcheck.numerics import Stage


@dataclass(frozen=True, slots=True)
class Below:
    """What is asked of a term again and again, worked out when it is made.

    The integer symbols that are free in it, the classes of itself and of all terms inside, how many terms that are
    (one that is there twice counts twice), and how many levels.
    """

    symbols: frozenset[str]
    kinds: frozenset[type]
    size: int
    depth: int


@dataclass(frozen=True, slots=True)
class Composite:
    """A term with terms inside."""

    below: Below = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "below", _below(self))


@dataclass(frozen=True, slots=True)
class Literal:
    """A number; infinities and NaN are floats, all others exact."""

    value: Fraction | float


@dataclass(frozen=True, slots=True)
class Index:
    """An integer expression over symbols, used as a number."""

    value: Polynomial


@dataclass(frozen=True, slots=True)
class Scalar:
    """A run-time floating-point parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """The element at `address` (row-major, in elements) of the buffer parameter `buffer`, as it was before the run."""

    buffer: str
    address: Polynomial


@dataclass(frozen=True, slots=True)
class Function(Composite):
    """An operator applied to terms."""

    operator: Operator
    arguments: tuple[Term, ...]
    approximate: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Rounded(Composite):
    """The operand rounded to `dtype`; `source` is its own where the program leaves that open and it matters."""

    dtype: DType
    operand: Term
    span: Span = field(default=NOWHERE, compare=False)
    source: DType | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound index: it takes start, start + step, ... below `stop`."""

    variable: str
    start: Polynomial
    stop: Polynomial
    step: Polynomial


@dataclass(frozen=True, slots=True)
class Fold(Composite):
    """The combination with `operator` of `body` over all values of the bounds for which the conditions hold."""

    operator: Operator
    bounds: tuple[Bound, ...]
    conditions: tuple[Condition, ...]
    body: Term
    stages: tuple[Stage, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Choice(Composite):
    """`on_true` if all conditions hold, else `on_false`."""

    conditions: tuple[Condition, ...]
    on_true: Term
    on_false: Term


@dataclass(frozen=True, slots=True)
class Moved(Composite):
    """The operand as another lane holds it."""

    kind: ExchangeKind
    lane: Polynomial
    operand: Term
    operations: frozenset[int] = field(default=frozenset(), compare=False)
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class LanePartial(Composite):
    """`base` combined over the lanes reached by the exchanges `masks` (powers of two) so far."""

    operator: Operator
    kind: ExchangeKind
    base: Term
    masks: frozenset[int]
    operations: frozenset[int] = field(default=frozenset(), compare=False)
    span: Span = field(default=NOWHERE, compare=False)
    dtype: DType | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Leader(Composite):
    """A value that only lane 0 of each warp is known to hold."""

    operand: Term


@dataclass(frozen=True, slots=True)
class Carried:
    """The element at `index` of a buffer as the previous iteration of a loop left it."""

    buffer: str
    index: tuple[Polynomial, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that was not understood, and why."""

    reason: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The integer condition value >= 0."""

    value: Polynomial


@dataclass(frozen=True, slots=True)
class IsZero:
    """The integer condition value == 0, or != 0 if `negated`."""

    value: Polynomial
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Holds:
    """A condition on data: `term` is true, or false if `negated`."""

    term: Term
    negated: bool = False


@dataclass(frozen=True, slots=True)
class NotAll:
    """At least one of the conditions is false."""

    conditions: tuple[Condition, ...]


Condition = AtLeast | IsZero | Holds | NotAll
Term = (
    Literal | Index | Scalar | Element | Function | Rounded | Fold | Choice | Moved | LanePartial | Leader | Carried
    | Unknown
)  # fmt: skip


def condition_terms(condition: Condition) -> tuple[Term, ...]:
    """The terms inside a condition."""
    match condition:
        case Holds(term):
            return (term,)
        case NotAll(conditions):
            return tuple(term for inner in conditions for term in condition_terms(inner))
        case _:
            return ()


def own_children(term: Term) -> tuple[Term, ...]:
    """The terms directly inside `term` under no other condition than it, and with nothing else bound."""
    match term:
        case Function(_, arguments):
            return arguments
        case Rounded(_, operand) | Moved(operand=operand) | Leader(operand):
            return (operand,)
        case LanePartial(base=base):
            return (base,)
        case _:
            return ()


def children(term: Term) -> tuple[Term, ...]:
    """The terms directly inside `term`, those in conditions included."""
    match term:
        case Fold(_, _, conditions, body):
            return (*(inner for condition in conditions for inner in condition_terms(condition)), body)
        case Choice(conditions, on_true, on_false):
            return (*(inner for condition in conditions for inner in condition_terms(condition)), on_true, on_false)
        case _:
            return own_children(term)


def subterms(term: Term) -> Iterator[Term]:
    """`term` and everything below it, parents first."""
    stack: list[Term] = [term]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def map_condition(condition: Condition, change: Callable[[Term], Term]) -> Condition:
    """`condition` with `change` applied to the terms inside."""
    match condition:
        case Holds(term, negated):
            return Holds(change(term), negated)
        case NotAll(conditions):
            return NotAll(tuple(map_condition(inner, change) for inner in conditions))
        case _:
            return condition


def map_children(term: Term, change: Callable[[Term], Term]) -> Term:
    """`term` with `change` applied to the terms directly inside."""
    match term:
        case Function(operator, arguments):
            return Function(operator, tuple(change(argument) for argument in arguments), term.approximate)
        case Rounded() | Moved() | Leader():
            return replace(term, operand=change(term.operand))
        case LanePartial():
            return replace(term, base=change(term.base))
        case Fold():
            conditions = tuple(map_condition(condition, change) for condition in term.conditions)
            return replace(term, conditions=conditions, body=change(term.body))
        case Choice(conditions, on_true, on_false):
            mapped = tuple(map_condition(condition, change) for condition in conditions)
            return Choice(mapped, change(on_true), change(on_false))
        case _:
            return term


def condition_symbols(condition: Condition) -> frozenset[str]:
    """The integer symbols a condition depends on."""
    match condition:
        case AtLeast(value) | IsZero(value):
            return value.symbols
        case Holds(term):
            return symbols_of(term)
        case NotAll(conditions):
            return frozenset().union(*(condition_symbols(inner) for inner in conditions))


def condition_polynomials(condition: Condition) -> tuple[Polynomial, ...]:
    """The integer expressions in a condition, those inside its terms not included."""
    match condition:
        case AtLeast(value) | IsZero(value):
            return (value,)
        case NotAll(conditions):
            return tuple(value for inner in conditions for value in condition_polynomials(inner))
        case _:
            return ()


def own_polynomials(term: Term) -> tuple[Polynomial, ...]:
    """The integer expressions of `term` itself, not those of the terms inside."""
    match term:
        case Index(value) | Element(_, value):
            return (value,)
        case Carried(_, index):
            return index
        case Moved(_, lane, _):
            return (lane,)
        case Fold(_, bounds, conditions, _):
            limits = tuple(limit for bound in bounds for limit in (bound.start, bound.stop, bound.step))
            return (*limits, *(value for condition in conditions for value in condition_polynomials(condition)))
        case Choice(conditions, _, _):
            return tuple(value for condition in conditions for value in condition_polynomials(condition))
        case _:
            return ()


def bound_symbols(bound: Bound) -> frozenset[str]:
    """The integer symbols the limits of a bound depend on."""
    return bound.start.symbols | bound.stop.symbols | bound.step.symbols


def symbols_of(term: Term) -> frozenset[str]:
    """The free integer symbols of `term`: axes, sizes and loop variables; not what a fold binds."""
    match term:
        case Index(value) | Element(_, value):
            return value.symbols
        case Carried(_, index):
            return frozenset().union(*(part.symbols for part in index))
        case Literal() | Scalar() | Unknown():
            return frozenset()
        case _:
            return term.below.symbols


def has_kind(term: Term, kind: type) -> bool:
    """Whether `term` is of the class `kind`, or a term inside it is."""
    return kind in _kinds(term)


def size_of(term: Term) -> int:
    """How many terms `term` is made of, itself included."""
    return term.below.size if isinstance(term, Composite) else 1


def depth_of(term: Term) -> int:
    """How many levels `term` has."""
    return term.below.depth if isinstance(term, Composite) else 1


def _kinds(term: Term) -> frozenset[type]:
    return term.below.kinds if isinstance(term, Composite) else frozenset({type(term)})


def _below(term: Any) -> Below:
    inside = children(term)
    kinds = frozenset({type(term)}).union(*map(_kinds, inside))
    return Below(_symbols(term), kinds, 1 + sum(map(size_of, inside)), 1 + max(map(depth_of, inside), default=0))


def _symbols(term: Term) -> frozenset[str]:
    match term:
        case Moved(_, lane, operand):
            return lane.symbols | symbols_of(operand)
        case Fold(_, bounds, conditions, body):
            inner = symbols_of(body).union(*(condition_symbols(condition) for condition in conditions))
            names = inner.union(*(bound_symbols(bound) for bound in bounds))
            return names - {bound.variable for bound in bounds}
        case Choice(conditions, on_true, on_false):
            both = symbols_of(on_true) | symbols_of(on_false)
            return both.union(*(condition_symbols(condition) for condition in conditions))
        case _:
            return frozenset().union(*(symbols_of(child) for child in children(term)))
