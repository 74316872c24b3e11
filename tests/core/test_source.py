"""Positions in source texts: lines and columns in code points, whatever ends a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portcheck.core.source import Position, SourceFile, Span

# text, then offset and the line and column of the character there (or of the end)
PLACES = [
    ("", 0, (1, 1)),
    ("ab", 2, (1, 3)),
    ("a\nb", 1, (1, 2)),
    ("a\nb", 2, (2, 1)),
    ("a\n", 2, (2, 1)),
    ("a\r\nb", 1, (1, 2)),
    ("a\r\nb", 2, (1, 3)),
    ("a\r\nb", 3, (2, 1)),
    ("a\rb", 2, (2, 1)),
    ("\r\r\n\n", 1, (2, 1)),
    ("\r\r\n\n", 3, (3, 1)),
    ("\r\r\n\n", 4, (4, 1)),
    ("\tx", 1, (1, 2)),
    ("é\tü", 2, (1, 3)),
    ("\U0001d11e\U0001f600x\ny", 2, (1, 3)),
    ("\U0001d11e\U0001f600x\ny", 4, (2, 1)),
    ("a\u2028b\x0bc\x85d", 6, (1, 7)),
]


@pytest.mark.parametrize(("text", "offset", "place"), PLACES, ids=[f"{text!a}-{at}" for text, at, _ in PLACES])
def test_position_of_an_offset_and_back(text: str, offset: int, place: tuple[int, int]) -> None:
    source = SourceFile("k.cu", text)
    assert source.position(offset) == Position(*place)
    assert source.offset(Position(*place)) == offset


texts = st.text(st.sampled_from("ab \t\r\n\u2028é\U0001f600"), max_size=30)


@given(texts, st.data())
def test_offset_is_the_inverse_of_position(text: str, data: st.DataObject) -> None:
    source = SourceFile("k.cu", text)
    offset = data.draw(st.integers(0, len(text)))
    position = source.position(offset)
    assert position.line >= 1
    assert position.column >= 1
    assert source.offset(position) == offset


@given(texts)
def test_positions_grow_with_offsets_and_stay_within_the_lines(text: str) -> None:
    source = SourceFile("k.cu", text)
    positions = [source.position(offset) for offset in range(len(text) + 1)]
    assert positions == sorted(set(positions))
    assert positions[-1].line == len(source.lines)


@given(texts, st.data())
def test_text_of_a_span_is_the_text_between_its_offsets(text: str, data: st.DataObject) -> None:
    source = SourceFile("k.cu", text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert source.text_of(source.span(start, end)) == text[start:end]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ("",)),
        ("a", ("a",)),
        ("a\n", ("a", "")),
        ("a\r\nb\rc\nd", ("a", "b", "c", "d")),
        ("a\n\r\n", ("a", "", "")),
        ("a\u2028b", ("a\u2028b",)),
    ],
    ids=ascii,
)
def test_lines_are_without_their_ends(text: str, lines: tuple[str, ...]) -> None:
    assert SourceFile("k.cu", text).lines == lines


def span(start: tuple[int, int], end: tuple[int, int], path: str = "k.cu") -> Span:
    return Span(path, Position(*start), Position(*end))


OUTER = span((2, 3), (4, 1))


@pytest.mark.parametrize(
    ("inner", "is_covered"),
    [
        (OUTER, True),
        (span((2, 3), (2, 3)), True),
        (span((3, 1), (3, 99)), True),
        (span((2, 2), (3, 1)), False),
        (span((3, 1), (4, 2)), False),
        (span((3, 1), (3, 2), "other.cu"), False),
    ],
)
def test_span_covers_what_lies_inside_it(inner: Span, is_covered: bool) -> None:
    assert OUTER.covers(inner) is is_covered
