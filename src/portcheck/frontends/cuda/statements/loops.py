"""Loops: counted ones over a range or a sequence, all others as `While`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from portcheck.core.dtype import BOOL, INT32
from portcheck.frontends.cuda.expressions.choices import condition
from portcheck.frontends.cuda.memory.places import element, read
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import base_type, declare
from portcheck.frontends.cuda.model.values import Place, Scalar, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.statements.bindings import bind_parts, binds_names
from portcheck.frontends.cuda.statements.counted import Counted, read_counted
from portcheck.frontends.cuda.statements.declarations import declaration, declare_variable
from portcheck.frontends.cuda.statements.exits import not_taken
from portcheck.frontends.cuda.statements.misreadings import declares_indirectly
from portcheck.frontends.cuda.statements.ranges import loop_over_object
from portcheck.ir import ONE, TRUE, ZERO, Branch, Const, Loop, Op, OpaqueKind, Range, Symbol, While

_MOST_UNROLLED = 64
_EFFECTS = ("call_expression", "assignment_expression", "update_expression", "declaration")
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})


@dataclass(frozen=True, slots=True)
class _Header:
    initial: Node | None
    test: Node | None
    update: Node | None
    body: Node


def for_loop(state: State, node: Node) -> None:
    """`for (initial; test; update) body`."""
    body = node.field("body")
    if body is None:
        state.keep(node, "for", kind=OpaqueKind.CONTROL)
        return
    header = _Header(node.field("initializer"), node.field("condition"), node.field("update"), body)
    with state.scope():
        counted = read_counted(state, node, header.initial, header.test, header.update)
        if counted is not None:
            _counted(state, node, counted, body)
            return
        _initialise(state, header.initial, node)
        _general(state, node, header)


def _counted(state: State, node: Node, counted: Counted, body: Node) -> None:
    with state.builder.region() as emitted, state.scope():
        for name, value in counted.bindings(state):
            state.bind(name, value)
        with state.loop():
            state.execute(body)
    state.builder.emit(
        Loop, variable=counted.variable, values=counted.values, body=tuple(emitted), via="for", span=node.span
    )


def _initialise(state: State, initial: Node | None, node: Node) -> None:
    if initial is None:
        return
    indirect = declares_indirectly(state, initial)
    if indirect is not None:
        declaration(state, indirect, None)
    elif initial.type == "declaration":
        declaration(state, initial, node)
    else:
        state.evaluate(initial)


def _general(state: State, node: Node, header: _Header) -> None:
    """A loop whose trip count is not an expression: the update runs at the end of every iteration."""
    continues = header.update is not None and _has_continue(header.body)
    first = state.register("first", BOOL) if continues else None
    if first is not None:
        state.store(first, TRUE, via="")
    with state.builder.region() as test, state.scope():
        if first is not None and header.update is not None:
            _skip_first(state, first, header.update)
        holds = condition(state, header.test).expr if header.test is not None else TRUE
    with state.builder.region() as body:
        with state.loop():
            state.execute(header.body)
        if header.update is not None and not continues:
            state.evaluate(header.update)
    state.builder.emit(While, test=tuple(test), condition=holds, body=tuple(body), via="for", span=node.span)


def _skip_first(state: State, place: Place, update: Node) -> None:
    """Runs the update before every test but the first, so that `continue` does not skip it."""
    is_first = state.load(place, BOOL)
    with state.builder.region() as then:
        state.store(place, Const(False, BOOL), via="")
    with state.builder.region() as otherwise:
        state.evaluate(update)
    state.builder.emit(Branch, condition=is_first.expr, then=tuple(then), otherwise=tuple(otherwise))


def while_loop(state: State, node: Node) -> None:
    """`while (test) body`."""
    clause, body = node.field("condition"), node.field("body")
    value = clause.field("value") if clause is not None else None
    if value is None or body is None:
        state.keep(node, "while", kind=OpaqueKind.CONTROL)
        return
    with state.scope():
        with state.builder.region() as test:
            holds = condition(state, value).expr
        emitted = _body(state, body)
    state.builder.emit(While, test=tuple(test), condition=holds, body=emitted, via="while", span=node.span)


def range_loop(state: State, node: Node) -> None:
    """`for (auto v : array) body`, and the same over a list in braces."""
    over, body = node.field("right"), node.field("body")
    if over is None or body is None:
        state.keep(node, "for", kind=OpaqueKind.CONTROL)
        return
    if over.type == "initializer_list" and len(over.named) <= _MOST_UNROLLED and not has_leave(body):
        _unrolled(state, node, over.named, body)
        return
    array = state.evaluate(over)
    shape = state.buffers[array.buffer].shape if isinstance(array, Place) else ()
    if loop_over_object(state, node, array):
        return
    if not isinstance(array, Place) or array.remaining < 1 or len(array.index) >= len(shape):
        state.keep(node, "for over something that is no array", kind=OpaqueKind.CONTROL)
        return
    variable = state.unique("position")
    with state.builder.region() as emitted, state.scope():
        position = Scalar(Symbol(variable, INT32), INT32)
        item = element(state, array, position)
        _declare_element(state, node, item or array, body)
        with state.loop():
            state.execute(body)
    values = Range(start=ZERO, stop=shape[len(array.index)], step=ONE)
    state.builder.emit(Loop, variable=variable, values=values, body=tuple(emitted), via="for", span=node.span)


def _unrolled(state: State, node: Node, items: Sequence[Node], body: Node) -> None:
    """The body once for each of `items`; for the next ones only where it did not return."""
    for position, item in enumerate(items):
        with state.scope():
            _declare_element(state, node, state.evaluate(item), body)
            state.execute(body)
        if state.frames and state.frames[-1].is_done:
            return
        goes_on = not_taken(state, body)
        if goes_on is not None:
            with state.rest_of_block() as emitted:
                _unrolled(state, node, items[position + 1 :], body)
            state.builder.emit(Branch, condition=goes_on, then=tuple(emitted))
            return


def _declare_element(state: State, node: Node, value: Value, body: Node) -> None:
    if binds_names(node):
        bind_parts(state, node, (node, value), None)
        return
    declared = declare(state, base_type(state, node), node.field("declarator"))
    if declared.type.reference:
        state.bind(declared.name, value)
        return
    declare_variable(state, body, declared, read(state, value, node), None)


def do_loop(state: State, node: Node) -> None:
    """`do body while (test);`: runs once where the test is false from the start."""
    clause, body = node.field("condition"), node.field("body")
    if clause is None or body is None:
        state.keep(node, "do", kind=OpaqueKind.CONTROL)
        return
    if not has_leave(body) and _never_holds(state, clause):
        state.execute(body)
        return
    emitted = _body(state, body)
    with state.builder.region() as test:
        holds = condition(state, clause).expr
    state.builder.emit(
        While, test=tuple(test), condition=holds, body=emitted, body_first=True, via="do", span=node.span
    )


def _never_holds(state: State, test: Node) -> bool:
    """Whether a condition that does nothing is known to be false."""
    if test.found(*_EFFECTS):
        return False
    with state.builder.region():
        holds = condition(state, test).expr
    return isinstance(holds, Const) and not holds.value


def _body(state: State, body: Node) -> tuple[Op, ...]:
    with state.builder.region() as emitted, state.loop():
        state.execute(body)
    return tuple(emitted)


def _has_continue(body: Node) -> bool:
    return _leaves(body, frozenset({"continue_statement"}))


def has_leave(body: Node) -> bool:
    """Whether a `break` or `continue` in `body` concerns the loop around it."""
    return _leaves(body, frozenset({"continue_statement", "break_statement"}))


def _leaves(body: Node, kinds: frozenset[str]) -> bool:
    """Whether a statement of `kinds` in `body` concerns the loop around it."""
    stack = [body]
    while stack:
        current = stack.pop()
        if current.type in kinds:
            return True
        if current.type not in _LOOPS and current.type != "lambda_expression":
            stack.extend(current.children)
    return False
