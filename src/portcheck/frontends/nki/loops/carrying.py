"""Names that one iteration of a loop hands to the next, or to what follows: they go through a buffer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from portcheck.frontends.nki.loops.lists import copy_into, in_one_buffer, is_made_for_next, tiles_of
from portcheck.frontends.nki.loops.rounds import Made, Plan, Round, Site
from portcheck.frontends.nki.loops.slots import Slot, hint_of, put_into, value_in
from portcheck.frontends.nki.source.trees import assigned_names, children, inner_children, read_names, read_outside
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import NeedsUnrollingError
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.state.joins import Join
from portcheck.frontends.nki.state.mutation import alike
from portcheck.frontends.nki.values.copying import put
from portcheck.frontends.nki.values.data import allocate, as_number, load, operand, store
from portcheck.frontends.nki.values.fitting import same_shape
from portcheck.frontends.nki.values.operands import Operand
from portcheck.frontends.nki.values.series import at, view_at
from portcheck.frontends.nki.values.stacking import innermost
from portcheck.frontends.nki.values.tiles import Grid, Result, View
from portcheck.frontends.nki.values.values import Counter, Either, Items, Parameter, Stretch, Table, Unknown, Value
from portcheck.ir import ZERO, Apply, Branch, Const, Expr, Op, OpaqueKind, Ref, Space, Symbol, substitute
from portcheck.ir.expr import refs_in, symbols_in
from portcheck.ir.walk import operations, writes


@dataclass(frozen=True, slots=True)
class Carried:
    """A name or place with the buffer that holds it between iterations; `is_number` for a size or flag.

    Of a list of tiles `parts` is the list of those in the buffer.
    """

    slot: Slot
    view: View
    is_number: bool
    parts: Items | None = None


def settled_late(context: Context, marks: tuple[int, ...], since: int, loop: Iterable[Op]) -> list[Result]:
    """The tiles made before a loop that were settled in it and are written there: a round may have read them before."""
    found = [result for result in context.settled_since(marks) if result.age < since]
    written = {name for op in operations(loop) for name in writes(op)} if found else set()
    return [result for result in found if result.view is not None and result.view.buffer.name in written]


def carried_names(context: Context, frame: Frame, block: cst.BaseSuite | None) -> dict[str, Value]:
    """The names bound before a loop that its body reads before it binds them anew, with what they are now."""
    if block is None:
        return {}
    first_read = _read_before_bound(block)
    found: dict[str, Value] = {}
    for name in assigned_names(block):
        value = frame.names.get(name)
        if value is None or name not in first_read:
            continue
        if isinstance(value, View) and not _is_rebound(block, name):
            continue
        found[name] = value
    return found


def fits_no_buffer(context: Context, value: Value) -> bool:
    """Whether `value` is an object, or a tensor of the caller's: a name bound to another part of it each time."""
    is_tensor = isinstance(value, Parameter) and context.facts[value.name].is_tensor
    return is_tensor or isinstance(value, Items | Table)


def number_of(context: Context, value: Value) -> Expr | None:
    """`value` as a number that may go on from round to round."""
    return as_number(context, value) if not isinstance(value, Unknown | Either) else None


def held_in_memory(context: Context, slot: Slot, value: Value) -> Carried | None:
    """The buffer that holds `slot` between rounds, with its first value stored; None if `value` fits in none."""
    name = hint_of(slot)
    number = number_of(context, value)
    if number is not None:
        view = allocate(context, name, number.dtype, (), Space.REGISTER, via="=")
        store(context, view, Operand(number, number.dtype), via="=")
        return Carried(slot, view, is_number=True)
    if isinstance(value, View | Result):
        dtype = value.buffer.dtype if isinstance(value, View) else value.dtype
        space = value.buffer.space if isinstance(value, View) else value.space
        source = operand(context, value)
        view = allocate(context, name, dtype, value.shape, space, via="=")
        if source is not None:
            put(context, view, source)
        return Carried(slot, view, is_number=False)
    found = in_one_buffer(context, name, value)
    return None if found is None else Carried(slot, found[0], is_number=False, parts=found[1])


def before_body(context: Context, frame: Frame, carried: Sequence[Carried]) -> None:
    """At the start of an iteration each carried name is what its buffer holds."""
    for item in carried:
        value = load(context, item.view, is_tile=False).expression if item.is_number else item.parts or item.view
        put_into(context, frame, item.slot, value)


