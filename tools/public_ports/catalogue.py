"""All cases, by the collection they are from."""

from __future__ import annotations

from tools.public_ports import nkilib_kernels, nkilib_models, samples_attention, samples_layouts, samples_norms
from tools.public_ports.case import Case

SAMPLES: tuple[Case, ...] = (*samples_layouts.COMMON, *samples_attention.COMMON)
FIRST_SAMPLES: tuple[Case, ...] = (
    *samples_layouts.COMMON, *samples_norms.FIRST, *samples_attention.COMMON, *samples_attention.FIRST,
)  # fmt: skip
LIBRARY: tuple[Case, ...] = (*nkilib_kernels.CASES, *nkilib_models.CASES)
