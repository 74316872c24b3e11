"""What must hold of one operation on data: operators, operands, ranks and extents.

Shapes are compared where they are stated: the shape of a result is, that of a constant or symbol is (), and extents
that are no literals fit everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from portcheck.core.dtype import BOOL
from portcheck.ir.access import Access
from portcheck.ir.expr import Apply, Const, Expr, Ref, subexpressions
from portcheck.ir.kinds import CollectiveKind, ExchangeKind
from portcheck.ir.operators import PREDICATES, Operator, arity
from portcheck.ir.ops import (
    Alloc,
    Atomic,
    Barrier,
    Cast,
    Collective,
    Compute,
    Copy,
    Exchange,
    Load,
    Matmul,
    Op,
    Reduce,
    Scan,
    Select,
    Sort,
    Store,
    Transpose,
)
from portcheck.ir.types import ValueType

Results = Mapping[int, Op]
Shape = Sequence[Expr | None]


def form_problems(expression: Expr) -> Iterator[str]:
    """What is wrong with the operators of `expression`, wherever it stands."""
    for node in subexpressions(expression):
        if isinstance(node, Apply):
            yield from _operator_problems(node.operator, len(node.arguments), node.dtype == BOOL)


def bool_problems(what: str, condition: Expr | None) -> Iterator[str]:
    """Says so where a condition or mask is no truth value."""
    if condition is not None and condition.dtype != BOOL:
        yield f"the {what} is {condition.dtype}, not bool"


def access_problems(access: Access, buffer: ValueType | None) -> Iterator[str]:
    """What is wrong with the mask and the index of an access to `buffer`, whose type may not be known."""
    yield from bool_problems("mask", access.mask)
    if buffer is not None and len(access.index) not in (1, len(buffer.shape)):
        yield f"{access.buffer!r} has {len(buffer.shape)} dimensions and is given {len(access.index)} indices"


def result_type(op: Op) -> ValueType | None:
    """The type of what `op` gives; None where it gives nothing."""
    value_type = None if isinstance(op, Alloc) else getattr(op, "type", None)
    return value_type if isinstance(value_type, ValueType) else None


def value_problems(op: Op, results: Results) -> Iterator[str]:
    """What is wrong with the operands and the type of an operation on data; `results` are those in sight."""
    match op:
        case Compute():
            yield from _operator_problems(op.operator, len(op.operands), op.type.dtype == BOOL)
            yield from bool_problems("mask", op.mask)
            for operand in op.operands:
                yield from _broadcast_problems("an operand", _shape(operand, results), op.type.shape)
        case Cast():
            yield from _broadcast_problems("an operand", _shape(op.operand, results), op.type.shape)
        case Select():
            for operand in (op.condition, op.on_true, op.on_false):
                yield from _broadcast_problems("an operand", _shape(operand, results), op.type.shape)
        case Reduce():
            yield from _reduce_problems(op, _shape(op.operand, results))
        case Scan():
            yield from _scan_problems(op)
        case Matmul():
            stationary, moving = _shape(op.stationary, results), _shape(op.moving, results)
            if stationary and moving and _differ(stationary[0], moving[0]):
                yield f"contracts {_extent(stationary[0])} elements with {_extent(moving[0])}"
        case Transpose():
            if sorted(op.permutation) != list(range(len(op.permutation))):
                yield f"{op.permutation} is no permutation"
        case Exchange():
            yield from _exchange_problems(op)
        case Sort():
            yield from _sort_problems(op, _shape(op.operand, results))
        case Collective():
            yield from _collective_problems(op)
        case Barrier():
            given = (op.combine is not None, op.operand is not None, op.type is not None)
            if any(given) and not all(given):
                yield "combine, operand and type are given together or not at all"
        case _:
            yield from _memory_problems(op, results)


def _operator_problems(operator: Operator, operands: int, is_bool: bool) -> Iterator[str]:
    if operands != arity(operator):
        yield f"{operator} has {operands} operands and takes {arity(operator)}"
    if operator in PREDICATES and not is_bool:
        yield f"{operator} is a predicate and must give bool"


def _memory_problems(op: Op, results: Results) -> Iterator[str]:
    match op:
        case Load():
            yield from _rank_problems(op.access, op.type.shape)
        case Store():
            yield from _value_rank_problems(op.access, op.value, results)
        case Atomic():
            yield from _rank_problems(op.access, op.type.shape)
            yield from _value_rank_problems(op.access, op.value, results)
            if op.limit is not None and op.operator not in (Operator.ADD, Operator.SUBTRACT):
                yield "only a sum or a difference has a limit"
        case Copy():
            taken, written = _extents(op.source), _extents(op.destination)
            if len(taken) != len(written):
                yield f"copies from {len(taken)} axes to {len(written)}"
            for position, (own, other) in enumerate(zip(taken, written, strict=False)):
                if _differ(own, other):
                    yield f"copies {_extent(own)} elements to {_extent(other)} along axis {position}"
        case _:
            pass


def _rank_problems(access: Access, shape: Shape) -> Iterator[str]:
    """What is wrong with a result of the shape `shape` that consists of the elements of `access`."""
    extents = _extents(access)
    if len(extents) != len(shape):
        yield f"the access to {access.buffer!r} has {len(extents)} axes and the result {len(shape)} dimensions"
        return
    for position, (own, other) in enumerate(zip(extents, shape, strict=True)):
        if _differ(own, other):
            yield f"axis {position} of the access is {_extent(own)} and the result's dimension {_extent(other)}"


def _value_rank_problems(access: Access, value: Expr, results: Results) -> Iterator[str]:
    yield from _broadcast_problems("the value", _shape(value, results), _extents(access), "access")


def _extents(access: Access) -> Shape:
    return [axis.extent for axis in access.axes]


def _reduce_problems(op: Reduce, shape: Shape) -> Iterator[str]:
    if bool(op.dimensions) == (op.lanes is not None):
        yield "exactly one of dimensions and lanes must be given"
    yield from _folding_problems(op.operator)
    for dimension in op.dimensions:
        if dimension < 0 or (shape and dimension >= len(shape)):
            yield f"the operand has no dimension {dimension}"
    yield from _lane_problems(op)


def _scan_problems(op: Scan) -> Iterator[str]:
    if (op.dimension is None) == (op.lanes is None):
        yield "exactly one of dimension and lanes must be given"
    wanted = 1 if op.multiplier is None else 2
    if len(op.operands) != wanted:
        named = "without" if op.multiplier is None else "with"
        yield f"a scan {named} a multiplier has {len(op.operands)} operands, not {wanted}"
    for operator in (op.operator, op.multiplier):
        yield from _folding_problems(operator)
    yield from _lane_problems(op)


def _folding_problems(operator: Operator | None) -> Iterator[str]:
    if operator is not None and arity(operator) != 2:
        yield f"{operator} does not make one element of two"


def _lane_problems(op: Reduce | Scan) -> Iterator[str]:
    if op.lanes_mask is not None and op.lanes is None:
        yield "lanes_mask is given without lanes"
    yield from bool_problems("mask", op.mask)


def _exchange_problems(op: Exchange) -> Iterator[str]:
    if bool(op.pattern) != (op.kind is ExchangeKind.PATTERN):
        yield f"an exchange of kind {op.kind} {'has a' if op.pattern else 'has no'} pattern"
    beyond = [lane for lane in op.pattern if not 0 <= lane < len(op.pattern)]
    if beyond:
        yield f"the pattern names lane {beyond[0]} of {len(op.pattern)}"
    width = _extent(op.width)
    if op.pattern and width is not None and width != len(op.pattern):
        yield f"the pattern has {len(op.pattern)} lanes and the group {width}"


def _sort_problems(op: Sort, shape: Shape) -> Iterator[str]:
    if not op.type.dtype.is_integer:
        yield f"positions are {op.type.dtype}, not integers"
    if op.dimension < 0 or (shape and op.dimension >= len(shape)):
        yield f"the operand has no dimension {op.dimension}"
    yield from _broadcast_problems("the operand", shape, op.type.shape)


def _collective_problems(op: Collective) -> Iterator[str]:
    is_combined = op.kind in (CollectiveKind.REDUCE, CollectiveKind.SCATTER)
    if is_combined != (op.operator is not None):
        yield f"a collective of kind {op.kind} {'lacks an' if is_combined else 'has an'} operator"
    given = [rank is not None for rank in (op.send_to, op.receive_from)]
    if given != [op.kind is CollectiveKind.SEND] * len(given):
        yield f"a collective of kind {op.kind} and the ranks that are sent to and received from"
    if bool(op.ranks) != bool(op.group_size) or (op.group_size and len(op.ranks) % op.group_size):
        yield f"{len(op.ranks)} ranks in groups of {op.group_size}"
    if op.program_axes and (op.kind is not CollectiveKind.REDUCE or op.ranks):
        yield f"a collective of kind {op.kind} along program axes{' and by ranks' if op.ranks else ''}"
    if min(op.program_axes, default=0) < 0 or len(set(op.program_axes)) < len(op.program_axes):
        yield f"no program axes: {op.program_axes}"
    if not 0 <= op.dimension < max(len(op.source.axes), 1):
        yield f"the source has no dimension {op.dimension}"


def _shape(operand: Expr, results: Results) -> Shape:
    """The shape of a result; empty for everything whose shape is not stated."""
    definition = results.get(operand.id) if isinstance(operand, Ref) else None
    value_type = None if definition is None else result_type(definition)
    return () if value_type is None else value_type.shape


def _broadcast_problems(what: str, operand: Shape, result: Shape, whole: str = "result") -> Iterator[str]:
    if not operand:
        return
    if len(operand) != len(result):
        yield f"{what} has {len(operand)} dimensions and the {whole} {len(result)}"
        return
    for dimension, (given, wanted) in enumerate(zip(operand, result, strict=True)):
        if _differ(given, wanted) and _extent(given) != 1:
            yield f"dimension {dimension} of {what} is {_extent(given)} and of the {whole} {_extent(wanted)}"


def _differ(first: Expr | None, second: Expr | None) -> bool:
    """Whether two extents are literals and not the same."""
    return isinstance(first, Const) and isinstance(second, Const) and first.value != second.value


def _extent(extent: Expr | None) -> float | None:
    return extent.value if isinstance(extent, Const) else None
