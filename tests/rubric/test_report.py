"""The tables of a report, for one small pair and some changes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pipeline.pairs import report_of

from portcheck.core.report import Fidelity, Report, StageRow, Verdict
from portcheck.core.source import NOWHERE, SourceFile, Span
from portcheck.rubric.places import place_at

CUDA = """\
__global__ void k(float* y, const float* x, int n, int d) {
  int i = threadIdx.x;
  float v = 0.f;
  for (int k = i; k < d; k += 32) v += x[blockIdx.x * d + k];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  __syncthreads();
  if (i == 0) y[blockIdx.x] = v;
}
void run(float* y, const float* x, int n, int d) { k<<<n, 32>>>(y, x, n, d); }
"""
PORT = """\
def k(inp):
    n, d = inp.shape
    y = nl.ndarray((n, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in range(0, n, 128):
        m = min(128, n - t)
        a = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
        s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a[0:m, 0:d], src=inp[t:t + m, 0:d])
        nisa.tensor_reduce(dst=s[0:m, 0:1], op=nl.add, data=a[0:m, 0:d], axis=1)
        nisa.dma_copy(dst=y[t:t + m, 0:1], src=s[0:m, 0:1])
    return y
"""
NO_REDUCTION = PORT.replace(
    "nisa.tensor_reduce(dst=s[0:m, 0:1], op=nl.add, data=a[0:m, 0:d], axis=1)",
    "nisa.tensor_copy(dst=s[0:m, 0:1], src=a[0:m, 0:1])",
)
MAXIMUM = (
    CUDA.replace("= 0.f", "= -INFINITY")
    .replace("v += x[blockIdx.x * d + k]", "v = fmaxf(v, x[blockIdx.x * d + k])")
    .replace("v += __shfl_xor_sync(0xffffffffu, v, o)", "v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o))")
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of the pair as it stands."""
    return report_of(tmp_path_factory.mktemp("pair"), CUDA, PORT)


def test_the_verdict_and_its_sentence_agree(report: Report) -> None:
    assert report.verdict is Verdict.WITHIN_TOLERANCE
    assert report.summary.endswith("only rounding differs.")


def test_an_output_is_shown_as_a_formula_of_both_sides_in_the_names_of_the_original(report: Report) -> None:
    (row,) = report.outputs
    assert (row.name, row.counterpart, row.status, row.reason) == ("y", "y", "equal", "")
    assert row.cuda == row.nki == "y[i] = sum_{k<d} x[d*i + k]"
    assert row.cuda_domain == row.nki_domain == "0 <= i < n"


def test_a_reduction_is_shown_with_the_stages_of_both_sides(report: Report) -> None:
    (row,) = report.reductions
    assert row.cuda is not None
    assert row.nki is not None
    assert (row.operator, row.verdict) == ("sum", "reordered")
    assert row.cuda.stages == (
        StageRow(name="loop over k", terms="ceil(d/32)", order="sequential", height="ceil(d/32) - 1", dtype="float32"),
        StageRow(name="warp shuffle", terms="32", order="butterfly", height="5", dtype="float32"),
    )
    assert (row.cuda.height, row.nki.height) == ("ceil(d/32) + 4", "d - 1")
    assert [stage.order for stage in row.nki.stages] == ["undocumented"]


def test_a_reduction_is_pointed_at_where_lanes_are_combined(report: Report) -> None:
    side = report.reductions[0].cuda
    assert side is not None
    assert side.place is not None
    assert (side.place.span.start.line, side.place.text.startswith("__shfl_xor_sync")) == (5, True)


def test_storage_and_accumulators_are_compared(report: Report) -> None:
    rows = [(row.quantity, row.role, row.cuda, row.nki, row.verdict) for row in report.precision]
    assert rows == [
        ("y", "output", "float32", "float32", "equal"),
        ("x", "input", "float32", "float32 (assumed)", "taken from the argument"),
        ("sum at line 4", "accumulator", "float32", "float32", "equal"),
    ]


def test_what_answers_what_is_said_with_the_evidence(report: Report) -> None:
    names = [line.partition(":")[0] for line in report.alignment]
    assert names == ["kernel k <-> k", "x <-> inp", "n <-> nothing", "d <-> nothing", "y <-> y (output)"]
    assert "d <-> nothing: answered by the size d" in report.alignment


def test_all_of_both_sides_was_understood(report: Report) -> None:
    for side in (report.coverage.cuda, report.coverage.nki):
        assert (side.understood, side.not_understood) == (side.total, ())
        assert side.total > 0


def _mapping(found: Report) -> dict[str, tuple[str, Fidelity]]:
    return {row.construct: (row.counterpart, row.fidelity) for row in found.mapping}


SHUFFLE, BARRIER = "__shfl_xor_sync", "__syncthreads"
MAPPINGS = {
    "a sum in another order": (CUDA, PORT, SHUFFLE, ("one instruction (nisa.tensor_reduce)", Fidelity.REORDERED)),
    "a maximum in another order": (
        MAXIMUM, PORT.replace("op=nl.add", "op=nl.maximum"), SHUFFLE,
        ("one instruction (nisa.tensor_reduce)", Fidelity.EQUAL),
    ),
    "another operator": (
        CUDA, PORT.replace("op=nl.add", "op=nl.maximum"), SHUFFLE,
        ("one instruction (nisa.tensor_reduce)", Fidelity.CHANGED),
    ),
    "a reduction that is not there": (CUDA, NO_REDUCTION, SHUFFLE, ("none", Fidelity.MISSING)),
    "a barrier": (CUDA, PORT, BARRIER, ("dependences between tiles", Fidelity.ABSORBED)),
    "an assertion": (
        CUDA.replace("  __syncthreads", "  assert(d > 0);\n  __syncthreads"), PORT, "assert",
        ("left out", Fidelity.NOT_NEEDED),
    ),
    "a staging buffer of its own": (
        CUDA.replace("  int i", "  __shared__ float extra[32];\n  int i"), PORT, "__shared__ extra",
        ("no staging buffer of its own", Fidelity.NOT_NEEDED),
    ),
    "assembly": (
        CUDA.replace("  __syncthreads", '  asm volatile("nop;");\n  __syncthreads'), PORT,
        "assembly: nop is not modelled", ("not understood", Fidelity.UNKNOWN),
    ),
    "a function that the port does not call": (
        CUDA.replace("= v;", "= sqrtf(v);"), PORT, "sqrtf", ("no sqrt found", Fidelity.UNKNOWN),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MAPPINGS)
def test_a_construct_is_answered_by(name: str, tmp_path: Path) -> None:
    cuda, port, construct, expected = MAPPINGS[name]
    assert _mapping(report_of(tmp_path, cuda, port))[construct] == expected


REDUCTIONS = {
    "the same operator": (PORT, ["reordered"]),
    "another operator": (PORT.replace("op=nl.add", "op=nl.maximum"), ["another operator"]),
    "nothing": (NO_REDUCTION, ["missing in the port"]),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_verdict_of_a_reduction_answered_by(name: str, tmp_path: Path) -> None:
    port, expected = REDUCTIONS[name]
    assert [row.verdict for row in report_of(tmp_path, CUDA, port).reductions] == expected


def test_a_reduction_of_the_port_alone_has_a_row(tmp_path: Path) -> None:
    original = CUDA.replace("for (int k = i; k < d; k += 32) v +=", "int k = 0; v =").replace(
        "for (int o", "if (0) for (int o"
    )
    (row,) = report_of(tmp_path, original, PORT).reductions
    assert (row.cuda, row.verdict) == (None, "only in the port")


def test_a_maximum_does_not_round_whatever_its_order(tmp_path: Path) -> None:
    maximum = report_of(tmp_path, MAXIMUM, PORT.replace("op=nl.add", "op=nl.maximum"))
    assert [row.verdict for row in maximum.reductions] == ["equal, no rounding"]


def test_an_accumulator_of_more_bits_and_an_output_of_fewer_are_changed(tmp_path: Path) -> None:
    double = CUDA.replace("float v = 0.f", "double v = 0.0").replace("= v;", "= (float)v;")
    narrow = PORT.replace("(n, 1), dtype=nl.float32", "(n, 1), dtype=nl.bfloat16")
    rows = report_of(tmp_path, double, narrow).precision
    found = {row.role: (row.cuda, row.nki, row.verdict) for row in rows}
    assert found["output"] == ("float32", "bfloat16", "changed")
    assert found["accumulator"] == ("float64", "float32", "changed")


def test_an_output_that_the_port_lost_is_missing(tmp_path: Path) -> None:
    two = (
        CUDA.replace("float* y,", "float* y, float* z,")
        .replace("(y, x", "(y, z, x")
        .replace("= v;", "= z[blockIdx.x] = v;")
    )
    rows = report_of(tmp_path, two, PORT).outputs
    assert sorted((row.counterpart, row.status) for row in rows) == [("", "missing"), ("y", "equal")]


def test_what_was_not_understood_is_counted_by_reason_with_its_first_place(tmp_path: Path) -> None:
    nops = '  asm volatile("nop;");\n  asm volatile("nop;");\n  __syncthreads'
    side = report_of(tmp_path, CUDA.replace("  __syncthreads", nops), PORT).coverage.cuda
    (row,) = side.not_understood
    assert (row.count, side.total - side.understood) == (2, 2)
    assert row.place is not None
    assert row.place.span.start.line == 6


def test_a_port_that_cannot_be_read_has_no_tables(tmp_path: Path) -> None:
    found = report_of(tmp_path, CUDA, "import nki\n\n\ndef k(x:\n")
    assert (found.alignment, found.mapping, found.outputs, found.reductions, found.precision) == ((), (), (), (), ())
    assert found.coverage.cuda.total > 0


def test_every_report_ends_with_what_is_never_checked(report: Report) -> None:
    assert report.not_checked[0].startswith("special values")
    assert report.not_checked[-1] == "fit to the hardware"


SOURCE = SourceFile("k.cu", "int n;\nint m;\n")


def test_a_place_is_a_span_with_its_text() -> None:
    span = SOURCE.span(7, 12)
    place = place_at(span, {"k.cu": SOURCE})
    assert place is not None
    assert (place.span, place.text) == (span, "int m")


@pytest.mark.parametrize("span", [None, NOWHERE, SourceFile("other.cu", "int n;").span(0, 3)])
def test_there_is_no_place_outside_the_sources(span: Span | None) -> None:
    assert place_at(span, {"k.cu": SOURCE}) is None
