"""The normal form of a term over the reals: sums of products of powers of opaque atoms.

Associativity and commutativity are built in; casts between floating formats are dropped, because they change no real
value; a factor that does not depend on the index leaves a sum; sqrt, rsqrt, reciprocal, square and division are
powers; exp of a sum is the product of the exps of its terms; sigmoid and silu are written with exp; a choice between
two numbers is a multiple of the truth that decides it.
Two terms with the same form are the same real function wherever all their powers are defined.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from portcheck.ir import Operator, Polynomial
from portcheck.ir.algebra import replace_symbols
from portcheck.ir.operators import PREDICATES
from portcheck.ir.polynomial import symbol
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
    Leader,
    Literal,
    NotAll,
    Rounded,
    Scalar,
    Term,
    Unknown,
    own_children,
)
from portcheck.values.walking import from_below

_BOUND = "$k"
_DIGITS = "0123456789"
Monomial = tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A sum: coefficient of each product of powers of atoms.

    Atoms are texts, and each delimits itself, so that a form has one text and two forms never share one.
    """

    terms: tuple[tuple[Monomial, Fraction], ...]

    def __str__(self) -> str:
        return " + ".join(_product_text(monomial, factor) for monomial, factor in self.terms) or "0"


def _product_text(monomial: Monomial, factor: Fraction) -> str:
    parts = [f"{atom}^{power}" if power != 1 else atom for atom, power in monomial]
    return " * ".join(([_factor_text(factor)] if factor != 1 or not parts else []) + parts)


def _factor_text(factor: Fraction) -> str:
    """A coefficient, equal texts for equal numbers: as a decimal where that is exactly what the number is.

    With the suffix f it is the float32 nearest to the decimal.
    """
    approximate = float(factor)
    if factor.denominator == 1 or Fraction(approximate) != factor:
        return str(factor)
    exact = repr(approximate)
    short = next(text for text in (f"{approximate:.{digits}g}" for digits in range(1, 18)) if _names(text, factor))
    return exact if len(exact) <= len(short) else f"{short}f"


def _names(text: str, value: Fraction) -> bool:
    """Whether the float32 or, failing that, the double nearest to a decimal is `value`."""
    return value in (single_precision(Fraction(text)), Fraction(float(text)))


ZERO = Form(())


def _form(terms: Mapping[Monomial, Fraction]) -> Form:
    return Form(tuple(sorted((monomial, factor) for monomial, factor in terms.items() if factor)))


def constant(value: Fraction | int) -> Form:
    """The form of a number."""
    return _form({(): Fraction(value)})


def atom(text: str) -> Form:
    """The form of an opaque atom."""
    return _form({((text, Fraction(1)),): Fraction(1)})


def add(*forms: Form) -> Form:
    """The sum of forms."""
    total: dict[Monomial, Fraction] = {}
    for form in forms:
        for monomial, factor in form.terms:
            total[monomial] = total.get(monomial, Fraction(0)) + factor
    return _form(total)


def scaled(form: Form, factor: Fraction) -> Form:
    """A form times a number."""
    return _form({monomial: value * factor for monomial, value in form.terms})


def multiply(left: Form, right: Form) -> Form:
    """The product: sums of several terms are kept as atoms, so that nothing is expanded."""
    if not left.terms or not right.terms:
        return ZERO
    first, second = _single(left), _single(right)
    powers: dict[str, Fraction] = {}
    for monomial, _ in (first, second):
        for name, power in monomial:
            powers[name] = powers.get(name, Fraction(0)) + power
    monomial = tuple(sorted((name, power) for name, power in powers.items() if power))
    return _form({monomial: first[1] * second[1]})


def _single(form: Form) -> tuple[Monomial, Fraction]:
    """A form as one product; a sum becomes an atom with its leading coefficient taken out."""
    if len(form.terms) == 1:
        return form.terms[0]
    leading = form.terms[0][1]
    unit = scaled(form, 1 / leading)
    return ((f"({unit})", Fraction(1)),), leading


def power(form: Form, exponent: Fraction) -> Form:
    """A form raised to a power."""
    if not form.terms:
        return ZERO if exponent > 0 else atom("1/0")
    if exponent.denominator != 1:
        return _root(form, exponent)
    monomial, factor = _single(form)
    raised = tuple((name, value * exponent) for name, value in monomial)
    return _form({raised: factor ** int(exponent)})


