"""Names that hold different values after the two arms of a branch, or after a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.objects.classes import found_in
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.deepening import deepen_parameter
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.state.joins import Join
from portcheck.frontends.nki.state.mutation import Changes, Changing, State, alike, put_back, state_of
from portcheck.frontends.nki.state.narrowing import either, narrowed
from portcheck.frontends.nki.statements.pairing import Pairing
from portcheck.frontends.nki.values.ages import new_age
from portcheck.frontends.nki.values.arithmetic import implied, is_number, is_small, same
from portcheck.frontends.nki.values.callables import Accessed, Function
from portcheck.frontends.nki.values.copying import put
from portcheck.frontends.nki.values.data import allocate, as_number, as_view, is_in_sight, operand, store
from portcheck.frontends.nki.values.decided import as_open
from portcheck.frontends.nki.values.fitting import same_shape
from portcheck.frontends.nki.values.flags import flag_called
from portcheck.frontends.nki.values.leaves import leaves_of
from portcheck.frontends.nki.values.operands import Operand
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import Either, Instance, Items, Key, Parameter, Table, Unknown, Value
from portcheck.ir import Alloc, Apply, Expr, Op, OpaqueKind, Operator, Space, operations
from portcheck.ir.walk import reads, writes

CHOICES = 8
"""Values that one may be by conditions that are not known; text that uses it is evaluated once for each."""


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Where the two arms of a branch come together: its condition, their operations, what is one object after it.

    `names` are those of either arm at its end, `since` is when the function that it stands in was called.
    """

    condition: Expr
    bodies: Sequence[list[Op]]
    pairing: Pairing
    names: Sequence[Mapping[str, Value]]
    since: int


def merge(
    context: Context,
    joint: Joint,
    first: Mapping[str, Value],
    second: Mapping[str, Value],
    used: frozenset[str] | None = None,
    variables: frozenset[str] = frozenset(),
) -> dict[str, Value]:
    """What each name stands for after a branch; what has to be done for that is added to its arms.

    `used` are the names that the text around the branch mentions (None: any may be), `variables` those of a function:
    whoever uses one of them that one arm alone binds has run that arm, or fails.
    """
    merged: dict[str, Value] = {}
    for name in [*first, *(name for name in second if name not in first)]:
        unbound = Unknown(name, f"{name} is bound in one arm of a branch only", kind=OpaqueKind.CONTROL)
        one, other = first.get(name, unbound), second.get(name, unbound)
        if alike(one, other):
            merged[name] = one
        elif one is unbound or other is unbound:
            body, value = (joint.bodies[0], one) if other is unbound else (joint.bodies[1], other)
            found = _lasting(context, body, value) if name in variables else None
            merged[name] = found if found is not None else unbound
        else:
            merged[name] = _merged(context, joint, name, one, other)
    return merged


def _merged(context: Context, joint: Joint, name: str, one: Value, other: Value) -> Value:
    one = as_open(context.knowledge, joint.condition, True, one)
    other = as_open(context.knowledge, joint.condition, False, other)
    if alike(one, other):
        return one
    if _is_tuple(one) and _is_tuple(other) and len(one.held) == len(other.held):
        pairs = zip(one.held, other.held, strict=True)
        return Items([
            left if alike(left, right) else _merged(context, joint, name, left, right) for left, right in pairs
        ])  # fmt: skip
    if joint.pairing.joins(one, other):
        return _one_object(context, joint, one, other)
    left, right = _numbers(context, joint.condition, one, other)
    if left is not None and right is not None and left.dtype.is_float == right.dtype.is_float:
        chosen = Apply(Operator.SELECT, (joint.condition, left, right), left.dtype)
        if is_small(chosen):
            return chosen
    if all(_is_numeric(context, joint.condition, *side) for side in ((one, True), (other, False))):
        return _in_register(context, joint, name, one, other)
    if isinstance(one, View | Result) and isinstance(other, View | Result) and _is_one_tile(context, name, one, other):
        return _through_memory(context, joint, name, one, other, one.shape)
    if isinstance(one, View) and isinstance(other, View):
        shape = _shape_of_either(context, joint, one, other)
        if shape is not None:
            return _through_memory(context, joint, name, one, other, shape)
    _note_rank(context, one, other)
    _note_rank(context, other, one)
    lasting = [_lasting(context, body, value) for body, value in zip(joint.bodies, (one, other), strict=True)]
    if lasting[0] is None or lasting[1] is None:
        return Unknown(name, f"{name} depends on a condition that is not known", (one, other), OpaqueKind.CONTROL)
    first, second = (_within(context, lasting[0], joint, True), _within(context, lasting[1], joint, False))
    return _either(joint.condition, first, second, name)


