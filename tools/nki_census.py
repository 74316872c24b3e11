"""Counts the kernel entries and the NKI calls of Python text with `ast` alone; shares nothing with the frontend."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

MARKS = ("jit", "baremetal", "benchmark", "profile", "trace", "simulate_kernel", "nki_jit")
PACKAGES = ("language", "isa", "collectives")
ROOTS = ("nki", "neuronxcc.nki")
_MARK_LINE = re.compile(rf"^[ \t]*@(?:\w+\.)*(?:{'|'.join(MARKS)})\b", re.MULTILINE)
_ENTRY_LINE = re.compile(r"^[ \t]*def[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A kernel as it is written: its name, its line, and the NKI calls in its text and in functions that it calls.

    Calls are given as (line, column) of where they start, both from 1; functions are those of the same file.
    """

    name: str
    line: int
    calls: frozenset[tuple[int, int]] = frozenset()


def is_python(text: str) -> bool:
    """Whether CPython parses `text`."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def entries_in(text: str) -> list[Entry]:
    """The functions that a decorator of NKI makes kernels; of text that does not parse, by their lines alone."""
    if not is_python(text):
        return list(_entries_by_line(text))
    tree = ast.parse(text)
    names = dict(_imported(tree))
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_marked(node, names)]
    found.sort(key=lambda node: node.lineno)
    return [Entry(node.name, node.lineno, frozenset(_calls(text, node, functions, names))) for node in found]


def _entries_by_line(text: str) -> Iterator[Entry]:
    for mark in _MARK_LINE.finditer(text):
        defined = _ENTRY_LINE.search(text, mark.end())
        if defined:
            yield Entry(defined.group(1), text.count("\n", 0, defined.start()) + 1)


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What the imports of the file bind, by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((item.asname or item.name.partition(".")[0], item.name if item.asname else
                         item.name.partition(".")[0]) for item in node.names)  # fmt: skip
        elif isinstance(node, ast.ImportFrom):
            yield from ((item.asname or item.name, f"{node.module or ''}.{item.name}") for item in node.names)


def _dotted(node: ast.expr) -> str:
    """`a.b.c` as it is written; "" for anything else."""
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""


def _meant(node: ast.expr, names: dict[str, str]) -> str:
    first, dot, rest = _dotted(node).partition(".")
    return f"{names[first]}{dot}{rest}" if first in names else ""


def _is_marked(node: ast.FunctionDef, names: dict[str, str]) -> bool:
    for item in node.decorator_list:
        meant = _meant(item.func if isinstance(item, ast.Call) else item, names)
        is_nki = meant.rpartition(".")[2] == "nki_jit" or any(meant.startswith(f"{root}.") for root in ROOTS)
        if is_nki and meant.rpartition(".")[2] in MARKS:
            return True
    return False


def _calls(
    text: str, entry: ast.FunctionDef, functions: dict[str, ast.FunctionDef], names: dict[str, str]
) -> Iterator[tuple[int, int]]:
    lines = text.removeprefix("\ufeff").splitlines()
    pending, seen = [entry], {entry.name}
    while pending:
        for node in ast.walk(pending.pop()):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            if called in functions and called not in seen:
                seen.add(called)
                pending.append(functions[called])
            if _is_call(_meant(node.func, names)):
                start = lines[node.lineno - 1].encode()[: node.col_offset].decode()
                yield node.lineno, len(start) + 1


def _is_call(meant: str) -> bool:
    return any(meant.startswith(f"{root}.{package}.") for root in ROOTS for package in PACKAGES)
