"""Lists that initialise arrays: which element each item is, rows in braces and rows without."""

from __future__ import annotations

from math import prod

from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Expr

LARGEST_INITIALISER = 256
_LIST = "initializer_list"


def is_too_much(initial: Node) -> bool:
    """Whether a list has more items than are put in one by one."""
    return sum(len(listed.named) for listed in initial.found(_LIST)) > LARGEST_INITIALISER


def first_extent(initial: Node | None, inner: list[Expr]) -> int | None:
    """The extent that a list gives an array declared without one; `inner` are its other extents."""
    sizes = _sizes(inner)
    if initial is None or initial.type != _LIST or sizes is None:
        return None
    items = initial.named
    if not sizes or any(item.type == _LIST for item in items):
        return len(items)
    return -(-len(items) // max(1, prod(sizes)))


def placed_items(initial: Node, extents: list[Expr]) -> list[tuple[int, Node]] | None:
    """Each item of a list with the position of its element; None where that is not followed, or is too much."""
    sizes = _sizes(extents)
    if initial.type != _LIST or not sizes:
        return None
    found: list[tuple[int, Node]] = []
    return found if _place(initial, sizes, 0, found) and len(found) <= LARGEST_INITIALISER else None


def _place(listed: Node, sizes: list[int], start: int, found: list[tuple[int, Node]]) -> bool:
    row = prod(sizes[1:])
    position = start
    for item in listed.named:
        if item.type == "initializer_pair" or len(found) > LARGEST_INITIALISER:
            return False
        if item.type == _LIST and len(sizes) > 1:
            if (position - start) % row or not _place(item, sizes[1:], position, found):
                return False
            position += row
        else:
            found.append((position, item))
            position += 1
    return True


def _sizes(extents: list[Expr]) -> list[int] | None:
    sizes = [constant_value(extent) for extent in extents]
    known = [size for size in sizes if size is not None]
    return known if len(known) == len(sizes) else None
