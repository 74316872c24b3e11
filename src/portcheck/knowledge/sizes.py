"""Numbers of elements that are allowed, written "A..B", "..B by M" or a single number."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.knowledge.schema import UNKNOWN, Table, Unknown


@dataclass(frozen=True, slots=True)
class Size:
    """At least `minimum`, at most `maximum` (None: no documented end), and a multiple of `multiple`."""

    minimum: int
    maximum: int | None
    multiple: int

    def __str__(self) -> str:
        if self.minimum == self.maximum:
            return f"exactly {self.minimum}"
        parts = [f"at least {self.minimum}"] if self.minimum > 1 else []
        parts += [f"at most {self.maximum}"] if self.maximum is not None else []
        parts += [f"a multiple of {self.multiple}"] if self.multiple > 1 else []
        return " and ".join(parts) or "any"


def size_at(table: Table, key: str) -> Size | Unknown | None:
    """The size written at `key`, UNKNOWN where it says so, None when the key is absent; raises KnowledgeError."""
    written = table.text(key, "")
    if not written or written == UNKNOWN:
        return UNKNOWN if written else None
    ends, _, multiple = written.partition(" by ")
    low, dots, high = ends.partition("..")
    try:
        found = Size(int(low or 1), int(high if dots else low) if high or not dots else None, int(multiple or 1))
    except ValueError:
        found = None
    if found is None or found.multiple < 1 or (found.maximum is not None and found.maximum < found.minimum):
        raise table.error(f'key "{key}" is no size: "{written}"', 'write "8..16384", "..128 by 32" or "6"')
    return found
