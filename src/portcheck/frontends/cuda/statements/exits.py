"""Jumps out of the middle: a return from a loop of a helper, a `break` from a branch of a `switch`, a `goto`.

Where one is taken a flag is set; what would follow runs only where it is not set, and loops in between are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from portcheck.core.dtype import BOOL
from portcheck.frontends.cuda.model.frames import Exit
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.parsing.returns import LOOPS
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import TRUE, Branch, Const, Expr, Leave, LeaveKind, Operator, apply


def open_exit(state: State, name: str, jumps: Callable[[Node], bool]) -> Exit:
    """An exit that no thread has taken yet."""
    flag = state.register(name, BOOL)
    state.store(flag, Const(False, BOOL), via="")
    return Exit(flag, state.loops, jumps)


def take(state: State, exit_: Exit, via: str) -> None:
    """Jumps to the exit."""
    state.store(exit_.flag, TRUE, via=via)
    if state.loops > exit_.loops:
        state.builder.emit(Leave, kind=LeaveKind.LOOP, via=via)


def leave_loops(state: State, node: Node) -> None:
    """After `node`, which may have left a loop of its own for an exit: leaves the loop around it as well."""
    for exit_ in state.exits:
        if state.loops > exit_.loops and any(exit_.jumps(loop) for loop in node.found(*LOOPS)):
            taken = state.load(exit_.flag, BOOL).expr
            with state.builder.region() as body:
                state.builder.emit(Leave, kind=LeaveKind.LOOP)
            state.builder.emit(Branch, condition=taken, then=tuple(body))


def not_taken(state: State, *nodes: Node) -> Expr | None:
    """The condition under which `nodes` took no exit that lies beyond the statements after; None: they take none."""
    result: Expr | None = None
    for exit_ in state.exits:
        if state.loops == exit_.loops and any(map(exit_.jumps, nodes)):
            missed = apply(Operator.LOGICAL_NOT, state.load(exit_.flag, BOOL).expr)
            result = missed if result is None else apply(Operator.LOGICAL_AND, result, missed)
    return result


def target_of_goto(statements: Sequence[Node]) -> int | None:
    """The position of the last labelled statement that an earlier one jumps to."""
    for position, node in reversed(list(enumerate(statements))):
        if node.type == "labeled_statement":
            label = label_of(node)
            if any(jumps_to(label, before) for before in statements[:position]):
                return position
    return None


def span_of_backward_goto(statements: Sequence[Node]) -> tuple[int, int] | None:
    """The positions of the first labelled statement and of the last one, not before it, that jumps to it."""
    for first, node in enumerate(statements):
        if node.type == "labeled_statement":
            last = [place for place in range(first, len(statements)) if jumps_to(label_of(node), statements[place])]
            if last:
                return first, last[-1]
    return None


def label_of(node: Node) -> str:
    """The label of a labelled statement or of a `goto`."""
    label = node.field("label")
    return label.text if label is not None else ""


def jumps_to(label: str, node: Node) -> bool:
    """Whether a `goto label` stands in `node`."""
    return any(label_of(found) == label for found in node.found("goto_statement"))
