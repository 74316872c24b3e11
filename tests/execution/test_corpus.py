"""The kernels of the corpus, executed: bit-equal to references that add in the same order."""

from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from tests.execution.orders import Array, doubling, halving, in_turn, strided
from tests.execution.running import lowered

from portcheck.execution import Execution, Geometry, Options, Uninitialised, run

CORPUS = Path(__file__).parents[2] / "corpus"
BFLOAT16 = ml_dtypes.bfloat16
RANDOM = np.random.default_rng(7)


def floats(*shape: int, dtype: type = np.float32) -> Array:
    return RANDOM.standard_normal(shape, dtype=np.float32).astype(dtype)


def ran(pair: str, geometry: Geometry | None = None, **arguments: object) -> Execution:
    text = (CORPUS / pair / "kernel.cu").read_text(encoding="utf-8")
    done = run(lowered(text), arguments, geometry, Options())
    assert done.faults == ()
    return done


def same(found: Array, wanted: Array) -> None:
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def rsqrt(value: Array) -> Array:
    """Evaluated in float64 and rounded once, as the executor does what no standard defines."""
    return (1 / np.sqrt(value.astype(np.float64))).astype(np.float32)


def exp(value: Array) -> Array:
    return np.exp(value.astype(np.float64)).astype(np.float32)


def test_affine_clip_leaves_the_tail_alone() -> None:
    src, count = floats(3001), 2999
    done = ran(
        "elementwise/affine_clip_mask", Geometry.of(12, 256), dst=np.full(3001, 7, np.float32), src=src, gain=1.5,
        offset=0.25, lo=-1.0, hi=1.0, count=count,
    )  # fmt: skip
    wanted = np.minimum(np.maximum(src * np.float32(1.5) + np.float32(0.25), np.float32(-1)), np.float32(1))
    wanted[count:] = 7
    same(done.arrays["dst"], wanted)


def test_axpy() -> None:
    x, y, n = floats(5000), floats(5000), 4999
    done = ran("elementwise/axpy_guard", x=x, y=y, out=np.zeros(5000, np.float32), alpha=0.1, n=n)
    wanted = np.float32(0.1) * x + y
    wanted[n:] = 0
    same(done.arrays["out"], wanted)


def test_bf16_residual() -> None:
    x, branch = floats(5, 700, dtype=BFLOAT16), floats(5, 700, dtype=BFLOAT16)
    done = ran(
        "elementwise/bf16_residual_scale", Geometry.of((3, 5), 256), x=x, branch=branch, out=Uninitialised((5, 700)),
        alpha=0.3, cols=700,
    )  # fmt: skip
    wanted = x.astype(np.float32) + np.float32(0.3) * branch.astype(np.float32)
    same(done.arrays["out"], wanted.astype(BFLOAT16))


def test_channel_affine() -> None:
    x, gamma, beta, y = floats(45, 70), floats(70), floats(70), Uninitialised((45, 70))
    geometry = Geometry.of((3, 6), (32, 8))
    sizes = {"rows": 45, "channels": 70}
    done = ran("elementwise/channel_affine_bias_lost", geometry, x=x, gamma=gamma, beta=beta, y=y, **sizes)
    same(done.arrays["y"], x * gamma + beta)


def test_hadamard() -> None:
    a, b = floats(1500), floats(1500)
    same(ran("elementwise/hadamard_guard_lost", a=a, b=b, c=Uninitialised((1500,)), n=1500).arrays["c"], a * b)


def test_silu_in_half() -> None:
    gate, up = floats(9000, dtype=np.float16), floats(9000, dtype=np.float16)
    done = ran(
        "elementwise/silu_mul_gridstride", Geometry.of(4, 512), gate=gate, up=up, y=Uninitialised((9000,)), total=9000
    )
    wide = gate.astype(np.float32)
    silu = wide / (np.float32(1) + exp(-wide))
    same(done.arrays["y"], (silu * up.astype(np.float32)).astype(np.float16))


def test_squared_relu() -> None:
    given = floats(2000, dtype=np.float16)
    done = ran("elementwise/sqrelu_half_to_bf16", **{"in": given}, act=Uninitialised((2000,)), n=2000)
    positive = np.maximum(given.astype(np.float32), 0)
    same(done.arrays["act"], (positive * positive).astype(np.float16))


def test_total_by_float_atomics() -> None:
    v, blocks = floats(20_001), 7
    done = ran(
        "histogram/block_sums_float_atomic", Geometry.of(blocks, 256), v=v, total=np.zeros(1, np.float32), n=20_001
    )
    own = strided(v[None], blocks * 256).reshape(blocks, 8, 32)
    same(done.arrays["total"], in_turn(in_turn(halving(own)))[None])


