"""What each operation does to the symbolic state."""

from __future__ import annotations

from dataclasses import replace

from portcheck.core.dtype import DType, DTypeKind
from portcheck.ir import (
    Access,
    Alloc,
    Atomic,
    Branch,
    Call,
    Cast,
    Collective,
    Compute,
    Copy,
    Exchange,
    Expr,
    Leave,
    Load,
    Loop,
    Matmul,
    Op,
    Opaque,
    Operator,
    Polynomial,
    Random,
    Ranges,
    Reduce,
    Return,
    Sample,
    Scan,
    Select,
    Sort,
    Store,
    Transpose,
    ValueType,
    While,
    WriteMode,
    number,
    operations,
    refs_in,
)
from portcheck.ir.operators import PREDICATES
from portcheck.ir.polynomial import symbol
from portcheck.ir.ranges import INDEX_MARK
from portcheck.numerics import Stage
from portcheck.values import lanes
from portcheck.values.accumulation import extremum
from portcheck.values.branching import run_branch
from portcheck.values.casts import cast, stored_as
from portcheck.values.conditions import negated, simplified, truth
from portcheck.values.effects import forget, leave_perhaps, not_understood
from portcheck.values.evaluation import (
    State,
    allocate,
    broadcast,
    comparison,
    computed,
    dimension,
    is_permuted,
    pruned,
)
from portcheck.values.exchanges import exchanged, partial_warp
from portcheck.values.folds import IDENTITIES, fold, lane_fold
from portcheck.values.loops import run_loop
from portcheck.values.memory import Buffer, Havoc, written
from portcheck.values.substitution import LANE, in_term
from portcheck.values.terms import (
    AtLeast,
    Bound,
    Choice,
    Condition,
    Function,
    Index,
    Leader,
    Literal,
    Term,
    Unknown,
    has_kind,
)
from portcheck.values.walking import bounded

_UNWRITTEN = "masked-out elements are not defined"


def run(state: State, body: tuple[Op, ...]) -> None:
    """Carries out `body`; never fails: what cannot be followed becomes an unknown value with its reason."""
    for op in body:
        _step(state, op)


def _step(state: State, op: Op) -> None:
    match op:
        case Alloc():
            allocate(state, op)
        case Load():
            _result(state, op.id, op.type, _loaded(state, op.access, None if op.fill is None else state.term(op.fill)))
        case Store():
            value = state.operand(op.value, _extents(state, op.access))
            _store(state, op, op.access, value, op.mode, op.value.dtype)
        case Copy():
            _copy(state, op)
        case Compute():
            _compute(state, op)
        case Cast():
            _result(state, op.id, op.type, cast(state, op))
        case Reduce():
            _reduce(state, op)
        case Matmul():
            _matmul(state, op)
        case Transpose():
            _transpose(state, op)
        case Exchange():
            _result(state, op.id, op.type, exchanged(state, op))
        case Select():
            _select(state, op)
        case Atomic():
            _atomic(state, op)
        case _:
            _control(state, op)


_UNFOLLOWED = {Scan: "a scan", Random: "a random number", Sample: "a texture", Sort: "an order"}


def _control(state: State, op: Op) -> None:
    match op:
        case Loop():
            run_loop(state, op, run)
        case Branch():
            run_branch(state, op, run)
        case Return():
            state.exits = (*state.exits, state.path)
        case Leave():
            state.jumps += 1
        case While():
            forget(state, op, "the loop depends on data")
            if any(isinstance(inner, Return) for inner in operations(op.body)):
                leave_perhaps(state, op)
        case Call() | Opaque():
            not_understood(state, op)
        case Scan() | Random() | Sample() | Sort():
            _result(state, op.id, op.type, Unknown(f"{_UNFOLLOWED[type(op)]} is not followed yet", op.span))
        case Collective():
            forget(state, op, "an exchange between cores is not followed yet")
        case _:
            return


