"""Whole pairs: parameters, sizes, outputs and reductions that answer each other."""

from __future__ import annotations

import pytest
from tests.align.reading import aligned

from portcheck.align import Alignment
from portcheck.values.equality import Outcome

DIFFERENCE = """\
__global__ void k(float* y, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a[i] - b[i];
}
void run(float* y, const float* a, const float* b, int n) { k<<<(n + 255) / 256, 256>>>(y, a, b, n); }
"""
DIFFERENCE_PORT = """\
def k(first, second):
    (count,) = first.shape
    out = nl.ndarray((count,), dtype=first.dtype, buffer=nl.shared_hbm)
    for i in range(count):
        p = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        q = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=p, src=first[i:i + 1].reshape((1, 1)))
        nisa.dma_copy(dst=q, src=second[i:i + 1].reshape((1, 1)))
        nisa.tensor_tensor(dst=p, data1=p, data2=q, op=nl.subtract)
        nisa.dma_copy(dst=out[i:i + 1].reshape((1, 1)), src=p)
    return out
"""
BACKWARDS = DIFFERENCE_PORT.replace("data1=p, data2=q", "data1=q, data2=p")
TWO_OUTPUTS = """\
__global__ void k(float* total, float* scaled, const float* x, const float* w, float eps, int rows, int cols) {
  int r = blockIdx.x;
  float s = 0.f;
  for (int c = 0; c < cols; c++) s += x[r * cols + c];
  total[r] = s + eps;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) scaled[r * cols + c] = x[r * cols + c] * w[c];
}
void run(float* total, float* scaled, const float* x, const float* w, float eps, int rows, int cols) {
  k<<<rows, 256>>>(total, scaled, x, w, eps, rows, cols);
}
"""
TWO_OUTPUTS_PORT = """\
def k(x, gamma, epsilon):
    n, d = x.shape
    total = nl.ndarray((n, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    scaled = nl.ndarray((n, d), dtype=nl.float32, buffer=nl.shared_hbm)
    wt = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=wt, src=gamma.reshape((1, d)).broadcast(0, 128))
    for t in range(0, n, 128):
        m = min(128, n - t)
        a = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
        s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a[0:m, 0:d], src=x[t:t + m, 0:d])
        nisa.tensor_reduce(dst=s[0:m, 0:1], op=nl.add, data=a[0:m, 0:d], axis=1)
        nisa.tensor_scalar(dst=s[0:m, 0:1], data=s[0:m, 0:1], op0=nl.add, operand0=epsilon)
        nisa.dma_copy(dst=total[t:t + m, 0:1], src=s[0:m, 0:1])
        nisa.tensor_tensor(dst=a[0:m, 0:d], data1=a[0:m, 0:d], data2=wt[0:m, 0:d], op=nl.multiply)
        nisa.dma_copy(dst=scaled[t:t + m, 0:d], src=a[0:m, 0:d])
    return total, scaled
"""
FIRST_IS_LOST = (
    TWO_OUTPUTS_PORT.replace("return total, scaled", "return scaled")
    .replace("        nisa.dma_copy(dst=total[t:t + m, 0:1], src=s[0:m, 0:1])\n", "")
    .replace("    total = nl.ndarray((n, 1), dtype=nl.float32, buffer=nl.shared_hbm)\n", "")
)


def _inputs(alignment: Alignment) -> dict[str, str | None]:
    return {match.cuda: match.nki for match in alignment.inputs}


def _outcomes(alignment: Alignment) -> dict[str, tuple[str | None, str]]:
    return {match.cuda: (match.nki, match.equality.outcome.value) for match in alignment.outputs}


PORTS = {
    "the same names": (
        DIFFERENCE_PORT.replace("first", "a").replace("second", "b"), {"a": "a", "b": "b"}, Outcome.EQUAL,
    ),
    "the same names exchanged": (
        DIFFERENCE_PORT.replace("first", "b").replace("second", "a"), {"a": "a", "b": "b"}, Outcome.UNDECIDED,
    ),
    "one name exchanged": (
        DIFFERENCE_PORT.replace("first", "b"), {"a": "second", "b": "b"}, Outcome.UNDECIDED,
    ),
    "other names": (DIFFERENCE_PORT, {"a": "first", "b": "second"}, Outcome.EQUAL),
    "other names, the other way round": (BACKWARDS, {"a": "second", "b": "first"}, Outcome.UNDECIDED),
}  # fmt: skip


