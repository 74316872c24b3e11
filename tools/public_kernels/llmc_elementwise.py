"""llm.c, dev/cuda: kernels that work element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from tools.public_kernels.arithmetic import BFLOAT16, FLOAT32, Arithmetic, Number
from tools.public_kernels.case import Array, Case, Expected, Run, blocks_for
from tools.public_kernels.inputs import integers, normal, untouched

_ROWS_AND_ONE_OVER = (
    {"batch": 3, "time": 401, "channels": 24, "block": 128},
    {"batch": 1, "time": 1024, "channels": 8, "block": 256},
)


def encoder(
    random: np.random.Generator, batch: int, time: int, channels: int, block: int, per_thread: int, by_row: bool = False
) -> Run:
    vocabulary = 57
    tokens = integers(random, 0, vocabulary, batch * time)
    words = normal(random, vocabulary, channels, dtype=BFLOAT16)
    places = normal(random, time, channels, dtype=BFLOAT16)
    threads = batch * time if by_row else batch * time * channels // per_thread

    def reference(arithmetic: Arithmetic) -> Expected:
        word, place = arithmetic.of(words).to(FLOAT32), arithmetic.of(places).to(FLOAT32)
        total = word[tokens] + place[np.tile(np.arange(time), batch)]
        return {"out": total.to(BFLOAT16)}

    return Run(
        grid=(blocks_for(threads, block),), block=(block,), reference=reference,
        arguments={
            "out": untouched(batch, time, channels, dtype=BFLOAT16), "inp": tokens, "wte": words, "wpe": places,
            "B": batch, "T": time, "C": channels,
        },
    )  # fmt: skip


def gelu(random: np.random.Generator, count: int, block: int, per_thread: int) -> Run:
    inputs = normal(random, count, dtype=BFLOAT16)

    def reference(arithmetic: Arithmetic) -> Expected:
        x = arithmetic.of(inputs).to(FLOAT32)
        cube = 0.044715 * x * x * x
        scale = arithmetic.constant(2 / np.pi).call("sqrtf")
        return {"out": (0.5 * x * (1.0 + (scale * (x + cube)).call("tanhf"))).to(BFLOAT16)}

    return Run(
        grid=(blocks_for(count, block * per_thread),), block=(block,), reference=reference,
        arguments={"out": untouched(count, dtype=BFLOAT16), "inp": inputs, "N": count},
    )  # fmt: skip


def residual(random: np.random.Generator, count: int, block: int, per_thread: int) -> Run:
    first, second = normal(random, count, dtype=BFLOAT16), normal(random, count, dtype=BFLOAT16)

    def reference(arithmetic: Arithmetic) -> Expected:
        return {"out": (arithmetic.of(first).to(FLOAT32) + arithmetic.of(second).to(FLOAT32)).to(BFLOAT16)}

    return Run(
        grid=(blocks_for(count, block * per_thread),), block=(block,), reference=reference,
        arguments={"out": untouched(count, dtype=BFLOAT16), "inp1": first, "inp2": second, "N": count},
    )  # fmt: skip


def crossentropy(random: np.random.Generator, batch: int, time: int, block: int) -> Run:
    classes = 13
    probabilities = random.uniform(0.001, 1, (batch * time, classes)).astype(np.float32)
    targets = integers(random, 0, classes, batch * time)

    def reference(arithmetic: Arithmetic) -> Expected:
        return {"losses": -arithmetic.of(probabilities[np.arange(batch * time), targets]).call("logf")}

    return Run(
        grid=(blocks_for(batch * time, block),), block=(block,), reference=reference,
        arguments={
            "losses": untouched(batch * time), "probs": probabilities, "targets": targets,
            "B": batch, "T": time, "V": classes,
        },
    )  # fmt: skip


def adamw(random: np.random.Generator, count: int, block: int, fused: bool) -> Run:
    parameters, gradients, first = (normal(random, count) for _ in range(3))
    second = abs(normal(random, count))
    numbers = {
        "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "beta1_correction": 0.271, "beta2_correction": 0.002997,
        "eps": 1e-8, "weight_decay": 0.1,
    }  # fmt: skip

    def mixed(new: Number, old: Number, weight: Number) -> Number:
        return weight.fused(old, (-weight).fused(new, new)) if fused else weight * old + (1.0 - weight) * new

    def reference(arithmetic: Arithmetic) -> Expected:
        p, g, m, v = (arithmetic.of(array) for array in (parameters, gradients, first, second))
        number = {name: arithmetic.constant(value) for name, value in numbers.items()}
        m = mixed(g, m, number["beta1"])
        beta = number["beta2"]
        v = mixed(g * g, v, beta) if fused else beta * v + (1.0 - beta) * g * g
        corrected = v / number["beta2_correction"]
        step = m / number["beta1_correction"] / (corrected.call("sqrtf") + number["eps"])
        p = p - number["learning_rate"] * (step + number["weight_decay"] * p)
        return {"params_memory": p, "m_memory": m, "v_memory": v}

    return Run(
        grid=(blocks_for(count, block),), block=(block,), reference=reference,
        arguments={
            "params_memory": parameters, "grads_memory": gradients, "m_memory": first, "v_memory": second,
            "num_parameters": count, **numbers,
        },
    )  # fmt: skip


def permute(random: np.random.Generator, shape: tuple[int, int, int, int], block: int) -> Run:
    matrix = normal(random, *shape)
    moved = np.ascontiguousarray(matrix.transpose(3, 2, 0, 1))
    sizes = {f"dim{place}": extent for place, extent in enumerate(shape, start=1)}
    return Run(
        grid=(blocks_for(matrix.size, block),), block=(block,), reference=lambda arithmetic: {"out_matrix": moved},
        arguments={"matrix": matrix, "out_matrix": untouched(*moved.shape), **sizes},
    )  # fmt: skip


def heads_apart(inputs: Array, dtype: Any = np.float32) -> tuple[Array, Array, Array]:
    """(B, T, 3, NH, HS) as three of (B, NH, T, HS)."""
    parts = [np.ascontiguousarray(inputs[:, :, part].transpose(0, 2, 1, 3)).astype(dtype) for part in range(3)]
    return parts[0], parts[1], parts[2]


def separate(
    random: np.random.Generator, batch: int, time: int, heads: int, size: int, block: int, names: tuple[str, str],
    dtype: Any = np.float32,
) -> Run:  # fmt: skip
    inputs = normal(random, batch, time, 3, heads, size)
    q, k, v = heads_apart(inputs, dtype)
    outputs = {name: untouched(*q.shape, dtype=dtype) for name in "qkv"}
    return Run(
        grid=(blocks_for(q.size, block),), block=(block,), reference=lambda arithmetic: {"q": q, "k": k, "v": v},
        arguments={**outputs, "inp": inputs, "B": batch, names[0]: time, "NH": heads, names[1]: size},
    )  # fmt: skip


def together(
    random: np.random.Generator, batch: int, time: int, heads: int, size: int, block: int, dtype: Any = np.float32
) -> Run:
    inputs = normal(random, batch, heads, time, size, dtype=dtype)
    moved = np.ascontiguousarray(inputs.transpose(0, 2, 1, 3)).astype(np.float32)
    return Run(
        grid=(blocks_for(inputs.size, block),), block=(block,), reference=lambda arithmetic: {"out": moved},
        arguments={"inp": inputs, "out": untouched(*moved.shape), "B": batch, "N": time, "NH": heads, "d": size},
    )  # fmt: skip


def converted(random: np.random.Generator, count: int, block: int, source: Any, target: Any) -> Run:
    inputs = normal(random, count, dtype=source)
    outputs = inputs.astype(target)
    return Run(
        grid=(count // block,), block=(block,), reference=lambda arithmetic: {"out": outputs},
        arguments={"inp": inputs, "out": untouched(count, dtype=target)},
    )  # fmt: skip


_FLAT = ({"count": 2048, "block": 256}, {"count": 1160, "block": 256})
_WIDE = ({"count": 16384, "block": 256}, {"count": 8248, "block": 128})
_CUDNN = (("ENABLE_CUDNN", "1"),)
_HEADS = (
    {"batch": 2, "time": 16, "heads": 4, "size": 8, "block": 256},
    {"batch": 1, "time": 37, "heads": 3, "size": 11, "block": 128},
)


def _with(sizes: tuple[dict[str, int], ...], **more: object) -> tuple[dict[str, object], ...]:
    return tuple({**size, **more} for size in sizes)


CASES = (
    Case(
        file="encoder_forward.cu",
        kernel="encoder_forward_kernel1",
        build=encoder,
        sizes=_with(_ROWS_AND_ONE_OVER, per_thread=1, by_row=True),
    ),
    Case(
        file="encoder_forward.cu",
        kernel="encoder_forward_kernel2",
        build=encoder,
        sizes=_with(_ROWS_AND_ONE_OVER, per_thread=1),
    ),
    Case(
        file="encoder_forward.cu",
        kernel="encoder_forward_kernel3",
        build=encoder,
        sizes=_with(_ROWS_AND_ONE_OVER, per_thread=8),
    ),
    Case(file="gelu_forward.cu", kernel="gelu_forward_kernel1", build=gelu, sizes=_with(_FLAT, per_thread=1)),
    Case(file="gelu_forward.cu", kernel="gelu_forward_kernel2", build=gelu, sizes=_with(_WIDE, per_thread=8)),
    Case(
        file="residual_forward.cu", kernel="residual_forward_kernel1", build=residual, sizes=_with(_FLAT, per_thread=1)
    ),
    Case(
        file="residual_forward.cu", kernel="residual_forward_kernel2", build=residual, sizes=_with(_WIDE, per_thread=8)
    ),
    Case(
        file="fused_residual_forward.cu",
        kernel="residual_forward_kernel1",
        build=residual,
        sizes=_with(_FLAT, per_thread=1),
    ),
    Case(
        file="crossentropy_forward.cu",
        kernel="crossentropy_forward_kernel1",
        build=crossentropy,
        sizes=({"batch": 2, "time": 512, "block": 128}, {"batch": 3, "time": 347, "block": 128}),
    ),
    Case(file="adamw.cu", kernel="adamw_kernel1", build=adamw, sizes=_with(_FLAT, fused=False)),
    Case(file="adamw.cu", kernel="adamw_kernel2", build=adamw, sizes=_with(_FLAT, fused=True)),
    Case(
        file="permute.cu",
        kernel="permute_kernel",
        build=permute,
        sizes=({"shape": (8, 4, 6, 8), "block": 256}, {"shape": (7, 5, 3, 11), "block": 256}),
    ),
    Case(file="attention_forward.cu", kernel="permute_kernel", build=separate, sizes=_with(_HEADS, names=("N", "d"))),
    Case(file="trimat_forward.cu", kernel="permute_kernel", build=separate, sizes=_with(_HEADS, names=("T", "HS"))),
    Case(file="attention_forward.cu", kernel="unpermute_kernel", build=together, sizes=_HEADS),
    Case(
        file="attention_forward.cu",
        kernel="permute_kernel_lowp",
        build=separate,
        sizes=_with(_HEADS, names=("N", "d"), dtype=BFLOAT16),
    ),
    Case(
        file="attention_forward.cu", kernel="unpermute_kernel_lowp", build=together, sizes=_with(_HEADS, dtype=BFLOAT16)
    ),
    Case(
        file="attention_forward.cu",
        kernel="fp32_to_lowp_kernel",
        build=converted,
        defines=_CUDNN,
        sizes=({"count": 2048, "block": 256, "source": np.float32, "target": BFLOAT16},),
    ),
    Case(
        file="attention_forward.cu",
        kernel="lowp_to_fp32_kernel",
        build=converted,
        defines=_CUDNN,
        sizes=({"count": 2048, "block": 256, "source": BFLOAT16, "target": np.float32},),
    ),
)
