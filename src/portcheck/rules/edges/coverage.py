"""The axes of outputs along which the port computes whole tiles of what the original computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.align import OutputMatch
from portcheck.rules._base import Pair
from portcheck.values.coverage import Reach, Tiling, reaches


@dataclass(frozen=True, slots=True)
class TiledAxis:
    """An axis of an output that the port covers with whole tiles, and does not fit."""

    output: OutputMatch
    reach: Reach
    tiling: Tiling


def tiled_axes(pair: Pair) -> Iterator[TiledAxis]:
    """The axes along which whole tiles reach further, or less far, than the original does."""
    for output in pair.alignment.outputs:
        if output.nki_contract is None:
            continue
        for reach in reaches(output.cuda_contract, output.nki_contract, pair.alignment.ranges) or ():
            if reach.tiling is not None and not reach.is_same:
                yield TiledAxis(output, reach, reach.tiling)
