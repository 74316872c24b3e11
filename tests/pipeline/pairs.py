"""A small pair that is proved equal, and the report of any pair of texts."""

from __future__ import annotations

from pathlib import Path

from portcheck.core.report import Report, Verdict
from portcheck.pipeline import Request, check

PROVED = {Verdict.FAITHFUL, Verdict.WITHIN_TOLERANCE}
NKI_HEADER = """\
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
"""
SCALING = """\
__global__ void k(float* y, const float* x, const float* w, int n, int d) {
  int r = blockIdx.x;
  for (int i = threadIdx.x; i < d; i += blockDim.x) y[r * d + i] = x[r * d + i] * w[i];
}
void run(float* y, const float* x, const float* w, int n, int d) { k<<<n, 256>>>(y, x, w, n, d); }
"""
SCALING_PORT = """\
def k(x, w):
    n, d = x.shape
    y = nl.ndarray((n, d), dtype=x.dtype, buffer=nl.shared_hbm)
    wt = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=wt, src=w.reshape((1, d)).broadcast(0, 128))
    for t in range(0, n, 128):
        m = min(128, n - t)
        a = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a[0:m, 0:d], src=x[t:t + m, 0:d])
        nisa.tensor_tensor(dst=a[0:m, 0:d], data1=a[0:m, 0:d], data2=wt[0:m, 0:d], op=nl.multiply)
        nisa.dma_copy(dst=y[t:t + m, 0:d], src=a[0:m, 0:d])
    return y
"""


def report_of(folder: Path, cuda: str, nki: str, kernel: str = "", port: str = "") -> Report:
    """The report of two texts; a port without imports gets those of NKI."""
    (folder / "k.cu").write_text(cuda, encoding="utf-8")
    (folder / "k.py").write_text(nki if "import nki" in nki else NKI_HEADER + nki, encoding="utf-8")
    named = (kernel,) if kernel else ()
    request = Request(
        cuda_path=str(folder / "k.cu"), nki_path=str(folder / "k.py"), cuda_kernels=named, nki_kernel=port or None
    )
    return check(request).report
