"""Results of helpers that only work out numbers, texts and dtypes: the same arguments give the same again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

import libcst as cst

from portcheck.frontends.nki.objects.functions import all_parameters
from portcheck.frontends.nki.python.calls import is_builtin
from portcheck.frontends.nki.source.trees import assigned_names, children
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.results import Remembered
from portcheck.frontends.nki.values.ages import new_age
from portcheck.frontends.nki.values.arithmetic import is_number
from portcheck.frontends.nki.values.callables import Class, ClassKind, Function
from portcheck.frontends.nki.values.values import Either, External, Format, Instance, Items, Nothing, Text, Value
from portcheck.ir import Apply, Assume, Branch, Const, Ref, Symbol, operations, symbols_in

_MOST = 8
"""Results of one function with the same arguments that are remembered, each under other conditions."""
_ABSENT = object()


def remembering(
    context: Context, function: Function, arguments: Mapping[str, Value], work_out: Callable[[], Value]
) -> Value:
    """What `work_out` gives, or gave before for the same arguments under conditions that still hold."""
    key = _key_of(context, function, arguments)
    if key is None:
        return work_out()
    known = context.results_of.known.setdefault(key, [])
    for entry in known:
        if _still_holds(context, entry):
            return entry.value
    asserted = context.asserted
    marks, age = context.marks(), new_age()
    with context.builder.region() as body, context.journal.changes() as changes:
        value = work_out()
    context.builder.adopt(body)
    now = context.marks()
    is_silent = all(isinstance(op, Assume | Branch) for op in operations(body)) and not any(changes.lasting())
    is_silent = is_silent and (marks[0], marks[2], marks[4:6]) == (now[0], now[2], now[4:6])
    if is_silent and len(known) < _MOST and _plain(value) is not _ABSENT:
        may_go = bool(body) or marks[1] != now[1]
        here = (context.holding, asserted) if _is_open(arguments) else ({}, ())
        known.append(Remembered(value, *here, age, may_go))
    return value


def _still_holds(context: Context, entry: Remembered) -> bool:
    """Whether all holds that was known when the result was worked out."""
    if context.asserted[: len(entry.asserted)] != entry.asserted:
        return False
    return entry.holding is context.holding or entry.holding.items() <= context.holding.items()


def _key_of(context: Context, function: Function, arguments: Mapping[str, Value]) -> Hashable | None:
    if function.home.root is not None or not _only_works_out(context, function):
        return None
    given = tuple(_plain(value) for value in arguments.values())
    varies = any(map(context.is_bound, _symbols_of(given)))  # its range is that of one loop
    return None if varies or _ABSENT in given else (function.node, given)


def _symbols_of(part: object) -> set[str]:
    if isinstance(part, tuple):
        return {name for item in part for name in _symbols_of(item)}
    return set(symbols_in(part)) if isinstance(part, Const | Symbol | Ref | Apply) else set()


def _plain(value: Value) -> Hashable:
    """`value` as part of a key, if nothing can change it; _ABSENT for anything else."""
    match value:
        case Text() | External() | Format():
            return value
        case Nothing():
            return ("None", value.chosen_by)
        case Items(held=held) if not (value.is_list or value.lost or value.series or value.choice or value.once):
            parts = tuple(map(_plain, held))
            return _ABSENT if _ABSENT in parts else parts
        case Either(condition, first, second):
            sides = _plain(first), _plain(second)
            return _ABSENT if _ABSENT in sides else (condition, *sides)
        case Instance() if value.owner.kind is ClassKind.ENUMERATION:
            return value
        case _:
            return value if is_number(value) else _ABSENT


def _is_open(arguments: Mapping[str, Value]) -> bool:
    """Whether conditions may decide what comes of `arguments`: they hold a symbol or a choice."""
    return any(map(_holds_symbols, arguments.values()))


def _holds_symbols(value: Value) -> bool:
    if isinstance(value, Items):
        return any(map(_holds_symbols, value.held))
    if isinstance(value, Format):
        return value.dtype.is_symbolic
    return isinstance(value, Either | Nothing) or (is_number(value) and bool(symbols_in(value)))


def _only_works_out(context: Context, function: Function) -> bool:
    """Whether the text of `function` uses nothing but its own names, functions like it, and what never changes."""
    known = context.results_of.workers.get(function.node)
    if known is None:
        context.results_of.workers[function.node] = True  # for one that calls itself
        known = context.results_of.workers[function.node] = _uses_only_what_stays(context, function)
    return known


_UNFIT = (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.Global, cst.Nonlocal, cst.Import, cst.ImportFrom, cst.Yield)


def _uses_only_what_stays(context: Context, function: Function) -> bool:
    if not isinstance(function.node, cst.FunctionDef):
        return False
    pending: list[cst.CSTNode] = [function.node.body]
    read: set[str] = set()
    while pending:
        node = pending.pop()
        if isinstance(node, _UNFIT):
            return False
        if isinstance(node, cst.Name):
            read.add(node.value)
        elif isinstance(node, cst.Attribute | cst.Arg):
            pending.append(node.value)
        else:
            pending.extend(children(node))
    return all(_stays(context, function, word) for word in sorted(read - _own_names(function.node)))


def _own_names(node: cst.FunctionDef) -> set[str]:
    return {*(item.name.value for item in all_parameters(node)), *assigned_names(node.body), "True", "False", "None"}


def _stays(context: Context, function: Function, word: str) -> bool:
    """Whether what `word` means to `function` is the same whenever it is called."""
    if is_builtin(word):
        return True
    file = function.home.file
    if file is None or word in file.rebound:
        return False
    found = function.home.value(context, word)
    if isinstance(found, Function):
        return found.home.root is None and _only_works_out(context, found)
    if isinstance(found, Class):
        return found.kind is ClassKind.ENUMERATION
    return isinstance(found, Text | External | Format | Nothing) or (found is not None and is_number(found))
