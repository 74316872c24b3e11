"""Branches: decided, or both arms kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from portcheck.frontends.nki.expressions.evaluate import condition as evaluated_condition
from portcheck.frontends.nki.expressions.evaluate import evaluate, truth
from portcheck.frontends.nki.loops.carrying import end_of_body
from portcheck.frontends.nki.loops.slots import standing
from portcheck.frontends.nki.source.returns import returns_as_breaks
from portcheck.frontends.nki.source.trees import children, read_outside
from portcheck.frontends.nki.state.cases import by_cases
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.flow import Flow, FlowKind
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.mutation import Changes, State, put_back, state_of
from portcheck.frontends.nki.statements.merging import Joint, merge, merge_objects
from portcheck.frontends.nki.statements.pairing import Pairing, paired, together
from portcheck.frontends.nki.statements.returning import emit_return
from portcheck.frontends.nki.statements.skipping import may_leave
from portcheck.frontends.nki.values.arithmetic import unary
from portcheck.frontends.nki.values.data import kept_number
from portcheck.frontends.nki.values.decided import as_open
from portcheck.frontends.nki.values.tiles import View
from portcheck.frontends.nki.values.values import NONE, Value
from portcheck.ir import Branch, Expr, Leave, LeaveKind, Op, Operator


def run_if(context: Context, frame: Frame, statement: cst.If, rest: Sequence[cst.CSTNode]) -> Flow:
    """An `if`; `rest` is what follows it in its block."""
    test = evaluate(context, frame, statement.test)
    decided = truth(context, test)
    then, otherwise = statement.body.body, _otherwise(statement)
    if decided is not None:
        return _run_only(context, frame, then if decided else otherwise, rest)
    condition = evaluated_condition(context, test, frame.segment.text(statement.test))
    if _only_raises(then):
        context.assert_that(unary(Operator.LOGICAL_NOT, condition), "if")
        return _run_only(context, frame, otherwise, rest)
    if _only_raises(otherwise):
        context.assert_that(condition, "if")
        return _run_only(context, frame, then, rest)
    decided = by_cases(context, condition)
    if decided is not None:
        return _run_only(context, frame, then if decided else otherwise, rest)
    excluded = _excluded(context, condition)
    if excluded is not None:
        return _only(context, frame, condition, not excluded, otherwise if excluded else then, rest)
    return _branch(context, frame, statement, condition, then, otherwise, rest)


def fork(context: Context, frame: Frame, statement: cst.CSTNode, rest: Sequence[cst.CSTNode], condition: Expr) -> Flow:
    """Runs `statement` once for where `condition` holds and once for where it does not, if both can be."""
    breaks = returns_as_breaks(frame.root) if frame.root is not None else frozenset[cst.CSTNode]()
    returns = isinstance(statement, cst.For | cst.While) and _holds_return(statement, breaks)
    block = [statement, *rest] if returns else [statement]
    excluded = _excluded(context, condition)
    if excluded is not None:
        flow = _only(context, frame, condition, not excluded, block)
    else:
        flow = _branch(context, frame, statement, condition, block, block, rest if len(block) == 1 else ())
    return replace(flow, is_done=True) if len(block) > 1 else flow


def _excluded(context: Context, condition: Expr) -> bool | None:
    """What `condition` cannot be here by what was asserted before, True or False; None where it may be either."""
    answers = [context.clauses.with_consequences(context.holding, condition, holds) for holds in (True, False)]
    return None if (answers[0] is None) is (answers[1] is None) else answers[0] is None


def _otherwise(statement: cst.If) -> Sequence[cst.CSTNode]:
    if isinstance(statement.orelse, cst.If):
        return (statement.orelse,)
    return statement.orelse.body.body if statement.orelse is not None else ()


def _only_raises(body: Sequence[cst.CSTNode]) -> bool:
    """Whether every path through `body` ends in an error."""
    return any(isinstance(part, cst.Raise) for part in _last_line(body)) and not any(map(may_leave, body))


def _last_line(body: Sequence[cst.CSTNode]) -> Sequence[cst.CSTNode]:
    """The small statements that `body` ends with."""
    last = body[-1] if body else None
    if isinstance(last, cst.SimpleStatementLine):
        return last.body
    return [last] if isinstance(last, cst.BaseSmallStatement) else ()


def _branch(
    context: Context, frame: Frame, statement: cst.CSTNode, condition: Expr, then: Sequence[cst.CSTNode],
    otherwise: Sequence[cst.CSTNode], rest: Sequence[cst.CSTNode],
) -> Flow:  # fmt: skip
    """Both arms of an undecided `if`; when one leaves the block, the rest of the block belongs to the other."""
    taken = _taking(frame, then, otherwise, rest)
    arms: list[_Arm] = []
    for block, holds in zip(taken, (True, False), strict=True):
        with context.assuming(condition, holds) as decided:
            arms.append(_arm(context, frame, block, decided))
    takes_rest = taken != [then, otherwise]
    raising = [arm.flow.kind is FlowKind.RAISE for arm in arms]
    if any(raising) and not all(raising):
        return _certain(context, frame, condition, arms, takes_rest=takes_rest)
    first, second = (arm.flow for arm in arms)
    running = [arm for arm in arms if arm.flow.kind is FlowKind.NORMAL]
    returning = [arm.flow.kind is FlowKind.RETURN for arm in arms]
    if any(returning) and not all(returning) and context.rounds and context.returning is None:
        context.returning = condition
    may_have_left = any(arm.may_have_left for arm in arms)
    frame.may_have_left = may_have_left or bool(frame.depth and any(returning) and not all(returning))
    bodies = [arm.body for arm in arms]
    kept = arms if len(running) != 1 else running * 2
    joint = Joint(condition, bodies, _pairing(arms, kept), [arm.names for arm in arms], frame.age)
    value: Value | None = None
    kept_before = len(context.kept_numbers)
    if all(returning) and frame.depth:
        value = merge(context, joint, {"": first.value or NONE}, {"": second.value or NONE})[""]
    merge_objects(context, joint, kept[0].changes, kept[0].states, kept[1].changes, kept[1].states)
    if len(running) == 2:
        outside = read_outside(frame.root, statement)
        used = None if frame.root is None or context.rounds else outside
        frame.names.update(merge(context, joint, arms[0].names, arms[1].names, used, outside))
    elif running:
        frame.names = running[0].names
    if any(bodies):
        context.builder.emit(Branch, via="if", condition=condition, then=tuple(bodies[0]), otherwise=tuple(bodies[1]))
    for number in list(context.kept_numbers.values())[kept_before:]:
        if isinstance(number, View):
            kept_number(context, number)
    if value is not None:
        return Flow(FlowKind.RETURN, value)
    if not running and first.kind is second.kind:
        return Flow(first.kind, NONE, True)
    return Flow(FlowKind.NORMAL, None, takes_rest)


def _pairing(arms: Sequence[_Arm], kept: Sequence[_Arm]) -> Pairing:
    """What was made in the arms, as it is at their ends, and which of it comes together in one object."""
    since = arms[0].changes.since
    for arm in arms:
        for key, (item, _) in arm.changes.before.items():
            if item.age > since:
                put_back(item, arm.states[key])
    one, other = kept
    if one is other:
        return Pairing(since)
    roots = [(one.flow.value, other.flow.value)]
    roots.extend((one.names.get(name), other.names.get(name)) for name in {**one.names, **other.names})
    for key, (item, _) in {**other.changes.before, **one.changes.before}.items():
        if item.age < since:
            before = state_of(item)
            roots.extend(together(one.states.get(key, before).held, other.states.get(key, before).held))
    return paired(since, roots)


def _certain(context: Context, frame: Frame, condition: Expr, arms: Sequence[_Arm], *, takes_rest: bool) -> Flow:
    """The arm of a branch whose other arm ends in an error: its condition holds."""
    is_first = arms[1].flow.kind is FlowKind.RAISE
    context.assert_that(condition if is_first else unary(Operator.LOGICAL_NOT, condition), "if")
    flow = _taken(context, frame, arms[0] if is_first else arms[1])
    value = None if flow.value is None else as_open(context.knowledge, condition, is_first, flow.value)
    return Flow(flow.kind, value, flow.is_done or takes_rest, flow.span)


def _run_only(context: Context, frame: Frame, block: Sequence[cst.CSTNode], rest: Sequence[cst.CSTNode]) -> Flow:
    """Runs `block`, the arm that is taken, with the `rest` of the block around it where that is its to run."""
    whole = _with_rest(frame, block, rest)
    flow = context.run(context, frame, whole)
    return flow if whole is block else replace(flow, is_done=True)


def _with_rest(frame: Frame, block: Sequence[cst.CSTNode], rest: Sequence[cst.CSTNode]) -> Sequence[cst.CSTNode]:
    """`block`, with what follows it where some path through it, but not every, ends the function."""
    breaks = returns_as_breaks(frame.root) if frame.root is not None else frozenset[cst.CSTNode]()
    may_return = bool(rest and frame.depth) and any(_may_return(part, breaks) for part in block)
    return [*block, *rest] if may_return and not _leaves(block, breaks) else block


def _only(
    context: Context, frame: Frame, condition: Expr, holds: bool, block: Sequence[cst.CSTNode],
    rest: Sequence[cst.CSTNode] = (),
) -> Flow:  # fmt: skip
    """Runs `block`, the only arm that can be: it is known that `condition` holds, or does not."""
    whole = _with_rest(frame, block, rest)
    with context.assuming(condition, holds) as decided:
        arm = _arm(context, frame, whole, decided)
    flow = _taken(context, frame, arm)
    return flow if whole is block else replace(flow, is_done=True)


def _taken(context: Context, frame: Frame, arm: _Arm) -> Flow:
    """What an arm does is done, without a branch around it."""
    for key, (item, before) in arm.changes.before.items():
        context.journal.note(item)
        put_back(item, arm.states.get(key, before))
    frame.names, frame.may_have_left = arm.names, arm.may_have_left
    context.builder.adopt(arm.body[: arm.length])
    return arm.flow


@dataclass(slots=True, eq=False)
class _Arm:
    """What one arm of a branch does: its operations, how it ends, its names and what objects hold at its end.

    The operations after the first `length` only leave what is around the branch.
    """

    body: list[Op]
    length: int
    flow: Flow
    names: dict[str, Value]
    may_have_left: bool
    changes: Changes
    states: dict[int, State]


def _arm(context: Context, frame: Frame, block: Sequence[cst.CSTNode], decided: Mapping[int, State]) -> _Arm:
    """Evaluates one arm; what it changed is taken back. `decided` is what lists hold for its condition."""
    names, had_left = dict(frame.names), frame.may_have_left
    with context.builder.region() as body, context.journal.changes() as changes:
        flow = context.run(context, frame, block)
        length = len(body)
        _emit_leaving(context, frame, flow)
    states = {**decided, **changes.now()}
    made = _Arm(body, length, flow, dict(frame.names), frame.may_have_left, changes, states)
    changes.undo()
    changes.before.pop(id(frame), None)  # its names are those of the arm
    frame.names, frame.may_have_left = names, had_left
    return made


def _taking(
    frame: Frame, then: Sequence[cst.CSTNode], otherwise: Sequence[cst.CSTNode], rest: Sequence[cst.CSTNode]
) -> list[Sequence[cst.CSTNode]]:
    """The arms of a branch, with the rest of the block where only one of them may get there."""
    arms = [then, otherwise]
    breaks = returns_as_breaks(frame.root) if frame.root is not None else frozenset()
    leaving = [_leaves(arm, breaks) for arm in arms]
    if any(leaving):
        return [arm if leaves else [*arm, *rest] for arm, leaves in zip(arms, leaving, strict=True)]
    if frame.depth and any(_may_return(part, breaks) for arm in arms for part in arm):
        return [[*arm, *rest] for arm in arms]
    return arms


def _may_return(statement: cst.CSTNode, breaks: frozenset[cst.CSTNode]) -> bool:
    """Whether some path through `statement`, loops aside, ends the function; `breaks` are returns that do less."""
    if isinstance(statement, cst.For | cst.While | cst.FunctionDef | cst.ClassDef | cst.BaseExpression):
        return False
    if isinstance(statement, cst.Return):
        return statement not in breaks
    return any(_may_return(part, breaks) for part in children(statement))


def _holds_return(node: cst.CSTNode, breaks: frozenset[cst.CSTNode]) -> bool:
    """Whether `node`, or a loop in it, ends the function; `breaks` are returns that do less."""
    if isinstance(node, cst.FunctionDef | cst.ClassDef | cst.BaseExpression):
        return False
    if isinstance(node, cst.Return):
        return node not in breaks
    return any(_holds_return(part, breaks) for part in children(node))


def _leaves(body: Sequence[cst.CSTNode], breaks: frozenset[cst.CSTNode]) -> bool:
    """Whether `body` certainly ends the function; `breaks` are returns that do less."""
    last = body[-1] if body else None
    if any(isinstance(part, cst.Return | cst.Raise) and part not in breaks for part in _last_line(body)):
        return True
    if isinstance(last, cst.If):
        return _leaves(last.body.body, breaks) and _leaves(_otherwise(last), breaks)
    return False


def _emit_leaving(context: Context, frame: Frame, flow: Flow) -> None:
    if flow.kind in (FlowKind.BREAK, FlowKind.CONTINUE) and context.carried:
        made = context.rounds[-1]
        if made is not None:
            made.ends.append(standing(frame, made.plan.places))
            early = () if made.is_traced else made.changes.lasting()
            made.early.extend((item, state_of(item)) for item in early)
        end_of_body(context, frame, context.carried[-1])
    if flow.kind is FlowKind.BREAK:
        context.builder.emit(Leave, via="break", kind=LeaveKind.LOOP)
    elif flow.kind is FlowKind.CONTINUE:
        context.builder.emit(Leave, via="continue", kind=LeaveKind.ITERATION)
    elif flow.kind is FlowKind.RETURN and not context.inlining:
        emit_return(context, flow)
