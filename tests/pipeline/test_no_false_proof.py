"""A pair that differs is never called faithful: small faults on either side of one scaling kernel."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from tests.pipeline.pairs import NKI_HEADER
from tests.pipeline.shapes import FAMILIES

from portcheck.core.report import Report, Verdict
from portcheck.pipeline import Request
from portcheck.pipeline.check import check

_CUDA = """\
struct Held { float* to; };
struct Pair { float a, b; };
struct Twice {
  float v;
  __device__ Twice(float given) : v(given) {}
  __device__ Twice(const Twice& other) : v(2.f * other.v) {}
};
__device__ float sought(float v) {
  try { if (v < 0.f) return 1.f; } catch (...) { }
  return v;
}
__global__ void k(float* y, const float* x, const float* w, int n, int d) {
  int r = blockIdx.x;
  BODY
}
void run(float* y, const float* x, const float* w, int n, int d) { k<<<n, 256>>>(y, x, w, n, d); }
"""
_BODY = "for (int i = threadIdx.x; i < d; i += blockDim.x) y[r * d + i] = x[r * d + i] * w[i];"
_PORT = """\
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def k(x, w):
    n, d = x.shape
    y = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    P = 128
    wt = nl.ndarray((P, d), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=wt, src=w.reshape((1, d)).broadcast(0, P))
    for t in range(0, n, P):
        m = min(P, n - t)
        a = nl.ndarray((P, d), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a[0:m, 0:d], src=x[t:t + m, 0:d])
        nisa.tensor_tensor(dst=a[0:m, 0:d], data1=a[0:m, 0:d], data2=wt[0:m, 0:d], op=nl.multiply)
        nisa.dma_copy(dst=y[t:t + m, 0:d], src=a[0:m, 0:d])
    return y
