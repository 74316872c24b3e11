"""The words and counts that several formats need beside the report; all follow from it, none judges again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from textwrap import dedent

from portcheck.core.finding import Finding, Place, Severity
from portcheck.core.report import Input, Report, SideCoverage, Verdict

CUDA_SIDE = "original"
NKI_SIDE = "port"
NO_COUNTERPART = "no counterpart"
_HASH_SHOWN = 12
_LONG_LINE = 80
_MANY_LINES = 20

MEANINGS: Mapping[Verdict, str] = {
    Verdict.NOT_FAITHFUL: "a correct result of the original is no longer produced.",
    Verdict.NOT_VERIFIED: "some output was neither proved equal nor shown to differ.",
    Verdict.NEEDS_DECISION: "numerics or domain changed so that someone must decide.",
    Verdict.WITHIN_TOLERANCE: "every output is the same function over the reals; rounding differs.",
    Verdict.FAITHFUL: "every output is the same, and nothing is said about rounding.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a template sees: the report, its first sentence and the number of findings of each severity in words."""

    report: Report
    sentence: str
    counts: str


def view(report: Report) -> View:
    """The view of `report`."""
    return View(report=report, sentence=sentence(report), counts=counts(report.findings))


def sentence(report: Report) -> str:
    """What follows the verdict: the report's summary, or what the verdict means when there is none."""
    return report.summary or MEANINGS[report.verdict]


def counts(findings: Iterable[Finding]) -> str:
    """The number of findings of each severity, such as "1 error, 2 notes"; "no findings" when there are none."""
    severities = [finding.severity for finding in findings]
    numbers = [(severity, severities.count(severity)) for severity in Severity]
    return ", ".join(_counted(severity, number) for severity, number in numbers if number) or "no findings"


def location(place: Place | None) -> str:
    """Where `place` starts, as `path:line:column`; "" for None."""
    return f"{place.span.path}:{place.span.start.line}:{place.span.start.column}" if place else ""


def first_line(place: Place) -> str:
    """The first line of the text of `place`, cut where it is long."""
    line = place.text.strip().partition("\n")[0]
    return line if len(line) <= _LONG_LINE else line[:_LONG_LINE] + "..."


def snippet(place: Place) -> str:
    """The text of `place` with its lines as they stand under each other, at the left margin; a long one is cut."""
    lines = dedent(" " * (place.span.start.column - 1) + place.text).split("\n")
    left_out = len(lines) - _MANY_LINES
    return "\n".join(lines if left_out <= 0 else [*lines[:_MANY_LINES], f"... {left_out} more lines"])


def line_number(place: Place | None) -> str:
    """The line on which `place` starts; "" for None."""
    return str(place.span.start.line) if place else ""


def covered(side: SideCoverage) -> str:
    """The coverage of one side in words."""
    return f"{side.understood} of {side.total} operations understood"


def kernels(side: Input) -> str:
    """The kernels of one side in words."""
    return ", ".join(side.kernels) or "no kernel"


def short_hash(side: Input) -> str:
    """As much of the file's hash as tells files apart."""
    return side.sha256[:_HASH_SHOWN]


def _counted(severity: Severity, number: int) -> str:
    plural = "" if number == 1 or severity is Severity.PERF else "s"
    return f"{number} {severity}{plural}"
