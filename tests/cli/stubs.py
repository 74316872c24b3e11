"""Stand-ins for the rooms behind the command line, and a way to run a command as a user does."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.reporting.sample import REPORT, SOURCES

from portcheck.cli import main
from portcheck.core.errors import InputError
from portcheck.core.finding import Certainty, Severity
from portcheck.core.report import Report, Verdict
from portcheck.core.source import SourceFile


@dataclass(frozen=True, kw_only=True)
class Request:
    """The fields that `portcheck.pipeline.Request` has."""

    cuda_path: str
    nki_path: str
    cuda_kernels: tuple[str, ...] = ()
    nki_kernel: str | None = None
    target: str | None = None
    nki_version: str | None = None
    defines: tuple[tuple[str, str], ...] = ()
    include_roots: tuple[str, ...] = ()
    nki_roots: tuple[str, ...] = ()
    shapes: tuple[tuple[str, str], ...] = ()
    dtypes: tuple[tuple[str, str], ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    nvcc_flags: str = ""
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Analysis:
    report: Report
    sources: Mapping[str, SourceFile]


@dataclass(frozen=True)
class Example:
    title: str
    cuda: str
    nki: str


@dataclass(frozen=True)
class Rule:
    code: str = "PC401"
    name: str = "tail-tile-dropped"
    severity: Severity = Severity.ERROR
    certainty: Certainty = Certainty.CERTAIN
    summary: str = "A trip count floors where the original covers the remainder."
    documentation: str = "Why it matters: rows are never written."
    examples: tuple[Example, ...] = (Example("asserted", "int r;\nint s;\n", "assert rows % P == 0\n"),)


@dataclass(frozen=True)
class RuleScore:
    code: str
    expected: int
    found: int
    false_alarms: int


@dataclass(frozen=True)
class CorpusScore:
    pairs: int = 4
    verdicts_right: int = 3
    expected: int = 8
    found: int = 6
    false_alarms: int = 1
    rules: tuple[RuleScore, ...] = (RuleScore("PC401", 8, 6, 0), RuleScore("PC305", 0, 0, 1))
    misses: tuple[str, ...] = ("elementwise/axpy: PC401",)
    alarms: tuple[str, ...] = ("matmul/tiled: PC305",)


@dataclass
class Rooms:
    """What the stubs answer, and what they were asked."""

    verdict: Verdict = Verdict.FAITHFUL
    failure: Exception | None = None
    programs: dict[str, Any] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def check(self, request: Request, **_: Any) -> Analysis:
        self.requests.append(request)
        if self.failure:
            raise self.failure
        return Analysis(replace(REPORT, verdict=self.verdict), SOURCES)

    def program_of(self, path: str, names: tuple[str, ...] = (), **_: Any) -> Any:
        return self.programs[path]


def exit_code(verdict: Verdict, fail_on: str) -> int:
    failing = {
        "error": {Verdict.NOT_FAITHFUL, Verdict.NOT_VERIFIED},
        "warning": {Verdict.NOT_FAITHFUL, Verdict.NOT_VERIFIED, Verdict.NEEDS_DECISION},
        "never": set(),
    }
    return 1 if verdict in failing[fail_on] else 0


def find_rule(code_or_name: str) -> Rule:
    rule = Rule()
    if code_or_name not in (rule.code, rule.name):
        raise InputError(f'there is no rule "{code_or_name}"', hint='did you mean "PC401"?')
    return rule


def module(name: str, **contents: Any) -> ModuleType:
    stub = ModuleType(name)
    vars(stub).update(contents)
    return stub


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Rooms:
    """Stubs in place of pipeline, rubric, rules and the printer of the IR; the working folder is empty."""
    answers = Rooms()
    stubs = (
        module(
            "portcheck.pipeline",
            Request=Request,
            check=answers.check,
            program_of=answers.program_of,
            score_corpus=CorpusScore,
        ),
        module("portcheck.rubric", exit_code=exit_code),
        module("portcheck.rules", all_rules=lambda: (Rule(),), find_rule=find_rule),
        module("portcheck.ir.text", print_program=lambda program: f"program {program.path}"),
    )
    for stub in stubs:
        monkeypatch.setitem(sys.modules, stub.__name__, stub)
    monkeypatch.chdir(tmp_path)
    return answers


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


class Portcheck:
    """Runs the program with arguments as a user types them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Outcome:
        self._monkeypatch.setattr(sys, "argv", ["portcheck", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        shown = self._capsys.readouterr()
        code = end.value.code
        assert code is None or isinstance(code, int)
        return Outcome(code or 0, shown.out, shown.err)
