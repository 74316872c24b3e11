"""Names that nothing else has."""

from __future__ import annotations


def fresh(wanted: str, taken: dict[str, None]) -> str:
    """`wanted`, or with a number behind it, that is not taken; many may be, one behind the other."""
    name, last, free = wanted, 1, 2
    while name in taken:
        last, free = free, 2 * free
        name = f"{wanted}_{last}"
    low = last // 2
    while last - low > 1:
        middle = (low + last) // 2
        if f"{wanted}_{middle}" in taken:
            low = middle
        else:
            last, name = middle, f"{wanted}_{middle}"
    taken[name] = None
    return name
