"""What is known of sizes: what was asserted, the conditions of arms, the loops around; and what follows from that."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from portcheck.core.dtype import BOOL
from portcheck.frontends.nki.values.arithmetic import is_small, known, known_int
from portcheck.ir import Apply, Const, Expr, Operator, Ranges, Symbol, integer, subexpressions, symbols_in
from portcheck.ir.algebra import polynomial_of, use_divisibility
from portcheck.ir.polynomial import Polynomial, symbol

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context

_UNSIGNED_MARK = "@"
"""In front of a symbol that may be negative; the ranges take all other symbols for sizes."""
_TERMS = 200
"""Terms of a sum that is worked with."""
_NEGATED: Mapping[Operator, Operator] = {
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.NOT_EQUAL: Operator.EQUAL,
    Operator.LESS: Operator.GREATER_EQUAL,
    Operator.GREATER_EQUAL: Operator.LESS,
    Operator.GREATER: Operator.LESS_EQUAL,
    Operator.LESS_EQUAL: Operator.GREATER,
}
_EXTREMES = (Operator.MINIMUM, Operator.MAXIMUM)
_SWAPPED: Mapping[Operator, Operator] = {
    Operator.EQUAL: Operator.EQUAL,
    Operator.NOT_EQUAL: Operator.NOT_EQUAL,
    Operator.LESS: Operator.GREATER,
    Operator.GREATER_EQUAL: Operator.LESS_EQUAL,
    Operator.GREATER: Operator.LESS,
    Operator.LESS_EQUAL: Operator.GREATER_EQUAL,
}


@dataclass(slots=True)
class Known:
    """What is known of symbols: which are sizes, which are integers, their ranges, what some are equal to."""

    natural: frozenset[str]
    whole: frozenset[str] = frozenset()
    ranges: Ranges = field(default_factory=Ranges)
    equal: dict[str, Polynomial] = field(default_factory=dict)

    def form(self, expression: Expr) -> Polynomial | None:
        """The canonical form of an integer expression; None for another, or one that is too large."""
        if not _is_whole(expression, self.whole) or _terms(expression) > _TERMS:
            return None
        symbols = dict(self.equal)
        for name in symbols_in(expression):
            if name not in symbols and name not in self.natural:
                symbols[name] = symbol(_UNSIGNED_MARK + name)
        try:
            return use_divisibility(polynomial_of(expression, self.ranges, symbols), self.ranges)
        except ArithmeticError:
            return None

    def difference(self, left: Expr, right: Expr) -> Polynomial | None:
        """`left` - `right`."""
        one, other = self.form(left), self.form(right)
        return None if one is None or other is None else use_divisibility(one - other, self.ranges)


def _is_whole(expression: Expr, whole: frozenset[str]) -> bool:
    """Whether `expression` is made of integers only, and is small; `whole` are symbols that are certainly integers."""
    if not is_small(expression):
        return False
    for part in subexpressions(expression):
        if not (part.dtype.is_integer or part.dtype == BOOL or (part.dtype.is_symbolic and symbols_in(part) <= whole)):
            return False
        if isinstance(part, Const) and not isinstance(part.value, int):
            return False
    return True


def _terms(expression: Expr) -> int:
    """How many terms the sum may have that `expression` comes to."""
    if not isinstance(expression, Apply):
        return 1
    counts = [_terms(argument) for argument in expression.arguments]
    if expression.operator is Operator.MULTIPLY:
        return min(counts[0] * counts[1], _TERMS + 1)
    return min(sum(counts), _TERMS + 1)


def decided(context: Context, condition: Expr) -> bool | None:
    """Whether `condition` certainly holds, or certainly does not; None where neither follows from what is known."""
    value = known(condition)
    if value is not None:
        return bool(value)
    holds = context.holding.get(condition)
    if holds is not None or not isinstance(condition, Apply):
        return holds
    sign, arguments = condition.operator, condition.arguments
    if sign is Operator.LOGICAL_NOT:
        inner = decided(context, arguments[0])
        return None if inner is None else not inner
    if sign in (Operator.LOGICAL_AND, Operator.LOGICAL_OR):
        answers = [decided(context, part) for part in arguments]
        decisive = sign is Operator.LOGICAL_OR
        return decisive if decisive in answers else None if None in answers else not decisive
    if sign in _NEGATED and len(arguments) == 2:
        return _compared(what_is_known(context), sign, arguments[0], arguments[1])
    return None


def _compared(facts: Known, sign: Operator, left: Expr, right: Expr) -> bool | None:
    if sign in (Operator.NOT_EQUAL, Operator.GREATER_EQUAL, Operator.GREATER):
        answer = (
            _compared(facts, Operator.LESS, right, left)
            if sign is Operator.GREATER
            else _compared(facts, _NEGATED[sign], left, right)
        )
        return answer if answer is None or sign is Operator.GREATER else not answer
    if sign is Operator.LESS_EQUAL:
        answer = _compared(facts, Operator.LESS, right, left)
        return None if answer is None else not answer
    gap = facts.difference(right, left)
    if gap is None:
        return None
    if sign is Operator.LESS:
        if facts.ranges.is_nonnegative(gap - 1):
            return True
        return False if facts.ranges.is_nonnegative(-gap) else None
    if gap.constant is not None:
        return gap.constant == 0
    if _is_multiple(facts, left, right):
        return True
    apart = facts.ranges.is_nonnegative(gap - 1) or facts.ranges.is_nonnegative(-gap - 1)
    return False if apart else None


def _is_multiple(facts: Known, left: Expr, right: Expr) -> bool:
    """Whether this is `value % divisor == 0` and the divisor is known to divide the value."""
    if not (isinstance(left, Apply) and left.operator is Operator.FLOOR_MODULO and known_int(right) == 0):
        return False
    value, divisor = (facts.form(argument) for argument in left.arguments)
    return value is not None and divisor is not None and facts.ranges.divides(divisor, value)


def shortened(context: Context, expression: Expr) -> Expr:
    """`expression` in a shorter form that is equal by what is known: a number, or a part of it."""
    if not isinstance(expression, Apply):
        return expression
    value = known_int(expression)
    if value is not None:
        return integer(value) if expression.operator in _EXTREMES else expression
    return _shortened(what_is_known(context), expression)


def _shortened(facts: Known, expression: Apply) -> Expr:
    form = facts.form(expression)
    if form is None:
        return expression
    if form.constant is not None:
        return integer(form.constant)
    for part in _parts(expression):
        if facts.form(part) == form:
            return _shortened(facts, part) if isinstance(part, Apply) else part
    return expression


def _parts(expression: Apply) -> list[Expr]:
    """The integers in `expression`, two levels down, the outer ones first."""
    inner = [part for part in expression.arguments if isinstance(part, Apply)]
    return [*expression.arguments, *(part for item in inner for part in item.arguments)]


def what_is_known(context: Context) -> Known:
    """What follows from all that was asserted, from the arms that are being evaluated and the loops around."""
    source = (context.holding, context.asserted, *context.rounds, len(context.sizes), len(context.program_axes))
    kept = context.known
    if kept is not None and len(kept[0]) == len(source) and all(map(operator.is_, kept[0], source)):
        return kept[1]
    found = Known(frozenset(_natural(context)), frozenset(_whole(context)))
    for condition in context.asserted:
        _learn(found, condition, holds=True)
    for condition, holds in context.holding.items():
        _learn(found, condition, holds=holds)
    for axis in context.program_axes.values():
        if axis.extent is not None:
            _learn_range(found, axis.name, (integer(0), axis.extent, integer(1)))
    for made in context.rounds:
        if made is not None and made.variable is not None and made.counter is not None:
            _learn_range(found, made.variable.name, (made.counter.start, made.counter.stop, made.counter.step))
    context.known = (source, found)
    return found


def _natural(context: Context) -> Iterator[str]:
    """The symbols that are not negative: sizes, positions of programs, variables of loops that count up from 0."""
    yield from context.sizes
    for axis in context.program_axes.values():
        yield axis.name
        yield from symbols_in(axis.extent) if axis.extent is not None else ()
    for made in context.rounds:
        counter = made.counter if made is not None else None
        if (
            made is not None
            and made.variable is not None
            and counter is not None
            and _counts_up(counter.start, counter.step)
        ):
            yield made.variable.name


def _whole(context: Context) -> Iterator[str]:
    """The symbols in the ranges of loops, which are integers."""
    for made in context.rounds:
        if made is not None and made.counter is not None:
            for end in (made.counter.start, made.counter.stop, made.counter.step):
                yield from symbols_in(end) if isinstance(end, Symbol) else ()


def _counts_up(start: Expr, step: Expr) -> bool:
    first, stride = known_int(start), known_int(step)
    return first is not None and first >= 0 and stride is not None and stride > 0


def _learn_range(facts: Known, variable: str, values: tuple[Expr, Expr, Expr]) -> None:
    """A loop's variable lies below the end of its range."""
    start, stop, step = values
    end = facts.form(stop)
    if not _counts_up(start, step) or end is None:
        return
    facts.ranges = facts.ranges.with_extent(variable, end)
    divisor = facts.form(step)
    if known_int(start) == 0 and divisor is not None and divisor.constant != 1:
        facts.ranges = replace(facts.ranges, divisors=(*facts.ranges.divisors, (symbol(variable), divisor)))


