"""nki-samples of the first generation: softmax and norms of rows, with last tiles that are not full."""

from __future__ import annotations

from typing import Any

import numpy as np
from tools.public_ports.case import Case, Run, near
from tools.public_ports.inputs import normal, wide
from tools.public_ports.samples_attention import weights

_T = "src/nki_samples/tutorials/"


def softmax(random: np.random.Generator, rows: int, columns: int, dtype: Any) -> Run:
    data = normal(random, rows, columns, dtype=dtype)
    spread = float(np.ptp(wide(data), axis=1).max())
    terms = columns + spread + 6
    return Run(
        arguments={"a_tensor": data},
        reference=lambda: (near(weights(wide(data)), dtype, terms=terms if dtype is np.float32 else 16, inner=dtype),),
    )


def rms_norm(random: np.random.Generator, rows: int, columns: int) -> Run:
    data, weight = normal(random, rows, columns), normal(random, columns)
    value = wide(data) / np.sqrt((wide(data) ** 2).mean(1, keepdims=True)) * wide(weight)
    return Run(
        arguments={"a_tensor": data, "g_tensor": weight},
        reference=lambda: (near(value, np.float32, terms=columns / 2 + 6),),
    )


def layer_norm(random: np.random.Generator, rows: int, columns: int) -> Run:
    data, weight, shift = normal(random, rows, columns) + 0.5, normal(random, columns), normal(random, columns)
    data = data.astype(np.float32)
    mean = wide(data).mean(1, keepdims=True)
    deviation = np.sqrt(wide(data).var(1, keepdims=True) + 1e-5)
    value = (wide(data) - mean) / deviation * wide(weight) + wide(shift)
    # The variance is a difference of two means: its error is that of the mean of the squares.
    lost = (wide(data) ** 2).mean(1, keepdims=True) / deviation**2
    size = (np.abs(wide(data)) + np.abs(mean)) / deviation * np.abs(wide(weight)) * (1 + lost) + np.abs(wide(shift))
    return Run(
        arguments={"input_tensor": data, "epsilon": 1e-5, "gamma_vector": weight, "beta_vector": shift},
        reference=lambda: (near(value, np.float32, terms=columns + 8, scale=size),),
    )


_ROWS = ({"rows": 200, "columns": 700}, {"rows": 128, "columns": 512}, {"rows": 5, "columns": 1536})
FIRST: tuple[Case, ...] = (
    Case(
        file=_T + "softmax/softmax_nki_kernels.py", kernel="nki_softmax_kernel", build=softmax,
        sizes=tuple({**size, "dtype": np.float32} for size in _ROWS),
    ),
    Case(file=_T + "rmsnorm/rmsnorm_nki_kernels.py", kernel="nki_rmsnorm_kernel", build=rms_norm, sizes=_ROWS),
    Case(
        file=_T + "layernorm/layernorm_nki_kernel.py", kernel="nki_layernorm_kernel_v1", build=layer_norm, sizes=_ROWS
    ),
    Case(
        file=_T + "layernorm/layernorm_nki_kernel.py", kernel="nki_layernorm_kernel_v2", build=layer_norm, sizes=_ROWS
    ),
)  # fmt: skip
