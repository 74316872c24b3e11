"""The whole line: reads sources, composes the rooms, isolates failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portcheck.pipeline.check import Analysis, check, program_of
from portcheck.pipeline.request import Request
from portcheck.pipeline.sources import read_source

if TYPE_CHECKING:
    from portcheck.pipeline.corpus import CorpusScore as CorpusScore

__all__ = ["Analysis", "Request", "check", "program_of", "read_source", "score_corpus"]


def score_corpus() -> CorpusScore:
    """Scores the whole corpus."""
    # A comparison has no use for it.
    from portcheck.pipeline import corpus

    return corpus.score_corpus()
