"""Functions and files of the package stay small enough to read in one go."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
FILE_LINES = 400
FUNCTION_LINES = 60

FILES = sorted(SOURCE.rglob("*.py"))


def test_there_is_source_to_measure() -> None:
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_file_and_its_functions_are_within_the_limits(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    assert lines <= FILE_LINES, f"{file} has {lines} lines; the limit is {FILE_LINES}"
    assert long_functions(ast.parse(text)) == []


def test_a_function_over_the_limit_is_found() -> None:
    body = "\n".join(["    pass"] * FUNCTION_LINES)
    assert long_functions(ast.parse(f"def long():\n{body}\n")) == [f"line 1: long has {FUNCTION_LINES + 1} lines"]


def long_functions(tree: ast.Module) -> list[str]:
    """Functions over the limit, counted from `def` to the last line; decorators hold metadata and do not count."""
    return [
        f"line {node.lineno}: {node.name} has {lines} lines"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    ]
