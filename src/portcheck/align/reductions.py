"""Which reduction of the port answers which of the original."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from portcheck.core.source import NOWHERE, Span
from portcheck.ir import Order
from portcheck.values import Element, Fold, Index, Literal, Term, normal_form, subterms
from portcheck.values.terms import children
from portcheck.values.walking import from_below


@dataclass(frozen=True, slots=True)
class ReductionMatch:
    """A reduction of the original and its counterpart; either is None where there is none."""

    cuda: Fold | None
    nki: Fold | None
    evidence: str


def principal(folds: tuple[Fold, ...]) -> tuple[Fold, ...]:
    """The reductions that are not a step towards another one of `folds`, one for each set of operations."""
    kept: dict[frozenset[int], Fold] = {}
    for fold in folds:
        if fold.stages:
            kept.setdefault(operations_of(fold), fold)
    whole = [own for own in kept if not any(own < other for other in kept)]
    return tuple(kept[own] for own in sorted(whole, key=_order))


def _order(operations: frozenset[int]) -> tuple[int, ...]:
    return tuple(sorted(operations))


def operations_of(fold: Fold) -> frozenset[int]:
    """The ids of the operations that carry out a reduction."""
    return frozenset().union(*(stage.operations for stage in fold.stages))


def place_of(fold: Fold) -> Span:
    """Where a reduction is best pointed at: the first stage that is not a plain loop, else the first one."""
    placed = [stage for stage in fold.stages if stage.span != NOWHERE]
    crossing = [stage for stage in placed if stage.order is not Order.SEQUENTIAL]
    return (crossing or placed)[0].span if placed else NOWHERE


def match_reductions(cuda: tuple[Fold, ...], nki: tuple[Fold, ...]) -> tuple[ReductionMatch, ...]:
    """Pairs reductions, strongest evidence first; `nki` is in the original's names."""
    scored = []
    for left_place, left in enumerate(cuda):
        for right_place, right in enumerate(nki):
            score, evidence = _score(left, right)
            if score:
                scored.append((-score, abs(left_place - right_place), left_place, right_place, evidence))
    left_taken: dict[int, tuple[int, str]] = {}
    right_taken: set[int] = set()
    for _, _, left_place, right_place, evidence in sorted(scored):
        if left_place not in left_taken and right_place not in right_taken:
            left_taken[left_place] = (right_place, evidence)
            right_taken.add(right_place)
    matches = []
    for place, fold in enumerate(cuda):
        partner = left_taken.get(place)
        if partner is None:
            matches.append(ReductionMatch(fold, None, "no reduction of the port sums the same terms"))
        else:
            matches.append(ReductionMatch(fold, nki[partner[0]], partner[1]))
    alone = [fold for place, fold in enumerate(nki) if place not in right_taken]
    return (*matches, *(ReductionMatch(None, fold, "only in the port") for fold in alone))


def _score(left: Fold, right: Fold) -> tuple[float, str]:
    same_operator = left.operator is right.operator
    same_body = body_text(left) == body_text(right)
    inputs, others = _inputs(left), _inputs(right)
    shared = len(inputs & others) / max(len(inputs | others), 1)
    if same_operator and same_body:
        return 8 + shared, "same operator and terms"
    if same_operator and _has_same_shape(left, right):
        return 5 + shared, "same operator, terms of the same form"
    if same_body and inputs:
        return 4 + shared, "same terms, another operator"
    if same_operator and shared > 0:
        return 2 + shared, "same operator over the same inputs"
    if same_operator and not (inputs and others):
        return 1, "same operator"
    return 0, ""


def body_text(fold: Fold) -> str:
    """What is summed, apart from where the elements lie."""
    names = {bound.variable for bound in fold.bounds}
    return _shape(fold.body, names)


def _shape(term: Term, names: set[str]) -> str:
    def make(node: Term, of: Callable[[Term], str]) -> str:
        match node:
            case Element(buffer, address):
                return f"{buffer}[{'k' if address.symbols & names else ''}]"
            case Index() | Literal():
                return str(normal_form(node, {}))
            case _:
                kind = getattr(node, "operator", type(node).__name__)
                inner = [of(child) for child in children(node)]
                return inner[0] if kind in _TRANSPARENT and inner else f"{kind}({', '.join(sorted(inner))})"

    return from_below(term, children, make)


_TRANSPARENT = frozenset({"Rounded", "Leader"})


def _has_same_shape(left: Fold, right: Fold) -> bool:
    return _operators(left.body) == _operators(right.body) and bool(_inputs(left) & _inputs(right))


def _operators(term: Term) -> list[str]:
    return sorted(node.operator.value for node in subterms(term) if hasattr(node, "operator"))


def _inputs(fold: Fold) -> frozenset[str]:
    return frozenset(node.buffer for node in subterms(fold.body) if isinstance(node, Element))
