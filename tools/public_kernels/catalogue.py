"""All cases, by the collection they are from."""

from __future__ import annotations

from tools.public_kernels import (
    llmc_attention,
    llmc_classifier,
    llmc_elementwise,
    llmc_matmul,
    llmc_norms,
    llmc_softmax,
    samples_others,
    samples_reductions,
    samples_scans,
)
from tools.public_kernels.case import Case

LLMC: tuple[Case, ...] = (
    *llmc_elementwise.CASES, *llmc_softmax.CASES, *llmc_norms.CASES, *llmc_attention.CASES, *llmc_matmul.CASES,
    *llmc_classifier.CASES,
)  # fmt: skip
SAMPLES: tuple[Case, ...] = (*samples_reductions.CASES, *samples_scans.CASES, *samples_others.CASES)
