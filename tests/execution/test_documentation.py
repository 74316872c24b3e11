"""The examples that explain execution print what the page says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "execution.md"


@pytest.mark.parametrize(
    ("part", "language", "file"), [(0, "cuda", "block_sum.cu"), (1, "nki", "row_sum.py")]
)  # fmt: skip
def test_the_example_of_the_page_prints_what_it_says(tmp_path: Path, part: int, language: str, file: str) -> None:
    text = PAGE.read_text(encoding="utf-8").split("## Running a port")[part]
    blocks = dict(block.split("\n", 1) for block in text.split("```")[1::2])
    (tmp_path / file).write_text(blocks[language], encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", blocks["python"]], cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert (run.stderr, run.stdout) == ("", blocks["text"])
