"""A report with something in every part, and one whose every text is hostile."""

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from portcheck.core.finding import Certainty, Consequence, Finding, Place, Severity
from portcheck.core.report import (
    SCHEMA_VERSION,
    CoverageTable,
    Fidelity,
    Input,
    Inputs,
    MappingRow,
    NotUnderstood,
    OutputRow,
    PrecisionRow,
    ReductionRow,
    ReductionSide,
    Report,
    SideCoverage,
    StageRow,
    Suppressed,
    Tool,
    Verdict,
)
from portcheck.core.source import SourceFile

CUDA = SourceFile(
    "kernel.cu",
    """template <int BLOCK>
__global__ void rmsnorm(const half* x, const float* w, half* y, int rows, int dim, float eps) {
  __shared__ float partial[BLOCK / 32];
  const int row = blockIdx.x;
  float ss = 0.f;
  for (int c = threadIdx.x; c < dim; c += BLOCK) {
    float v = __half2float(x[row * dim + c]);
    ss += v * v;
  }
  for (int o = 16; o > 0; o >>= 1) ss += __shfl_xor_sync(0xffffffffu, ss, o);
}
""",
)
NKI = SourceFile(
    "port.py",
    """P = 128

@nki.jit
def rmsnorm(x, w, eps):
    rows, dim = x.shape
    for t in range(rows // P):
        xt = nl.ndarray((P, dim), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=xt, src=x[t * P:(t + 1) * P, 0:dim])
        sq = nl.ndarray((P, dim), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=sq, data1=xt, data2=xt, op=nl.multiply)
        nisa.tensor_reduce(dst=ss, op=nl.add, data=sq, axis=1)
""",
)
SOURCES = {CUDA.path: CUDA, NKI.path: NKI}


def at(source: SourceFile, text: str) -> Place:
    start = source.text.index(text)
    return Place(span=source.span(start, start + len(text)), text=text)


TAIL = Finding(
    code="PC401",
    name="tail-tile-dropped",
    severity=Severity.ERROR,
    certainty=Certainty.CERTAIN,
    message="`for t in range(rows // P)` computes 128*floor(rows/128) rows; the original computes every row. "
    "For rows = 500, rows 384..499 of `y` are never written and hold whatever was in memory; no assertion excludes it.",
    remedy="Iterate `ceil(rows/P)` times and clip the last tile with `min(P, rows - t*P)` in both copies, or assert "
    "`rows % P == 0`.",
    because=("the grid of the original has `rows` blocks, one a row", "`rows // P` is a floor division"),
    consequences=(
        Consequence(code="PC441", name="output-partly-written", message="rows 384..499 of `y` for rows = 500."),
    ),
    cuda=at(CUDA, "const int row = blockIdx.x;"),
    nki=at(NKI, "range(rows // P)"),
    fingerprint="4f1c",
    outputs=("y",),
)
MOVED = Finding(
    code="PC305",
    name="cast-moved",
    severity=Severity.WARNING,
    certainty=Certainty.CERTAIN,
    message="`sq` is float16: each square is rounded to 11 bits before it is summed.",
    remedy="Allocate `sq` as float32.",
    cuda=at(CUDA, "float v = __half2float(x[row * dim + c]);\n    ss += v * v;"),
    nki=at(NKI, "nl.ndarray((P, dim), dtype=x.dtype, buffer=nl.sbuf)\n        nisa.dma_copy"),
    fingerprint="77aa",
)
ORDER = Finding(
    code="PC205",
    name="reduction-order-changed",
    severity=Severity.NOTE,
    certainty=Certainty.LIKELY,
    message="4096 terms: 23 roundings deep in the original, at most 4095 in the port.",
    remedy="",
    nki=at(NKI, "nisa.tensor_reduce(dst=ss, op=nl.add, data=sq, axis=1)"),
    about_rounding=True,
)

