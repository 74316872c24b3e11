from itertools import pairwise

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.reporting.sample import EMPTY, HOSTILE, HOSTILE_REPORT, REPORT, poisoned

from portcheck.core.report import Report
from portcheck.reporting import render, visible
from portcheck.reporting.markdown import Markdown, code, fence, prose

GITHUB = MarkdownIt("gfm-like", {"linkify": False, "html": True})

reports = pytest.mark.parametrize("report", [REPORT, EMPTY, HOSTILE_REPORT], ids=["full", "empty", "hostile"])


def parsed(text: str) -> list[Token]:
    """All tokens, those inside a line too."""
    blocks = GITHUB.parse(text)
    return [token for block in blocks for token in (block, *(block.children or ()))]


def shown(text: str) -> str:
    """What a reader sees of one line of Markdown, without the invisible breaks."""
    seen = "".join(token.content for token in parsed(text) if token.type in ("text", "code_inline", "text_special"))
    return seen.replace("\u200b", "")


def row_widths(tokens: list[Token]) -> list[tuple[int, int]]:
    """For every table row, its number of cells and that of its header."""
    widths: list[tuple[int, int]] = []
    cells = header = 0
    for token in tokens:
        match token.type:
            case "tr_open":
                cells = 0
            case "th_open" | "td_open":
                cells += 1
            case "thead_close":
                header = cells
            case "tr_close":
                widths.append((cells, header or cells))
            case "table_close":
                header = 0
    return widths


@reports
def test_every_table_row_has_the_cells_of_its_header(report: Report) -> None:
    assert all(cells == header for cells, header in row_widths(parsed(render(report, "markdown"))))


def test_hostile_text_adds_no_block_and_removes_none() -> None:
    def skeleton(report: Report) -> list[str]:
        return [token.type for token in GITHUB.parse(render(report, "markdown"))]

    assert skeleton(HOSTILE_REPORT) == skeleton(poisoned(REPORT, "word"))


@reports
def test_there_is_no_html_no_link_and_no_image(report: Report) -> None:
    kinds = {token.type for token in parsed(render(report, "markdown"))}
    assert kinds & {"html_block", "html_inline", "link_open", "image"} == set()


def test_mentions_and_issue_numbers_are_inert_outside_code() -> None:
    texts = [token.content for token in parsed(render(HOSTILE_REPORT, "markdown")) if token.type == "text"]
    assert not [text for text in texts if "@octocat" in text or "#12" in text or "GH-3" in text or "://" in text]


@reports
def test_nothing_hidden_is_written(report: Report) -> None:
    text = render(report, "markdown")
    assert not set(text) & {"\x1b", "\u202e", "\x9b", "\u200b"}


def test_findings_come_in_the_order_of_the_report() -> None:
    text = render(REPORT, "markdown")
    starts = [text.index(f"### {finding.code} {finding.name}") for finding in REPORT.findings]
    assert all(first < second for first, second in pairwise(starts))


def test_source_is_shown_with_its_lines_under_each_other() -> None:
    assert "```cuda\nfloat v = __half2float(x[row * dim + c]);\nss += v * v;\n```" in render(REPORT, "markdown")


@pytest.mark.parametrize(
    "text",
    ["a|b", "a\\|b", "`", "``a`", "a `b` c", "<b>", "*a* _b_", "1. a", "# a", "- a", "&amp;", "$x$", "~~a~~", HOSTILE],
)
def test_prose_shows_the_text_it_was_given(text: str) -> None:
    assert words(shown(prose(text))) == words(visible(text))


def words(text: str) -> str:
    """`text` without white space, which Markdown moves, and backticks, which it takes as marks of code."""
    return "".join(text.split()).replace("`", "")


@pytest.mark.parametrize("text", ["a|b", "a\\|b", "`", "``a`", "a`b", "<b>", "\\", "a ` | \\` b"])
def test_code_in_a_cell_shows_the_text_it_was_given(text: str) -> None:
    cells = [
        token for token in GITHUB.parse(f"| a | b |\n|---|---|\n| {code(text)} | end |\n") if token.type == "inline"
    ]
    assert len(cells) == 4
    assert "".join(token.content for token in cells[2].children or ()) == text


def test_fence_is_longer_than_any_run_inside() -> None:
    [token] = GITHUB.parse(fence("a\n````\nb\n", "cuda"))
    assert (token.type, token.info, token.content) == ("fence", "cuda", "a\n````\nb\n")


def test_parts_between_backticks_become_code() -> None:
    assert prose("`a * b` is *not* b") == Markdown("`a * b` is \\*not\\* b")
