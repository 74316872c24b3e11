"""Going through programs: every operation, its operands, its regions; rebuilding with replacements; coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from portcheck.ir.access import Access
from portcheck.ir.expr import Expr
from portcheck.ir.iteration import Range, Sequence
from portcheck.ir.kernel import Kernel, Program
from portcheck.ir.kinds import WriteMode
from portcheck.ir.ops import (
    Alloc,
    Assume,
    Atomic,
    Barrier,
    Branch,
    Call,
    Cast,
    Check,
    Collective,
    Compute,
    Copy,
    Exchange,
    Load,
    Loop,
    Matmul,
    Op,
    Opaque,
    Random,
    Reduce,
    Return,
    Sample,
    Scan,
    Select,
    Sort,
    Store,
    Transpose,
    While,
)  # fmt: skip


def regions(op: Op) -> tuple[tuple[Op, ...], ...]:
    """The bodies inside `op`, in the order they may run."""
    match op:
        case Loop():
            return (op.body,)
        case While():
            return (op.test, op.body)
        case Branch():
            return (op.then, op.otherwise)
        case _:
            return ()


def operations(body: Iterable[Op]) -> Iterator[Op]:
    """Every operation of `body`, nested ones after the one that holds them."""
    for op in body:
        yield op
        for region in regions(op):
            yield from operations(region)


def accesses(op: Op) -> tuple[Access, ...]:
    """The buffer accesses of `op` itself: what is read first, then what is written."""
    match op:
        case Load() | Store() | Atomic():
            return (op.access,)
        case Copy() | Collective():
            return (op.source, op.destination)
        case _:
            return ()


def views(body: Iterable[Op]) -> dict[str, str]:
    """The views that `body` makes, each with the buffer whose bytes it shows."""
    return {op.name: op.base for op in operations(body) if isinstance(op, Alloc) and op.base}


def reads(op: Op) -> tuple[str, ...]:
    """The names of the buffers `op` itself reads: what is added to counts, and so does what a port hands back."""
    match op:
        case Load() | Atomic():
            return (op.access.buffer,)
        case Store() if op.mode is not WriteMode.OVERWRITE:
            return (op.access.buffer,)
        case Copy() if op.mode is not WriteMode.OVERWRITE:
            return (op.source.buffer, op.destination.buffer)
        case Copy() | Collective():
            return (op.source.buffer,)
        case Random() if op.state:
            return (op.state,)
        case Return():
            return op.buffers
        case Call() | Opaque():
            return op.reads
        case _:
            return ()


def writes(op: Op) -> tuple[str, ...]:
    """The names of the buffers `op` itself writes."""
    match op:
        case Store() | Atomic():
            return (op.access.buffer,)
        case Copy() | Collective():
            return (op.destination.buffer,)
        case Random() if op.state:
            return (op.state,)
        case Call() | Opaque():
            return op.writes
        case _:
            return ()


def operands(op: Op) -> tuple[Expr, ...]:
    """The data operands of `op` itself; neither indices nor masks, conditions of control flow included."""
    match op:
        case Store():
            return (op.value,)
        case Compute() | Random() | Scan():
            return op.operands
        case Sample():
            return (op.texture, *op.coordinates)
        case Cast() | Reduce() | Transpose() | Sort():
            return (op.operand,)
        case Matmul():
            return (op.stationary, op.moving)
        case Exchange():
            return (op.operand, op.lane)
        case Select():
            return (op.condition, op.on_true, op.on_false)
        case Atomic():
            return (op.value,) if op.compare is None else (op.value, op.compare)
        case Barrier() if op.operand is not None:
            return (op.operand,)
        case Check():
            return (op.condition, *op.operands)
        case While() | Branch() | Assume():
            return (op.condition,)
        case Call():
            return op.arguments
        case Opaque():
            return op.operands
        case _:
            return ()


def expressions(op: Op) -> tuple[Expr, ...]:
    """Every expression of `op` itself: operands, indices, masks, extents, bounds and shapes."""
    found = list(operands(op))
    for access in accesses(op):
        found.extend(access.index)
        found.extend(axis.extent for axis in access.axes if axis.extent is not None)
        if access.mask is not None:
            found.append(access.mask)
    found.extend(expression for expression in _beside_operands(op) if expression is not None)
    value_type = getattr(op, "type", None)
    if value_type is not None:
        found.extend(value_type.shape)
    return tuple(found)


def _beside_operands(op: Op) -> tuple[Expr | None, ...]:
    """The bounds, fills, masks and numbers of lanes of `op`."""
    match op:
        case Loop(values=Range(start=start, stop=stop, step=step)):
            return (start, stop, step)
        case Loop(values=Sequence(start=start, condition=condition, next=following)):
            return (start, condition, following)
        case Load():
            return (op.fill,)
        case Exchange():
            return (op.width, op.lanes_mask)
        case Compute():
            return (op.mask,)
        case Reduce():
            return (op.lanes, op.lanes_mask, op.mask)
        case Scan():
            return (op.lanes, op.lanes_mask, op.initial, op.mask)
        case Atomic():
            return (op.limit,)
        case Sample():
            return (op.layer, op.level)
        case Barrier():
            return (op.participants,)
        case Collective():
            return (op.send_to, op.receive_from)
        case Return():
            return tuple(chain.from_iterable(op.shapes))
        case _:
            return ()


def rebuild(body: Iterable[Op], change: Callable[[Op], Iterable[Op]]) -> tuple[Op, ...]:
    """`body` with every operation replaced by what `change` makes of it, innermost first."""
    rebuilt: list[Op] = []
    for op in body:
        match op:
            case Loop():
                op = replace(op, body=rebuild(op.body, change))
            case While():
                op = replace(op, test=rebuild(op.test, change), body=rebuild(op.body, change))
            case Branch():
                op = replace(op, then=rebuild(op.then, change), otherwise=rebuild(op.otherwise, change))
            case _:
                pass
        rebuilt.extend(change(op))
    return tuple(rebuilt)


def kernel_operations(program: Program) -> Iterator[Op]:
    """Every operation of every kernel of `program`, in source order of the kernels."""
    for kernel in program.kernels:
        yield from operations(kernel.body)


def definitions(kernel: Kernel) -> dict[int, Op]:
    """The operations of `kernel` by id."""
    return {op.id: op for op in operations(kernel.body)}


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many operations there are and how many of them were understood."""

    understood: int
    total: int

    @property
    def share(self) -> float:
        """The understood part, 0 to 1; 1 for a program without operations."""
        return self.understood / self.total if self.total else 1.0


def coverage(body: Iterable[Op]) -> Coverage:
    """Counts the operations of `body`; `Opaque` ones and calls of unknown helpers are not understood."""
    total = opaque = 0
    for op in operations(body):
        total += 1
        opaque += isinstance(op, Opaque | Call)
    return Coverage(total - opaque, total)
