"""Canonical integer expressions have the value of what they were made from; what is claimed of them holds."""

from __future__ import annotations

from itertools import product

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.properties.concrete import applied, number_of

from portcheck.core.dtype import INT64
from portcheck.ir import Operator, Polynomial, Ranges, number
from portcheck.ir.algebra import (
    ceiling_divide,
    combine,
    floor_divide,
    floor_modulo,
    maximum,
    minimum,
    polynomial_of,
    replace_symbols,
    use_divisibility,
)
from portcheck.ir.expr import Apply, Const, Expr, Symbol
from portcheck.ir.polynomial import opaque, split, symbol

NAMES = ("n", "m", "@i", "@j")
EXTENTS = {"@i": symbol("n"), "@j": number(4)}
RANGES = Ranges(extents=EXTENTS)
SIZES = [
    {"n": n, "m": m, "@i": i, "@j": j}
    for n, m, j in product((0, 1, 2, 5, 6), (1, 2, 3), (0, 1, 3))
    for i in {0, 1, n - 1}
    if 0 <= i < n
]
_FREE = [Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.MINIMUM, Operator.MAXIMUM, Operator.BITWISE_XOR]
_DIVIDING = [
    Operator.FLOOR_DIVIDE,
    Operator.CEILING_DIVIDE,
    Operator.FLOOR_MODULO,
    Operator.TRUNCATED_DIVIDE,
    Operator.TRUNCATED_MODULO,
]
_SHIFTING = [Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT_ARITHMETIC, Operator.BITWISE_AND]


def _symbol(name: str) -> Expr:
    return Symbol(name, INT64)


def _constant(value: int) -> Expr:
    return Const(value, INT64)


_LEAVES = st.one_of(st.sampled_from(NAMES).map(_symbol), st.integers(-3, 9).map(_constant))
_DIVISORS = st.one_of(
    st.integers(1, 8).map(_constant),
    st.just(_symbol("m")),
    st.just(Apply(Operator.MULTIPLY, (_constant(2), _symbol("m")), INT64)),
)


