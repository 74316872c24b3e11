"""Families of small pairs: one that is proved, and faults of either side that must not be."""

from __future__ import annotations

from dataclasses import dataclass

from tests.pipeline.chain import MEANS, MEANS_PORT, SUM, SUM_PORT
from tests.pipeline.pairs import SCALING, SCALING_PORT


@dataclass(frozen=True, slots=True)
class Family:
    """A pair that is proved, and replacements (old, new) in the original or the port that make it differ."""

    cuda: str
    nki: str
    originals: dict[str, tuple[str, str]]
    ports: dict[str, tuple[str, str]]


def _flat(body: str, parameters: str = "float* y, const float* x, int n", block: int = 256) -> str:
    """An original with one thread an element; `i` is its index."""
    names = ", ".join(part.split()[-1].lstrip("*") for part in parameters.split(","))
    return (
        f"__global__ void k({parameters}) {{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  {body}\n}}\n"
        f"void run({parameters}) {{ k<<<(n + {block - 1}) / {block}, {block}>>>({names}); }}\n"
    )


def _elements(parameters: str, *lines: str) -> str:
    """A port that makes each element of y on its own; `at(i)` in `lines` is element i of a tensor as a tile."""
    body = "".join(f"        {line}\n" for line in lines)
    return (
        f"def k({parameters}):\n    n = {parameters.partition(',')[0]}.shape[0]\n"
        f"    y = nl.ndarray((n,), dtype=nl.float32, buffer=nl.shared_hbm)\n    for i in range(n):\n"
        "        p = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)\n"
        "        q = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)\n"
        f"{body}    return y\n"
    )


_AT = "[i:i + 1].reshape((1, 1))"
_READ_X = f"nisa.dma_copy(dst=p, src=x{_AT})"
_WRITE_P = f"nisa.dma_copy(dst=y{_AT}, src=p)"

ROWS = Family(
    SCALING,
    SCALING_PORT,
    {
        "one row less": ("int r = blockIdx.x;", "int r = blockIdx.x; if (r >= n - 1) return;"),
        "text that does not parse": ("int r = blockIdx.x;", "int r = blockIdx.x; @@@ y;"),
        "a statement without a value": ("int r = blockIdx.x;", "int r = blockIdx.x; y[0] = ;"),
    },
    {
        "only the first tile": ("range(0, n, 128)", "range(0, 128, 128)"),
        "only the first tile, by its number": ("range(0, n, 128)", "range(0, 1)"),
        "from the second tile": ("range(0, n, 128)", "range(128, n, 128)"),
        "whole tiles only": ("range(0, n, 128)", "range(0, 128 * (n // 128), 128)"),
        "one row less": ("min(128, n - t)", "min(128, n - 1 - t)"),
        "no tile that is the last row": ("range(0, n, 128)", "range(0, n - 1, 128)"),
    },
)
TWO_STORES = Family(
    """\
__global__ void k(float* y, const float* x, int h) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < h) { y[t] = 2.0f * x[t]; y[t + h] = -x[t + h]; }
}
void run(float* y, const float* x, int h) { k<<<(h + 255) / 256, 256>>>(y, x, h); }
""",
    """\
def k(x, h):
    n = x.shape[0]
    y = nl.ndarray((n,), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in range(0, h):
        a = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[t:t + 1].reshape((1, 1)))
        nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=y[t:t + 1].reshape((1, 1)), src=a)
    for t in range(0, h):
        a = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[t + h:t + h + 1].reshape((1, 1)))
        nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=-1.0)
        nisa.dma_copy(dst=y[t + h:t + h + 1].reshape((1, 1)), src=a)
    return y
""",
    {"a third store": ("y[t + h] = -x[t + h];", "y[t + h] = -x[t + h]; y[t + 2 * h] = 0.f;")},
    {
        "the first is lost": ("        nisa.dma_copy(dst=y[t:t + 1].reshape((1, 1)), src=a)\n", ""),
        "the second is lost": ("        nisa.dma_copy(dst=y[t + h:t + h + 1].reshape((1, 1)), src=a)\n", ""),
        "the second at another offset": ("dst=y[t + h:t + h + 1]", "dst=y[t + h + 1:t + h + 2]"),
        "the first at the second's offset": ("dst=y[t:t + 1]", "dst=y[t + h:t + h + 1]"),
    },
)
BIAS = Family(
    _flat("if (i < n * d) y[i] = x[i] + b[i % d];", "float* y, const float* x, const float* b, int n, int d").replace(
        "(n + 255)", "(n * d + 255)"
    ),
    SCALING_PORT.replace("(x, w)", "(x, b)").replace("src=w.", "src=b.").replace("nl.multiply", "nl.add"),
    {
        "by the row count": ("i % d", "i % n"),
        "by the row": ("i % d", "i / d"),
        "by another number of columns": ("i % d", "i % (d + 1)"),
        "by the element": ("i % d", "i"),
    },
    {"the first only": ("b.reshape((1, d)).broadcast(0, 128)", "b[0:1].reshape((1, 1)).broadcast(0, 128)")},
)
ROW_SUM_PORT = """\
def k(x):
    n, d = x.shape
    y = nl.ndarray((n, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in range(0, n, 128):
        m = min(128, n - t)
        a = nl.ndarray((128, d), dtype=nl.float32, buffer=nl.sbuf)
        s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a[0:m, 0:d], src=x[t:t + m, 0:d])
        nisa.tensor_reduce(dst=s[0:m, 0:1], op=nl.add, data=a[0:m, 0:d], axis=1)
        nisa.dma_copy(dst=y[t:t + m, 0:1], src=s[0:m, 0:1])
    return y
"""
PART_OF_A_ROW = {
    "half of each row": ("data=a[0:m, 0:d]", "data=a[0:m, 0:d // 2]"),
    "all but the first column": ("data=a[0:m, 0:d]", "data=a[0:m, 1:d]"),
}