@pytest.mark.parametrize("name", PORTS)
def test_inputs_are_exchanged_only_where_no_name_speaks(name: str) -> None:
    port, inputs, outcome = PORTS[name]
    found = aligned(DIFFERENCE, port)
    assert (_inputs(found), _outcomes(found)["y"]) == (inputs, ("out", outcome.value))


@pytest.mark.parametrize(
    ("port", "assumptions"),
    [(DIFFERENCE_PORT, ()), (BACKWARDS, ("second stands for a", "first stands for b"))],
    ids=["in order", "exchanged"],
)
def test_an_exchange_is_an_assumption(port: str, assumptions: tuple[str, ...]) -> None:
    assert aligned(DIFFERENCE, port).outputs[0].assumptions == assumptions


def test_both_outputs_of_a_pair_find_their_counterparts() -> None:
    found = aligned(TWO_OUTPUTS, TWO_OUTPUTS_PORT)
    assert _outcomes(found) == {"total": ("total", "equal"), "scaled": ("scaled", "equal")}
    assert [match.evidence for match in found.reductions] == ["same operator and terms"]


def test_outputs_of_other_names_in_another_order_are_told_by_their_axes() -> None:
    port = TWO_OUTPUTS_PORT.replace("return total, scaled", "return scaled, total")
    found = aligned(TWO_OUTPUTS, port.replace("total", "p").replace("scaled", "q"))
    assert _outcomes(found) == {"total": ("p", "equal"), "scaled": ("q", "equal")}


def test_an_output_that_the_port_lost_is_missing_and_the_other_one_is_compared() -> None:
    found = aligned(TWO_OUTPUTS, FIRST_IS_LOST)
    assert _outcomes(found) == {"total": (None, "missing"), "scaled": ("scaled", "equal")}


def test_an_output_of_the_port_alone_is_extra() -> None:
    original = TWO_OUTPUTS.replace("  total[r] = s + eps;\n", "")
    found = aligned(original, TWO_OUTPUTS_PORT)
    assert (found.extra_outputs, _outcomes(found)) == (("total",), {"scaled": ("scaled", "equal")})


def test_every_parameter_names_its_counterpart() -> None:
    found = aligned(TWO_OUTPUTS, TWO_OUTPUTS_PORT)
    names = ("total", "scaled", "x", "w", "eps", "rows", "nobody")
    assert [found.nki_parameter(name) for name in names] == ["total", "scaled", "x", "gamma", "epsilon", None, None]


def test_sizes_are_learned_from_shapes() -> None:
    sizes = aligned(TWO_OUTPUTS, TWO_OUTPUTS_PORT).names.sizes
    assert (str(sizes["n"]), str(sizes["d"])) == ("rows", "cols")


def test_a_size_that_the_port_asserts_is_assumed_of_the_original() -> None:
    port = TWO_OUTPUTS_PORT.replace("    n, d = x.shape\n", "    n, d = x.shape\n    assert d == 512\n")
    found = aligned(TWO_OUTPUTS, port)
    assert _outcomes(found)["scaled"] == ("scaled", "equal")
    assert all("cols = 512 (asserted by the port)" in match.assumptions for match in found.outputs)


def test_another_operator_leaves_its_output_undecided_and_the_other_one_equal() -> None:
    found = aligned(TWO_OUTPUTS, TWO_OUTPUTS_PORT.replace("op=nl.add, data", "op=nl.maximum, data"))
    assert {name: outcome for name, (_, outcome) in _outcomes(found).items()} == {
        "total": "undecided",
        "scaled": "equal",
    }
    assert [match.evidence for match in found.reductions] == ["same terms, another operator"]
