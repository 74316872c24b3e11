"""Kernels that reach their elements through access patterns, views, other dtypes and indices in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal, whole

ROWS = np.array([[5], [0], [9], [5], [2], [7], [1], [3]], np.int32)


def _case(name: str, body: str, arguments: Arrays, reference: Any) -> Case:
    """A kernel whose body leaves its result in `out`, of the shape of the reference."""
    shape = np.asarray(reference(arguments)).shape
    sizes = "".join(
        f"{', '.join(f'{name}{place}' for place in range(value.ndim))} = {name}.shape\n"
        for name, value in arguments.items()
    )
    lines = "\n".join("    " + line for line in (sizes + body).strip().splitlines())
    parameters = ", ".join(arguments)
    source = NEW + (
        f"def k({parameters}):\n"
        f"    out = nl.ndarray({shape}, dtype=x.dtype, buffer=nl.shared_hbm)\n"
        f"{lines}\n    return out\n"
    )
    return Case(name, source, arguments, lambda given: (np.ascontiguousarray(reference(given)),))


def _scattered(base: Any, rows: Any, values: Any) -> Any:
    made = base.copy()
    made[rows] = values
    return made


def _moved_rows(values: Any) -> Any:
    made = values.copy()
    made[3] = made[5]
    made[:, 0] = made[:, 1]
    return made


LOAD = "t = nl.ndarray(({0}0, {0}1), dtype=nl.float32, buffer=nl.sbuf)\nnisa.dma_copy(dst=t, src={0})\n"
INDEX = "i = nl.ndarray((8, 1), dtype=nl.int32, buffer=nl.sbuf)\nnisa.dma_copy(dst=i, src=rows)\n"

BYTES = np.frombuffer(normal(31, 4, 16).tobytes(), np.uint8).reshape(4, 64)

CASES = (
    _case(
        "a pattern of other elements from within a tensor of any dtype",
        "nisa.dma_copy(dst=out, src=b[1, :].ap(pattern=[[16, 2], [1, 8]], offset=3, dtype=nl.float32))",
        {"x": normal(30, 1, 1), "b": BYTES},
        lambda given: given["b"].view(np.float32)[1:3, 3:11],
    ),
    _case(
        "a view of other elements from within a tensor of any dtype",
        "nisa.dma_copy(dst=out, src=b[2:4, 8:24].view(nl.float32))",
        {"x": normal(30, 1, 1), "b": BYTES},
        lambda given: given["b"].view(np.float32)[2:4, 2:6],
    ),
    _case(
        "strided pattern over a tile",
        LOAD.format("x") + "nisa.dma_copy(dst=out, src=t.ap(pattern=[[32, 8], [2, 12]], offset=5))",
        {"x": normal(1, 16, 32)},
        lambda given: given["x"][:8, 5:29:2],
    ),
    _case(
        "pattern with a repeated dimension",
        LOAD.format("x") + "nisa.dma_copy(dst=out, src=t.ap(pattern=[[32, 16], [0, 3], [1, 4]]))",
        {"x": normal(2, 16, 32)},
        lambda given: np.repeat(given["x"][:, None, :4], 3, axis=1),
    ),
    _case(
        "pattern that runs over the ends of rows",
        "nisa.dma_copy(dst=out, src=x.ap(pattern=[[30, 4], [1, 40]], offset=3))",
        {"x": normal(3, 16, 32)},
        lambda given: np.stack([given["x"].reshape(-1)[3 + 30 * row :][:40] for row in range(4)]),
    ),
    _case(
        "pattern on a slice begins where the slice does",
        "nisa.dma_copy(dst=out, src=x[2:10, 8:16].ap(pattern=[[32, 3], [1, 5]], offset=32))",
        {"x": normal(4, 16, 32)},
        lambda given: given["x"][3:6, 8:13],
    ),
    _case(
        "rows gathered by a vector",
        INDEX + "t = nl.ndarray((8, 32), dtype=x.dtype, buffer=nl.sbuf)\n"
        "nisa.dma_copy(dst=t, src=x.ap(pattern=[[32, 8], [1, 32]], vector_offset=i, indirect_dim=0))\n"
        "nisa.dma_copy(dst=out, src=t)",
        {"x": normal(5, 10, 32), "rows": ROWS},
        lambda given: given["x"][given["rows"][:, 0]],
    ),
    _case(
        "part of rows gathered by a column of another tile",
        "i = nl.ndarray((8, 4), dtype=nl.int32, buffer=nl.sbuf)\nnisa.dma_copy(dst=i, src=rows)\n"
        "v = x.ap(pattern=[[32, 8], [1, 6]], offset=4, vector_offset=i[:, 2:3], indirect_dim=0)\n"
        "nisa.dma_copy(dst=out, src=v)",
        {"x": normal(6, 10, 32), "rows": whole(7, 0, 10, 8, 4)},
        lambda given: given["x"][given["rows"][:, 2], 4:10],
    ),
    _case(
        "rows scattered by a vector",
        INDEX + LOAD.format("y") + "nisa.dma_copy(dst=out, src=x)\n"
        "nisa.dma_copy(dst=out.ap(pattern=[[32, 8], [1, 32]], vector_offset=i, indirect_dim=0), src=t)",
        {
            "x": normal(8, 10, 32),
            "y": normal(9, 8, 32),
            "rows": np.array([[5], [0], [9], [6], [2], [7], [1], [3]], np.int32),
        },
        lambda given: _scattered(given["x"], given["rows"][:, 0], given["y"]),
    ),
    _case(
        "rows out of bounds are skipped",
        INDEX + "t = nl.ndarray((8, 32), dtype=x.dtype, buffer=nl.sbuf)\nnisa.memset(t, value=7.0)\n"
        "nisa.dma_copy(dst=t, src=x.ap(pattern=[[32, 8], [1, 32]], vector_offset=i), oob_mode=nisa.oob_mode.skip)\n"
        "nisa.dma_copy(dst=out, src=t)",
        {"x": normal(10, 6, 32), "rows": ROWS},
        lambda given: np.where(given["rows"] < 6, given["x"][np.minimum(given["rows"][:, 0], 5)], 7.0),
    ),
    _case(
        "scalar offset in steps of the base tensor",
        "i = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)\nnisa.dma_copy(dst=i, src=rows)\n"
        "nisa.dma_copy(dst=out, src=x.ap(pattern=[[32, 4], [1, 8]], offset=2, scalar_offset=i, indirect_dim=0))",
        {"x": normal(11, 10, 32), "rows": np.array([[3]], np.int32)},
        lambda given: given["x"][3:7, 2:10],
    ),
    _case(
        "scalar offset along the free dimension of a tile",
        LOAD.format("x") + "i = nl.ndarray((1, 1), dtype=nl.uint32, buffer=nl.sbuf)\nnisa.dma_copy(dst=i, src=rows)\n"
        "r = nl.ndarray((10, 8), dtype=x.dtype, buffer=nl.sbuf)\n"
        "nisa.tensor_copy(dst=r, src=t.ap(pattern=[[32, 10], [1, 8]], scalar_offset=i, indirect_dim=1))\n"
        "nisa.dma_copy(dst=out, src=r)",
        {"x": normal(12, 10, 32), "rows": np.array([[3]], np.uint32)},
        lambda given: given["x"][:, 3:11],
    ),
    _case(
        "dynamic select and vector select",
        INDEX + "v = x.select(0, i[2:3, 0:1])\nr = nl.ndarray((8, 4), dtype=x.dtype, buffer=nl.sbuf)\n"
        "nisa.dma_copy(dst=r, src=x.vector_select(0, i)[:, 1, 0:4])\nnisa.dma_copy(dst=out[0:8, :], src=r)\n"
        "nisa.dma_copy(dst=out[8:11, :], src=v[:, 2:6])",
        {"x": normal(13, 10, 3, 32), "rows": ROWS},
        lambda given: np.concatenate([given["x"][given["rows"][:, 0], 1, :4], given["x"][9, :, 2:6]]),
    ),
    _case(
        "views of tensors in turn",
        LOAD.format("x") + "v = t.reshape_dim(1, (4, -1)).permute((0, 2, 1)).slice(1, 1, 8, 3).expand_dim(1)\n"
        "v = v.broadcast(1, 2).flatten_dims(2, 3)\nnisa.dma_copy(dst=out, src=v)",
        {"x": normal(14, 16, 32)},
        lambda given: np.repeat(
            given["x"].reshape(16, 4, 8).transpose(0, 2, 1)[:, 1:8:3].reshape(16, 1, 12), 2, axis=1
        ),
    ),
    _case(
        "dimensions rearranged by name",
        LOAD.format("x") + "nisa.dma_copy(dst=out, src=t.rearrange(('p', ('h', 'w')), ('p', 'w', 'h'), {'h': 4}))",
        {"x": normal(15, 16, 24)},
        lambda given: given["x"].reshape(16, 4, 6).transpose(0, 2, 1),
    ),
    _case(
        "an index of a tile keeps the partition",
        LOAD.format("x") + "nisa.tensor_copy(dst=t[3], src=t[5])\nnisa.tensor_copy(dst=t[:, 0], src=t[:, 1])\n"
        "nisa.dma_copy(dst=out, src=t)",
        {"x": normal(16, 16, 4)},
        lambda given: _moved_rows(given["x"]),
    ),
    _case(
        "tensors summed on the way",
        LOAD.format("x") + "u = nl.ndarray((x0, x1), dtype=nl.bfloat16, buffer=nl.sbuf)\n"
        "nisa.dma_compute(dst=u, srcs=[x, t.reshape((x0, x1)), y.reshape((x0, x1))], reduce_op=nl.add)\n"
        "nisa.dma_compute(dst=out, srcs=[u, x], scales=[1.0, 1.0], reduce_op=nl.add)",
        {"x": np.round(normal(20, 16, 8)), "y": np.round(normal(21, 8, 16))},
        lambda given: 3 * given["x"] + given["y"].reshape(16, 8),
    ),
    _case(
        "gathered rows added to a tile, those outside skipped",
        INDEX + "t = nl.ndarray((8, 32), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, value=1.0)\n"
        "nisa.dma_compute(dst=t, srcs=[x.ap(pattern=[[32, 8], [1, 32]], vector_offset=i), t], reduce_op=nl.add,"
        " oob_mode=nisa.oob_mode.skip)\nnisa.dma_copy(dst=out, src=t)",
        {"x": normal(22, 6, 32), "rows": ROWS},
        lambda given: 1 + np.where(given["rows"] < 6, given["x"][np.minimum(given["rows"][:, 0], 5)], 0),
    ),
    _case(
        "a tile added to scattered rows",
        INDEX + LOAD.format("y") + "nisa.dma_copy(dst=out, src=x)\n"
        "nisa.dma_compute(dst=out.ap(pattern=[[32, 8], [1, 32]], vector_offset=i), reduce_op=nl.add,"
        " srcs=[out.ap(pattern=[[32, 8], [1, 32]], vector_offset=i), t])",
        {"x": normal(23, 10, 32), "y": normal(24, 8, 32), "rows": np.array([[5], [0], [9], [6], [2], [7], [1], [3]])},
        lambda given: _scattered(given["x"], given["rows"][:, 0], given["x"][given["rows"][:, 0]] + given["y"]),
    ),
    _case(
        "rows gathered and transposed, those outside skipped",
        "i = nl.ndarray((16, 1), dtype=nl.uint32, buffer=nl.sbuf)\nnisa.dma_copy(dst=i, src=rows)\n"
        "t = nl.ndarray((8, 16), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(t, value=2.0)\n"
        "nisa.dma_transpose(dst=t, src=x.ap(pattern=[[8, 16], [1, 8]], vector_offset=i), axes=(1, 0),"
        " oob_mode=nisa.oob_mode.skip)\nnisa.dma_copy(dst=out, src=t)",
        {"x": normal(25, 12, 8), "rows": whole(26, 0, 16, 16, 1, dtype=np.uint32)},
        lambda given: np.where(given["rows"] < 12, given["x"][np.minimum(given["rows"][:, 0], 11)], 2.0).T,
    ),
)
