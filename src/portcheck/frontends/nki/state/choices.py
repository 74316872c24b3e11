"""Lists and dictionaries that hold one of two things by a condition; in an arm that decides it, one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from portcheck.frontends.nki.state.mutation import Journal, State, put_back, state_of
from portcheck.frontends.nki.values.values import Items, Table
from portcheck.ir import Expr


@dataclass(slots=True, eq=False)
class Choices:
    """The lists and dictionaries that held one of two things at some time."""

    known: dict[int, Items | Table] = field(default_factory=dict)

    def add(self, item: Items | Table) -> None:
        """Adds a list or dictionary that has a choice."""
        self.known[id(item)] = item

    @contextmanager
    def taken(self, journal: Journal, holds: Callable[[Expr], bool | None]) -> Iterator[dict[int, State]]:
        """In the `with` block they hold what the conditions leave of which `holds` knows the answer; gives that.

        Whatever the block makes of them has been taken back, or is, so they hold one of two things after it again.
        """
        before = {key: state_of(item) for key, item in self.known.items() if _is_decided(item, holds)}
        noted = [before.keys() - changes.before.keys() for changes in journal.open]
        for key in before:
            _decide(self.known[key], holds)
        try:
            yield {key: state_of(self.known[key]) for key in before}
        finally:
            for changes, keys in zip(journal.open, noted, strict=True):
                changes.before.update((key, (self.known[key], before[key])) for key in keys & changes.before.keys())
            for key, state in before.items():
                put_back(self.known[key], state)


def _is_decided(item: Items | Table, holds: Callable[[Expr], bool | None]) -> bool:
    return item.choice is not None and holds(item.choice.condition) is not None


def _decide(item: Items | Table, holds: Callable[[Expr], bool | None]) -> None:
    while item.choice is not None and (answer := holds(item.choice.condition)) is not None:
        chosen = item.choice.first if answer else item.choice.second
        assert isinstance(chosen, Items | Table)
        put_back(item, state_of(chosen))
