"""How far an output reaches on both sides, one axis at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.ir import Operator, Polynomial, Ranges
from portcheck.ir.algebra import use_divisibility
from portcheck.ir.polynomial import split, symbol
from portcheck.values.contract import Contract, Piece
from portcheck.values.fusion import plain_minimum


@dataclass(frozen=True, slots=True)
class Tiling:
    """Whole tiles: `size` positions in tiles of `tile`, their number rounded down or up."""

    is_rounded_up: bool
    size: Polynomial
    tile: Polynomial


@dataclass(frozen=True, slots=True)
class Reach:
    """An axis of an output: how many positions the original and the port compute along it."""

    cuda: Polynomial
    nki: Polynomial

    @property
    def is_same(self) -> bool:
        """Whether both compute the same positions."""
        return self.cuda == self.nki

    @property
    def tiling(self) -> Tiling | None:
        """How the port computes whole tiles of exactly what the original computes; None if it does something else."""
        if len(self.nki.terms) != 1:
            return None
        monomial, factor = self.nki.terms[0]
        for atom in monomial:
            if atom.operator not in (Operator.FLOOR_DIVIDE, Operator.CEILING_DIVIDE):
                continue
            size, tile = atom.arguments
            others = list(monomial)
            others.remove(atom)
            times, rest = split(Polynomial(((tuple(others), factor),)), tile)
            if not rest.terms and times * size == self.cuda:
                return Tiling(atom.operator is Operator.CEILING_DIVIDE, self.cuda, times * tile)
        return None


def reaches(cuda: Contract, nki: Contract, ranges: Ranges) -> list[Reach] | None:
    """The axes of an output, the port's stores of it taken together; None where they cannot be compared."""
    if len(cuda.pieces) != 1 or not nki.pieces or len(cuda.pieces[0].bounds) != len(nki.pieces[0].bounds):
        return None
    found = []
    for place, bound in enumerate(cuda.pieces[0].bounds):
        extent = _total(nki.pieces, place, ranges)
        if extent is None:
            return None
        found.append(Reach(use_divisibility(bound.stop, ranges), extent))
    return found


def _total(pieces: tuple[Piece, ...], place: int, ranges: Ranges) -> Polynomial | None:
    """The extent along one axis of stores that follow each other without a gap; None if they do not."""
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


def different(reach_list: list[Reach]) -> Iterator[Reach]:
    """The axes along which the two sides compute different positions, whole tiles of the same size not counted."""
    for reach in reach_list:
        if not reach.is_same and reach.tiling is None:
            yield reach
