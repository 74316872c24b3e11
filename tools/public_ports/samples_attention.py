"""nki-samples: attention and the state-space model."""

from __future__ import annotations

from typing import Any

import numpy as np
from tools.public_ports.case import Array, Case, Run, near
from tools.public_ports.inputs import BFLOAT16, normal, wide

_T = "src/nki_samples/tutorials/"
_ATTENTION = _T + "attention_fwd_performance/attention_kernels.py"


def weights(scores: Array) -> Array:
    """The softmax of every row."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def attention(random: np.random.Generator, length: int, dtype: Any, inner: Any) -> Run:
    """softmax(q^T k) v^T for operands of (head, length); `inner` is the narrowest format scores are kept in."""
    q, k, v = (0.25 * normal(random, 128, length) for _ in range(3))
    q, k, v = q.astype(dtype), k.astype(dtype), v.astype(dtype)
    scores = wide(q).T @ wide(k)
    part = weights(scores)
    sizes = part @ np.abs(wide(v)).T
    # An error of a score is one of its exponential, so the terms of the first product count once for each weight.
    terms = 128 * float(np.abs(wide(q)).T.__matmul__(np.abs(wide(k))).max()) + 2 * length
    return Run(
        arguments={"q": q, "k": k, "v": v},
        reference=lambda: (near(part @ wide(v).T, dtype, terms=terms if inner is np.float32 else 8, scale=sizes,
                                inner=inner),),
    )  # fmt: skip


def diffusion_attention(random: np.random.Generator, length: int, head: int, causal: bool, mixed: bool) -> Run:
    q, k, v = (normal(random, length, head) for _ in range(3))
    scores = 0.125 * wide(q) @ wide(k).T
    if causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -9984.0)
    part = weights(scores)
    inner = BFLOAT16 if mixed else np.float32
    spread = 0.125 * np.abs(wide(q)) @ np.abs(wide(k)).T
    terms = 3 * float(spread.max()) + 6 if mixed else head * float(spread.max()) + 2 * length
    return Run(
        arguments={"q_ref": q, "k_ref": k, "v_ref": v, "use_causal_mask": causal, "mixed_precision": mixed},
        reference=lambda: (near(part @ wide(v), np.float32, terms=terms, scale=part @ np.abs(wide(v)), inner=inner),),
    )


def state_space(random: np.random.Generator, batch: int, channels: int, length: int, states: int) -> Run:
    delta, u = np.abs(normal(random, batch, channels, length)), normal(random, batch, channels, length)
    a = -np.abs(normal(random, channels, states))
    b, c = normal(random, batch, states, length), normal(random, batch, states, length)
    state = np.zeros((batch, channels, states))
    size = np.zeros((batch, channels, states))
    value, scale = np.zeros((batch, channels, length)), np.zeros((batch, channels, length))
    for at in range(length):
        decay = np.exp(wide(delta)[:, :, at, None] * wide(a))
        added = wide(delta)[:, :, at, None] * wide(u)[:, :, at, None] * wide(b)[:, None, :, at]
        state = decay * state + added
        size = decay * size + np.abs(added)
        value[:, :, at] = (state * wide(c)[:, None, :, at]).sum(-1)
        scale[:, :, at] = (size * np.abs(wide(c))[:, None, :, at]).sum(-1)
    return Run(
        arguments={"delta": delta, "u": u, "A": a, "B": b, "C": c},
        reference=lambda: (near(value, np.float32, terms=4 * length + states, scale=scale),),
    )


COMMON: tuple[Case, ...] = (
    *(
        Case(
            file=_ATTENTION, kernel=f"attn_fwd_v{number}", build=attention,
            sizes=({"length": 128, "dtype": np.float32, "inner": np.float32},),
        )
        for number in (1, 2)
    ),
    *(
        Case(
            file=_ATTENTION, kernel=f"attn_fwd_v{number}", build=attention, is_static=number in ("9", "10"),
            sizes=tuple({"length": length, "dtype": np.float32, "inner": inner} for length in (512, 1024)),
        )
        for inner, numbers in ((np.float32, ("3", "4", "5", "6")), (BFLOAT16, ("7", "8", "8a", "9", "10", "11")))
        for number in numbers
    ),
    *(
        Case(
            file=_T + "fused_mamba/mamba_nki_kernels.py", kernel=f"mamba_v{number}", build=state_space,
            sizes=({"batch": 2, "channels": 256, "length": 512, "states": 3},),
        )
        for number in (1, 2, 3)
    ),
)  # fmt: skip
FIRST: tuple[Case, ...] = (
    Case(
        file=_T + "sd_attention/sd_attention_nki_kernels.py", kernel="fused_self_attn_for_SD_small_head_size",
        build=diffusion_attention, is_static=True,
        sizes=(
            {"length": 256, "head": 64, "causal": True, "mixed": False},
            {"length": 128, "head": 40, "causal": False, "mixed": True},
        ),
    ),
)  # fmt: skip
