"""Text that is not lowered: one opaque operation that says all it may read and write, and what it leaves unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import libcst as cst

from portcheck.frontends.nki.objects.classes import functions_of
from portcheck.frontends.nki.source.imports import is_nki
from portcheck.frontends.nki.source.trees import assigned_names, children, inside, read_names
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import ForkError, RaisedError
from portcheck.frontends.nki.state.flow import Flow
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.holding import reached_from
from portcheck.frontends.nki.state.narrowing import narrowed
from portcheck.frontends.nki.state.uses import note_skipped
from portcheck.frontends.nki.statements.touching import Touched
from portcheck.frontends.nki.values.callables import BoundMethod, Class, Function
from portcheck.frontends.nki.values.data import as_view
from portcheck.frontends.nki.values.leaves import buffers_of, leaves_of
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import Either, External, Instance, Parameter, Unknown, Value
from portcheck.ir import Alloc, Branch, Expr, Leave, LeaveKind, Op, Opaque, OpaqueKind, operations
from portcheck.ir import Call as KeptCall
from portcheck.ir.walk import writes

_TOLD = (cst.Call, cst.Attribute, cst.Nonlocal, cst.Global)
_EFFECTS = (cst.Call, cst.NamedExpr, cst.Await, cst.Yield)


def skip(
    context: Context, frame: Frame, node: cst.CSTNode, reason: str, via: str = "",
    kind: OpaqueKind = OpaqueKind.SYNTAX,
) -> Flow:  # fmt: skip
    """Keeps the statement `node` as an opaque operation; what it may bind, change or write is unknown after it."""
    _keep(context, frame, node, reason, via, kind)
    frame.may_have_left = frame.may_have_left or may_leave(node)
    return Flow()


def skipped_value(
    context: Context, frame: Frame, node: cst.CSTNode, reason: str, kind: OpaqueKind = OpaqueKind.SYNTAX
) -> Unknown:
    """The value of an expression that is not read; kept as an operation if evaluating it may do something."""
    text = frame.segment.text(node)
    if not any(isinstance(item, _EFFECTS) for item in inside(node)):
        return context.unknown(text, reason, kind=kind)
    found = _keep(context, frame, node, reason, "", kind)
    return context.unknown(context.fresh_symbol(text), reason, *found, kind=kind)


def evaluated_perhaps(
    context: Context, frame: Frame, node: cst.CSTNode, condition: Expr, hint: str = "", *, holds: bool = True
) -> Value:
    """The value of an expression that Python evaluates where `condition` holds, or where it does not.

    Raises ForkError if it does more than to give a value; it is skipped where that does not help.
    """
    before, noted = dict(frame.names), context.noted.mark()
    with context.builder.region() as body, context.journal.changes() as changes, context.assuming(condition, holds):
        value = _evaluated(context, frame, node, hint)
        value = value if value is None else narrowed(context.clauses, value, context.holding)
    if value is None or has_effect(body) or changes.lasting():
        changes.undo()
        frame.names = before
        context.noted.take_back(noted)
        if context.holds(condition) is None:
            raise ForkError(condition)
        reason = "whether this is evaluated depends on a value that is not known"
        return skipped_value(context, frame, node, reason, OpaqueKind.CONTROL)
    context.builder.adopt(body)
    for name in assigned_names(node):
        frame.names[name] = _unknown(context, name)
    return value


def _evaluated(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value | None:
    """The value of an expression; None where Python fails to evaluate it."""
    try:
        return context.evaluate(context, frame, node, hint)
    except RaisedError:
        return None


def has_effect(body: Sequence[Op]) -> bool:
    """Whether `body` writes to anything but buffers of its own."""
    inside = list(operations(body))
    own = {op.name for op in inside if isinstance(op, Alloc)}
    written = {name for op in inside for name in writes(op)}
    return bool(written - own) or any(isinstance(op, KeptCall | Opaque | Leave) for op in inside)


def leaves(body: Sequence[Op]) -> frozenset[LeaveKind]:
    """How paths through `body` end an iteration of a loop around it, or that loop."""
    found: set[LeaveKind] = set()
    for op in body:
        if isinstance(op, Leave):
            found.add(op.kind)
        elif isinstance(op, Branch):
            found |= leaves(op.then) | leaves(op.otherwise)
    return frozenset(found)


def _keep(context: Context, frame: Frame, node: cst.CSTNode, reason: str, via: str, kind: OpaqueKind) -> list[Value]:
    found = _mentioned(context, frame, node, reason)
    buffers = buffers_of(context, *found)
    context.opaque(reason, via or frame.segment.text(node), reads=buffers, writes=buffers, kind=kind)
    for name in buffers:
        if name in context.facts:
            context.facts[name].is_written = True
    for name in assigned_names(node):
        frame.names[name] = _unknown(context, name)
    return found


def _forget_outer(context: Context, frame: Frame, node: cst.CSTNode) -> None:
    """Names of functions around this one that `node` declares as its own to change."""
    for declaration in _told(node):
        for item in declaration.names if isinstance(declaration, cst.Nonlocal | cst.Global) else ():
            owner = _owner(frame, item.name.value)
            if owner is not None:
                owner.names[item.name.value] = _unknown(context, item.name.value)


def _unknown(context: Context, name: str, *parts: Value) -> Unknown:
    return context.unknown(context.fresh_symbol(name), f"{name} is bound in text that is not read", *parts)


def note_calls(context: Context, frame: Frame, node: cst.CSTNode, reason: str, *, may_be_noted: bool = False) -> None:
    """Notes the calls of NKI in `node`, which is not evaluated."""
    for item in _told(node):
        name = imported_name(context, frame, item.func) if isinstance(item, cst.Call) else ""
        if is_nki(name):
            note_skipped(context, name, frame.segment.span(item), reason, may_be_noted=may_be_noted)
        read = imported_name(context, frame, item) if isinstance(item, cst.Attribute) else ""
        if is_nki(read):
            context.noted.names.setdefault(item, (read, frame.segment))


def imported_name(context: Context, frame: Frame, node: cst.CSTNode) -> str:
    """The qualified name of what a dotted expression names, "" where it is nothing that is imported."""
    words: list[str] = []
    while isinstance(node, cst.Attribute):
        words.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    found = frame.value(context, node.value)
    return ".".join([found.name, *reversed(words)]) if isinstance(found, External) else ""


def _mentioned(context: Context, frame: Frame, node: cst.CSTNode, reason: str) -> list[Value]:
    """The tiles and tensors that names in `node`, or in functions it may call, stand for.

    What these texts may change of lists and objects is unknown after.
    """
    found: list[Value] = []
    named: list[tuple[str, Value | None]] = []
    touched, methods = Touched(), _Methods()
    pending: list[tuple[Frame, cst.CSTNode]] = [(frame, node)]
    seen: set[int] = set()
    while pending:
        home, item = pending.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        note_calls(context, home, item, reason)
        _forget_outer(context, home, item)
        touched.add(context, home, item)
        for name in sorted(read_names(item)):
            value = home.value(context, name)
            parts = leaves_of(value)
            pending.extend((part.home, part.node) for part in _functions_in(value))
            methods.add(value)
            tiles = [_settled(context, part) for part in parts if isinstance(part, View | Result | Parameter | Unknown)]
            found.extend(tiles)
            named.append((name, value))
        pending.extend((part.home, part.node) for part in methods.called_in(item))
    for name, value in named:
        touched.lose(context, f"{name} may be changed by text that is not read", value)
    return found


@dataclass(slots=True, eq=False)
class _Methods:
    """The methods of objects that text mentions; it may call those whose names it mentions, and those of operators."""

    names: set[str] = field(default_factory=set)
    waiting: dict[int, Function] = field(default_factory=dict)

    def add(self, value: Value | None) -> None:
        """Adds the methods of the objects that `value` holds, or that both of two values do."""
        for item in reached_from(value):
            if isinstance(item, Instance):
                self.waiting.update((id(method.node), method) for method in functions_of(item.owner))
            elif isinstance(item, Either):
                self.add(item.first)
                self.add(item.second)

    def called_in(self, node: cst.CSTNode) -> list[Function]:
        """The methods that are known to be called from now on, as `node` may do it."""
        self.names |= {item.attr.value for item in _told(node) if isinstance(item, cst.Attribute)}
        self.names |= read_names(node) & _BY_NAME
        ready = [key for key, method in self.waiting.items() if self._may_be_called(method.name)]
        return [self.waiting.pop(key) for key in ready]

    def _may_be_called(self, name: str) -> bool:
        is_operator = name.startswith("__") and name not in _AT_BIRTH
        return is_operator or name in self.names or bool(self.names & _BY_NAME)


_AT_BIRTH = frozenset({"__init__", "__new__", "__post_init__"})
"""Methods that run when an object is made: those of one that is there have run."""
_BY_NAME = frozenset({"getattr", "vars", "exec", "eval", "__dict__", "__getattribute__"})
"""Names of Python by which methods are found that the text does not name."""


def _functions_in(value: Value | None) -> Iterator[Function]:
    """The functions of the port that text may call which is given `value`, methods of objects aside."""
    for item in reached_from(value):
        if isinstance(item, Function):
            yield item
        elif isinstance(item, BoundMethod):
            yield item.function
        elif isinstance(item, Either):
            yield from _functions_in(item.first)
            yield from _functions_in(item.second)
        elif isinstance(item, Class):
            yield from functions_of(item)


def _owner(frame: Frame | None, name: str) -> Frame | None:
    while frame is not None and name not in frame.names:
        frame = frame.parent
    return frame


def _settled(context: Context, value: Value) -> Value:
    """A computed tile as its buffer: the skipped text may write it."""
    return (as_view(context, value) or value) if isinstance(value, Result) else value


@lru_cache(maxsize=4096)
def _told(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """The calls, attributes and declarations of outer names in `node`."""
    return tuple(item for item in inside(node) if isinstance(item, _TOLD))


def may_leave(node: cst.CSTNode, in_loop: bool = False) -> bool:
    """Whether `node` holds a `return` of its function, or what ends an iteration of a loop around it."""
    if isinstance(node, cst.FunctionDef | cst.Lambda | cst.ClassDef | cst.BaseExpression):
        return False
    if isinstance(node, cst.Return) or (isinstance(node, cst.Break | cst.Continue) and not in_loop):
        return True
    body = node.body if isinstance(node, cst.For | cst.While) else None
    return any(may_leave(child, in_loop or child is body) for child in children(node))
