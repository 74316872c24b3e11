"""Recognising `x = x op g` in what one iteration of a loop leaves behind."""

from __future__ import annotations

from portcheck.ir import Operator
from portcheck.ir.operators import ASSOCIATIVE
from portcheck.values.folds import IDENTITIES
from portcheck.values.terms import Carried, Choice, Condition, Function, Holds, Rounded, Term, condition_terms, has_kind

_GREATER = {Operator.GREATER, Operator.GREATER_EQUAL}
_LESS = {Operator.LESS, Operator.LESS_EQUAL}


def has_carried(term: Term) -> bool:
    """Whether `term` depends on what an earlier iteration left."""
    return has_kind(term, Carried)


def conditions_have_carried(conditions: tuple[Condition, ...]) -> bool:
    """Whether a condition depends on what an earlier iteration left."""
    return any(has_carried(term) for condition in conditions for term in condition_terms(condition))


def accumulated(value: Term, carried: Carried) -> tuple[Operator, Term] | None:
    """(op, g) if `value` is `carried op g` with g free of carried values, else None."""
    match value:
        case Rounded(_, operand):
            return accumulated(operand, carried)
        case Function(Operator.SUBTRACT, (left, right)) if not has_carried(right):
            return _subtracted(left, right, carried)
        case Function(operator, (left, right)) if operator in ASSOCIATIVE:
            return _added(operator, left, right, carried) or _added(operator, right, left, carried)
        case Choice(conditions, on_true, on_false):
            return _extremum(value, carried) or _chosen(conditions, on_true, on_false, carried)
        case _:
            return None


def _added(operator: Operator, left: Term, right: Term, carried: Carried) -> tuple[Operator, Term] | None:
    if has_carried(right):
        return None
    if _plain(left) == carried:
        return operator, right
    inner = accumulated(left, carried)
    if inner is None or inner[0] is not operator:
        return None
    return operator, Function(operator, (inner[1], right))


def _subtracted(left: Term, right: Term, carried: Carried) -> tuple[Operator, Term] | None:
    if _plain(left) == carried:
        return Operator.ADD, Function(Operator.NEGATE, (right,))
    inner = accumulated(left, carried)
    if inner is None or inner[0] is not Operator.ADD:
        return None
    return Operator.ADD, Function(Operator.SUBTRACT, (inner[1], right))


def _plain(term: Term) -> Term:
    return _plain(term.operand) if isinstance(term, Rounded) else term


def extremum(value: Choice) -> tuple[Operator, Term, Term] | None:
    """The operator and both operands of `x > y ? x : y` and its variants."""
    if len(value.conditions) != 1 or not isinstance(value.conditions[0], Holds):
        return None
    condition = value.conditions[0]
    test = condition.term
    if not isinstance(test, Function) or len(test.arguments) != 2:
        return None
    left, right = test.arguments
    on_true, on_false = value.on_true, value.on_false
    if condition.negated:
        on_true, on_false = on_false, on_true
    greater = test.operator in _GREATER
    if not greater and test.operator not in _LESS:
        return None
    if {left, right} != {on_true, on_false}:
        return None
    takes_greater = (on_true == left) is greater
    return (Operator.MAXIMUM if takes_greater else Operator.MINIMUM), left, right


def _extremum(value: Choice, carried: Carried) -> tuple[Operator, Term] | None:
    """`x > carried ? x : carried` and its variants."""
    found = extremum(value)
    if found is None or carried not in found[1:]:
        return None
    operator, left, right = found
    other = right if left == carried else left
    return None if has_carried(other) else (operator, other)


def _chosen(
    conditions: tuple[Condition, ...], on_true: Term, on_false: Term, carried: Carried
) -> tuple[Operator, Term] | None:
    if conditions_have_carried(conditions):
        return None
    true, false = accumulated(on_true, carried), accumulated(on_false, carried)
    operators = {found[0] for found in (true, false) if found}
    if len(operators) != 1:
        return None
    (operator,) = operators
    identity = IDENTITIES.get(operator)
    if identity is None:
        return None
    if (true is None and on_true != carried) or (false is None and on_false != carried):
        return None
    return operator, Choice(conditions, true[1] if true else identity, false[1] if false else identity)
