"""Small pairs, aligned."""

from __future__ import annotations

from tests.values.reading import cuda_program, nki_program

from portcheck.align import Alignment, align
from portcheck.passes import facts_of
from portcheck.values import evaluate


def aligned(cuda: str, nki: str) -> Alignment:
    """The correspondence of a CUDA text and a port."""
    original, port = cuda_program(cuda), nki_program(nki)
    return align(facts_of(original), facts_of(port), evaluate(original), evaluate(port))
