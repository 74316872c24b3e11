"""What a kernel's text says about its parameters: which are tensors, of which rank, and what their sizes are called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from portcheck.frontends.nki.values.callables import Class


class Facts:
    """What the uses of a parameter say about it.

    Uses that come first ask before anything is known. Their answers are kept: if what is known in the end answers
    otherwise, the text must be read again.
    """

    __slots__ = (
        "_accessed", "_counts", "_highest", "_is_settled", "_is_tensor", "_names", "_rank", "_unknown", "_unnamed",
        "_was_asked", "_was_given", "asked", "enumeration", "is_count", "is_given", "is_measured",
        "is_optional", "is_part", "is_written", "used",
    )  # fmt: skip

    def __init__(self, *, is_part: bool = False) -> None:
        self.is_part = is_part
        """Whether it is part of a parameter that is an object."""
        self.is_optional = False
        """Whether `None` may be given for it."""
        self.is_given = False
        """Whether it cannot be None, although that is its default: the kernel would fail."""
        self.enumeration: Class | None = None
        """The enumeration of the port that it is a member of, if its annotation says so."""
        self.asked: set[str] = set()
        """The attributes that the text asks for and that are not among those that all tensors have."""
        self.used: set[str] = set()
        """The methods of tensors that the text asks for, and `__getitem__` where it takes elements."""
        self.is_count = False
        """Whether it is the size of a tile, and so no tensor."""
        self.is_written = False
        self._was_asked = 0
        self.is_measured = False
        """Whether the text asks how many dimensions it has."""
        self._was_given = False
        self._is_tensor = False
        self._rank: int | None = None
        self._is_settled = False
        self._highest = -1
        self._accessed = 0
        self._names: dict[int, str] = {}
        self._unknown: set[str] = set()
        self._unnamed: set[int] = set()
        self._counts: dict[int, int] = {}

    @property
    def is_tensor(self) -> bool:
        """Whether some use shows a tensor."""
        if not self._is_tensor:
            self._unknown.add("tensor")
        return self._is_tensor

    @is_tensor.setter
    def is_tensor(self, value: bool) -> None:
        self._is_tensor = value

    @property
    def rank(self) -> int | None:
        """How many dimensions the tensor has; None as long as no use shows it."""
        if self._rank is None:
            self._unknown.add("rank")
        return self._rank

    @rank.setter
    def rank(self, value: int | None) -> None:
        self._rank = value

    @property
    def has_rank(self) -> bool:
        """Whether a use has shown the rank; for what means the same if one does later."""
        return self._rank is not None

    @property
    def is_shown(self) -> bool:
        """Whether a use has shown the rank, and it was not only concluded at the end of the text."""
        return self._rank is not None and not self._is_settled

    def deepen(self, rank: int) -> None:
        """Notes that the tensor has `rank` dimensions or more, whatever was concluded."""
        if self._is_settled:
            self._rank, self._is_settled = None, False
        self.seen_at_least(rank)

    def seen(self, rank: int) -> None:
        """Notes that the parameter is a tensor of `rank` dimensions."""
        self._is_tensor = True
        if self._rank is None:
            self._rank = rank

    def seen_at_least(self, rank: int) -> None:
        """Notes that the parameter is a tensor of `rank` dimensions or more."""
        self.seen_dimension(rank - 1)

    def seen_dimension(self, position: int) -> None:
        """Notes that the parameter is a tensor with a dimension at `position`."""
        self._is_tensor = True
        self._highest = max(self._highest, position)

    def accessed(self, rank: int) -> None:
        """Notes that elements were read or written as those of a tensor of `rank` dimensions."""
        self._accessed = max(self._accessed, rank)

    def count(self, assumed: int) -> int:
        """How many dimensions the tensor is taken to have, `assumed` if nothing shows more."""
        count = self._counted(assumed)
        if self._rank is None:
            self._counts.setdefault(assumed, count)
        return count

    def _counted(self, assumed: int) -> int:
        return self._rank if self._rank is not None else max(self._highest + 1, assumed, self._accessed)

    def name_at(self, position: int) -> str | None:
        """What the size of a dimension is called, if the text says it."""
        if position not in self._names:
            self._unnamed.add(position)
        return self._names.get(position)

    @property
    def names(self) -> Iterable[str]:
        """What sizes are called."""
        return self._names.values()

    def name(self, position: int, name: str) -> None:
        """Notes what the size of a dimension is called."""
        self._names[position] = name

    def is_named(self, position: int) -> bool:
        """Whether the size of a dimension has a name; for who would give it one."""
        return position in self._names

    def settle(self) -> None:
        """At the end of the text: there are no dimensions but those that were seen."""
        if self._is_tensor and self._rank is None and self._highest >= 0:
            self._rank, self._is_settled = self._highest + 1, True

    def revised(self) -> bool:
        """Whether something was answered otherwise than it would be now; forgets what was asked."""
        was_wrong = (
            ("tensor" in self._unknown and self._is_tensor)
            or ("rank" in self._unknown and self._rank is not None)
            or any(self._counted(assumed) != count for assumed, count in self._counts.items())
            or not self._unnamed.isdisjoint(self._names)
            or self.is_given is not self._was_given
            or len(self.asked) != self._was_asked
        )
        self._was_given, self._was_asked = self.is_given, len(self.asked)
        self._unknown.clear()
        self._unnamed.clear()
        self._counts.clear()
        return was_wrong


def sizes_in(stated: str) -> list[int]:
    """The sizes of a stated shape."""
    parts = stated.replace("x", ",").strip("()[] ").split(",")
    return [int(part) for part in parts if part.strip().isdigit()]
