"""Failures inside portcheck and text that does not parse: nothing is proved, and nothing is blamed on the port."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import pytest
from tests.pipeline.pairs import PROVED, SCALING, SCALING_PORT, report_of

from portcheck.core.errors import InputError
from portcheck.core.finding import Severity
from portcheck.core.report import Report, Verdict
from portcheck.ir import Program, Side
from portcheck.pipeline import Request, check, program_of

CHECK = import_module("portcheck.pipeline.check")
FAULTY_PORT = SCALING_PORT.replace("range(0, n, 128)", "range(0, 128 * (n // 128), 128)")


def _errors(report: Report) -> list[str]:
    return [finding.code for finding in report.findings if finding.severity is Severity.ERROR]


def _raising(*_: object) -> NoReturn:
    raise RuntimeError("a bug")


def _only_on(side: Side, real: Callable[[Program], object]) -> Callable[[Program], object]:
    def evaluated(program: Program) -> object:
        return _raising() if program.side is side else real(program)

    return evaluated


TWO_OUTPUTS = """\
__global__ void k(float* y, float* z, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  BODY
  if (i < n) { y[i] = 2.f * x[i]; z[i] = -x[i]; }
}
void run(float* y, float* z, const float* x, int n) { k<<<(n + 255) / 256, 256>>>(y, z, x, n); }
"""
TWO_OUTPUTS_PORT = """\
def k(x):
    (n,) = x.shape
    y = nl.ndarray((n,), dtype=x.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray((n,), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(n):
        a = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        b = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[i:i + 1].reshape((1, 1)))
        nisa.tensor_scalar(dst=b, data=a, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=y[i:i + 1].reshape((1, 1)), src=b)
        nisa.tensor_scalar(dst=b, data=a, op0=nl.multiply, operand0=-1.0)
        nisa.dma_copy(dst=z[i:i + 1].reshape((1, 1)), src=b)
    return y, z
"""
FAILURES = {
    "the values of the original": ("evaluate", _only_on(Side.CUDA, CHECK.evaluate), "what the original computes"),
    "the values of the port": ("evaluate", _only_on(Side.NKI, CHECK.evaluate), "what the port computes"),
    "the correspondence": ("align", _raising, "the correspondence"),
}


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """What the report says of the room that fails."""
    room, stub, what = FAILURES[request.param]
    monkeypatch.delenv("PORTCHECK_DEBUG", raising=False)
    monkeypatch.setattr(CHECK, room, stub)
    return f"{what}: the analysis failed (RuntimeError); please report this as a bug"


@pytest.mark.parametrize("failing", FAILURES, indirect=True)
@pytest.mark.parametrize("port", [SCALING_PORT, FAULTY_PORT], ids=["a right port", "a wrong port"])
def test_a_failure_inside_is_said_and_leaves_the_pair_not_verified(failing: str, port: str, tmp_path: Path) -> None:
    report = report_of(tmp_path, SCALING, port)
    assert report.verdict is Verdict.NOT_VERIFIED
    assert failing in report.not_checked
    assert _errors(report) == []


def test_values_nested_too_deeply_are_no_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(program: Program) -> object:
        return endless(program)

    monkeypatch.setattr(CHECK, "evaluate", endless)
    report = report_of(tmp_path, SCALING, SCALING_PORT)
    assert report.verdict is Verdict.NOT_VERIFIED
    assert "what the port computes: it is nested too deeply to be worked out" in report.not_checked
    assert not any("bug" in said for said in report.not_checked)


def test_the_wrong_port_is_blamed_where_nothing_fails(tmp_path: Path) -> None:
    assert _errors(report_of(tmp_path, SCALING, FAULTY_PORT))


def test_a_failure_inside_is_raised_for_who_debugs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTCHECK_DEBUG", "1")
    monkeypatch.setattr(CHECK, "align", _raising)
    with pytest.raises(RuntimeError, match="a bug"):
        report_of(tmp_path, SCALING, SCALING_PORT)


def test_a_program_that_contradicts_itself_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PORTCHECK_DEBUG", raising=False)
    monkeypatch.setattr(CHECK, "verify", lambda program: ["%1: bad"] if program.side is Side.NKI else [])
    report = report_of(tmp_path, SCALING, SCALING_PORT)
    assert "the lowered port is inconsistent (%1: bad); please report this as a bug" in report.not_checked


BROKEN = {
    "a missing bracket": "x[;",
    "a missing parenthesis": "if (n > 3 { return; }",
    "no value": "y[0] = ;",
    "characters of no token": "@@@ y;",
    "an assembly statement that does not end": 'asm volatile("x" ::: ;',
    "unknown macros": "FOO BAR baz;",
}


@pytest.mark.parametrize("name", BROKEN)
def test_text_that_does_not_parse_leaves_every_output_of_its_kernel_undecided(name: str, tmp_path: Path) -> None:
    original = SCALING.replace("  for", f"  {BROKEN[name]}\n  for")
    report = report_of(tmp_path, original, SCALING_PORT)
    assert report.verdict is Verdict.NOT_VERIFIED
    assert [output.status for output in report.outputs] == ["undecided"]
    assert "PC001" in {finding.code for finding in report.findings}


def test_every_output_of_a_kernel_is_undecided_not_only_the_one_beside_the_text(tmp_path: Path) -> None:
    original = TWO_OUTPUTS.replace("BODY", "@@@ y;")
    report = report_of(tmp_path, original, TWO_OUTPUTS_PORT)
    assert [(output.name, output.status) for output in report.outputs] == [("y", "undecided"), ("z", "undecided")]


def test_both_outputs_are_equal_without_that_text(tmp_path: Path) -> None:
    report = report_of(tmp_path, TWO_OUTPUTS.replace("BODY", ""), TWO_OUTPUTS_PORT)
    assert [(output.name, output.status) for output in report.outputs] == [("y", "equal"), ("z", "equal")]


@pytest.mark.parametrize("name", BROKEN)
def test_text_of_another_kernel_that_does_not_parse_changes_nothing(name: str, tmp_path: Path) -> None:
    other = f"__global__ void other(float* z) {{\n  {BROKEN[name]}\n  z[0] = 0.f;\n}}\n"
    report = report_of(tmp_path, other + SCALING, SCALING_PORT, kernel="k")
    assert report.verdict in PROVED
    assert "PC001" not in {finding.code for finding in report.findings}


def test_a_port_that_is_not_python_is_an_error_and_nothing_is_compared(tmp_path: Path) -> None:
    report = report_of(tmp_path, SCALING, SCALING_PORT.replace("return y", "return (y"))
    assert (report.verdict, _errors(report), report.outputs) == (Verdict.NOT_FAITHFUL, ["PC002"], ())


REQUEST = Request(cuda_path="missing.cu", nki_path="missing.py")
NO_SUCH = {
    "target": (replace(REQUEST, target="trn22"), "there is no target called trn22", "did you mean"),
    "version": (replace(REQUEST, nki_version="9.9"), 'there is no NKI version "9.9"', "0.1 stands for"),
    "version of an SDK": (replace(REQUEST, nki_version="x/2"), 'there is no NKI version "x/2"', "0.1 stands for"),
    "dtype": (
        replace(REQUEST, dtypes=(("x", "float31"),)), '--dtype x: there is no dtype "float31"', "did you mean",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_SUCH)
def test_what_does_not_exist_is_refused_before_the_files_are_read(name: str) -> None:
    request, message, hint = NO_SUCH[name]
    with pytest.raises(InputError) as caught:
        check(request)
    assert caught.value.message.startswith(message)
    assert hint in caught.value.hint


def test_the_program_of_one_file_is_that_of_the_kernels_named(tmp_path: Path) -> None:
    path = tmp_path / "two.cu"
    path.write_text("__global__ void a(float* y) { y[0] = 0.f; }\n__global__ void b(float* y) { y[0] = 1.f; }\n")
    named, whole = program_of(str(path), ["b"]), program_of(str(path))
    assert [[kernel.name for kernel in program.kernels] for program in (named, whole)] == [["b"], ["a", "b"]]


def test_a_kernel_that_is_not_in_the_one_file_is_refused_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "one.cu"
    path.write_text("__global__ void scale(float* y) { y[0] = 0.f; }\n")
    with pytest.raises(InputError) as caught:
        program_of(str(path), ["scael"])
    assert (caught.value.message, caught.value.hint) == (
        f"{path} has no kernel called scael; it has scale",
        'did you mean "scale"?',
    )
