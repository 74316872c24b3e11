"""Which parameter, output, size and reduction of the port answers which of the original. Judges nothing."""

from portcheck.align.alignment import Alignment, OutputMatch, align
from portcheck.align.inputs import Match
from portcheck.align.reductions import ReductionMatch, operations_of, place_of

__all__ = ["Alignment", "Match", "OutputMatch", "ReductionMatch", "align", "operations_of", "place_of"]
