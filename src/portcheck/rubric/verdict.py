"""The verdict for a pair (docs/explanation/verdicts.md), its one sentence, and the exit code it gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from portcheck.core.finding import Certainty, Finding, Severity
from portcheck.core.report import OutputRow, Verdict

EXIT_FINDINGS = 1
_UNREADABLE = "PC002"
_EQUAL, _UNDECIDED = "equal", "undecided"
_FAILING = {
    "error": {Verdict.NOT_FAITHFUL, Verdict.NOT_VERIFIED},
    "warning": {Verdict.NOT_FAITHFUL, Verdict.NOT_VERIFIED, Verdict.NEEDS_DECISION},
    "never": set[Verdict](),
}


def verdict(findings: Sequence[Finding], outputs: Sequence[OutputRow]) -> Verdict:
    """The most severe verdict that applies. `findings` are the unsuppressed ones."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    warnings = [finding for finding in findings if finding.severity is Severity.WARNING]
    if any(finding.certainty is not Certainty.HINT for finding in errors):
        return Verdict.NOT_FAITHFUL
    if not outputs or _unproved(findings, outputs):
        return Verdict.NOT_VERIFIED
    if warnings or errors:
        return Verdict.NEEDS_DECISION
    if any(finding.about_rounding for finding in findings):
        return Verdict.WITHIN_TOLERANCE
    return Verdict.FAITHFUL


def _unproved(findings: Sequence[Finding], outputs: Sequence[OutputRow]) -> list[str]:
    """The outputs that are not proved equal, and for which no warning or error says how they differ."""
    said = {
        name for finding in findings if finding.severity in (Severity.WARNING, Severity.ERROR)
        for name in finding.outputs
    }  # fmt: skip
    return [
        output.name for output in outputs
        if output.status == _UNDECIDED or (output.status != _EQUAL and output.name not in said)
    ]  # fmt: skip


def summary(outcome: Verdict, findings: Sequence[Finding], outputs: Sequence[OutputRow]) -> str:
    """The verdict in one sentence."""
    unproved = _unproved(findings, outputs)
    match outcome:
        case Verdict.NOT_FAITHFUL if any(finding.code == _UNREADABLE for finding in findings):
            return "The port could not be read, so nothing was compared."
        case Verdict.NOT_FAITHFUL:
            named = _named(finding for finding in findings if finding.severity is Severity.ERROR)
            return f"The port does not compute what the original computes: {named}."
        case Verdict.NOT_VERIFIED if not outputs:
            return "Nothing could be verified: no output of the original was found."
        case Verdict.NOT_VERIFIED:
            warned = _named(finding for finding in findings if finding.severity is Severity.WARNING)
            also = f" Besides, someone must decide on {warned}." if warned else ""
            return f"No fault was found, but equality of {_list(unproved)} was not proved.{also}"
        case Verdict.NEEDS_DECISION:
            named = _named(finding for finding in findings if finding.severity in (Severity.ERROR, Severity.WARNING))
            return f"Someone must decide on {named}."
        case Verdict.WITHIN_TOLERANCE:
            return "Every output is the same real function of the inputs; only rounding differs."
        case Verdict.FAITHFUL:
            return "Every output is the same real function of the inputs; no rule found a change of rounding."


def _named(findings: Iterable[Finding]) -> str:
    names = dict.fromkeys(f"{finding.code} {finding.name}" for finding in findings)
    return _list(list(names))


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1] if names else ""


def exit_code(outcome: Verdict, fail_on: str) -> int:
    """The exit code of `diff`: 1 if `outcome` is one that `fail_on` (error, warning or never) fails on, else 0."""
    return EXIT_FINDINGS if outcome in _FAILING[fail_on] else 0
