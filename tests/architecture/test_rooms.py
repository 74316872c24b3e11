"""What each room may be called, import and do; import-linter checks the layers."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "portcheck"
FILES = sorted(PACKAGE.rglob("*.py"))

NAMES_THAT_SAY_NOTHING = {"utils", "util", "common", "helpers", "helper", "misc"}
ROOMS_WITHOUT_PATTERNS = {"frontends", "passes", "values", "align", "rules"}
LEXERS = {"frontends/cuda/text/lexer.py"}
HEAVY = {"tree_sitter", "tree_sitter_cuda", "libcst", "jinja2", "msgspec", "numpy", "ml_dtypes"}

HELP = """
import sys
sys.argv = ["portcheck", "--help"]
from portcheck.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("LOADED", *sorted(sys.modules))
"""


def room(file: Path) -> str:
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def name(file: Path) -> str:
    return str(file.relative_to(PACKAGE))


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> set[str]:
    """The first part of every absolute import, wherever it stands."""
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            modules.add(node.module.partition(".")[0])
    return modules


def print_lines(tree: ast.Module) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


def test_there_are_rooms_to_look_at() -> None:
    assert {"cli", "pipeline", *ROOMS_WITHOUT_PATTERNS} <= {room(file) for file in FILES}


def test_every_name_says_what_is_inside() -> None:
    vague = [path for path in PACKAGE.rglob("*") if path.stem.strip("_") in NAMES_THAT_SAY_NOTHING]
    assert vague == []


@pytest.mark.parametrize("file", [file for file in FILES if room(file) in ROOMS_WITHOUT_PATTERNS], ids=name)
def test_nothing_is_recognised_by_pattern_over_text(file: Path) -> None:
    if name(file) not in LEXERS:
        assert imported(parsed(file)) & {"re", "regex"} == set()


@pytest.mark.parametrize("file", [file for file in FILES if room(file) != "cli"], ids=name)
def test_only_the_command_line_prints(file: Path) -> None:
    assert print_lines(parsed(file)) == []


def test_help_loads_no_parser_and_no_template_engine() -> None:
    shown = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    help_text, _, loaded = shown.stdout.rpartition("LOADED ")
    assert "diff" in help_text
    assert HEAVY & set(loaded.split()) == set()