def test_byte_histogram() -> None:
    data = RANDOM.integers(0, 256, 10_007).astype(np.uint8)
    done = ran("histogram/bytes_shared_atomics", Geometry.of(9, 256), data=data, hist=np.zeros(256, np.int32), n=10_007)
    same(done.arrays["hist"], np.bincount(data, minlength=256).astype(np.int32))


def test_dot_product() -> None:
    p, q = floats(6007), floats(6007)
    done = ran(
        "histogram/dot_partitions_not_combined", Geometry.of(5, 256), p=p, q=q, out=np.zeros(1, np.float32), n=6007
    )
    own = strided((p * q)[None], 5 * 256).reshape(5, 256)
    same(done.arrays["out"], in_turn(halving(own))[None])


def test_label_counts() -> None:
    labels = RANDOM.integers(0, 12, 3000).astype(np.uint16)
    done = ran("histogram/label_count_last_write", labels=labels, counts=np.zeros(10, np.int32), n=3000, classes=10)
    same(done.arrays["counts"], np.bincount(labels, minlength=12)[:10].astype(np.int32))


def product(left: Array, right: Array) -> Array:
    """Float32 products added from the first to the last."""
    total = np.zeros((left.shape[0], right.shape[1]), np.float32)
    for term in range(left.shape[1]):
        total += left[:, term, None] * right[None, term]
    return total


def test_matmul_of_a_transposed_bf16() -> None:
    at, b = floats(70, 45, dtype=BFLOAT16), floats(70, 50, dtype=BFLOAT16)
    done = ran(
        "matmul/bf16_tn_legacy", Geometry.of((2, 2), (32, 32)), At=at, B=b, C=Uninitialised((45, 50)), m=45, n=50, k=70
    )
    wanted = product(at.astype(np.float32).T, b.astype(np.float32))
    same(done.arrays["C"], wanted.astype(BFLOAT16))


def test_matmul_of_halves_in_tiles() -> None:
    a, b = floats(37, 41, dtype=np.float16), floats(41, 29, dtype=np.float16)
    done = ran("matmul/half_tiled_guarded", A=a, B=b, C=Uninitialised((37, 29)), M=37, N=29, K=41)
    same(done.arrays["C"], product(a.astype(np.float32), b.astype(np.float32)))


def test_l1_norms_by_a_butterfly() -> None:
    mat = floats(33, 100)
    done = ran("row_reduction/l1norm_max", Geometry.of(5, 256), mat=mat, norm=Uninitialised((33,)), r=33, c=100)
    same(done.arrays["norm"], doubling(strided(np.abs(mat), 32)))


def test_l2_norms_by_a_group_of_lanes() -> None:
    v = floats(35, 77)
    done = ran("row_reduction/l2norm_cg_tile", v=v, u=Uninitialised(v.shape), count=35, dim=77, tiny=1e-6)
    inverse = rsqrt(halving(strided(v * v, 32)) + np.float32(1e-6))
    same(done.arrays["u"], v * inverse[:, None])


@pytest.mark.parametrize("pair", ["layernorm_rstd_lost", "layernorm_two_pass"])
def test_layer_norms(pair: str) -> None:
    rows, width, epsilon = 9, 300, np.float32(1e-5)
    x, gain, shift = floats(rows, width), floats(width), floats(width)
    if pair == "layernorm_two_pass":
        threads, output = 128, "outp"
        done = ran(
            f"row_reduction/{pair}", inp=x, gain=gain, shift=shift, outp=Uninitialised(x.shape), rows=rows,
            width=width, epsilon=float(epsilon),
        )  # fmt: skip
    else:
        threads, output = 256, "y"
        done = ran(
            f"row_reduction/{pair}", y=Uninitialised(x.shape), mean=Uninitialised((rows,)),
            rstd=Uninitialised((rows,)), x=x, w=gain, b=shift, c=width, rows=rows, eps=float(epsilon),
        )  # fmt: skip
    mean = (halving(strided(x, threads)) / np.float32(width))[:, None]
    centred = x - mean
    deviation = rsqrt(halving(strided(centred * centred, threads)) / np.float32(width) + epsilon)[:, None]
    same(done.arrays[output], centred * deviation * gain + shift)


