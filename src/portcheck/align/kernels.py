"""Which kernels of two files are compared, when the user does not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from portcheck.align.names import likeness


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel by its name and the names of its parameters."""

    name: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pairing:
    """The kernels chosen, why, and the candidates; `is_weak` where the evidence would not convince a reviewer.

    `cuda` and `nki` are None where no choice can be defended.
    """

    cuda: str | None
    nki: str | None
    evidence: str
    is_weak: bool
    candidates: tuple[str, ...] = ()


_DEFENSIBLE_MARGIN = 0.25
_CLEAR_MARGIN = 0.75
_STRONG = 1.5


def choose(cuda: Sequence[Signature], nki: Sequence[Signature]) -> Pairing:
    """The pair of kernels that names and parameters single out. Both lists hold at least one kernel."""
    if len(cuda) == 1 and len(nki) == 1:
        return Pairing(cuda[0].name, nki[0].name, "the only kernel on each side", is_weak=False)
    scored = sorted(
        ((-_score(left, right), place, other) for place, left in enumerate(cuda) for other, right in enumerate(nki)),
    )
    names = tuple(f"{cuda[place].name} with {nki[other].name}" for _, place, other in scored[:6])
    best, place, other = scored[0]
    margin = (scored[1][0] - best) if len(scored) > 1 else _STRONG
    if margin < _DEFENSIBLE_MARGIN:
        return Pairing(None, None, "several pairs are equally likely", is_weak=True, candidates=names)
    evidence = "names and parameters agree best"
    is_weak = -best < _STRONG or margin < _CLEAR_MARGIN
    return Pairing(cuda[place].name, nki[other].name, evidence, is_weak, candidates=names)


def _score(left: Signature, right: Signature) -> float:
    shared = sum(max((likeness(name, other) for other in right.parameters), default=0.0) for name in left.parameters)
    parameters = shared / max(len(left.parameters), 1)
    return 2 * likeness(left.name, right.name) + parameters
