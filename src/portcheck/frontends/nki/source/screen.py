"""A first look at a file: what Python's own parser, which only raises, makes of it, and whether it nests too deeply."""

from __future__ import annotations

import ast
import sys
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from portcheck.frontends.nki.source.nodes import below, nodes_in

SIZE_LIMIT = 4_000_000
"""Characters a file may have."""
DEPTH_LIMIT = 120
"""Syntax nodes inside one another that a statement may have; real ports stay below 40."""
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a text is not read: a message and the line and column (from 1, in code points) it is about."""

    message: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True)
class Screened:
    """A text that passed: its lines without a byte order mark, its syntax tree, whether a mark was taken off."""

    lines: tuple[str, ...]
    tree: ast.Module
    had_mark: bool

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, those that stand less deep first."""
        return nodes_in(self.tree)


def screen(text: str) -> Screened | Fault:
    """The syntax tree of `text`, or why it is not read."""
    if len(text) > SIZE_LIMIT:
        return Fault(f"the file has {len(text)} characters; at most {SIZE_LIMIT} are read")
    had_mark = text.startswith(_BYTE_ORDER_MARK)
    plain = text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in plain:
        return Fault("the file holds a NUL character", plain[: plain.index("\0")].count("\n") + 1)
    try:
        tree = _parsed(plain)
    except SyntaxError as error:
        return Fault(_said(error), max(error.lineno or 1, 1), max(error.offset or 1, 1))
    except (RecursionError, MemoryError):
        return Fault("nested too deeply to be read")
    except ValueError as error:
        return Fault(f"not valid Python: {error}")
    return Screened(tuple(plain.split("\n")), tree, had_mark)


def _parsed(text: str) -> ast.Module:
    """The tree of `text`. Raises SyntaxError also for what Python refuses only when it compiles: nothing is run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the port's text, and none of ours
        tree = ast.parse(text)
        with suppress(RecursionError, MemoryError):  # what is too deep for the compiler is not for us
            compile(text, "port", "exec", dont_inherit=True)
    return tree


def _said(error: SyntaxError) -> str:
    """What a syntax error is about. Text may be right for a newer Python: the message names the one that reads it."""
    version = ".".join(str(part) for part in sys.version_info[:2])
    return f"not valid Python {version}: {error.msg}"


_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


def statements_in(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements anywhere below `tree`, those that stand less deep first; faster than a walk over all nodes."""
    pending: deque[ast.AST] = deque([tree])
    while pending:
        node = pending.popleft()
        if isinstance(node, ast.stmt) and node is not tree:
            yield node
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                pending.extend(block)


def is_too_deep(node: ast.AST) -> bool:
    """Whether more than DEPTH_LIMIT syntax nodes stand inside one another in `node`."""
    level: list[ast.AST] = [node]
    for _ in range(DEPTH_LIMIT):
        level = [child for parent in level for child in below(parent)]
        if not level:
            return False
    return True
