"""Under which conditions the value of an operation is wanted: `?:`, `&&`, `||` and masks may leave it unused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from portcheck.ir import (
    Apply,
    Cast,
    Compute,
    Expr,
    Kernel,
    Load,
    Loop,
    Op,
    Operator,
    Ref,
    Select,
    accesses,
    operations,
    refs_in,
    symbols_in,
)
from portcheck.ir.walk import expressions, operands

Guards: TypeAlias = tuple[tuple[Expr, bool], ...]
"""Conditions, and whether each holds or does not; all of them together."""
Demand: TypeAlias = tuple[Guards, ...]
"""Where one of these holds."""

ALWAYS: Demand = ((),)
_MOST_CASES = 8
_MOST_GUARDS = 8
_PURE = (Cast, Compute, Load, Select)
"""What does nothing but make a value."""


def guarded_parts(op: Op) -> Iterator[tuple[Expr, Guards]]:
    """The expressions of `op` and everything below them, each with what holds where it is evaluated."""
    masked = [(index, access.mask) for access in accesses(op) for index in access.index]
    inside = {id(index) for index, _ in masked}
    own = op.mask if isinstance(op, Compute) else None
    for expression, mask in [*masked, *((operand, own) for operand in operands(op))]:
        guards: Guards = () if mask is None else ((mask, True),)
        yield from _parts(expression, (*guards, *_of_operand(op, expression)))
    seen = inside | {id(operand) for operand in operands(op)}
    for expression in expressions(op):
        if id(expression) not in seen:
            yield from _parts(expression, ())


def _of_operand(op: Op, operand: Expr) -> Guards:
    """What another operand of a choice or a connective says about `operand`."""
    match op:
        case Select():
            arms = op.condition, op.on_true, op.on_false
            return _of_argument(Operator.SELECT, arms, operand)
        case Compute():
            return _of_argument(op.operator, op.operands, operand)
        case _:
            return ()


def _of_argument(operator: Operator, arguments: tuple[Expr, ...], one: Expr) -> Guards:
    position = next(i for i, argument in enumerate(arguments) if argument is one)
    match operator, position:
        case Operator.SELECT, 1 | 2:
            return ((arguments[0], position == 1),)
        case Operator.LOGICAL_AND | Operator.LOGICAL_OR, 1:
            return ((arguments[0], operator is Operator.LOGICAL_AND),)
        case _:
            return ()


def _parts(expression: Expr, guards: Guards) -> Iterator[tuple[Expr, Guards]]:
    pending = [(expression, guards)]
    while pending:
        part, holding = pending.pop()
        yield part, holding
        if isinstance(part, Apply):
            for argument in part.arguments:
                pending.append((argument, (*holding, *_of_argument(part.operator, part.arguments, argument))))


class Wanted:
    """For each operation of a kernel that only makes a value, where that is wanted."""

    def __init__(self, kernel: Kernel) -> None:
        listed = list(operations(kernel.body))
        self._order = {op.id: position for position, op in enumerate(listed)}
        self._loops = {
            op.variable: range(self._order[op.id], self._order[op.id] + 1 + sum(1 for _ in operations(op.body)))
            for op in listed
            if isinstance(op, Loop)
        }
        self._found: dict[int, Demand | None] = {}
        uses: dict[int, list[tuple[Op, Guards]]] = {}
        for op in listed:
            for part, guards in guarded_parts(op):
                if isinstance(part, Ref):
                    uses.setdefault(part.id, []).append((op, guards))
        for op in reversed(listed):
            if isinstance(op, _PURE):
                self._found[op.id] = self._of_uses(uses.get(op.id, []))

    def of(self, op: Op) -> Demand | None:
        """Where the value of `op` is wanted, in conditions that are known before it; None where that is not known."""
        demand = self._found.get(op.id, ALWAYS) if isinstance(op, _PURE) else ALWAYS
        if demand is None:
            return None
        return tuple(tuple(guard for guard in guards if self._is_known(guard[0], op)) for guards in demand)

    def _of_uses(self, uses: list[tuple[Op, Guards]]) -> Demand | None:
        cases: dict[Guards, None] = {}
        for op, guards in uses:
            inner = self._found.get(op.id, ALWAYS) if isinstance(op, _PURE) else ALWAYS
            if inner is None:
                return None
            cases.update((tuple(dict.fromkeys((*guards, *more))), None) for more in inner)
        if len(cases) > _MOST_CASES or any(len(guards) > _MOST_GUARDS for guards in cases):
            return None
        return tuple(cases) if uses else ALWAYS

    def _is_known(self, condition: Expr, op: Op) -> bool:
        """Whether a condition has its value where `op` runs."""
        position = self._order[op.id]
        if any(self._order.get(id_, position) >= position for id_ in refs_in(condition)):
            return False
        return all(position in self._loops.get(name, range(position, position + 1)) for name in symbols_in(condition))
