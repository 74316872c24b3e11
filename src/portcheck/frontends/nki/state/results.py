"""What calls of helpers came to that only work out numbers, texts and dtypes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portcheck.ir import Expr

if TYPE_CHECKING:
    import libcst as cst

    from portcheck.frontends.nki.values.values import Value


@dataclass(frozen=True, slots=True, eq=False)
class Remembered:
    """A result; `holding` are the conditions under which it was worked out, `asserted` what had been asserted.

    One that made symbols or assertions `may_go`: they are taken back with the evaluation of that `age`.
    """

    value: Value
    holding: Mapping[Expr, bool]
    asserted: tuple[Expr, ...]
    age: int
    may_go: bool


@dataclass(slots=True, eq=False)
class Results:
    """The results by what was called with which arguments, and which functions do no more than work them out."""

    known: dict[Hashable, list[Remembered]] = field(default_factory=dict)
    workers: dict[cst.CSTNode, bool] = field(default_factory=dict)

    def forget(self, since: int) -> None:
        """Forgets those that hold what an evaluation made that began at `since` and is taken back."""
        for known in self.known.values():
            known[:] = [entry for entry in known if entry.age < since or not entry.may_go]
