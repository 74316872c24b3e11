"""Scoring portcheck on the labelled pairs of the corpus."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.core.errors import KnowledgeError
from portcheck.core.finding import Finding, Place, Severity
from portcheck.core.report import Report, Verdict
from portcheck.core.resources import data_folder
from portcheck.core.source import SourceFile, Span
from portcheck.pipeline.check import Analysis, check
from portcheck.pipeline.request import Request

_VERDICTS = {
    "faithful": {Verdict.FAITHFUL, Verdict.WITHIN_TOLERANCE, Verdict.NOT_VERIFIED},
    "decision": {Verdict.NEEDS_DECISION, Verdict.NOT_VERIFIED},
    "mutant": {Verdict.NOT_FAITHFUL},
}
_COUNTED = (Severity.ERROR, Severity.WARNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A finding that a label lists: acceptable codes and the quoted text on either side."""

    codes: tuple[str, ...]
    cuda: str
    nki: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The label of a corpus pair."""

    path: Path
    label: str
    nki_version: str
    target: str
    findings: tuple[Expected, ...]

    @property
    def slug(self) -> str:
        """The pair's name, family/slug."""
        return f"{self.path.parent.name}/{self.path.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleScore:
    """How one code did over the whole corpus."""

    code: str
    expected: int
    found: int
    false_alarms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusScore:
    """How portcheck did on the corpus; `misses` and `alarms` are one readable line each."""

    pairs: int
    verdicts_right: int
    expected: int
    found: int
    false_alarms: int
    rules: tuple[RuleScore, ...]
    misses: tuple[str, ...]
    alarms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScore:
    """How portcheck did on one pair: labelled findings found and missed, and errors or warnings nobody listed."""

    label: Label
    report: Report
    found: tuple[Expected, ...]
    missed: tuple[Expected, ...]
    alarms: tuple[Finding, ...]

    @property
    def is_verdict_right(self) -> bool:
        """Whether the verdict is one that the label allows."""
        return self.report.verdict in _VERDICTS[self.label.label]


def labels() -> Iterator[Label]:
    """The labelled pairs, in order of family and slug. Raises KnowledgeError for a malformed label."""
    for path in sorted(data_folder("corpus").glob("*/*/expected.toml")):
        yield _label(path)


def _label(path: Path) -> Label:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        findings = tuple(
            Expected(codes=tuple(entry["codes"]), cuda=entry.get("cuda", ""), nki=entry.get("nki", ""))
            for entry in data.get("finding", ())
        )
        label = str(data["label"])
        if label not in _VERDICTS:
            raise KeyError(label)
        return Label(
            path=path.parent,
            label=label,
            nki_version=str(data["nki_version"]),
            target=str(data["target"]),
            findings=findings,
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise KnowledgeError(f"{path.parent.name}/{path.name} is malformed: {error}") from None


def score_pair(label: Label) -> PairScore:
    """Runs one pair and compares with its label."""
    request = Request(
        cuda_path=str(label.path / "kernel.cu"),
        nki_path=str(label.path / "port.py"),
        target=label.target,
        nki_version=label.nki_version,
    )
    analysis = check(request)
    unused = list(analysis.report.findings)
    found, missed = [], []
    for expected in label.findings:
        hit = next((finding for finding in unused if _answers(finding, expected, label, analysis)), None)
        if hit is None:
            missed.append(expected)
        else:
            unused.remove(hit)
            found.append(expected)
    alarms = tuple(finding for finding in unused if finding.severity in _COUNTED)
    return PairScore(label=label, report=analysis.report, found=tuple(found), missed=tuple(missed), alarms=alarms)


def _answers(finding: Finding, expected: Expected, label: Label, analysis: Analysis) -> bool:
    if finding.code not in expected.codes:
        return False
    sides = ((expected.cuda, finding.cuda, "kernel.cu"), (expected.nki, finding.nki, "port.py"))
    return all(_is_there(quote, place, label.path / name, analysis.sources) for quote, place, name in sides if quote)


def _is_there(quote: str, place: Place | None, path: Path, sources: Mapping[str, SourceFile]) -> bool:
    """Whether a finding's place shares a line with the quoted text."""
    source = sources[str(path)]
    offset = source.text.find(quote)
    if place is None or offset < 0:
        return False
    return _shares_line(place.span, source.span(offset, offset + len(quote)))


def _shares_line(left: Span, right: Span) -> bool:
    return left.path == right.path and left.start.line <= right.end.line and right.start.line <= left.end.line


def score_corpus() -> CorpusScore:
    """Scores the whole corpus."""
    scores = [score_pair(label) for label in labels()]
    misses = tuple(f"{score.label.slug}: {'/'.join(miss.codes)}" for score in scores for miss in score.missed)
    alarms = tuple(f"{score.label.slug}: {alarm.code} {alarm.message}" for score in scores for alarm in score.alarms)
    return CorpusScore(
        pairs=len(scores),
        verdicts_right=sum(score.is_verdict_right for score in scores),
        expected=sum(len(score.label.findings) for score in scores),
        found=sum(len(score.found) for score in scores),
        false_alarms=len(alarms),
        rules=_by_rule(scores),
        misses=misses,
        alarms=alarms,
    )


def _by_rule(scores: list[PairScore]) -> tuple[RuleScore, ...]:
    expected = [codes for score in scores for codes in (entry.codes for entry in score.label.findings)]
    found = [codes for score in scores for codes in (entry.codes for entry in score.found)]
    alarms = [alarm.code for score in scores for alarm in score.alarms]
    codes = sorted({code for entry in expected for code in entry} | set(alarms))
    return tuple(
        RuleScore(
            code=code,
            expected=sum(code in entry for entry in expected),
            found=sum(code in entry for entry in found),
            false_alarms=alarms.count(code),
        )
        for code in codes
    )