def _learn(facts: Known, condition: Expr, *, holds: bool) -> None:
    """Adds what follows from `condition`, which holds or does not."""
    if not isinstance(condition, Apply):
        return
    sign, arguments = condition.operator, condition.arguments
    if sign is Operator.LOGICAL_NOT:
        _learn(facts, arguments[0], holds=not holds)
    elif sign is (Operator.LOGICAL_AND if holds else Operator.LOGICAL_OR):
        for part in arguments:
            _learn(facts, part, holds=holds)
    elif sign in _NEGATED and len(arguments) == 2:
        relation = sign if holds else _NEGATED[sign]
        _learn_relation(facts, relation, arguments[0], arguments[1])
        _learn_relation(facts, _SWAPPED[relation], arguments[1], arguments[0])


def _learn_relation(facts: Known, sign: Operator, left: Expr, right: Expr) -> None:
    other = facts.form(right)
    if other is None:
        return
    if isinstance(left, Apply) and left.operator is Operator.FLOOR_MODULO and sign is Operator.EQUAL:
        value, divisor = (facts.form(argument) for argument in left.arguments)
        if value is not None and divisor is not None and other.constant == 0:
            facts.ranges = replace(facts.ranges, divisors=(*facts.ranges.divisors, (value, divisor)))
    if not isinstance(left, Symbol) or not left.dtype.is_integer or left.name in facts.equal:
        return
    if sign is Operator.EQUAL and left.name not in _names(other):
        facts.equal[left.name] = other
    elif left.name in facts.natural and sign in (Operator.LESS, Operator.LESS_EQUAL):
        _learn_bound(facts, left.name, other if sign is Operator.LESS else other + 1)
    elif left.name in facts.natural and sign in (Operator.GREATER, Operator.GREATER_EQUAL):
        least = other.constant
        if least is not None:
            lowest = max(facts.ranges.least.get(left.name, 0), least + (sign is Operator.GREATER))
            facts.ranges = replace(facts.ranges, least={**facts.ranges.least, left.name: lowest})


def _names(form: Polynomial) -> frozenset[str]:
    return frozenset(name.removeprefix(_UNSIGNED_MARK) for name in form.symbols)


def _learn_bound(facts: Known, name: str, end: Polynomial) -> None:
    """The size `name` is less than `end`."""
    if end.constant is not None:
        most = min(facts.ranges.most.get(name, end.constant - 1), end.constant - 1)
        facts.ranges = replace(facts.ranges, most={**facts.ranges.most, name: most})
    elif name not in _names(end) and name not in facts.ranges.extents:
        facts.ranges = facts.ranges.with_extent(name, end)
