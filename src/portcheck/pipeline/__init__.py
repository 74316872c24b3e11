"""The whole line: reads sources, composes the rooms, isolates failures."""

from portcheck.pipeline.check import Analysis, check, program_of
from portcheck.pipeline.corpus import CorpusScore, RuleScore, score_corpus
from portcheck.pipeline.request import Request
from portcheck.pipeline.sources import read_source

__all__ = ["Analysis", "CorpusScore", "Request", "RuleScore", "check", "program_of", "read_source", "score_corpus"]
