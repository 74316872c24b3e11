"""nki-library: kernels of models (norms, losses, projections, convolution, routing) against their references."""

from __future__ import annotations

from typing import Any

import numpy as np
from tools.public_ports.case import Array, Case, Run, Wanted, exact, near
from tools.public_ports.inputs import BFLOAT16, integers, normal, wide
from tools.public_ports.nkilib_kernels import called

_CORE = "src/nkilib_src/nkilib/core/"
_EXPERIMENTAL = "src/nkilib_src/nkilib/experimental/"
_LOSS = "experimental.loss.cross_entropy_torch"
_USABLE = 128 * 1024
"""Bytes of a partition that kernels may use: how many those are is in no document, so it is stated."""


def losses(random: np.random.Generator, positions: int, words: int, batch: int, chunk: int) -> Run:
    """A sum of exponentials is off by one rounding for each term, chunk and unit of an exponent."""
    logits = normal(random, positions, words)
    targets = integers(random, 0, words, positions)
    largest = float(np.abs(logits).max())

    def wanted() -> tuple[Wanted, ...]:
        loss, sums = called(_LOSS, "cross_entropy_forward_torch_ref", logits=logits, targets=targets.astype(np.int64))
        terms = words + (-(-words // chunk) + 1) * (2 * largest + 3) + float(np.abs(sums).max()) + 2 * largest
        ones = np.ones_like(loss)
        return (
            near(loss, np.float32, terms=terms + float(np.abs(sums).max()), scale=ones),
            near(sums, np.float32, terms=terms, scale=ones),
        )

    arguments = {"logits_hbm": logits, "targets_hbm": targets, "positions_per_batch": batch, "chunk_size": chunk}
    return Run(arguments=arguments, reference=wanted, grid=(1,))


def gradients(
    random: np.random.Generator, positions: int, words: int, batch: int, chunk: int, inplace: bool, reduction: str
) -> Run:
    logits = normal(random, positions, words)
    targets = integers(random, 0, words, positions)
    sums = np.log(np.exp(wide(logits)).sum(-1))
    most = float(np.abs(logits).max() + 2 * np.abs(sums).max())

    def wanted() -> tuple[Wanted, ...]:
        (value,) = called(
            _LOSS, "cross_entropy_backward_torch_ref", logits=logits, targets=targets.astype(np.int64),
            reduction=reduction,
        )  # fmt: skip
        hits = np.arange(words) == targets[:, None]
        factor = 1 / positions if reduction == "mean" else 1
        sizes = factor * (np.exp(wide(logits) - sums[:, None]) + hits)
        return (near(value, np.float32, terms=most + 4, scale=sizes),)

    arguments = {
        "logits_hbm": logits, "targets_hbm": targets, "lse_state_hbm": sums.astype(np.float32),
        "reduction": reduction, "positions_per_batch": batch, "chunk_size": chunk, "inplace": inplace,
    }  # fmt: skip
    return Run(arguments=arguments, reference=wanted, grid=(1,))


def convolution(
    random: np.random.Generator, batch: int, inputs: int, outputs: int, length: int, width: int,
    stride: int, padding: tuple[int, int], dilation: int, has_bias: bool,
) -> Run:  # fmt: skip
    """The reference convolves in float32 itself."""
    data, filters = normal(random, batch, inputs, length), normal(random, width, inputs, outputs)
    bias = normal(random, outputs) if has_bias else None
    shape = {"stride": stride, "padding": padding, "dilation": dilation}

    def convolved(data: Array, filters: Array, bias: Array | None) -> Array:
        given = {"x_in": data, "filters": filters, "bias": bias}
        (value,) = called("experimental.conv.conv1d_torch", "conv1d_torch_ref", "out", is_wide=False, **given, **shape)
        return value

    def wanted() -> tuple[Wanted, ...]:
        value = convolved(data, filters, bias)
        sizes = convolved(np.abs(data), np.abs(filters), None if bias is None else np.abs(bias))
        return (near(value, np.float32, terms=2 * (inputs * width + 1), scale=sizes),)

    arguments = {
        "x_in": data, "filters": filters, "bias": bias, **shape, "activation_fn": None, "lnc_shard": False,
        "total_available_sbuf_size": _USABLE,
    }  # fmt: skip
    return Run(arguments=arguments, reference=wanted, grid=(1,))


def projection(
    random: np.random.Generator, batch: int, heads: int, head: int, length: int, hidden: int, dtype: Any
) -> Run:
    """The reference computes in float32 itself."""
    given = {
        "attention": normal(random, batch, heads, head, length, dtype=dtype),
        "weight": normal(random, heads * head, hidden, dtype=dtype), "bias": normal(random, 1, hidden, dtype=dtype),
    }  # fmt: skip

    def wanted() -> tuple[Wanted, ...]:
        module = "core.output_projection.output_projection_cte.output_projection_cte_torch"
        (value,) = called(module, "output_projection_cte_torch_ref", **given)
        absolute = {name: np.abs(item) for name, item in given.items()}
        (sizes,) = called(module, "output_projection_cte_torch_ref", **absolute)
        return (near(value, dtype, terms=2 * heads * head, scale=sizes),)

    arguments = {**given, "input_scales": None, "weight_scales": None, "output_dtype": None}
    return Run(arguments=arguments, reference=wanted, grid=(1,))


def scaled(random: np.random.Generator, batch: int, length: int, hidden: int, swapped: bool) -> Run:
    """RMS norm: the reference and the kernel each add `hidden` squares in float32, of which a root is taken."""
    data, gamma = normal(random, batch, length, hidden), normal(random, 1, hidden)
    output = np.zeros((128, batch * length, hidden // 128), np.float32)
    given = {"input": data, "gamma": gamma, "output": output, "eps": 1e-6, "hidden_dim_tp": swapped}

    def wanted() -> tuple[Wanted, ...]:
        (value,) = called("core.subkernels.rmsnorm_torch", "rmsnorm_tkg_torch_ref_lnc1", "out", **given)
        return (near(value, np.float32, terms=hidden + 16),)

    others = {"hidden_actual": None, "single_core_forced": False, "shard_on_h": False, "use_heap_memory": False}
    return Run(arguments={**given, **others, "sbm": None}, reference=wanted, grid=(1,))


def centred(random: np.random.Generator, batch: int, length: int, hidden: int, has_beta: bool) -> Run:
    """Layer norm: as RMS norm, with a mean of `hidden` elements that is taken away first."""
    data, gamma = normal(random, batch, length, hidden), normal(random, 1, hidden)
    beta = normal(random, 1, hidden) if has_beta else None
    output = np.zeros((128, batch * length, hidden // 128), np.float32)
    given = {"input": data, "gamma": gamma, "output": output, "beta": beta, "eps": 1e-6}

    def wanted() -> tuple[Wanted, ...]:
        (value,) = called("core.subkernels.layernorm_torch", "layernorm_tkg_torch_ref_lnc1", "out", **given)
        x = wide(data).reshape(batch * length, hidden)
        squares, spread = (x**2).mean(-1, keepdims=True), x.var(-1, keepdims=True)
        sizes = (np.abs(x) + np.abs(x).mean(-1, keepdims=True)) / np.sqrt(spread) * np.abs(wide(gamma))
        sizes = sizes + (0 if beta is None else np.abs(wide(beta)))
        terms = 2 * (hidden * (1 + float((squares / spread).max()) / 2) + 8)
        placed = sizes.reshape(batch * length, 128, hidden // 128).transpose(1, 0, 2)
        return (near(value, np.float32, terms=terms, scale=placed),)

    others = {"shard_on_h": False, "use_heap_memory": False, "sbm": None}
    if has_beta:
        others["total_available_sbuf_size"] = _USABLE
    return Run(arguments={**given, **others}, reference=wanted, grid=(1,))


def routing(random: np.random.Generator, tokens: int, hidden: int, experts: int, k: int, layout: int) -> Run:
    """Logits are sums of `hidden` products; a softmax is off by what its exponents and its sum are off by."""
    data = normal(random, *((hidden, tokens) if layout == 0 else (tokens, hidden)))
    given = {
        "x": data, "w": normal(random, hidden, experts), "w_bias": normal(random, 1, experts),
        "router_logits": np.zeros((tokens, experts), np.float32),
        "expert_affinities": np.zeros((tokens, experts), np.float32),
        "expert_index": np.zeros((tokens, k), np.uint32),
        "k": k, "x_hbm_layout": layout, "x_sb_layout": 0,
    }  # fmt: skip

    def wanted() -> tuple[Wanted, ...]:
        from tools.public_ports.torch_references import reference

        kind = reference("core.utils.common_types", "RouterActFnType").SOFTMAX
        names = ("router_logits", "expert_index", "expert_affinities")
        module = "core.router_topk.router_topk_torch"
        logits, places, affinities = called(
            module, "router_topk_torch_ref", *names, **{**given, "expert_index": None}, act_fn=kind
        )
        x = np.abs(wide(data)) if layout == 1 else np.abs(wide(data)).T
        sizes = x @ np.abs(wide(given["w"])) + np.abs(wide(given["w_bias"]))
        off = 2 * float((hidden + 3) * sizes.max() + np.abs(logits).max()) + experts + 8
        return (
            near(logits, np.float32, terms=hidden, scale=sizes), exact(places.astype(np.uint32)),
            near(affinities, np.float32, terms=off),
        )  # fmt: skip

    flags = (
        "norm_topk_prob", "use_column_tiling", "use_indirect_dma_scatter", "return_eager_affi",
        "use_PE_broadcast_w_bias", "shard_on_tokens", "skip_store_expert_index", "skip_store_router_logits",
    )  # fmt: skip
    arguments = {**given, "router_pre_norm": True, **dict.fromkeys(flags, False)}
    return Run(arguments=arguments, reference=wanted, grid=(1,))


def gathered_sums(random: np.random.Generator, rows: int, hidden: int, tokens: int, k: int) -> Run:
    """Rows that hold their token as an integer in the bits of two last columns; sums are kept in bfloat16."""
    numbers = np.full(rows, 1000, np.int32)
    numbers[random.permutation(rows)[: tokens * k]] = np.repeat(np.arange(tokens, dtype=np.int32), k)
    data = np.concatenate([normal(random, rows, hidden, dtype=BFLOAT16), numbers.view(BFLOAT16).reshape(rows, 2)], 1)

    def wanted() -> tuple[Wanted, ...]:
        module = "experimental.collectives.topk_reduce_torch"
        (value,) = called(module, "topk_reduce_torch_ref", input=data, T=tokens, K=k)
        sizes = np.stack([np.abs(wide(data[numbers == token, :hidden])).sum(0) for token in range(tokens)])
        return (near(value, BFLOAT16, terms=k - 2, scale=sizes, inner=BFLOAT16),)

    return Run(arguments={"input": data, "T": tokens, "K": k}, reference=wanted, grid=(1,))


_SINGLE = (("dtype", "nl.float32"),)
CASES: tuple[Case, ...] = (
    Case(
        file=_EXPERIMENTAL + "loss/cross_entropy.py", kernel="cross_entropy_forward", build=losses, is_static=True,
        values=_SINGLE, sizes=({"positions": 37, "words": 700, "batch": 16, "chunk": 256},),
    ),
    Case(
        file=_EXPERIMENTAL + "loss/cross_entropy.py", kernel="cross_entropy_backward", build=gradients,
        is_static=True, values=_SINGLE,
        sizes=(
            {"positions": 21, "words": 500, "batch": 8, "chunk": 192, "inplace": False, "reduction": "mean"},
            {"positions": 16, "words": 384, "batch": 8, "chunk": 128, "inplace": True, "reduction": "sum"},
        ),
    ),
    Case(
        file=_EXPERIMENTAL + "conv/conv1d.py", kernel="conv1d", build=convolution, is_static=True,
        sizes=(
            {
                "batch": 2, "inputs": 48, "outputs": 70, "length": 100, "width": 3, "stride": 1, "padding": (1, 1),
                "dilation": 1, "has_bias": True,
            },
            {
                "batch": 1, "inputs": 150, "outputs": 140, "length": 61, "width": 4, "stride": 2, "padding": (2, 0),
                "dilation": 2, "has_bias": False,
            },
        ),
    ),
    Case(
        file=_CORE + "output_projection/output_projection_cte/output_projection_cte.py",
        kernel="output_projection_cte", build=projection, is_static=True,
        values=(("quantization_type", "QuantizationType.NONE"),),
        sizes=({"batch": 1, "heads": 2, "head": 128, "length": 200, "hidden": 1024, "dtype": BFLOAT16},),
    ),
    Case(
        file=_CORE + "subkernels/rmsnorm_tkg.py", kernel="rmsnorm_tkg", build=scaled, is_static=True,
        sizes=(
            {"batch": 3, "length": 5, "hidden": 512, "swapped": False},
            {"batch": 2, "length": 3, "hidden": 1024, "swapped": True},
        ),
    ),
    Case(
        file=_CORE + "subkernels/layernorm_tkg.py", kernel="layernorm_tkg", build=centred, is_static=True,
        sizes=(
            {"batch": 3, "length": 5, "hidden": 512, "has_beta": True},
            {"batch": 1, "length": 7, "hidden": 1024, "has_beta": False},
        ),
    ),
    Case(
        file=_CORE + "router_topk/router_topk.py", kernel="router_topk", build=routing, is_static=True,
        values=(("act_fn", "RouterActFnType.SOFTMAX"),),
        sizes=({"tokens": 70, "hidden": 256, "experts": 24, "k": 4, "layout": 0},),
    ),
    Case(
        file=_EXPERIMENTAL + "collectives/topk_reduce.py", kernel="topk_reduce", build=gathered_sums, is_static=True,
        sizes=({"rows": 100, "hidden": 96, "tokens": 20, "k": 4},),
    ),
)  # fmt: skip