def end_of_body(context: Context, frame: Frame, carried: Sequence[Carried]) -> None:
    """At the end of an iteration each carried name is put into its buffer; all are read before one is written."""
    other = [item for item in carried if _has_changed(context, frame, item)]
    changed = [item for item in other if item.parts is None]
    values = [_at_end(context, frame, item) for item in changed]
    held = [item.view for item in carried]
    sources = [operand(context, value) if not isinstance(value, Either) else None for value in values]
    for item, value, source in zip(changed, values, sources, strict=True):
        if source is not None:
            put(context, item.view, source)
        elif value is None or not _put_sides(context, item, value, held):
            context.opaque(
                f"{hint_of(item.slot)} is not understood at the end of the loop",
                "=",
                writes=(item.view.buffer.name,),
                kind=OpaqueKind.CONTROL,
            )
    for item in other:
        value = value_in(frame, item.slot)
        if item.parts is not None and isinstance(value, Items):
            copy_into(context, item.view, value)
            value.origin = item.parts  # one list by two names must not change


def _at_end(context: Context, frame: Frame, item: Carried) -> Value | None:
    value = value_in(frame, item.slot)
    return context.resolve(value) if value is not None else None


def _put_sides(context: Context, item: Carried, value: Value, held: Sequence[View]) -> bool:
    """Puts the one of two values that a round leaves into the buffer; False where that is not understood."""
    value = context.resolve(value)
    if value is item.view:
        return True
    if isinstance(value, Either) and context.builder.sees(value.condition):
        bodies: list[list[Op]] = []
        for side, holds in ((value.first, True), (value.second, False)):
            with context.builder.region() as body, context.assuming(value.condition, holds):
                if not _put_sides(context, item, side, held):
                    return False
            bodies.append(body)
        then, otherwise = map(tuple, bodies)
        context.builder.emit(Branch, via="=", condition=value.condition, then=then, otherwise=otherwise)
        return True
    is_read_late = isinstance(value, View) and any(value.buffer == view.buffer for view in held)
    source = operand(context, value) if not isinstance(value, Either) and not is_read_late else None
    fits = source is not None and (item.is_number or same_shape(source.shape, item.view.shape))
    if source is not None and fits:
        put(context, item.view, source)
    return fits


def _has_changed(context: Context, frame: Frame, item: Carried) -> bool:
    """Whether a round leaves another value; raises NeedsUnrollingError for a tile that other names may stand for."""
    if is_alias(context, frame, item):
        raise NeedsUnrollingError
    value = value_in(frame, item.slot)
    return value is not None and value is not (item.parts or item.view)


def is_alias(context: Context, frame: Frame, item: Carried) -> bool:
    """Whether a round leaves a tile that was not made in it."""
    value, made = value_in(frame, item.slot), innermost(context)
    if item.parts is not None:
        return value is not item.parts and (made is None or not is_made_for_next(made, item.parts, value))
    sides = [side for side in reached_from(value) if isinstance(side, View) and side is not item.view]
    if made is None or not isinstance(value, View | Either):
        return False
    return any(side.buffer.name not in made.sites and side.buffer.space is not Space.REGISTER for side in sides)


def after_loop(context: Context, frame: Frame, carried: Sequence[Carried]) -> None:
    """After the loop each carried name is what its buffer holds."""
    before_body(context, frame, carried)


def escaping(
    context: Context, frame: Frame, block: cst.BaseSuite | None, carried: Sequence[Carried], body: list[Op]
) -> list[Carried]:
    """Names that hold a result of the loop's body after it: each is stored to a buffer at the body's end."""
    if block is None:
        return []
    held = {item.slot for item in carried}
    inside = {op.id for op in operations(body)}
    found: list[Carried] = []
    for name in assigned_names(block):
        value = frame.names.get(name)
        if name in held or not isinstance(value, Result) or value.view is not None:
            continue
        has_one_size = all(map(context.builder.sees, (*value.real, *value.shape)))
        with context.builder.continued(body):
            is_at_end = context.builder.sees(value.expression)
        if (
            has_one_size
            and is_at_end
            and refs_in(value.expression) & inside
            and name in read_outside(frame.root, block)
        ):
            view = allocate(context, name, value.dtype, value.real, value.space, via="=")
            with context.builder.continued(body):
                store(context, view, Operand(value.expression, value.dtype, value.real), via="=", mask=value.mask)
            found.append(Carried(name, view, is_number=False))
    return found


def outliving(
    context: Context, frame: Frame, block: cst.BaseSuite | None, made: Round, before: Mapping[str, Value]
) -> Plan | None:
    """A plan by which the tiles last that a round allocates and that are read by their names behind the loop.

    A name that stood for something else `before` the loop may still do so, if there is no round.
    """
    if block is None:
        return None
    found: dict[Site, Made] = {}
    for name in assigned_names(block) - before.keys():
        value = frame.names.get(name)
        views = _tiles(value) if name in read_outside(frame.root, block) else []
        sites = {made.sites[view.buffer.name] for view in views if view.buffer.name in made.sites}
        for site in sorted(sites - made.plan.lasting.keys() - made.plan.outliving.keys()):
            if _can_be_one(context, made, made.made[site]):
                found[site] = made.made[site]
    return replace(made.plan, outliving={**made.plan.outliving, **found}) if found else None


