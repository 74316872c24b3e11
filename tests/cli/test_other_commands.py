import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.cli.stubs import Portcheck, Rooms
from typer.testing import CliRunner

from portcheck.cli.application import app
from portcheck.reporting import schema

KERNEL = SimpleNamespace(
    name="rmsnorm",
    span=SimpleNamespace(start=SimpleNamespace(line=4)),
    parameters=(SimpleNamespace(name="x"), SimpleNamespace(name="w")),
)


@pytest.mark.parametrize("arguments", [(), ("diff",), ("explain",), ("list",), ("ir",), ("schema",), ("corpus",)])
def test_help_is_shown_on_standard_output(arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*arguments, "--help"])
    assert result.exit_code == 0
    assert "Usage: " in result.stdout


def test_version_is_printed(portcheck: Portcheck) -> None:
    outcome = portcheck("--version")
    assert (outcome.code, outcome.out.startswith("portcheck ")) == (0, True)


def test_schema_is_that_of_the_report(portcheck: Portcheck) -> None:
    assert portcheck("schema").out == schema()


@pytest.mark.parametrize("rule", ["PC401", "tail-tile-dropped"])
def test_explain_shows_the_whole_rule(rule: str, rooms: Rooms, portcheck: Portcheck) -> None:
    assert portcheck("explain", rule).out == (
        "PC401 tail-tile-dropped\nerror, at most certain\n\n"
        "A trip count floors where the original covers the remainder.\n\n"
        "Why it matters: rows are never written.\n\n"
        "Example: title: asserted\ncuda:\n    int r;\n    int s;\nnki: assert rows % P == 0\n"
    )


def test_explain_offers_the_nearest_rule(rooms: Rooms, portcheck: Portcheck) -> None:
    outcome = portcheck("explain", "PC41")
    assert (outcome.code, 'did you mean "PC401"?' in outcome.err) == (2, True)


def test_list_rules_prints_one_a_line(rooms: Rooms, portcheck: Portcheck) -> None:
    assert portcheck("list", "rules").out == (
        "PC401  tail-tile-dropped  error  certain  A trip count floors where the original covers the remainder.\n"
    )


def test_list_targets_prints_every_chip(portcheck: Portcheck) -> None:
    names = [line.split()[0] for line in portcheck("list", "targets").out.splitlines()]
    assert "trn2" in names and names == sorted(names)


def test_list_kernels_prints_name_line_and_parameters(rooms: Rooms, portcheck: Portcheck) -> None:
    rooms.programs["port.py"] = SimpleNamespace(kernels=(KERNEL,))
    assert portcheck("list", "kernels", "port.py").out == "rmsnorm  4  x, w\n"


@pytest.mark.parametrize("command", [("list", "kernels"), ("ir",)], ids=" ".join)
def test_a_file_without_kernels_is_said_and_is_no_error(
    command: tuple[str, ...], rooms: Rooms, portcheck: Portcheck
) -> None:
    rooms.programs["empty.cu"] = SimpleNamespace(kernels=(), path="empty.cu")
    outcome = portcheck(*command, "empty.cu")
    assert (outcome.code, outcome.err) == (0, "portcheck: note: empty.cu holds no kernel\n")


def test_ir_prints_the_text_form(rooms: Rooms, portcheck: Portcheck) -> None:
    rooms.programs["port.py"] = SimpleNamespace(kernels=(KERNEL,), path="port.py")
    assert portcheck("ir", "port.py", "--kernel", "rmsnorm").out == "program port.py\n"


def test_corpus_score_is_printed_rule_by_rule(rooms: Rooms, portcheck: Portcheck) -> None:
    shown = portcheck("corpus", "score").out
    for text in ("6 of 8 (75.0 %)", "PC401  8         6         75.0 %  0", "missed: elementwise/axpy: PC401"):
        assert text in shown


def test_corpus_score_as_json(rooms: Rooms, portcheck: Portcheck) -> None:
    assert json.loads(portcheck("corpus", "score", "--json").out)["rules"][0]["code"] == "PC401"


MACROS = """#include "width.h"
__global__ void k(float* y) { y[threadIdx.x] = WIDTH + SHIFT; }
#ifdef MORE
__global__ void l(float* y) { y[0] = 1.f; }
#endif
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A source with a header in another folder."""
    (tmp_path / "project").mkdir()
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "width.h").write_text("#define WIDTH 256.f\n")
    (tmp_path / "project" / "k.cu").write_text(MACROS)
    monkeypatch.chdir(tmp_path / "project")
    return "k.cu"


def test_ir_reads_macros_and_headers_that_are_given(source: str, portcheck: Portcheck) -> None:
    given = portcheck("ir", source, "-I", "../headers", "--define", "SHIFT=32.f")
    assert (given.code, given.err) == (0, "")
    assert "256" in given.out and "WIDTH" not in given.out and "SHIFT" not in given.out
    without = portcheck("ir", source)
    assert "WIDTH" in without.out and "SHIFT" in without.out


def test_list_kernels_reads_macros_that_are_given(source: str, portcheck: Portcheck) -> None:
    assert portcheck("list", "kernels", source).out == "k  2  y\n"
    assert portcheck("list", "kernels", source, "--define", "MORE", "--define", "SHIFT=1").out == "k  2  y\nl  4  y\n"


@pytest.mark.parametrize("command", [("list", "kernels"), ("ir",)], ids=" ".join)
@pytest.mark.parametrize("option", [("--define", "=3"), ("-I", "nowhere")], ids=" ".join)
def test_options_that_say_nothing_are_refused(
    command: tuple[str, ...], option: tuple[str, ...], source: str, portcheck: Portcheck
) -> None:
    outcome = portcheck(*command, source, *option)
    assert (outcome.code, outcome.out) == (2, "")
    assert "hint: " in outcome.err
