"""Operations stand where they were emitted; that is worked out only where one is emitted."""

from __future__ import annotations

from portcheck.core.source import NOWHERE, Position, Span
from portcheck.ir import Builder, Return

HERE = Span("k.cu", Position(1, 2), Position(1, 5))


class _Text:
    def __init__(self) -> None:
        self.asked = 0

    @property
    def span(self) -> Span:
        self.asked += 1
        return HERE


def test_a_place_is_worked_out_once_and_only_for_what_is_emitted() -> None:
    builder, outer, inner = Builder(), _Text(), _Text()
    with builder.at(outer):
        first, second = builder.emit(Return), builder.emit(Return)
        with builder.at(inner):
            told = builder.emit(Return, span=NOWHERE)
    assert [op.span for op in (first, second, told)] == [HERE, HERE, NOWHERE]
    assert (outer.asked, inner.asked) == (1, 0)
