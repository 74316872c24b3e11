"""Comparisons: of numbers and tiles, of objects by value and by identity, membership."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import libcst as cst

from portcheck.core.dtype import BOOL, DType, dtype_of
from portcheck.frontends.nki.expressions.bind import as_dtype, as_space, same_space
from portcheck.frontends.nki.expressions.operators import is_tile, numbers, on_tiles
from portcheck.frontends.nki.objects.attributes import give_back, items_of
from portcheck.frontends.nki.objects.dunders import has_own_equality
from portcheck.frontends.nki.objects.enumerations import members_of, plain_value
from portcheck.frontends.nki.state.answers import answer
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import ForkError
from portcheck.frontends.nki.state.holding import is_small
from portcheck.frontends.nki.values.arithmetic import implied, is_number, known, literal, unary
from portcheck.frontends.nki.values.arithmetic import is_small as is_short
from portcheck.frontends.nki.values.callables import Class, ClassKind
from portcheck.frontends.nki.values.data import as_number
from portcheck.frontends.nki.values.flags import flag_called, some_flag
from portcheck.frontends.nki.values.values import (
    Counter,
    Either,
    External,
    Format,
    Instance,
    Items,
    Nothing,
    ShapeOf,
    SomeText,
    Table,
    Text,
    Unknown,
    Value,
)  # fmt: skip
from portcheck.frontends.nki.values.values import Parameter as KernelParameter
from portcheck.ir import TRUE, Apply, Const, Expr, OpaqueKind, Operator, Symbol, apply

_COMPARISONS: Mapping[type[cst.CSTNode], tuple[str, Operator]] = {
    cst.Equal: ("==", Operator.EQUAL),
    cst.NotEqual: ("!=", Operator.NOT_EQUAL),
    cst.LessThan: ("<", Operator.LESS),
    cst.LessThanEqual: ("<=", Operator.LESS_EQUAL),
    cst.GreaterThan: (">", Operator.GREATER),
    cst.GreaterThanEqual: (">=", Operator.GREATER_EQUAL),
}


def comparison(context: Context, kind: type[cst.CSTNode], left: Value, right: Value, text: str) -> Value:
    """One comparison; identity and membership are decided where the values are known."""
    left, right = context.resolve(left), context.resolve(right)
    for side in (left, right):
        if isinstance(side, Either):
            return _of_either(context, kind, side, left, right, text)
    if kind in (cst.Is, cst.IsNot):
        return _identity(context, left, right, text, negated=kind is cst.IsNot)
    if kind in (cst.In, cst.NotIn):
        return _membership(context, left, right, text, negated=kind is cst.NotIn)
    if kind not in _COMPARISONS:
        return context.unknown(text, "this comparison is not read", left, right)
    sign, operator = _COMPARISONS[kind]
    if operator in (Operator.EQUAL, Operator.NOT_EQUAL):
        settled_value = _objects(context, operator, left, right, text)
        if settled_value is not None:
            return settled_value
    if is_tile(context, left) or is_tile(context, right):
        return on_tiles(context, sign, operator, left, right, text)
    first, second = as_number(context, left), as_number(context, right)
    if first is not None and second is not None and operator is Operator.EQUAL and first == second:
        return apply(operator, first, second)
    return numbers(context, operator, left, right, text)


def _of_either(context: Context, kind: type[cst.CSTNode], side: Either, left: Value, right: Value, text: str) -> Value:
    """A comparison with one of two values: that with the first where the condition holds, else that with the second."""
    is_by_value = kind in _BY_VALUE and not _may_compute(left) and not _may_compute(right)
    if kind not in (cst.Is, cst.IsNot) and not is_by_value:
        raise ForkError(side.condition)
    parts = [
        comparison(context, kind, part if left is side else left, part if right is side else right, text)
        for part in (context.resolve(side.first), context.resolve(side.second))
    ]
    numbers = [as_number(context, part) for part in parts]
    if numbers[0] is None or numbers[1] is None:
        raise ForkError(side.condition)
    chosen = _chosen(side.condition, numbers[0], numbers[1])
    if not is_short(chosen):
        raise ForkError(side.condition)
    return chosen


_BY_VALUE = (cst.Equal, cst.NotEqual, cst.In, cst.NotIn)


def _may_compute(value: Value) -> bool:
    """Whether comparing `value`, or what it may be, may compute a tile or run a method."""
    if isinstance(value, Either):
        return _may_compute(value.first) or _may_compute(value.second)
    if isinstance(value, Items) and not value.lost and value.series is None:
        return any(map(_may_compute, value.held))
    if isinstance(value, Unknown):
        return not all(isinstance(part, External) for part in value.parts)
    return not isinstance(value, Nothing | Text | External | Format | Const | Symbol | Apply | Class) and not (
        isinstance(value, Instance) and value.owner.kind is ClassKind.ENUMERATION
    )


def _chosen(condition: Expr, one: Expr, other: Expr) -> Expr:
    """The truth value `one` where `condition` holds, else `other`."""
    first, second = answer(one, implied(condition, True)), answer(other, implied(condition, False))
    negated = unary(Operator.LOGICAL_NOT, condition)
    if first is not None and second is not None:
        return literal(first) if first == second else condition if first else negated
    if first is not None:
        sign, test = (Operator.LOGICAL_OR, condition) if first else (Operator.LOGICAL_AND, negated)
        return apply(sign, test, other)
    if second is not None:
        sign, test = (Operator.LOGICAL_OR, negated) if second else (Operator.LOGICAL_AND, condition)
        return apply(sign, test, one)
    return Apply(Operator.SELECT, (condition, one, other), BOOL)


def _objects(context: Context, operator: Operator, left: Value, right: Value, text: str) -> Value | None:
    """Equality of shapes, strings and dtypes; None when the operands are something else."""
    is_equal: bool | None = None
    wanted = operator is Operator.EQUAL
    left, right = _as_items(context, left, right), _as_items(context, right, left)
    flag = _of_member(context, left, right) or _of_member(context, right, left)
    if flag is not None:
        return flag if wanted else unary(Operator.LOGICAL_NOT, flag)
    left, right = plain_value(left) or left, plain_value(right) or right
    if isinstance(left, Items) and isinstance(right, Items):
        if len(left.values) != len(right.values):
            return literal(not wanted)
        if not is_small(left):
            return context.unknown(text, "lists too large to be compared", kind=OpaqueKind.LIMIT)
        result: Value = TRUE
        for one, other in zip(left.values, right.values, strict=True):
            part = comparison(context, cst.Equal, one, other, text)
            result = part if result is TRUE else both(context, result, part, text)
        return result if wanted else _negated(context, result, text)
    if isinstance(left, Instance) and isinstance(right, Instance) and has_own_equality(left) and left is not right:
        if left.owner is not right.owner:
            return literal(not wanted)
        return comparison(context, _EQUALITY[operator], _fields(left), _fields(right), text)
    if isinstance(left, Instance | Class) and not isinstance(right, Unknown | KernelParameter):
        is_equal = left is right
    elif isinstance(left, Text) and isinstance(right, Text):
        is_equal = left.value == right.value
    elif isinstance(left, Text) and is_number(right) or isinstance(right, Text) and is_number(left):
        is_equal = False
    elif isinstance(left, Nothing) or isinstance(right, Nothing):
        flag = may_be_nothing(context, left if isinstance(right, Nothing) else right)
        if flag is not None:
            return flag if wanted else unary(Operator.LOGICAL_NOT, flag)
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return context.unknown(text, "the comparison is not decided", left, right, kind=OpaqueKind.CONTROL)
        is_equal = left == right
    elif isinstance(left, External) and isinstance(right, External) and as_space(context, left) is not None:
        is_equal = same_space(context, left, right)
        if is_equal is None:
            return flag_called(text)
    elif _is_open(left) and isinstance(right, Text) or isinstance(left, Text) and _is_open(right):
        flag = _of_name(context, left, right)
        return flag if wanted else unary(Operator.LOGICAL_NOT, flag)
    elif isinstance(left, Format | External) and isinstance(right, Format | External):
        first, second = as_dtype(context, left), as_dtype(context, right)
        flag = _of_dtype(context, first, second) if first is not None and second is not None else None
        if flag is not None:
            return flag if wanted else unary(Operator.LOGICAL_NOT, flag)
        is_equal = first == second if first is not None and second is not None else left == right
    for value, other in ((left, right), (right, left)):
        if isinstance(value, KernelParameter) and isinstance(other, Format | External):
            flag = _of_format(context, value, other)
            if flag is not None:
                return flag if wanted else unary(Operator.LOGICAL_NOT, flag)
    return None if is_equal is None else literal(is_equal is wanted)


def _is_open(value: Value) -> bool:
    return isinstance(value, Format) and value.dtype.is_symbolic


def _of_name(context: Context, left: Value, right: Value) -> Expr:
    """Whether a dtype that nothing states is called by a text."""
    kind, text = (left, right) if isinstance(right, Text) else (right, left)
    assert isinstance(kind, Format) and isinstance(text, Text)
    named = as_dtype(context, text)
    flag = _of_dtype(context, kind.dtype, named) if named is not None else None
    return flag if flag is not None else _is_called(context, kind.dtype, repr(text.value))


def _of_dtype(context: Context, one: DType, other: DType) -> Expr | None:
    """Whether a dtype that nothing states is the other; it is not where it is a third. None where both are stated."""
    if one == other or not (one.is_symbolic or other.is_symbolic):
        return None
    first, second = (one, other) if one.is_symbolic else (other, one)
    if second.is_symbolic:
        return flag_called(" == ".join(sorted((first.name, second.name))))
    return _is_called(context, first, second.name)


def _is_called(context: Context, dtype: DType, name: str) -> Expr:
    """Whether a dtype that nothing states is the one called `name`; it has one name only."""
    flag = flag_called(f"{dtype} == {name}")
    context.clauses.exclude((*(flag_called(f"{dtype} == {other}") for other in context.knowledge.dtypes.by_name), flag))
    others = (other for other in context.clauses.excluded_by(flag) if other != flag)
    return literal(False) if any(context.holding.get(other) for other in others) else flag


def _of_format(context: Context, value: KernelParameter, other: Format | External) -> Expr | None:
    """Whether a parameter of which nothing else is known is a dtype; None where either is something else."""
    dtype = as_dtype(context, other)
    if dtype is None or context.facts[value.name].is_tensor or value.name in context.scalars:
        return None
    return _of_dtype(context, dtype_of(value.name), dtype)


def _of_member(context: Context, value: Value, member: Value) -> Expr | None:
    """Whether a parameter is this member of an enumeration; it is not where it is another one."""
    if not isinstance(value, KernelParameter) or not isinstance(member, Instance) or plain_value(member) is not member:
        return None
    owner = member.owner
    if owner.kind is not ClassKind.ENUMERATION or context.facts[value.name].is_tensor:
        return None
    flags = {item.record: flag_called(f"{value.name} == {owner.name}.{item.record}") for item in members_of(owner)}
    context.clauses.exclude(tuple(flags.values()))
    others = [context.holding.get(flag) for name, flag in flags.items() if name != member.record]
    facts = context.facts[value.name]
    if facts.enumeration is owner and not facts.is_optional and all(holds is False for holds in others):
        return literal(True)  # it is none of the others
    return literal(False) if any(others) else flags.get(member.record)


_EQUALITY: Mapping[Operator, type[cst.CSTNode]] = {Operator.EQUAL: cst.Equal, Operator.NOT_EQUAL: cst.NotEqual}


def _fields(target: Instance) -> Items:
    return Items(list(target.entries.values()))


def _as_items(context: Context, value: Value, other: Value) -> Value:
    """A shape of unknown rank compared with a tuple has the tuple's rank."""
    if not isinstance(value, ShapeOf):
        return value
    rank = len(other.values) if isinstance(other, Items) else 2
    if isinstance(other, Items):
        context.facts[value.parameter].seen(rank)
    return Items(list(context.parameter_view(value.parameter, rank).shape))


