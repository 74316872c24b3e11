"""How deep brackets are nested in a text: the parser's memory grows with it, without a bound of its own."""

from __future__ import annotations

_OPENING, _CLOSING = "([{", ")]}"
_DEEPEST = 200_000
"""Far more than anybody writes or a macro makes; the parser takes some hundred bytes for each."""


def is_too_deep(text: str) -> bool:
    """Whether more than 200,000 brackets are open somewhere in `text`; those in comments and strings count."""
    if sum(map(text.count, _OPENING)) <= _DEEPEST:
        return False
    depth = 0
    for character in text:
        if character in _OPENING:
            depth += 1
            if depth > _DEEPEST:
                return True
        elif character in _CLOSING:
            depth = max(depth - 1, 0)
    return False
