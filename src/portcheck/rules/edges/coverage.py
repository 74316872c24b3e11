"""How far an output of the port reaches, compared with the original: one extent at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.align import OutputMatch
from portcheck.ir import Operator, Polynomial
from portcheck.ir.algebra import use_divisibility
from portcheck.ir.polynomial import symbol
from portcheck.rules._base import Pair
from portcheck.values import Piece
from portcheck.values.fusion import plain_minimum


@dataclass(frozen=True, slots=True)
class Reach:
    """An axis of an output: how many positions the original and the port compute along it."""

    output: OutputMatch
    cuda: Polynomial
    nki: Polynomial
    cuda_piece: Piece
    nki_piece: Piece

    @property
    def tile(self) -> tuple[Operator, Polynomial, Polynomial] | None:
        """(floor or ceiling division, size, tile) where the port computes whole tiles: tile * floor(size / tile)."""
        if len(self.nki.terms) != 1:
            return None
        monomial, factor = self.nki.terms[0]
        for atom in monomial:
            if atom.operator not in (Operator.FLOOR_DIVIDE, Operator.CEILING_DIVIDE):
                continue
            size, tile = atom.arguments
            others = list(monomial)
            others.remove(atom)
            if Polynomial(((tuple(others), factor),)) == tile:
                return atom.operator, size, tile
        return None


def reaches(pair: Pair) -> Iterator[Reach]:
    """The axes of all outputs whose contracts both sides give, the port's stores of one output taken together."""
    for output in pair.alignment.outputs:
        cuda, nki = output.cuda_contract, output.nki_contract
        if nki is None or len(cuda.pieces) != 1 or not nki.pieces:
            continue
        original, first = cuda.pieces[0], nki.pieces[0]
        if len(original.bounds) != len(first.bounds):
            continue
        for place, bound in enumerate(original.bounds):
            extent = _total(pair, nki.pieces, place)
            if extent is not None:
                stop = use_divisibility(bound.stop, pair.alignment.ranges)
                yield Reach(output, stop, extent, original, first)


def _total(pair: Pair, pieces: tuple[Piece, ...], place: int) -> Polynomial | None:
    """The extent along one axis of stores that follow each other without a gap; None if they do not."""
    ranges = pair.alignment.ranges
    reached = pieces[0].bounds[place].stop
    offset = _offset(pieces[0])
    for piece in pieces[1:]:
        if len(piece.bounds) != len(pieces[0].bounds):
            return None
        stride = piece.address.coefficient(piece.bounds[place].variable)
        if stride is None:
            return None
        step = _offset(piece) - offset
        if step == use_divisibility(stride * reached, ranges):
            reached = reached + piece.bounds[place].stop
        elif step.terms:
            return None
    return use_divisibility(plain_minimum(reached), ranges)


def _offset(piece: Piece) -> Polynomial:
    """Where the first element of a store lies."""
    offset = piece.address
    for bound in piece.bounds:
        coefficient = piece.address.coefficient(bound.variable)
        if coefficient is not None:
            offset = offset - coefficient * symbol(bound.variable)
    return offset
