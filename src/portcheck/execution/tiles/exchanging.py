"""Data exchanged between program instances: by the cores of a rank with each other, and by ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from portcheck.core.dtype import FLOAT32, DType
from portcheck.execution.arithmetic.conversions import conversion
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.tiles.addressing import elements
from portcheck.execution.tiles.control import Running
from portcheck.execution.tiles.converting import converted
from portcheck.execution.tiles.events import EventKind
from portcheck.execution.tiles.expressions import integer_of
from portcheck.execution.tiles.machine import Instance
from portcheck.execution.tiles.memory import Tile
from portcheck.execution.tiles.moving import read, transferred, write
from portcheck.execution.tiles.options import SumOrder
from portcheck.execution.tiles.reducing import extreme, summed
from portcheck.ir import Barrier, Collective, CollectiveKind, Operator, WriteMode


@dataclass(eq=False)
class Core:
    """A program instance that has not ended: number `place` of its rank. It waits at `waits` (None: at nothing)."""

    instance: Instance
    running: Running
    rank: int
    place: int
    waits: Barrier | Collective | None = None


@dataclass(frozen=True)
class _Given:
    """What a rank gives."""

    tile: Tile
    dtype: DType


def exchanged(cores: Sequence[Core], counts: Sequence[int]) -> Iterator[Core]:
    """Those that wait for an exchange whose other sides have come, once it has taken place."""
    for rank in range(len(counts)):
        own = [core for core in cores if core.rank == rank]
        yield from _sent(own)
        yield from _along_axes(own)
    waiting = {core.rank: core for core in cores if _kind(core) not in (None, CollectiveKind.SEND) and not _axes(core)}
    served: set[int] = set()
    for core in waiting.values():
        group = () if core.rank in served else _group(core, counts)
        members = [waiting[rank] for rank in group if rank in waiting and waiting[rank].waits is core.waits]
        if members and len(members) == len(group):
            _exchange(members)
            served.update(group)
            yield from members


def _kind(core: Core) -> CollectiveKind | None:
    return core.waits.kind if isinstance(core.waits, Collective) else None


def _axes(core: Core) -> tuple[int, ...]:
    """The axes of the grid along which one waits for the other program instances of its launch."""
    return core.waits.program_axes if isinstance(core.waits, Collective) else ()


def _along_axes(cores: Sequence[Core]) -> Iterator[Core]:
    """The cores of a rank that wait for the others along some axes, once these have come and the result is known."""
    groups: dict[tuple[int, tuple[int, ...]], list[Core]] = {}
    for core in cores:
        if _axes(core):
            fixed = tuple(at for axis, at in enumerate(core.instance.program) if axis not in _axes(core))
            groups.setdefault((id(core.waits), fixed), []).append(core)
    for members in groups.values():
        extents = members[0].instance.machine.grid
        if len(members) == math.prod(extents[axis] for axis in _axes(members[0]) if axis < len(extents)):
            _exchange(members)
            yield from members


def _sent(cores: Sequence[Core]) -> Sequence[Core]:
    """The cores of a rank that wait for each other's tiles, once they have them."""
    peers = {core.place: (core, *_peers(core)) for core in cores if _kind(core) is CollectiveKind.SEND}
    while True:
        lonely = [
            place
            for place, (_, target, source) in peers.items()
            if target not in peers or source not in peers
            or peers[target][2] != place or peers[source][1] != place
        ]  # fmt: skip
        if not lonely:
            break
        for place in lonely:
            del peers[place]
    given = {place: _given(core) for place, (core, _, _) in peers.items()}
    for core, _, source in peers.values():
        _get(core, given[source])
    return [core for core, _, _ in peers.values()]


def _peers(core: Core) -> tuple[int, int]:
    """The core that one sends to and the one it receives from."""
    op = cast(Collective, core.waits)
    assert op.send_to is not None
    assert op.receive_from is not None
    return integer_of(core.instance, op.send_to), integer_of(core.instance, op.receive_from)


def _group(core: Core, counts: Sequence[int]) -> tuple[int, ...]:
    """The ranks that one waits for, itself among them, in the order of their group."""
    op, instance = cast(Collective, core.waits), core.instance
    if any(count != 1 for count in counts):
        text = "an exchange between ranks that have several program instances is not run"
        raise instance.stop(EventKind.NOT_EXECUTED, op, text)
    groups = [op.ranks[first : first + op.group_size] for first in range(0, len(op.ranks), op.group_size or 1)]
    if op.kind is CollectiveKind.PERMUTE:
        groups = [tuple(sorted(set(op.ranks)))] if op.ranks else []
    found = next((group for group in groups if core.rank in group), None)
    if found is None and op.kind is CollectiveKind.PERMUTE and op.ranks:
        return (core.rank,)
    if found is None:
        raise instance.stop(EventKind.NOT_EXECUTED, op, f"which ranks take part with rank {core.rank} is not known")
    missing = [rank for rank in found if rank >= len(counts)]
    if missing:
        text = f"exchanges data with rank {missing[0]}, and {len(counts)} are run"
        raise instance.stop(EventKind.NOT_EXECUTED, op, text)
    return found


