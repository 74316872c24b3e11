"""Collecting the operations of a kernel: a builder that can put them where they are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from portcheck.ir import Alloc, Builder, Op


class Recorder(Builder):
    """A builder that can take over operations collected apart."""

    @property
    def depth(self) -> int:
        """How many regions are open."""
        return len(self._regions)

    def insert_after(self, name: str, made: Op) -> bool:
        """Puts `made` behind the allocation of the buffer `name`; false where that stands in no open region."""
        for region in reversed(self._regions):
            for position, op in enumerate(region):
                if isinstance(op, Alloc) and op.name == name:
                    region.insert(position + 1, made)
                    return True
        return False

    @contextmanager
    def region_at(self, depth: int | None) -> Iterator[None]:
        """Operations emitted inside the `with` block go to the open region so deep, or to the innermost."""
        inner = self._regions[depth:] if depth is not None else []
        del self._regions[len(self._regions) - len(inner) :]
        try:
            yield
        finally:
            self._regions.extend(inner)

    def adopt(self, emitted: Iterable[Op]) -> None:
        """Appends `emitted` to the current region."""
        self._regions[-1].extend(emitted)
