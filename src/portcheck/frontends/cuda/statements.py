"""Statements: blocks, branches, returns; loops live in `loops`, declarations in `declarations`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from portcheck.frontends.cuda.choices import condition
from portcheck.frontends.cuda.conversions import convert, materialised
from portcheck.frontends.cuda.declarations import declaration
from portcheck.frontends.cuda.loops import do_loop, for_loop, while_loop
from portcheck.frontends.cuda.misreadings import declare_misread, misread_declaration
from portcheck.frontends.cuda.obstacles import form_kind
from portcheck.frontends.cuda.places import read, scalar, write
from portcheck.frontends.cuda.returns import always_returns
from portcheck.frontends.cuda.state import Frame, State
from portcheck.frontends.cuda.switches import switch
from portcheck.frontends.cuda.syntax import Node, bare
from portcheck.frontends.cuda.values import Place, Pointer, Scalar, TypeKind, Value
from portcheck.ir import Branch, Const, Leave, LeaveKind, Op, OpaqueKind, Return

_SILENT = frozenset(
    {";", "using_declaration", "alias_declaration", "type_definition", "static_assert_declaration", "comment",
     "namespace_alias_definition", "struct_specifier", "class_specifier", "union_specifier", "enum_specifier"}
)  # fmt: skip


_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})


def execute(state: State, node: Node) -> None:
    """Lowers one statement; never raises on what the source says."""
    if node.type == "compound_statement":
        with state.scope():
            execute_all(state, node.named)
        return
    execute_all(state, [node])


def execute_all(state: State, statements: Sequence[Node]) -> None:
    """Lowers statements in order. In a helper, what follows an `if` that returns becomes its other branch."""
    for position, node in enumerate(statements):
        if state.frames and node.type == "if_statement" and always_returns(node.field("consequence")):
            rest = list(statements[position + 1 :])
            if rest or always_returns(node.field("alternative")):
                _branch(state, node, rest)
                return
        _statement(state, node)


def _statement(state: State, node: Node) -> None:
    excess = state.excess()
    if excess:
        state.keep(node, excess, kind=OpaqueKind.LIMIT)
        return
    state.depth += 1
    try:
        with state.builder.at(node.span):
            _dispatch(state, node)
    except RecursionError:
        state.keep(node, "text nested too deeply", kind=OpaqueKind.LIMIT)
    finally:
        state.depth -= 1


def _dispatch(state: State, node: Node) -> None:
    match node.type:
        case "expression_statement":
            for expression in node.named:
                _expression(state, expression, node)
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
        case "while_statement":
            while_loop(state, node)
        case "do_statement":
            do_loop(state, node)
        case "return_statement":
            _return(state, node)
        case "break_statement" | "continue_statement" if not _is_in_loop(node):
            state.keep(node, f"{node.text.rstrip(';')} outside a loop", kind=OpaqueKind.CONTROL)
        case "break_statement":
            state.builder.emit(Leave, kind=LeaveKind.LOOP, via="break")
        case "continue_statement":
            state.builder.emit(Leave, kind=LeaveKind.ITERATION, via="continue")
        case "switch_statement":
            switch(state, node)
        case kind if kind in _SILENT:
            _names(state, node)
        case _:
            _unknown(state, node)


def _is_in_loop(node: Node) -> bool:
    current = node.parent
    while current is not None and current.type not in ("function_definition", "lambda_expression"):
        if current.type in _LOOPS:
            return True
        current = current.parent
    return False


def _expression(state: State, node: Node, statement: Node) -> None:
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
        "goto_statement": "goto", "ERROR": "text that does not parse", "function_definition": "macro with a body",
    }  # fmt: skip
    if node.type == "labeled_statement":
        state.keep(node, "label", kind=form_kind(node.type))
        return
    state.keep(node, reasons.get(node.type, node.type.replace("_", " ")), kind=form_kind(node.type))


def _enclosing_block(node: Node) -> Node | None:
    parent = node.parent
    return parent if parent is not None and parent.type in ("compound_statement", "for_statement") else None


def _branch(state: State, node: Node, rest: list[Node]) -> None:
    """An `if`; `rest` are statements that run only where it does not return."""
    clause = node.field("condition")
    consequence, alternative = node.field("consequence"), node.field("alternative")
    value = clause.field("value") if clause is not None else None
    if clause is None or value is None or consequence is None:
        state.keep(node, "if")
        return
    initial = clause.field("initializer")
    with state.carried() if rest else nullcontext(), state.scope():
        if initial is not None:
            for child in initial.named if initial.type == "init_statement" else [initial]:
                _statement(state, child)
        holds = _condition(state, value)
        if isinstance(holds.expr, Const):
            _decided(state, (consequence, alternative), rest, bool(holds.expr.value))
            return
        then = _region(state, [consequence])
        other = alternative.named if alternative is not None else []
        otherwise = _region(state, [*other, *rest])
        state.builder.emit(
            Branch, condition=holds.expr, then=tuple(then), otherwise=tuple(otherwise), via="if", span=node.span
        )


def _decided(state: State, arms: tuple[Node, Node | None], rest: list[Node], holds: bool) -> None:
    """A branch whose condition is a constant of the program."""
    consequence, alternative = arms
    if holds:
        execute(state, consequence)
        return
    for child in alternative.named if alternative is not None else ():
        execute(state, child)
    execute_all(state, rest)


def _condition(state: State, value: Node) -> Scalar:
    if value.type == "declaration":
        declaration(state, value, None)
        names = [declarator.field("declarator") for declarator in value.fields("declarator")]
        if names and names[0] is not None:
            return condition(state, names[0])
    return condition(state, value)


def _region(state: State, statements: list[Node]) -> list[Op]:
    with state.builder.region() as body, state.scope():
        if len(statements) == 1:
            execute(state, statements[0])
        else:
            execute_all(state, statements)
    return body


def _returned(state: State, frame: Frame, value: Node) -> Value:
    """What `return value` gives: the place itself for a reference, else what is there."""
    type_ = frame.result_type
    if type_ is not None and type_.reference:
        return state.evaluate(value)
    if type_ is not None and value.type == "initializer_list":
        return read(state, state.make(type_, value.named, value, ""), value)
    if type_ is not None and type_.kind is TypeKind.RECORD:
        return read(state, state.make(type_, [value], value, ""), value)
    return read(state, state.evaluate(value), value)


def _return(state: State, node: Node) -> None:
    value = node.named[0] if node.named else None
    if not state.frames:
        if value is not None:
            state.evaluate(value)
        state.builder.emit(Return, via="return")
        return
    frame = state.frames[-1]
    if value is None:
        return
    result = _returned(state, frame, value)
    if frame.result is None:
        frame.value = result
        return
    if not isinstance(frame.result, Place) or frame.result.index:
        write(state, frame.result, read(state, result, value), node, "return")
        return
    result = read(state, result, value)
    if isinstance(result, Pointer):
        state.keep(node, "pointer returned from several places", kind=OpaqueKind.MEMORY)
        return
    dtype = frame.result.type.dtype
    number = scalar(state, result, value, dtype)
    if dtype is not None:
        state.store(frame.result, materialised(state, convert(state, number, dtype)), via="return")
