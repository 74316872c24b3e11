"""Sums of tensors that the DMA engines compute, into a tensor that may be gathered or scattered into."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.nki.expressions.bind import Call, ir_operator
from portcheck.frontends.nki.lowering.functions import applied, operand_for, operator_for, rank_of
from portcheck.frontends.nki.lowering.memory import laid_out, outside_of
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.arithmetic import known
from portcheck.frontends.nki.values.data import as_number, as_view, load, note_written, resolved, store
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.tiles import View
from portcheck.frontends.nki.values.values import NONE, Items, Value
from portcheck.frontends.nki.values.views import access, moved, symbol_of
from portcheck.ir import Const, Copy, Expr, Operator, Outside, Symbol, WriteMode, substitute
from portcheck.knowledge import Role


def total(call: Call) -> Value:
    """The sum of several tensors, element by element, each times its factor."""
    given = call.given(Role.SOURCES)
    destination = call.destination()
    if not isinstance(given, Items) or not given.values:
        raise MisunderstoodError("the list of sources is not understood")
    factors, outside = _factors(call, len(given.values)), outside_of(call)
    operator = ir_operator(operator_for(call, Role.REDUCE_OPERATOR)) or Operator.ADD
    if destination is None:
        return _combined(call, operator, given, factors)
    views = [as_view(call.context, item, rank_of(destination)) for item in given.values]
    sources = [laid_out(call, view, destination) for view in views if view is not None]
    if len(sources) != len(views):
        raise MisunderstoodError("an operand is not understood")
    others = [view for view in sources if not _is_same(view, destination)]
    is_gathered = any(view.gathered for view in (destination, *sources))
    if is_gathered and operator is Operator.ADD and len(others) == len(sources) - 1 and factors == [1.0] * len(sources):
        return _added(call, destination, others, outside)
    parts = [load(call.context, view, outside=outside) for view in sources]
    store(call.context, destination, _sum(call, operator, parts, factors), via=call.via, outside=outside)
    return NONE


def _combined(call: Call, operator: Operator, given: Items, factors: list[float]) -> Value:
    parts = [operand_for(call, item) for item in given.values]
    return call.finish(_sum(call, operator, parts, factors), *given.values)


def _sum(call: Call, operator: Operator, parts: list[Operand], factors: list[float]) -> Operand:
    made: Operand | None = None
    for part, factor in zip(parts, factors, strict=True):
        value = cast(call.context, part, FLOAT32, call.via)
        if factor != 1.0:
            number = Operand(Const(factor, FLOAT32), FLOAT32)
            value = applied(call, Operator.MULTIPLY, value, number)
        made = value if made is None else applied(call, operator, made, value)
    assert made is not None
    return made


def _added(call: Call, destination: View, others: list[View], outside: Outside) -> Value:
    """Tensors added to what the destination holds, where the indices lie inside."""
    context = call.context
    note_written(context, destination)
    for other in others:
        target, source = resolved(context, destination), resolved(context, other)
        is_tile = target.buffer.is_on_chip or source.buffer.is_on_chip
        context.builder.emit(
            Copy, via=call.via, destination=access(target, is_tile=is_tile, outside=outside), mode=WriteMode.ADD,
            source=access(source, is_tile=is_tile, outside=outside), unique_indices=call.flag(Role.UNIQUE_INDICES),
        )  # fmt: skip
    return NONE


def _factors(call: Call, count: int) -> list[float]:
    """The factor of each source; 1 where none are given."""
    given = call.given(Role.SCALE)
    if given is None:
        return [1.0] * count
    numbers = [as_number(call.context, item) for item in given.values] if isinstance(given, Items) else []
    values = [known(number) for number in numbers if number is not None]
    if len(values) != count or None in values:
        raise MisunderstoodError("the factors are not understood")
    return [float(value) for value in values if value is not None]


def _is_same(view: View, other: View) -> bool:
    """Whether two views take the same elements in the same order."""
    if view.buffer != other.buffer or view.shape != other.shape or len(view.gathered) != len(other.gathered):
        return False
    symbols: dict[str, Expr] = {
        own.symbol: symbol_of(wanted) for own, wanted in zip(view.dimensions, other.dimensions, strict=True)
    }
    there = moved(view, other.dimensions, symbols)
    names: dict[str, Expr] = {}
    for item, wanted in zip(there.gathered, other.gathered, strict=True):
        if item.at != wanted.at or not _is_same(item.source, wanted.source):
            return False
        names[item.symbol] = Symbol(wanted.symbol, symbol_of(other.dimensions[0]).dtype)
    return tuple(substitute(index, names) for index in there.index) == other.index
