"""Which input of the port is which of the original."""

from __future__ import annotations

import pytest
from tests.values.reading import kernel

from portcheck.align.inputs import Signature, match_inputs, signatures
from portcheck.core.dtype import FLOAT16, FLOAT32, DType

ELEMENTWISE: Signature = frozenset({("i0", "i1")})
COLUMN: Signature = frozenset({("i1",)})
F32 = (FLOAT32, ELEMENTWISE)
Inputs = dict[str, tuple[DType, Signature | None]]


def matched(cuda: Inputs, nki: Inputs) -> dict[str, str | None]:
    """The counterparts of inputs, given as dtype and the axes they are read along."""
    found = match_inputs(_dtypes(cuda), _dtypes(nki), _uses(cuda), _uses(nki))
    return {match.cuda: match.nki for match in found}


def _dtypes(inputs: Inputs) -> dict[str, DType]:
    return {name: dtype for name, (dtype, _) in inputs.items()}


def _uses(inputs: Inputs) -> dict[str, Signature]:
    return {name: use for name, (_, use) in inputs.items() if use is not None}


CASES: dict[str, tuple[Inputs, Inputs, dict[str, str | None]]] = {
    "the same names in another order": ({"x": F32, "w": F32}, {"w": F32, "x": F32}, {"x": "x", "w": "w"}),
    "the same name, though another is read along the same axes": (
        {"x": F32, "w": (FLOAT32, COLUMN)},
        {"w": F32, "x": (FLOAT32, COLUMN)},
        {"x": "x", "w": "w"},
    ),
    "read along the same axes, under other names": (
        {"x": F32, "w": (FLOAT32, COLUMN)},
        {"first": (FLOAT32, COLUMN), "second": F32},
        {"x": "second", "w": "first"},
    ),
    "read along the same axes, though a name is similar": (
        {"inp": F32, "w": (FLOAT32, COLUMN)},
        {"input": (FLOAT32, COLUMN), "b": F32},
        {"inp": "b", "w": "input"},
    ),
    "a similar name, where the axes say nothing": (
        {"inp": F32, "gamma": F32},
        {"gamma_hbm": F32, "input": F32},
        {"inp": "input", "gamma": "gamma_hbm"},
    ),
    "the same dtype, where nothing else tells": (
        {"a": (FLOAT16, None), "b": (FLOAT32, None)},
        {"p": (FLOAT32, None), "q": (FLOAT16, None)},
        {"a": "q", "b": "p"},
    ),
    "in order, where nothing tells": ({"a": F32, "b": F32}, {"p": F32, "q": F32}, {"a": "p", "b": "q"}),
    "what is left on both sides": (
        {"x": F32, "w": (FLOAT32, COLUMN)},
        {"x": F32, "q": (FLOAT16, frozenset({("i0",)}))},
        {"x": "x", "w": "q"},
    ),
    "nothing for what the port does not read": ({"x": F32, "w": F32}, {"x": F32}, {"x": "x", "w": None}),
}


@pytest.mark.parametrize("name", CASES)
def test_inputs_are_matched_by(name: str) -> None:
    cuda, nki, expected = CASES[name]
    assert matched(cuda, nki) == expected


def test_a_match_says_its_evidence() -> None:
    found = match_inputs({"x": FLOAT32, "w": FLOAT32}, {"x": FLOAT32}, {"x": COLUMN}, {"x": COLUMN})
    assert [match.evidence for match in found] == [
        "read along the same axes, same dtype, same name",
        "no parameter of the port is read in its place",
    ]


def test_what_is_left_on_both_sides_is_matched_without_other_evidence() -> None:
    (match,) = match_inputs({"x": FLOAT32}, {"q": FLOAT16}, {"x": COLUMN}, {"q": ELEMENTWISE})
    assert (match.nki, match.evidence) == ("q", "what is left on both sides, in order")


def test_a_signature_names_the_coordinates_and_summed_indices_of_each_read() -> None:
    evaluated = kernel(
        "if (t < n) { float s = 0.f; for (int k = 0; k < n; k++) s += a[t * n + k] * b[k]; y[t] = s + b[t] + c[0]; }",
        parameters="float* y, const float* a, const float* b, const float* c, int n",
    )
    contract = evaluated.contract("y")
    assert contract is not None
    assert signatures(contract.pieces) == {
        "a": frozenset({("i0", "sum")}),
        "b": frozenset({("sum",), ("i0",)}),
        "c": frozenset({()}),
    }