REPORT = Report(
    schema_version=SCHEMA_VERSION,
    tool=Tool(name="portcheck", version="0.1.0"),
    inputs=Inputs(
        cuda=Input(
            path="kernel.cu", sha256="3f2a" * 16, kernels=("rmsnorm<BLOCK=256>",), version="", notes=("fmad is on",)
        ),
        nki=Input(
            path="port.py",
            sha256="9b1c" * 16,
            kernels=("rmsnorm",),
            version="0.6",
            notes=("x is float16, like x of the original",),
        ),
        options=("--target trn2",),
    ),
    target="trn2",
    nki_version="0.6",
    verdict=Verdict.NOT_FAITHFUL,
    summary="the last rows % 128 rows of `y` are never written (PC401).",
    coverage=CoverageTable(
        cuda=SideCoverage(understood=41, total=41),
        nki=SideCoverage(
            understood=17,
            total=19,
            not_understood=(
                NotUnderstood(reason="call of an unknown function", count=2, place=at(NKI, "nisa.dma_copy")),
                NotUnderstood(reason="helper of another module", count=1, place=None),
            ),
        ),
    ),
    alignment=("x, w, y, eps answer x, w, y, eps by role", "grid axis row answers loop t and the partition axis"),
    mapping=(
        MappingRow(
            construct="__shfl_xor_sync",
            count=2,
            counterpart="tensor_reduce axis 1",
            fidelity=Fidelity.REORDERED,
            cuda=at(CUDA, "__shfl_xor_sync(0xffffffffu, ss, o)"),
            nki=at(NKI, "nisa.tensor_reduce"),
        ),
        MappingRow(construct="__shared__ partial", count=1, counterpart="", fidelity=Fidelity.NOT_NEEDED),
    ),
    outputs=(
        OutputRow(
            name="y",
            counterpart="y",
            status="equal",
            cuda="f16(x[r,c] * rsqrt~(S[r] / dim + eps) * w[c])",
            nki="f16(x[r,c] * rsqrt?(S[r] * (1/dim) + eps) * w[c])",
            cuda_domain="0 <= r < rows, 0 <= c < dim",
            nki_domain="0 <= r < 128*floor(rows/128), 0 <= c < dim",
            reason="S/dim = S*(1/dim), dim != 0",
        ),
    ),
    reductions=(
        ReductionRow(
            operator="add",
            verdict="same terms, other order",
            cuda=ReductionSide(
                text="S[r] = sum over k < dim of x[r,k]^2",
                height="23",
                place=at(CUDA, "ss += v * v"),
                stages=(
                    StageRow(name="strided partial", terms="16", order="sequential", height="15", dtype="f32"),
                    StageRow(name="shuffle xor", terms="32", order="butterfly", height="5", dtype="f32"),
                    StageRow(name="warps", terms="8", order="butterfly", height="3", dtype="f32"),
                ),
            ),
            nki=ReductionSide(
                text="S[r] = sum over k < dim of f16(x[r,k]^2)",
                height="at most 4095",
                place=at(NKI, "nisa.tensor_reduce"),
                stages=(StageRow(name="free axis", terms="4096", order="undocumented", height="<= 4095", dtype="f32"),),
            ),
        ),
        ReductionRow(operator="max", cuda=None, nki=None, verdict="unanswered"),
    ),
    precision=(PrecisionRow(quantity="squares", role="intermediate", cuda="f32", nki="f16", verdict="narrower"),),
    findings=(TAIL, MOVED, ORDER),
    suppressed=(Suppressed(finding=ORDER, reason="accepted in the review of 12 May"),),
    not_checked=("NaN rule of the engines (undocumented)",),
)

EMPTY = replace(
    REPORT,
    verdict=Verdict.FAITHFUL,
    summary="",
    coverage=CoverageTable(cuda=SideCoverage(understood=1, total=1), nki=SideCoverage(understood=1, total=1)),
    alignment=(),
    mapping=(),
    outputs=(),
    reductions=(),
    precision=(),
    findings=(),
    suppressed=(),
    not_checked=(),
)

HOSTILE = (
    "```\n| a | b \\| c | @octocat #12 GH-3 <script>alert(1)</script> ![x](https://evil.example) \x1b[31m\u202e\x9b2J `"
)


def poisoned(value: Any, text: str = HOSTILE) -> Any:
    """`value` with `text` appended to every string that could come from a source."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return f"{value} {text}"
    if isinstance(value, tuple):
        return tuple(poisoned(item, text) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: poisoned(getattr(value, field.name), text) for field in fields(value)})
    return value


HOSTILE_REPORT = replace(poisoned(REPORT), schema_version=SCHEMA_VERSION)
