"""Expressions as functions of a program instance: Python's arithmetic on sizes, NumPy's on elements."""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import numpy as np

from portcheck.core.dtype import BOOL, FLOAT64, INT64, DType
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.conversions import conversion, literal
from portcheck.execution.arithmetic.formats import Value, storage
from portcheck.execution.arithmetic.operators import function, working_dtype
from portcheck.execution.tiles.machine import Code, Instance, Machine, Number, Scalar
from portcheck.ir import Apply, Const, Expr, Operator, Ref, Symbol, symbols_in
from portcheck.ir.expr import refs_in

_MOST_BITS = 1 << 12
"""Of a whole number that is computed with."""


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent * base.bit_length() > _MOST_BITS:
        raise OverflowError("a number too large")
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("a root of a negative number")
    return cast(Number, result)


def _shift_left(value: int, count: int) -> int:
    if count > _MOST_BITS:
        raise OverflowError("a number too large")
    return value << count


def _truncated_divide(left: Number, right: Number) -> Number:
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


_NUMBERS: Mapping[Operator, Callable[..., Any]] = {
    Operator.ADD: python.add, Operator.SUBTRACT: python.sub, Operator.MULTIPLY: python.mul,
    Operator.DIVIDE: python.truediv, Operator.FLOOR_DIVIDE: python.floordiv, Operator.FLOOR_MODULO: python.mod,
    Operator.CEILING_DIVIDE: lambda left, right: -(-left // right), Operator.NEGATE: python.neg,
    Operator.MINIMUM: min, Operator.MAXIMUM: max, Operator.ABSOLUTE: abs, Operator.POWER: _power,
    Operator.TRUNCATED_DIVIDE: _truncated_divide,
    Operator.TRUNCATED_MODULO: lambda left, right: left - right * _truncated_divide(left, right),
    Operator.FLOOR: math.floor, Operator.CEIL: math.ceil,
    Operator.TRUNC: math.trunc, Operator.SQRT: math.sqrt, Operator.EXP: math.exp, Operator.LOG: math.log,
    Operator.LOG2: math.log2, Operator.ROUND_EVEN: round,
    Operator.EQUAL: python.eq, Operator.NOT_EQUAL: python.ne, Operator.LESS: python.lt, Operator.LESS_EQUAL: python.le,
    Operator.GREATER: python.gt, Operator.GREATER_EQUAL: python.ge,
    Operator.LOGICAL_AND: lambda left, right: bool(left and right),
    Operator.LOGICAL_OR: lambda left, right: bool(left or right),
    Operator.LOGICAL_XOR: lambda left, right: bool(left) != bool(right), Operator.LOGICAL_NOT: python.not_,
    Operator.BITWISE_AND: python.and_, Operator.BITWISE_OR: python.or_, Operator.BITWISE_XOR: python.xor,
    Operator.BITWISE_NOT: python.invert, Operator.SHIFT_LEFT: _shift_left,
    Operator.SHIFT_RIGHT_ARITHMETIC: python.rshift, Operator.SHIFT_RIGHT_LOGICAL: python.rshift,
    Operator.SELECT: lambda condition, on_true, on_false: on_true if condition else on_false,
}  # fmt: skip
"""What Python computes while the kernel is traced."""


def code_of(machine: Machine, expression: Expr) -> Code:
    """What computes `expression`; worked out once."""
    known = machine.codes.get(id(expression))
    if known is not None:
        return known[1]
    code = _code(machine, expression)
    machine.codes[id(expression)] = (expression, code)
    return code


def value_of(instance: Instance, expression: Expr) -> Scalar:
    """`expression` as a Python number or as elements of its dtype."""
    return code_of(instance.machine, expression)(instance)


def number_of(instance: Instance, expression: Expr) -> Number:
    """`expression` as one number."""
    found = value_of(instance, expression)
    if isinstance(found, np.ndarray | np.generic):
        if found.size != 1:
            raise InputError(f"{instance.machine.kernel.name} takes one number from a tile of {found.size}")
        return cast(Number, found.reshape(())[()].item())
    return found


def integer_of(instance: Instance, expression: Expr) -> int:
    """`expression` as a whole number; InputError for NaN and infinities."""
    found = number_of(instance, expression)
    try:
        return int(found)
    except (ValueError, OverflowError):
        raise InputError(f"{instance.machine.kernel.name} takes {found} for a whole number") from None


def shape_of(instance: Instance, shape: tuple[Expr, ...]) -> tuple[int, ...]:
    """A shape in numbers; InputError where an extent is negative."""
    found = tuple(integer_of(instance, extent) for extent in shape)
    if any(extent < 0 for extent in found):
        raise InputError(f"a tile of {instance.machine.kernel.name} has the shape {found}", "give larger arrays")
    return found


def elements_of(instance: Instance, expression: Expr, dtype: DType | None = None) -> Value:
    """`expression` as elements of `dtype` (None: its own)."""
    own = instance.machine.dtype(expression.dtype)
    wanted = own if dtype is None else dtype
    found = value_of(instance, expression)
    if not isinstance(found, np.ndarray | np.generic):
        return literal(found, wanted)
    if found.dtype != storage(own):
        found = found.astype(storage(own))
    return found if own == wanted else conversion(own, wanted)(found)


def undefined_in(instance: Instance, expression: Expr) -> Value | None:
    """Which elements of `expression` hold nothing defined; None where all do."""
    if isinstance(expression, Ref):
        return instance.results[expression.id].undefined
    found = None
    for id in refs_in(expression) if isinstance(expression, Apply) else ():
        found = joined(found, instance.results[id].undefined)
    return found


def joined(left: Value | None, right: Value | None) -> Value | None:
    """Elements that are undefined because one of two is."""
    if left is None or right is None:
        return right if left is None else left
    return cast(Value, left | right)


@contextmanager
def binding(instance: Instance, symbols: Mapping[str, Scalar]) -> Iterator[None]:
    """Gives symbols values for a while."""
    own = instance.symbols
    before = {name: own[name] for name in symbols if name in own}
    own.update(symbols)
    try:
        yield
    finally:
        for name in symbols:
            del own[name]
        own.update(before)


def positions(
    instance: Instance, shape: tuple[int, ...], *expressions: Expr | None
) -> AbstractContextManager[None]:  # fmt: skip
    """Gives `dim0`, `dim1`, ... the positions along the dimensions of a shape, where an expression uses them."""
    operands = [item for item in expressions if item is not None and not isinstance(item, Ref | Const)]
    if not operands:
        return nullcontext()
    used = frozenset().union(*map(symbols_in, operands))
    return binding(instance, {
        f"dim{place}": along(place, extent, len(shape))
        for place, extent in enumerate(shape)
        if f"dim{place}" in used
    })  # fmt: skip


def along(place: int, extent: int, rank: int) -> Value:
    """The positions along dimension `place` of `rank`, the other dimensions of extent 1."""
    shape = [1] * rank
    shape[place] = extent
    return np.arange(extent, dtype=np.int64).reshape(shape)


def _code(machine: Machine, expression: Expr) -> Code:
    match expression:
        case Const(value, _):
            return lambda instance: value
        case Symbol(name, _):
            return _symbol(machine, name)
        case Ref(id, _):
            return lambda instance: instance.results[id].data
        case Apply():
            return _applied(machine, expression)


def _symbol(machine: Machine, name: str) -> Code:
    defined = machine.definitions.get(name)
    value = None if defined is None else code_of(machine, defined)

    def code(instance: Instance) -> Scalar:
        found = instance.symbols.get(name)
        if found is None:
            if value is None:
                raise unbound(machine, name)
            found = instance.symbols[name] = value(instance)
        return found

    return code


def unknown_in(instance: Instance, expression: Expr) -> set[str]:
    """The symbols of `expression`, and of what its symbols stand for, that have no value."""
    unknown: set[str] = set()
    pending = [expression]
    while pending:
        for name in symbols_in(pending.pop()) - instance.symbols.keys():
            defined = instance.machine.definitions.get(name)
            if defined is None:
                unknown.add(name)
            else:
                pending.append(defined)
    return unknown


def unbound(machine: Machine, name: str) -> InputError:
    """That nothing gives `name` a value."""
    return InputError(
        f"{machine.kernel.name} needs a value for {name}", machine.hint(name) or f"give {name} among the arguments"
    )


def _applied(machine: Machine, expression: Apply) -> Code:
    parts = [code_of(machine, argument) for argument in expression.arguments]
    of_numbers = _NUMBERS.get(expression.operator)

    def code(instance: Instance) -> Scalar:
        values = [part(instance) for part in parts]
        is_plain = not any(isinstance(value, np.ndarray | np.generic) for value in values)
        if is_plain and of_numbers is not None:
            return _calculated(machine, expression, of_numbers, cast("list[Number]", values))
        return _of_elements(machine, expression, values)

    return code


def _calculated(
    machine: Machine, expression: Apply, function: Callable[..., Any], values: list[Number]
) -> Number:  # fmt: skip
    try:
        return cast(Number, function(*values))
    except ZeroDivisionError:
        raise InputError(f"{machine.kernel.name} divides by 0", "give other sizes") from None
    except (ValueError, OverflowError, TypeError) as error:
        raise InputError(f"{machine.kernel.name} computes {expression.operator}: {error}") from None


def _of_elements(machine: Machine, expression: Apply, values: list[Scalar]) -> Value:
    dtypes = tuple(
        _dtype_of(value, machine.dtype(argument.dtype))
        for value, argument in zip(values, expression.arguments, strict=True)
    )
    result = machine.dtype(expression.dtype)
    formats = working_dtype(expression.operator, result, dtypes)
    called = function(expression.operator, result, dtypes)
    return called(*(
        _formed(value, own, wanted) for value, own, wanted in zip(values, dtypes, formats, strict=True)
    ))  # fmt: skip


def _dtype_of(value: Scalar, stated: DType) -> DType:
    if isinstance(value, np.ndarray | np.generic):
        return stated
    return BOOL if isinstance(value, bool) else INT64 if isinstance(value, int) else FLOAT64


def _formed(value: Scalar, own: DType, wanted: DType) -> Value:
    if not isinstance(value, np.ndarray | np.generic):
        return literal(value, wanted)
    typed = value if value.dtype == storage(own) else value.astype(storage(own))
    return typed if own == wanted else conversion(own, wanted)(typed)