def _tiles(value: Value | None) -> Sequence[View]:
    """A tile, or those of a list."""
    tiles = tiles_of(value)
    return tiles.parts if tiles is not None else [value] if isinstance(value, View) else []


def _can_be_one(context: Context, made: Round, tile: Made) -> bool:
    """Whether the tile has the same shape in each round, and nothing begins where it is allocated, as in PSUM."""
    if tile.space is Space.PSUM:
        return False
    own = {made.variable.name} if made.variable is not None else set()
    return all(context.builder.sees(extent) and not symbols_in(extent) & own for extent in tile.shape)


def note_joins(
    context: Context, frame: Frame, block: cst.BaseSuite | None, made: Round, held: Sequence[Carried],
    before: Mapping[str, Value],
) -> None:  # fmt: skip
    """At the end of a body: notes the tiles that are carried, with the names that may mean the same tiles.

    `before` are the names before the loop.
    """
    tiles = [item for item in held if not item.is_number and isinstance(item.slot, str)]
    if block is None or not tiles:
        return
    read = _read_before_bound(block) | read_outside(frame.root, block)
    names = [{name: value for name, value in side.items() if name in read} for side in (before, frame.names)]
    for item in tiles:
        name = hint_of(item.slot)
        ends = [(side.get(name), known) for side, known in zip((before, frame.names), names, strict=True)]
        sides = tuple((value, known) for value, known in ends if value is not None and value is not item.view)
        if item.parts is not None:
            sides = tuple((part, known) for value, known in ends for part in _tiles(value))
        place, fresh = (context.builder.path, name), frozenset(made.sites)
        context.joins.made.append(Join(place, item.view.buffer.name, sides, frame.age, fresh))


def _read_before_bound(block: cst.BaseSuite) -> frozenset[str]:
    """The names whose first appearance in `block`, in order, may be a read."""
    found: set[str] = set()
    _scan(block, set(), found)
    return frozenset(found)


def _scan(block: cst.BaseSuite, bound: set[str], found: set[str]) -> None:
    """Adds to `found` what `block` reads before it binds it; what it certainly binds is added to `bound`."""
    for statement in block.body:
        inner = [child for child in children(statement) if isinstance(child, cst.BaseSuite | cst.Else | cst.If)]
        if not isinstance(statement, cst.SimpleStatementLine):
            for child in children(statement):
                if child not in inner:
                    found |= read_names(child) - bound - _loop_names(statement)
        else:
            for part in statement.body:
                found |= read_names(part) - bound
                if isinstance(part, cst.Assign | cst.AnnAssign):
                    bound.update(assigned_names(part))
        for child in inner:
            below = bound | _loop_names(statement)
            if isinstance(child, cst.BaseSuite):
                _scan(child, bound if isinstance(statement, cst.With) else below, found)
            else:
                found |= read_names(child) - below


def _loop_names(statement: cst.CSTNode) -> set[str]:
    """The variables of a `for`."""
    return (
        {statement.target.value} if isinstance(statement, cst.For) and isinstance(statement.target, cst.Name) else set()
    )


def _is_rebound(block: cst.BaseSuite, name: str) -> bool:
    """Whether `block` assigns `name` itself, not only into it."""
    stack: list[cst.CSTNode] = [block]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Assign) and name in assigned_names(node):
            return True
        stack.extend(inner_children(node))
    return False


def stand_at(context: Context, frame: Frame, variable: str, last: Expr | None) -> None:
    """After a loop the names that depend on its variable are what the last round made of them (None: some round)."""
    for name, value in frame.names.items():
        moved = _at(value, {variable: last if last is not None else ZERO})
        if last is None and moved != value:
            moved = context.unknown(context.fresh_symbol(name), "assigned in a loop that is left")
        frame.names[name] = moved


def _at(value: Value, symbols: dict[str, Expr]) -> Value:
    match value:
        case Const() | Symbol() | Ref() | Apply():
            return substitute(value, symbols)
        case View():
            return view_at(value, symbols)
        case Either(condition, first, second):
            moved = Either(substitute(condition, symbols), _at(first, symbols), _at(second, symbols))
            return value if alike(moved, value) else moved
        case Grid(expression, axes):
            return Grid(substitute(expression, symbols), axes)
        case Counter() | Stretch():
            return at(value, symbols)
        case _:
            return value
