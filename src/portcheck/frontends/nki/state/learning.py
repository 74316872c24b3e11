"""What conditions and the ranges of loops say about sizes, one after the other."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from portcheck.core.dtype import BOOL
from portcheck.frontends.nki.values.arithmetic import is_small, known_int
from portcheck.ir import Apply, Const, Expr, Operator, Ranges, Symbol, subexpressions, symbols_in
from portcheck.ir.algebra import polynomial_of, use_divisibility
from portcheck.ir.polynomial import Polynomial, symbol

_UNSIGNED_MARK = "@"
"""In front of a symbol that may be negative; the ranges take all other symbols for sizes."""
_TERMS = 200
"""Terms of a sum that is worked with."""
_KEPT = 256
"""Facts of which it is remembered what followed from them at one place."""
NEGATED: Mapping[Operator, Operator] = {
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.NOT_EQUAL: Operator.EQUAL,
    Operator.LESS: Operator.GREATER_EQUAL,
    Operator.GREATER_EQUAL: Operator.LESS,
    Operator.GREATER: Operator.LESS_EQUAL,
    Operator.LESS_EQUAL: Operator.GREATER,
}
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
    _forms: dict[Expr, Polynomial | None] = field(init=False, repr=False, compare=False, default_factory=dict)
    _by: tuple[object, ...] = field(init=False, repr=False, compare=False, default=())
    """By what the forms were worked out that are kept."""

    def form(self, expression: Expr) -> Polynomial | None:
        """The canonical form of an integer expression; None for another, or one that is too large."""
        by = (self.natural, self.whole, self.ranges, len(self.equal))
        if len(self._by) != len(by) or not all(map(operator.is_, self._by, by)):
            self._by = by
            self._forms.clear()
        if expression not in self._forms:
            self._forms[expression] = self._form(expression)
        return self._forms[expression]

    def _form(self, expression: Expr) -> Polynomial | None:
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


@dataclass(slots=True, eq=False)
class Learned:
    """What is known by some facts, and with each further one that was learned from there: each is worked out once."""

    known: Known
    further: dict[tuple[object, ...], tuple[object, Learned]] = field(default_factory=dict)

    def counting(self, variable: str) -> Learned:
        """With `variable`, which is that of a loop that counts up from 0 or more."""

        def add(facts: Known) -> None:
            facts.natural |= {variable}

        return self._with((variable,), variable, add)

    def where(self, condition: Expr, holds: bool) -> Learned:
        """With `condition`, which holds or does not."""
        return self._with((id(condition), holds), condition, lambda facts: learn(facts, condition, holds=holds))

    def within(self, variable: str, start: Expr, stop: Expr, step: Expr) -> Learned:
        """With the range that `variable` runs through."""
        ends = (start, stop, step)
        return self._with((variable, *map(id, ends)), ends, lambda facts: learn_range(facts, variable, ends))

    def _with(self, key: tuple[object, ...], fact: object, add: Callable[[Known], None]) -> Learned:
        """With `fact`, of which `key` is the identity; itself where nothing follows from it."""
        found = self.further.get(key)
        if found is None:
            before, facts = self.known, replace(self.known, equal=dict(self.known.equal))
            add(facts)
            is_new = (facts.natural, facts.equal) != (before.natural, before.equal) or facts.ranges is not before.ranges
            if len(self.further) >= _KEPT:
                self.further.clear()
            found = self.further[key] = (fact, Learned(facts) if is_new else self)
        return found[1]


def counts_up(start: Expr, step: Expr) -> bool:
    """Whether a range that starts and steps so has no negative value."""
    first, stride = known_int(start), known_int(step)
    return first is not None and first >= 0 and stride is not None and stride > 0


def learn_range(facts: Known, variable: str, values: tuple[Expr, Expr, Expr]) -> None:
    """A loop's variable lies below the end of its range."""
    start, stop, step = values
    end = facts.form(stop)
    if not counts_up(start, step) or end is None:
        return
    facts.ranges = facts.ranges.with_extent(variable, end)
    divisor = facts.form(step)
    if known_int(start) == 0 and divisor is not None and divisor.constant != 1:
        facts.ranges = replace(facts.ranges, divisors=(*facts.ranges.divisors, (symbol(variable), divisor)))


def learn(facts: Known, condition: Expr, *, holds: bool) -> None:
    """Adds what follows from `condition`, which holds or does not."""
    if not isinstance(condition, Apply):
        return
    sign, arguments = condition.operator, condition.arguments
    if sign is Operator.LOGICAL_NOT:
        learn(facts, arguments[0], holds=not holds)
    elif sign is (Operator.LOGICAL_AND if holds else Operator.LOGICAL_OR):
        for part in arguments:
            learn(facts, part, holds=holds)
    elif sign in NEGATED and len(arguments) == 2:
        relation = sign if holds else NEGATED[sign]
        _learn_relation(facts, relation, arguments[0], arguments[1])
        _learn_relation(facts, _SWAPPED[relation], arguments[1], arguments[0])


def _learn_relation(facts: Known, sign: Operator, left: Expr, right: Expr) -> None:
    is_remainder = isinstance(left, Apply) and left.operator is Operator.FLOOR_MODULO and sign is Operator.EQUAL
    other = facts.form(right) if is_remainder or isinstance(left, Symbol) else None
    if other is None:
        return
    if is_remainder and isinstance(left, Apply):
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
