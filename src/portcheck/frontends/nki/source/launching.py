"""How the kernels of a file are launched in it: which functions a call makes kernels of, and with which grids."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from portcheck.frontends.nki.source.discovery import is_kernel_mark
from portcheck.frontends.nki.source.imports import is_nki, qualified
from portcheck.knowledge import Knowledge

_MOST_EXTENT = 1 << 32


def wrapped_by(node: ast.expr, aliases: Mapping[str, str], knowledge: Knowledge) -> str:
    """The name of the function that `nki.jit(f)` or `nki.jit(mode=...)(f)` makes a kernel of; "" for another call."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
        return ""
    mark = node.func.func if isinstance(node.func, ast.Call) else node.func
    return node.args[0].id if is_kernel_mark(qualified(mark, aliases), knowledge) else ""


def wrapped_in(nodes: Sequence[ast.AST], aliases: Mapping[str, str], knowledge: Knowledge) -> frozenset[str]:
    """The names of all functions that a call among `nodes`, those of a file, makes kernels of."""
    found = {wrapped_by(node, aliases, knowledge) for node in nodes if isinstance(node, ast.Call)}
    return frozenset(found - {""})


def grids_in(
    nodes: Sequence[ast.AST], aliases: Mapping[str, str], knowledge: Knowledge
) -> Mapping[str, tuple[int, ...]]:
    """The grid of each function that `nodes`, those of a file, launch with one grid of known extents alone."""
    handles: dict[str, str] = {}
    sizes: dict[str, int] = {}
    for name, value in _assigned(nodes):
        if made := wrapped_by(value, aliases, knowledge):
            handles[name] = made
        if isinstance(value, ast.Constant) and isinstance(value.value, int):
            sizes[name] = value.value
    found: dict[str, set[tuple[int, ...] | None]] = {}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            launched = node.func.value
            name = launched.id if isinstance(launched, ast.Name) else wrapped_by(launched, aliases, knowledge)
            grid = _grid(node.func.slice, aliases, sizes)
            found.setdefault(handles.get(name, name), set()).add(grid)
    single = {name: grids.pop() for name, grids in found.items() if len(grids) == 1}
    return {name: grid for name, grid in single.items() if grid is not None}


def _assigned(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """The names that are assigned to once, and to what."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                found.setdefault(target.id, []).append(node.value)
    return ((name, values[0]) for name, values in found.items() if len(values) == 1)


def _grid(node: ast.expr, aliases: Mapping[str, str], sizes: Mapping[str, int]) -> tuple[int, ...] | None:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    extents = [_extent(part, aliases, sizes) for part in parts]
    present = tuple(extent for extent in extents if extent is not None)
    return present if present and len(present) == len(extents) else None


def _extent(node: ast.expr, aliases: Mapping[str, str], sizes: Mapping[str, int]) -> int | None:
    """A number of instances: as written, of a name, or what NKI spreads over cores (`nl.nc(2)`), all together."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and 0 < node.value < _MOST_EXTENT:
        return node.value
    if isinstance(node, ast.Name):
        return sizes.get(node.id)
    if isinstance(node, ast.Call) and node.args and not node.keywords and is_nki(qualified(node.func, aliases)):
        inner = [_extent(argument, aliases, sizes) for argument in node.args]
        known = [extent for extent in inner if extent is not None]
        return prod(known) if len(known) == len(inner) else None
    return None
