"""llm.c, dev/cuda: softmax, loss and its gradient in one kernel."""

from __future__ import annotations

import numpy as np
from tools.public_kernels.arithmetic import Arithmetic
from tools.public_kernels.case import Case, Expected, Run, blocks_for
from tools.public_kernels.inputs import integers, normal, untouched


def classifier(
    random: np.random.Generator, batch: int, time: int, classes: int, padded: int, block: int, rows_a_block: int,
    steps: int, with_probabilities: bool = True, written: int = 0,
) -> Run:  # fmt: skip
    """`written` columns are stored: `classes`, or some of the padding with them, which holds 0."""
    rows, written = batch * time, written or classes
    logits, upstream = normal(random, rows, padded), normal(random, rows)
    targets = integers(random, 0, classes, rows)
    before = untouched(rows, padded)

    def reference(arithmetic: Arithmetic) -> Expected:
        x = arithmetic.of(logits)
        largest = x[:, :classes].largest()
        norm = 1.0 / x[:, :classes].online_sum(largest, steps)
        inside = np.broadcast_to(np.arange(padded) < classes, before.shape)
        probability = ((x - largest).call("expf") * norm).where(
            inside, arithmetic.of(np.zeros(before.shape, np.float32))
        )
        hot = (np.arange(padded) == targets[:, None]).astype(np.float32)
        gradient = (probability - arithmetic.of(hot)) * arithmetic.of(upstream[:, None])
        kept = np.broadcast_to(np.arange(padded) < written, before.shape)
        old = arithmetic.of(before)
        results = {"losses": -probability[np.arange(rows), targets].call("logf"), "dlogits": gradient.where(kept, old)}
        return results | ({"probs": probability.where(kept, old)} if with_probabilities else {})

    probabilities = {"probs": before.copy()} if with_probabilities else {}
    return Run(
        grid=(blocks_for(rows, rows_a_block),), block=(block,), reference=reference,
        arguments={
            "dlogits": before, "losses": untouched(rows), **probabilities, "logits": logits, "dlosses": upstream,
            "targets": targets, "B": batch, "T": time, "V": classes, "P": padded,
        },
    )  # fmt: skip


def by_warp(random: np.random.Generator, batch: int, time: int, classes: int, padded: int, block: int) -> Run:
    steps = blocks_for(classes, 32) + 1 + 31
    return classifier(random, batch, time, classes, padded, block, block // 32, steps, with_probabilities=False)


def by_block(
    random: np.random.Generator, batch: int, time: int, classes: int, padded: int, block: int, width: int, levels: int,
    written: int = 0,
) -> Run:  # fmt: skip
    steps = width * blocks_for(classes, block * width) + 1 + levels
    return classifier(random, batch, time, classes, padded, block, 1, steps, written=written)


_FILE = "classifier_fused.cu"
_ROWS = (
    {"batch": 2, "time": 4, "classes": 512, "padded": 512, "block": 128},
    {"batch": 1, "time": 9, "classes": 333, "padded": 384, "block": 128},
)


def _by_block(width: int, levels: int, up_to: tuple[int, int] = (0, 0)) -> tuple[dict[str, int], ...]:
    return tuple(
        {**size, "width": width, "levels": levels, "written": end} for size, end in zip(_ROWS, up_to, strict=True)
    )


CASES = (
    Case(
        file=_FILE,
        kernel="fused_classifier_kernel1",
        build=by_warp,
        sizes=(
            {"batch": 4, "time": 8, "classes": 200, "padded": 256, "block": 128},
            {"batch": 1, "time": 37, "classes": 131, "padded": 131, "block": 128},
        ),
    ),
    Case(file=_FILE, kernel="fused_classifier_kernel2", build=by_block, sizes=_by_block(4, 62, (512, 336))),
    Case(file=_FILE, kernel="fused_classifier_kernel3", build=by_block, sizes=_by_block(1, 62)),
    Case(
        file=_FILE,
        kernel="fused_classifier_kernel4",
        build=by_block,
        sizes=_by_block(4, 10)[:1],
        label="V of whole vectors",
    ),
    Case(
        file=_FILE,
        kernel="fused_classifier_kernel5",
        build=by_block,
        sizes=_by_block(4, 10),
        defines=(("WriteLogits", "true"), ("WriteProbs", "true")),
    ),
)
