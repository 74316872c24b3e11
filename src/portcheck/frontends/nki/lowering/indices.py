"""Calls that give indices, ranges and program positions, and those that compute nothing."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import difference, known_int, literal, plus
from portcheck.frontends.nki.values.data import as_number, operand
from portcheck.frontends.nki.values.origins import may_vary
from portcheck.frontends.nki.values.patterns import item_size
from portcheck.frontends.nki.values.tiles import Grid
from portcheck.frontends.nki.values.values import NONE, Counter, Nothing, Stretch, Table, Text, Unknown, Value
from portcheck.frontends.nki.values.views import symbol_of
from portcheck.ir import (
    Axis,
    AxisKind,
    Barrier,
    Check,
    CheckKind,
    Const,
    Expr,
    OpaqueKind,
    Scope,
    Symbol,
    integer,
)  # fmt: skip
from portcheck.knowledge import Role


def limits(call: Call) -> tuple[Expr, Expr, Expr]:
    """The start, stop and step of a range, given as Python's `range` takes them."""
    call.asked.update(_LIMITS)
    named = [call.values.get(item.name, NONE) for item in call.api.parameters if item.role in _LIMITS]
    given = [value for value in (*named, *call.rest) if value != NONE]
    return three([_end(call.context, value) for value in given])


def _end(context: Context, value: Value) -> Expr | None:
    """An end of a range; a symbol of its own for a size that is not understood but known while tracing."""
    number = as_number(context, value)
    if number is not None or not isinstance(value, Unknown) or may_vary(context, value):
        return number
    return Symbol(context.fresh_symbol(value.text), INT64)


_LIMITS = frozenset({Role.START, Role.STOP, Role.STEP, Role.SIZE})


def three(numbers: Sequence[Expr | None]) -> tuple[Expr, Expr, Expr]:
    """(start, stop, step) from one, two or three arguments."""
    present = [number for number in numbers if number is not None]
    if len(present) != len(numbers) or not 1 <= len(present) <= 3:
        raise MisunderstoodError("the range is not understood", OpaqueKind.CONTROL)
    if any(isinstance(number, Const) and isinstance(number.value, float) for number in present):
        raise MisunderstoodError("a range of numbers that are not whole", OpaqueKind.CONTROL)
    if len(present) == 3 and known_int(present[2]) == 0:
        raise MisunderstoodError("the range has no step", OpaqueKind.CONTROL)
    if len(present) == 1:
        return integer(0), present[0], integer(1)
    return present[0], present[1], present[2] if len(present) == 3 else integer(1)


def counter(call: Call) -> Value:
    """A range for a loop."""
    start, stop, step = limits(call)
    return Counter(start, stop, step, call.api.semantics.value, call.via)


def arange(call: Call) -> Value:
    """An index variable along one dimension."""
    start, stop, step = limits(call)
    if known_int(step) != 1:
        raise MisunderstoodError("an index range with a step", OpaqueKind.MEMORY)
    dimension = call.context.placeholder(difference(stop, start), call.hint)
    position: Expr = symbol_of(dimension)
    return Grid(plus(start, position), (dimension,))


def slice_of(call: Call) -> Value:
    """start : start + size."""
    start, size = call.number(Role.START), call.number(Role.SIZE)
    if start is None or size is None or start.dtype.is_float or size.dtype.is_float:
        raise MisunderstoodError("the slice is not understood", OpaqueKind.MEMORY)
    return Stretch(start, plus(start, size), None, size)


def partition(call: Call) -> Value:
    """A size that is marked as the partition's: the size itself."""
    size = call.number(Role.SIZE)
    if size is None:
        raise MisunderstoodError("the size is not understood")
    return size


def program(call: Call) -> Value:
    """The position along a program axis."""
    axis = call.constant(Role.AXIS)
    if not isinstance(axis, int):
        raise MisunderstoodError("the program axis is not known")
    name = f"program_id[{axis}]"
    kind = AxisKind.PROGRAM if call.context.is_legacy else AxisKind.CORE
    extent = Symbol(f"num_programs[{axis}]", INT64)
    call.context.program_axes.setdefault(name, Axis(name, kind, extent))
    return Symbol(name, INT64)


def program_count(call: Call) -> Value:
    """The extent of a program axis."""
    axis = call.constant(Role.AXIS)
    if not isinstance(axis, int):
        if call.given(Role.AXIS) is not None or call.given(Role.SIZE) is not None:
            raise MisunderstoodError("the program axis is not known")
        axis = 0
    return Symbol(f"num_programs[{axis}]", INT64)


def query(call: Call) -> Value:
    """Something asked at compile time that depends on where the kernel runs: a symbol."""
    return Symbol(call.via + "()", INT64)


def program_rank(call: Call) -> Value:
    """How many program axes there are."""
    return Symbol("program_ndim", INT64)


def rank(call: Call) -> Value:
    """The rank that the kernel runs on."""
    return Symbol("rank_id", INT64)


def generation(call: Call) -> Value:
    """The generation of the chip that the port is read for."""
    chip = call.context.knowledge.chip(call.context.target)
    return query(call) if chip is None else literal(chip.generation_number)


def number_limits(call: Call) -> Value:
    """The ends of the range of a dtype, which are whole numbers in every format."""
    dtype = call.dtype()
    if dtype is None:
        raise MisunderstoodError("the dtype is not understood", OpaqueKind.DTYPE)
    facts = call.context.knowledge.dtype(dtype.name)
    low, high = (Symbol(f"{call.via}({dtype}).{word}", INT64) for word in ("min", "max"))
    if facts is None:
        return Table({"min": low, "max": high}, "limits")
    return Table({"min": literal(facts.min_finite), "max": literal(facts.max_finite)}, "limits")


def bytes_of(call: Call) -> Value:
    """The bytes of one element of a dtype."""
    dtype = call.dtype()
    if dtype is None:
        raise MisunderstoodError("the dtype is not understood", OpaqueKind.DTYPE)
    return item_size(call.context, dtype)


def nothing(call: Call) -> Value:
    """A hint about scheduling."""
    return NONE


def barrier(call: Call) -> Value:
    """The cores wait for each other."""
    call.context.builder.emit(Barrier, via=call.via, scope=Scope.CORE)
    return NONE


def show(call: Call) -> Value:
    """A print at run time."""
    given = [*call.values.values(), *call.rest]
    message = next((value.value for value in given if isinstance(value, Text)), "")
    shown = [operand(call.context, value) for value in given if not isinstance(value, Text | Nothing)]
    operands = tuple(item.expression for item in shown if item is not None)
    call.context.builder.emit(Check, via=call.via, kind=CheckKind.PRINT, operands=operands, message=message)
    return NONE