def _result(state: State, operation: int, value_type: ValueType, term: Term) -> None:
    state.results[operation] = bounded(term)
    state.shapes[operation] = state.shape(value_type)


def _extents(state: State, access: Access) -> tuple[Polynomial, ...]:
    return state.tile_axes(access.axes)[2]


def _loaded(state: State, access: Access, fill: Term | None) -> Term:
    buffer = state.buffers.get(access.buffer)
    if buffer is None:
        return Unknown(f"{access.buffer} is not in scope")
    index, mask, ranges = state.located(access)
    reader = state.reader_in(ranges)
    reader.given = (*reader.given, *mask)
    element = reader.read(buffer, index)
    conditions = simplified(mask, ranges, state.given() or ())
    if conditions is None:
        return fill or Unknown(_UNWRITTEN)
    return Choice(conditions, element, fill or Unknown(_UNWRITTEN)) if conditions else element


def _copy(state: State, op: Copy) -> None:
    source, destination = _extents(state, op.source), _extents(state, op.destination)
    is_fitting = len(source) == len(destination) and not any(map(_differ, source, destination))
    is_fitting = is_fitting and not is_permuted(source, destination)
    value = broadcast(_loaded(state, op.source, None), source, destination, state.ranges)
    if not is_fitting:
        value = Unknown("a copy between different shapes", op.span)
    source_buffer = state.buffers.get(op.source.buffer)
    _store(state, op, op.destination, value, op.mode, source_buffer.dtype if source_buffer is not None else None)


def _differ(left: Polynomial, right: Polynomial) -> bool:
    """Whether two extents are different numbers, neither of them 1; sizes are taken to fit, as the language demands."""
    one = number(1)
    return left.constant is not None and right.constant is not None and left != right and one not in (left, right)


def _store(state: State, op: Op, access: Access, value: Term, mode: WriteMode, dtype: DType | None) -> None:
    buffer = state.buffers.get(access.buffer)
    given = state.given()
    if buffer is None or given is None:
        return
    index, mask, ranges = state.located(access)
    value = stored_as(lanes.settled(value, ranges, force=not buffer.per_thread), dtype, buffer.dtype, op.span)
    conditions = simplified((*given, *mask), ranges)
    if conditions is None:
        return
    if lanes.only_lane_zero(conditions, ranges):
        value = in_term(value, {LANE: number(0)}, ranges)
    if not buffer.per_thread and has_kind(value, Leader):
        value = Unknown("a value that only lane 0 holds is stored by other lanes", op.span)
    if _may_miss(buffer, index, conditions, ranges):
        state.buffers[access.buffer] = buffer.then(Havoc(f"a store may lie outside {buffer.name}"))
        return
    value = pruned(value, ranges, (*given, *mask))
    if mode is not WriteMode.OVERWRITE:
        value = bounded(_added(state, access, value, mode))
    tile = tuple(
        Bound(dimension(position), number(0), extent, number(1))
        for position, extent in enumerate(_extents(state, access))
    )
    bounds = tile if buffer.per_thread else (*state.threads.block, *tile)
    state.buffers[access.buffer] = buffer.then(written(bounds, index, conditions, value, WriteMode.OVERWRITE, op.id))


def _may_miss(buffer: Buffer, index: tuple[Polynomial, ...], conditions: tuple[Condition, ...], ranges: Ranges) -> bool:
    """Whether a store with indices of known extents is not seen to stay inside a buffer of known size."""
    if buffer.is_input or len(index) != len(buffer.shape):
        return False
    for position, extent in zip(index, buffer.shape, strict=True):
        is_closed = extent.constant is not None and position.symbols <= ranges.extents.keys()
        sizes = [ranges.extents[name].constant for name in position.symbols] if is_closed else [None]
        if None not in sizes and truth(AtLeast(extent - position - 1), ranges, conditions) is not True:
            return True
    return False