def _given(core: Core) -> _Given:
    """The elements of the source."""
    op = cast(Collective, core.waits)
    found = elements(core.instance, op.source, op)
    core.instance.spend(op, found.count)
    return _Given(read(core.instance, found, op), found.memory.dtype)


def _get(core: Core, given: _Given) -> None:
    """Writes elements to the destination."""
    op = cast(Collective, core.waits)
    found = elements(core.instance, op.destination, op)
    if given.tile.data.shape != found.shape:
        text = f"gets a tile of {given.tile.data.shape} where one of {found.shape} is stated"
        raise core.instance.stop(EventKind.SHAPE_MISMATCH, op, text)
    data = transferred(core.instance, op, given.tile.data, given.dtype, found.memory.dtype, given.tile.undefined)
    write(core.instance, found, Tile(data, given.tile.undefined), op, WriteMode.OVERWRITE)


def _exchange(members: Sequence[Core]) -> None:
    """What all ranks of a group give is known before one of them gets anything."""
    op = cast(Collective, members[0].waits)
    given = [_given(member) for member in members]
    match op.kind:
        case CollectiveKind.REDUCE:
            parts: Sequence[_Given | None] = [_combined(members[0], given)] * len(members)
        case CollectiveKind.SCATTER:
            parts = _split(members[0], _combined(members[0], given), len(members))
        case CollectiveKind.GATHER:
            parts = [_joined(op.dimension, given)] * len(members)
        case CollectiveKind.EXCHANGE:
            split = [_split(member, item, len(members)) for member, item in zip(members, given, strict=True)]
            parts = [_joined(op.dimension, column) for column in zip(*split, strict=True)]
        case CollectiveKind.PERMUTE:
            parts = _permuted(members, given)
        case _:
            text = "the ranks of a ring stand in the order of their group"
            members[0].instance.report(EventKind.ASSUMED, op, text, subject="ring")
            parts = given[-1:] + given[:-1]
    for member, part in zip(members, parts, strict=True):
        if part is not None:
            _get(member, part)


def _permuted(members: Sequence[Core], given: Sequence[_Given]) -> list[_Given | None]:
    """What each rank gets by the pairs of a source and a target."""
    op = cast(Collective, members[0].waits)
    sources = {op.ranks[place + 1]: op.ranks[place] for place in range(0, len(op.ranks) - 1, 2)}
    by_rank = {member.rank: item for member, item in zip(members, given, strict=True)}
    return [by_rank.get(sources.get(member.rank, -1)) for member in members]


def _joined(dimension: int, parts: Sequence[_Given]) -> _Given:
    """Parts side by side."""
    data = np.concatenate([part.tile.data for part in parts], dimension)
    if all(part.tile.undefined is None for part in parts):
        return _Given(Tile(data), parts[0].dtype)
    undefined = [
        np.zeros(part.tile.data.shape, np.bool_) if part.tile.undefined is None else part.tile.undefined
        for part in parts
    ]
    return _Given(Tile(data, np.concatenate(undefined, dimension)), parts[0].dtype)


def _split(core: Core, given: _Given, count: int) -> list[_Given]:
    """Equal parts along the dimension of the exchange."""
    op, tile = cast(Collective, core.waits), given.tile
    extent = tile.data.shape[op.dimension] if op.dimension < tile.data.ndim else 0
    if not extent or extent % count:
        text = f"{extent} rows are no equal parts for {count} ranks"
        raise core.instance.stop(EventKind.SHAPE_MISMATCH, op, text)
    data = np.split(tile.data, count, op.dimension)
    undefined = [None] * count if tile.undefined is None else np.split(tile.undefined, count, op.dimension)
    return [_Given(Tile(*pair), given.dtype) for pair in zip(data, undefined, strict=True)]


def _combined(core: Core, given: Sequence[_Given]) -> _Given:
    """The sources combined: sums in float32, rounded once."""
    instance, op, dtype = core.instance, cast(Collective, core.waits), given[0].dtype
    rows = np.stack([item.tile.data for item in given], axis=-1)
    instance.spend(op, math.prod(rows.shape))
    marks = [item.tile.undefined for item in given if item.tile.undefined is not None]
    undefined: Value | None = np.asarray(np.logical_or.reduce(marks)) if marks else None
    if op.operator in (Operator.MAXIMUM, Operator.MINIMUM):
        return _Given(Tile(extreme(instance, op, op.operator, rows, undefined), undefined), dtype)
    if op.operator is not Operator.ADD:
        raise instance.stop(EventKind.NOT_EXECUTED, op, f"ranks combined by {op.operator} are not run")
    if len(given) > len(("first", "second")):
        instance.choose("sums", op, "the order in which ranks are added up")
    if dtype not in (FLOAT32,) and dtype.is_float:
        text = f"ranks are added up in float32, and the sum is rounded to {dtype} once"
        instance.report(EventKind.ASSUMED, op, text, subject="ranks")
    order: SumOrder = instance.options.sums
    total = summed(conversion(dtype, FLOAT32)(rows), order)
    return _Given(Tile(converted(instance, op, total, FLOAT32, dtype), undefined), dtype)
