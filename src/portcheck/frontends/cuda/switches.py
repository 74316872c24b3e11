"""`switch`: a chain of branches, where every case ends by itself."""

from __future__ import annotations

from portcheck.core.dtype import BOOL
from portcheck.frontends.cuda.arithmetic import binary
from portcheck.frontends.cuda.places import scalar
from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.syntax import Node
from portcheck.frontends.cuda.values import Scalar
from portcheck.ir import Branch, Const, Op, OpaqueKind, Operator, apply

_ENDS = frozenset({"break_statement", "return_statement"})
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "switch_statement"})


def switch(state: State, node: Node) -> None:
    """Lowers a `switch`; one whose cases fall through into each other's statements is kept as it is."""
    clause, body = node.field("condition"), node.field("body")
    value_node = clause.field("value") if clause is not None else None
    groups = _groups(body) if body is not None else None
    if value_node is None or groups is None:
        state.keep(node, "switch with fall-through", kind=OpaqueKind.CONTROL)
        return
    value = scalar(state, state.evaluate(value_node), value_node)
    regions: list[tuple[Scalar | None, list[Op]]] = []
    for labels, statements in groups:
        matches = _matches(state, value, labels)
        with state.builder.region() as emitted, state.scope():
            state.execute_all(statements)
        regions.append((matches, emitted))
    regions.sort(key=lambda pair: pair[0] is None)
    _emit(state, node, regions)


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
        number = scalar(state, state.evaluate(label), label)
        equal = binary(state, "==", value, number, via="case")
        if equal is None:
            continue
        if isinstance(value.expr, Const) and isinstance(number.expr, Const):
            equal = Scalar(Const(value.expr.value == number.expr.value, BOOL), BOOL)
        result = equal if result is None else Scalar(apply(Operator.LOGICAL_OR, result.expr, equal.expr), BOOL)
    return result


def _groups(body: Node) -> list[tuple[list[Node | None], list[Node]]] | None:
    """Labels and statements of each group of cases; None where one runs into the next, or leaves in the middle."""
    groups: list[tuple[list[Node | None], list[Node]]] = []
    labels: list[Node | None] = []
    cases = body.named
    for position, case in enumerate(cases):
        if case.type != "case_statement":
            return None
        label = case.field("value")
        labels.append(label)
        statements = [child for child in case.named if label is None or child.key != label.key]
        if not statements and position + 1 < len(cases):
            continue
        flat = _flattened(statements)
        if position + 1 < len(cases) and (not flat or flat[-1].type not in _ENDS):
            return None
        if flat and flat[-1].type == "break_statement":
            flat = flat[:-1]
        if any(_breaks(statement) for statement in flat):
            return None
        groups.append((labels, flat))
        labels = []
    return groups


def _flattened(statements: list[Node]) -> list[Node]:
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
