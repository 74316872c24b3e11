import json
from dataclasses import fields
from pathlib import Path

import pytest
from tests.cli.stubs import Portcheck, Request, Rooms

from portcheck.core.errors import InputError, KnowledgeError, PortcheckError
from portcheck.core.report import Verdict
from portcheck.pipeline import request


@pytest.mark.parametrize(
    ("verdict", "fail_on", "code"),
    [
        (Verdict.NOT_FAITHFUL, "error", 1),
        (Verdict.NOT_VERIFIED, "error", 1),
        (Verdict.NEEDS_DECISION, "error", 0),
        (Verdict.NEEDS_DECISION, "warning", 1),
        (Verdict.NOT_FAITHFUL, "never", 0),
        (Verdict.FAITHFUL, "warning", 0),
    ],
)
def test_exit_code_follows_the_verdict(
    verdict: Verdict, fail_on: str, code: int, rooms: Rooms, portcheck: Portcheck
) -> None:
    rooms.verdict = verdict
    assert portcheck("diff", "kernel.cu", "port.py", "--fail-on", fail_on).code == code


def test_report_is_printed_to_standard_output_and_nothing_to_standard_error(rooms: Rooms, portcheck: Portcheck) -> None:
    outcome = portcheck("diff", "kernel.cu", "port.py")
    assert outcome.out.startswith("faithful: ")
    assert outcome.err == ""


def test_format_is_the_one_asked_for(rooms: Rooms, portcheck: Portcheck) -> None:
    assert json.loads(portcheck("diff", "kernel.cu", "port.py", "--format", "json").out)["verdict"] == "faithful"


def test_every_option_reaches_the_request(rooms: Rooms, portcheck: Portcheck, tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    options = [
        "--cuda-kernel",
        "a",
        "--cuda-kernel",
        "b",
        "--nki-kernel",
        "c",
        "--target",
        "trn2",
        "--nki-version",
        "0.6",
        "--define",
        "N=4",
        "--define",
        "FAST",
        "-I",
        "include",
        "--shape",
        "rows=500",
        "--dtype",
        "x=float16",
        "--assume",
        "stochastic-rounding",
        "--assume",
        "auto-cast=bf16",
    ]
    portcheck("diff", "kernel.cu", "port.py", *options, "--nvcc-flags", "--use_fast_math --fmad false")
    assert rooms.requests == [
        Request(
            cuda_path="kernel.cu",
            nki_path="port.py",
            cuda_kernels=("a", "b"),
            nki_kernel="c",
            target="trn2",
            nki_version="0.6",
            defines=(("N", "4"), ("FAST", "1")),
            include_roots=("include",),
            shapes=(("rows", "500"),),
            dtypes=(("x", "float16"),),
            nvcc_flags="-use_fast_math -fmad=false",
            assumptions=("stochastic-rounding", "auto-cast=bf16"),
        )
    ]


def test_ignored_nvcc_flags_are_named_and_passed_on(rooms: Rooms, portcheck: Portcheck) -> None:
    outcome = portcheck("diff", "kernel.cu", "port.py", "--nvcc-flags", "-O3 -ftz=true -DN=1")
    assert outcome.err == (
        "portcheck: note: the nvcc flag -O3 is ignored\n"
        "portcheck: note: the nvcc flag -DN=1 is ignored; pass --define NAME=VALUE\n"
    )
    assert rooms.requests[0].nvcc_flags == "-ftz=true -O3 -DN=1"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--define", "=1", "does not name a macro"),
        ("--shape", "rows", "is not NAME=VALUE"),
        ("--dtype", "x=", "is not NAME=VALUE"),
        ("--assume", "stochastic-roundin", "not an assumption"),
        ("--assume", "auto-cast", "not an assumption"),
        ("--nvcc-flags", "-fmad=maybe", "needs true or false"),
        ("--nvcc-flags", "'open", "cannot be split"),
        ("-I", "nowhere", "does not exist"),
        ("--format", "jsn", "no format called"),
        ("--output", "report.md", "is not FORMAT=PATH"),
        ("--output", "jsn=report", "no format called"),
        ("--output", "json=nowhere/report.json", "the folder nowhere does not exist"),
        ("--output", "json=.", "is a folder"),
        ("--output", "json=kernel.cu", "would write over kernel.cu"),
    ],
)
def test_a_value_that_cannot_be_used_ends_with_2_before_any_work(
    option: str, value: str, said: str, rooms: Rooms, portcheck: Portcheck
) -> None:
    outcome = portcheck("diff", "kernel.cu", "port.py", option, value)
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.out == ""
    assert rooms.requests == []