def _added(state: State, access: Access, value: Term, mode: WriteMode) -> Term:
    """An accumulating store as a sum with what is there; the first write of a PSUM group finds zero."""
    before = _loaded(state, access, None)
    if mode is WriteMode.GROUP and isinstance(before, Unknown):
        before = Literal(0)
    return Function(Operator.ADD, (before, value))


def _compute(state: State, op: Compute) -> None:
    shape = state.shape(op.type)
    ranges = state.ranges
    for position, extent in enumerate(shape):
        ranges = ranges.with_extent(dimension(position), extent)
    operands = tuple(state.operand(operand, shape) for operand in op.operands)
    if op.operator in PREDICATES and not shape and len(operands) == 2:
        state.predicates[op.id] = _predicate(state, op, operands)
    step = None
    if len(operands) == 2:
        step = lanes.step(op.operator, operands[0], operands[1], op.type.dtype)
    if step is not None:
        _result(state, op.id, op.type, lanes.settled(step, ranges, force=False))
        return
    settled = tuple(lanes.settled(operand, ranges) for operand in operands)
    _result(state, op.id, op.type, computed(op.operator, settled, ranges, op.approximate))


def _predicate(state: State, op: Compute, operands: tuple[Term, ...]) -> tuple[Condition, ...]:
    left, right = op.operands
    if op.operator is Operator.LOGICAL_AND:
        return (*state.conditions(left), *state.conditions(right))
    if op.operator is Operator.LOGICAL_OR:
        return negated((*negated(state.conditions(left)), *negated(state.conditions(right))))
    is_unsigned = DTypeKind.UNSIGNED in (left.dtype.kind, right.dtype.kind)
    return comparison(op.operator, operands[0], operands[1], state.ranges if is_unsigned else None)


def _reduce(state: State, op: Reduce) -> None:
    own = state.shape_of(op.operand)
    ranges = state.ranges
    for position, extent in enumerate(own):
        ranges = ranges.with_extent(dimension(position), extent)
    term = lanes.settled(state.term(op.operand), ranges)
    if op.lanes is not None:
        refusal = partial_warp(state, op.lanes, op.lanes_mask)
        if refusal:
            _result(state, op.id, op.type, Unknown(refusal, op.span))
            return
        width = state.polynomial(op.lanes)
        bound = Bound(f"{LANE}.{op.id}", number(0), width, number(1))
        stage = _stage(op, "lanes", width)
        _result(state, op.id, op.type, lane_fold(op.operator, LANE, bound, term, stage, ranges))
        return
    inner = replace(state, ranges=ranges)
    conditions = inner.conditions(op.mask) if op.mask is not None else ()
    dimensions = [position % len(own) for position in op.dimensions] if own else []
    names = {position: f"{dimension(position)}.{op.id}" for position in dimensions}
    moves = {dimension(position): symbol(name) for position, name in names.items()}
    bounds = tuple(Bound(name, number(0), own[position], number(1)) for position, name in names.items())
    terms = number(1)
    for position in dimensions:
        terms = terms * own[position]
    body = Choice(conditions, term, IDENTITIES.get(op.operator, Literal(0))) if conditions else term
    for bound in bounds:
        ranges = ranges.with_extent(bound.variable, bound.stop)
    folded = fold(op.operator, bounds, in_term(body, moves, ranges), _stage(op, "one instruction", terms), ranges)
    if not op.keep_dimensions:
        folded = in_term(folded, _renumbered(len(own), set(dimensions)), ranges)
    _result(state, op.id, op.type, folded)


def _stage(op: Reduce | Matmul, name: str, terms: Polynomial) -> Stage:
    return Stage(
        name=f"{name} ({op.via})" if op.via else name,
        terms=terms,
        order=op.order,
        dtype=op.accumulate.dtype,
        span=op.span,
        operations=frozenset({op.id}),
    )


def _renumbered(rank: int, dropped: set[int]) -> dict[str, Polynomial]:
    kept = [position for position in range(rank) if position not in dropped]
    return {dimension(old): symbol(dimension(new)) for new, old in enumerate(kept) if new != old}


