"""`switch`: a chain of branches; what a case falls into is put in after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from portcheck.core.dtype import BOOL
from portcheck.frontends.cuda.expressions.arithmetic import binary
from portcheck.frontends.cuda.memory.places import scalar
from portcheck.frontends.cuda.model.constants import folded
from portcheck.frontends.cuda.model.frames import Exit
from portcheck.frontends.cuda.model.reach import memory
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.frontends.cuda.parsing.returns import LOOPS
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.statements.declarations import condition_value
from portcheck.frontends.cuda.statements.exits import open_exit
from portcheck.ir import Branch, Const, Op, OpaqueKind, Operator, apply

_ENDS = frozenset({"break_statement", "return_statement", "continue_statement", "goto_statement"})
_LOOPS = frozenset({*LOOPS, "switch_statement"})
_MOST_STATEMENTS = 400
"""Statements of all cases, those that a case falls into counted each time."""

_Group = tuple[list[Node | None], list[Node]]
"""The labels of neighbouring cases (None: default), and what runs from there to the end of the switch."""


def switch(state: State, node: Node) -> None:
    """Lowers a `switch`; a case that falls through has the statements of the next ones as well."""
    clause, body = node.field("condition"), node.field("body")
    value_node = clause.field("value") if clause is not None else None
    groups = _groups(body) if body is not None else None
    if clause is None or value_node is None or groups is None:
        state.keep(node, "switch into the middle of a statement", writes=memory(state), kind=OpaqueKind.CONTROL)
        return
    initial = clause.field("initializer")
    with state.scope():
        if initial is not None:
            state.execute_all(initial.named if initial.type == "init_statement" else [initial])
        value = folded(scalar(state, condition_value(state, value_node), value_node))
        _chosen(state, node, value, groups)


def _chosen(state: State, node: Node, value: Scalar, groups: list[_Group]) -> None:
    leaves = any(_breaks(statement) for _, statements in groups for statement in statements)
    exit_ = open_exit(state, "switch.left", _breaks) if leaves else None
    regions: list[tuple[Scalar | None, list[Op]]] = []
    for labels, statements in groups:
        matches = _matches(state, value, labels)
        with state.builder.region() as emitted, state.scope(), _inside(state, exit_):
            state.execute_all(statements)
        regions.append((matches, emitted))
    regions.sort(key=lambda pair: pair[0] is None)
    _emit(state, node, regions)


@contextmanager
def _inside(state: State, exit_: Exit | None) -> Iterator[None]:
    """Statements inside the `with` block leave the switch by `exit_`."""
    if exit_ is None:
        yield
        return
    state.breaks.append(exit_)
    state.exits.append(exit_)
    try:
        yield
    finally:
        state.exits.pop()
        state.breaks.pop()


def _emit(state: State, node: Node, regions: list[tuple[Scalar | None, list[Op]]]) -> None:
    otherwise: tuple[Op, ...] = ()
    for matches, emitted in reversed(regions):
        if matches is None or (isinstance(matches.expr, Const) and matches.expr.value):
            otherwise = tuple(emitted)
            continue
        if isinstance(matches.expr, Const):
            continue
        with state.builder.region() as wrapped:
            state.builder.emit(
                Branch, condition=matches.expr, then=tuple(emitted), otherwise=otherwise, via="switch", span=node.span
            )
        otherwise = tuple(wrapped)
    state.builder.adopt(otherwise)


def _matches(state: State, value: Scalar, labels: list[Node | None]) -> Scalar | None:
    """The condition under which one of `labels` is chosen; None for a group with `default`."""
    if any(label is None for label in labels):
        return None
    result: Scalar | None = None
    for label in labels:
        if label is None:
            continue
        number = folded(scalar(state, state.evaluate(label), label))
        equal = binary(state, "==", value, number, via="case")
        if equal is None:
            continue
        if isinstance(value.expr, Const) and isinstance(number.expr, Const):
            equal = Scalar(Const(value.expr.value == number.expr.value, BOOL), BOOL)
        result = equal if result is None else Scalar(apply(Operator.LOGICAL_OR, result.expr, equal.expr), BOOL)
    return result


def _groups(body: Node) -> list[_Group] | None:
    """The cases; None where one is not directly in the body, or what they fall into is too much."""
    found: list[_Group] = []
    labels: list[Node | None] = []
    for case in body.named:
        if case.type != "case_statement":
            return None
        label = case.field("value")
        labels.append(label)
        statements = [child for child in case.named if label is None or child.key != label.key]
        if any(statement.found("case_statement") and not _is_whole(statement) for statement in statements):
            return None
        if statements:
            found.append((labels, statements))
            labels = []
    if labels:
        found.append((labels, []))
    return _with_what_follows(found)


def _with_what_follows(groups: list[_Group]) -> list[_Group] | None:
    complete: list[_Group] = []
    following: list[Node] = []
    count = 0
    for labels, statements in reversed(groups):
        flat = _flattened(statements)
        if not flat or flat[-1].type not in _ENDS:
            following = [*statements, *following]
        else:
            following = flat[:-1] if flat[-1].type == "break_statement" else flat
        count += len(following)
        if count > _MOST_STATEMENTS:
            return None
        complete.append((labels, following))
    return complete[::-1]


def _is_whole(statement: Node) -> bool:
    """Whether all cases in `statement` are those of a switch in it."""
    return all(_inner_switch(case, statement) for case in statement.found("case_statement"))


def _inner_switch(case: Node, statement: Node) -> bool:
    current = case.parent
    while current is not None and current.key != statement.key:
        if current.type == "switch_statement":
            return True
        current = current.parent
    return statement.type == "switch_statement"


def _flattened(statements: list[Node]) -> list[Node]:
    """The statements of a case, those of a block around all of them taken out of it."""
    if len(statements) == 1 and statements[0].type == "compound_statement":
        return statements[0].named
    if len(statements) == 2 and statements[0].type == "compound_statement" and statements[1].type in _ENDS:
        return [*statements[0].named, statements[1]]
    return statements


def _breaks(node: Node) -> bool:
    """Whether a `break` in `node` would leave the switch."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == "break_statement":
            return True
        if current.type not in _LOOPS and current.type != "lambda_expression":
            stack.extend(current.children)
    return False
