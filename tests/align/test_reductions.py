"""Which reduction answers which."""

from __future__ import annotations

import pytest
from tests.values.reading import kernel

from portcheck.align import ReductionMatch, operations_of
from portcheck.align.reductions import match_reductions, principal
from portcheck.ir import Order
from portcheck.values import Fold

SUM = "float s = 0.f; for (int k = 0; k < n; k++) s += x[k]; y[t] = s;"
SQUARES = "float q = 0.f; for (int k = 0; k < n; k++) q += x[k] * x[k]; y[t] = q;"
MAXIMUM = "float m = x[0]; for (int k = 1; k < n; k++) m = fmaxf(m, x[k]); y[t] = m;"
OTHER_INPUT = SUM.replace("x[k]", "w[k]")
SCALED = SUM.replace("x[k]", "x[k] * 2.f")
WARP = (
    "float v = x[t]; for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o); if (i % 32 == 0) y[t / 32] = v;"
)


def folds(*bodies: str) -> tuple[Fold, ...]:
    """The reductions of a kernel with these bodies, one after the other."""
    body = " ".join(f"if (t < n) {{ {body} }}" if body is not WARP else body for body in bodies)
    return principal(kernel(body, parameters="float* y, const float* x, const float* w, int n").folds)


def _text(match: ReductionMatch) -> str:
    left, right = (side.operator.value if side else "nothing" for side in (match.cuda, match.nki))
    return f"{left} <-> {right}: {match.evidence}"


MATCHED = {
    "the same terms": ((SUM,), (SUM,), ["add <-> add: same operator and terms"]),
    "the same terms in another order": ((WARP,), (SUM,), ["add <-> add: same operator and terms"]),
    "another operator over the same terms": (
        (SUM,), (MAXIMUM,), ["add <-> maximum: same terms, another operator"],
    ),
    "the same terms before the same operator": (
        (SUM,), (SQUARES, SUM),
        ["add <-> add: same operator and terms", "nothing <-> add: only in the port"],
    ),
    "the same operator over the same input": (
        (SQUARES,), (SUM,), ["add <-> add: same operator over the same inputs"],
    ),
    "one that the port left out": (
        (SUM, MAXIMUM), (SUM,),
        ["add <-> add: same operator and terms", "maximum <-> nothing: no reduction of the port sums the same terms"],
    ),
    "one over another input": (
        (SUM,), (OTHER_INPUT,),
        ["add <-> nothing: no reduction of the port sums the same terms", "nothing <-> add: only in the port"],
    ),
    "none at all": ((SUM,), (), ["add <-> nothing: no reduction of the port sums the same terms"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MATCHED)
def test_a_reduction_is_answered_by(name: str) -> None:
    cuda, nki, expected = MATCHED[name]
    port = folds(*nki) if nki else ()
    assert [_text(match) for match in match_reductions(folds(*cuda), port)] == expected


def test_each_of_two_sums_finds_its_own_whatever_the_order() -> None:
    own, other = folds(SUM, SQUARES), folds(SQUARES, SUM)
    matches = match_reductions(own, other)
    assert [(match.cuda, match.nki) for match in matches] == [(own[0], other[1]), (own[1], other[0])]


def test_a_loop_and_the_shuffles_after_it_are_one_reduction() -> None:
    body = (
        "float v = 0.f; for (int k = i; k < n; k += 32) v += x[k];"
        "for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o); if (i == 0) y[0] = v;"
    )
    (whole,) = principal(kernel(body, block="32", grid="1").folds)
    assert [stage.order for stage in whole.stages] == [Order.SEQUENTIAL, Order.BUTTERFLY]
    assert all(stage.operations < operations_of(whole) for stage in whole.stages)
