"""A dtype that nothing states, where a condition says which one it is: it stays what it is called."""

from __future__ import annotations

from portcheck.core.dtype import DType, DTypeKind
from portcheck.frontends.nki.values.values import External, Format, Value
from portcheck.ir import Apply, Expr, Operator, Symbol
from portcheck.knowledge import Knowledge

_SIGN = " == "


def as_open(knowledge: Knowledge, condition: Expr, holds: bool, value: Value) -> Value:
    """`value`, or the dtype that nothing states where `value` is the one that the condition says it is."""
    dtype = _named(knowledge, value)
    if dtype is None or not isinstance(condition, Apply):
        return value
    if condition.operator is Operator.LOGICAL_NOT:
        return as_open(knowledge, condition.arguments[0], not holds, value)
    flag = condition.arguments[0]
    if not holds or condition.operator is not Operator.NOT_EQUAL or not isinstance(flag, Symbol):
        return value
    name, _, other = flag.name.partition(_SIGN)
    open_one = DType(name, DTypeKind.SYMBOLIC)
    return Format(open_one) if other == dtype and name.startswith("dtype(") else value


def _named(knowledge: Knowledge, value: Value) -> str | None:
    """The format that `value` is, if it is one that is stated."""
    if isinstance(value, Format):
        return None if value.dtype.is_symbolic else value.dtype.name
    facts = knowledge.nki_dtype(value.name) if isinstance(value, External) else None
    return facts.name if facts is not None else None
