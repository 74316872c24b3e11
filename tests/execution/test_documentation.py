"""The example that explains execution prints what the page says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "execution.md"


def test_the_example_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    blocks = dict(block.split("\n", 1) for block in PAGE.read_text(encoding="utf-8").split("```")[1::2])
    (tmp_path / "block_sum.cu").write_text(blocks["cuda"], encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", blocks["python"]], cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert (run.stderr, run.stdout) == ("", blocks["text"])
