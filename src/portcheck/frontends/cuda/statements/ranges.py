"""`for (auto v : object) body` over an object that says where it begins and ends: the loop that C++ makes of it."""

from __future__ import annotations

from portcheck.frontends.cuda.functions.changes import mutations_of
from portcheck.frontends.cuda.functions.methods import functions_of, record_of
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import type_of_value
from portcheck.frontends.cuda.model.values import Value
from portcheck.frontends.cuda.parsing.composing import Pieces
from portcheck.frontends.cuda.parsing.syntax import Node

_HEAD = "void f() { for (auto at__ = range__.begin(), end__ = range__.end(); at__ != end__; ++at__) { "


def loop_over_object(state: State, node: Node, over: Value) -> bool:
    """Lowers the loop `node` over an object; False where that has no `begin` and `end` of its own."""
    record = record_of(state, type_of_value(over))
    if record is None or not functions_of(state, record, "begin") or not functions_of(state, record, "end"):
        return False
    key = ("range", node.key)
    if key not in state.written:
        state.written[key] = _written(node)
    loops = state.written[key].found("for_statement")
    outer = state.mutations
    state.mutations = mutations_of(state, state.written[key])
    try:
        with state.scope():
            state.bind("range__", over)
            state.execute_all(loops[:1])
    finally:
        state.mutations = outer
    return bool(loops)


def _written(node: Node) -> Node:
    colon = next(child for child in node.children if child.type == ":")
    opening = next(child for child in node.children if child.type == "(")
    body = node.field("body") or node
    pieces = Pieces(node.unit)
    pieces.put(_HEAD, node)
    pieces.keep(opening.end, colon.start)
    pieces.put(" = *at__; ", node)
    pieces.keep(body.start, body.end)
    pieces.put(" } }", node)
    return pieces.parsed()