def _negated(context: Context, value: Value, text: str) -> Value:
    number = as_number(context, value)
    if number is None:
        return context.unknown(text, "not decided", value, kind=OpaqueKind.CONTROL)
    return unary(Operator.LOGICAL_NOT, number)


def _identity(context: Context, left: Value, right: Value, text: str, *, negated: bool) -> Value:
    if any(isinstance(one, SomeText) and isinstance(other, Nothing) for one, other in ((left, right), (right, left))):
        return literal(negated)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return some_flag(context, text)
    for value, other in ((left, right), (right, left)):
        if isinstance(other, Nothing):
            flag = may_be_nothing(context, value)
            if flag is not None:
                return unary(Operator.LOGICAL_NOT, flag) if negated else flag
            return literal(isinstance(value, Nothing) is not negated)
    first, second = as_number(context, left), as_number(context, right)
    if first is not None and second is not None:
        values = known(first), known(second)
        is_same = first == second or (None not in values and values[0] == values[1])
        return literal(is_same is not negated) if is_same or None not in values else some_flag(context, text)
    return literal((left is right or left == right) is not negated)


def may_be_nothing(context: Context, value: Value) -> Expr | None:
    """The flag that says whether a parameter is `None`; None where it is always there, or for something else."""
    if not isinstance(value, KernelParameter):
        return None
    facts = context.facts[value.name]
    is_there = value.name in context.scalars or facts.is_tensor
    return flag_called(f"{value.name} is None") if facts.is_optional or not is_there else None


