"""What a contract claims is what the kernel computes: at sizes that divide no tile, against references in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest
from tests.values.numeric import NotEvaluableError, Numbers, output_of
from tests.values.reading import corpus, kernel, nki

from portcheck.values import Contract, Evaluated

ROWS, COLS, LENGTH = 300, 515, 5003
EPS = 1e-2
_random = np.random.default_rng(20)


def _array(*shape: int) -> np.ndarray:
    return _random.standard_normal(shape)


X, X2, V, V2 = _array(ROWS, COLS), _array(ROWS, COLS), _array(LENGTH), _array(LENGTH)
W, B = _array(COLS), _array(COLS)
A_KM, B_KN, A_MK = _array(35, 70), _array(35, 45), _array(70, 35)
CUBE = _array(3, 70, 45)


def _exp_rows(x: np.ndarray) -> np.ndarray:
    return np.exp(x - x.max(axis=1, keepdims=True))


def _rms(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + EPS)


def _norm(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + EPS)


def _silu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))


def _floor_tiles(x: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[ROWS // 128 * 128 :] = np.nan
    return result


@dataclass(frozen=True)
class Case:
    slug: str
    output: str
    buffers: dict[str, np.ndarray]
    cuda: np.ndarray | None
    nki: np.ndarray | None
    sizes: dict[str, int] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)


def _row_sizes(rows: str, cols: str, *others: str) -> dict[str, int]:
    return {rows: ROWS, cols: COLS, "rows": ROWS, **dict.fromkeys(others, COLS)}


_AFFINE = {"gain": 1.5, "offset": 0.25, "lo": -1.0, "hi": 1.25}
_CLIPPED = np.clip(V * 1.5 + 0.25, -1.0, 1.25)
_SIZE = {"n": LENGTH, "count": LENGTH}
_LN = (_norm(X) * W + B, _row_sizes("tokens", "width", "w.shape[1]", "b.shape[1]", "c"))
CASES = [
    Case("elementwise/affine_clip_mask", "dst", {"src": V}, _CLIPPED, _CLIPPED, _SIZE, _AFFINE),
    Case("elementwise/axpy_guard", "out", {"x": V, "y": V2}, 2 * V + V2, 2 * V + V2, _SIZE, {"alpha": 2.0}),
    Case(
        "elementwise/bf16_residual_scale", "out", {"x": X, "branch": X2}, X + 2 * X2, X + 2 * X2,
        _row_sizes("rows", "cols", "branch.shape[1]"), {"alpha": 2.0},
    ),
    Case(
        "elementwise/channel_affine_bias_lost", "y", {"x": X, "gamma": W, "beta": B}, X * W + B, X * W,
        _row_sizes("rows", "channels", "gamma.shape[1]"),
    ),
    Case("elementwise/hadamard_guard_lost", "c", {"a": V, "b": V2}, V * V2, None, _SIZE),
    Case(
        "elementwise/silu_mul_gridstride", "y", {"gate": X, "up": X2}, _silu(X) * X2, _silu(X) * X2,
        {"total": ROWS * COLS, "tokens": ROWS, "width": COLS, "up.shape[0]": ROWS, "up.shape[1]": COLS},
    ),
    Case(
        "elementwise/sqrelu_half_to_bf16", "act", {"in": X, "x": X}, np.maximum(X, 0) ** 2, np.maximum(X, 0) ** 2,
        {"n": ROWS * COLS, **_row_sizes("rows", "cols")},
    ),
    Case("histogram/block_sums_float_atomic", "total", {"v": V, "total": np.zeros(1)}, V.sum(), V.sum(), _SIZE),
    Case(
        "histogram/dot_partitions_not_combined", "out", {"p": V, "q": V2, "out": np.zeros(1)}, V @ V2,
        V[:512] @ V2[:512], {"n": LENGTH, "q.shape[0]": LENGTH},
    ),
    Case(
        "matmul/bf16_tn_legacy", "C", {"At": A_KM, "B": B_KN}, A_KM.T @ B_KN, A_KM.T @ B_KN,
        {"k": 35, "k2": 35, "m": 70, "n": 45},
    ),
    Case(
        "matmul/half_tiled_guarded", "C", {"A": A_MK, "B": B_KN}, A_MK @ B_KN, A_MK @ B_KN,
        {"K": 35, "Kb": 35, "M": 70, "N": 45},
    ),
    Case(
        "row_reduction/l1norm_max", "norm", {"mat": X}, np.abs(X).sum(axis=1), np.abs(X).max(axis=1),
        _row_sizes("r", "c"),
    ),
    Case(
        "row_reduction/l2norm_cg_tile", "u", {"v": X},
        X / np.sqrt((X**2).sum(axis=1, keepdims=True) + EPS), X / np.sqrt((X**2).sum(axis=1, keepdims=True) + EPS),
        _row_sizes("count", "dim"), {"tiny": EPS},
    ),
    Case("row_reduction/layernorm_rstd_lost", "y", {"x": X, "w": W, "b": B}, _LN[0], _LN[0], _LN[1], {"eps": EPS}),
    Case("row_reduction/layernorm_rstd_lost", "mean", {"x": X}, X.mean(axis=1), X.mean(axis=1), _LN[1], {"eps": EPS}),
    Case(
        "row_reduction/layernorm_rstd_lost", "rstd", {"x": X}, 1 / np.sqrt(X.var(axis=1) + EPS), None, _LN[1],
        {"eps": EPS},
    ),
    Case(
        "row_reduction/layernorm_two_pass", "outp", {"inp": X, "gain": W, "shift": B}, _LN[0], _LN[0],
        _row_sizes("rows", "width", "gain.shape[1]", "shift.shape[1]"), {"epsilon": EPS},
    ),
    Case(
        "row_reduction/rmsnorm_floor_tiles", "y", {"x": X, "g": W}, _rms(X) * W, _floor_tiles(_rms(X) * W),
        _row_sizes("n", "d", "g.shape[1]"), {"eps": EPS},
    ),
    Case("row_reduction/rmsnorm_rows_asserted", "y", {"x": X}, _rms(X), None, _row_sizes("rows", "n"), {"eps": EPS}),
    Case(
        "row_reduction/rmsnorm_two_level", "out", {"in": X, "x": X, "weight": W}, _rms(X) * W, _rms(X) * W,
        _row_sizes("tokens", "hidden", "weight.shape[0]"), {"eps": EPS},
    ),
    Case(
        "row_reduction/rowmax_xor", "peak", {"logits": X}, X.max(axis=1), X.max(axis=1), _row_sizes("nrow", "ncol")
    ),
    Case("row_reduction/rowsum_bf16_acc", "out", {"in": X, "x": X}, X.sum(1), X.sum(1), _row_sizes("rows", "cols")),
    Case("row_reduction/rowsum_double", "out", {"a": X}, X.sum(1), X.sum(1), _row_sizes("nrows", "ncols")),
    Case(
        "row_reduction/rowsum_lanes_not_combined", "dst", {"src": X}, X.sum(1), X[:, ::32].sum(1),
        {"len": COLS, "length": COLS, "rows": ROWS},
    ),
    Case("row_reduction/rowsum_warp_down", "sums", {"m": X}, X.sum(1), X.sum(1), _row_sizes("rows", "cols")),
    Case(
        "row_reduction/softmax_tree", "y", {"x": X}, _exp_rows(X) / _exp_rows(X).sum(axis=1, keepdims=True),
        _exp_rows(X) / _exp_rows(X).sum(axis=1, keepdims=True), _row_sizes("rows", "n"),
    ),
    Case(
        "transpose/batched_padding_carried", "out", {"in": CUBE, "x": CUBE}, CUBE.transpose(0, 2, 1),
        CUBE.transpose(0, 2, 1), {"batch": 3, "rows": 70, "cols": 45},
    ),
    Case("transpose/padded_tile", "out", {"in": X, "x": X}, X.T, X.T, {"h": ROWS, "w": COLS}),
]  # fmt: skip


@cache
def _corpus(slug: str, side: str) -> Evaluated:
    return corpus(slug, side)


def _covering(case: Case) -> dict[str, int]:
    """Launch sizes that cover every element with some to spare."""
    grid = {f"gridDim.{letter}": 700 for letter in "xyz"}
    host = {"host((rows + b.y - 1) / b.y)": 60, "host((channels + b.x - 1) / b.x)": 60, "blocks": 700}
    return {**grid, **host, "blockDim.x": 128, "warps": 4, **case.sizes}


def _contract(evaluated: Evaluated, output: str) -> Contract:
    contract = evaluated.contract(output)
    assert contract is not None, [found.output for found in evaluated.contracts]
    return contract


def _close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, np.ravel(expected), rtol=1e-9, atol=1e-9, equal_nan=True)


SIDES = [
    pytest.param(case, side, expected, id=f"{case.slug.split('/')[1]}-{case.output}-{side}")
    for case in CASES
    for side, expected in (("cuda", case.cuda), ("nki", case.nki))
    if expected is not None  # this side has no such output, or asserts sizes that these are not
]


@pytest.mark.parametrize(("case", "side", "expected"), SIDES)
def test_what_is_claimed_of_a_corpus_kernel_is_what_it_computes(case: Case, side: str, expected: np.ndarray) -> None:
    numbers = Numbers(_covering(case), case.scalars, case.buffers)
    _close(output_of(_contract(_corpus(case.slug, side), case.output), np.size(expected), numbers), expected)


def test_a_port_that_lost_its_guard_writes_out_of_bounds() -> None:
    contract = _contract(_corpus("elementwise/hadamard_guard_lost", "nki"), "c")
    with pytest.raises(NotEvaluableError, match="out of bounds"):
        output_of(contract, LENGTH, Numbers({"n": LENGTH}, {}, {"a": V, "b": V2}))


def test_rows_that_a_port_asserts_to_divide_are_all_computed() -> None:
    x = X[:256]
    contract = _contract(_corpus("row_reduction/rmsnorm_rows_asserted", "nki"), "y")
    _close(output_of(contract, x.size, Numbers({"rows": 256, "n": COLS}, {"eps": EPS}, {"x": x})), _rms(x))


@dataclass(frozen=True)
class Snippet:
    name: str
    body: str
    expected: Callable[[np.ndarray], np.ndarray]
    block: str = "256"
    grid: str = "(n + 255) / 256"
    problem: str = ""
    length: int = LENGTH


def _tree(guard: str = "i < d", first: str = "128", test: str = "d > 0", final: str = "s[0]") -> str:
    return (
        f"__shared__ float s[256]; s[i] = t < n ? x[t] : 0.f; __syncthreads();"
        f"for (int d = {first}; {test}; d >>= 1) {{ if ({guard}) s[i] += s[i + d]; __syncthreads(); }}"
        f"if (i == 0) y[blockIdx.x] = {final};"
    )


def _blocks(x: np.ndarray, size: int) -> np.ndarray:
    return np.pad(x, (0, -x.size % size)).reshape(-1, size)


def _without_thread_3(x: np.ndarray) -> np.ndarray:
    blocks = _blocks(x, 256).copy()
    for distance in (128, 64, 32, 16, 8, 4, 2, 1):
        taking_part = [thread for thread in range(distance) if thread != 3]
        blocks[:, taking_part] += blocks[:, [thread + distance for thread in taking_part]]
    return blocks[:, 0]


def _swapped(x: np.ndarray) -> np.ndarray:
    pairs = x[: x.size // 2 * 2].reshape(-1, 2)
    return np.concatenate([pairs[:, ::-1].ravel(), x[pairs.size :]])


SNIPPETS = [
    Snippet("reversed", "if (t < n) y[n - 1 - t] = x[t];", lambda x: x[::-1]),
    Snippet("early return", "if (t >= n) return; y[t] = x[t] * x[t];", lambda x: x * x),
    Snippet(
        "grid stride", "for (int k = t; k < n; k += gridDim.x * blockDim.x) y[k] = fabsf(x[k]);", np.abs, grid="7"
    ),
    Snippet(
        "two stores, the second for some",
        "if (t < n) { y[t] = x[t]; if (x[t] < 0.f) y[t] = 0.f; }",
        lambda x: np.maximum(x, 0),
    ),
    Snippet(
        "even and odd threads differ", "if (t < n) { if (t & 1) y[t] = x[t]; else y[t] = -x[t]; }",
        lambda x: np.where(np.arange(x.size) % 2, x, -x),
    ),
    Snippet(
        "even and odd elements by two stores", "if (t < n) { y[2 * t] = x[t]; y[2 * t + 1] = -x[t]; }",
        lambda x: np.stack([x, -x], axis=1),
    ),
    Snippet(
        "an element and its neighbour", "if (t == 0) { y[0] = x[0]; y[1] = x[1]; }", lambda x: x[:2]
    ),
    Snippet("halving tree", _tree(), lambda x: _blocks(x, 256).sum(axis=1)),
    Snippet(
        "halving tree that stops early", _tree(test="d > 2", final="s[0] + s[1] + s[2] + s[3]"),
        lambda x: _blocks(x, 256).sum(axis=1),
    ),
    Snippet(
        "halving tree that stops at a number between two distances",
        _tree(test="d > 3", final="s[0] + s[1] + s[2] + s[3]"), lambda x: _blocks(x, 256).sum(axis=1),
    ),
    Snippet(
        "halving tree in which one thread does not take part",
        _tree(guard="i < d && i != 3"),
        _without_thread_3,
        problem="a loop with a step that is not followed"),
    Snippet(
        "loop that runs no tree step", _tree(first="16", test="d > 32"), lambda x: _blocks(x, 256)[:, 0],
        problem="a loop with a step that is not followed"),
    Snippet(
        "reset in the first iteration",
        "if (t < n) for (int k = 0; k < 8; k++) { y[t] = x[t]; if (k == 0) y[t] = 0.f; }", lambda x: x,
        problem="iterations of a loop overwrite each other's elements of y"),
    Snippet(
        "a loop of no iterations changes nothing",
        "if (t < n) { y[t] = x[t]; for (int k = 8; k < n - 100000; k++) y[t] = 5.f; }", lambda x: x,
    ),
    Snippet(
        "warp butterfly over eight lanes",
        "float v = t < n ? x[t] : 0.f; for (int o = 4; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o);"
        "if (t < n) y[t] = v;",
        lambda x: np.repeat(_blocks(x, 8).sum(axis=1), 8)[: x.size],
    ),
    Snippet(
        "broadcast of lane 0 of half a warp",
        "float v = t < n ? x[t] : 0.f; v = __shfl_sync(~0u, v, 0, 16); if (t < n) y[t] = v;",
        lambda x: np.repeat(x[::16], 16)[: x.size],
        problem="a shuffle among part of a warp is not followed yet"),
    Snippet(
        "a reduction in which eight lanes take part",
        "int v = t < n ? t : 0; v = __reduce_add_sync(0xffu, v); if (t < n) y[t] = v;",
        lambda x: x, problem="a shuffle in which some lanes take no part is not followed yet",
    ),
    Snippet(
        "a block that is no multiple of a warp", "if (t < n) y[t] = x[t] * (i % 32);",
        lambda x: x * (np.arange(x.size) % 48 % 32), block="48", grid="(n + 47) / 48",
    ),
    Snippet(
        "a block smaller than a warp", "if (t < n) y[t] = x[t] * (i % 32);",
        lambda x: x * (np.arange(x.size) % 16), block="16", grid="(n + 15) / 16",
    ),
    Snippet(
        "a range check by an unsigned comparison",
        "if (t < n) { if ((unsigned)(t - 1) < (unsigned)(n - 2)) y[t] = x[t]; else y[t] = 0.f; }",
        lambda x: np.concatenate([[0.0], x[1:-1], [0.0]]),
        problem="an unsigned number that may have wrapped"),
    Snippet(
        "an index narrowed to a byte", "if (t < n) { unsigned char c = (unsigned char)t; y[t] = x[c]; }",
        lambda x: x[np.arange(x.size) % 256],
        problem="an index depends on data"),
    Snippet(
        "an index that is a rounded root", "if (t < n) y[t] = x[(int)sqrtf((float)n)];",
        lambda x: np.full(x.size, x[70]),
        problem="an index depends on data"),
    Snippet("counting down",
            "if (t < 1) { float a = 0.f; for (int k = n; k > 0; k -= 3) a += k * x[k - 1]; y[t] = a; }",
            lambda x: np.array([sum(k * x[k - 1] for k in range(x.size, 0, -3))])),
    Snippet("in place", "if (t < n) y[t] += x[t];", lambda x: x + 1.0),
    Snippet("atomic total", "if (t < n) atomicAdd(y, x[t]);", lambda x: np.array([x.sum() + 1.0])),
    Snippet("least by comparison",
            "if (t < 1) { float a = x[0]; for (int k = 1; k < n; k++) a = a > x[k] ? x[k] : a; y[t] = a; }",
            lambda x: np.array([x.min()])),
    Snippet("neighbour by exclusive or", "if (t < n - n % 2) y[t] = x[t ^ 1]; else if (t < n) y[t] = x[t];", _swapped),
    Snippet("the last column of each row of seven", "if (t < n / 7) y[t] = x[t * 7 + 6];",
            lambda x: x[: x.size // 7 * 7].reshape(-1, 7)[:, 6]),
]  # fmt: skip


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[snippet.name for snippet in SNIPPETS])
def test_what_is_claimed_of_a_small_kernel_is_what_it_computes_or_nothing_is_claimed(snippet: Snippet) -> None:
    """A contract with a problem claims nothing; a wrong one fails here."""
    contract = _contract(kernel(snippet.body, snippet.block, grid=snippet.grid), "y")
    assert contract.problem == snippet.problem
    if contract.problem:
        return
    expected = snippet.expected(V)
    numbers = Numbers({"n": LENGTH, "blockDim.x": 256, "gridDim.x": 20}, {}, {"x": V, "y": np.ones(2 * LENGTH)})
    _close(output_of(contract, np.size(expected), numbers), expected)


def test_a_port_with_a_main_part_and_a_remainder_covers_all_elements_once() -> None:
    evaluated = nki(
        "def k(x):\n"
        "    n = x.shape[0]\n"
        "    y = nl.ndarray((n,), dtype=x.dtype, buffer=nl.shared_hbm)\n"
        "    for t in range(0, n, 128):\n"
        "        m = min(128, n - t)\n"
        "        tile = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)\n"
        "        nisa.dma_copy(dst=tile[0:m, 0:1], src=x[t:t + m].reshape((m, 1)))\n"
        "        nisa.dma_copy(dst=y[t:t + m].reshape((m, 1)), src=tile[0:m, 0:1])\n"
        "    return y\n"
    )
    _close(output_of(_contract(evaluated, "y"), LENGTH, Numbers({"n": LENGTH}, {}, {"x": V})), V)
