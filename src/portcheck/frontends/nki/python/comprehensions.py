"""Comprehensions: of lists, sets and dictionaries, evaluated element by element."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from portcheck.frontends.nki.expressions.subscripts import key_of
from portcheck.frontends.nki.loops.growing import append
from portcheck.frontends.nki.loops.keeping import Kept, keep
from portcheck.frontends.nki.objects.attributes import bind_target, items_of
from portcheck.frontends.nki.python.sequences import without_repeats
from portcheck.frontends.nki.source.trees import names_bound_around
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import NeedsUnrollingError, UnfollowedError
from portcheck.frontends.nki.state.flow import Flow
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.mutation import made_lazily
from portcheck.frontends.nki.state.watching import watch_expression
from portcheck.frontends.nki.statements.skipping import skipped_value
from portcheck.frontends.nki.values.series import as_iterator, element, series_of
from portcheck.frontends.nki.values.values import Counter, Items, Table, Value
from portcheck.ir import AxisKind, Loop, Op, OpaqueKind, Range, Symbol, integer


def comprehension(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    """The value of a comprehension; one that is not followed is skipped as if it had not begun."""
    with made_lazily(context) as made:
        found = _made(context, frame, node, hint)
        if isinstance(node, cst.GeneratorExp) and isinstance(found, Items):
            made.append(as_iterator(found))
            found.watches = watch_expression(context, frame, node)
    return found


def taken_in_turns(context: Context, frame: Frame, node: cst.GeneratorExp) -> Iterator[Value] | None:
    """The elements of a generator expression, each worked out when it is asked for; None where that is not followed."""
    clause = node.for_in
    marks = context.marks()
    with context.builder.region() as body, context.journal.changes() as changes:
        values = items_of(context, context.evaluate(context, frame, clause.iter, ""))
    if values is None or clause.inner_for_in is not None:
        changes.undo()
        context.release(marks)
        return None
    context.builder.adopt(body)
    return _in_turns(context, _inner(frame, node), node, values)


def _in_turns(context: Context, inner: Frame, node: cst.GeneratorExp, values: Sequence[Value]) -> Iterator[Value]:
    for value in values:
        is_bound = bind_target(inner, node.for_in.target, value, context)
        decided = [context.truth(context, context.evaluate(context, inner, test.test, "")) for test in node.for_in.ifs]
        if not is_bound or None in decided:
            raise UnfollowedError("a generator expression over something that is not known")
        if all(decided):
            yield context.evaluate(context, inner, node.elt, "")


def _made(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.ListComp | cst.GeneratorExp | cst.SetComp | cst.DictComp)
    marks = context.marks()
    with context.builder.region() as body, context.journal.changes() as changes:
        found = _evaluated(context, frame, node, hint)
    if found is None and not isinstance(node, cst.DictComp | cst.SetComp):
        changes.undo()
        context.release(marks)
        with context.builder.region() as body, context.journal.changes() as changes:
            found = _kept(context, frame, node, hint)
    if found is not None:
        context.builder.adopt(body)
        return found
    changes.undo()
    context.release(marks)
    reason = "a comprehension over something that is not known"
    return skipped_value(context, frame, node, reason, OpaqueKind.CONTROL)


def _evaluated(
    context: Context, frame: Frame, node: cst.ListComp | cst.GeneratorExp | cst.SetComp | cst.DictComp, hint: str
) -> Value | None:
    inner = _inner(frame, node)
    if isinstance(node, cst.DictComp):
        return _dictionary(context, inner, node, hint)
    values: list[Value] = []

    def add() -> bool:
        values.append(context.evaluate(context, inner, node.elt, hint))
        return True

    if not _for_each(context, inner, node.for_in, add):
        return None
    return without_repeats(values) if isinstance(node, cst.SetComp) else Items(values, is_list=True)


def _inner(frame: Frame, node: cst.CSTNode) -> Frame:
    """The names of a comprehension: one set for all its elements; `:=` binds outside."""
    outer = {name: frame.outer.get(name, frame) for name in names_bound_around(node)}
    return Frame(frame.segment, frame, frame.depth, frame.stored, outer=outer)


def _dictionary(context: Context, inner: Frame, node: cst.DictComp, hint: str) -> Value | None:
    made = Table({})

    def add() -> bool:
        key = key_of(context.evaluate(context, inner, node.key, ""))
        if key is not None:
            made.entries[key] = context.evaluate(context, inner, node.value, hint)
        return key is not None

    return made if _for_each(context, inner, node.for_in, add) else None


def _for_each(context: Context, inner: Frame, clause: cst.CompFor, add: Callable[[], bool]) -> bool:
    """Runs `add` for each element, its names bound; False when it is not known how many there are, or it gives up."""
    values = items_of(context, context.evaluate(context, inner, clause.iter, ""))
    if values is None:
        return False
    for value in values:
        if not bind_target(inner, clause.target, value, context):
            return False
        decided = [context.truth(context, context.evaluate(context, inner, test.test, "")) for test in clause.ifs]
        if None in decided:
            return False
        below = clause.inner_for_in
        if all(decided) and not (add() if below is None else _for_each(context, inner, below, add)):
            return False
    return True


def _kept(context: Context, frame: Frame, node: cst.ListComp | cst.GeneratorExp, hint: str) -> Value | None:
    """A list of a length that is not known, its elements made by a loop; None where that is not followed."""
    clause = node.for_in
    series = series_of(context, context.evaluate(context, frame, clause.iter, ""))
    if series is None or clause.ifs or clause.inner_for_in is not None:
        return None
    made = Items([], is_list=True)
    inner = _inner(frame, node)
    counter = Counter(integer(0), series.length, integer(1), "loop.list", "for")
    values = Range(start=counter.start, stop=counter.stop, step=counter.step)

    def bind(variable: Symbol) -> None:
        if not bind_target(inner, clause.target, element(series, variable), context):
            raise NeedsUnrollingError

    def run() -> Flow:
        append(context, made, context.evaluate(context, inner, node.elt, hint))
        return Flow()

    def emit(variable: str, body: tuple[Op, ...]) -> None:
        if body:
            kind = AxisKind.UNROLLED
            context.builder.emit(Loop, via="for", variable=variable, values=values, body=body, kind=kind)

    try:
        keep(context, inner, Kept(counter, None, bind, run, emit, "place"))
    except NeedsUnrollingError:
        return None
    return made