def exponential(form: Form) -> Form:
    """exp of a sum: the product of the exps of its terms, each to the power of its coefficient.

    So what is subtracted from every argument of a softmax cancels.
    """
    powers = {f"exp({_product_text(monomial, Fraction(1))})": factor for monomial, factor in form.terms}
    return _form({tuple(sorted(powers.items())): Fraction(1)})


def _root(form: Form, exponent: Fraction) -> Form:
    """A power of a root. The root is an atom: its square is not the operand where that is negative."""
    root = f"root{exponent.denominator}({form})"
    return _form({((root, Fraction(exponent.numerator)),): Fraction(1)})


def normal_form(term: Term, names: Mapping[str, Polynomial]) -> Form:
    """The normal form of `term`; `names` gives canonical names to free index symbols."""
    return _Normaliser(dict(names)).form(term)


def condition_form(condition: Condition, names: Mapping[str, Polynomial]) -> str:
    """The normal form of a condition, as text."""
    return _Normaliser(dict(names)).condition(condition)


class _Normaliser:
    """Inside a fold the indices that it binds are called by its depth, `$o0$`, outside of it as `_closed` says."""

    def __init__(self, names: dict[str, Polynomial], depth: int = 0) -> None:
        self.names, self.depth = names, depth

    def form(self, term: Term) -> Form:
        return from_below(term, _inside, self._made)

    def _made(self, term: Term, of: Callable[[Term], Form]) -> Form:
        match term:
            case Literal(value):
                return _number(value)
            case Index(value):
                return self._index(value)
            case Scalar(name):
                return atom(name)
            case Element(buffer, address):
                return atom(f"{buffer}[{self._renamed(address)}]")
            case Rounded(_, operand) | Leader(operand):
                return of(operand)
            case Function():
                return _function(term.operator, [of(argument) for argument in term.arguments])
            case Fold():
                return self._fold(term)
            case Choice(conditions, on_true, on_false):
                return self._choice(conditions, of(on_true), of(on_false))
            case Unknown(reason):
                return atom(f"unknown({reason})")
            case _:
                return atom(f"unknown({term})")

    def _renamed(self, value: Polynomial) -> Polynomial:
        return replace_symbols(value, self.names)

    def _index(self, value: Polynomial) -> Form:
        total: dict[Monomial, Fraction] = {}
        for monomial, factor in self._renamed(value).terms:
            powers: dict[str, Fraction] = {}
            for part in monomial:
                powers[part.text] = powers.get(part.text, Fraction(0)) + 1
            total[tuple(sorted(powers.items()))] = Fraction(factor)
        return _form(total)

    def _fold(self, term: Fold) -> Form:
        bounds = sorted(term.bounds, key=lambda bound: (str(self._renamed(bound.stop)), bound.variable))
        names = {bound.variable: symbol(f"$o{self.depth + place}$") for place, bound in enumerate(bounds)}
        inner = _Normaliser({**self.names, **names}, self.depth + len(bounds))
        limits = ", ".join(inner._limits(bound) for bound in bounds)
        conditions = "".join(sorted(f"; {inner.condition(condition)}" for condition in term.conditions))
        body = inner.form(term.body)
        open_names = [str(name) for name in names.values()]
        if term.operator is not Operator.ADD:
            return atom(_closed(f"({term.operator.value}{{{limits}{conditions}}} {body})", open_names))
        parts = [_taken_out(monomial, factor, open_names, f"{limits}{conditions}") for monomial, factor in body.terms]
        return add(*parts)

    def _limits(self, bound: Bound) -> str:
        start, stop, step = (self._renamed(limit) for limit in (bound.start, bound.stop, bound.step))
        return f"{start} <= {self.names[bound.variable]} < {stop} by {step}"

    def condition(self, condition: Condition) -> str:
        match condition:
            case AtLeast(value):
                return f"{self._renamed(value)} >= 0"
            case IsZero(value, negated):
                return f"{self._renamed(value)} {'!=' if negated else '=='} 0"
            case Holds(term, negated):
                return f"{'not ' if negated else ''}({self.form(term)})"
            case NotAll(conditions):
                return "not (" + " and ".join(sorted(map(self.condition, conditions))) + ")"

    def _choice(self, conditions: tuple[Condition, ...], on_true: Form, on_false: Form) -> Form:
        if on_true == on_false:
            return on_true
        match conditions:
            case (Holds(Function(operator) as truth, negated),) if operator in PREDICATES:
                if _is_number(on_true) and _is_number(on_false):
                    first, second = (on_false, on_true) if negated else (on_true, on_false)
                    return add(second, multiply(add(first, scaled(second, Fraction(-1))), self.form(truth)))
        text = " and ".join(sorted(self.condition(condition) for condition in conditions))
        return atom(f"(if {text} then {on_true} else {on_false})")


