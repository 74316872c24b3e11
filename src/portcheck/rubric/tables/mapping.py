"""Every CUDA construct of the kernel that is not plain C, with what answers it in the port."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from portcheck.align import operations_of
from portcheck.core.report import Fidelity, MappingRow
from portcheck.core.source import Span
from portcheck.ir import (
    ROUNDING_FREE,
    Alloc,
    Atomic,
    Barrier,
    Call,
    Cast,
    Check,
    Compute,
    Exchange,
    Fence,
    Load,
    Op,
    Opaque,
    Reduce,
    Space,
    Store,
    kernel_operations,
)
from portcheck.rubric.places import place_at
from portcheck.rules import Pair
from portcheck.values.equality import Outcome


@dataclass(frozen=True, slots=True)
class _Answer:
    counterpart: str
    fidelity: Fidelity
    nki: Span | None = None


def mapping_rows(pair: Pair) -> tuple[MappingRow, ...]:
    """One row a construct, in order of first appearance."""
    groups: dict[tuple[str, str, Fidelity], list[tuple[Op, _Answer]]] = {}
    for op in kernel_operations(pair.cuda.program):
        name = _construct(op)
        if name is None:
            continue
        answer = _answer(op, pair)
        groups.setdefault((name, answer.counterpart, answer.fidelity), []).append((op, answer))
    return tuple(_row(name, members, pair) for (name, _, _), members in groups.items())


def _row(name: str, members: list[tuple[Op, _Answer]], pair: Pair) -> MappingRow:
    op, answer = members[0]
    return MappingRow(
        construct=name,
        count=len(members),
        counterpart=answer.counterpart,
        fidelity=answer.fidelity,
        cuda=place_at(op.span, pair.sources),
        nki=place_at(answer.nki, pair.sources),
    )


def _construct(op: Op) -> str | None:
    """The name of a construct that a reviewer would look up; None for plain C."""
    match op:
        case Alloc(name=name) if op.type.space is Space.SHARED and not op.base:
            return f"__shared__ {name}"
        case Exchange() | Reduce() | Atomic() | Barrier() | Fence() | Check() | Call():
            return op.via or (op.callee if isinstance(op, Call) else type(op).__name__.lower())
        case Opaque(reason=reason):
            return op.via or reason
        case Cast() | Compute() | Load() | Store() if _is_call(op.via):
            return op.via
        case _:
            return None


def _is_call(via: str) -> bool:
    return bool(via) and all(character.isalnum() or character in "_:" for character in via) and not via[0].isdigit()


def _answer(op: Op, pair: Pair) -> _Answer:
    match op:
        case Barrier() | Fence():
            return _Answer("dependences between tiles", Fidelity.ABSORBED)
        case Check():
            return _Answer("left out", Fidelity.NOT_NEEDED)
        case Load() | Store():
            return _Answer("DMA", Fidelity.NOT_NEEDED)
        case Alloc():
            return _shared(op, pair)
        case Exchange() | Reduce() | Atomic():
            return _reduction(op, pair)
        case Cast():
            return _Answer("cast by the engine", Fidelity.EQUAL)
        case Compute():
            return _function(op, pair)
        case _:
            return _Answer("not understood", Fidelity.UNKNOWN)


def _shared(op: Alloc, pair: Pair) -> _Answer:
    tiles = [tile for tile in kernel_operations(pair.nki.program) if isinstance(tile, Alloc)]
    name = next((tile for tile in tiles if tile.name == op.name and tile.type.space is Space.SHARED), None)
    if name is not None:
        return _Answer(f"tile {name.name}", Fidelity.EQUAL, name.span)
    return _Answer("no staging buffer of its own", Fidelity.NOT_NEEDED)


def _reduction(op: Exchange | Reduce | Atomic, pair: Pair) -> _Answer:
    for match in pair.alignment.reductions:
        if match.cuda is None or op.id not in operations_of(match.cuda):
            continue
        if match.nki is None:
            return _Answer("none", Fidelity.MISSING)
        names = " + ".join(dict.fromkeys(stage.name for stage in match.nki.stages))
        if match.nki.operator is not match.cuda.operator:
            return _Answer(names, Fidelity.CHANGED, match.nki.stages[0].span)
        exact = match.cuda.operator in ROUNDING_FREE
        return _Answer(names, Fidelity.EQUAL if exact else Fidelity.REORDERED, match.nki.stages[0].span)
    return _Answer("not followed", Fidelity.UNKNOWN)


def _function(op: Compute, pair: Pair) -> _Answer:
    for other in _computes(pair, lambda found: found.operator is op.operator):
        return _Answer(other.via or other.operator.value, Fidelity.EQUAL, other.span)
    if all(output.equality.outcome is Outcome.EQUAL for output in pair.alignment.outputs):
        return _Answer("another form of the same expression", Fidelity.EQUAL)
    return _Answer(f"no {op.operator.value} found", Fidelity.UNKNOWN)


def _computes(pair: Pair, wanted: Callable[[Compute], bool]) -> Iterator[Compute]:
    for op in kernel_operations(pair.nki.program):
        if isinstance(op, Compute) and wanted(op):
            yield op