def _membership(context: Context, left: Value, right: Value, text: str, *, negated: bool) -> Value:
    if isinstance(right, Text) and isinstance(left, Text):
        return literal((left.value in right.value) is not negated)
    if not isinstance(right, Items | Table | Counter):
        return some_flag(context, text)
    held = items_of(context, right)
    if held is None:
        return some_flag(context, text)
    parts = [comparison(context, cst.Equal, left, item, text) for item in held]
    decided = [known(part) if isinstance(part, Const | Apply) else None for part in parts]
    if any(decided):
        place = list(map(bool, decided)).index(True)
        give_back(context, right, held, None if None in decided[:place] else place + 1)
        return literal(not negated)
    open_parts = [part for part, answer in zip(parts, decided, strict=True) if answer is None]
    if not open_parts:
        return literal(negated)
    found = _any_of(open_parts)
    if found is None:
        return some_flag(context, text)
    return unary(Operator.LOGICAL_NOT, found) if negated else found


def _any_of(parts: Sequence[Value]) -> Expr | None:
    """Whether one of a few conditions holds; None where one is no condition, or there are many."""
    conditions = [part for part in parts if isinstance(part, Apply) and part.dtype == BOOL]
    if len(conditions) != len(parts) or len(parts) > _FEW:
        return None
    return reduce(lambda one, other: Apply(Operator.LOGICAL_OR, (one, other), BOOL), conditions[1:], conditions[0])


_FEW = 8
"""Conditions that are joined."""


def both(context: Context, left: Value, right: Value, text: str) -> Value:
    """`left and right` of two comparisons."""
    return numbers(context, Operator.LOGICAL_AND, left, right, text)
