"""What is said beside a proof: roundings of one side, integers, and which start of a maximum does not matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.core.report import Report, Verdict
from portcheck.pipeline import Request, check

_CUDA = """\
__global__ void k(float* y, const float* x, int n, int d) {
  int i = threadIdx.x;
  float m = START;
  for (int q = i; q < d; q += 32) m = fmaxf(m, x[blockIdx.x * d + q]);
  for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
  if (i == 0) y[blockIdx.x] = m;
}
void run(float* y, const float* x, int n, int d) { k<<<n, 32>>>(y, x, n, d); }
"""
_PORT = """\
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def k(x):
    n, d = x.shape
    y = nl.ndarray((n, 1), dtype=nl.OUT, buffer=nl.shared_hbm)
    for t in range(0, n, 128):
        m = min(128, n - t)
        a = nl.ndarray((m, d), dtype=nl.TILE, buffer=nl.sbuf)
        s = nl.ndarray((m, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[t:t + m, 0:d])
        nisa.tensor_reduce(dst=s, op=nl.maximum, data=a, axis=1)
        nisa.dma_copy(dst=y[t:t + m, 0:1], src=s)
    return y
"""


def _report(folder: Path, start: str = "-INFINITY", tile: str = "float32", out: str = "float32") -> Report:
    cuda, nki = folder / "k.cu", folder / "k.py"
    cuda.write_text(_CUDA.replace("START", start))
    nki.write_text(_PORT.replace("TILE", tile).replace("OUT", out))
    return check(Request(cuda_path=str(cuda), nki_path=str(nki))).report


def _messages(report: Report) -> str:
    return " ".join(finding.message for finding in report.findings)


@pytest.mark.parametrize("start", ["-INFINITY", "-3.402823466e+38f"])
def test_a_maximum_may_start_below_every_element(start: str, tmp_path: Path) -> None:
    assert _report(tmp_path, start).verdict is Verdict.FAITHFUL


@pytest.mark.parametrize("start", ["-1e20f", "0.f", "x[blockIdx.x * d]"])
def test_a_maximum_that_starts_elsewhere_is_neither_proved_nor_missing(start: str, tmp_path: Path) -> None:
    report = _report(tmp_path, start)
    assert report.verdict is Verdict.NOT_VERIFIED
    assert [finding.code for finding in report.findings if finding.severity in ("error", "warning")] == []


def test_a_tile_of_a_narrower_format_rounds(tmp_path: Path) -> None:
    report = _report(tmp_path, tile="bfloat16")
    assert report.verdict is Verdict.WITHIN_TOLERANCE
    assert "the port to bfloat16" in _messages(report)


@pytest.mark.parametrize(("tile", "out"), [("int8", "float32"), ("float32", "int32")])
def test_a_value_stored_as_an_integer_is_not_followed(tile: str, out: str, tmp_path: Path) -> None:
    assert _report(tmp_path, tile=tile, out=out).verdict is Verdict.NOT_VERIFIED


_SUM_CUDA = """\
__global__ void k(int* y, const int* a, const int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a[i] + b[i];
}
void run(int* y, const int* a, const int* b, int n) { k<<<(n + 127) / 128, 128>>>(y, a, b, n); }
"""
_SUM_PORT = """\
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def k(a, b):
    n = a.shape[0]
    y = nl.ndarray((n, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    for t in range(0, n, 128):
        m = min(128, n - t)
        p = nl.ndarray((m, 1), dtype=nl.int32, buffer=nl.sbuf)
        q = nl.ndarray((m, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=p, src=a[t:t + m].reshape((m, 1)))
        nisa.dma_copy(dst=q, src=b[t:t + m].reshape((m, 1)))
        nisa.tensor_tensor(dst=p, data1=p, data2=q, op=nl.add)
        nisa.dma_copy(dst=y[t:t + m, 0:1], src=p)
    return y
"""


def test_sums_of_integers_are_proved_with_a_remark(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(_SUM_CUDA)
    (tmp_path / "k.py").write_text(_SUM_PORT)
    report = check(Request(cuda_path=str(tmp_path / "k.cu"), nki_path=str(tmp_path / "k.py"))).report
    assert report.verdict is Verdict.WITHIN_TOLERANCE
    assert "every bit of int32 numbers" in _messages(report)


_COPY_CUDA = """\
__global__ void k(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
"""
_COPY_LAUNCH = "void run(float* y, const float* x, int n) { k<<<(n + 255) / 256, 256>>>(y, x, n); }\n"
_COPY_PORT = """\
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def k(x):
    n = x.shape[0]
    y = nl.ndarray((n,), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(COUNT):
        p = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=p, src=x[i:i + 1].reshape((1, 1)))
        nisa.dma_copy(dst=y[i:i + 1].reshape((1, 1)), src=p)
    return y
"""
SAID = {
    "nothing": (_COPY_CUDA + _COPY_LAUNCH, "n", ""),
    "that more is handed back than is written": (
        _COPY_CUDA + _COPY_LAUNCH,
        "n * 1",
        "of the 2*n elements of the port's y only those that are written matter (n)",
    ),
    "that a launch covers all": (_COPY_CUDA, "n", "the launch covers every element that the guards let through"),
    "what a name is that nothing defines": (_COPY_CUDA + _COPY_LAUNCH, "ROWS", "ROWS = n"),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_taken_for_granted_is_said(name: str, tmp_path: Path) -> None:
    cuda, count, said = SAID[name]
    (tmp_path / "k.cu").write_text(cuda)
    shape = "(2 * n,)" if "*" in count else "(n,)"
    (tmp_path / "k.py").write_text(_COPY_PORT.replace("COUNT", count).replace("(n,)", shape))
    report = check(Request(cuda_path=str(tmp_path / "k.cu"), nki_path=str(tmp_path / "k.py"))).report
    assert report.verdict is Verdict.FAITHFUL
    assert _messages(report).partition("Taken for granted: ")[2] == (f"{said}." if said else "")


INTEGERS = {
    "kept": ("int", "int", "x[i]", "int32", True),
    "widened": ("int", "short", "x[i]", "int32", True),
    "narrowed and widened again": ("int", "int", "(signed char)x[i]", "int32", False),
    "narrowed": ("signed char", "int", "x[i]", "int32", False),
    "signed where the original is not": ("float", "unsigned", "x[i]", "int32", False),
    "unsigned where the original is not": ("float", "int", "x[i]", "uint32", False),
    "of half the width": ("long long", "long long", "x[i]", "int32", False),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_an_integer_that_another_format_may_not_hold_is_not_followed(name: str, tmp_path: Path) -> None:
    stored, read, value, tile, is_proved = INTEGERS[name]
    cuda = (_COPY_CUDA + _COPY_LAUNCH).replace("float* y", f"{stored}* y").replace("float* x", f"{read}* x")
    port = _COPY_PORT.replace("COUNT", "n").replace("nl.float32, buffer=nl.sbuf", f"nl.{tile}, buffer=nl.sbuf")
    out = {"int": "int32", "signed char": "int8", "long long": "int32"}.get(stored, "float32")
    (tmp_path / "k.cu").write_text(cuda.replace("= x[i]", f"= {value}"))
    (tmp_path / "k.py").write_text(port.replace("nl.float32, buffer=nl.shared_hbm", f"nl.{out}, buffer=nl.shared_hbm"))
    report = check(Request(cuda_path=str(tmp_path / "k.cu"), nki_path=str(tmp_path / "k.py"))).report
    assert (report.outputs[0].status == "equal") is is_proved
