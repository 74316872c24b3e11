"""Expressions compiled to functions of the batch: constants folded, what depends on the thread alone kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from portcheck.core.dtype import DType
from portcheck.core.errors import InputError, did_you_mean
from portcheck.execution.arithmetic.conversions import conversion, literal
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.arithmetic.operators import function, working_dtype
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Compiled
from portcheck.execution.simt.events import EventKind
from portcheck.ir import Apply, Const, Expr, Operator, Ref, Symbol


def compiled(compilation: Compilation, expression: Expr, dtype: DType | None = None, rank: int = 0) -> Compiled:
    """`expression` in `dtype` (its own if None), as a value of `rank` dimensions besides that of the threads."""
    found = _node(compilation, expression, rank)
    if dtype is not None and found.dtype != dtype:
        found = _converted(found, dtype)
    return found


def code_of(compilation: Compilation, expression: Expr, dtype: DType | None = None, rank: int = 0) -> Code:
    """The code of `expression`, whose part that depends on the thread alone is computed once."""
    return _kept(compilation, compiled(compilation, expression, dtype, rank), expression, rank).code


def constant_of(compilation: Compilation, expression: Expr) -> Value:
    """The value of an expression that is the same whenever it is reached; InputError where it is not."""
    found = compiled(compilation, expression)
    if found.constant is None:
        raise InputError(f"a size of {compilation.kernel.name} is not known at its launch: {expression}")
    return found.constant


def extent_of(compilation: Compilation, expression: Expr | None) -> int:
    """A constant extent."""
    if expression is None:
        raise InputError(f"an axis of {compilation.kernel.name} has no extent")
    return int(constant_of(compilation, expression))


def _constant(value: Value, dtype: DType) -> Compiled:
    return Compiled(lambda batch: value, dtype, value, True)


def _converted(node: Compiled, dtype: DType) -> Compiled:
    convert = conversion(node.dtype, dtype)
    if node.constant is not None:
        return _constant(convert(node.constant), dtype)
    code = node.code
    return Compiled(lambda batch: convert(code(batch)), dtype, None, node.is_invariant)


def _node(compilation: Compilation, expression: Expr, rank: int) -> Compiled:
    match expression:
        case Const(value, dtype):
            return _constant(literal(value, dtype), dtype)
        case Symbol():
            return _symbol(compilation, expression, rank)
        case Ref(id, dtype):
            return _result(compilation, id, dtype, rank)
        case Apply():
            return _known_or_applied(compilation, expression, rank)


def _symbol(compilation: Compilation, symbol: Symbol, rank: int) -> Compiled:
    name, dtype = symbol.name, symbol.dtype
    if name in compilation.axes:
        return _axis(compilation, compilation.axes.index(name), dtype)
    slot = compilation.slots.get(name)
    if slot is not None:
        kept = storage(dtype)
        code = _expanded(lambda batch: batch.slots[slot], rank)
        return Compiled(lambda batch: code(batch).astype(kept, copy=False), dtype)
    thread = compilation.threads.get(name)
    if thread is not None:
        wanted = storage(dtype)
        typed = _expanded(lambda batch: thread(batch).astype(wanted, copy=False), rank)
        return Compiled(typed, dtype, None, True)
    if name not in compilation.symbols:
        others = [given for given in compilation.given if given != name]
        is_none = len(others) < len(compilation.given)
        hint = f"give a number for {name}, not None" if is_none else did_you_mean(name, others)
        hint = hint or f"give {name} among the arguments"
        raise InputError(f"{compilation.kernel.name} needs a value for {name}", hint)
    return _constant(literal(compilation.symbols[name], dtype), dtype)


def _axis(compilation: Compilation, position: int, dtype: DType) -> Compiled:
    shape = [1] * (1 + len(compilation.axes))
    shape[1 + position] = compilation.axis_extents[position]
    along = np.arange(compilation.axis_extents[position], dtype=storage(dtype)).reshape(shape)
    return Compiled(lambda batch: along, dtype)


def _result(compilation: Compilation, id: int, dtype: DType, rank: int) -> Compiled:
    slot, holders = compilation.slot(id), compilation.holders(id)
    if holders is None or not compilation.options.is_checked:
        return Compiled(_expanded(lambda batch: batch.slots[slot], rank), dtype)
    where, span = compiled(compilation, holders).code, compilation.definitions[id].span

    def checked(batch: Batch) -> Value:
        lacking = np.flatnonzero(~np.broadcast_to(where(batch), batch.active.count))
        if lacking.size:
            text = "uses a result that only some threads are given"
            batch.report(EventKind.UNINITIALISED_VARIABLE, span, text, batch.numbers()[lacking[0]], lacking.size)
        return batch.slots[slot]

    return Compiled(_expanded(checked, rank), dtype)


def _expanded(code: Code, rank: int) -> Code:
    """A number per thread with `rank` dimensions of extent 1 behind."""
    if not rank:
        return code
    ones = (1,) * rank

    def expanded(batch: Batch) -> Value:
        value = code(batch)
        return value.reshape(-1, *ones) if value.ndim == 1 else value

    return expanded


def _known_or_applied(compilation: Compilation, expression: Apply, rank: int) -> Compiled:
    """An expression that depends on the thread alone is compiled once, however often the program shares it.

    It is known by its identity, which no other has as long as it is kept.
    """
    key = (id(expression), rank)
    known = None if compilation.axes else compilation.compiled.get(key)
    if known is not None:
        return known[1]
    found = _apply(compilation, expression, rank)
    if found.is_invariant and not compilation.axes:
        compilation.compiled[key] = (expression, found)
    return found


def _apply(compilation: Compilation, expression: Apply, rank: int) -> Compiled:
    arguments = [_node(compilation, argument, rank) for argument in expression.arguments]
    given = tuple(argument.dtype for argument in arguments)
    formats = working_dtype(expression.operator, expression.dtype, given)
    called = function(expression.operator, expression.dtype, given)
    is_invariant = all(argument.is_invariant for argument in arguments)
    parts = []
    for argument, wanted, written in zip(arguments, formats, expression.arguments, strict=True):
        part = argument if argument.dtype == wanted else _converted(argument, wanted)
        parts.append(part if is_invariant else _kept(compilation, part, written, rank))
    if all(part.constant is not None for part in parts):
        with np.errstate(all="ignore"):
            return _constant(called(*(part.constant for part in parts)), expression.dtype)
    if expression.operator is Operator.SELECT:
        return Compiled(_select(*(part.code for part in parts)), expression.dtype, None, is_invariant)
    return Compiled(called_with(called, [part.code for part in parts]), expression.dtype, None, is_invariant)


def called_with(function: Callable[..., Value], parts: Sequence[Code]) -> Code:
    """The code that applies `function` to the values of `parts`."""
    if len(parts) == 1:
        (only,) = parts
        return lambda batch: function(only(batch))
    if len(parts) == 2:
        left, right = parts
        return lambda batch: function(left(batch), right(batch))
    return lambda batch: function(*(part(batch) for part in parts))


def _select(condition: Code, on_true: Code, on_false: Code) -> Code:
    def select(batch: Batch) -> Value:
        chosen = condition(batch)
        if chosen.ndim == 0:
            return on_true(batch) if chosen else on_false(batch)
        return np.where(chosen, on_true(batch), on_false(batch))

    return select


def _kept(compilation: Compilation, node: Compiled, expression: Expr, rank: int) -> Compiled:
    """`node`, computed once for each set of active threads if it depends on the thread alone."""
    if not node.is_invariant or node.constant is not None or not isinstance(expression, Apply):
        return node
    key = (compilation.number(expression, rank), node.dtype)
    code = node.code

    def kept(batch: Batch) -> Value:
        cache = batch.active.cache
        value = cache.get(key)
        if value is None:
            value = cache[key] = code(batch)
        return value

    return Compiled(kept, node.dtype, None, True)
