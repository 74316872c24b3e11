"""The wheel, built from the sdist, holds every tracked file and works away from the checkout."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = ("mappings", "templates", "corpus")
PAIR = Path("row_reduction", "rmsnorm_floor_tiles")
UNTRACKED = {"__pycache__", ".DS_Store"}

# One worker, so that the wheel is built once.
pytestmark = pytest.mark.xdist_group("wheel")


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command that must succeed; nothing of this checkout is on its path."""
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a new environment that holds the wheel and what it depends on, nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder / "env", with_pip=True)
    run(folder / "env/bin/python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return folder


def source_files() -> set[str]:
    """Files of the package and the data folders: those git would commit, or all of them outside a repository."""
    folders = ("src/portcheck", *DATA)
    if not (ROOT / ".git").exists():
        walked = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
        return {path.relative_to(ROOT).as_posix() for path in walked if not UNTRACKED & set(path.parts)}
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders, cwd=ROOT)
    return {path for path in listed.split("\0") if path and (ROOT / path).exists()}


def place_in_wheel(path: str) -> str:
    return path.removeprefix("src/") if path.startswith("src/") else f"portcheck/_data/{path}"


def test_wheel_holds_exactly_the_source_files(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {entry for entry in archive.namelist() if ".dist-info/" not in entry}
    assert packed == {place_in_wheel(path) for path in source_files()}


@pytest.mark.parametrize("folder", DATA)
def test_data_folder_is_not_empty(folder: str) -> None:
    assert [path for path in source_files() if path.startswith(f"{folder}/")]


def test_installed_wheel_reports_on_a_pair_away_from_the_checkout(installed: Path) -> None:
    shutil.copytree(ROOT / "corpus" / PAIR, installed / "pair")
    command = (installed / "env/bin/portcheck", "diff", "pair/kernel.cu", "pair/port.py", "--fail-on", "never")
    assert "PC401" in run(*command, cwd=installed)