"""


def _report(folder: Path, cuda: str, port: str) -> Report:
    (folder / "k.cu").write_text(cuda, encoding="utf-8")
    (folder / "k.py").write_text(port, encoding="utf-8")
    return check(Request(cuda_path=str(folder / "k.cu"), nki_path=str(folder / "k.py"))).report


_PROVED = {Verdict.FAITHFUL, Verdict.WITHIN_TOLERANCE}
_LOOP = "for (int i = threadIdx.x; i < d; i += blockDim.x) "
_STORE = "y[r * d + i] = x[r * d + i] * w[i];"

ORIGINALS = {
    "every second stretch only": _BODY.replace("+= blockDim.x", "+= 2 * blockDim.x"),
    "from the eighth column": _BODY.replace("i = threadIdx.x;", "i = threadIdx.x + 7;"),
    "no more than a block of columns": f"int i = threadIdx.x; if (i < d) {_STORE}",
    "where a weight is positive": f"{_LOOP}if (w[i] > 0.f) {_STORE}",
    "until a weight is negative": f"{_LOOP}{{ if (w[i] < 0.f) return; {_STORE} }}",
    "after a search that may return": f"for (int q = 0; q < d; q++) {{ if (w[q] < 0.f) return; }} {_BODY}",
    "after a search by data that may return": f"for (int q = 0; w[q] < 0.f; q++) {{ if (q > 5) return; }} {_BODY}",
    "after a search by data that may return early": (
        f"int q = 0; while (w[q] < 0.f) {{ if (w[q] < -1.f) return; q++; }} {_BODY}"
    ),
    "after what is not read and may return": f"try {{ if (w[0] < 0.f) return; }} catch (...) {{ }} {_BODY}",
    "by a function that may return from what is not read": _BODY.replace("w[i]", "sought(w[i])"),
    "then given to an object that is not read": f"{_BODY} Writer out(y); out.put(r);",
    "then given to a function inside a record": f"{_BODY} Held h{{y}}; elsewhere(h);",
    "then given to a function in a lambda": f"{_BODY} elsewhere([&](int j) {{ y[j] = 0.f; }});",
    "then stored where nothing says": f"{_BODY} elsewhere[r] = 1.f;",
    "then stored in an object that is not read": f"{_BODY} log.put(r);",
    "then written to a surface": f"{_BODY} surf1Dwrite(x[r], image, r * 4);",
    "then added where nothing says": f"{_BODY} atomicAdd(elsewhere + r, 1.f);",
    "by a weight that is changed through a choice": (
        f"{_LOOP}{{ float a = w[i], b = 2.f; (r < n ? a : b) *= 2.f; y[r * d + i] = x[r * d + i] * a; }}"
    ),
    "by a weight with another name": (
        f"{_LOOP}{{ Pair p{{w[i], 1.f}}; auto& [a, b] = p; a = 2.f; y[r * d + i] = x[r * d + i] * p.a; }}"
    ),
    "by a count of all calls": f"{_LOOP}{{ static float c = 0.f; c += 1.f; y[r * d + i] = x[r * d + i] * c * w[i]; }}",
    "by a copy that is twice as much": (f"{_LOOP}{{ Twice a(w[i]); Twice b(a); y[r * d + i] = x[r * d + i] * b.v; }}"),
    "by an argument that is twice as much": (
        f"{_LOOP}{{ Twice a(w[i]); auto f = [](Twice t) {{ return t.v; }}; y[r * d + i] = x[r * d + i] * f(a); }}"
    ),
    "from the weights in odd rows": f"const float* p = x + r * d; if (r % 2) p = w; {_LOOP}y[r * d + i] = p[i] * w[i];",
    "to the weights in odd rows": f"float* p = r % 2 ? (float*)w : y; {_LOOP}p[r * d + i] = x[r * d + i] * w[i];",
    "by weights that another dynamic array overwrites": (
        f"extern __shared__ float s[]; extern __shared__ float t[]; {_LOOP}{{ s[threadIdx.x] = w[i];"
        " t[threadIdx.x] = 2.f; y[r * d + i] = x[r * d + i] * s[threadIdx.x]; }"
    ),
    "all but the first column, by an unsigned comparison": f"{_LOOP}if ((unsigned)(i - 1) < (unsigned)d) {_STORE}",
    "a weight by a byte": f"{_LOOP}{{ unsigned char c = (unsigned char)i; y[r * d + i] = x[r * d + i] * w[c]; }}",
    "in a loop that may not run": f"{_LOOP}for (int q = n; q < 8; q++) {_STORE}",
    "then cleared": f"{_BODY} {_LOOP}y[r * d + i] = 0.f;",
    "cleared in a later iteration": (
        f"{_LOOP}for (int q = 0; q < 3; q++) {{ y[r * d + i] = 0.f; if (q == 0) {_STORE} }}"
    ),
    "the wrong column": _BODY.replace("w[i]", "w[i + 1]"),
    "a row's own weight": _BODY.replace("w[i]", "w[r]"),
    "a column chosen by data": _BODY.replace("w[i]", "w[(int)x[i]]"),
}
PORTS = {
    "every second tile": ("range(0, n, P)", "range(0, n, 2 * P)"),
    "no first tile": ("range(0, n, P)", "range(P, n, P)"),
    "no last tile": ("range(0, n, P)", "range(0, n - P, P)"),
    "half of each tile": ("min(P, n - t)", "min(64, n - t)"),
    "no first columns": ("dst=y[t:t + m, 0:d], src=a[0:m, 0:d]", "dst=y[t:t + m, 7:d], src=a[0:m, 7:d]"),
    "512 columns": ("dst=y[t:t + m, 0:d], src=a[0:m, 0:d]", "dst=y[t:t + m, 0:min(d, 512)], src=a[0:m, 0:min(d, 512)]"),
    "only the first rows": ("        nisa.dma_copy(dst=y", "        if t < 1024:\n            nisa.dma_copy(dst=y"),
    "rows of another place": ("src=x[t:t + m, 0:d]", "src=x[0:m, 0:d]"),
    "the first weight": ("w.reshape((1, d)).broadcast(0, P)", "w[0:1].reshape((1, 1)).broadcast(0, P)"),
    "a sum": ("op=nl.multiply", "op=nl.add"),
    "all but the first row": ("return y", "return y[1:]"),
    "the first row of a tile for all": ("src=a[0:m, 0:d])\n    return", "src=a[0:1, 0:d])\n    return"),
    "the rows of another shape": ("return y", "return y.reshape((d, n))[0:d - 1]"),
    "whole numbers": (
        "nisa.dma_copy(dst=a[0:m, 0:d], src=x[t:t + m, 0:d])",
        "b = nl.ndarray((P, d), dtype=nl.int32, buffer=nl.sbuf)\n"
        "        nisa.dma_copy(dst=b[0:m, 0:d], src=x[t:t + m, 0:d])\n"
        "        nisa.tensor_copy(dst=a[0:m, 0:d], src=b[0:m, 0:d])",
    ),
    "the weight squared": ("data1=a[0:m, 0:d], data2", "data1=wt[0:m, 0:d], data2"),
}


def test_the_pair_without_a_fault_is_faithful(tmp_path: Path) -> None:
    assert _report(tmp_path, _CUDA.replace("BODY", _BODY), _PORT).verdict is Verdict.FAITHFUL


@pytest.mark.parametrize("name", ORIGINALS)
def test_an_original_that_writes_something_else_is_not_proved(name: str, tmp_path: Path) -> None:
    assert _report(tmp_path, _CUDA.replace("BODY", ORIGINALS[name]), _PORT).verdict not in _PROVED


@pytest.mark.parametrize("name", PORTS)
def test_a_port_that_writes_something_else_is_not_proved(name: str, tmp_path: Path) -> None:
    old, new = PORTS[name]
    assert _PORT.count(old) == 1
    assert _report(tmp_path, _CUDA.replace("BODY", _BODY), _PORT.replace(old, new)).verdict not in _PROVED


def test_a_launch_that_passes_one_buffer_twice_is_not_proved(tmp_path: Path) -> None:
    text = _CUDA.replace("BODY", _BODY)
    assert _report(tmp_path, text.replace("(y, x, w, n, d);", "(y, y, w, n, d);"), _PORT).verdict not in _PROVED


_HALVES_CUDA = """\
__global__ void k(float* y, const float* x, int h) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < h) { y[t] = 2.0f * x[t]; y[t + h] = -x[t + h]; }
}
void run(float* y, const float* x, int h) { k<<<(h + 255) / 256, 256>>>(y, x, h); }
"""
_HALVES_PORT = """\
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def k(x, h):
    n = x.shape[0]
    y = nl.ndarray((n,), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in range(0, h):
        a = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[t + h:t + h + 1].reshape((1, 1)))
        nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=-1.0)
        nisa.dma_copy(dst=y[t + h:t + h + 1].reshape((1, 1)), src=a)
    return y
