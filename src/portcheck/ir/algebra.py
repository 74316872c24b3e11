"""Arithmetic on canonical integer expressions: division, remainders, minima, substitution.

What is known of the symbols comes as `Ranges`: those listed there satisfy 0 <= symbol < extent, all others are sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd

from portcheck.ir.expr import Apply, Const, Expr, Ref, Symbol
from portcheck.ir.operators import Operator
from portcheck.ir.polynomial import Atom, Monomial, Polynomial, number, opaque, split, symbol, term_quotient
from portcheck.ir.ranges import EVERYTHING, Ranges


def floor_divide(value: Polynomial, divisor: Polynomial, ranges: Ranges = EVERYTHING) -> Polynomial:
    """floor(value / divisor), simplified as far as `ranges` allow."""
    if divisor == number(1):
        return value
    value, divisor = _reduced(value, divisor)
    if divisor == number(1):
        return value
    if _is_rounded_up(value, divisor):
        return ceiling_divide(value - divisor + 1, divisor, ranges)
    quotient, rest = split(value, divisor)
    if ranges.is_nonnegative(rest) and ranges.is_less(rest, divisor):
        return quotient
    return quotient + opaque(Operator.FLOOR_DIVIDE, rest, divisor)


def _reduced(value: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Value and divisor without a common integer factor and, for a divisor of one term, a common atom."""
    common = gcd(*(factor for _, factor in (*value.terms, *divisor.terms)))
    if divisor.constant is None and common > 1:
        value, divisor = split(value, number(common))[0], split(divisor, number(common))[0]
    return value, divisor


def _is_rounded_up(value: Polynomial, divisor: Polynomial) -> bool:
    """Whether `value` is written as n + divisor - 1, the idiom for rounding up."""
    if value.constant is not None or len(divisor.terms) != 1:
        return False
    terms = dict(value.terms)
    step = divisor.constant
    if step is not None:
        return step > 1 and terms.get((), 0) == step - 1
    (monomial, factor), *_ = divisor.terms
    return terms.get((), 0) == -1 and terms.get(monomial, 0) == factor


def ceiling_divide(value: Polynomial, divisor: Polynomial, ranges: Ranges = EVERYTHING) -> Polynomial:
    """ceil(value / divisor), simplified as far as `ranges` allow."""
    if divisor == number(1):
        return value
    value, divisor = _reduced(value, divisor)
    if divisor == number(1):
        return value
    quotient, rest = split(value, divisor)
    if rest == number(0):
        return quotient
    if rest.constant is not None and divisor.constant is not None:
        return quotient + 1
    return quotient + opaque(Operator.CEILING_DIVIDE, rest, divisor)


def floor_modulo(value: Polynomial, divisor: Polynomial, ranges: Ranges = EVERYTHING) -> Polynomial:
    """value mod divisor in [0, divisor), simplified as far as `ranges` allow."""
    _, rest = split(value, divisor)
    if ranges.is_nonnegative(rest) and ranges.is_less(rest, divisor):
        return rest
    return opaque(Operator.FLOOR_MODULO, rest, divisor)


def minimum(values: Iterable[Polynomial], ranges: Ranges = EVERYTHING) -> Polynomial:
    """The least of `values`; those known to be no less than another are dropped."""
    flat: list[Polynomial] = []
    for value in values:
        atoms = [atom for atom in value.atoms if atom.operator is Operator.MINIMUM]
        whole = len(value.terms) == 1 and value.terms[0][1] == 1 and len(value.terms[0][0]) == 1 and atoms
        flat.extend(atoms[0].arguments if whole else (value,))
    kept: list[Polynomial] = []
    for value in dict.fromkeys(flat):
        if any(ranges.is_nonnegative(value - other) for other in kept):
            continue
        kept = [other for other in kept if not ranges.is_nonnegative(other - value)] + [value]
    return kept[0] if len(kept) == 1 else opaque(Operator.MINIMUM, *sorted(kept, key=str))


def maximum(values: Iterable[Polynomial], ranges: Ranges = EVERYTHING) -> Polynomial:
    """The greatest of `values`; those known to be no greater than another are dropped."""
    kept: list[Polynomial] = []
    for value in dict.fromkeys(values):
        if any(ranges.is_nonnegative(other - value) for other in kept):
            continue
        kept = [other for other in kept if not ranges.is_nonnegative(value - other)] + [value]
    return kept[0] if len(kept) == 1 else opaque(Operator.MAXIMUM, *sorted(kept, key=str))


