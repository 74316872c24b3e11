"""llm.c, dev/cuda: attention, from the plain kernels to the fused ones."""

from __future__ import annotations

import numpy as np
from tools.public_kernels.arithmetic import FLOAT32, FLOAT64, Arithmetic, Number
from tools.public_kernels.case import Array, Case, Expected, Run, blocks_for
from tools.public_kernels.inputs import normal, untouched
from tools.public_kernels.llmc_elementwise import heads_apart
from tools.public_kernels.llmc_norms import LIBRARY
from tools.public_kernels.orders import Order, sequential, strided


def causal(time: int) -> Array:
    return np.tril(np.ones((time, time), bool))


def products(arithmetic: Arithmetic, left: Array, right: Array, order: Order) -> Number:
    """(..., T, S) from (..., T, n) and (..., S, n)."""
    a, b = arithmetic.of(left)[..., :, None, :], arithmetic.of(right)[..., None, :, :]
    return (a * b).sum(order)[..., 0]


def scaled_in_double(scores: Number, size: int) -> Number:
    """scores *= 1.0 / sqrtf(size): the product is formed in double and rounded."""
    root = scores.arithmetic.constant(size).call("sqrtf").to(FLOAT64)
    one = scores.arithmetic.constant(1.0, FLOAT64)
    return (scores.to(FLOAT64) * (one / root)).to(FLOAT32)


def weighted(attention: Number, values: Array, time: int) -> Number:
    """Sum over the visible positions, one after the other, of attention (..., T, S) times values (..., S, n)."""
    v = attention.arithmetic.of(np.swapaxes(values, -1, -2))[..., None, :, :]
    terms = attention[..., :, None, :] * v
    seen = np.broadcast_to(causal(time)[:, None, :], terms.shape)
    none = attention.arithmetic.of(np.zeros(terms.shape, np.float32))
    return terms.where(seen, none).sum((sequential(),))[..., 0]


def query_key(random: np.random.Generator, batch: int, time: int, heads: int, size: int, block: int) -> Run:
    inputs = normal(random, batch, time, 3, heads, size)
    q, k, _ = heads_apart(inputs)
    hidden = np.broadcast_to(~causal(time), (batch, heads, time, time))

    def reference(arithmetic: Arithmetic) -> Expected:
        scores = scaled_in_double(products(arithmetic, q, k, (sequential(),)), size)
        return {"preatt": arithmetic.of(np.full(hidden.shape, -np.inf, np.float32)).where(hidden, scores)}

    return Run(
        grid=(blocks_for(hidden.size, block),), block=(block,), reference=reference,
        arguments={
            "preatt": untouched(*hidden.shape), "inp": inputs, "B": batch, "T": time, "C": heads * size, "NH": heads,
        },
    )  # fmt: skip


def row_softmax(arithmetic: Arithmetic, scores: Number, time: int, order: Order) -> Number:
    """Softmax over the visible positions as exp(x - max) * (1 / sum); the others are 0."""
    seen = np.broadcast_to(causal(time), scores.shape)
    low = arithmetic.of(np.full(scores.shape, -np.inf, np.float32))
    masked = scores.where(seen, low)
    powers = (masked - masked.largest()).call("expf")
    zero = arithmetic.of(np.zeros(scores.shape, np.float32))
    powers = powers.where(seen, zero)
    return (powers * (1.0 / powers.sum(order))).where(seen, zero)


def softmax(random: np.random.Generator, batch: int, time: int, heads: int, block: int) -> Run:
    inputs = normal(random, batch, heads, time, time)

    def reference(arithmetic: Arithmetic) -> Expected:
        return {"att": row_softmax(arithmetic, arithmetic.of(inputs), time, (sequential(),))}

    return Run(
        grid=(blocks_for(batch * time * heads, block),), block=(block,), reference=reference,
        arguments={"att": untouched(*inputs.shape), "preatt": inputs, "B": batch, "T": time, "NH": heads},
    )  # fmt: skip


def value(random: np.random.Generator, batch: int, time: int, heads: int, size: int, block: int) -> Run:
    inputs, attention = normal(random, batch, time, 3, heads, size), abs(normal(random, batch, heads, time, time))
    _, _, v = heads_apart(inputs)

    def reference(arithmetic: Arithmetic) -> Expected:
        result = weighted(arithmetic.of(attention), v, time)
        return {"out": result.moved(lambda array: array.transpose(0, 2, 1, 3))}

    return Run(
        grid=(blocks_for(batch * time * heads, block),), block=(block,), reference=reference,
        arguments={
            "out": untouched(batch, time, heads * size), "att": attention, "inp": inputs, "B": batch, "T": time,
            "C": heads * size, "NH": heads,
        },
    )  # fmt: skip


def scale(random: np.random.Generator, batch: int, heads: int, time: int, block: int) -> Run:
    inputs = normal(random, batch, heads, time, time)
    factor = np.float32(0.3)

    def reference(arithmetic: Arithmetic) -> Expected:
        low = arithmetic.of(np.full(inputs.shape, -np.inf, np.float32))
        seen = np.broadcast_to(causal(time), inputs.shape)
        return {"inp": (arithmetic.of(inputs) * arithmetic.of(factor)).where(seen, low)}

    return Run(
        grid=(blocks_for(inputs.size, block),), block=(block,), reference=reference,
        arguments={"inp": inputs, "scale": factor, "B": batch, "NH": heads, "T": time},
    )  # fmt: skip


