"""The operands of a call between which something must hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.knowledge import Pairing
from portcheck.rules.fit.port import Call, Placed


@dataclass(frozen=True, slots=True)
class Joined:
    """The tiles that are given for the operands of `pairing`, which holds for the call."""

    pairing: Pairing
    tiles: tuple[Placed, ...]


def joined(call: Call) -> Iterator[Joined]:
    """What must hold between operands of `call` that are all given as tiles."""
    facts = call.port.knowledge.operands.get(call.use.name)
    if facts is None:
        return
    for pairing in facts.pairs:
        if pairing.scope.holds(call.port.version, call.port.chip.name, call.decide) is not True:
            continue
        tiles = tuple(placed for placed in call.tiles() if placed.parameter in pairing.operands)
        if {placed.parameter for placed in tiles} == set(pairing.operands):
            yield Joined(pairing, tiles)