def _grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    def applying(operators: list[Operator], *arguments: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        pairs = st.tuples(*arguments)
        return st.builds(lambda operator, pair: Apply(operator, pair, INT64), st.sampled_from(operators), pairs)

    rounded_up = st.builds(
        lambda value, by: Apply(
            Operator.FLOOR_DIVIDE,
            (Apply(Operator.SUBTRACT, (Apply(Operator.ADD, (value, by), INT64), _constant(1)), INT64), by),
            INT64,
        ),
        inner,
        _DIVISORS,
    )
    return st.one_of(
        applying(_FREE, inner, inner),
        applying(_DIVIDING, inner, _DIVISORS),
        applying(_SHIFTING, inner, st.sampled_from([0, 1, 2, 3, 7]).map(_constant)),
        rounded_up,
    )


EXPRESSIONS = st.recursive(_LEAVES, _grown, max_leaves=8)


def _direct(expression: Expr, symbols: dict[str, int]) -> int:
    match expression:
        case Const(value):
            return int(value)
        case Symbol(name):
            return symbols[name]
        case Apply(operator, arguments):
            return applied(operator, *(_direct(argument, symbols) for argument in arguments))
        case _:
            raise AssertionError(expression)


@st.composite
def polynomials(draw: st.DrawFn) -> Polynomial:
    """Sums and products, with divisions and minima inside."""
    return polynomial_of(draw(EXPRESSIONS), draw(st.sampled_from([Ranges(), RANGES])))


@given(EXPRESSIONS, st.sampled_from([Ranges(), RANGES]))
def test_the_canonical_form_of_an_expression_has_its_value(expression: Expr, ranges: Ranges) -> None:
    value = polynomial_of(expression, ranges)
    for symbols in SIZES:
        assert number_of(value, symbols) == _direct(expression, symbols), (symbols, value)


@given(polynomials(), polynomials(), st.sampled_from(NAMES))
def test_replacing_a_symbol_is_evaluating_at_its_value(value: Polynomial, new: Polynomial, name: str) -> None:
    """Only symbols without an extent: a value outside it would break what was used to simplify."""
    assume(not any(atom.operator for atom in value.atoms) or name == "n" and "@i" not in value.symbols)
    for symbols in SIZES:
        inside = number_of(new, symbols)
        if name == "n" and inside < 0:
            continue
        found = number_of(replace_symbols(value, {name: new}), symbols)
        assert found == number_of(value, {**symbols, name: inside}), (symbols, name)


@given(polynomials(), st.sampled_from([number(1), number(2), number(3), number(8), symbol("m"), symbol("m") * 2]))
def test_division_is_that_of_integers(value: Polynomial, divisor: Polynomial) -> None:
    quotient, rest = split(value, divisor)
    for symbols in SIZES:
        above, below = number_of(value, symbols), number_of(divisor, symbols)
        assert number_of(floor_divide(value, divisor, RANGES), symbols) == above // below
        assert number_of(floor_modulo(value, divisor, RANGES), symbols) == above % below
        assert number_of(ceiling_divide(value, divisor, RANGES), symbols) == -(-above // below)
        assert number_of(quotient, symbols) * below + number_of(rest, symbols) == above


@given(polynomials())
def test_what_is_claimed_not_to_be_negative_is_not(value: Polynomial) -> None:
    if RANGES.is_nonnegative(value):
        for symbols in SIZES:
            assert number_of(value, symbols) >= 0, (symbols, value)


@st.composite
def differences(draw: st.DrawFn) -> Polynomial:
    """Differences of roundings, remainders and extrema: what is asked when limits and guards are compared."""
    parts = [symbol(name) for name in NAMES] + [number(1)]
    divisors = [number(2), number(3), symbol("m")]
    total = number(draw(st.integers(-3, 2)))
    for _ in range(draw(st.integers(1, 3))):
        value = draw(st.sampled_from(parts)) * draw(st.sampled_from([1, 1, 2])) + draw(st.sampled_from([0, 0, 1, -1]))
        by = draw(st.sampled_from(divisors))
        other = draw(st.sampled_from(parts))
        made = draw(
            st.sampled_from(
                [
                    value,
                    floor_divide(value, by),
                    ceiling_divide(value, by),
                    floor_modulo(value, by),
                    minimum([value, other]),
                    maximum([value, other]),
                ]
            )
        )
        total = total + made * draw(st.sampled_from([number(1), number(-1), number(2), by, -by]))
    return total


@settings(max_examples=1000)
@given(differences())
def test_differences_of_roundings_are_only_claimed_where_they_hold(value: Polynomial) -> None:
    for ranges in (RANGES, Ranges(extents=EXTENTS, least={"n": 1, "m": 1})):
        if ranges.is_nonnegative(value):
            for symbols in SIZES:
                assert number_of(value, symbols) >= 0, (symbols, value)


@given(polynomials())
def test_bounds_of_sizes_are_used_soundly(value: Polynomial) -> None:
    bounded = Ranges(extents=EXTENTS, least={"n": 1, "m": 2}, most={"n": 5, "m": 3})
    if bounded.is_nonnegative(value):
        for symbols in SIZES:
            if 1 <= symbols["n"] <= 5 and symbols["m"] >= 2:
                assert number_of(value, symbols) >= 0, (symbols, value)


@given(polynomials(), polynomials())
def test_what_is_claimed_to_be_less_is(left: Polynomial, right: Polynomial) -> None:
    if RANGES.is_less(left, right):
        for symbols in SIZES:
            assert number_of(left, symbols) < number_of(right, symbols)


@settings(max_examples=60)
@given(st.lists(polynomials(), min_size=1, max_size=3))
def test_least_and_greatest_are_those_of_the_values(values: list[Polynomial]) -> None:
    for symbols in SIZES:
        numbers = [number_of(value, symbols) for value in values]
        assert number_of(minimum(values, RANGES), symbols) == min(numbers)
        assert number_of(maximum(values, RANGES), symbols) == max(numbers)


_FACTS = st.sampled_from(
    [
        ((symbol("n"), number(4)),),
        ((symbol("n"), symbol("m")),),
        ((symbol("n") * symbol("m"), number(6)),),
        ((symbol("n") * 2, number(4)),),
        ((symbol("n") * symbol("n"), number(4)),),
        ((number(12), symbol("m")),),
        ((symbol("n") + 1, number(3)),),
    ]
)


@given(_FACTS, polynomials(), st.sampled_from([number(2), number(4), number(6), symbol("m"), number(3)]))
def test_divisibility_is_only_used_where_it_holds(
    facts: tuple[tuple[Polynomial, Polynomial], ...], value: Polynomial, divisor: Polynomial
) -> None:
    ranges = Ranges(divisors=facts)
    rounded = divisor * opaque(Operator.FLOOR_DIVIDE, value, divisor) + symbol("n") * divisor * opaque(
        Operator.CEILING_DIVIDE, symbol("n"), divisor
    )
    simpler = use_divisibility(rounded, ranges)
    for n, m, i, j in product(range(13), (1, 2, 3, 4, 5), (0, 2), (0, 3)):
        symbols = {"n": n, "m": m, "@i": i, "@j": j}
        if all(number_of(known, symbols) % number_of(by, symbols) == 0 for known, by in facts):
            assert number_of(simpler, symbols) == number_of(rounded, symbols), (symbols, rounded, simpler)
            if ranges.divides(divisor, value):
                assert number_of(value, symbols) % number_of(divisor, symbols) == 0, (symbols, value, divisor)


@given(polynomials(), polynomials())
def test_equal_texts_are_equal_functions(left: Polynomial, right: Polynomial) -> None:
    if str(left) == str(right):
        assert left == right
    if left == right:
        assert all(number_of(left, symbols) == number_of(right, symbols) for symbols in SIZES)


def test_texts_tell_the_place_of_a_factor() -> None:
    n, m = symbol("n"), symbol("m")
    pairs = [
        (floor_divide(n, m) * m, floor_divide(n, m * m)),
        (floor_divide(n * m + 1, number(2)), floor_divide(n, number(2)) * m + 1),
        (floor_divide(n, number(2)) * 3, floor_divide(n * 3, number(2))),
        (floor_modulo(n, m) * 2, floor_modulo(n, m * 2)),
        (floor_modulo(n + m, number(3)), floor_modulo(n, number(3)) + m),
        (minimum([n, m]) + 1, minimum([n, m + 1])),
        (minimum([n, m]) * 2, minimum([n * 2, m])),
        (combine(Operator.BITWISE_XOR, (n, m + 1)), combine(Operator.BITWISE_XOR, (n, m)) + 1),
    ]
    for left, right in pairs:
        assert str(left) != str(right)


def test_a_division_by_zero_is_kept_as_written() -> None:
    for divide in (floor_divide, ceiling_divide, floor_modulo):
        assert not RANGES.divides(number(0), divide(symbol("n"), number(0)))
