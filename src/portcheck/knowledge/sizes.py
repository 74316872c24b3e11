"""Numbers that are allowed, written "A..B", "..B by M", "A,B,C" or as a single number."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.knowledge.schema import UNKNOWN, Table, Unknown


@dataclass(frozen=True, slots=True)
class Size:
    """At least `minimum`, at most `maximum` (None: no documented end), and a multiple of `multiple`.

    With `choices` it is one of these.
    """

    minimum: int
    maximum: int | None
    multiple: int
    choices: tuple[int, ...] = ()

    def accepts(self, value: int) -> bool:
        """Whether `value` is allowed."""
        if self.choices:
            return value in self.choices
        is_small = self.maximum is None or value <= self.maximum
        return is_small and value >= self.minimum and value % self.multiple == 0

    def __str__(self) -> str:
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
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
    try:
        found = _chosen(written) if "," in written else _ranged(written)
    except ValueError:
        found = None
    if found is None or found.multiple < 1 or (found.maximum is not None and found.maximum < found.minimum):
        raise table.error(f'key "{key}" is no size: "{written}"', 'write "8..16384", "..128 by 32", "1,2,4" or "6"')
    return found


def _chosen(written: str) -> Size:
    choices = tuple(sorted(int(choice) for choice in written.split(",")))
    return Size(choices[0], choices[-1], 1, choices)


def _ranged(written: str) -> Size:
    ends, _, multiple = written.partition(" by ")
    low, dots, high = ends.partition("..")
    last = high if dots else low
    return Size(int(low or 1), int(last) if last else None, int(multiple or 1))
