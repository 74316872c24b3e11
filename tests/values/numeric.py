"""Evaluates contracts at concrete sizes, so that what `values` claims can be compared with what a kernel computes.

Symbols are integers or arrays of them, one array dimension a bound index (an open grid, so that a reduction that does
not depend on a coordinate is computed once). What no piece writes stays NaN; so does what is read out of bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from portcheck.ir import Operator, Polynomial
from portcheck.ir.polynomial import Atom
from portcheck.values import Contract, Piece
from portcheck.values.terms import (
    AtLeast,
    Bound,
    Choice,
    Condition,
    Element,
    Fold,
    Function,
    Holds,
    Index,
    IsZero,
    Literal,
    NotAll,
    Rounded,
    Scalar,
    Term,
)

Values = Mapping[str, "int | np.ndarray"]


class NotEvaluableError(Exception):
    """A contract says something that has no value: an unbound symbol, or a node that is not part of the language."""


def _erf(values: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf, otypes=[float])(values)


FLOATS: dict[Operator, Callable[..., np.ndarray]] = {
    Operator.ADD: np.add,
    Operator.SUBTRACT: np.subtract,
    Operator.MULTIPLY: np.multiply,
    Operator.DIVIDE: np.divide,
    Operator.NEGATE: np.negative,
    Operator.MINIMUM: np.minimum,
    Operator.MAXIMUM: np.maximum,
    Operator.ABSOLUTE: np.abs,
    Operator.POWER: np.power,
    Operator.EXP: np.exp,
    Operator.EXP2: np.exp2,
    Operator.LOG: np.log,
    Operator.LOG2: np.log2,
    Operator.SQRT: np.sqrt,
    Operator.RSQRT: lambda x: 1.0 / np.sqrt(x),
    Operator.RECIPROCAL: lambda x: 1.0 / x,
    Operator.SQUARE: np.square,
    Operator.TANH: np.tanh,
    Operator.SIGMOID: lambda x: 1.0 / (1.0 + np.exp(-x)),
    Operator.SILU: lambda x: x / (1.0 + np.exp(-x)),
    Operator.RELU: lambda x: np.maximum(x, 0.0),
    Operator.ERF: _erf,
    Operator.FLOOR: np.floor,
    Operator.CEIL: np.ceil,
    Operator.TRUNC: np.trunc,
    Operator.ROUND_EVEN: np.round,
    Operator.EQUAL: np.equal,
    Operator.NOT_EQUAL: np.not_equal,
    Operator.LESS: np.less,
    Operator.LESS_EQUAL: np.less_equal,
    Operator.GREATER: np.greater,
    Operator.GREATER_EQUAL: np.greater_equal,
    Operator.LOGICAL_AND: np.logical_and,
    Operator.LOGICAL_OR: np.logical_or,
    Operator.LOGICAL_NOT: np.logical_not,
    Operator.IS_NAN: np.isnan,
}
_REDUCTIONS = {
    Operator.ADD: (np.sum, 0.0),
    Operator.MULTIPLY: (np.prod, 1.0),
    Operator.MAXIMUM: (np.max, -np.inf),
    Operator.MINIMUM: (np.min, np.inf),
}


def _truncated_divide(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.sign(left) * np.sign(right) * (np.abs(left) // np.abs(right))


INTEGERS: dict[Operator, Callable[..., np.ndarray]] = {
    Operator.FLOOR_DIVIDE: np.floor_divide,
    Operator.FLOOR_MODULO: np.mod,
    Operator.CEILING_DIVIDE: lambda left, right: -np.floor_divide(-left, right),
    Operator.TRUNCATED_DIVIDE: _truncated_divide,
    Operator.TRUNCATED_MODULO: lambda left, right: left - right * _truncated_divide(left, right),
    Operator.MINIMUM: lambda *values: np.minimum.reduce(np.broadcast_arrays(*values)),
    Operator.MAXIMUM: lambda *values: np.maximum.reduce(np.broadcast_arrays(*values)),
    Operator.BITWISE_AND: np.bitwise_and,
    Operator.BITWISE_OR: np.bitwise_or,
    Operator.BITWISE_XOR: np.bitwise_xor,
    Operator.SHIFT_LEFT: np.left_shift,
    Operator.SHIFT_RIGHT_ARITHMETIC: np.right_shift,
    Operator.SHIFT_RIGHT_LOGICAL: np.right_shift,
    Operator.ABSOLUTE: np.abs,
    Operator.NEGATE: np.negative,
}


def integer(value: Polynomial, symbols: Values) -> np.ndarray:
    """The value of an integer expression."""
    total = np.asarray(0, dtype=np.int64)
    for monomial, factor in value.terms:
        product = np.asarray(factor, dtype=np.int64)
        for atom in monomial:
            product = product * _atom(atom, symbols)
        total = total + product
    return total


def _atom(atom: Atom, symbols: Values) -> np.ndarray:
    if atom.operator is None:
        if atom.text not in symbols:
            raise NotEvaluableError(f"the symbol {atom.text} has no value")
        return np.asarray(symbols[atom.text], dtype=np.int64)
    if atom.operator not in INTEGERS:
        raise NotEvaluableError(f"the integer operator {atom.operator} in {atom.text}")
    return INTEGERS[atom.operator](*(integer(argument, symbols) for argument in atom.arguments))


@dataclass(frozen=True)
class Numbers:
    """Concrete inputs: sizes and indices, float parameters, and buffers (flattened)."""

    symbols: Values
    scalars: Mapping[str, float] = field(default_factory=dict)
    buffers: Mapping[str, np.ndarray] = field(default_factory=dict)

    def bind(self, bounds: tuple[Bound, ...]) -> tuple[Numbers, np.ndarray]:
        """These numbers with the bounds' indices as new trailing dimensions, and where they are inside their limits."""
        symbols = {name: _deeper(value, len(bounds)) for name, value in self.symbols.items()}
        pending, valid = list(bounds), np.asarray(True)
        places = {bound.variable: place for place, bound in enumerate(bounds)}
        names = set(places)
        while pending:
            ready = [b for b in pending if not (_names_of(b) & {other.variable for other in pending})]
            if not ready:
                raise NotEvaluableError(f"the limits of {sorted(names)} depend on each other")
            for bound in ready:
                pending.remove(bound)
                start, stop, step = (integer(limit, symbols) for limit in (bound.start, bound.stop, bound.step))
                most = int(np.max(np.maximum(-(-(stop - start) // step), 0), initial=0))
                shape = [1] * len(bounds)
                shape[places[bound.variable]] = most
                value = start + step * np.arange(most, dtype=np.int64).reshape(shape)
                symbols[bound.variable] = value
                valid = valid & (value < stop)
        return Numbers(symbols, self.scalars, self.buffers), valid


def _deeper(value: int | np.ndarray, count: int) -> int | np.ndarray:
    return value.reshape(value.shape + (1,) * count) if isinstance(value, np.ndarray) and value.ndim else value


def _names_of(bound: Bound) -> frozenset[str]:
    return bound.start.symbols | bound.stop.symbols | bound.step.symbols


def value_of(term: Term, numbers: Numbers) -> np.ndarray:
    """The value of a term over the reals (in float64)."""
    match term:
        case Literal(value):
            return np.asarray(float(value))
        case Index(value):
            return integer(value, numbers.symbols).astype(float)
        case Scalar(name):
            return np.asarray(float(numbers.scalars[name]))
        case Element(buffer, address):
            return _element(numbers.buffers[buffer], integer(address, numbers.symbols))
        case Rounded(_, operand):
            return value_of(operand, numbers)
        case Function(operator, arguments):
            values = [value_of(argument, numbers) for argument in arguments]
            if operator in FLOATS:
                return np.asarray(FLOATS[operator](*values), dtype=float)
            if operator in INTEGERS:
                return INTEGERS[operator](*(np.nan_to_num(value).astype(np.int64) for value in values)).astype(float)
            raise NotEvaluableError(f"the operator {operator}")
        case Fold():
            return _fold(term, numbers)
        case Choice(conditions, on_true, on_false):
            return np.where(all_hold(conditions, numbers), value_of(on_true, numbers), value_of(on_false, numbers))
        case _:
            raise NotEvaluableError(f"{type(term).__name__} has no value")


def _element(buffer: np.ndarray, address: np.ndarray) -> np.ndarray:
    inside = (address >= 0) & (address < buffer.size)
    return np.where(inside, buffer.reshape(-1)[np.clip(address, 0, buffer.size - 1)], np.nan)


def _fold(term: Fold, numbers: Numbers) -> np.ndarray:
    reduce, identity = _REDUCTIONS[term.operator]
    inner, valid = numbers.bind(term.bounds)
    valid = valid & all_hold(term.conditions, inner)
    body = value_of(term.body, inner)
    axes = len(term.bounds)
    shape = np.broadcast_shapes(
        np.shape(body), np.shape(valid), *(np.shape(inner.symbols[b.variable]) for b in term.bounds)
    )
    if not axes:
        return np.where(valid, body, identity)
    body = np.broadcast_to(np.where(valid, body, identity), shape)
    last = tuple(range(body.ndim - axes, body.ndim))
    return np.asarray(reduce(body, axis=last, initial=identity))


def holds(condition: Condition, numbers: Numbers) -> np.ndarray:
    """Where a condition holds."""
    match condition:
        case AtLeast(value):
            return integer(value, numbers.symbols) >= 0
        case IsZero(value, negated):
            return (integer(value, numbers.symbols) == 0) != negated
        case Holds(term, negated):
            return (value_of(term, numbers) != 0) != negated
        case NotAll(conditions):
            return ~all_hold(conditions, numbers)


def all_hold(conditions: tuple[Condition, ...], numbers: Numbers) -> np.ndarray:
    """Where all conditions hold."""
    result = np.asarray(True)
    for condition in conditions:
        result = result & holds(condition, numbers)
    return result


def output_of(contract: Contract, size: int, numbers: Numbers) -> np.ndarray:
    """What the contract says that the output holds; NaN where no piece writes."""
    if contract.problem:
        raise NotEvaluableError(contract.problem)
    out = np.full(size, np.nan)
    for piece in contract.pieces:
        _write(out, piece, numbers)
    return out


def _write(out: np.ndarray, piece: Piece, numbers: Numbers) -> None:
    with np.errstate(all="ignore"):
        inner, valid = numbers.bind(piece.bounds)
        address = integer(piece.address, inner.symbols)
        valid = valid & all_hold(piece.conditions, inner)
        value = value_of(piece.value, inner)
    shapes = [np.shape(inner.symbols[bound.variable]) for bound in piece.bounds]
    address, valid, value = np.broadcast_arrays(address, valid, value, *(np.empty(shape) for shape in shapes))[:3]
    address, value = address[valid], value[valid]
    if address.size and (address.min() < 0 or address.max() >= out.size):
        raise NotEvaluableError(f"the piece writes out of bounds, at {address.min()} .. {address.max()} of {out.size}")
    out[address] = value
    if not np.array_equal(out[address], value, equal_nan=True):
        raise NotEvaluableError("the piece gives an element several values")
