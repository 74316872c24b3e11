"""Which input of the port is which of the original: by how the output depends on them, then by name."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.align.names import likeness
from portcheck.core.dtype import DType
from portcheck.values import Element, Fold, Piece, Term
from portcheck.values.terms import children


@dataclass(frozen=True, slots=True)
class Match:
    """A parameter of the original, its counterpart (None: not found) and the evidence."""

    cuda: str
    nki: str | None
    evidence: str


Signature = frozenset[tuple[str, ...]]


def signatures(pieces: tuple[Piece, ...]) -> dict[str, Signature]:
    """For every input, along which coordinates of the output and which summed indices it is read."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for piece in pieces:
        names = {bound.variable: f"i{place}" for place, bound in enumerate(piece.bounds)}
        _collect(piece.value, names, found)
    return {name: frozenset(uses) for name, uses in found.items()}


def _collect(term: Term, names: dict[str, str], found: dict[str, set[tuple[str, ...]]]) -> None:
    pending: list[tuple[Term, dict[str, str]]] = [(term, names)]
    while pending:
        node, known = pending.pop()
        if isinstance(node, Element):
            used = tuple(sorted(known[name] for name in node.address.symbols if name in known))
            found.setdefault(node.buffer, set()).add(used)
        if isinstance(node, Fold):
            known = {**known, **{bound.variable: "sum" for bound in node.bounds}}
        pending.extend((child, known) for child in reversed(children(node)))


def match_inputs(
    cuda: dict[str, DType],
    nki: dict[str, DType],
    cuda_signatures: dict[str, Signature],
    nki_signatures: dict[str, Signature],
) -> tuple[Match, ...]:
    """The best assignment of the port's inputs to the original's, greedily from the strongest evidence."""
    scored = []
    for left_place, left in enumerate(cuda):
        for right_place, right in enumerate(nki):
            score, evidence = _score(left, right, cuda, nki, cuda_signatures, nki_signatures)
            if left_place == right_place:
                score += 0.25
            scored.append((-score, left_place, right_place, left, right, evidence))
    chosen: dict[str, Match] = {}
    taken: set[str] = set()
    for score, _, _, left, right, evidence in sorted(scored):
        if left in chosen or right in taken or -score < _ENOUGH:
            continue
        chosen[left] = Match(left, right, evidence)
        taken.add(right)
    alone = [name for name in nki if name not in taken]
    for name, other in zip([name for name in cuda if name not in chosen], alone, strict=False):
        chosen[name] = Match(name, other, "what is left on both sides, in order")
    return tuple(chosen.get(name, Match(name, None, "no parameter of the port is read in its place")) for name in cuda)


_ENOUGH = 1.0
_SAME_NAME = 5.0
"""More than all other evidence: a port that uses the names of the original means the same by them."""


def _score(
    left: str,
    right: str,
    cuda: dict[str, DType],
    nki: dict[str, DType],
    cuda_signatures: dict[str, Signature],
    nki_signatures: dict[str, Signature],
) -> tuple[float, str]:
    alike = likeness(left, right)
    evidence = []
    score = _SAME_NAME if alike == 1.0 else 2 * alike
    own, other = cuda_signatures.get(left), nki_signatures.get(right)
    if own is not None and own == other:
        score += 2.5
        evidence.append("read along the same axes")
    elif own is not None and other is not None and own & other:
        score += 1
        evidence.append("read along some of the same axes")
    elif own is None or other is None:
        score += 0.5
    if nki[right] == cuda[left]:
        score += 0.5
        evidence.append("same dtype")
    if alike == 1.0:
        evidence.append("same name")
    elif alike:
        evidence.append("similar name")
    return score, ", ".join(evidence) or "what is left"