def _note_rank(context: Context, value: Value, other: Value) -> None:
    """A tensor of the caller has as many dimensions as it is given in the other arm: one text is about both."""
    if not isinstance(value, Parameter) or not isinstance(other, View) or other.buffer.name != value.name:
        return
    if not context.facts[value.name].is_measured:
        assumed = len(context.parameter_view(value.name).dimensions)
        deepen_parameter(context, value.name, len(other.dimensions) - assumed)


def _within(context: Context, value: Value, joint: Joint, holds: bool) -> Value:
    """`value` at the end of an arm: what is one of two values by what the arm decides is one of them."""
    if not isinstance(value, Either):
        return value
    facts = context.clauses.with_consequences(context.holding, joint.condition, holds) or {}
    return narrowed(context.clauses, value, facts)


def _numbers(context: Context, condition: Expr, one: Value, other: Value) -> tuple[Expr | None, Expr | None]:
    """Both values where they are numbers; a parameter is one that cannot be anything else where its arm ends."""
    found: list[Expr | None] = []
    for value, holds in ((one, True), (other, False)):
        is_one = _is_number_there(context, value, condition, holds)
        found.append(as_number(context, value) if is_one else None)
    return found[0], found[1]


def _is_number_there(context: Context, value: Value, condition: Expr, holds: bool) -> bool:
    if not isinstance(value, Parameter):
        return is_number(value)
    if value.name not in context.scalars or context.facts[value.name].is_tensor:
        return False
    there = {**context.holding, **implied(condition, holds)}
    return not context.facts[value.name].is_optional or there.get(flag_called(f"{value.name} is None")) is False


def _either(condition: Expr, one: Value, other: Value, name: str) -> Value:
    """`one` or `other`; where neither is known, or it may be one of too many, something that is not known."""
    choices = [*_choices(one), *_choices(other)]
    first = choices[0]
    if isinstance(first, Unknown) and all(isinstance(item, Unknown) for item in choices):
        return Unknown(name, first.reason, (one, other), first.kind)
    if len(choices) > CHOICES:
        return Unknown(name, f"{name} may be one of more than {CHOICES} values", (one, other), OpaqueKind.LIMIT)
    return either(condition, one, other)


def _choices(value: Value) -> list[Value]:
    """The values that `value` may be."""
    if isinstance(value, Either):
        return [*_choices(value.first), *_choices(value.second)]
    return [value]


def _is_tuple(value: Value) -> TypeGuard[Items]:
    return isinstance(value, Items) and not value.is_list and not value.lost and value.series is None


def _is_one_tile(context: Context, name: str, one: View | Result, other: View | Result) -> bool:
    """Whether both are tiles of the arms' own that one buffer can hold, and no other name was found to mean either."""
    if (context.builder.path, name) in context.joins.apart:
        return False
    tiles = [(item.buffer.dtype, item.buffer.space) if isinstance(item, View) else (item.dtype, item.space)
             for item in (one, other)]  # fmt: skip
    own = not any(isinstance(item, View) and is_in_sight(context, item) for item in (one, other))
    return own and tiles[0] == tiles[1] and same_shape(one.shape, other.shape)


def _lasting(context: Context, body: list[Op], value: Value) -> Value | None:
    """`value` as something that the text after the branch can use; None if it is nothing there."""
    if isinstance(value, Either):
        parts = [_lasting(context, body, part) for part in (value.first, value.second)]
        if parts[0] is None or parts[1] is None or not context.builder.sees(value.condition):
            return None
        return Either(value.condition, parts[0], parts[1])
    if isinstance(value, Result):
        with context.builder.continued(body):
            value = as_view(context, value) or value
    series = [item.series for item in reached_from(value) if isinstance(item, Items)]
    if not all(item is None or context.builder.sees(item.length) for item in series):
        return None
    for item in leaves_of(value):
        if isinstance(item, View) and not (is_in_sight(context, item) or _moved_out(context, body, item)):
            return None
        if isinstance(item, Result) or (is_number(item) and not context.builder.sees(item)):
            return None
        if isinstance(item, View) and not all(map(context.builder.sees, (*item.index, *item.shape))):
            return None
    return value