"""


UNREAD = {
    "the output of an unread helper": _PORT.replace("return y", "return mystery(y)"),
    "an output of an unread shape": _PORT.replace(
        "nl.ndarray((n, d), dtype=x.dtype", "nl.ndarray(shape_of(x), dtype=x.dtype"
    ),
    "nothing but an unread output": _PORT.partition("    n, d")[0] + "    return mystery(x, w)\n",
}


@pytest.mark.parametrize("name", UNREAD)
def test_a_port_whose_output_is_not_read_is_not_proved(name: str, tmp_path: Path) -> None:
    report = _report(tmp_path, _CUDA.replace("BODY", _BODY), UNREAD[name])
    assert report.verdict is Verdict.NOT_VERIFIED
    assert [output.status for output in report.outputs] == ["undecided"]


def test_a_port_that_lost_the_first_of_two_halves_is_not_proved(tmp_path: Path) -> None:
    assert _report(tmp_path, _HALVES_CUDA, _HALVES_PORT).verdict not in _PROVED


@pytest.mark.parametrize("room", ["evaluate", "align"])
def test_a_room_that_fails_is_named_and_nothing_is_proved(
    room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.delenv("PORTCHECK_DEBUG", raising=False)
    monkeypatch.setattr(import_module("portcheck.pipeline.check"), room, failing)
    report = _report(tmp_path, _CUDA.replace("BODY", _BODY), _PORT)
    assert report.verdict is Verdict.NOT_VERIFIED
    assert any("RuntimeError" in line for line in report.not_checked)


FAULTS_OF_ORIGINALS = [(family, fault) for family, pair in FAMILIES.items() for fault in pair.originals]
FAULTS_OF_PORTS = [(family, fault) for family, pair in FAMILIES.items() for fault in pair.ports]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_without_a_fault_is_proved(family: str, tmp_path: Path) -> None:
    pair = FAMILIES[family]
    assert _report(tmp_path, pair.cuda, NKI_HEADER + pair.nki).verdict in _PROVED


@pytest.mark.parametrize(("family", "fault"), FAULTS_OF_ORIGINALS, ids=map(": ".join, FAULTS_OF_ORIGINALS))
def test_a_family_with_another_original_is_not_proved(family: str, fault: str, tmp_path: Path) -> None:
    pair = FAMILIES[family]
    old, new = pair.originals[fault]
    assert pair.cuda.count(old) == 1
    assert _report(tmp_path, pair.cuda.replace(old, new), NKI_HEADER + pair.nki).verdict not in _PROVED


@pytest.mark.parametrize(("family", "fault"), FAULTS_OF_PORTS, ids=map(": ".join, FAULTS_OF_PORTS))
def test_a_family_with_another_port_is_not_proved(family: str, fault: str, tmp_path: Path) -> None:
    pair = FAMILIES[family]
    old, new = pair.ports[fault]
    assert pair.nki.count(old) == 1
    assert _report(tmp_path, pair.cuda, NKI_HEADER + pair.nki.replace(old, new)).verdict not in _PROVED