def combine(operator: Operator, arguments: tuple[Polynomial, ...], ranges: Ranges = EVERYTHING) -> Polynomial:
    """`operator` applied to polynomials, simplified. Truncating division of known non-negatives is floor division."""
    match operator, arguments:
        case Operator.ADD, (left, right):
            return left + right
        case Operator.SUBTRACT, (left, right):
            return left - right
        case Operator.MULTIPLY, (left, right):
            return left * right
        case Operator.NEGATE, (value,):
            return -value
        case Operator.BITWISE_NOT, (value,):
            return -value - 1
        case Operator.MINIMUM, _:
            return minimum(arguments, ranges)
        case Operator.MAXIMUM, _:
            return maximum(arguments, ranges)
        case Operator.CEILING_DIVIDE, (left, right):
            return ceiling_divide(left, right, ranges)
        case Operator.SHIFT_LEFT, (left, right) if right.constant is not None and 0 <= right.constant < 64:
            return left * (1 << right.constant)
        case _:
            return _combine_dividing(operator, arguments, ranges)


def _combine_dividing(operator: Operator, arguments: tuple[Polynomial, ...], ranges: Ranges) -> Polynomial:
    left, right = (*arguments, number(1))[:2]
    natural = ranges.is_nonnegative(left)
    power = right.constant if right.constant is not None and 0 <= right.constant < 64 else None
    match operator:
        case Operator.FLOOR_DIVIDE:
            return floor_divide(left, right, ranges)
        case Operator.FLOOR_MODULO:
            return floor_modulo(left, right, ranges)
        case Operator.TRUNCATED_DIVIDE if natural:
            return floor_divide(left, right, ranges)
        case Operator.TRUNCATED_MODULO if natural:
            return floor_modulo(left, right, ranges)
        case Operator.SHIFT_RIGHT_ARITHMETIC | Operator.SHIFT_RIGHT_LOGICAL if natural and power is not None:
            return floor_divide(left, number(1 << power), ranges)
        case Operator.BITWISE_AND if natural and right.constant is not None and _is_low_mask(right.constant):
            return floor_modulo(left, number(right.constant + 1), ranges)
        case Operator.BITWISE_XOR if left.constant is not None and right.constant is not None:
            return number(left.constant ^ right.constant)
        case _:
            return opaque(operator, *arguments)


def _is_low_mask(value: int) -> bool:
    return value > 0 and value & (value + 1) == 0


def replace_symbols(value: Polynomial, symbols: Mapping[str, Polynomial], ranges: Ranges = EVERYTHING) -> Polynomial:
    """`value` with symbols replaced everywhere and simplified again."""
    if not value.symbols & symbols.keys():
        return value
    total = number(0)
    for monomial, factor in value.terms:
        part = number(factor)
        for atom in monomial:
            part = part * _replaced_atom(atom, symbols, ranges)
        total = total + part
    return total


def _replaced_atom(atom: Atom, symbols: Mapping[str, Polynomial], ranges: Ranges) -> Polynomial:
    if atom.operator is None:
        return symbols.get(atom.text, Polynomial((((atom,), 1),)))
    arguments = tuple(replace_symbols(argument, symbols, ranges) for argument in atom.arguments)
    return combine(atom.operator, arguments, ranges)


def polynomial_of(
    expression: Expr,
    ranges: Ranges = EVERYTHING,
    symbols: Mapping[str, Polynomial] | None = None,
    result_of: Callable[[int], Polynomial | None] = lambda _: None,
) -> Polynomial:
    """The canonical form of an integer expression.

    `symbols` gives the values of some symbols, `result_of` those of operations (None: the result becomes an atom).
    """
    known = symbols or {}
    match expression:
        case Const(literal):
            return number(int(literal))
        case Symbol(name):
            return known.get(name, symbol(name))
        case Ref(id):
            result = result_of(id)
            return symbol(f"%{id}") if result is None else result
        case Apply(operator, arguments):
            parts = tuple(polynomial_of(argument, ranges, known, result_of) for argument in arguments)
            return combine(operator, parts, ranges)


def use_divisibility(value: Polynomial, ranges: Ranges) -> Polynomial:
    """`value` with d*floor(n/d) and d*ceil(n/d) replaced by n wherever d is known to divide n."""
    total = number(0)
    for monomial, factor in value.terms:
        total = total + _undivided(monomial, factor, ranges)
    return total


def _undivided(monomial: Monomial, factor: int, ranges: Ranges) -> Polynomial:
    for atom in monomial:
        if atom.operator not in (Operator.FLOOR_DIVIDE, Operator.CEILING_DIVIDE):
            continue
        above, below = atom.arguments
        if not ranges.divides(below, above):
            continue
        others = list(monomial)
        others.remove(atom)
        divided = term_quotient(tuple(others), factor, below) if len(below.terms) == 1 else None
        if divided is not None:
            return above * Polynomial(((divided[0], divided[1]),))
    return Polynomial(((monomial, factor),))
