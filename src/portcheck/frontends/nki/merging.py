"""Names that hold different values after the two arms of a branch, or after a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from portcheck.frontends.nki.arithmetic import is_small
from portcheck.frontends.nki.context import Context
from portcheck.frontends.nki.data import allocate, as_number, operand, store
from portcheck.frontends.nki.fitting import same_shape
from portcheck.frontends.nki.mutation import Changes, State, alike, changing, put_back
from portcheck.frontends.nki.values import Items, Key, Result, Unknown, Value, View
from portcheck.ir import Apply, Expr, Op, OpaqueKind, Operator


def merge(
    context: Context,
    condition: Expr,
    bodies: Sequence[list[Op]],
    first: Mapping[str, Value],
    second: Mapping[str, Value],
) -> dict[str, Value]:
    """What each name stands for after a branch whose arms are `bodies`; stores are added at the ends of the arms."""
    merged: dict[str, Value] = {}
    for name in [*first, *(name for name in second if name not in first)]:
        one, other = first.get(name), second.get(name)
        if one is None or other is None:
            merged[name] = Unknown(name, f"{name} is bound in one arm of a branch only", kind=OpaqueKind.CONTROL)
        elif alike(one, other):
            merged[name] = one
        else:
            merged[name] = _merged(context, condition, bodies, name, one, other)
    return merged


def _merged(
    context: Context, condition: Expr, bodies: Sequence[list[Op]], name: str, one: Value, other: Value
) -> Value:
    if isinstance(one, Items) and isinstance(other, Items) and len(one.values) == len(other.values):
        pairs = zip(one.values, other.values, strict=True)
        return Items(
            [
                left if left is right else _merged(context, condition, bodies, name, left, right)
                for left, right in pairs
            ],
            one.is_list,
        )
    left, right = as_number(context, one), as_number(context, other)
    if left is not None and right is not None:
        chosen = Apply(Operator.SELECT, (condition, left, right), left.dtype)
        if is_small(chosen):
            return chosen
        return Unknown(name, f"{name} grows too large to keep", kind=OpaqueKind.LIMIT)
    shapes = [value.shape for value in (one, other) if isinstance(value, View | Result)]
    if len(shapes) != 2 or not same_shape(shapes[0], shapes[1]):
        return Unknown(name, f"{name} depends on a condition that is not known", (one, other), OpaqueKind.CONTROL)
    return _through_memory(context, bodies, name, one, other)


def _through_memory(context: Context, bodies: Sequence[list[Op]], name: str, one: Value, other: Value) -> Value:
    assert isinstance(one, View | Result)
    dtype = one.buffer.dtype if isinstance(one, View) else one.dtype
    space = one.buffer.space if isinstance(one, View) else one.space
    view = allocate(context, name, dtype, one.shape, space, via="if")
    for body, value in zip(bodies, (one, other), strict=True):
        with context.builder.continued(body):
            found = operand(context, value)
            if found is not None:
                store(context, view, found, via="=")
    return view


def merge_objects(
    context: Context, condition: Expr, bodies: Sequence[list[Op]],
    first: Changes, ends: Mapping[int, State], second: Changes, others: Mapping[int, State],
) -> None:  # fmt: skip
    """What the objects hold that the arms of a branch changed; the changes are taken back before this."""
    for key, (item, before) in {**second.before, **first.before}.items():
        one, other = ends.get(key, before), others.get(key, before)
        changing(context, item)
        lost = one.lost or other.lost
        if one.series is not other.series or (isinstance(item, Items) and len(one.held) != len(other.held)):
            lost = lost or "what it holds depends on a condition that is not known"
        held = one.held if lost else _merged_entries(context, condition, bodies, one.held, other.held)
        put_back(item, State(held, lost, one.series))


def _merged_entries(
    context: Context, condition: Expr, bodies: Sequence[list[Op]],
    first: Mapping[Key, Value], second: Mapping[Key, Value],
) -> dict[Key, Value]:  # fmt: skip
    names = {key: str(key) for key in [*first, *(key for key in second if key not in first)]}
    left = {names[key]: value for key, value in first.items()}
    right = {names[key]: value for key, value in second.items()}
    merged = merge(context, condition, bodies, left, right)
    return {key: merged[name] for key, name in names.items()}