def test_a_name_given_twice_is_refused(rooms: Rooms, portcheck: Portcheck) -> None:
    outcome = portcheck("diff", "kernel.cu", "port.py", "--shape", "n=1", "--shape", "n=2")
    assert (outcome.code, "gives n twice" in outcome.err) == (2, True)


def test_quiet_prints_nothing_and_still_writes(rooms: Rooms, portcheck: Portcheck, tmp_path: Path) -> None:
    rooms.verdict = Verdict.NOT_FAITHFUL
    outcome = portcheck("diff", "kernel.cu", "port.py", "--quiet", "--nvcc-flags", "-O3", "--output", "json=r.json")
    assert (outcome.code, outcome.out, outcome.err) == (1, "", "")
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "not-faithful"


def test_several_outputs_are_written_whole(rooms: Rooms, portcheck: Portcheck, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("old")
    portcheck("diff", "kernel.cu", "port.py", "--output", "json=r.json", "--output", "markdown=r.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "r.md"]
    assert (tmp_path / "r.md").read_text().startswith("# portcheck: faithful\n")
    assert (tmp_path / "r.json").read_text() == portcheck("diff", "kernel.cu", "port.py", "--format", "json").out


def test_nothing_is_written_when_the_analysis_fails(rooms: Rooms, portcheck: Portcheck, tmp_path: Path) -> None:
    rooms.failure = InputError("no")
    portcheck("diff", "kernel.cu", "port.py", "--output", "json=r.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("failure", "code", "shown"),
    [
        (PortcheckError("broken", exit_code=70), 70, "portcheck: error: broken\n"),
        (KnowledgeError("chips.toml: no", hint="mend it"), 3, "portcheck: error: chips.toml: no\nhint: mend it\n"),
        (
            InputError("3 kernels: a, b, c", hint="pass --cuda-kernel NAME", path="kernel.cu"),
            2,
            "portcheck: error: 3 kernels: a, b, c\n  kernel.cu\nhint: pass --cuda-kernel NAME\n",
        ),
        (
            InputError("not UTF-8", path="port.py", line=12, column=3, excerpt="\tx\x1b"),
            2,
            "portcheck: error: not UTF-8\n  port.py:12:3\n  12 |     x\\x1b\n     |      ^\n",
        ),
    ],
    ids=["installation", "knowledge", "file", "place"],
)
def test_an_expected_error_is_shown_with_its_place_and_hint(
    failure: PortcheckError, code: int, shown: str, rooms: Rooms, portcheck: Portcheck
) -> None:
    rooms.failure = failure
    outcome = portcheck("diff", "kernel.cu", "port.py")
    assert (outcome.code, outcome.out, outcome.err) == (code, "", shown)


def test_an_unexpected_error_is_short_and_ends_with_70(rooms: Rooms, portcheck: Portcheck) -> None:
    rooms.failure = KeyError("\x1b[2J\nx")
    outcome = portcheck("diff", "kernel.cu", "port.py")
    assert outcome.code == 70
    assert outcome.err.startswith("portcheck: internal error: KeyError: ")
    assert "Traceback" not in outcome.err and "\x1b" not in outcome.err


def test_the_traceback_is_shown_on_request(rooms: Rooms, portcheck: Portcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTCHECK_DEBUG", "1")
    rooms.failure = KeyError("x")
    outcome = portcheck("diff", "kernel.cu", "port.py")
    assert (outcome.code, "Traceback" in outcome.err) == (70, True)


@pytest.mark.parametrize("arguments", [("diff",), ("diff", "a", "b", "--fail-on", "x"), ("nothing",), ("diff", "--x")])
def test_wrong_usage_ends_with_2(arguments: tuple[str, ...], rooms: Rooms, portcheck: Portcheck) -> None:
    outcome = portcheck(*arguments)
    assert (outcome.code, outcome.out) == (2, "")


def test_the_stub_of_a_request_has_the_fields_of_a_request() -> None:
    assert [item.name for item in fields(Request)] == [item.name for item in fields(request.Request)]
