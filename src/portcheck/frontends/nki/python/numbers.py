"""Functions of Python and of its array library on numbers that are known or symbols."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from portcheck.core.dtype import FLOAT64, INT64
from portcheck.frontends.nki.loops.rounds import length_of
from portcheck.frontends.nki.lowering.indices import three
from portcheck.frontends.nki.objects.attributes import items_of
from portcheck.frontends.nki.state.abbreviating import fitted
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.sizes import shortened
from portcheck.frontends.nki.values.arithmetic import binary, is_small, known, literal, unary
from portcheck.frontends.nki.values.data import as_number, in_register
from portcheck.frontends.nki.values.flags import condition_of
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import Counter, Items, Parameter, Series, ShapeOf, Text, Unknown, Value
from portcheck.ir import Apply, Const, Expr, Operator, Ref, integer

Arguments = Sequence[Value]
Handler = Callable[[Context, Arguments], Value | None]


def _range(context: Context, arguments: Arguments) -> Value:
    start, stop, step = three([_bound(context, value) for value in arguments])
    return Counter(start, stop, step, "loop.range", "range")


def _bound(context: Context, value: Value) -> Expr | None:
    """An end of a range; what a call that is not understood gives is one too, whatever it is."""
    if isinstance(value, Unknown) and value.parts and isinstance(value.parts[0], Ref):
        return as_number(context, value.parts[0])
    return as_number(context, value)


def _length(context: Context, arguments: Arguments) -> Value | None:
    if len(arguments) != 1:
        return None
    value = arguments[0]
    match value:
        case View() | Result():
            return value.shape[0] if value.shape else None
        case Text(text):
            return integer(len(text))
        case ShapeOf(parameter):
            context.facts[parameter].is_measured = True
            return integer(len(context.parameter_view(parameter).shape))
        case Items(series=Series() as series, lost=""):
            return series.length
        case Counter():
            return length_of(value)
        case Parameter(name):
            return context.size_of(name, 0) if context.facts[name].is_tensor else context.free_symbol(f"len({name})")
        case _:
            pass
    items = items_of(context, value)
    return integer(len(items)) if items is not None else None


def folded(operator: Operator) -> Handler:
    """`min`, `max`, `prod`: `operator` over all arguments, or over what the only one holds."""

    def function(context: Context, arguments: Arguments) -> Value | None:
        values = items_of(context, arguments[0]) if len(arguments) == 1 else list(arguments)
        numbers = [as_number(context, value) for value in values or ()]
        if not numbers or numbers[0] is None:
            return None
        result: Expr = numbers[0]
        for number in numbers[1:]:
            made = _pair(context, operator, result, number) if number is not None else None
            if made is None:
                return None
            result = made
        return result

    return function


def _pair(context: Context, operator: Operator, left: Expr, right: Expr) -> Expr | None:
    made = left if left == right and operator in _EXTREMES else fitted(context, operator, left, right, operator.value)
    if made is None and left.dtype.is_integer and right.dtype.is_integer:
        made = binary(operator, *(in_register(context, side, operator.value) for side in (left, right)))
    return shortened(context, made) if made is not None and operator in _EXTREMES else made


_EXTREMES = (Operator.MINIMUM, Operator.MAXIMUM)


def _total(context: Context, arguments: Arguments) -> Value | None:
    values = items_of(context, arguments[0]) if arguments else None
    if values is None:
        return None
    given = [*arguments[1:2], *values]
    return folded(Operator.ADD)(context, [Items(given)]) if given else integer(0)


def _ceiling(context: Context, arguments: Arguments) -> Value | None:
    number = as_number(context, arguments[0]) if arguments else None
    if isinstance(number, Apply) and number.operator is Operator.DIVIDE:
        return Apply(Operator.CEILING_DIVIDE, number.arguments, INT64)
    return None if number is None else number if number.dtype.is_integer else Apply(Operator.CEIL, (number,), INT64)


def _floor(context: Context, arguments: Arguments) -> Value | None:
    number = as_number(context, arguments[0]) if arguments else None
    if isinstance(number, Apply) and number.operator is Operator.DIVIDE:
        return Apply(Operator.FLOOR_DIVIDE, number.arguments, INT64)
    return None if number is None else number if number.dtype.is_integer else Apply(Operator.FLOOR, (number,), INT64)


def _integer(context: Context, arguments: Arguments) -> Value | None:
    if not arguments:
        return integer(0)
    if isinstance(arguments[0], Text):
        return _read(int, arguments[0].value)
    number = as_number(context, arguments[0])
    if number is None or number.dtype.is_integer:
        return number
    value = known(number)
    if isinstance(value, int | float):
        return literal(int(value)) if math.isfinite(value) else None
    return Apply(Operator.TRUNC, (number,), INT64)


def _float(context: Context, arguments: Arguments) -> Value | None:
    if not arguments:
        return literal(0.0)
    if isinstance(arguments[0], Text):
        return _read(float, arguments[0].value)
    number = as_number(context, arguments[0])
    value = known(number) if number is not None else None
    return Const(float(value), FLOAT64) if value is not None else number


def _read(kind: Callable[[str], int | float], text: str) -> Value | None:
    try:
        return literal(kind(text)) if len(text) <= 40 else None
    except ValueError:
        return None


def _boolean(context: Context, arguments: Arguments) -> Value | None:
    if not arguments:
        return literal(False)
    decided = context.truth(context, arguments[0])
    if decided is not None:
        return literal(decided)
    number = as_number(context, arguments[0])
    return condition_of(number) if number is not None else None


def _one(operator: Operator) -> Handler:
    def function(context: Context, arguments: Arguments) -> Value | None:
        number = as_number(context, arguments[0]) if len(arguments) == 1 else None
        return None if number is None else unary(operator, number)

    return function


def _real(operator: Operator) -> Handler:
    def function(context: Context, arguments: Arguments) -> Value | None:
        number = as_number(context, arguments[0]) if len(arguments) == 1 else None
        return None if number is None else Apply(operator, (number,), FLOAT64)

    return function


def _two(operator: Operator) -> Handler:
    def function(context: Context, arguments: Arguments) -> Value | None:
        numbers = [as_number(context, value) for value in arguments]
        if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
            return None
        return fitted(context, operator, numbers[0], numbers[1], operator.value)

    return function


def _quotient(context: Context, arguments: Arguments) -> Value | None:
    """`divmod`."""
    parts = [_two(operator)(context, arguments) for operator in (Operator.FLOOR_DIVIDE, Operator.FLOOR_MODULO)]
    present = [part for part in parts if part is not None]
    return Items(present) if len(present) == 2 else None


def _rounded(context: Context, arguments: Arguments) -> Value | None:
    numbers = [known(number) if number is not None else None for number in map_numbers(context, arguments)]
    if not numbers or None in numbers or not all(isinstance(item, int) for item in numbers[1:]):
        number = as_number(context, arguments[0]) if len(arguments) == 1 else None
        return Apply(Operator.ROUND_EVEN, (number,), INT64) if number is not None else None
    value = numbers[0]
    if value is None or not math.isfinite(value) or any(abs(item or 0) > 300 for item in numbers[1:]):
        return None
    return literal(round(value, *(int(item) for item in numbers[1:] if item is not None)))


def map_numbers(context: Context, values: Arguments) -> list[Expr | None]:
    """`values` as numbers."""
    return [as_number(context, value) for value in values]


def _computed(function: Callable[..., int | float]) -> Handler:
    """A function that is evaluated where all its arguments are known."""

    def handler(context: Context, arguments: Arguments) -> Value | None:
        numbers = [known(number) if number is not None else None for number in map_numbers(context, arguments)]
        present = [number for number in numbers if number is not None]
        if len(present) != len(numbers) or any(abs(number) > 1e18 for number in present):
            return None
        try:
            return literal(function(*present))
        except (ArithmeticError, ValueError, TypeError):
            return None

    return handler


def _logarithm(context: Context, arguments: Arguments) -> Value | None:
    return _real(Operator.LOG)(context, arguments) if len(arguments) == 1 else _computed(math.log)(context, arguments)


def _power(context: Context, arguments: Arguments) -> Value | None:
    made = _two(Operator.POWER)(context, arguments)
    return made if isinstance(made, Apply) and is_small(made) else None


NUMBERS: Mapping[str, Handler] = {
    "range": _range, "len": _length, "min": folded(Operator.MINIMUM), "max": folded(Operator.MAXIMUM),
    "minimum": _two(Operator.MINIMUM), "maximum": _two(Operator.MAXIMUM),
    "sum": _total, "ceil": _ceiling, "floor": _floor, "int": _integer, "float": _float, "bool": _boolean,
    "prod": folded(Operator.MULTIPLY), "divmod": _quotient, "round": _rounded, "trunc": _integer,
    "abs": _one(Operator.ABSOLUTE), "fabs": _one(Operator.ABSOLUTE), "sqrt": _real(Operator.SQRT),
    "exp": _real(Operator.EXP), "log": _logarithm, "log2": _real(Operator.LOG2), "log10": _real(Operator.LOG10),
    "tanh": _real(Operator.TANH), "pow": _power, "power": _power, "gcd": _computed(math.gcd),
    "lcm": _computed(math.lcm), "isqrt": _computed(math.isqrt), "comb": _computed(math.comb),
    "isclose": _computed(math.isclose), "isinf": _computed(math.isinf), "isnan": _computed(math.isnan),
    "add": _two(Operator.ADD), "sub": _two(Operator.SUBTRACT), "mul": _two(Operator.MULTIPLY),
    "floordiv": _two(Operator.FLOOR_DIVIDE), "mod": _two(Operator.FLOOR_MODULO),
}  # fmt: skip
"""Functions by name that take numbers by position."""
