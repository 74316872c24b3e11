"""Whether two contracts are the same function over the reals, and whether they cover the same elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from portcheck.ir import Polynomial, Ranges
from portcheck.ir.algebra import replace_symbols
from portcheck.ir.polynomial import split
from portcheck.values.conditions import truth
from portcheck.values.contract import Contract, Piece, canonical
from portcheck.values.coverage import different, reaches
from portcheck.values.normalise import Form, condition_form, normal_form
from portcheck.values.terms import AtLeast


class Outcome(StrEnum):
    """What is known of an output."""

    EQUAL = "equal"
    UNDECIDED = "undecided"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Equality:
    """The outcome for one output; `reason` says what stopped the proof, with the differing parts of both sides."""

    outcome: Outcome
    reason: str = ""
    cuda_part: str = ""
    nki_part: str = ""


def compare(cuda: Contract, nki: Contract, ranges: Ranges) -> Equality:
    """Compares the contract of an output with that of its counterpart, given in the original's names.

    Where the port computes whole tiles of what the original computes, rounded down or up, the comparison is of the
    common elements; any other difference in what is computed leaves the output undecided.
    """
    for side, contract in (("the original", cuda), ("the port", nki)):
        if contract.problem:
            return Equality(Outcome.UNDECIDED, f"{side}: {contract.problem}")
        if not contract.pieces:
            return Equality(Outcome.UNDECIDED, f"{side}: no store of the output was followed")
    if len(cuda.pieces) > 1:
        return _compare_in_turn(cuda, nki, ranges)
    for piece in nki.pieces:
        found = compare_pieces(cuda.pieces[0], piece)
        if found.outcome is not Outcome.EQUAL:
            return found
    return _same_elements(cuda, nki, ranges)


def _compare_in_turn(cuda: Contract, nki: Contract, ranges: Ranges) -> Equality:
    """Compares several stores of the original with as many groups of stores of the port, in the order they happen."""
    left = list(nki.pieces)
    for piece in cuda.pieces:
        group = []
        while left and compare_pieces(piece, left[0]).outcome is Outcome.EQUAL:
            group.append(left.pop(0))
        if not group:
            reason = "the original writes the output by several stores, and the port's do not answer them one by one"
            return Equality(Outcome.UNDECIDED, reason)
        found = _same_elements(replace(cuda, pieces=(piece,)), replace(nki, pieces=tuple(group)), ranges)
        if found.outcome is not Outcome.EQUAL:
            return found
    return Equality(Outcome.UNDECIDED, "the port writes more elements") if left else Equality(Outcome.EQUAL)


def _same_elements(cuda: Contract, nki: Contract, ranges: Ranges) -> Equality:
    """EQUAL if both sides compute the same elements, or differ by whole tiles only."""
    found = reaches(cuda, nki, ranges)
    if found is None:
        return Equality(Outcome.UNDECIDED, "the elements that the port's stores reach could not be put together")
    for reach in different(found):
        reason = "the two sides compute different elements along an axis"
        return Equality(Outcome.UNDECIDED, reason, f"{reach.cuda} positions", f"{reach.nki} positions")
    is_common = any(not reach.is_same for reach in found)
    guards = [_guards(piece, ranges) for piece in (cuda.pieces[0], *nki.pieces)]
    if any(guard != guards[0] for guard in guards):
        return Equality(Outcome.UNDECIDED, "the stores are guarded by different conditions", guards[0], guards[-1])
    return Equality(Outcome.EQUAL, "on the elements that both sides compute" if is_common else "")


def _guards(piece: Piece, ranges: Ranges) -> str:
    """The conditions of a store as text, without those that only say that there are elements at all."""
    some = [AtLeast(part - 1) for bound in piece.bounds for part in _factors_of(bound.stop)]
    names = canonical(piece)
    left = [part for part in piece.conditions if truth(part, ranges, some) is not True]
    return " and ".join(sorted(condition_form(part, names) for part in left))


def _factors_of(extent: Polynomial) -> list[Polynomial]:
    """An extent, and its factors if it is a product: all are at least 1 where there are elements."""
    if len(extent.terms) != 1:
        return [extent]
    return [extent, *(Polynomial((((atom,), 1),)) for atom in extent.terms[0][0])]


def compare_pieces(cuda: Piece, nki: Piece) -> Equality:
    """Compares what two stores write, element by element."""
    if len(cuda.bounds) != len(nki.bounds):
        return Equality(Outcome.UNDECIDED, "the two sides index the output by a different number of axes")
    left_names, right_names = canonical(cuda), canonical(nki)
    left_address, right_address = address(cuda, left_names), address(nki, right_names)
    if left_address != right_address:
        shifted = _shifted(cuda, left_names, right_address - left_address)
        if shifted is not None:
            left_names = shifted
            left_address = address(cuda, left_names)
    if left_address != right_address:
        reason = "the addresses of the output could not be brought to the same form"
        return Equality(Outcome.UNDECIDED, reason, str(left_address), str(right_address))
    left, right = normal_form(cuda.value, left_names), normal_form(nki.value, right_names)
    if left == right:
        return Equality(Outcome.EQUAL)
    return Equality(Outcome.UNDECIDED, "the normal forms differ", *_difference(left, right))


def _shifted(piece: Piece, names: dict[str, Polynomial], offset: Polynomial) -> dict[str, Polynomial] | None:
    """Names under which `piece` starts `offset` further on, if that is a whole number of steps along one axis."""
    for bound in piece.bounds:
        stride = piece.address.coefficient(bound.variable)
        if stride is None or len(stride.terms) != 1 or offset.symbols & {str(name) for name in names.values()}:
            continue
        steps, rest = split(offset, stride)
        if not rest.terms:
            return {**names, bound.variable: names[bound.variable] + steps}
    return None


def address(piece: Piece, names: Mapping[str, Polynomial]) -> Polynomial:
    """Where a piece writes, over its canonical coordinates."""
    return replace_symbols(piece.address, names)


def _difference(left: Form, right: Form) -> tuple[str, str]:
    """The terms that only one side has."""
    only_left = [term for term in left.terms if term not in right.terms]
    only_right = [term for term in right.terms if term not in left.terms]
    if len(only_left) == 1 and len(only_right) == 1:
        return _factors(Form((only_left[0],)), Form((only_right[0],)))
    return str(Form(tuple(only_left))), str(Form(tuple(only_right)))


def _factors(left: Form, right: Form) -> tuple[str, str]:
    """The factors that only one of two products has."""
    (first, first_factor), (second, second_factor) = left.terms[0], right.terms[0]
    only_first = tuple(part for part in first if part not in second)
    only_second = tuple(part for part in second if part not in first)
    if first_factor == second_factor:
        first_factor = second_factor = type(first_factor)(1)
    return str(Form(((only_first, first_factor),))), str(Form(((only_second, second_factor),)))