def _row_sum(body: str, threads: int) -> str:
    """An original with one block a row; `v` is a thread's part of the row's sum."""
    return f"""\
__global__ void k(float* y, const float* x, int n, int d) {{
  int i = threadIdx.x;
  float v = 0.f;
  for (int k = i; k < d; k += {threads}) v += x[blockIdx.x * d + k];
  {body}
}}
void run(float* y, const float* x, int n, int d) {{ k<<<n, {threads}>>>(y, x, n, d); }}
"""


def _warp(shuffle: str) -> str:
    return _row_sum(f"for (int o = 16; o > 0; o >>= 1) v += {shuffle};\n  if (i == 0) y[blockIdx.x] = v;", 32)


BUTTERFLY = Family(
    _warp("__shfl_xor_sync(0xffffffffu, v, o, 32)"),
    ROW_SUM_PORT,
    {
        "a width of 16": ("o, 32)", "o, 16)"),
        "a width of 8": ("o, 32)", "o, 8)"),
        "half of the lanes": ("0xffffffffu", "0xffffu"),
        "every second lane": ("0xffffffffu", "0x55555555u"),
        "from a distance of 8": ("int o = 16", "int o = 8"),
        "to a distance of 2": ("o > 0", "o > 1"),
        "16 threads": ("<<<n, 32>>>", "<<<n, 16>>>"),
        "by half of the lanes": ("for (int o", "if (i < 16) for (int o"),
    },
    PART_OF_A_ROW,
)
SHUFFLE_DOWN = Family(
    _warp("__shfl_down_sync(0xffffffffu, v, o, 32)"),
    ROW_SUM_PORT,
    {
        "a width of 16": ("o, 32)", "o, 16)"),
        "a width of 8": ("o, 32)", "o, 8)"),
        "half of the lanes": ("0xffffffffu", "0xffffu"),
        "lane 1 stores what lane 0 holds": ("if (i == 0)", "if (i == 1)"),
        "the last lane stores": ("if (i == 0)", "if (i == 31)"),
        "all lanes store": ("if (i == 0) ", ""),
    },
    PART_OF_A_ROW,
)
_CUB = {
    "thread 1 stores what thread 0 holds": ("if (i == 0)", "if (i == 1)"),
    "all threads store": ("if (i == 0) ", ""),
    "all threads store it twice": ("if (i == 0) y[blockIdx.x] = v", "y[blockIdx.x] = v + v"),
    "stored where it is greater": ("i == 0", "v > 0.f"),
}


