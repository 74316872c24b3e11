"""The tables of a report, each from the facts of a pair."""

from portcheck.rubric.tables.coverage import coverage_table
from portcheck.rubric.tables.mapping import mapping_rows
from portcheck.rubric.tables.outputs import alignment_lines, output_rows
from portcheck.rubric.tables.precision import precision_rows
from portcheck.rubric.tables.reductions import reduction_rows

__all__ = [
    "alignment_lines",
    "coverage_table",
    "mapping_rows",
    "output_rows",
    "precision_rows",
    "reduction_rows",
]
