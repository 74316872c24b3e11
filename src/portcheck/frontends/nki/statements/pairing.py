"""Objects made in both arms of a branch that one object can stand for after it, because nothing tells them apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.values.callables import Accessed, Bound, Function
from portcheck.frontends.nki.values.values import Either, Instance, Items, Key, Table, Unknown, Value

Pair = tuple[Value | None, Value | None]
_ROUNDS = 8
"""Times that objects are paired, each without those that turned out to be held by something else too."""


@dataclass(slots=True, eq=False)
class Pairing:
    """Pairs of objects newer than `since`, one of either arm; `merged` holds those that stand for a pair already.

    Each object is in one pair only, and nothing but objects of pairs and the names of the function holds it.
    """

    since: int
    mates: dict[int, int] = field(default_factory=dict)
    merged: dict[tuple[int, int], Value] = field(default_factory=dict)

    def joins(self, one: Value, other: Value) -> bool:
        """Whether one object may stand for both."""
        return self.mates.get(id(one)) == id(other) and self.fits(one, other)

    def fits(self, one: Value, other: Value) -> bool:
        """Whether both are objects of one class, made in the arms, with the same attributes."""
        if isinstance(one, Items) and isinstance(other, Items):
            is_alike = one.is_list and other.is_list and one.once is other.once and len(one.held) == len(other.held)
            is_alike = is_alike and one.series is None and other.series is None
        elif isinstance(one, Table) and isinstance(other, Table):
            is_alike = type(one) is type(other) and one.record == other.record and one.held.keys() == other.held.keys()
            is_alike = is_alike and (isinstance(one, Instance) or list(one.held) == list(other.held))
            if isinstance(one, Instance) and isinstance(other, Instance):
                is_alike = is_alike and one.owner is other.owner
        else:
            return False
        return is_alike and all(
            item.age > self.since and not item.lost and item.origin is None for item in (one, other)
        )


def paired(since: int, roots: Iterable[Pair]) -> Pairing:
    """The objects among `roots`, what the arms of a branch leave in the same place, that can be one after it."""
    roots, alone = list(roots), set[int]()
    for _ in range(_ROUNDS):
        walk = _Walk(Pairing(since), alone)
        for one, other in roots:
            walk.together(one, other)
        if walk.found <= alone:
            return walk.pairing
        alone |= walk.found
    return Pairing(since)


@dataclass(slots=True, eq=False)
class _Walk:
    """One look at all pairs, `alone` being objects that stay what they are; `found` are more of them."""

    pairing: Pairing
    alone: set[int]
    found: set[int] = field(default_factory=set)

    def together(self, one: Value | None, other: Value | None) -> None:
        pending: list[Pair] = [(one, other)]
        while pending:
            one, other = pending.pop()
            if one is other:
                continue
            if one is not None and other is not None and self._pairs(one, other):
                if self._takes(one, other):
                    pending.extend(_parts(one, other))
            else:
                self._keep(one)
                self._keep(other)

    def _pairs(self, one: Value, other: Value) -> bool:
        if _are_tuples(one, other):
            return True
        return not {id(one), id(other)} & self.alone and self.pairing.fits(one, other)

    def _takes(self, one: Value, other: Value) -> bool:
        """Whether the pair is new; an object that has another mate is in no pair."""
        if _are_tuples(one, other):
            return True
        mates = self.pairing.mates
        known = mates.get(id(one)), mates.get(id(other))
        if known == (id(other), id(one)):
            return False
        if known != (None, None):
            self.found.update((id(one), id(other)))
            return False
        mates[id(one)], mates[id(other)] = id(other), id(one)
        return True

    def _keep(self, value: Value | None) -> None:
        """What `value` holds, or may reach, stays what it is."""
        pending, seen = [value], set[int]()
        while pending:
            for item in reached_from(pending.pop()):
                if id(item) in seen:
                    continue
                seen.add(id(item))
                if isinstance(item, Items | Table) and item.age > self.pairing.since:
                    self.found.add(id(item))
                pending.extend(_beside(item, self.pairing.since))


def _beside(item: Value, since: int) -> list[Value]:
    """The values that a function, or a choice, may reach beside those that it holds."""
    match item:
        case Function(home=home, defaults=defaults):
            return [*defaults.values(), *_names(home, since)]
        case Bound(function, positional, keywords):
            return [function, *positional, *(value for _, value in keywords)]
        case Either(_, first, second):
            return [first, second]
        case Accessed(_, function, setter):
            return [function] if setter is None else [function, setter]
        case Unknown(parts=parts):
            return list(parts)
        case _:
            return []


def _names(frame: Frame | None, since: int) -> list[Value]:
    """The values of the names that a function made in an arm closes over, as far as the frames are of that arm."""
    found: list[Value] = []
    while frame is not None and frame.age > since:
        found.extend(frame.names.values())
        frame = frame.parent
    return found


def _are_tuples(one: Value, other: Value) -> bool:
    are_items = isinstance(one, Items) and isinstance(other, Items) and not one.is_list and not other.is_list
    return are_items and _length(one) == _length(other)


def _length(value: Value) -> int:
    return len(value.held) if isinstance(value, Items) and not value.lost and value.series is None else -1


def _parts(one: Value, other: Value) -> list[Pair]:
    if isinstance(one, Items) and isinstance(other, Items):
        return list(zip(one.held, other.held, strict=False))
    assert isinstance(one, Table) and isinstance(other, Table)
    return together(one.held, other.held)


def together(first: Mapping[Key, Value], second: Mapping[Key, Value]) -> list[Pair]:
    """The values of the same keys."""
    return [(first.get(key), second.get(key)) for key in {**first, **second}]
