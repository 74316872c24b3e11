"""`again: ...; if (c) goto again;`: a jump back, as the loop it makes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from portcheck.core.dtype import BOOL
from portcheck.frontends.cuda.model.frames import Exit
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.parsing.definitions import declared_name
from portcheck.frontends.cuda.parsing.mutations import mentions
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.statements.exits import jumps_to, label_of
from portcheck.frontends.cuda.statements.loops import has_leave
from portcheck.ir import Const, While


def is_natural(state: State, repeated: Sequence[Node], after: Sequence[Node]) -> bool:
    """Whether what a jump back repeats leaves no loop around it, and declares nothing that is used behind it."""
    if any(exit_.loops != state.loops for exit_ in state.exits) or any(map(has_leave, repeated)):
        return False
    declared = frozenset(
        declared_name(declarator)
        for statement in repeated
        for node in [statement, *statement.named]
        if node.type == "declaration"
        for declarator in node.fields("declarator")
    )
    return not any(mentions(node, declared) for node in after)


def repeat(state: State, repeated: Sequence[Node]) -> None:
    """Statements that run again for those who jump back to the label they begin with."""
    node, label = repeated[0], label_of(repeated[0])
    inner = [child for child in node.named if child.type != "statement_identifier"]
    flag = state.register(label, BOOL)
    around = state.labels
    with state.builder.region() as body, state.scope():
        state.loops += 1
        state.store(flag, Const(False, BOOL), via="")
        exit_ = Exit(flag, state.loops, partial(jumps_to, label))
        state.exits.append(exit_)
        state.labels = {**around, label: exit_}
        state.execute_all([*inner, *repeated[1:]])
        state.exits.remove(exit_)
        state.labels = around
        state.loops -= 1
    with state.builder.region() as test:
        again = state.load(flag, BOOL).expr
    state.builder.emit(
        While, test=tuple(test), condition=again, body=tuple(body), body_first=True, via="goto", span=node.span
    )
