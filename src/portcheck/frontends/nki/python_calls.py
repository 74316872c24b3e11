"""Calls of Python itself: built-in functions, `math`, array functions on numbers, methods of lists and strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from portcheck.core.dtype import FLOAT64, INT64
from portcheck.frontends.nki.arithmetic import binary, known, literal, unary
from portcheck.frontends.nki.attributes import items_of
from portcheck.frontends.nki.context import Context
from portcheck.frontends.nki.data import as_number
from portcheck.frontends.nki.failure import MisunderstoodError
from portcheck.frontends.nki.lowering.indices import three
from portcheck.frontends.nki.mutation import changing
from portcheck.frontends.nki.subscripts import key_of
from portcheck.frontends.nki.values import NONE, Counter, Items, Result, ShapeOf, Table, Text, Value, View
from portcheck.ir import Apply, Const, Expr, Operator, integer

Arguments = Sequence[Value]


def is_builtin(name: str) -> bool:
    """Whether `name` is a function of Python that is modelled."""
    return name in _FUNCTIONS or name in _SILENT


def python_call(context: Context, name: str, arguments: Arguments, keywords: Mapping[str, Value]) -> Value | None:
    """The value of a call of a Python function by its qualified name; None when it is not modelled."""
    word = name.rpartition(".")[2] if name.partition(".")[0] in _LIBRARIES else name
    if word in _SILENT:
        return NONE
    function = _FUNCTIONS.get(word)
    if function is None:
        return None
    try:
        return function(context, arguments)
    except MisunderstoodError:
        return None


_LIBRARIES = frozenset({"math", "numpy", "builtins"})
_SILENT = frozenset({"print", "warn", "debug", "info"})


def _range(context: Context, arguments: Arguments) -> Value:
    start, stop, step = three([as_number(context, value) for value in arguments])
    return Counter(start, stop, step, "loop.range", "range")


def _length(context: Context, arguments: Arguments) -> Value | None:
    value = arguments[0] if arguments else NONE
    if isinstance(value, View | Result):
        return value.shape[0] if value.shape else None
    if isinstance(value, Text):
        return integer(len(value.value))
    if isinstance(value, ShapeOf):
        return integer(len(context.parameter_view(value.parameter).shape))
    items = items_of(context, value)
    return integer(len(items)) if items is not None else None


def _folded(operator: Operator) -> Callable[[Context, Arguments], Value | None]:
    def function(context: Context, arguments: Arguments) -> Value | None:
        values = items_of(context, arguments[0]) if len(arguments) == 1 else list(arguments)
        numbers = [as_number(context, value) for value in values or ()]
        if not numbers or numbers[0] is None:
            return None
        result: Expr = numbers[0]
        for number in numbers[1:]:
            made = binary(operator, result, number) if number is not None else None
            if made is None:
                return None
            result = made
        return result

    return function


def _total(context: Context, arguments: Arguments) -> Value | None:
    values = items_of(context, arguments[0]) if arguments else None
    if values is not None and not values:
        return integer(0)
    return _folded(Operator.ADD)(context, arguments[:1])


def _ceiling(context: Context, arguments: Arguments) -> Value | None:
    number = as_number(context, arguments[0]) if arguments else None
    if isinstance(number, Apply) and number.operator is Operator.DIVIDE:
        return Apply(Operator.CEILING_DIVIDE, number.arguments, INT64)
    return None if number is None else Apply(Operator.CEIL, (number,), INT64)


def _floor(context: Context, arguments: Arguments) -> Value | None:
    number = as_number(context, arguments[0]) if arguments else None
    if isinstance(number, Apply) and number.operator is Operator.DIVIDE:
        return Apply(Operator.FLOOR_DIVIDE, number.arguments, INT64)
    return None if number is None else Apply(Operator.FLOOR, (number,), INT64)


def _integer(context: Context, arguments: Arguments) -> Value | None:
    number = as_number(context, arguments[0]) if arguments else None
    if number is None or number.dtype.is_integer:
        return number
    value = known(number)
    if isinstance(value, int | float) and abs(value) < float("inf"):
        return literal(int(value))
    return Apply(Operator.TRUNC, (number,), INT64)


def _float(context: Context, arguments: Arguments) -> Value | None:
    if arguments and isinstance(arguments[0], Text):
        try:
            return Const(float(arguments[0].value), FLOAT64)
        except ValueError:
            return None
    number = as_number(context, arguments[0]) if arguments else None
    value = known(number) if number is not None else None
    return Const(float(value), FLOAT64) if value is not None else number


def _one(operator: Operator) -> Callable[[Context, Arguments], Value | None]:
    def function(context: Context, arguments: Arguments) -> Value | None:
        number = as_number(context, arguments[0]) if arguments else None
        return None if number is None else unary(operator, number)

    return function


def _real(operator: Operator) -> Callable[[Context, Arguments], Value | None]:
    def function(context: Context, arguments: Arguments) -> Value | None:
        number = as_number(context, arguments[0]) if arguments else None
        return None if number is None else Apply(operator, (number,), FLOAT64)

    return function


def _power(context: Context, arguments: Arguments) -> Value | None:
    numbers = [as_number(context, value) for value in arguments[:2]]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        return None
    return binary(Operator.POWER, numbers[0], numbers[1])


def _sequence(context: Context, arguments: Arguments) -> Value | None:
    if not arguments:
        return Items([], is_list=True)
    values = items_of(context, arguments[0])
    return None if values is None else Items(values, is_list=True)


def _reversed(context: Context, arguments: Arguments) -> Value | None:
    values = items_of(context, arguments[0]) if arguments else None
    return None if values is None else Items(values[::-1])


def _enumerated(context: Context, arguments: Arguments) -> Value | None:
    values = items_of(context, arguments[0]) if arguments else None
    return None if values is None else Items([Items([literal(place), value]) for place, value in enumerate(values)])


def _zipped(context: Context, arguments: Arguments) -> Value | None:
    columns = [items_of(context, value) for value in arguments]
    if any(column is None for column in columns):
        return None
    return Items([Items(list(row)) for row in zip(*(column or [] for column in columns), strict=False)])


def _instance(context: Context, arguments: Arguments) -> Value | None:
    return None


def _logarithm(context: Context, arguments: Arguments) -> Value | None:
    return _real(Operator.LOG)(context, arguments) if len(arguments) == 1 else None


_FUNCTIONS: Mapping[str, Callable[[Context, Arguments], Value | None]] = {
    "range": _range, "len": _length, "min": _folded(Operator.MINIMUM), "max": _folded(Operator.MAXIMUM),
    "sum": _total, "ceil": _ceiling, "floor": _floor, "int": _integer, "float": _float,
    "prod": _folded(Operator.MULTIPLY),
    "abs": _one(Operator.ABSOLUTE), "sqrt": _real(Operator.SQRT), "exp": _real(Operator.EXP), "log": _logarithm,
    "log2": _real(Operator.LOG2), "pow": _power, "list": _sequence, "tuple": _sequence, "sorted": _sequence,
    "reversed": _reversed, "enumerate": _enumerated, "zip": _zipped, "isinstance": _instance,
}  # fmt: skip


def method_call(
    context: Context, receiver: Value, name: str, arguments: Arguments, keywords: Mapping[str, Value]
) -> Value | None:
    """A method of a list, dictionary or string; None when it is not modelled."""
    if isinstance(receiver, Items):
        return _list_method(context, receiver, name, arguments)
    if isinstance(receiver, Table):
        return _table_method(receiver, name, arguments)
    if isinstance(receiver, Text):
        return Text("")
    return None


def _list_method(context: Context, receiver: Items, name: str, arguments: Arguments) -> Value | None:
    if name in ("append", "extend", "insert", "pop", "clear", "remove"):
        changing(context, receiver)
        return _changed(context, receiver, name, arguments)
    if name == "index" and arguments:
        return next((literal(at) for at, value in enumerate(receiver.values) if value == arguments[0]), None)
    if name == "copy":
        return Items(list(receiver.values), receiver.is_list)
    return None


def _changed(context: Context, receiver: Items, name: str, arguments: Arguments) -> Value | None:
    if name == "append" and len(arguments) == 1:
        receiver.values.append(arguments[0])
        return NONE
    if name == "extend" and len(arguments) == 1:
        values = items_of(context, arguments[0])
        if values is None:
            return None
        receiver.values.extend(values)
        return NONE
    if name == "pop" and not arguments and receiver.values:
        return receiver.values.pop()
    if name == "clear":
        receiver.values.clear()
        return NONE
    return None


def _table_method(receiver: Table, name: str, arguments: Arguments) -> Value | None:
    keys: list[Value] = [Text(key) if isinstance(key, str) else literal(key) for key in receiver.entries]
    if name == "keys":
        return Items(keys)
    if name == "values":
        return Items(list(receiver.entries.values()))
    if name == "items":
        return Items([Items([key, value]) for key, value in zip(keys, receiver.entries.values(), strict=True)])
    if name == "get" and arguments:
        key = key_of(arguments[0])
        fallback = arguments[1] if len(arguments) > 1 else NONE
        return receiver.entries.get(key, fallback) if key is not None else None
    return None
