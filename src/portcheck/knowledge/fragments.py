"""Layouts of matrix fragments: which element of a tile each register of each lane of a warp holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.knowledge.schema import Table, read_toml

FILE = "fragments.toml"
"""The file of `mappings/cuda` that holds them."""
_MOST_BITS = 10


@dataclass(frozen=True, slots=True)
class Bit:
    """One bit of a row or column number: that bit of the lane's number, or of the element's place in its lane."""

    of_lane: bool
    position: int


@dataclass(frozen=True, slots=True)
class FragmentLayout:
    """A tile spread over the lanes of a warp: the bits of an element's row and column, the lowest first."""

    name: str
    row: tuple[Bit, ...]
    column: tuple[Bit, ...]
    source: str

    @property
    def bits(self) -> tuple[Bit, ...]:
        """All bits of an element's row and column."""
        return (*self.row, *self.column)

    @property
    def rows(self) -> int:
        """How many rows the tile has."""
        return 1 << len(self.row)

    @property
    def columns(self) -> int:
        """How many columns the tile has."""
        return 1 << len(self.column)

    @property
    def elements(self) -> int:
        """How many elements of the tile one lane holds."""
        return 1 << sum(not bit.of_lane for bit in self.bits)


def load_fragments(folder: Path) -> Mapping[str, FragmentLayout]:
    """Read the layouts in `mappings/cuda`; raises KnowledgeError."""
    root, sources = read_toml(folder / FILE, f"{folder.parent.name}/{folder.name}/{FILE}")
    found: dict[str, FragmentLayout] = {}
    for name, table in root.table("layout").items():
        row, column = _bits(table, "row"), _bits(table, "column")
        if len({*row, *column}) != len(row) + len(column):
            raise table.error("a bit of the lane or element stands twice")
        found[name] = FragmentLayout(name, row, column, sources.cite(table))
        table.finish()
    root.finish()
    return found


def _bits(table: Table, key: str) -> tuple[Bit, ...]:
    """Bits written as "l0 e1": bit 0 of the lane, bit 1 of the element."""
    words = table.text(key).split()
    if len(words) > _MOST_BITS or not all(word[:1] in ("l", "e") and word[1:].isdigit() for word in words):
        raise table.error(f'key "{key}" is no list of bits such as "l0 e1"')
    return tuple(Bit(word[0] == "l", int(word[1:])) for word in words)
