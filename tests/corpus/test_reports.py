"""On every labelled pair: the JSON report fits its schema. And the same pair gives the same bytes anywhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from portcheck.pipeline import Request, check
from portcheck.pipeline.corpus import Label, labels
from portcheck.reporting import format_names, render, schema

LABELS = list(labels())
ROOT = Path(__file__).parents[2]
PAIR = Path("corpus", "row_reduction", "rmsnorm_floor_tiles")
VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema()))

RENDER = "from portcheck.cli import main; main()"


@pytest.mark.parametrize("label", LABELS, ids=[label.slug for label in LABELS])
def test_the_json_report_fits_the_schema(label: Label) -> None:
    request = Request(cuda_path=str(label.path / "kernel.cu"), nki_path=str(label.path / "port.py"))
    report = check(request).report
    VALIDATOR.validate(json.loads(render(report, "json")))


@pytest.mark.parametrize("format_name", format_names())
def test_the_same_pair_gives_the_same_bytes_in_another_folder_and_with_other_hashes(
    format_name: str, tmp_path: Path
) -> None:
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    first, second = (printed(format_name, folder, seed) for folder, seed in ((ROOT, "1"), (tmp_path, "4242")))
    assert len(first) > 1000
    assert first == second


def printed(format_name: str, folder: Path, seed: str) -> bytes:
    """What a new process in `folder` prints of the pair, with this seed of its hashes."""
    command = [sys.executable, "-c", RENDER, "diff", str(PAIR / "kernel.cu"), str(PAIR / "port.py")]
    done = subprocess.run(
        [*command, "--format", format_name, "--fail-on", "never"],
        cwd=folder, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