def _inside(term: Term) -> Sequence[Term]:
    return (term.on_true, term.on_false) if isinstance(term, Choice) else own_children(term)


def _function(operator: Operator, arguments: list[Form]) -> Form:
    match operator, arguments:
        case Operator.ADD, _:
            return add(*arguments)
        case Operator.SUBTRACT, [left, right]:
            return add(left, scaled(right, Fraction(-1)))
        case Operator.NEGATE, [operand]:
            return scaled(operand, Fraction(-1))
        case Operator.MULTIPLY, [left, right]:
            return multiply(left, right)
        case Operator.DIVIDE, [left, right]:
            return multiply(left, power(right, Fraction(-1)))
        case _:
            return _unary(operator, arguments)


def _is_number(form: Form) -> bool:
    return all(not monomial for monomial, _ in form.terms)


def _taken_out(monomial: Monomial, factor: Fraction, names: list[str], limits: str) -> Form:
    """A sum of one product: factors that do not mention the bound indices stand before it."""
    inside = tuple(part for part in monomial if any(name in part[0] for name in names))
    outside = tuple(part for part in monomial if part not in inside)
    body = Form(((inside, Fraction(1)),))
    return multiply(_form({outside: factor}), atom(_closed(f"(sum{{{limits}}} {body})", names)))


def _closed(text: str, names: Sequence[str]) -> str:
    """The text of a fold, its indices called `$k0` and so on, after those that folds in it bind.

    So a fold has one text wherever it stands, whatever was left of the terms that it stood among.
    """
    taken = [part[: len(part) - len(part.lstrip(_DIGITS))] for part in text.split(_BOUND)[1:]]
    first = 1 + max(map(int, taken), default=-1)
    for place, name in enumerate(names, first):
        text = text.replace(name, f"{_BOUND}{place}")
    return text


def _number(value: Fraction | float) -> Form:
    if isinstance(value, Fraction | int):
        return constant(single_precision(Fraction(value)))
    return atom(str(value))


def single_precision(value: Fraction) -> Fraction:
    """The nearest float32: a constant is what the arithmetic of both sides makes of it; itself outside their range."""
    try:
        rounded = Fraction(struct.unpack("f", struct.pack("f", float(value)))[0])
    except OverflowError:
        return value
    return rounded or value


def _unary(operator: Operator, arguments: list[Form]) -> Form:
    operand = arguments[0]
    match operator:
        case Operator.SQUARE:
            return power(operand, Fraction(2))
        case Operator.SQRT:
            return power(operand, Fraction(1, 2))
        case Operator.RSQRT:
            return power(operand, Fraction(-1, 2))
        case Operator.RECIPROCAL:
            return power(operand, Fraction(-1))
        case Operator.EXP:
            return exponential(operand)
        case Operator.SIGMOID:
            return _sigmoid(operand)
        case Operator.SILU:
            return multiply(operand, _sigmoid(operand))
        case Operator.RELU:
            return _extremum(Operator.MAXIMUM, [operand, ZERO])
        case Operator.MAXIMUM | Operator.MINIMUM:
            return _extremum(operator, arguments)
        case _:
            return atom(f"{operator.value}({', '.join(map(str, arguments))})")


def _sigmoid(operand: Form) -> Form:
    return power(add(constant(1), exponential(scaled(operand, Fraction(-1)))), Fraction(-1))


def _extremum(operator: Operator, arguments: list[Form]) -> Form:
    texts = sorted({str(argument) for argument in arguments})
    return atom(f"{operator.value}({', '.join(texts)})") if len(texts) > 1 else arguments[0]
