"""What an iterator reads when its elements are asked for: it must be what it was when the iterator was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portcheck.frontends.nki.source.trees import assigned_names, names_of_clauses, names_of_parameters, read_names
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.state.mutation import alike
from portcheck.frontends.nki.values.callables import Function
from portcheck.frontends.nki.values.values import Items, Table, Value

if TYPE_CHECKING:
    import libcst as cst

    from portcheck.frontends.nki.state.context import Context


@dataclass(slots=True, eq=False)
class Watch:
    """Names with the values that they had, and the objects that these hold, by their identity.

    Of the changes that the journal notes, `seen` were looked at.
    """

    names: list[tuple[Frame, str, Value]]
    objects: dict[int, Items | Table]
    seen: int
    is_changed: bool = False

    def has_changed(self, context: Context) -> bool:
        """Whether a name has another value now, or an object was changed."""
        fresh, self.seen = context.journal.log[self.seen :], len(context.journal.log)
        self.is_changed = self.is_changed or any(id(item) in self.objects for item in fresh)
        return self.is_changed or not all(_has(*item) for item in self.names)


def _has(frame: Frame, name: str, value: Value) -> bool:
    found = frame.find(name)
    return found is not None and alike(value, found)


def watch_expression(context: Context, frame: Frame, node: cst.GeneratorExp) -> tuple[Watch, ...]:
    """What a generator expression in `frame` reads, and what the iterators read that it takes from."""
    names = list(_named(frame, node, names_of_clauses(node)))
    values = [value for _, _, value in names]
    return (_watch(context, names, values), *_watches(values))


def watch_arguments(context: Context, arguments: Sequence[Value]) -> tuple[Watch, ...]:
    """What functions among the arguments read of the names around them, and what iterators read."""
    functions = [item for item in arguments if isinstance(item, Function)]
    return (*([_watch(context, [], functions)] if functions else ()), *_watches(arguments))


def _watches(values: Sequence[Value]) -> Iterator[Watch]:
    for value in values:
        if isinstance(value, Items):
            yield from value.watches


def _watch(context: Context, names: list[tuple[Frame, str, Value]], values: Sequence[Value]) -> Watch:
    """What `names` stand for, with what the functions among `values` that close over names read of these."""
    held = [item for value in values for item in reached_from(value)]
    pending, seen = [item for item in held if isinstance(item, Function)], set[int]()
    while pending:
        function = pending.pop()
        if id(function.node) in seen or function.home.parent is None:
            continue
        seen.add(id(function.node))
        own = {*names_of_parameters(function.node), *assigned_names(function.node)}
        closed = list(_named(function.home, function.node, frozenset(own)))
        names.extend(closed)
        inner = [item for _, _, value in closed for item in reached_from(value)]
        held.extend(inner)
        pending.extend(item for item in inner if isinstance(item, Function))
    objects = {id(item): item for item in held if isinstance(item, Items | Table)}
    return Watch(names, objects, len(context.journal.log))


def _named(frame: Frame, node: cst.CSTNode, own: frozenset[str]) -> Iterator[tuple[Frame, str, Value]]:
    """The names that `node` reads and that `frame` has, or a frame around it."""
    for name in sorted(read_names(node) - own):
        value = frame.find(name)
        if value is not None:
            yield frame, name, value
