"""What small kernels and ports are said to compute, and what is said not to be understood."""

from __future__ import annotations

import pytest
from tests.values.reading import kernel, nki

from portcheck.values import Contract, Evaluated, coordinate_names, term_text


def _contract(evaluated: Evaluated) -> Contract:
    contract = evaluated.contract("y")
    assert contract is not None
    return contract


def formulas(evaluated: Evaluated) -> list[str]:
    """`y[address] = value` for each store, coordinates named i, j."""
    found = []
    for piece in _contract(evaluated).pieces:
        names = coordinate_names(piece.bounds, piece.address.symbols)
        found.append(term_text(piece.value, names))
    return found


CUDA = {
    "a guard": ("if (t < n) y[t] = x[t] + 1.f;", ["x[i] + 1"]),
    "an early return": ("if (t >= n) return; y[t] = x[t] + 1.f;", ["x[i] + 1"]),
    "a grid-stride loop": (
        "for (int k = t; k < n; k += gridDim.x * blockDim.x) y[k] = x[k] * 2.f;", ["x[i] * 2"],
    ),
    "a register accumulated": (
        "if (t < 1) { float a = 0.f; for (int k = 0; k < n; k++) a += x[k]; y[t] = a; }", ["sum_{k<n} x[k]"],
    ),
    "a maximum that starts at the first element": (
        "if (t < 1) { float a = x[0]; for (int k = 1; k < n; k++) a = fmaxf(a, x[k]); y[t] = a; }",
        ["max_{k<n} x[k]"],
    ),
    "a butterfly": (
        "float v = x[t]; for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o);"
        "if (i % 32 == 0) y[t / 32] = v;",
        ["sum_{k<32} x[32*i + k]"],
    ),
    "a butterfly of choices of the greater": (
        "float v = x[t]; for (int o = 16; o > 0; o >>= 1) v = std::max(v, __shfl_xor_sync(~0u, v, o));"
        "if (i % 32 == 0) y[t / 32] = v;",
        ["max_{k<32} x[32*i + k]"],
    ),
    "the less of two": ("if (t < n) y[t] = std::min(x[t], 2.f);", ["min(2, x[i])"]),
    "shuffles down, used by lane 0": (
        "float v = x[t]; for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(~0u, v, o);"
        "if (i % 32 == 0) y[t / 32] = v;",
        ["sum_{k<32} x[32*i + k]"],
    ),
    "a shared-memory tree": (
        "__shared__ float s[256]; s[i] = x[t]; __syncthreads();"
        "for (int d = 128; d > 0; d >>= 1) { if (i < d) s[i] += s[i + d]; __syncthreads(); }"
        "if (i == 0) y[blockIdx.x] = s[0];",
        ["sum_{k<256} x[256*i + k]"],
    ),
    "a shared-memory tree with a doubling distance": (
        "__shared__ float s[256]; s[i] = x[t]; __syncthreads();"
        "for (int d = 1; d < 256; d *= 2) { if (i % (2 * d) == 0) s[i] += s[i + d]; __syncthreads(); }"
        "if (i == 0) y[blockIdx.x] = s[0];",
        ["sum_{k<256} x[256*i + k]"],
    ),
    "an update in place": ("if (t < n) y[t] = y[t] * x[t];", ["y[i] * x[i]"]),
    "elements read as another type": (
        "const int2* p = (const int2*)x; if (t < n) y[t] = p[t].y;", ["x.int32[2*i + 1]"],
    ),
    "one array of several in shared memory": (
        "extern __shared__ char b[]; float* s = (float*)b; s[i] = x[t]; __syncthreads(); y[t] = s[i] * 2.f;",
        ["x[i] * 2"],
    ),
    "a total by atomics": ("if (t < n) atomicAdd(y, x[t]);", ["y[0] + sum_{k<n} x[k]"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CUDA)
def test_a_kernel_is_understood(name: str) -> None:
    body, expected = CUDA[name]
    evaluated = kernel(body)
    assert _contract(evaluated).problem == ""
    assert formulas(evaluated) == expected


UNKNOWN = {
    "a running sum": "if (t == 0) { float a = 0.f; for (int k = 0; k < n; k++) { a += x[k]; y[k] = a; } }",
    "an element from the one before": "if (t == 0) for (int k = 1; k < n; k++) y[k] = y[k - 1] + x[k];",
    "a reversal in place": "if (t == 0) for (int k = 0; k < n; k++) y[n - 1 - k] = y[k];",
    "a conditional reset": (
        "if (t < 1) { float a = 0.f; for (int k = 0; k < n; k++) { a += x[k]; if (x[k] < 0.f) a = 0.f; } y[t] = a; }"
    ),
    "a break": (
        "if (t < 1) { float a = 0.f; for (int k = 0; k < n; k++) { if (x[k] < 0.f) break; a += x[k]; } y[t] = a; }"
    ),
    "a break after the sum": (
        "if (t < 1) { float a = 0.f; for (int k = 0; k < n; k++) { a += x[k]; if (x[k] < 0.f) break; } y[t] = a; }"
    ),
    "an online softmax": (
        "if (t < 1) { float m = -INFINITY, a = 0.f; for (int k = 0; k < n; k++) { float b = fmaxf(m, x[k]);"
        "a = a * expf(m - b) + expf(x[k] - b); m = b; } y[t] = a; }"
    ),
    "the last element wins": "if (t < 1) { float a = 0.f; for (int k = 0; k < n; k++) a = x[k]; y[t] = a; }",
    "two sums that feed each other": (
        "if (t < 1) { float a = 0.f, b = 1.f; for (int k = 0; k < n; k++) { a += b; b += x[k]; } y[t] = a; }"
    ),
    "an alternating sum": "if (t < 1) { float a = 0.f; for (int k = 0; k < n; k++) a = x[k] - a; y[t] = a; }",
    "the place of the greatest": (
        "if (t < 1) { float m = x[0]; int b = 0; for (int k = 1; k < n; k++) if (x[k] > m) { m = x[k]; b = k; }"
        "y[t] = b; }"
    ),
    "a gather": "if (t < n) y[t] = x[(int)x[t]];",
    "a sum of gathered elements": (
        "float v = x[(int)x[t]]; for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o);"
        "if (i % 32 == 0) y[t / 32] = v;"
    ),
    "an atomic sum of gathered elements": "if (t < n) atomicAdd(y, x[(int)x[t]]);",
    "a scatter": "if (t < n) y[(int)x[t]] = 1.f;",
    "an inclusive scan by shuffles": (
        "float v = x[t]; for (int o = 1; o < 32; o <<= 1) { float u = __shfl_up_sync(~0u, v, o);"
        "if (i % 32 >= o) v += u; } y[t] = v;"
    ),
    "lanes other than 0 use a sum shuffled down": (
        "float v = x[t]; for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(~0u, v, o); y[t] = v;"
    ),
    "a shuffle tree without its middle": (
        "float v = x[t]; v += __shfl_xor_sync(~0u, v, 16); v += __shfl_xor_sync(~0u, v, 1); y[t] = v;"
    ),
    "several elements to one place": "if (t < n) y[t / 4] = x[t];",
    "serial sums of pairs": "if (t == 0) for (int k = 0; k < n; k++) y[k / 2] += x[k];",
    "buffers that take turns": (
        "if (t < n) { float a[2]; a[0] = x[t]; a[1] = 0.f; for (int k = 0; k < 4; k++) a[(k + 1) % 2] = a[k % 2] + 1.f;"
        "y[t] = a[0]; }"
    ),
    "a store after a search that may return": (
        "if (t < n) { for (int k = 0; k < 8; k++) { if (x[k] < 0.f) return; } y[t] = 1.f; }"
    ),
    "shared memory read as another type than it was written": (
        "__shared__ float s[256]; s[i] = x[t]; __syncthreads(); y[t] = ((short*)s)[i];"
    ),
    "an output written as another type": "((short*)y)[t] = 1;",
    "an output read as another type than it was written": "y[t] = x[t]; ((int*)y)[t] = 1; y[t] = 2.f;",
    "an input that was written as another type": "((int*)y)[t] = 1; y[t] = y[t + 1];",
    "an exchange of bits in an index": "if (t < n) y[t] = x[__fns(t, 0, 1) & 7];",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_kernel_that_is_not_understood_is_said_not_to_be(name: str) -> None:
    assert _contract(kernel(UNKNOWN[name])).problem != ""


_TILES = """\
def k(x):
    n, d = x.shape
    y = nl.ndarray((n, d), dtype=nl.float32, buffer=nl.shared_hbm)
    P = 128
BODY
    return y
"""
_ROWS = """\
for t in range(0, n, P):
    m = min(P, n - t)
    a = nl.ndarray((P, d), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a[0:m, 0:d], src=x[t:t + m, 0:d])
"""
_COLUMNS = """\
acc = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
nisa.memset(dst=acc, value=0.0)
for c in range(0, d, P):
    w = min(P, d - c)
    a = nl.ndarray((P, P), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a[0:P, 0:w], src=x[0:P, c:c + w])
    s = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=s, op=nl.add, data=a[0:P, 0:w], axis=1)
"""
_ADD = "    nisa.tensor_tensor(dst=acc, data1=acc, data2=s, op=nl.add)\n"


def _port(*parts: str) -> Evaluated:
    lines = "".join(parts).splitlines()
    return nki(_TILES.replace("BODY\n", "".join(f"    {line}\n" for line in lines)))


PORTS = {
    "clipped tiles": (_ROWS + "    nisa.dma_copy(dst=y[t:t + m, 0:d], src=a[0:m, 0:d])", ["x[i]"]),
    "a row sum": (
        _ROWS + "    s = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)\n"
        "    nisa.tensor_reduce(dst=s[0:m, 0:1], op=nl.add, data=a[0:m, 0:d], axis=1)\n"
        "    nisa.dma_copy(dst=y[t:t + m, 0:1], src=s[0:m, 0:1])",
        ["sum_{k<d} x[d*i + k]"],
    ),
    "tiles accumulated": (_COLUMNS + _ADD + "nisa.dma_copy(dst=y[0:P, 0:1], src=acc)", ["sum_{k<d} x[d*i + k]"]),
    "a row broadcast": (
        _ROWS + "    s = nl.ndarray((1, d), dtype=nl.float32, buffer=nl.sbuf)\n"
        "    nisa.dma_copy(dst=s, src=x[0:1, 0:d])\n"
        "    nisa.tensor_tensor(dst=a[0:m, 0:d], data1=a[0:m, 0:d], data2=s.broadcast_to((m, d)), op=nl.multiply)\n"
        "    nisa.dma_copy(dst=y[t:t + m, 0:d], src=a[0:m, 0:d])",
        ["x[d*i + j] * x[j]"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PORTS)
def test_a_port_is_understood(name: str) -> None:
    body, expected = PORTS[name]
    evaluated = _port(body)
    assert _contract(evaluated).problem == ""
    assert formulas(evaluated) == expected


UNKNOWN_PORTS = {
    "a tile that was not written": (
        _ROWS + "    b = nl.ndarray((P, d), dtype=nl.float32, buffer=nl.sbuf)\n"
        "    nisa.dma_copy(dst=y[t:t + m, 0:d], src=b[0:m, 0:d])"
    ),
    "a reset after the first tile": (
        _COLUMNS + _ADD + "    if c == 0:\n        nisa.memset(dst=acc, value=0.0)\n"
        "nisa.dma_copy(dst=y[0:P, 0:1], src=acc)"
    ),
    "a running sum": _COLUMNS + _ADD + "    nisa.dma_copy(dst=y[0:P, c:c + 1], src=acc)",
    "the tile of the iteration before": (
        _COLUMNS + "    nisa.dma_copy(dst=y[0:P, c:c + 1], src=acc)\n    nisa.tensor_copy(dst=acc, src=s)"
    ),
    "only the last tile": _COLUMNS + "    nisa.tensor_copy(dst=acc, src=s)\nnisa.dma_copy(dst=y[0:P, 0:1], src=acc)",
    "a sum over more of a tile than was loaded": (
        _COLUMNS.replace("data=a[0:P, 0:w]", "data=a") + _ADD + "nisa.dma_copy(dst=y[0:P, 0:1], src=acc)"
    ),
}


@pytest.mark.parametrize("name", UNKNOWN_PORTS)
def test_a_port_that_is_not_understood_is_said_not_to_be(name: str) -> None:
    assert _contract(_port(UNKNOWN_PORTS[name])).problem != ""


def test_the_second_half_does_not_replace_the_first() -> None:
    halves = "".join(
        f"for t in range(0, n // 2):\n"
        f"    a = nl.ndarray((1, d), dtype=nl.float32, buffer=nl.sbuf)\n"
        f"    nisa.dma_copy(dst=a, src=x[t + {start}:t + {start} + 1, 0:d])\n"
        f"    nisa.dma_copy(dst=y[t + {start}:t + {start} + 1, 0:d], src=a)\n"
        for start in ("0", "n // 2")
    )
    assert len(_contract(_port(halves)).pieces) == 2
