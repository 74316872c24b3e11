"""Objects in objects: what a value holds, and how old that is."""

from __future__ import annotations

from portcheck.frontends.nki.values.ages import BEFORE
from portcheck.frontends.nki.values.callables import Accessed, BoundMethod, Class, Function, Method, Super
from portcheck.frontends.nki.values.values import Either, Items, Table, Value


def reached_from(value: Value | None) -> list[Value]:
    """`value`, what it holds or may be, and what that holds, each object once."""
    found: list[Value] = []
    seen: set[int] = set()
    stack: list[Value | None] = [value]
    while stack:
        item = stack.pop()
        if item is None or id(item) in seen:
            continue
        found.append(item)
        inner: list[Value] = []
        match item:
            case Items():
                inner = [*item.held, *([] if item.series is None else [item.series.element])]
            case Table():
                inner = list(item.held.values())
            case Either():
                inner = [item.first, item.second]
            case Method() | BoundMethod() | Super():
                inner = [item.receiver]
            case _:
                continue
        if isinstance(item, Items | Table) and item.choice is not None:
            inner.extend([item.choice.first, item.choice.second])
        seen.add(id(item))
        stack.extend(reversed(inner))
    return found


def set_back(value: Value) -> None:
    """Makes `value`, what it holds, and what functions and classes in it hold, older than all that a kernel makes."""
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        match item:
            case Items() | Table() if item.age >= 0:
                item.age = BEFORE
                pending.extend(item.held if isinstance(item, Items) else item.held.values())
            case Function():
                pending.extend(item.defaults.values())
            case Class():
                pending.extend(item.names.values())
            case Accessed():
                pending.append(item.function)
            case _:
                pass


MOST_ITEMS = 4096
"""Values in the lists of a list that are taken one by one."""


def is_small(value: Value) -> bool:
    """Whether `value` holds at most MOST_ITEMS values in lists, those of lists that it holds twice counted twice."""
    pending, count = [value], 0
    while pending:
        item = pending.pop()
        if isinstance(item, Items):
            pending.extend(item.held)
            count += len(item.held)
            if count > MOST_ITEMS:
                return False
    return True
