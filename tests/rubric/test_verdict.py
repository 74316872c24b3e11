"""The verdict table of docs/explanation/verdicts.md: each row, which row wins, its sentence and its exit code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from portcheck.core.finding import Certainty, Finding, Severity
from portcheck.core.report import OutputRow, Verdict
from portcheck.rubric import exit_code, summary, verdict


def _finding(severity: Severity, certainty: Certainty, *, code: str = "PC900", rounding: bool = False) -> Finding:
    return Finding(
        code=code,
        name="made-up",
        severity=severity,
        certainty=certainty,
        message="",
        remedy="",
        about_rounding=rounding,
    )


def _output(status: str, name: str = "y") -> OutputRow:
    return OutputRow(name=name, counterpart=name, status=status, cuda="", nki="")


CERTAIN = _finding(Severity.ERROR, Certainty.CERTAIN)
LIKELY = _finding(Severity.ERROR, Certainty.LIKELY)
HINT = _finding(Severity.ERROR, Certainty.HINT)
WARNING = _finding(Severity.WARNING, Certainty.CERTAIN, code="PC901")
WARNING_OF_Y = replace(WARNING, outputs=("y",))
NOTE = _finding(Severity.NOTE, Certainty.CERTAIN)
ROUNDING = _finding(Severity.NOTE, Certainty.CERTAIN, rounding=True)
PERF = _finding(Severity.PERF, Certainty.CERTAIN)
EQUAL, UNDECIDED, DIFFERS, MISSING = (_output(status) for status in ("equal", "undecided", "differs", "missing"))

TABLE = {
    "a certain error": ((CERTAIN,), (EQUAL,), Verdict.NOT_FAITHFUL),
    "a likely error": ((LIKELY,), (EQUAL,), Verdict.NOT_FAITHFUL),
    "an error about a missing output": ((CERTAIN,), (MISSING,), Verdict.NOT_FAITHFUL),
    "an error before an undecided output": ((LIKELY,), (UNDECIDED,), Verdict.NOT_FAITHFUL),
    "an error before no outputs": ((CERTAIN,), (), Verdict.NOT_FAITHFUL),
    "an error before a warning": ((WARNING, LIKELY), (EQUAL,), Verdict.NOT_FAITHFUL),
    "an error before a hint": ((HINT, CERTAIN), (EQUAL,), Verdict.NOT_FAITHFUL),
    "an undecided output": ((), (UNDECIDED,), Verdict.NOT_VERIFIED),
    "one undecided output of two": ((), (EQUAL, UNDECIDED), Verdict.NOT_VERIFIED),
    "no outputs": ((), (), Verdict.NOT_VERIFIED),
    "an undecided output before a warning": ((WARNING,), (UNDECIDED,), Verdict.NOT_VERIFIED),
    "an undecided output before a hint": ((HINT,), (UNDECIDED,), Verdict.NOT_VERIFIED),
    "an undecided output before rounding": ((ROUNDING,), (UNDECIDED,), Verdict.NOT_VERIFIED),
    "no outputs before a warning": ((WARNING,), (), Verdict.NOT_VERIFIED),
    "a warning": ((WARNING,), (EQUAL,), Verdict.NEEDS_DECISION),
    "a warning that names how an output differs": ((WARNING_OF_Y,), (DIFFERS,), Verdict.NEEDS_DECISION),
    "a warning beside an output that differs": ((WARNING,), (DIFFERS,), Verdict.NOT_VERIFIED),
    "an output that is missing and nothing says so": ((NOTE,), (MISSING,), Verdict.NOT_VERIFIED),
    "an output that is missing beside one that is equal": ((), (EQUAL, _output("missing", "z")), Verdict.NOT_VERIFIED),
    "a hint": ((HINT,), (EQUAL,), Verdict.NEEDS_DECISION),
    "a warning before rounding": ((ROUNDING, WARNING), (EQUAL,), Verdict.NEEDS_DECISION),
    "a note about rounding": ((ROUNDING,), (EQUAL,), Verdict.WITHIN_TOLERANCE),
    "rounding beside other notes": ((NOTE, ROUNDING, PERF), (EQUAL,), Verdict.WITHIN_TOLERANCE),
    "a note about something else": ((NOTE,), (EQUAL,), Verdict.FAITHFUL),
    "performance only": ((PERF,), (EQUAL,), Verdict.FAITHFUL),
    "nothing": ((), (EQUAL, EQUAL), Verdict.FAITHFUL),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_most_severe_row_that_holds_is_the_verdict(name: str) -> None:
    findings, outputs, expected = TABLE[name]
    assert verdict(findings, outputs) is expected


@pytest.mark.parametrize("name", TABLE)
def test_the_order_of_findings_and_outputs_does_not_matter(name: str) -> None:
    findings, outputs, expected = TABLE[name]
    assert verdict(findings[::-1], outputs[::-1]) is expected


EXIT_CODES = {
    "error": {Verdict.NOT_FAITHFUL: 1, Verdict.NOT_VERIFIED: 1, Verdict.NEEDS_DECISION: 0},
    "warning": {Verdict.NOT_FAITHFUL: 1, Verdict.NOT_VERIFIED: 1, Verdict.NEEDS_DECISION: 1},
    "never": {Verdict.NOT_FAITHFUL: 0, Verdict.NOT_VERIFIED: 0, Verdict.NEEDS_DECISION: 0},
}


@pytest.mark.parametrize("fail_on", EXIT_CODES)
def test_fail_on_draws_the_line_of_exit_code_1(fail_on: str) -> None:
    expected = {Verdict.WITHIN_TOLERANCE: 0, Verdict.FAITHFUL: 0} | EXIT_CODES[fail_on]
    assert {outcome: exit_code(outcome, fail_on) for outcome in Verdict} == expected


UNREADABLE = _finding(Severity.ERROR, Certainty.CERTAIN, code="PC002")
TWO_UNDECIDED = (UNDECIDED, EQUAL, _output("undecided", "z"))
SUMMARIES = {
    "errors, each code once": (
        Verdict.NOT_FAITHFUL, (CERTAIN, WARNING, CERTAIN), (EQUAL,),
        "The port does not compute what the original computes: PC900 made-up.",
    ),
    "a port that could not be read": (
        Verdict.NOT_FAITHFUL, (CERTAIN, UNREADABLE), (),
        "The port could not be read, so nothing was compared.",
    ),
    "no outputs": (
        Verdict.NOT_VERIFIED, (WARNING,), (), "Nothing could be verified: no output of the original was found.",
    ),
    "undecided outputs": (
        Verdict.NOT_VERIFIED, (NOTE,), TWO_UNDECIDED, "No fault was found, but equality of y and z was not proved.",
    ),
    "undecided, and a warning": (
        Verdict.NOT_VERIFIED, (WARNING,), (UNDECIDED,),
        "No fault was found, but equality of y was not proved. Besides, someone must decide on PC901 made-up.",
    ),
    "a decision": (
        Verdict.NEEDS_DECISION, (HINT, WARNING, NOTE), (EQUAL,),
        "Someone must decide on PC900 made-up and PC901 made-up.",
    ),
    "rounding": (
        Verdict.WITHIN_TOLERANCE, (ROUNDING,), (EQUAL,),
        "Every output is the same real function of the inputs; only rounding differs.",
    ),
    "faithful": (
        Verdict.FAITHFUL, (), (EQUAL,),
        "Every output is the same real function of the inputs; no rule found a change of rounding.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_summary_says_the_verdict_in_one_sentence(name: str) -> None:
    outcome, findings, outputs, expected = SUMMARIES[name]
    assert summary(outcome, findings, outputs) == expected


def test_every_verdict_has_a_summary_in_the_table() -> None:
    assert {outcome for outcome, *_ in SUMMARIES.values()} == set(Verdict)
