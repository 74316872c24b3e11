"""Access patterns and views name the elements of their buffer by its own dimensions where that is certain."""

from __future__ import annotations

import pytest
from tests.frontends.nki.instructions import obstacles, on_tiles

from portcheck.ir import Alloc, Copy, Kernel, Load, Ref, Store, operations
from portcheck.ir.expr import subexpressions

PATTERNS = [
    ("rows", "a.ap(pattern=[[512, 128], [1, 512]])", 2),
    ("columns", "a.ap(pattern=[[512, 128], [2, 256]], offset=1)", 2),
    ("rows of columns", "a.ap(pattern=[[512, 128], [128, 4], [1, 128]])", 2),
    ("over the end of a row", "a.ap(pattern=[[512, 127], [1, 512]], offset=1)", 1),
    ("a step that is not known", "a.ap(pattern=[[512, 128], [x.shape[0], 2]])", 1),
]


@pytest.mark.parametrize(("source", "count"), [case[1:] for case in PATTERNS], ids=[case[0] for case in PATTERNS])
def test_a_pattern_has_an_index_a_dimension_where_it_stays_inside(source: str, count: int) -> None:
    made = on_tiles(f"nisa.dma_copy(dst=y, src={source})")
    assert obstacles(made) == []
    copy = next(op for op in operations(made.body) if isinstance(op, Copy))
    assert len(copy.source.index) == count


def test_an_index_is_read_where_the_view_is_used() -> None:
    made = on_tiles(
        "v = x.ap(pattern=[[512, 128], [1, 512]], vector_offset=i[:, 0:1])\nnisa.memset(i, value=3)\n"
        "nisa.dma_copy(dst=a, src=v)"
    )
    names = [type(op).__name__ for op in operations(made.body) if isinstance(op, Load | Store | Copy)]
    assert names == ["Store", "Load", "Copy"]


def test_a_gathered_index_has_a_dimension_for_each_axis() -> None:
    made = on_tiles("nisa.dma_copy(dst=a, src=x.ap(pattern=[[512, 128], [1, 512]], vector_offset=i[:, 0:1]))")
    load = next(op for op in operations(made.body) if isinstance(op, Load))
    copy = next(op for op in operations(made.body) if isinstance(op, Copy))
    assert [getattr(extent, "value", None) for extent in load.type.shape] == [128, 1]
    assert any(isinstance(node, Ref) and node.id == load.id for node in subexpressions(copy.source.index[0]))


def views_of(made: Kernel) -> list[tuple[str, str, int]]:
    found = [op for op in operations(made.body) if isinstance(op, Alloc) and op.base]
    return [(op.base, op.type.dtype.name, len(op.type.shape)) for op in found]


def test_one_view_serves_all_uses_of_the_same_bytes() -> None:
    made = on_tiles("nisa.memset(a.view(nl.int32), value=0)\nnisa.memset(a.view(nl.int32)[0:64, :], value=1)")
    assert obstacles(made) == []
    assert views_of(made) == [("a", "int32", 1)]


def test_a_view_of_a_view_shows_the_memory_itself() -> None:
    made = on_tiles("nisa.memset(a.view(nl.uint8).view(nl.bfloat16), value=0.0)")
    assert obstacles(made) == []
    assert views_of(made) == [("a", "uint8", 1), ("a", "bfloat16", 1)]


def test_a_view_of_bytes_of_unknown_width_has_no_shape() -> None:
    made = on_tiles("nisa.dma_copy(dst=a, src=x.ap(pattern=[[512, 128], [1, 512]], dtype=nl.float32))")
    assert obstacles(made) == []
    assert views_of(made) == [("x", "float32", 0)]


REFUSED = [
    ("wider elements that do not follow each other", "a[:, 0:512:2].view(nl.uint8)"),
    ("a pattern over gathered elements", "x.ap(pattern=[[512, 128], [1, 512]], vector_offset=s).ap(pattern=[[1, 2]])"),
    ("two offsets", "x.ap(pattern=[[512, 128], [1, 512]], vector_offset=s, scalar_offset=s)"),
    ("names that differ", "a.rearrange(('p', 'f'), ('p', 'g'))"),
    ("a size that is not stated", "a.rearrange(('p', ('f', 'g')), ('p', 'g', 'f'))"),
]


@pytest.mark.parametrize("source", [case[1] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_has_no_meaning_is_not_guessed(source: str) -> None:
    assert obstacles(on_tiles(f"nisa.dma_copy(dst=y, src={source})"))


def test_what_is_written_through_a_view_of_bytes_is_written_to_its_base() -> None:
    made = on_tiles("nisa.dma_copy(dst=x.ap(pattern=[[512, 128], [1, 512]], dtype=nl.float32), src=a)")
    assert [parameter.constant for parameter in made.parameters if parameter.name == "x"] == [False]


LONG = "s = m\n" + 7 * "s = s * (s + n)\n"
"""A number of as many nodes as are kept."""


def test_a_pattern_of_long_steps_has_names_for_them() -> None:
    copied = "nisa.dma_copy(dst=y.ap(pattern=[[1, 2]] * 10), src=x.ap(pattern=[[s, 2]] * 10, offset=s))"
    made = on_tiles(LONG + copied, parameters="x, y, n: int, m: int")
    assert obstacles(made) == []
    assert made.definitions
    [copy] = [op for op in operations(made.body) if isinstance(op, Copy)]
    assert len(list(subexpressions(copy.source.index[0]))) < 100
    short = on_tiles(copied.replace("s,", "m,").replace("=s", "=m"), parameters="x, y, m: int")
    assert short.definitions == ()
