"""Statements: blocks, branches, returns; loops live in `loops`, declarations in `declarations`."""

from __future__ import annotations

import os
from collections.abc import Sequence, Set
from functools import partial

from portcheck.frontends.cuda.expressions.choices import condition
from portcheck.frontends.cuda.functions.construction import returned
from portcheck.frontends.cuda.functions.results import leave_result
from portcheck.frontends.cuda.memory.places import read
from portcheck.frontends.cuda.model.frames import Frame
from portcheck.frontends.cuda.model.reach import memory
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Lost, Nothing, TypeKind, Value
from portcheck.frontends.cuda.parsing.obstacles import form_kind
from portcheck.frontends.cuda.parsing.returns import always_returns
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.frontends.cuda.statements.bindings import bind_all, binds_names
from portcheck.frontends.cuda.statements.declarations import declaration
from portcheck.frontends.cuda.statements.exits import (
    jumps_to,
    label_of,
    leave_loops,
    not_taken,
    open_exit,
    span_of_backward_goto,
    take,
    target_of_goto,
)
from portcheck.frontends.cuda.statements.loops import do_loop, for_loop, range_loop, while_loop
from portcheck.frontends.cuda.statements.misreadings import declare_misread, declares_indirectly, misread_declaration
from portcheck.frontends.cuda.statements.repeating import is_natural, repeat
from portcheck.frontends.cuda.statements.switches import switch
from portcheck.ir import Alloc, Branch, Const, Expr, Leave, LeaveKind, Op, OpaqueKind, Return, refs_in

_SILENT = frozenset(
    {";", "using_declaration", "alias_declaration", "type_definition", "static_assert_declaration", "comment",
     "namespace_alias_definition", "struct_specifier", "class_specifier", "union_specifier", "enum_specifier"}
)  # fmt: skip

_JUMPS = frozenset({"return_statement", "break_statement", "continue_statement", "goto_statement"})


def execute(state: State, node: Node) -> None:
    """Lowers one statement; never raises on what the source says."""
    if node.type == "compound_statement":
        with state.scope():
            execute_all(state, node.named)
        return
    execute_all(state, [node])


def execute_all(state: State, statements: Sequence[Node]) -> None:
    """Lowers statements in order, as far as one that surely leaves them.

    In a helper, what follows an `if` that returns becomes its other branch.
    """
    target = target_of_goto(statements)
    if target is not None:
        _with_label(state, statements[:target], statements[target:])
        return
    repeated = span_of_backward_goto(statements) if target is None else None
    if repeated is not None:
        first, behind = repeated[0], repeated[1] + 1
        if is_natural(state, statements[first:behind], statements[behind:]):
            execute_all(state, statements[:first])
            _repeat(state, statements[first:behind], statements[behind:])
            return
    for position, node in enumerate(statements):
        is_last = position == len(statements) - 1
        if state.frames and _chooses_a_return(node, is_last):
            _branch(state, node, statements[position + 1 :])
            return
        _statement(state, node)
        if node.type in _JUMPS or (state.frames and state.frames[-1].is_done):
            return
        stayed = _stayed(state, node, is_last) if state.exits else None
        if stayed is not None:
            _where(state, stayed, statements[position + 1 :])
            return


def _repeat(state: State, repeated: Sequence[Node], after: Sequence[Node]) -> None:
    repeat(state, repeated)
    stayed = not_taken(state, *repeated) if after else None
    if stayed is None:
        execute_all(state, after)
    else:
        _where(state, stayed, after)


def _where(state: State, condition: Expr, rest: Sequence[Node]) -> None:
    """The rest of a block where `condition` holds; what it declares is seen behind a label that follows as well."""
    with state.rest_of_block() as emitted:
        execute_all(state, rest)
    if state.labels:
        state.builder.adopt(op for op in emitted if isinstance(op, Alloc))
        emitted = [op for op in emitted if not isinstance(op, Alloc)]
    state.builder.emit(Branch, condition=condition, then=tuple(emitted))
    if state.labels:
        _lose(state, rest[0], {op.id for op in emitted})


