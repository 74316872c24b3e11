"""nki-library: kernels against the PyTorch functions beside them, which are given the same inputs in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from tools.public_ports.case import Array, Case, Run, exact, near
from tools.public_ports.inputs import BFLOAT16, integers, normal, wide
from tools.public_ports.torch_references import array, reference, tensor

_CORE = "src/nkilib_src/nkilib/core/"
_EXPERIMENTAL = "src/nkilib_src/nkilib/experimental/"


def called(module: str, function: str, *names: str, is_wide: bool = True, **arguments: Any) -> tuple[Array, ...]:
    """The results of a reference, by name if it names them; arrays of floats are given in float64, or as they are."""
    given = {
        name: tensor(wide(value) if is_wide and value.dtype.kind not in "iub" else value)
        if isinstance(value, np.ndarray)
        else value
        for name, value in arguments.items()
    }
    found = reference(module, function)(**given)
    if names and isinstance(found, dict):
        return tuple(array(found[name]) for name in names)
    return tuple(array(item) for item in found) if isinstance(found, tuple) else (array(found),)


def running_sums(random: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Run:
    data = normal(random, *shape, dtype=dtype)
    sizes = np.cumsum(np.abs(wide(data)), -1)
    return Run(
        arguments={"x": data, "axis": -1},
        reference=lambda: tuple(
            near(value, dtype, terms=shape[-1], scale=sizes)
            for value in called("core.cumsum.cumsum_torch", "cumsum_torch_ref", "output_0", x=data)
        ),
    )


def running_sums_by_tiles(random: np.random.Generator, shape: tuple[int, ...]) -> Run:
    """In bfloat16 the sum carried from one tile to the next was rounded once for each tile before."""
    data = normal(random, *shape, dtype=BFLOAT16)
    sizes = np.cumsum(np.abs(wide(data)), -1)
    tiles = shape[-1] / 2048
    return Run(
        arguments={"x": data, "axis": -1},
        reference=lambda: tuple(
            near(value, BFLOAT16, terms=tiles, scale=sizes, inner=BFLOAT16)
            for value in called("core.cumsum.cumsum_torch", "cumsum_torch_ref", "output_0", x=data)
        ),
    )


def largest(random: np.random.Generator, shape: tuple[int, ...]) -> Run:
    data = normal(random, *shape)

    def wanted() -> tuple[Any, ...]:
        values, places = called(
            "core.max.cascaded_max_torch", "cascaded_max_torch_ref", "max_values", "max_indices", input_tensor=data
        )
        return exact(values), exact(places.astype(np.uint32))

    return Run(arguments={"input_tensor": data}, reference=wanted, grid=(1,))


def rotary(
    random: np.random.Generator, head: int, batch: int, heads: int, length: int, dtype: Any, **layout: bool
) -> Run:
    data = normal(random, head, batch, heads, length, dtype=dtype)
    angles = random.uniform(0, 6, (head // 2, batch, length))
    cosines, sines = np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)

    def wanted() -> tuple[Any, ...]:
        (value,) = called(
            "core.embeddings.rope_torch", "rope_torch_ref", "x_out", x_in=data, cos=cosines, sin=sines, **layout
        )
        return (near(value, dtype, terms=2, scale=np.full_like(value, 2 * np.abs(wide(data)).max()), inner=dtype),)

    flags = {"lnc_shard": False, "contiguous_layout": True, "relayout_in_sbuf": False, **layout}
    return Run(arguments={"x_in": data, "cos": cosines, "sin": sines, **flags}, reference=wanted, grid=(1,))


def rotary_of_both(
    random: np.random.Generator, batch: int, heads: int, length: int, head: int, backward: bool, dtype: Any
) -> Run:
    q, k = normal(random, batch, heads, length, head, dtype=dtype), normal(random, batch, 1, length, head, dtype=dtype)
    angles = random.uniform(0, 6, (batch, length, head))
    cosines, sines = np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)
    outputs = {"q_out": np.zeros_like(q), "k_out": np.zeros_like(k)}
    given = {"q": q, "k": k, **outputs, "cos": cosines, "sin": sines, "backward": backward}

    def wanted() -> tuple[Any, ...]:
        values = called("core.embeddings.rope_hf_torch", "rope_hf_torch_ref", "q_out", "k_out", **given)
        top = 2 * np.abs(wide(q)).max() + np.abs(wide(k)).max()
        return tuple(near(value, dtype, terms=2, scale=np.full_like(value, top), inner=dtype) for value in values)

    return Run(arguments={**given, "rope_cache": None}, reference=wanted, grid=(1,))


def addition(random: np.random.Generator, rows: int, columns: int, dtype: Any) -> Run:
    a, b = normal(random, rows, columns, dtype=dtype), normal(random, rows, columns, dtype=dtype)
    tiles = np.array([[rows // 128]], np.int32)

    def wanted() -> tuple[Any, ...]:
        module = "experimental.dynamic_shapes.dynamic_elementwise_add_torch"
        (value,) = called(module, "dynamic_elementwise_add_torch_ref", input_a=a, input_b=b)
        return (exact(value.astype(dtype)),)

    return Run(arguments={"input_a": a, "input_b": b, "num_m_tiles": tiles}, reference=wanted)


def nonzeros(random: np.random.Generator, length: int, columns: int, chunk: int | None) -> Run:
    data = integers(random, 0, 2, length, columns).astype(np.float32)

    def wanted() -> tuple[Any, ...]:
        module = "core.subkernels.find_nonzero_indices_torch"
        found = called(module, "find_nonzero_indices_torch_ref", "indices", "nonzero_counts", input_tensor=data)
        return tuple(exact(value.astype(np.int32)) for value in found)

    return Run(
        arguments={"input_tensor": data, "chunk_size": chunk, "col_start_id": None, "n_cols": None},
        reference=wanted,
        grid=(1,),
    )


def flattened(random: np.random.Generator, rows: int, length: int, block: int, total: int) -> Run:
    data = integers(random, 0, 1000, rows, length)
    offsets = np.arange(rows, dtype=np.int32) * (length // block)

    def wanted() -> tuple[Any, ...]:
        (value,) = called(
            "core.subkernels.indexed_flatten_torch", "indexed_flatten_torch_ref", "flattened_array",
            input_tensor=data, f_len=block, output_len=total, row_offsets=offsets,
        )  # fmt: skip
        return (exact(value.astype(np.int32)),)

    arguments = {
        "input_tensor": data, "f_len": block, "output_len": total, "row_offsets": offsets, "row_offsets_start": None,
        "padding_val": -1,
    }  # fmt: skip
    return Run(arguments=arguments, reference=wanted, grid=(2,))


def projection(
    random: np.random.Generator, head: int, batch: int, heads: int, length: int, hidden: int, dtype: Any
) -> Run:
    attention = normal(random, head, batch, heads, length, dtype=dtype)
    weight, bias = normal(random, heads * head, hidden, dtype=dtype), normal(random, 1, hidden, dtype=dtype)

    def wanted() -> tuple[Any, ...]:
        module, function = "core.output_projection.output_projection_tkg_torch", "output_projection_tkg_torch_ref"
        given = {"attention": attention, "weight": weight, "bias": bias}
        (value,) = called(module, function, "out", **given)
        (sizes,) = called(module, function, "out", **{name: np.abs(item) for name, item in given.items()})
        # The reference computes in float32 itself.
        return (near(value, dtype, terms=2 * heads * head, scale=sizes),)

    arguments = {
        "attention": attention, "weight": weight, "bias": bias, "weight_scale": None, "input_scale": None,
        "TRANSPOSE_OUT": False, "OUT_IN_SB": False, "sbm": None,
    }  # fmt: skip
    return Run(arguments=arguments, reference=wanted, grid=(1,))


CASES: tuple[Case, ...] = (
    Case(
        file=_CORE + "cumsum/cumsum.py", kernel="cumsum", build=running_sums, is_static=True,
        sizes=(
            {"shape": (130, 700), "dtype": np.float32}, {"shape": (3, 5, 2500), "dtype": np.float32},
            {"shape": (64, 1000), "dtype": BFLOAT16},
        ),
    ),
    Case(
        file=_CORE + "cumsum/cumsum.py", kernel="cumsum", build=running_sums_by_tiles, is_static=True,
        label="bfloat16 over several tiles", sizes=({"shape": (7, 4500)},),
    ),
    Case(
        file=_CORE + "max/cascaded_max.py", kernel="cascaded_max", build=largest, is_static=True,
        sizes=({"shape": (1, 1024)}, {"shape": (4, 1, 3000)}, {"shape": (10, 1000)}),
    ),
    Case(
        file=_CORE + "embeddings/rope.py", kernel="RoPE", build=rotary, is_static=True,
        sizes=(
            {"head": 128, "batch": 2, "heads": 3, "length": 37, "dtype": BFLOAT16},
            {"head": 64, "batch": 1, "heads": 2, "length": 100, "dtype": np.float32, "contiguous_layout": False},
            {
                "head": 64, "batch": 1, "heads": 2, "length": 50, "dtype": np.float32, "contiguous_layout": False,
                "relayout_in_sbuf": True,
            },
        ),
    ),
    Case(
        file=_CORE + "embeddings/rope_hf.py", kernel="rope_hf", build=rotary_of_both, is_static=True,
        sizes=(
            {"batch": 1, "heads": 2, "length": 256, "head": 64, "backward": False, "dtype": BFLOAT16},
            {"batch": 2, "heads": 3, "length": 128, "head": 128, "backward": True, "dtype": np.float32},
        ),
    ),
    Case(
        file=_EXPERIMENTAL + "dynamic_shapes/dynamic_elementwise_add.py", kernel="dynamic_elementwise_add",
        build=addition, is_static=True, sizes=({"rows": 256, "columns": 1024, "dtype": np.float32},),
    ),
    Case(
        file=_CORE + "subkernels/find_nonzero_indices.py", kernel="find_nonzero_indices", build=nonzeros,
        is_static=True, values=(("index_dtype", "nl.int32"),),
        sizes=({"length": 256, "columns": 16, "chunk": None},),
    ),
    Case(
        file=_CORE + "subkernels/indexed_flatten.py", kernel="indexed_flatten", build=flattened, is_static=True,
        sizes=({"rows": 5, "length": 1024, "block": 64, "total": 5248},),
    ),
    Case(
        file=_CORE + "output_projection/output_projection_tkg.py", kernel="output_projection_tkg", build=projection,
        is_static=True, values=(("quantization_type", "QuantizationType.NONE"),),
        sizes=({"head": 128, "batch": 2, "heads": 4, "length": 3, "hidden": 1024, "dtype": BFLOAT16},),
    ),
)  # fmt: skip
