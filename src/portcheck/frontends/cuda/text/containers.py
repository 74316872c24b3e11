"""CUDA text held in the strings of a Python file: found, put together, and every character of it with its place.

What is given to a call decides (a list is one text), then what is assigned to a name. A text counts that holds the head
of a kernel; one that is only known when the file runs is left out and noted. The file is parsed, never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda.text.origins import Origins
from portcheck.frontends.cuda.text.python_strings import Stretch, stretches_of

_ENTRY = "__global__"
_DEEPEST = 20
"""Names of names of names."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The CUDA text of a Python file, where it stands in the file, and what of it could not be put together."""

    text: str
    origins: Origins
    notes: tuple[str, ...] = ()


def embedded(source: SourceFile) -> Embedded:
    """The CUDA text of a Python file; empty where the file is no Python or holds none."""
    texts: list[list[Stretch]] = []
    notes: tuple[str, ...] = ()
    if _ENTRY in source.text:
        try:
            reader = _Reader(source, ast.parse(source.text))
            texts = list(reader.texts())
            notes = tuple(reader.notes)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    origins = Origins()
    parts: list[str] = []
    length = 0
    for stretches in texts:
        for text, start, end in (*stretches, _line_end(stretches)):
            origins.add(length, start, end)
            parts.append(text)
            length += len(text)
    return Embedded("".join(parts), origins, notes)


def _line_end(stretches: list[Stretch]) -> Stretch:
    text, start, end = stretches[-1]
    place = end if end >= 0 else start + len(text)
    return Stretch("\n", place, place)


class _Reader:
    """The constant strings of one module."""

    def __init__(self, source: SourceFile, tree: ast.Module) -> None:
        self._source = source
        self._tree = tree
        self._bound = _bound_once(tree)
        self._read: set[int] = set()
        self.notes: list[str] = []

    def texts(self) -> Iterator[list[Stretch]]:
        """The texts that hold kernels: those given to calls first, then those that are only assigned or returned."""
        for expression in _given(self._tree):
            used: set[int] = set()
            stretches = self._value(expression, used, 0)
            if not stretches or used <= self._read or not _holds_kernel(stretches):
                continue
            self._read |= used
            yield stretches
        alone = _documentation(self._tree)
        for node in ast.walk(self._tree):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and _ENTRY in node.value):
                continue
            if id(node) not in self._read | alone:
                self.notes.append(f"the CUDA text on line {node.lineno} is put together when the file runs; not read")

    def _value(self, node: ast.expr, used: set[int], depth: int) -> list[Stretch] | None:
        """The string or strings that an expression is; None where it is not constant. `used` takes its literals."""
        match node:
            case ast.Constant(value=str() as text):
                used.add(id(node))
                return self._literal(node, text)
            case ast.JoinedStr(values=[*parts]) if all(isinstance(part, ast.Constant) for part in parts):
                used |= {id(part) for part in parts}
                return self._literal(node, "".join(str(getattr(part, "value", "")) for part in parts))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                first, second = self._value(left, used, depth), self._value(right, used, depth)
                return [*first, *second] if first is not None and second is not None else None
            case ast.List(elts=items) | ast.Tuple(elts=items):
                values = [self._value(item, used, depth) for item in items]
                if any(value is None for value in values):
                    return None
                return [stretch for value in values if value for stretch in (*value, _line_end(value))]
            case ast.Name(id=name) if name in self._bound and depth < _DEEPEST:
                return self._value(self._bound[name], used, depth + 1)
            case _:
                return None

    def _literal(self, node: ast.expr, value: str) -> list[Stretch] | None:
        start = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        stretches = stretches_of(self._source.text, start, end)
        is_same = stretches is not None and "".join(stretch.text for stretch in stretches) == value
        return stretches if is_same else None

    def _offset(self, line: int, column: int) -> int:
        """The place in the text of a column that counts bytes."""
        written = self._source.lines[line - 1].encode()[:column].decode("utf-8", "replace")
        return self._source.offset_of_line(line) + len(written)


def _given(tree: ast.Module) -> Iterator[ast.expr]:
    """What is given to calls, then what is assigned or returned, in the order of the file."""
    nodes = list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from node.args
            yield from (keyword.value for keyword in node.keywords)
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.Return) and node.value is not None:
            yield node.value


def _bound_once(tree: ast.Module) -> dict[str, ast.expr]:
    """The names that one assignment of the file binds, and nothing else."""
    values: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                values.setdefault(name, []).append(value)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                values.setdefault(name, []).append(None)
            case ast.arg(arg=name):
                values.setdefault(name, []).append(None)
            case _:
                pass
    found: dict[str, ast.expr] = {}
    for name, bound in values.items():
        given = [value for value in bound if value is not None]
        if len(given) == 1 and len(bound) == 2:  # the assignment, and the name in it that is stored to
            found[name] = given[0]
    return found


def _documentation(tree: ast.Module) -> set[int]:
    """The strings that stand alone as statements."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def _holds_kernel(stretches: list[Stretch]) -> bool:
    _, entry, rest = "".join(stretch.text for stretch in stretches).partition(_ENTRY)
    return bool(entry) and "(" in rest
