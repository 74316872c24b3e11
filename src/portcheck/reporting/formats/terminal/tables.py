"""The tables of the terminal format: outputs, mapped constructs, reductions stage by stage, precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from portcheck.core.finding import Place
from portcheck.core.report import (
    Fidelity,
    Input,
    Inputs,
    MappingRow,
    OutputRow,
    PrecisionRow,
    ReductionRow,
    ReductionSide,
)
from portcheck.reporting.formats.terminal.words import columns, prose, quiet
from portcheck.reporting.view import CUDA_SIDE, NKI_SIDE, line_number

_AGREES = frozenset({Fidelity.EQUAL, Fidelity.ABSORBED, Fidelity.NOT_NEEDED})
_FAILS = frozenset({Fidelity.MISSING, Fidelity.UNKNOWN})
_STATUS_STYLES = {"equal": "green", "undecided": "yellow", "differs": "red", "missing": "red"}


def output_table(outputs: Sequence[OutputRow]) -> list[RenderableType]:
    """What each element of each output is on both sides, and for which elements."""
    if not outputs:
        return []
    table = columns("output", "status", "side", "each element is", "for")
    for row in outputs:
        name = row.name if row.counterpart in ("", row.name) else f"{row.name} -> {row.counterpart}"
        status = prose(row.status, style=_STATUS_STYLES.get(row.status, ""))
        table.add_row(prose(name, style="bold"), status, quiet(CUDA_SIDE), prose(row.cuda), prose(row.cuda_domain))
        table.add_row("", "", quiet(NKI_SIDE), prose(row.nki or "nothing"), prose(row.nki_domain))
        if row.reason:
            table.add_row("", "", quiet("because"), prose(row.reason), "")
    return [table]


def mapping_table(mapping: Sequence[MappingRow]) -> list[RenderableType]:
    """Every CUDA construct, its counterpart, how well they agree, and the lines where both stand."""
    if not mapping:
        return []
    table = columns("construct", "count", "line", "counterpart", "in the port", "agreement", numbers=_NUMBERS)
    for row in mapping:
        table.add_row(
            prose(row.construct),
            str(row.count),
            quiet(line_number(row.cuda)),
            prose(row.counterpart or "none"),
            quiet(line_number(row.nki)),
            prose(row.fidelity, style=_fidelity_style(row.fidelity)),
        )
    return [table]


def reduction_tables(reductions: Sequence[ReductionRow], inputs: Inputs) -> list[RenderableType]:
    """For each reduction what both sides sum, through which stages, and how many roundings a term passes."""
    blocks: list[RenderableType] = []
    for row in reductions:
        if blocks:
            blocks.append(Text())
        title = prose(row.operator, style="bold").append(": ").append_text(prose(row.verdict))
        blocks += [title, _stages(row, inputs)]
    return blocks


def precision_table(precision: Sequence[PrecisionRow]) -> list[RenderableType]:
    """In which formats each quantity is stored, computed and accumulated on both sides."""
    if not precision:
        return []
    table = columns("quantity", "role", CUDA_SIDE, NKI_SIDE, "verdict")
    for row in precision:
        table.add_row(prose(row.quantity), prose(row.role), prose(row.cuda), prose(row.nki), prose(row.verdict))
    return [table]


_NUMBERS = frozenset({"count", "line", "in the port", "height"})


def _fidelity_style(fidelity: Fidelity) -> str:
    if fidelity in _AGREES:
        return "green"
    return "red" if fidelity in _FAILS else "yellow"


def _stages(row: ReductionRow, inputs: Inputs) -> Table:
    table = columns("side", "stage", "terms", "order", "dtype", "height", numbers=_NUMBERS)
    sides = ((CUDA_SIDE, row.cuda, inputs.cuda), (NKI_SIDE, row.nki, inputs.nki))
    for side, reduction, compared in sides:
        for cells in _side_rows(side, reduction, compared):
            table.add_row(*cells)
    return table


def _line_in(place: Place | None, compared: Input) -> str:
    """The line of `place`, with the name of its file where that is not the one compared."""
    if place is None:
        return ""
    line = f"line {line_number(place)}"
    return line if place.span.path == compared.path else f"{PurePath(place.span.path).name} {line}"


def _side_rows(side: str, reduction: ReductionSide | None, compared: Input) -> Iterator[tuple[Text, ...]]:
    if reduction is None:
        yield quiet(side), prose("no counterpart"), Text(), Text(), Text(), Text()
        return
    place = quiet(_line_in(reduction.place, compared))
    yield quiet(side), prose(reduction.text), Text(), place, Text(), prose(reduction.height, style="bold")
    for stage in reduction.stages:
        yield (
            Text(),
            prose(f"  {stage.name}"),
            prose(stage.terms),
            prose(stage.order),
            prose(stage.dtype),
            prose(stage.height),
        )
