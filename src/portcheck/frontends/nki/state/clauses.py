"""Assertions as clauses: what they say of each other's conditions, so that one that is decided decides more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from portcheck.frontends.nki.values.arithmetic import implied, is_bounded, known
from portcheck.ir import Apply, Expr, Operator, apply, refs_in

Literal = tuple[Expr, bool]
"""A condition, and whether it holds."""
Clause = tuple[Literal, ...]
"""Literals of which at least one is true."""
_LONGEST = 8
"""Literals of a clause that is kept."""
_LARGEST = 24
"""Nodes of a condition in a clause that is kept."""


def clauses_of(condition: Expr, holds: bool = True) -> list[Clause]:
    """What it says that `condition` holds, or does not, as far as it is short."""
    condition = _plain(condition)
    if isinstance(condition, Apply):
        if condition.operator is Operator.LOGICAL_NOT:
            return clauses_of(condition.arguments[0], not holds)
        if condition.operator is (Operator.LOGICAL_AND if holds else Operator.LOGICAL_OR):
            return [clause for part in condition.arguments for clause in clauses_of(part, holds)]
    return _kept(literals_of(condition, holds))


def literals_of(condition: Expr, holds: bool) -> Clause:
    """Literals of which one is true exactly where `condition` holds, or does not."""
    condition = _plain(condition)
    if isinstance(condition, Apply):
        if condition.operator is Operator.LOGICAL_NOT:
            return literals_of(condition.arguments[0], not holds)
        if condition.operator is (Operator.LOGICAL_OR if holds else Operator.LOGICAL_AND):
            return tuple(item for part in condition.arguments for item in literals_of(part, holds))
    return ((condition, holds),)


def _plain(condition: Expr) -> Expr:
    """One of two conditions by one of them, or where one is known, as `and` or `or` of what is left."""
    if not isinstance(condition, Apply) or condition.operator is not Operator.SELECT:
        return condition
    test, first, second = condition.arguments
    if first == test or known(first) is True:
        return apply(Operator.LOGICAL_OR, test, second)
    if second == test or known(second) is False:
        return apply(Operator.LOGICAL_AND, test, first)
    if known(first) is False:
        return apply(Operator.LOGICAL_AND, apply(Operator.LOGICAL_NOT, test), second)
    if known(second) is True:
        return apply(Operator.LOGICAL_OR, apply(Operator.LOGICAL_NOT, test), first)
    return condition


def _kept(clause: Clause) -> list[Clause]:
    is_short = len(clause) <= _LONGEST and all(is_bounded(item, _LARGEST) and not refs_in(item) for item, _ in clause)
    return [clause] if is_short else []


@dataclass(slots=True, eq=False)
class Clauses:
    """The clauses that hold where the evaluation is, those of assertions in arms with the conditions of the arms."""

    held: tuple[Clause, ...] = ()
    _groups: dict[Expr, tuple[Expr, ...]] = field(default_factory=dict)
    _indexed: tuple[Clause, ...] = ()
    _index: dict[Literal, list[Clause]] = field(default_factory=dict)

    def add(self, condition: Expr) -> None:
        """`condition` was asserted."""
        self.held = (*self.held, *clauses_of(condition))

    def exclude(self, conditions: tuple[Expr, ...]) -> None:
        """At most one of `conditions` holds, and of those they excluded before, whatever is asserted."""
        if all(item in self._groups for item in conditions):
            return
        before = (other for item in conditions for other in self._groups.get(item, ()))
        group = tuple(dict.fromkeys((*conditions, *before)))
        self._groups.update(dict.fromkeys(group, group))

    def excluded_by(self, condition: Expr) -> tuple[Expr, ...]:
        """The conditions of which at most one holds, `condition` being one of them."""
        return self._groups.get(condition, ())

    def leave(self, before: tuple[Clause, ...], condition: Expr, holds: bool) -> None:
        """An arm ends in which `condition` holds, or does not: what was asserted in it is so there only."""
        outside = literals_of(condition, not holds)
        inside = (clause for clause in self.held[len(before) :])
        self.held = (*before, *(kept for clause in inside for kept in _kept((*outside, *clause))))

    def with_consequences(self, known: Mapping[Expr, bool], condition: Expr, holds: bool) -> dict[Expr, bool] | None:
        """`known` with what follows where `condition` holds, or does not; None where that cannot be."""
        new = implied(condition, holds)
        if any(known.get(key, value) is not value for key, value in new.items()):
            return None
        found = {**known, **new}
        chosen = [literals_of(key, value) for key, value in found.items() if isinstance(key, Apply)]
        chosen = [clause for clause in chosen if len(clause) > 1]
        pending = list(new.items())
        while pending:
            fact = pending.pop()
            for literal in self._entailed(fact, chosen, found):
                if literal is None:
                    return None
                more = {key: value for key, value in implied(*literal).items() if key not in found}
                found.update(more)
                pending.extend(more.items())
        return found

    def _entailed(
        self, fact: Literal, chosen: Sequence[Clause], known: Mapping[Expr, bool]
    ) -> Iterator[Literal | None]:
        """What `fact` decides beside what is `known` already; None where both cannot be."""
        condition, holds = fact
        if holds:
            for other in self._groups.get(condition, ()):
                if other != condition:
                    yield None if known.get(other) else (other, False)
        for clause in (*self._of((condition, not holds)), *chosen):
            left = [item for item in clause if known.get(item[0]) is not (not item[1])]
            if not left:
                yield None
            elif len(left) == 1:
                yield left[0]

    def _of(self, literal: Literal) -> list[Clause]:
        if self._indexed is not self.held:
            self._take_up()
        return self._index.get(literal, [])

    def _take_up(self) -> None:
        """Brings the index up to date: clauses come and go at the end."""
        before, now = self._indexed, self.held
        shared = min(len(before), len(now))
        if before[:shared] != now[:shared]:
            shared = next(place for place in range(shared) if before[place] != now[place])
        for clause in reversed(before[shared:]):
            for item in clause:
                self._index[item].pop()
        for clause in now[shared:]:
            for item in clause:
                self._index.setdefault(item, []).append(clause)
        self._indexed = now
