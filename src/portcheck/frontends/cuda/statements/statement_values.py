"""`({ ...; e; })`: statements whose value is that of the last one."""

from __future__ import annotations

from portcheck.frontends.cuda.memory.places import read
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Nothing, Value
from portcheck.frontends.cuda.parsing.syntax import Node, bare


def statement_value(state: State, node: Node) -> Value:
    """Executes the block `node`; the value of its last expression, nothing if it ends with another statement."""
    statements = node.named
    last = statements[-1] if statements and statements[-1].type == "expression_statement" else None
    if last is None or len(last.named) != 1:
        state.execute(node)
        return Nothing()
    with state.scope():
        state.execute_all(statements[:-1])
        expression = bare(last.named[0])
        return read(state, state.evaluate(expression), expression)
