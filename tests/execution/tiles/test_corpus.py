"""The ports of the corpus, executed: those that are right give what the original computes, the others do not."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.execution.tiles.ports import Arrays, Case, differences, executed, normal, whole

CORPUS = Path(__file__).parents[3] / "corpus"
BF16 = ml_dtypes.bfloat16


@dataclass(frozen=True)
class Pair:
    """What a pair is given and what its original computes; as in `Case`."""

    arguments: Arrays
    reference: Callable[[Arrays], tuple[Any, ...]]
    roundings: float = 0.0
    scale: Callable[[Arrays], Any] | None = None
    precision: Any = None


def wide(array: Any) -> Any:
    return array.astype(np.float64)


def column(values: Any) -> Any:
    return values[:, None]


def rms(x: Any, weight: Any, epsilon: float) -> Any:
    return wide(x) / np.sqrt((wide(x) ** 2).mean(1, keepdims=True) + epsilon) * weight


def layer_norm(x: Any, gain: Any, shift: Any, epsilon: float) -> tuple[Any, Any, Any]:
    mean, deviation = wide(x).mean(1, keepdims=True), 1 / np.sqrt(wide(x).var(1, keepdims=True) + epsilon)
    return (wide(x) - mean) * deviation * gain + shift, mean, deviation


def softmax(x: Any) -> Any:
    power = np.exp(wide(x) - x.max(1, keepdims=True))
    return power / power.sum(1, keepdims=True)


def clipped(given: Arrays) -> tuple[Any]:
    value = given["src"] * np.float32(1.5) + np.float32(0.25)
    return (np.minimum(np.maximum(value, np.float32(-1)), np.float32(1)),)


def silu(given: Arrays) -> tuple[Any]:
    gate = wide(given["gate"])
    return (gate / (1 + np.exp(-gate)) * given["up"],)


def residual(given: Arrays) -> tuple[Any]:
    scaled = np.float32(0.3) * given["branch"].astype(np.float32)
    return (given["x"].astype(np.float32) + scaled,)


def product(left: str, right: str) -> Callable[[Arrays], Any]:
    def sizes(given: Arrays) -> Any:
        first = given[left].T if left == "At" else given[left]
        return np.abs(wide(first)) @ np.abs(wide(given[right]))

    return sizes


def norms(given: Arrays) -> tuple[Any]:
    v = wide(given["v"])
    return (v / np.sqrt((v * v).sum(1, keepdims=True) + 1e-6),)


X = normal(81, 200, 90)
LAYER = {"gain": normal(82, 90), "shift": normal(83, 90), "epsilon": 1e-5}
VECTOR, OTHER = normal(84, 70_001), normal(85, 70_001)
BYTES = whole(86, 0, 256, 10_007, dtype=np.uint8)
LABELS = whole(87, 0, 140, 9000, dtype=np.uint16)


def sum_of(name: str) -> Callable[[Arrays], tuple[Any]]:
    return lambda given: (column(wide(given[name]).sum(1)),)


def size_of(name: str) -> Callable[[Arrays], Any]:
    return lambda given: column(np.abs(wide(given[name])).sum(1))


PAIRS = {
    "elementwise/affine_clip_mask": Pair(
        {"src": VECTOR, "gain": 1.5, "offset": 0.25, "lo": -1.0, "hi": 1.0}, clipped),
    "elementwise/axpy_guard": Pair(
        {"x": VECTOR, "y": OTHER, "alpha": 0.1}, lambda given: (np.float32(0.1) * given["x"] + given["y"],)),
    "elementwise/bf16_residual_scale": Pair(
        {"x": X.astype(BF16), "branch": normal(88, 200, 90, dtype=BF16), "alpha": 0.3}, residual),
    "elementwise/channel_affine_bias_lost": Pair(
        {"x": X, "gamma": normal(82, 90), "beta": normal(83, 90)},
        lambda given: (given["x"] * given["gamma"] + given["beta"],)),
    "elementwise/hadamard_guard_lost": Pair(
        {"a": VECTOR, "b": OTHER}, lambda given: (given["a"] * given["b"],)),
    # sigmoid and two products in float32 besides the result's own rounding
    "elementwise/silu_mul_gridstride": Pair(
        {"gate": X.astype(np.float16), "up": normal(89, 200, 90, dtype=np.float16)}, silu, roundings=1.01),
    "elementwise/sqrelu_half_to_bf16": Pair(
        {"x": X.astype(np.float16)}, lambda given: (np.maximum(wide(given["x"]), 0) ** 2,), roundings=1.01,
        precision=BF16),
    "histogram/block_sums_float_atomic": Pair(
        {"v": VECTOR}, lambda given: (wide(given["v"]).sum().reshape(1, 1),), roundings=1200,
        scale=lambda given: np.abs(wide(given["v"])).sum().reshape(1, 1)),
    "histogram/bytes_shared_atomics": Pair(
        {"data": BYTES}, lambda given: (np.bincount(given["data"], minlength=256).astype(np.int32),)),
    "histogram/dot_partitions_not_combined": Pair(
        {"p": VECTOR, "q": OTHER}, lambda given: (np.dot(wide(given["p"]), given["q"]).reshape(1, 1),), roundings=1200,
        scale=lambda given: np.dot(np.abs(wide(given["p"])), np.abs(given["q"])).reshape(1, 1)),
    "histogram/label_count_last_write": Pair(
        {"labels": LABELS, "classes": 130},
        lambda given: (column(np.bincount(given["labels"], minlength=140)[:130].astype(np.int32)),)),
    "matmul/bf16_tn_legacy": Pair(
        {"At": normal(90, 200, 150, dtype=BF16), "B": normal(91, 200, 600, dtype=BF16)},
        lambda given: (wide(given["At"]).T @ wide(given["B"]),), roundings=1.01, scale=product("At", "B")),
    "matmul/half_tiled_guarded": Pair(
        {"A": normal(90, 150, 200, dtype=np.float16), "B": normal(91, 200, 600, dtype=np.float16)},
        lambda given: (wide(given["A"]) @ wide(given["B"]),), roundings=200, scale=product("A", "B")),
    "row_reduction/l1norm_max": Pair(
        {"mat": X}, lambda given: (column(np.abs(wide(given["mat"])).sum(1)),), roundings=90, scale=size_of("mat")),
    "row_reduction/l2norm_cg_tile": Pair({"v": X, "tiny": 1e-6}, norms, roundings=60),
    "row_reduction/layernorm_rstd_lost": Pair(
        {"x": X, "w": LAYER["gain"], "b": LAYER["shift"], "eps": 1e-5},
        lambda given: layer_norm(given["x"], given["w"], given["b"], 1e-5)),
    "row_reduction/layernorm_two_pass": Pair(
        {"inp": X, **LAYER}, lambda given: layer_norm(given["inp"], given["gain"], given["shift"], 1e-5)[:1],
        roundings=120, scale=lambda given: 4 * (np.abs(given["inp"]) + 1) * (np.abs(given["gain"]) + 1)
        + np.abs(given["shift"])),
    "row_reduction/rmsnorm_floor_tiles": Pair(
        {"x": X, "g": normal(92, 90), "eps": 1e-5}, lambda given: (rms(given["x"], given["g"], 1e-5),), roundings=100),
    "row_reduction/rmsnorm_rows_asserted": Pair(
        {"x": X[:128].astype(BF16), "eps": 1e-5}, lambda given: (rms(given["x"], 1, 1e-5),), roundings=1.01),
    "row_reduction/rmsnorm_two_level": Pair(
        {"x": X.astype(np.float16), "weight": normal(93, 90), "eps": 1e-5},
        lambda given: (rms(given["x"], given["weight"], 1e-5),), roundings=1.02),
    "row_reduction/rowmax_xor": Pair({"logits": X}, lambda given: (column(given["logits"].max(1)),)),
    "row_reduction/rowmean_two_kernels": Pair(
        {"x": X}, lambda given: (column(wide(given["x"]).mean(1)),), roundings=92,
        scale=lambda given: column(np.abs(wide(given["x"])).mean(1))),
    "row_reduction/rowsum_bf16_acc": Pair(
        {"x": normal(94, 200, 900, dtype=BF16)}, sum_of("x"), roundings=6, scale=size_of("x"), precision=BF16),
    "row_reduction/rowsum_double": Pair({"a": X}, sum_of("a"), roundings=90, scale=size_of("a")),
    "row_reduction/rowsum_lanes_not_combined": Pair({"src": X}, sum_of("src"), roundings=90, scale=size_of("src")),
    "row_reduction/rowsum_warp_down": Pair({"m": X}, sum_of("m"), roundings=90, scale=size_of("m")),
    "row_reduction/softmax_tree": Pair({"x": X}, lambda given: (softmax(given["x"]),), roundings=110),
    "transpose/batched_padding_carried": Pair(
        {"x": normal(95, 2, 150, 140, dtype=np.float16)}, lambda given: (given["x"].transpose(0, 2, 1),)),
    "transpose/padded_tile": Pair({"x": X}, lambda given: (given["x"].T,)),
    "transpose/swizzle_carried": Pair({"src": X[:192, :64]}, lambda given: (given["src"].T,)),
}  # fmt: skip


def label_of(name: str) -> str:
    return str(tomllib.loads((CORPUS / name / "expected.toml").read_text(encoding="utf-8"))["label"])


def test_every_pair_is_run() -> None:
    assert set(PAIRS) == {f"{path.parent.parent.name}/{path.parent.name}" for path in CORPUS.glob("*/*/port.py")}


@pytest.mark.parametrize("name", PAIRS)
def test_a_port_gives_what_its_original_computes_unless_it_is_a_mutant(name: str) -> None:
    pair = PAIRS[name]
    text = (CORPUS / name / "port.py").read_text(encoding="utf-8")
    case = Case(name, text, pair.arguments, pair.reference, pair.roundings, pair.scale, pair.precision)
    done = executed(text, pair.arguments)
    assert done.stopped is None
    wrong = [*(event.message for event in done.faults), *differences(case, done)]
    assert bool(wrong) == (label_of(name) == "mutant"), wrong
