"""How alike two identifiers are, as evidence of last resort."""

from __future__ import annotations

from difflib import SequenceMatcher

_AFFIXES = frozenset(
    ("d", "g", "h", "p", "in", "out", "tensor", "ptr", "hbm", "ref", "data", "dev", "gm", "v", "vec", "vector")
)


def words(name: str) -> tuple[str, ...]:
    """The lower-case words of an identifier, without affixes that only say what sort of thing it is."""
    parts = name.lower().replace(".", "_").split("_")
    kept = tuple(part for part in parts if part and part not in _AFFIXES)
    return kept or tuple(part for part in parts if part)


def likeness(left: str, right: str) -> float:
    """0 for unrelated identifiers, 1 for the same; a shared beginning counts (`inp`, `input`)."""
    if left == right:
        return 1.0
    first, second = "".join(words(left)), "".join(words(right))
    if first == second:
        return 0.95
    if first and second and (first.startswith(second) or second.startswith(first)):
        return 0.7
    ratio = SequenceMatcher(None, first, second).ratio()
    return ratio if ratio > 0.6 else 0.0