def _lose(state: State, node: Node, made: Set[int]) -> None:
    """Names declared in a branch whose types are not known, so that they stand for one of the values `made` there."""
    for name, value in list(state.scopes[-1].items()):
        if isinstance(value, Lost) and refs_in(value.expr) & made:
            del state.scopes[-1][name]  # so that what replaces it does not read it
            state.bind(name, state.opaque(node, f"{name} is declared where a goto may jump over it", value.dtype))


def _chooses_a_return(node: Node, is_last: bool) -> bool:
    if node.type != "if_statement" or not always_returns(node.field("consequence")):
        return False
    return not is_last or always_returns(node.field("alternative"))


def _stayed(state: State, node: Node, is_last: bool) -> Expr | None:
    """After `node`: the condition under which what follows runs; None where it always does, or nothing follows."""
    leave_loops(state, node)
    return None if is_last else not_taken(state, node)


def _with_label(state: State, before: Sequence[Node], after: Sequence[Node]) -> None:
    """Statements that may jump to the label at the start of `after`."""
    label = label_of(after[0])
    exit_ = open_exit(state, label, partial(jumps_to, label))
    around, state.labels = state.labels, {**state.labels, label: exit_}
    state.exits.append(exit_)
    execute_all(state, before)
    state.exits.remove(exit_)
    state.labels = around
    if state.frames and state.frames[-1].is_done:
        return
    goes_on = not_taken(state, *before)
    if goes_on is None:
        execute_all(state, after)
        return
    _where(state, goes_on, after)


def _statement(state: State, node: Node) -> None:
    excess = state.excess()
    if excess:
        state.keep(node, excess, kind=OpaqueKind.LIMIT)
        return
    state.depth += 1
    try:
        with state.builder.at(node):
            _dispatch(state, node)
    except RecursionError:
        state.keep(node, "text nested too deeply", kind=OpaqueKind.LIMIT)
    except Exception as error:
        if os.environ.get("PORTCHECK_DEBUG"):
            raise
        reason = f"portcheck failed here ({type(error).__name__}); please report this as a bug"
        state.keep(node, reason, kind=OpaqueKind.LIMIT)
    finally:
        state.depth -= 1


def _dispatch(state: State, node: Node) -> None:
    match node.type:
        case "expression_statement":
            for expression in node.named:
                _expression(state, expression, node)
        case "declaration" if binds_names(node):
            bind_all(state, node, _enclosing_block(node))
        case "declaration":
            declaration(state, node, _enclosing_block(node))
        case "compound_statement":
            execute(state, node)
        case "attributed_statement" if node.named:
            execute(state, node.named[-1])
        case "if_statement":
            _branch(state, node, [])
        case "for_statement":
            for_loop(state, node)
        case "for_range_loop":
            range_loop(state, node)
        case "while_statement":
            while_loop(state, node)
        case "do_statement":
            do_loop(state, node)
        case "return_statement":
            _return(state, node)
        case "break_statement" | "continue_statement" if not _has_what_it_leaves(state, node):
            state.keep(node, f"{node.text.rstrip(';')} outside a loop", kind=OpaqueKind.CONTROL)
        case "break_statement":
            _break(state)
        case "continue_statement":
            state.builder.emit(Leave, kind=LeaveKind.ITERATION, via="continue")
        case "switch_statement":
            switch(state, node)
        case "goto_statement":
            _goto(state, node)
        case "labeled_statement":
            execute_all(state, [child for child in node.named if child.type != "statement_identifier"])
        case kind if kind in _SILENT:
            _names(state, node)
        case _:
            _unknown(state, node)


def _has_what_it_leaves(state: State, node: Node) -> bool:
    """Whether a `break` stands in a loop or switch, a `continue` in a loop, of the same function."""
    return bool(state.breaks) if node.type == "break_statement" else None in state.breaks