def fused(random: np.random.Generator, batch: int, time: int, heads: int, size: int, block: int) -> Run:
    inputs = normal(random, batch, time, 3, heads, size)
    q, k, v = heads_apart(inputs)
    seen = np.broadcast_to(causal(time), (batch, heads, time, time))
    before = untouched(*seen.shape)
    order = (strided(32), LIBRARY)

    def reference(arithmetic: Arithmetic) -> Expected:
        root = arithmetic.constant(size).call("sqrtf").to(FLOAT64)
        factor = (arithmetic.constant(1.0, FLOAT64) / root).to(FLOAT32)
        scores = products(arithmetic, q, k, order) * factor
        attention = row_softmax(arithmetic, scores, time, order)
        old = arithmetic.of(before)
        return {
            "preatt": scores.where(seen, old),
            "att": attention.where(seen, old),
            "out": weighted(attention, v, time).moved(lambda array: array.transpose(0, 2, 1, 3)),
        }

    return Run(
        grid=(blocks_for(time, block // 32), heads, batch), block=(block,), reference=reference,
        arguments={
            "out": untouched(batch, time, heads * size), "preatt": before, "att": before.copy(), "inp": inputs,
            "B": batch, "T": time, "C": heads * size, "NH": heads,
        },
    )  # fmt: skip


def flash(random: np.random.Generator, batch: int, time: int, heads: int, size: int) -> Run:
    """Tiles of 32 keys; running maximum m, sum l and output are rescaled at every tile."""
    q, k, v = (normal(random, batch, heads, time, size) for _ in range(3))
    shape = (batch, heads, time)
    start = np.full(shape, -np.inf, np.float32)
    factor = np.float32(1 / np.sqrt(size))

    def reference(arithmetic: Arithmetic) -> Expected:
        scores = products(arithmetic, q, k, (sequential(),)) * arithmetic.of(factor)
        low = arithmetic.of(np.full(scores.shape, -np.inf, np.float32))
        scores = scores.where(np.broadcast_to(causal(time), scores.shape), low)
        m, total, output = arithmetic.of(start[..., None]), arithmetic.of(np.zeros((*shape, 1), np.float32)), None
        for first in range(0, time, 32):
            tile = slice(first, first + 32)
            m, total, output = tile_added(arithmetic, scores[..., tile], v[..., tile, :], m, total, output)
        assert output is not None
        return {"O": output, "m": m[..., 0], "l": total[..., 0]}

    tiles = blocks_for(time, 32)
    return Run(
        grid=(batch, heads), block=(32,), shared_bytes=4 * (3 * 32 * size + 32 * 32), reference=reference,
        arguments={
            "Q": q, "K": k, "V": v, "N": time, "d": size, "Tc": tiles, "Tr": tiles, "Bc": 32, "Br": 32,
            "softmax_scale": factor, "l": np.zeros(shape, np.float32), "m": start,
            "O": np.zeros((*shape, size), np.float32),
        },
    )  # fmt: skip


def tile_added(
    arithmetic: Arithmetic, scores: Number, values: Array, m: Number, sum_before: Number, output: Number | None
) -> tuple[Number, Number, Number]:
    """One tile of keys taken into the running maximum, sum and output."""
    largest = scores.largest()
    reached = np.isfinite(largest.value)
    zero = arithmetic.of(np.zeros(scores.shape, np.float32))
    hidden = ~np.isfinite(scores.value)
    powers = (scores - largest.where(reached, arithmetic.of(np.zeros(largest.shape, np.float32)))).call("__expf")
    powers = zero.where(hidden, powers)
    new = m.maximum(largest)
    old_factor, factor = (m - new).call("__expf"), (largest - new).call("__expf")
    total = old_factor * sum_before + factor * powers.sum((sequential(),))
    v = arithmetic.of(np.swapaxes(values, -1, -2))[..., None, :, :]
    added = (powers[..., :, None, :] * v).sum((sequential(),))[..., 0]
    before = arithmetic.of(np.zeros(added.shape, np.float32)) if output is None else output
    return new, total, 1.0 / total * (sum_before * old_factor * before + factor * added)


_FILE = "attention_forward.cu"
_SMALL = (
    {"batch": 2, "time": 16, "heads": 4, "size": 8, "block": 256},
    {"batch": 1, "time": 37, "heads": 3, "size": 11, "block": 128},
)
_LONG = (
    {"batch": 8, "time": 32, "heads": 4, "size": 4, "block": 128},
    {"batch": 3, "time": 70, "heads": 5, "size": 3, "block": 128},
)

CASES = (
    Case(file=_FILE, kernel="attention_query_key_kernel1", build=query_key, sizes=_SMALL),
    Case(
        file=_FILE, kernel="attention_softmax_kernel1", build=softmax,
        sizes=tuple({name: number for name, number in size.items() if name != "size"} for size in _LONG),
    ),
    Case(file=_FILE, kernel="attention_value_kernel1", build=value, sizes=_LONG),
    Case(
        file=_FILE, kernel="scale_kernel", build=scale,
        sizes=({"batch": 2, "heads": 4, "time": 16, "block": 256}, {"batch": 3, "heads": 1, "time": 21, "block": 96}),
    ),
    Case(
        file=_FILE, kernel="attention_forward_fused1", build=fused,
        sizes=(
            {"batch": 2, "time": 16, "heads": 2, "size": 32, "block": 128},
            {"batch": 1, "time": 37, "heads": 2, "size": 40, "block": 96},
        ),
    ),
    Case(
        file=_FILE, kernel="attention_forward_kernel2", build=flash,
        sizes=({"batch": 4, "time": 64, "heads": 8, "size": 8}, {"batch": 4, "time": 45, "heads": 9, "size": 6}),
        explained={"out-of-bounds": "the last tile of keys and values is loaded whole, past the end of the arrays"},
    ),
)  # fmt: skip
