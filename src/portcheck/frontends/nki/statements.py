"""Statements of a port, one after the other; what each block ends with is its `Flow`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from portcheck.frontends.nki import loops, operators
from portcheck.frontends.nki.arithmetic import known, unary
from portcheck.frontends.nki.attributes import bind_target, name_size
from portcheck.frontends.nki.carrying import end_of_body
from portcheck.frontends.nki.context import Context, NeedsUnrollingError
from portcheck.frontends.nki.data import (
    Operand,
    as_number,
    as_view,
    buffers_of,
    condition_of,
    expressions_of,
    flag_called,
    operand,
    settled,
    store,
)  # fmt: skip
from portcheck.frontends.nki.evaluate import evaluate, selectors, truth
from portcheck.frontends.nki.flow import Flow, FlowKind
from portcheck.frontends.nki.frame import Frame
from portcheck.frontends.nki.imports import bindings
from portcheck.frontends.nki.merging import merge
from portcheck.frontends.nki.returning import emit_return
from portcheck.frontends.nki.skipping import skip
from portcheck.frontends.nki.subscripts import indexed, key_of
from portcheck.frontends.nki.values import (
    NONE,
    External,
    Function,
    Grid,
    Items,
    Parameter,
    Result,
    Table,
    Unknown,
    Value,
    View,
    obstacle_kind,
)  # fmt: skip
from portcheck.ir import (
    Assume,
    Branch,
    Expr,
    Leave,
    LeaveKind,
    Op,
    Operator,
    WriteMode,
)  # fmt: skip


def run_block(context: Context, frame: Frame, body: Sequence[cst.CSTNode]) -> Flow:
    """Runs `body`; an undecided `if` that leaves the function takes the rest of the block as its other arm."""
    for place, statement in enumerate(body):
        with context.builder.at(frame.segment.span(statement)):
            if frame.may_have_left and not _is_return(statement):
                flow = skip(context, frame, statement, "what stands before this may have left the block")
            else:
                flow = _run(context, frame, statement, body[place + 1 :])
        if flow.kind is not FlowKind.NORMAL or flow.is_done:
            return Flow(flow.kind, flow.value)
    return Flow()


def _run(context: Context, frame: Frame, statement: cst.CSTNode, rest: Sequence[cst.CSTNode]) -> Flow:
    context.burn()
    match statement:
        case cst.SimpleStatementLine(body=parts):
            for part in parts:
                flow = _simple(context, frame, part)
                if flow.kind is not FlowKind.NORMAL:
                    return flow
            return Flow()
        case cst.BaseSmallStatement():
            return _simple(context, frame, statement)
        case cst.If():
            return _if(context, frame, statement, rest)
        case cst.For(asynchronous=None):
            return loops.run_for(context, frame, statement)
        case cst.While():
            return loops.run_while(context, frame, statement)
        case cst.FunctionDef(name=name):
            frame.names[name.value] = Function(name.value, statement, frame.segment, frame)
            return Flow()
        case cst.With(asynchronous=None):
            return _with(context, frame, statement)
        case cst.ClassDef(name=name):
            frame.names[name.value] = Unknown(name.value, "a class")
            return Flow()
        case cst.Try(body=block) if frame.root is None:
            # At the level of the file: imports and constants, which are taken not to fail.
            return run_block(context, frame, block.body)
        case _:
            pass
    return skip(context, frame, statement, f"the statement {type(statement).__name__} is not read")


def _simple(context: Context, frame: Frame, part: cst.CSTNode) -> Flow:
    with context.builder.at(frame.segment.span(part)):
        match part:
            case cst.Assign():
                _assign(context, frame, part)
            case cst.AnnAssign(target=target, value=value) if value is not None:
                _bind(context, frame, target, _evaluated(context, frame, value, target))
            case cst.AugAssign():
                _update(context, frame, part)
            case cst.Expr(value=value):
                _expression(context, frame, value)
            case cst.Assert(test=test):
                _assume(context, evaluate(context, frame, test), frame.segment.text(test))
            case cst.Return(value=returned):
                result = evaluate(context, frame, returned) if returned is not None else NONE
                return Flow(FlowKind.RETURN, result, span=frame.segment.span(part))
            case cst.Break():
                return Flow(FlowKind.BREAK)
            case cst.Continue():
                return Flow(FlowKind.CONTINUE)
            case cst.Raise():
                return Flow(FlowKind.RAISE)
            case cst.Import() | cst.ImportFrom():
                _import(frame, part)
            case cst.Pass() | cst.AnnAssign() | cst.Del():
                pass
            case _:
                return skip(context, frame, part, f"the statement {type(part).__name__} is not read")
    return Flow()


def _with(context: Context, frame: Frame, statement: cst.With) -> Flow:
    """A `with`: its body, if what it enters is known."""
    values = [evaluate(context, frame, item.item) for item in statement.items]
    if any(isinstance(value, Unknown) for value in values):
        return skip(context, frame, statement, "what this `with` enters is not known")
    for item, value in zip(statement.items, values, strict=True):
        if item.asname is not None:
            bind_target(frame, item.asname.name, value, context)
    return run_block(context, frame, statement.body.body)


def _is_return(statement: cst.CSTNode) -> bool:
    parts = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
    return len(parts) == 1 and isinstance(parts[0], cst.Return)


def _expression(context: Context, frame: Frame, value: cst.BaseExpression) -> None:
    if isinstance(value, cst.SimpleString | cst.ConcatenatedString | cst.FormattedString | cst.Ellipsis):
        return
    result = evaluate(context, frame, value)
    if isinstance(result, Unknown) and not isinstance(value, cst.Call):
        context.opaque(result.reason, result.text, reads=buffers_of(context, result), kind=result.kind)


def _assign(context: Context, frame: Frame, part: cst.Assign) -> None:
    first = part.targets[0].target
    value = _evaluated(context, frame, part.value, first)
    for target in part.targets:
        _bind(context, frame, target.target, value)


def _evaluated(context: Context, frame: Frame, node: cst.BaseExpression, target: cst.CSTNode) -> Value:
    """The value of `node` under the name of the target, stored into a buffer if the function indexes that name."""
    hint = target.value if isinstance(target, cst.Name) else ""
    value = evaluate(context, frame, node, hint)
    if isinstance(value, Result) and hint in frame.stored and value.view is None:
        return settled(context, value, hint)
    return value


def _bind(context: Context, frame: Frame, target: cst.CSTNode, value: Value) -> None:
    if isinstance(target, cst.Subscript):
        _put(context, frame, target, value, "=", WriteMode.OVERWRITE)
    elif isinstance(target, cst.Attribute):
        _set_attribute(context, frame, target, value)
    else:
        if isinstance(target, cst.Name):
            name_size(context, value, target.value)
        bind_target(frame, target, value, context)


def _set_attribute(context: Context, frame: Frame, target: cst.Attribute, value: Value) -> None:
    owner = evaluate(context, frame, target.value)
    if isinstance(owner, Table):
        owner.entries[target.attr.value] = value


def _put(context: Context, frame: Frame, target: cst.Subscript, value: Value, via: str, mode: WriteMode) -> None:
    """`target = value` for an indexed target."""
    owner = evaluate(context, frame, target.value)
    chosen = selectors(context, frame, target)
    if isinstance(owner, Items | Table):
        _put_python(context, owner, chosen, value)
        return
    view = indexed(context, owner, chosen) if isinstance(owner, View | Result | Parameter) else None
    source = operand(context, value)
    if view is None or source is None:
        text = frame.segment.text(target)
        reason = value.reason if isinstance(value, Unknown) else f"the assignment to {text} is not understood"
        context.opaque(
            reason, via, reads=buffers_of(context, value), writes=buffers_of(context, owner),
            operands=expressions_of(context, value), kind=obstacle_kind(value),
        )  # fmt: skip
        return
    store(context, view, source, via=via, mode=mode, mask=value.mask if isinstance(value, Result) else None)


def _put_python(context: Context, owner: Items | Table, chosen: Sequence[Value], value: Value) -> None:
    key = key_of(chosen[0]) if len(chosen) == 1 else None
    if context.loop_depth and isinstance(owner, Items | Table):
        raise NeedsUnrollingError
    if isinstance(owner, Table):
        if key is not None:
            owner.entries[key] = value
    elif isinstance(key, int) and -len(owner.values) <= key < len(owner.values):
        owner.values[key] = value


def _update(context: Context, frame: Frame, part: cst.AugAssign) -> None:
    """`target += value`: in place for a tile, a new value for a number."""
    kind = operators.UPDATES.get(type(part.operator))
    value = evaluate(context, frame, part.value)
    text = frame.segment.text(part)
    if kind is None:
        _bind(context, frame, part.target, context.unknown(text, "this operator is not read", value))
        return
    sign = operators.BINARY[kind][0] + "="
    current = evaluate(context, frame, part.target)
    view = as_view(context, current) if isinstance(current, View | Result) else None
    if view is None and not (isinstance(current, Parameter) and context.facts[current.name].is_tensor):
        _bind(context, frame, part.target, operators.binary_operation(context, kind, current, value, text))
        return
    view = view or as_view(context, current)
    assert view is not None
    if kind is cst.Add and isinstance(value, Result) and view.buffer.space.value == "psum":
        store(
            context,
            view,
            Operand(value.expression, value.dtype, value.real),
            via=sign,
            mode=WriteMode.ADD,
            mask=value.mask,
        )
        return
    computed = operators.binary_operation(context, kind, current, value, text)
    source = operand(context, computed)
    if source is None:
        context.opaque(
            f"{sign} is not understood", sign, reads=buffers_of(context, value), writes=(view.buffer.name,),
            kind=obstacle_kind(computed),
        )  # fmt: skip
        return
    mask = value.mask if isinstance(value, Result) else None
    store(context, view, source, via=sign, mask=mask)


def _assume(context: Context, value: Value, text: str) -> None:
    number = as_number(context, value)
    if number is None:
        if isinstance(value, Unknown | External | Grid | Items):
            number = flag_called(text)
        else:
            return
    if known(number) is not True:
        context.builder.emit(Assume, via="assert", condition=condition_of(number))


def _if(context: Context, frame: Frame, statement: cst.If, rest: Sequence[cst.CSTNode]) -> Flow:
    test = evaluate(context, frame, statement.test)
    decided = truth(context, test)
    otherwise = _otherwise(statement)
    if decided is not None:
        return run_block(context, frame, statement.body.body if decided else otherwise)
    condition = _condition(context, test, frame.segment.text(statement.test))
    if _only_raises(statement.body.body) and not otherwise:
        context.builder.emit(Assume, via="if", condition=unary(Operator.LOGICAL_NOT, condition))
        return Flow()
    return _branch(context, frame, condition, statement.body.body, otherwise, rest)


def _otherwise(statement: cst.If) -> Sequence[cst.CSTNode]:
    if isinstance(statement.orelse, cst.If):
        return (statement.orelse,)
    return statement.orelse.body.body if statement.orelse is not None else ()


def _only_raises(body: Sequence[cst.CSTNode]) -> bool:
    return any(isinstance(part, cst.Raise) for part in _last_line(body))


def _last_line(body: Sequence[cst.CSTNode]) -> Sequence[cst.CSTNode]:
    """The small statements that `body` ends with."""
    last = body[-1] if body else None
    if isinstance(last, cst.SimpleStatementLine):
        return last.body
    return [last] if isinstance(last, cst.BaseSmallStatement) else ()


def _condition(context: Context, test: Value, text: str) -> Expr:
    if isinstance(test, Unknown) or (number := as_number(context, test)) is None:
        return flag_called(text)
    return condition_of(number)


def _branch(
    context: Context, frame: Frame, condition: Expr, then: Sequence[cst.CSTNode],
    otherwise: Sequence[cst.CSTNode], rest: Sequence[cst.CSTNode],
) -> Flow:  # fmt: skip
    """Both arms of an undecided `if`; when one leaves the block, the rest of the block belongs to the other."""
    before = dict(frame.names)
    flows: list[Flow] = []
    bodies: list[list[Op]] = []
    names: list[dict[str, Value]] = []
    leaves = [_leaves(then), _leaves(otherwise)]
    takes_rest = any(leaves)
    had_left, may_have_left = frame.may_have_left, False
    for arm, leaving in ((then, leaves[0]), (otherwise, leaves[1])):
        frame.names, frame.may_have_left = dict(before), had_left
        with context.builder.region() as body:
            flow = run_block(context, frame, [*arm, *rest] if takes_rest and not leaving else arm)
            _emit_leaving(context, frame, flow)
        may_have_left = may_have_left or frame.may_have_left
        flows.append(flow)
        bodies.append(body)
        names.append(frame.names)
    frame.names = before
    first, second = flows
    running = [flow.kind is FlowKind.NORMAL for flow in flows]
    returning = [flow.kind is FlowKind.RETURN for flow in flows]
    frame.may_have_left = may_have_left or bool(frame.depth and any(returning) and not all(returning))
    value: Value | None = None
    if first.kind is FlowKind.RETURN and second.kind is FlowKind.RETURN and frame.depth:
        value = merge(context, condition, bodies, {"": first.value or NONE}, {"": second.value or NONE})[""]
    elif all(running):
        frame.names.update(merge(context, condition, bodies, names[0], names[1]))
    elif any(running):
        frame.names = names[0] if running[0] else names[1]
    context.builder.emit(Branch, via="if", condition=condition, then=tuple(bodies[0]), otherwise=tuple(bodies[1]))
    if value is not None:
        return Flow(FlowKind.RETURN, value)
    if not any(running) and first.kind is second.kind:
        return Flow(first.kind if first.kind is not FlowKind.RETURN or not frame.depth else FlowKind.RETURN, NONE, True)
    return Flow(FlowKind.NORMAL, None, takes_rest)


def _leaves(body: Sequence[cst.CSTNode]) -> bool:
    """Whether `body` certainly ends the function."""
    last = body[-1] if body else None
    if any(isinstance(part, cst.Return | cst.Raise) for part in _last_line(body)):
        return True
    if isinstance(last, cst.If):
        return _leaves(last.body.body) and _leaves(_otherwise(last))
    return False


def _emit_leaving(context: Context, frame: Frame, flow: Flow) -> None:
    if flow.kind in (FlowKind.BREAK, FlowKind.CONTINUE) and context.carried:
        end_of_body(context, frame, context.carried[-1])
    if flow.kind is FlowKind.BREAK:
        context.builder.emit(Leave, via="break", kind=LeaveKind.LOOP)
    elif flow.kind is FlowKind.CONTINUE:
        context.builder.emit(Leave, via="continue", kind=LeaveKind.ITERATION)
    elif flow.kind is FlowKind.RETURN and not context.inlining:
        emit_return(context, flow)


def _import(frame: Frame, part: cst.Import | cst.ImportFrom) -> None:
    text = frame.segment.module.code_for_node(part)
    for node in ast.parse(text.strip()).body:
        for name, qualified in bindings(node):
            frame.names[name] = External(qualified)
