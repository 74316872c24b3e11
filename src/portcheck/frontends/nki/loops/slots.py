"""What a round may hand on to the next: a name of the function, or a place in an object."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.mutation import Changing, changing, state_of
from portcheck.frontends.nki.values.values import Key, Table, Value

if TYPE_CHECKING:
    from portcheck.frontends.nki.state.context import Context


@dataclass(frozen=True, slots=True)
class Held:
    """The place `key` in an object, or a name in the frame of another function."""

    item: Changing
    key: Key


Slot = str | Held


def value_in(frame: Frame, slot: Slot) -> Value | None:
    """What stands in `slot` now, if anything does."""
    return frame.names.get(slot) if isinstance(slot, str) else state_of(slot.item).held.get(slot.key)


def put_into(context: Context, frame: Frame, slot: Slot, value: Value) -> None:
    """From now on `value` stands in `slot`."""
    if isinstance(slot, str):
        frame.names[slot] = value
        return
    item, key = slot.item, slot.key
    changing(context, item)
    if isinstance(item, Frame):
        item.names[str(key)] = value
    elif isinstance(item, Table):
        item.held[key] = value
    elif isinstance(key, int) and key < len(item.held):
        item.held[int(key)] = value


def hint_of(slot: Slot) -> str:
    """What a buffer for the slot is called."""
    return slot if isinstance(slot, str) else slot.key if isinstance(slot.key, str) else "item"


def standing(frame: Frame, places: Iterable[Held]) -> dict[Slot, Value]:
    """The names of a function and the places in objects, with what stands there now."""
    found: dict[Slot, Value] = dict(frame.names.items())
    for place in places:
        value = value_in(frame, place)
        if value is not None:
            found[place] = value
    return found
