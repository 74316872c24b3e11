import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from tests.reporting.sample import CUDA, EMPTY, HOSTILE_REPORT, NKI, ORDER, REPORT, SOURCES, TAIL
from tests.reporting.sample import at as place_in

from portcheck.core.finding import Place
from portcheck.core.report import Report, Verdict
from portcheck.core.source import Position, SourceFile, Span
from portcheck.reporting import render

ANSI = re.compile(r"\x1b\[[0-9;]*m")

reports = pytest.mark.parametrize("report", [REPORT, EMPTY, HOSTILE_REPORT], ids=["full", "empty", "hostile"])
widths = pytest.mark.parametrize("width", [40, 80, 120, 200])


def shown(report: Report, width: int = 120) -> str:
    return render(report, "terminal", width=width, sources=SOURCES)


def with_place(place: Place) -> Report:
    return replace(EMPTY, findings=(replace(ORDER, cuda=place, nki=None),))


def test_the_verdict_comes_first() -> None:
    assert shown(REPORT).startswith("not-faithful: the last rows % 128 rows of `y` are never written (PC401).\n")


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_a_sentence_when_the_report_gives_none(verdict: Verdict) -> None:
    assert shown(replace(EMPTY, verdict=verdict)).split("\n")[0].startswith(f"{verdict}: ")


@pytest.mark.parametrize(
    "text",
    [
        "rmsnorm<BLOCK=256>", "sha256 3f2a3f2a3f2a", "trn2", "0.6", "--target trn2", "original: fmad is on",
        "41 of 41 operations understood", "17 of 19", "call of an unknown function (2 times)", "port.py:8:9",
        "grid axis row answers", "128*floor(rows/128)", "__shfl_xor_sync", "reordered", "not needed", "butterfly",
        "at most 4095", "no counterpart", "squares", "PC401 tail-tile-dropped", "error, certain; concerns y",
        "PC441 output-partly-written", "accepted in the review of 12 May", "NaN rule of the engines",
        "1 error, 1 warning, 1 note",
    ],
)  # fmt: skip
def test_the_report_says(text: str) -> None:
    assert text in shown(REPORT)


def test_sections_come_top_down() -> None:
    titles = [line for line in shown(REPORT).split("\n") if line and not line.startswith(" ")]
    assert titles[1:] == [
        "Compared", "Coverage", "How the sides answer each other", "Outputs", "CUDA constructs and their counterparts",
        "Reductions", "Precision", "Findings: 1 error, 1 warning, 1 note", "Suppressed findings", "Not checked",
    ]  # fmt: skip


def test_excerpts_stand_side_by_side_with_carets_under_the_place() -> None:
    lines = [line.rstrip() for line in shown(replace(REPORT, findings=(TAIL,))).split("\n")]
    at = next(index for index, line in enumerate(lines) if "const int row" in line)
    assert re.fullmatch(r" +4 │ const int row = blockIdx.x; +│ 6 │ for t in range\(rows // P\):", lines[at])
    assert re.fullmatch(r" +│ \^{27} +│   │ {10}\^{16}", lines[at + 1])


def test_only_the_indentation_that_all_lines_share_is_left_out() -> None:
    lines = shown(with_place(place_in(NKI, "rows, dim = x.shape")), width=80).split("\n")
    assert [line.partition(" │ ")[2] for line in lines if re.match(r" +[456] │", line)] == [
        "def rmsnorm(x, w, eps):", "    rows, dim = x.shape", "    for t in range(rows // P):",
    ]  # fmt: skip


def test_a_long_place_shows_its_first_lines_and_how_many_follow() -> None:
    body = NKI.text[NKI.text.index("for t in") :].rstrip()
    lines = shown(with_place(place_in(NKI, body)), width=80).split("\n")
    at = next(index for index, line in enumerate(lines) if "for t in range(rows // P)" in line)
    assert [line[4:] for line in lines[at : at + 4]] == [
        "6 │ for t in range(rows // P):", "  │ ^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "7 │     xt = nl.ndarray((P, dim), dtype=x.dtype, buffer=nl.sbuf)", "  │ ... 4 more lines",
    ]  # fmt: skip


