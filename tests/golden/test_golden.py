"""The golden reports are what portcheck writes today, to the byte."""

from pathlib import Path

import pytest
from tools.golden import GOLDEN, PAIRS, README, SUFFIXES, golden_file, left_over, reports

FILES = [golden_file(pair, suffix) for pair in PAIRS for suffix in SUFFIXES.values()]


@pytest.fixture(scope="module")
def wanted() -> dict[Path, str]:
    return reports()


@pytest.mark.parametrize("file", [*FILES, README], ids=lambda file: file.name)
def test_a_golden_report_is_what_would_be_written(file: Path, wanted: dict[Path, str]) -> None:
    assert file.read_bytes().decode() == wanted[file], "run make golden and read the difference"


def test_no_golden_report_is_left_over(wanted: dict[Path, str]) -> None:
    assert left_over(wanted) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_paths_in_a_golden_report_are_those_of_the_checkout(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert "corpus/" in text and str(GOLDEN.parents[1]) not in text
