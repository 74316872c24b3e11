"""Statements of a port, one after the other; what each block ends with is its `Flow`."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from portcheck.frontends.nki.expressions.evaluate import evaluate, truth
from portcheck.frontends.nki.loops import loops
from portcheck.frontends.nki.loops.growing import append
from portcheck.frontends.nki.objects.attributes import bind_target, items_of
from portcheck.frontends.nki.objects.classes import define_class
from portcheck.frontends.nki.objects.functions import define_function
from portcheck.frontends.nki.python.comparing import comparison
from portcheck.frontends.nki.source.imports import imported_by
from portcheck.frontends.nki.source.parse import Spot
from portcheck.frontends.nki.source.returns import returns_as_breaks
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import (
    ForkError,
    MisunderstoodError,
    NeedsUnrollingError,
    RaisedError,
    UnfollowedError,
)
from portcheck.frontends.nki.state.flow import Flow, FlowKind
from portcheck.frontends.nki.state.forking import can_fork
from portcheck.frontends.nki.state.frame import Frame, declare
from portcheck.frontends.nki.state.mutation import left_over
from portcheck.frontends.nki.statements import assigning, branching
from portcheck.frontends.nki.statements.entering import run_with
from portcheck.frontends.nki.statements.skipping import skip
from portcheck.frontends.nki.values.arithmetic import WRITTEN_FALSE, known
from portcheck.frontends.nki.values.data import as_number
from portcheck.frontends.nki.values.flags import condition_of, some_flag
from portcheck.frontends.nki.values.leaves import buffers_of, either_in
from portcheck.frontends.nki.values.stacking import can_unroll
from portcheck.frontends.nki.values.tiles import Grid
from portcheck.frontends.nki.values.values import NONE, External, Items, Unknown, Value
from portcheck.ir import Assume, Expr, OpaqueKind, operations

FORKS_OF_ONE = 4
"""Times that one statement is run for either of two values inside of another such run of it."""


def run_block(context: Context, frame: Frame, body: Sequence[cst.CSTNode]) -> Flow:
    """Runs `body`; an undecided `if` that leaves the function takes the rest of the block as its other arm."""
    for place, statement in enumerate(body):
        with context.builder.at(Spot(frame.segment, statement)):
            if frame.may_have_left and not _is_return(statement):
                flow = skip(context, frame, statement, "what stands before this may have left the block")
            else:
                rest = body[place + 1 :] if isinstance(statement, cst.If | cst.For | cst.While) else ()
                flow = _attempt(context, frame, statement, rest)
        if flow.kind is not FlowKind.NORMAL or flow.is_done:
            return Flow(flow.kind, flow.value)
    return Flow()


def _attempt(context: Context, frame: Frame, statement: cst.CSTNode, rest: Sequence[cst.CSTNode]) -> Flow:
    """Runs `statement`; one that uses what is not known is skipped, as if it had not begun."""
    names, had_left, marks, lazy = dict(frame.names), frame.may_have_left, context.marks(), len(context.lazy)
    with context.builder.region() as body, context.journal.changes() as changes:
        failure: UnfollowedError | MisunderstoodError | None = None
        forked: Expr | None = None
        try:
            flow = _run(context, frame, statement, rest)
        except RaisedError:
            flow = Flow(FlowKind.RAISE)
        except (UnfollowedError, MisunderstoodError) as error:
            failure = error
        except ForkError as error:
            failure, forked = UnfollowedError("it depends on a condition that is not known"), error.condition
        except NeedsUnrollingError:
            if can_unroll(context):
                raise
            failure = UnfollowedError("a Python object changes from round to round of a loop of unknown length")
    if left_over(context, lazy) and failure is None:
        failure = UnfollowedError("a generator that computes is not used up where it is made")
    if failure is None:
        context.builder.adopt(body)
        return flow
    changes.undo()
    context.release(marks)
    frame.names, frame.may_have_left = names, had_left
    if forked is not None and context.forked.count(statement) < FORKS_OF_ONE and can_fork(context, forked):
        context.forked.append(statement)
        try:
            return branching.fork(context, frame, statement, rest, forked)
        finally:
            context.forked.pop()
    return skip(context, frame, statement, str(failure), kind=failure.kind)


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
            return branching.run_if(context, frame, statement, rest)
        case cst.For(asynchronous=None):
            return loops.run_for(context, frame, statement)
        case cst.While():
            return loops.run_while(context, frame, statement)
        case cst.FunctionDef(name=name):
            frame.names[name.value] = define_function(context, frame, statement)
            return Flow()
        case cst.With(asynchronous=None):
            return run_with(context, frame, statement)
        case cst.ClassDef(name=name):
            frame.names[name.value] = define_class(context, frame, statement)
            return Flow()
        case cst.Try() | cst.TryStar():
            return _try(context, frame, statement)
        case cst.Match():
            return _match(context, frame, statement)
        case _:
            pass
    return skip(context, frame, statement, f"the statement {type(statement).__name__} is not read")


def _simple(context: Context, frame: Frame, part: cst.CSTNode) -> Flow:
    with context.builder.at(Spot(frame.segment, part)):
        match part:
            case cst.Assign():
                assigning.assign(context, frame, part)
            case cst.AnnAssign(target=target, value=value) if value is not None:
                assigning.bind_to(context, frame, target, assigning.evaluated(context, frame, value, target))
            case cst.AugAssign():
                assigning.update(context, frame, part)
            case cst.Expr(value=value):
                _expression(context, frame, value)
            case cst.Assert(test=test):
                _assume(context, evaluate(context, frame, test), frame.segment.text(test))
            case cst.Return() if frame.root is not None and part in returns_as_breaks(frame.root):
                return Flow(FlowKind.BREAK)
            case cst.Return(value=returned):
                result = evaluate(context, frame, returned) if returned is not None else NONE
                either = either_in(context, result) if not context.inlining else None
                if either is not None:
                    raise ForkError(either.condition)
                return Flow(FlowKind.RETURN, result, span=frame.segment.span(part))
            case cst.Break():
                return Flow(FlowKind.BREAK)
            case cst.Continue():
                return Flow(FlowKind.CONTINUE)
            case cst.Raise():
                return Flow(FlowKind.RAISE)
            case cst.Import() | cst.ImportFrom():
                _import(context, frame, part)
            case cst.Del(target=target):
                assigning.delete(context, frame, target)
            case cst.Nonlocal(names=names) | cst.Global(names=names):
                declare(frame, [item.name.value for item in names], is_global=isinstance(part, cst.Global))
            case cst.Pass() | cst.AnnAssign():
                pass
            case _:
                return skip(context, frame, part, f"the statement {type(part).__name__} is not read")
    return Flow()


def _try(context: Context, frame: Frame, statement: cst.Try | cst.TryStar) -> Flow:
    """A `try`: its body, which is taken not to fail unless it says itself that it raises an error."""
    names, marks = dict(frame.names), context.marks()
    with context.builder.region() as body, context.journal.changes() as changes:
        flow = run_block(context, frame, statement.body.body)
    may_raise = any(isinstance(op, Assume) for op in operations(body))
    if statement.handlers and frame.root is not None and (may_raise or flow.kind is FlowKind.RAISE):
        changes.undo()
        context.release(marks)
        frame.names = names
        return skip(context, frame, statement, "a `try` whose body may raise an error", kind=OpaqueKind.CONTROL)
    context.builder.adopt(body)
    if flow.kind is FlowKind.NORMAL and statement.orelse is not None:
        flow = run_block(context, frame, statement.orelse.body.body)
    last = Flow() if statement.finalbody is None else run_block(context, frame, statement.finalbody.body.body)
    return flow if last.kind is FlowKind.NORMAL else last


def _match(context: Context, frame: Frame, statement: cst.Match) -> Flow:
    """A `match` on values: the first case that fits, where that is known."""
    subject = evaluate(context, frame, statement.subject)
    for case in statement.cases:
        fits = _fits(context, frame, subject, case.pattern)
        if fits and case.guard is not None:
            fits = truth(context, evaluate(context, frame, case.guard))
        if fits is None:
            return skip(context, frame, statement, "which case fits is not known", kind=OpaqueKind.CONTROL)
        if fits:
            return run_block(context, frame, case.body.body)
    return Flow()


def _fits(context: Context, frame: Frame, subject: Value, pattern: cst.MatchPattern) -> bool | None:
    """Whether `subject` fits `pattern`, whose name is bound then; None where that is not known."""
    match pattern:
        case cst.MatchAs(pattern=inner, name=name):
            fits = True if inner is None else _fits(context, frame, subject, inner)
            if fits and name is not None:
                bind_target(frame, name, subject, context)
            return fits
        case cst.MatchOr(patterns=parts):
            answers = [_fits(context, frame, subject, part.pattern) for part in parts]
            return True if True in answers else None if None in answers else False
        case cst.MatchValue(value=node) | cst.MatchSingleton(value=node):
            kind = cst.Is if isinstance(pattern, cst.MatchSingleton) else cst.Equal
            wanted = evaluate(context, frame, node)
            return truth(context, comparison(context, kind, subject, wanted, frame.segment.text(pattern)))
        case _:
            return None


def _is_return(statement: cst.CSTNode) -> bool:
    parts = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
    return len(parts) == 1 and isinstance(parts[0], cst.Return)


def _expression(context: Context, frame: Frame, value: cst.BaseExpression) -> None:
    if isinstance(value, cst.SimpleString | cst.FormattedString | cst.Ellipsis):
        return
    if isinstance(value, cst.Yield) and frame.given is not None:
        _give(context, frame, value, frame.given)
        return
    result = evaluate(context, frame, value)
    if isinstance(result, Unknown) and not isinstance(value, cst.Call):
        context.opaque(result.reason, result.text, reads=buffers_of(context, result), kind=result.kind)


def _give(context: Context, frame: Frame, node: cst.Yield, given: Items) -> None:
    """A `yield`: what is given is added to all that the generator gives."""
    source = node.value.item if isinstance(node.value, cst.From) else node.value
    value = evaluate(context, frame, source) if source is not None else NONE
    values = items_of(context, value) if isinstance(node.value, cst.From) else [value]
    if values is None:
        raise UnfollowedError("it gives all of something that is not known")
    for item in values:
        append(context, given, item)


def _assume(context: Context, value: Value, text: str) -> None:
    if value is WRITTEN_FALSE and context.holding:
        raise RaisedError  # in this arm of a branch, which nothing takes then
    number = as_number(context, value)
    if number is None:
        if isinstance(value, Unknown | External | Grid | Items):
            number = some_flag(context, text)
        else:
            return
    if known(number) is not True:
        context.assert_that(condition_of(number), "assert")


def _import(context: Context, frame: Frame, part: cst.Import | cst.ImportFrom) -> None:
    file = frame.file
    node = frame.segment.statement(part)
    for item in imported_by(node) if node is not None else ():
        frame.names[item.name] = file.imported(context, item) if file is not None else NONE