def _expression(state: State, node: Node, statement: Node) -> None:
    indirect = declares_indirectly(state, bare(node))
    if indirect is not None:
        declaration(state, indirect, None)
        return
    declared = misread_declaration(state, node)
    if declared is not None:
        declare_misread(state, declared, _enclosing_block(statement))
        return
    state.statement = bare(node).key
    state.evaluate(bare(node))


def _names(state: State, node: Node) -> None:
    """Aliases of types and namespaces inside a body count for the whole file."""
    state.definitions.declare(node)


def _unknown(state: State, node: Node) -> None:
    reasons = {
        "ERROR": "text that does not parse", "function_definition": "macro with a body",
    }  # fmt: skip
    state.keep(node, reasons.get(node.type, node.type.replace("_", " ")), kind=form_kind(node.type))


def _enclosing_block(node: Node) -> Node | None:
    parent = node.parent
    return parent if parent is not None and parent.type in ("compound_statement", "for_statement") else None


def _branch(state: State, node: Node, rest: Sequence[Node]) -> None:
    """An `if`; `rest` are statements that run only where it does not return."""
    clause = node.field("condition")
    consequence, alternative = node.field("consequence"), node.field("alternative")
    value = clause.field("value") if clause is not None else None
    if clause is None or value is None or consequence is None:
        state.keep(node, "if")
        return
    initial = clause.field("initializer")
    with state.scope():
        if initial is not None:
            for child in initial.named if initial.type == "init_statement" else [initial]:
                _statement(state, child)
        holds = condition(state, value)
        if isinstance(holds.expr, Const):
            _decided(state, (consequence, alternative), rest, bool(holds.expr.value))
            return
        then = _region(state, consequence)
        other = alternative.named if alternative is not None else []
        with state.rest_of_block() if rest else state.builder.region() as otherwise, state.scope():
            execute_all(state, [*other, *rest])
        state.builder.emit(
            Branch, condition=holds.expr, then=tuple(then), otherwise=tuple(otherwise), via="if", span=node.span
        )


def _decided(state: State, arms: tuple[Node, Node | None], rest: Sequence[Node], holds: bool) -> None:
    """A branch whose condition is a constant of the program."""
    consequence, alternative = arms
    if holds:
        execute(state, consequence)
        return
    with state.scope():
        execute_all(state, [*(alternative.named if alternative is not None else ()), *rest])


def _region(state: State, statement: Node) -> list[Op]:
    with state.builder.region() as body, state.scope():
        execute(state, statement)
    return body


def _returned(state: State, frame: Frame, value: Node) -> Value:
    """What `return value` gives: the place itself for a reference, else what is there."""
    type_ = frame.result_type
    if type_.reference:
        return state.evaluate(value)
    if value.type == "initializer_list" and type_.kind is not TypeKind.DEDUCED:
        return read(state, state.make(type_, value.named, value, ""), value)
    if type_.kind is TypeKind.RECORD:
        return read(state, returned(state, type_, value), value)
    return read(state, state.evaluate(value), value)


def _break(state: State) -> None:
    left = state.breaks[-1] if state.breaks else None
    if left is None:
        state.builder.emit(Leave, kind=LeaveKind.LOOP, via="break")
    else:
        take(state, left, "break")


def _goto(state: State, node: Node) -> None:
    exit_ = state.labels.get(label_of(node))
    if exit_ is None:
        state.keep(node, "goto", writes=memory(state), kind=OpaqueKind.CONTROL)
    else:
        take(state, exit_, "goto")


def _return(state: State, node: Node) -> None:
    value = node.named[0] if node.named else None
    if not state.frames:
        if value is not None:
            state.evaluate(value)
        state.builder.emit(Return, via="return")
        return
    frame = state.frames[-1]
    result = _returned(state, frame, value) if value is not None else Nothing()
    if state.builder.depth == frame.depth:
        frame.value, frame.is_done = result, True
        return
    if value is not None and not isinstance(result, Nothing):
        leave_result(state, frame, read(state, result, value), node)
    if frame.exit is not None:
        take(state, frame.exit, "return")
