from pathlib import Path

import pytest
from tests.reporting.sample import HOSTILE_REPORT, REPORT, SOURCES

import portcheck.reporting.formats.json_report  # noqa: F401  # a format's module must not hide a name of the door
from portcheck.core.errors import InputError, PortcheckError
from portcheck.reporting import catalogue, environment, format_names, render, single_line, visible


def test_formats_are_found() -> None:
    assert set(format_names()) >= {"json", "markdown", "terminal"}


@pytest.mark.parametrize("name", format_names())
def test_the_same_report_gives_the_same_text(name: str) -> None:
    assert render(HOSTILE_REPORT, name, sources=SOURCES) == render(HOSTILE_REPORT, name, sources=SOURCES)


@pytest.mark.parametrize("name", format_names())
def test_text_ends_with_one_line_end(name: str) -> None:
    text = render(REPORT, name)
    assert text.endswith("\n") and not text.endswith("\n\n")


def test_unknown_format_names_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        render(REPORT, "markdwn")
    assert "markdown" in caught.value.hint


def template(folder: Path, kind: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / f"report.{kind}.jinja").write_text(text)
    for module in (catalogue, environment):
        monkeypatch.setattr(module, "data_folder", lambda name: folder)


def test_a_folder_with_a_template_is_a_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template(tmp_path, "txt", "{{ report.verdict }}\n", monkeypatch)
    assert "mine" in format_names()
    assert render(REPORT, "mine") == "not-faithful\n"


@pytest.mark.parametrize(
    "text", ["{{ report.nothing }}", "{{ report.__class__.__mro__ }}"], ids=["undefined", "out of the sandbox"]
)
def test_a_template_cannot_reach_what_it_was_not_given(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template(tmp_path, "txt", text, monkeypatch)
    with pytest.raises(Exception, match=r"undefined|unsafe|no attribute"):
        render(REPORT, "mine")


def test_a_template_of_a_kind_without_escaping_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template(tmp_path, "tex", "x", monkeypatch)
    with pytest.raises(PortcheckError, match="no escaping is known"):
        render(REPORT, "mine")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\tb\r\nc", "a    b\nc"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("a\x85\u2028b", "a\\x85\\u2028b"),
        ("naïve 漢字 ±", "naïve 漢字 ±"),
    ],
)
def test_hidden_characters_are_shown_as_escapes(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_a_single_line_has_no_line_end() -> None:
    assert single_line(" a\n\n b\tc ") == "a b c"
