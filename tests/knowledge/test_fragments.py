"""Layouts of fragments are read, refused where they say nothing, and hold every element of a tile once."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.core.errors import KnowledgeError
from portcheck.knowledge import load
from portcheck.knowledge.fragments import FragmentLayout, load_fragments

GOOD = '[sources]\nP = "a document"\n[layout.a]\nrow = "l0 l1 l2 e0"\ncolumn = "l3 l4"\nsource = "P"\n'


def read(folder: Path, text: str) -> FragmentLayout:
    (folder / "fragments.toml").write_text(text, encoding="utf-8")
    return load_fragments(folder)["a"]


def test_layout_has_the_shape_its_bits_make(tmp_path: Path) -> None:
    layout = read(tmp_path, GOOD)
    assert (layout.rows, layout.columns, layout.elements) == (16, 4, 2)


BAD = {
    "a bit that stands twice": GOOD.replace("l3 l4", "l3 l2"),
    "what is no bit": GOOD.replace("l3 l4", "l3 x4"),
    "a number without a letter": GOOD.replace("l3 l4", "3"),
    "an unknown key": GOOD + "rows = 3\n",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_layout_that_says_nothing_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError):
        read(tmp_path, text)


@pytest.mark.parametrize("layout", load().fragments.values(), ids=lambda layout: layout.name)
def test_every_element_of_the_tile_is_held_once(layout: FragmentLayout) -> None:
    def number(bits: tuple[object, ...], lane: int, element: int) -> int:
        places = [((lane if bit.of_lane else element) >> bit.position & 1) for bit in bits]  # type: ignore[attr-defined]
        return sum(value << place for place, value in enumerate(places))

    held = [
        (number(layout.row, lane, element), number(layout.column, lane, element))
        for lane in range(32)
        for element in range(layout.elements)
    ]
    assert sorted(held) == [(row, column) for row in range(layout.rows) for column in range(layout.columns)]
