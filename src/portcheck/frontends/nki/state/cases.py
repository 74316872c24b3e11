"""Conditions on numbers that others choose: what holds in every case that can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portcheck.frontends.nki.state.answers import answer
from portcheck.frontends.nki.state.clauses import literals_of
from portcheck.frontends.nki.state.sizes import decided
from portcheck.frontends.nki.values.arithmetic import folded, known
from portcheck.ir import Apply, Expr, Operator, subexpressions

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context

Facts = Mapping[Expr, bool]
_CASES = 64
"""Cases of one condition that are looked at."""
_SPLITS = 32
"""Times that one case is taken apart to see that it cannot be."""


def by_cases(context: Context, condition: Expr) -> bool | None:
    """Whether `condition` holds in each case of what chooses its numbers, or in none; None where that differs."""
    if not _chooses(condition):
        return None
    chosen = [(key, holds) for key, holds in context.holding.items() if _chooses(key)]
    cases, found = _Cases(context, chosen), set[bool]()
    for case in cases.of(condition, context.holding):
        holds = decided(context, case) if case is not None else None
        found.add(bool(holds))
        if holds is None or len(found) > 1:
            return None
    return found.pop() if found else None


def _chooses(condition: Expr) -> bool:
    """Whether there is a number in `condition` that another condition chooses."""
    if not isinstance(condition, Apply):
        return False
    return any(isinstance(part, Apply) and part.operator is Operator.SELECT for part in subexpressions(condition))


@dataclass(slots=True, eq=False)
class _Cases:
    """The cases in which the conditions `known`, which choose numbers too, are as they are said to be."""

    context: Context
    known: list[tuple[Expr, bool]]
    count: int = 0
    splits: int = field(default=0, init=False)

    def of(self, condition: Expr, facts: Facts) -> Iterator[Expr | None]:
        """`condition` in each case that can be where `facts` hold; None where there are too many."""
        test = _open_test(condition, facts)
        if test is None:
            self.splits = 0
            if self._can_be(facts):
                self.count += 1
                yield _taken(condition, facts) if self.count <= _CASES else None
            return
        for holds in (True, False):
            further = self.context.clauses.with_consequences(facts, test, holds)
            if further is not None:
                yield from self.of(condition, further)

    def _agrees(self, facts: Facts) -> bool:
        """Whether the numbers that `facts` choose are not against what is known of them."""
        found = ((known(_taken(condition, facts)), holds) for condition, holds in self.known)
        return all(value is None or bool(value) is holds for value, holds in found)

    def _can_be(self, facts: Facts) -> bool:
        """Whether all that holds of several conditions may hold together, as far as that is looked at."""
        self.splits += 1
        if self.splits > _SPLITS:
            return True
        if not self._agrees(facts):
            return False
        for key, holds in facts.items():
            clause = literals_of(key, holds) if isinstance(key, Apply) else ()
            if len(clause) > 1 and not any(answer(item, facts) is side for item, side in clause):
                return self._can_one_be([item for item, _ in clause if answer(item, facts) is None], facts)
        tests = (_open_test(condition, facts) for condition, _ in self.known)
        test = next((test for test in tests if test is not None), None)
        return test is None or self._can_one_be([test], facts)

    def _can_one_be(self, conditions: list[Expr], facts: Facts) -> bool:
        """As `_can_be` where these of the conditions are open of which one has to be as something says."""
        if not conditions:
            return False
        sides = (self.context.clauses.with_consequences(facts, conditions[0], holds) for holds in (True, False))
        return any(side is not None and self._can_be(side) for side in sides)


def _open_test(expression: Expr, facts: Facts) -> Expr | None:
    """A condition that chooses a number in `expression` and that is open."""
    if not isinstance(expression, Apply):
        return None
    arguments = expression.arguments
    if expression.operator is Operator.SELECT:
        holds = answer(arguments[0], facts)
        return arguments[0] if holds is None else _open_test(arguments[1 if holds else 2], facts)
    return next((test for test in (_open_test(part, facts) for part in arguments) if test is not None), None)


def _taken(expression: Expr, facts: Facts) -> Expr:
    """`expression` with the numbers that `facts` choose."""
    if not isinstance(expression, Apply):
        return expression
    if expression.operator is Operator.SELECT:
        holds = answer(expression.arguments[0], facts)
        if holds is not None:
            return _taken(expression.arguments[1 if holds else 2], facts)
    arguments = tuple(_taken(part, facts) for part in expression.arguments)
    return folded(Apply(expression.operator, arguments, expression.dtype))