def _moved_out(context: Context, body: list[Op], view: View) -> bool:
    """Allocates the tile of an arm before the branch instead, where its size, and what it shows, are known there."""
    for op in body:
        if isinstance(op, Alloc) and op.name == view.buffer.name:
            shows_known = not op.base or op.base in context.facts or context.builder.sees_buffer(op.base)
            if not shows_known or not all(map(context.builder.sees, op.type.shape)):
                return False
            body.remove(op)
            context.builder.adopt([op])
            return True
    return False


def _shape_of_either(context: Context, joint: Joint, one: View, other: View) -> tuple[Expr, ...] | None:
    """The shape of a tensor in device memory that either arm allocates with other sizes, and that is empty yet."""
    first, second = one.buffer, other.buffer
    is_alike = (first.dtype, first.space, len(first.shape)) == (second.dtype, Space.GLOBAL, len(second.shape))
    is_empty = is_alike and all(
        view.shape == view.buffer.shape and _is_untouched(body, view.buffer.name)
        for body, view in zip(joint.bodies, (one, other), strict=True)
    )
    if not is_empty or first.space is not Space.GLOBAL:
        return None
    pairs = zip(first.shape, second.shape, strict=True)
    shape = [
        size if same(size, rest) else Apply(Operator.SELECT, (joint.condition, size, rest), size.dtype)
        for size, rest in pairs
    ]
    return tuple(shape) if all(is_small(size) and context.builder.sees(size) for size in shape) else None


def _through_memory(
    context: Context, joint: Joint, name: str, one: Value, other: Value, shape: Sequence[Expr]
) -> Value:
    assert isinstance(one, View | Result)
    dtype = one.buffer.dtype if isinstance(one, View) else one.dtype
    space = one.buffer.space if isinstance(one, View) else one.space
    view = allocate(context, name, dtype, shape, space, via="if")
    for body, value in zip(joint.bodies, (one, other), strict=True):
        if isinstance(value, View) and _is_untouched(body, value.buffer.name):
            continue
        with context.builder.continued(body):
            found = operand(context, value)
            if found is not None:
                put(context, view, found)
    sides = tuple(zip((one, other), joint.names, strict=True))
    context.joins.made.append(Join((context.builder.path, name), view.buffer.name, sides, joint.since))
    return view


def _is_untouched(body: Sequence[Op], buffer: str) -> bool:
    """Whether `buffer` is allocated in `body` and nothing else is done with it there: it holds nothing yet."""
    inside = list(operations(body))
    used = {name for op in inside for name in (*reads(op), *writes(op))}
    shown = {op.base for op in inside if isinstance(op, Alloc)}
    made = any(isinstance(op, Alloc) and op.name == buffer and not op.base for op in body)
    return made and buffer not in used | shown


def _is_numeric(context: Context, condition: Expr, value: Value, holds: bool) -> bool:
    """Whether `value` is an integer where its arm ends, or the register that holds one, whichever of several it is."""
    match value:
        case Either(first=first, second=second):
            return all(_is_numeric(context, condition, item, holds) for item in (first, second))
        case View():
            return value.buffer.space is Space.REGISTER and not value.dimensions
        case Parameter(name):
            return _is_number_there(context, value, condition, holds) and not context.scalars[name].is_float
        case _:
            return is_number(value) and not value.dtype.is_float


def _whichever(context: Context, value: Value) -> Expr | None:
    """The number that `value` is, whichever of several that is."""
    if not isinstance(value, Either):
        return as_number(context, value)
    first, second = _whichever(context, value.first), _whichever(context, value.second)
    if first is None or second is None or not context.builder.sees(value.condition):
        return None
    return Apply(Operator.SELECT, (value.condition, first, second), INT64)


def _in_register(context: Context, joint: Joint, name: str, one: Value, other: Value) -> Value:
    """A number that is too large to be written out where it is used: each arm keeps it in a register."""
    view = allocate(context, name, INT64, (), Space.REGISTER, via="if")
    context.kept_numbers[view.buffer.name] = view
    for body, value in zip(joint.bodies, (one, other), strict=True):
        with context.builder.continued(body):
            found = _whichever(context, value)
            if found is None:
                return Unknown(name, f"{name} grows too large to keep", kind=OpaqueKind.LIMIT)
            store(context, view, Operand(found, found.dtype), via="=")
    return view


