"""In which formats both sides store and accumulate."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.dtype import DType
from portcheck.core.report import PrecisionRow
from portcheck.passes import global_buffers
from portcheck.rules import Pair
from portcheck.rules.reductions.text import name_of
from portcheck.values import Fold


def precision_rows(pair: Pair) -> tuple[PrecisionRow, ...]:
    """Inputs, outputs and accumulators with the formats of both sides."""
    return (*_storage(pair), *_accumulators(pair))


def _storage(pair: Pair) -> Iterator[PrecisionRow]:
    cuda, nki = global_buffers(pair.cuda.program), global_buffers(pair.nki.program)
    outputs = {output.cuda for output in pair.alignment.outputs}
    for name, buffer in cuda.items():
        counterpart = pair.alignment.nki_parameter(name)
        other = nki.get(counterpart) if counterpart else None
        if other is None:
            continue
        left, right = buffer.type.dtype, other.type.dtype
        yield PrecisionRow(
            quantity=name,
            role="output" if name in outputs else "input",
            cuda=str(left),
            nki=f"{left} (assumed)" if right.is_symbolic else str(right),
            verdict=_compared(left, right),
        )


def _compared(left: DType, right: DType) -> str:
    if right.is_symbolic:
        return "taken from the argument"
    return "equal" if left == right else "changed"


def _accumulators(pair: Pair) -> Iterator[PrecisionRow]:
    for match in pair.alignment.reductions:
        if match.cuda is None or match.nki is None:
            continue
        left, right = _dtypes(match.cuda), _dtypes(match.nki)
        yield PrecisionRow(
            quantity=f"{name_of(match.cuda.operator)} at line {_line(match.cuda)}",
            role="accumulator",
            cuda=left,
            nki=right,
            verdict="equal" if left == right else "changed",
        )


def _dtypes(fold: Fold) -> str:
    return ", ".join(dict.fromkeys(str(stage.dtype) for stage in fold.stages))


def _line(fold: Fold) -> int:
    return fold.stages[0].span.start.line if fold.stages else 0
