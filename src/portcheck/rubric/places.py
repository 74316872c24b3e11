"""Spans with the text that stands there."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.core.finding import Place
from portcheck.core.source import NOWHERE, SourceFile, Span


def place_at(span: Span | None, sources: Mapping[str, SourceFile]) -> Place | None:
    """`span` with its text; None where there is no such place in the sources."""
    if span is None or span == NOWHERE or span.path not in sources:
        return None
    return Place(span=span, text=sources[span.path].text_of(span))
