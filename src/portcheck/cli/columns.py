"""Rows of text set in columns, for lists that a person or a line-based tool reads."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.reporting import single_line

_GAP = "  "


def in_columns(rows: Sequence[Sequence[str]]) -> str:
    """One line a row, the cells of a column starting under each other; all rows have the same number of cells."""
    safe = [[single_line(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*safe, strict=True)]
    return "".join(_line(row, widths) for row in safe)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return _GAP.join(padded).rstrip() + "\n"