def test_rmsnorm_with_weight() -> None:
    x, g, width = floats(33, 1000), floats(1000), 1000
    done = ran("row_reduction/rmsnorm_floor_tiles", x=x, g=g, y=Uninitialised(x.shape), n=33, d=width, eps=1e-5)
    warps = halving(strided(x * x, 256).reshape(33, 8, 32))
    total = halving(np.pad(warps, ((0, 0), (0, 24))))
    same(done.arrays["y"], x * rsqrt(total / np.float32(width) + np.float32(1e-5))[:, None] * g)


def test_rmsnorm_in_bf16() -> None:
    x, width = floats(20, 333, dtype=BFLOAT16), 333
    done = ran("row_reduction/rmsnorm_rows_asserted", x=x, y=Uninitialised(x.shape), rows=20, n=width, eps=1e-5)
    wide = x.astype(np.float32)
    total = in_turn(doubling(strided(wide * wide, 256).reshape(20, 8, 32)))
    factor = rsqrt(total / np.float32(width) + np.float32(1e-5))
    same(done.arrays["y"], (wide * factor[:, None]).astype(BFLOAT16))


def test_rmsnorm_in_half_by_two_levels() -> None:
    x, weight, width = floats(11, 700, dtype=np.float16), floats(700), 700
    done = ran(
        "row_reduction/rmsnorm_two_level", out=Uninitialised(x.shape), **{"in": x}, weight=weight, hidden=width,
        tokens=11, eps=1e-5,
    )  # fmt: skip
    wide = x.astype(np.float32)
    warps = halving(strided(wide * wide, 512).reshape(11, 16, 32))
    total = halving(np.pad(warps, ((0, 0), (0, 16))))
    factor = rsqrt(total / np.float32(width) + np.float32(1e-5))
    same(done.arrays["out"], (wide * factor[:, None] * weight).astype(np.float16))


def test_row_maxima() -> None:
    logits = floats(50, 90)
    done = ran(
        "row_reduction/rowmax_xor", Geometry.of(7, 256), logits=logits, peak=Uninitialised((50,)), nrow=50, ncol=90
    )
    same(done.arrays["peak"], logits.max(axis=1))


def test_row_sums_of_bf16() -> None:
    given = floats(13, 600, dtype=BFLOAT16)
    done = ran("row_reduction/rowsum_bf16_acc", **{"in": given}, out=Uninitialised((13,)), rows=13, cols=600)
    same(done.arrays["out"], halving(strided(given.astype(np.float32), 256)))


def test_row_sums_in_double() -> None:
    a = floats(6, 1111)
    done = ran("row_reduction/rowsum_double", a=a, out=Uninitialised((6,)), nrows=6, ncols=1111)
    same(done.arrays["out"], halving(strided(a.astype(np.float64), 256)).astype(np.float32))


@pytest.mark.parametrize(
    ("pair", "names"),
    [
        ("rowsum_lanes_not_combined", ("src", "dst", "rows", "len")),
        ("rowsum_warp_down", ("m", "sums", "rows", "cols")),
    ],
)
def test_row_sums_by_shuffles(pair: str, names: tuple[str, ...]) -> None:
    given = floats(37, 100)
    values = (given, Uninitialised((37,)), 37, 100)
    done = ran(f"row_reduction/{pair}", **dict(zip(names, values, strict=True)))
    same(done.arrays[names[1]], halving(strided(given, 32)))


def test_softmax_by_trees() -> None:
    x = floats(12, 500)
    done = ran("row_reduction/softmax_tree", x=x, y=Uninitialised(x.shape), rows=12, n=500)
    raised = exp(x - x.max(axis=1, keepdims=True))
    same(done.arrays["y"], raised / halving(strided(raised, 256))[:, None])


TRANSPOSES: tuple[tuple[str, Callable[[], dict[str, object]]], ...] = (
    (
        "batched_padding_carried",
        lambda: {"in": floats(3, 50, 70, dtype=np.float16), "rows": 50, "cols": 70, "batch": 3},
    ),
    ("padded_tile", lambda: {"in": floats(1, 45, 100), "h": 45, "w": 100}),
    ("swizzle_carried", lambda: {"src": floats(1, 64, 96), "h": 64, "w": 96}),
)


@pytest.mark.parametrize(("pair", "make"), TRANSPOSES, ids=[pair for pair, _ in TRANSPOSES])
def test_transposes(pair: str, make: Callable[[], dict[str, object]]) -> None:
    arguments = make()
    given = next(value for value in arguments.values() if isinstance(value, np.ndarray))
    output = "dst" if "src" in arguments else "out"
    shape = (given.shape[0], given.shape[2], given.shape[1])
    done = ran(f"transpose/{pair}", **arguments, **{output: Uninitialised(shape)})
    same(done.arrays[output], given.transpose(0, 2, 1))