def _one_object(context: Context, joint: Joint, one: Value, other: Value) -> Value:
    """The object that stands for one made in either arm: its attributes are what those of the two come to."""
    made = joint.pairing.merged.get((id(one), id(other)))
    if made is not None:
        return made
    if isinstance(one, Items) and isinstance(other, Items):
        whole = joint.pairing.merged[id(one), id(other)] = Items([], is_list=True)
        whole.once, whole.watches = one.once, (*one.watches, *other.watches)
        entries = _merged_entries(context, joint, dict(enumerate(one.held)), dict(enumerate(other.held)))
        whole.held.extend(entries.values())
        return whole
    assert isinstance(one, Table) and isinstance(other, Table)
    table = joint.pairing.merged[id(one), id(other)] = replace(one, held={})
    table.age = new_age()
    table.held.update(_merged_entries(context, joint, one.held, other.held))
    return table


def merge_objects(
    context: Context, joint: Joint,
    first: Changes, ends: Mapping[int, State], second: Changes, others: Mapping[int, State],
) -> None:  # fmt: skip
    """What the objects hold that are older than a branch and that its arms changed; the changes are taken back."""
    for key, (item, _) in {**second.before, **first.before}.items():
        if item.age > joint.pairing.since:
            continue
        before = state_of(item)  # as it is where neither arm decides what it holds
        one, other = ends.get(key, before), others.get(key, before)
        context.journal.note(item)
        put_back(item, _merged_state(context, joint, item, one, other))


def _merged_state(context: Context, joint: Joint, item: Changing, one: State, other: State) -> State:
    """What an object holds that holds `one` or `other` where the arms of a branch end."""
    is_open = one.series is not other.series or one.choice is not other.choice
    is_open = is_open or list(one.held) != list(other.held)
    if is_open and isinstance(item, Items | Table) and not isinstance(item, Instance):
        choice = _choice(context, joint, item, one, other)
        if choice is not None:
            context.choices.add(item)
        return State({} if choice is not None else one.held, one.lost or other.lost or _OPEN, None, choice)
    if one.lost or other.lost:
        return State(one.held, one.lost or other.lost, one.series, one.choice)
    sides = _completed(item, one.held, other.held), _completed(item, other.held, one.held)
    return State(_merged_entries(context, joint, *sides), "", one.series)


_OPEN = "what it holds depends on a condition that is not known"


def _choice(context: Context, joint: Joint, item: Items | Table, one: State, other: State) -> Either | None:
    """Two objects of which `item` holds what one does; None where the text after the branch cannot use either."""
    sides: list[Value] = []
    for state, body in zip((one, other), joint.bodies, strict=True):
        held = {key: _lasting(context, body, value) for key, value in state.held.items()}
        known = {key: value for key, value in held.items() if value is not None}
        side = Items(list(known.values()), item.is_list) if isinstance(item, Items) else replace(item, held=known)
        if isinstance(side, Items) and isinstance(item, Items):
            side.once, side.series = item.once, state.series
        if (state.lost and state.choice is None) or len(known) < len(held) or _lasting(context, body, side) is None:
            return None
        side.lost, side.choice = state.lost, state.choice
        sides.append(side)
    if sum(map(_ways, sides)) > CHOICES:
        return None
    return Either(joint.condition, sides[0], sides[1])


def _ways(value: Value) -> int:
    """How many things a list or dictionary may hold."""
    choice = value.choice if isinstance(value, Items | Table) else None
    return 1 if choice is None else _ways(choice.first) + _ways(choice.second)


def _completed(item: Changing, own: Mapping[Key, Value], other: Mapping[Key, Value]) -> Mapping[Key, Value]:
    """What an object holds in one arm; an attribute that the other arm alone sets is its class's here."""
    if not isinstance(item, Instance):
        return own
    missing = {key: found_in(item.owner, key) for key in other if isinstance(key, str) and key not in own}
    shared = {key: value for key, value in missing.items() if value is not None}
    return {**{key: value for key, value in shared.items() if not isinstance(value, Function | Accessed)}, **own}


def _merged_entries(
    context: Context, joint: Joint, first: Mapping[Key, Value], second: Mapping[Key, Value]
) -> dict[Key, Value]:
    names = {key: str(key) for key in [*first, *(key for key in second if key not in first)]}
    left = {names[key]: value for key, value in first.items()}
    right = {names[key]: value for key, value in second.items()}
    merged = merge(context, joint, left, right)
    return {key: merged[name] for key, name in names.items()}
