"""Complex numbers of cuComplex: pairs of floats, computed by the formulas of its inline functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from portcheck.core.dtype import DType, dtype_named
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator, select
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.memory.places import read
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert, convert_constant
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import vector_type
from portcheck.frontends.cuda.model.values import Aggregate, Scalar, Value
from portcheck.ir import Const, Operator
from portcheck.knowledge import Construct, Semantics


@dataclass(frozen=True, slots=True)
class Pair:
    """A complex number."""

    real: Scalar
    imaginary: Scalar


@dataclass(frozen=True, slots=True)
class Calculator:
    """Arithmetic in one format."""

    state: State
    dtype: DType

    def __call__(self, text: str, left: Scalar, right: Scalar) -> Scalar:
        """`left text right`."""
        return calculate(self.state, text, left, right)

    def of(self, operator: Operator, *operands: Scalar) -> Scalar:
        """`operator` of numbers in this format."""
        return apply_operator(self.state, operator, operands, self.dtype, "")

    def number(self, value: float) -> Scalar:
        """A constant."""
        return Scalar(convert_constant(Const(value, dtype_named("float64")), self.dtype), self.dtype)


def is_complex(construct: Construct) -> bool:
    """Whether a construct computes with complex numbers."""
    return construct.semantics in _FUNCTIONS


def complex_function(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A function of complex numbers; None where its arguments are none."""
    count = len(construct.parameters)
    if len(call.arguments) < count:
        return None
    dtype = dtype_named(construct.dtype)
    pairs: list[Pair] = []
    for node in call.arguments[:count]:
        value = read(state, state.evaluate(node), node)
        parts = [part for _, part in value.members if isinstance(part, Scalar)] if isinstance(value, Aggregate) else []
        if len(parts) != 2:
            return None
        pairs.append(Pair(convert(state, parts[0], dtype), convert(state, parts[1], dtype)))
    found = _FUNCTIONS[construct.semantics](Calculator(state, dtype), pairs)
    if isinstance(found, Scalar):
        return found
    type_ = vector_type(state, dtype, 2)
    return None if type_ is None else Aggregate(type_, (("x", found.real), ("y", found.imaginary)))


def _real(calculator: Calculator, given: list[Pair]) -> Scalar:
    del calculator
    return given[0].real


def _imaginary(calculator: Calculator, given: list[Pair]) -> Scalar:
    del calculator
    return given[0].imaginary


def _conjugate(calculator: Calculator, given: list[Pair]) -> Pair:
    return Pair(given[0].real, calculator.of(Operator.NEGATE, given[0].imaginary))


def _sum(calculator: Calculator, given: list[Pair]) -> Pair:
    x, y = given
    return Pair(calculator("+", x.real, y.real), calculator("+", x.imaginary, y.imaginary))


def _difference(calculator: Calculator, given: list[Pair]) -> Pair:
    x, y = given
    return Pair(calculator("-", x.real, y.real), calculator("-", x.imaginary, y.imaginary))


def _product(calculator: Calculator, given: list[Pair]) -> Pair:
    x, y = given
    return Pair(
        calculator("-", calculator("*", x.real, y.real), calculator("*", x.imaginary, y.imaginary)),
        calculator("+", calculator("*", x.real, y.imaginary), calculator("*", x.imaginary, y.real)),
    )


def _product_and_sum(calculator: Calculator, given: list[Pair]) -> Pair:
    """x * y + d, the products of the real part of x being added first."""
    x, y, d = given
    real = calculator("+", calculator("*", x.real, y.real), d.real)
    imaginary = calculator("+", calculator("*", x.real, y.imaginary), d.imaginary)
    negative = calculator.of(Operator.NEGATE, calculator("*", x.imaginary, y.imaginary))
    return Pair(calculator("+", negative, real), calculator("+", calculator("*", x.imaginary, y.real), imaginary))


def _quotient(calculator: Calculator, given: list[Pair]) -> Pair:
    """x / y, both scaled by the size of y so that nothing overflows."""
    x, y = given
    size = calculator("+", calculator.of(Operator.ABSOLUTE, y.real), calculator.of(Operator.ABSOLUTE, y.imaginary))
    scale = calculator("/", calculator.number(1.0), size)
    a, b, c, d = (calculator("*", part, scale) for part in (x.real, x.imaginary, y.real, y.imaginary))
    square = calculator("+", calculator("*", c, c), calculator("*", d, d))
    scale = calculator("/", calculator.number(1.0), square)
    real = calculator("+", calculator("*", a, c), calculator("*", b, d))
    imaginary = calculator("-", calculator("*", b, c), calculator("*", a, d))
    return Pair(calculator("*", real, scale), calculator("*", imaginary, scale))


def _size(calculator: Calculator, given: list[Pair]) -> Scalar:
    """|x|, scaled by its larger part; a part that is 0 or infinite is not divided by."""
    a, b = (calculator.of(Operator.ABSOLUTE, part) for part in (given[0].real, given[0].imaginary))
    is_larger = calculator(">", a, b)
    larger, smaller = select(calculator.state, is_larger, a, b), select(calculator.state, is_larger, b, a)
    ratio = calculator("/", smaller, larger)
    square = calculator("+", calculator.number(1.0), calculator("*", ratio, ratio))
    root = calculator("*", larger, calculator.of(Operator.SQRT, square))
    facts = calculator.state.knowledge.dtype(calculator.dtype.name)
    most = calculator.number(facts.max_finite if facts is not None else float("inf"))
    is_plain = calculator("&&", calculator("!=", larger, calculator.number(0.0)), calculator("<=", larger, most))
    is_plain = calculator("&&", is_plain, calculator("<=", smaller, most))
    return select(calculator.state, is_plain, root, calculator("+", larger, smaller))


_FUNCTIONS: dict[Semantics, Callable[[Calculator, list[Pair]], Scalar | Pair]] = {
    Semantics.COMPLEX_REAL: _real, Semantics.COMPLEX_IMAGINARY: _imaginary, Semantics.COMPLEX_CONJUGATE: _conjugate,
    Semantics.COMPLEX_ADD: _sum, Semantics.COMPLEX_SUBTRACT: _difference, Semantics.COMPLEX_MULTIPLY: _product,
    Semantics.COMPLEX_DIVIDE: _quotient, Semantics.COMPLEX_ABSOLUTE: _size, Semantics.COMPLEX_FMA: _product_and_sum,
}  # fmt: skip