def _cub(name: str) -> str:
    return _row_sum(
        f"typedef cub::{name} R; __shared__ R::TempStorage s; v = R(s).Sum(v); if (i == 0) y[blockIdx.x] = v;", 32
    )


CUB_BLOCK = Family(_cub("BlockReduce<float, 32>"), ROW_SUM_PORT, _CUB, PART_OF_A_ROW)
CUB_WARP = Family(_cub("WarpReduce<float>"), ROW_SUM_PORT, _CUB, PART_OF_A_ROW)
SHARED_TREE = Family(
    _row_sum(
        "__shared__ float s[256]; s[i] = v; __syncthreads();\n"
        "  for (int o = 128; o > 0; o >>= 1) { if (i < o) s[i] += s[i + o]; __syncthreads(); }\n"
        "  if (i == 0) y[blockIdx.x] = s[0];",
        256,
    ),
    ROW_SUM_PORT,
    {
        "128 threads": ("<<<n, 256>>>", "<<<n, 128>>>"),
        "512 threads": ("<<<n, 256>>>", "<<<n, 512>>>"),
        "an array of 128": ("s[256]", "s[128]"),
        "from a distance of 64": ("int o = 128", "int o = 64"),
        "from a distance of 256": ("int o = 128", "int o = 256"),
        "to a distance of 2": ("o > 0", "o > 1"),
        "the second element": ("= s[0]", "= s[1]"),
    },
    PART_OF_A_ROW,
)
COPY = Family(
    _flat("if (i < n) y[i] = x[i];"),
    _elements("x", _READ_X, _WRITE_P),
    {
        "a square root squared": ("= x[i]", "= sqrtf(x[i]) * sqrtf(x[i])"),
        "an absolute value": ("= x[i]", "= fabsf(x[i])"),
        "the exponential of a logarithm": ("= x[i]", "= expf(logf(x[i]))"),
        "a factor that is no number": ("= x[i]", "= x[i] * 0.f"),
        "cut to whole numbers": ("= x[i]", "= (float)(int)x[i]"),
    },
    {"a square root squared": (_WRITE_P, "nisa.activation(dst=p, op=nl.sqrt, data=p)\n        " + _WRITE_P)},
)
ZERO = Family(
    _flat("const double tiny = 1e-50; if (i < n) { y[i] = x[i] * 0.f; }"),
    _elements("x", _READ_X, "nisa.tensor_scalar(dst=p, data=p, op0=nl.multiply, operand0=0.0)", _WRITE_P),
    {
        "a tiny number times a huge one": ("0.f", "(float)(1e-50 * 1e50)"),
        "a tiny variable times a huge one": ("x[i] * 0.f; }", "x[i] * (float)(tiny * 1e50); }"),
        "a tiny number": ("0.f", "1e-30f"),
    },
    {"a tiny number": ("operand0=0.0", "operand0=1e-30")},
)
TWO_INPUTS = Family(
    _flat("if (i < n) y[i] = a[i] - b[i];", "float* y, const float* a, const float* b, int n"),
    _elements(
        "a, b",
        f"nisa.dma_copy(dst=p, src=a{_AT})",
        f"nisa.dma_copy(dst=q, src=b{_AT})",
        "nisa.tensor_tensor(dst=p, data1=p, data2=q, op=nl.subtract)",
        _WRITE_P,
    ),
    {"one input twice": ("b[i];", "a[i];"), "exchanged": ("a[i] - b[i]", "b[i] - a[i]")},
    {
        "one input twice": ("src=b[", "src=a["),
        "the other input twice": ("src=a[", "src=b["),
        "exchanged": ("data1=p, data2=q", "data1=q, data2=p"),
    },
)
LAYOUT = Family(
    """\
__global__ void k(float* y, const float* x, const float* w, int n, int h) {
  int r = blockIdx.x;
  for (int c = threadIdx.x; c < h; c += blockDim.x) y[r * h + c] = x[r * h + c] + w[r * h + c];
}
void run(float* y, const float* x, const float* w, int n, int h) { k<<<n, 256>>>(y, x, w, n, h); }
""",
    """\
def k(x, w):
    n, h = x.shape
    y = nl.ndarray((n, h), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in range(0, n, 128):
        m = min(128, n - t)
        a = nl.ndarray((128, h), dtype=nl.float32, buffer=nl.sbuf)
        b = nl.ndarray((128, h), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a[0:m, 0:h], src=x[t:t + m, 0:h])
        nisa.dma_copy(dst=b[0:m, 0:h], src=w.reshape((n, h))[t:t + m, 0:h])
        nisa.tensor_tensor(dst=a[0:m, 0:h], data1=a[0:m, 0:h], data2=b[0:m, 0:h], op=nl.add)
        nisa.dma_copy(dst=y[t:t + m, 0:h], src=a[0:m, 0:h])
    return y
""",
    {
        "an operand stored the other way round": ("+ w[r * h + c]", "+ w[c * n + r]"),
        "an operand by the row alone": ("+ w[r * h + c]", "+ w[r]"),
        "an operand of another stride": ("+ w[r * h + c]", "+ w[r * n + c]"),
    },
    {
        "an operand of rows and columns exchanged": (
            "w.reshape((n, h))[t:t + m, 0:h]",
            "w.reshape((h, n))[0:h, t:t + m]",
        ),
        "the result stored the other way round": ("nl.ndarray((n, h), dtype=x", "nl.ndarray((h, n), dtype=x"),
    },
)
CHAIN = Family(
    SUM,
    SUM_PORT,
    {
        "one partial sum too few": ("y, blocks, 0.5f", "y, blocks - 1, 0.5f"),
        "one partial sum too many": ("y, blocks, 0.5f", "y, blocks + 1, 0.5f"),
        "as many partial sums as elements": ("y, blocks, 0.5f", "y, n, 0.5f"),
        "one block less than is counted": ("collect<<<blocks,", "collect<<<blocks - 1,"),
        "another scale": ("0.5f", "0.25f"),
        "an argument for the scale": ("(sums, y, blocks, 0.5f", "(sums, y, blocks, n * 0.5f"),
        "one partial sum for all blocks": ("sums[blockIdx.x] =", "sums[0] ="),
        "fewer elements": ("(x, sums, n)", "(x, sums, n / 2)"),
    },
    {
        "without the scale of the second kernel": (
            "    nisa.tensor_scalar(dst=s, data=s, op0=nl.multiply, operand0=0.5)\n",
            "",
        ),
        "another operator": ("op=nl.add", "op=nl.max"),
        "all but the last": ("data=row, axis", "data=row[0:1, 0:n - 1], axis"),
    },
)
MEANS_CHAIN = Family(
    MEANS,
    MEANS_PORT,
    {
        "partial sums of another layout": ("part[r * chunks + c]", "part[c * rows + r]"),
        "partial sums written in another layout": (
            "blockIdx.y * gridDim.x + blockIdx.x]",
            "blockIdx.x * gridDim.y + blockIdx.y]",
        ),
        "partial sums of one row": ("part[r * chunks + c]", "part[c]"),
        "one chunk too few": ("c < chunks", "c < chunks - 1"),
        "one chunk too many": ("c < chunks", "c <= chunks"),
        "the first chunk alone": ("+= part[r * chunks + c]", "= part[r * chunks]"),
        "another divisor": ("total / cols", "total / rows"),
        "rows and chunks exchanged": ("(part, mean, rows, chunks, cols)", "(part, mean, rows, cols, chunks)"),
        "blocks of one chunk": ("dim3(chunks, rows)", "dim3(1, rows)"),
    },
    {
        "without the division": (", operand0=1.0 / cols", ", operand0=1.0"),
        "no last element": ("data=xt[0:m, 0:cols], axis=1", "data=xt[0:m, 0:cols - 1], axis=1"),
    },
)
FAMILIES = {
    "chain": CHAIN,
    "chain of rows": MEANS_CHAIN,
    "rows": ROWS,
    "two stores": TWO_STORES,
    "bias": BIAS,
    "butterfly": BUTTERFLY,
    "shuffles down": SHUFFLE_DOWN,
    "a block's sum of a library": CUB_BLOCK,
    "a warp's sum of a library": CUB_WARP,
    "shared tree": SHARED_TREE,
    "copy": COPY,
    "zero": ZERO,
    "two inputs": TWO_INPUTS,
    "layout": LAYOUT,
}