def _matmul(state: State, op: Matmul) -> None:
    left, right = state.shape_of(op.stationary), state.shape_of(op.moving)
    if len(left) < 2 or len(right) < 2:
        _result(state, op.id, op.type, Unknown("a matmul of operands of unknown shape", op.span))
        return
    variable = f"{INDEX_MARK}k.{op.id}"
    ranges = state.ranges.with_extent(variable, left[0])
    for position, extent in enumerate((left[1], right[1])):
        ranges = ranges.with_extent(dimension(position), extent)
    rows = in_term(state.term(op.stationary), {"@0": symbol(variable), "@1": symbol("@0")}, ranges)
    columns = in_term(state.term(op.moving), {"@0": symbol(variable)}, ranges)
    bound = Bound(variable, number(0), left[0], number(1))
    product = Function(Operator.MULTIPLY, (rows, columns))
    stage = _stage(op, "one instruction", left[0])
    _result(state, op.id, op.type, fold(Operator.ADD, (bound,), product, stage, ranges))


def _transpose(state: State, op: Transpose) -> None:
    moves = {dimension(old): symbol(dimension(new)) for new, old in enumerate(op.permutation) if new != old}
    _result(state, op.id, op.type, in_term(state.term(op.operand), moves, state.ranges))


def _select(state: State, op: Select) -> None:
    shape = state.shape(op.type)
    on_true, on_false = state.operand(op.on_true, shape), state.operand(op.on_false, shape)
    own = state.shape_of(op.condition)
    if own:
        test = broadcast(state.term(op.condition), own, shape, state.ranges)
        conditions = _flag(test) or comparison(Operator.NOT_EQUAL, test, Index(number(0)))
    else:
        conditions = state.conditions(op.condition)
    ranges = state.ranges
    greatest = extremum(Choice(conditions, on_true, on_false)) if not shape else None
    if greatest is not None:
        _result(state, op.id, op.type, _combined(state, *greatest, op.type.dtype))
        return
    on_true = pruned(lanes.settled(on_true, ranges), ranges, conditions)
    on_false = pruned(lanes.settled(on_false, ranges), ranges, negated(conditions))
    _result(state, op.id, op.type, Choice(conditions, on_true, on_false))


def _combined(state: State, operator: Operator, left: Term, right: Term, dtype: DType) -> Term:
    """`left operator right`, as a step of a reduction over lanes where it is one."""
    step = lanes.step(operator, left, right, dtype)
    if step is not None:
        return lanes.settled(step, state.ranges, force=False)
    return computed(operator, (lanes.settled(left, state.ranges), lanes.settled(right, state.ranges)), state.ranges)


def _flag(term: Term) -> tuple[Condition, ...]:
    """The conditions of a term that is 1 where they hold and 0 elsewhere."""
    match term:
        case Choice(conditions, Index(one), Index(zero)) if one == number(1) and zero == number(0):
            return conditions
        case _:
            return ()


def _atomic(state: State, op: Atomic) -> None:
    buffer, given = state.buffers.get(op.access.buffer), state.given()
    state.results[op.id] = Unknown("the old value of an atomic", op.span)
    if buffer is None or given is None:
        return
    operator = op.operator if op.limit is None else None
    if operator is not Operator.ADD or any(_depends_on_data(state, part) for part in op.access.index):
        reason = "an atomic at an index that depends on data" if operator is Operator.ADD else f"{op.via}"
        state.buffers[op.access.buffer] = buffer.then(Havoc(f"{reason} is not followed yet"))
        return
    index, mask, ranges = state.located(op.access)
    value = pruned(lanes.settled(state.term(op.value), ranges), ranges, (*given, *mask))
    conditions = (*given, *mask)
    state.buffers[op.access.buffer] = buffer.then(
        written(state.threads.block, index, conditions, value, WriteMode.ADD, op.id)
    )


def _depends_on_data(state: State, expression: Expr) -> bool:
    return any(not isinstance(state.results.get(operation), Index) for operation in refs_in(expression))