@pytest.mark.parametrize(("path", "said"), [("kernel.cu", "line 8 "), ("src/warp.cuh", "warp.cuh line 8 ")])
def test_a_reduction_names_its_file_only_where_that_is_not_the_compared_one(path: str, said: str) -> None:
    [row, _] = REPORT.reductions
    assert row.cuda is not None
    place = replace(place_in(CUDA, "ss += v * v"), span=replace(place_in(CUDA, "ss += v * v").span, path=path))
    report = replace(EMPTY, reductions=(replace(row, cuda=replace(row.cuda, place=place)),))
    [line] = [line for line in shown(report).split("\n") if "sum over k < dim of x[r,k]^2" in line]
    assert said in line and ("kernel.cu" in line, "src/" in line) == (False, False)


def test_narrow_excerpts_stand_one_above_the_other() -> None:
    lines = shown(REPORT, width=80).split("\n")
    assert not [line for line in lines if "kernel.cu:4:3" in line and "port.py" in line]


def test_a_place_without_its_source_shows_its_own_text() -> None:
    assert "const int row = blockIdx.x;" in render(REPORT, "terminal")


def test_a_place_beyond_its_source_shows_its_own_text() -> None:
    beyond = Place(span=Span(CUDA.path, Position(900, 1), Position(900, 5)), text="beyond the end")
    assert "900 │ beyond the end" in shown(with_place(beyond))


@pytest.mark.parametrize("column", [1, 4, 12])
def test_a_place_between_two_characters_has_one_caret(column: int) -> None:
    at = Position(1, column)
    source = SourceFile("kernel.cu", "int row = 0")
    report = with_place(Place(span=Span("kernel.cu", at, at), text=""))
    lines = render(report, "terminal", sources={"kernel.cu": source}).split("\n")
    found = next(index for index, line in enumerate(lines) if "int row" in line)
    left = lines[found + 1].split("│")[1]
    assert left.rstrip() == " " * column + "^"


def test_a_long_line_is_cut_around_the_place() -> None:
    text = "x" * 300 + "HERE" + "y" * 300
    source = SourceFile("kernel.cu", text)
    place = Place(span=source.span(300, 304), text="HERE")
    lines = render(with_place(place), "terminal", sources={"kernel.cu": source}).split("\n")
    at = next(index for index, line in enumerate(lines) if "HERE" in line)
    assert lines[at + 1][lines[at].index("HERE") :].startswith("^^^^")
    assert not lines[at + 1][lines[at].index("HERE") + 4 :].startswith("^")


@pytest.mark.parametrize("before", ["\t", "漢字", "\x1b\u202e", "é"], ids=["tab", "wide", "escapes", "accent"])
def test_carets_stand_under_the_place_after(before: str) -> None:
    source = SourceFile("kernel.cu", f"{before}HERE")
    place = Place(span=source.span(len(before), len(before) + 4), text="HERE")
    lines = render(with_place(place), "terminal", sources={"kernel.cu": source}).split("\n")
    at = next(index for index, line in enumerate(lines) if "HERE" in line)
    under = lines[at + 1]
    assert cell_len(under[: under.index("^")]) == cell_len(lines[at][: lines[at].index("HERE")])


@reports
@widths
def test_no_line_is_wider_than_asked(report: Report, width: int) -> None:
    assert max(cell_len(line) for line in shown(report, width).split("\n")) <= width


@reports
def test_nothing_hidden_is_written(report: Report) -> None:
    assert not set(shown(report)) & {"\x1b", "\u202e", "\x9b", "\r"}


def test_colour_changes_no_word() -> None:
    colored = render(REPORT, "terminal", color=True, sources=SOURCES)
    plain = "\n".join(line.rstrip() for line in ANSI.sub("", colored).split("\n"))
    assert colored != plain
    assert plain == shown(REPORT)


@pytest.mark.parametrize("variable", ["NO_COLOR", "COLUMNS", "FORCE_COLOR", "TERM"])
def test_the_environment_changes_nothing(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shown(REPORT)
    monkeypatch.setenv(variable, "33")
    assert shown(REPORT) == before
