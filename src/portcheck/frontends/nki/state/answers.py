"""What follows for a condition from others that hold, or do not."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.ir import Apply, Const, Expr, Operator


def answer(condition: Expr, holding: Mapping[Expr, bool]) -> bool | None:
    """Whether `condition` holds where the answers to others are as in `holding`; None where that does not follow."""
    if condition in holding:
        return holding[condition]
    if isinstance(condition, Const):
        return bool(condition.value)
    if not isinstance(condition, Apply):
        return None
    parts = condition.arguments
    match condition.operator:
        case Operator.LOGICAL_NOT:
            inner = answer(parts[0], holding)
            return None if inner is None else not inner
        case Operator.LOGICAL_AND | Operator.LOGICAL_OR:
            decides = condition.operator is Operator.LOGICAL_OR
            answers = [answer(part, holding) for part in parts]
            return decides if decides in answers else None if None in answers else not decides
        case Operator.SELECT:
            test = answer(parts[0], holding)
            if test is not None:
                return answer(parts[1] if test else parts[2], holding)
            either = answer(parts[1], holding), answer(parts[2], holding)
            return either[0] if either[0] is either[1] else None
        case _:
            return None
