"""Which terms have the same normal form, and that the same form means the same value."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.values.numeric import Numbers, value_of

from portcheck.core.dtype import BFLOAT16
from portcheck.ir import Operator, Ranges, number
from portcheck.ir.polynomial import symbol
from portcheck.values import Choice, Element, Fold, Function, Index, Literal, Rounded, Scalar, Term, normal_form
from portcheck.values.evaluation import pruned
from portcheck.values.terms import AtLeast, Bound, Holds

K, N, ROW = symbol("@k"), symbol("n"), symbol("@i")


def _bound(name: str = "@k", stop: str = "n") -> Bound:
    return Bound(name, number(0), symbol(stop), number(1))


def f(operator: Operator, *arguments: Term) -> Term:
    return Function(operator, arguments)


def add(*terms: Term) -> Term:
    left, *rest = terms
    for right in rest:
        left = f(Operator.ADD, left, right)
    return left


def sub(left: Term, right: Term) -> Term:
    return f(Operator.SUBTRACT, left, right)


def mul(*terms: Term) -> Term:
    left, *rest = terms
    for right in rest:
        left = f(Operator.MULTIPLY, left, right)
    return left


def div(left: Term, right: Term) -> Term:
    return f(Operator.DIVIDE, left, right)


def total(body: Term, name: str = "@k", stop: str = "n") -> Term:
    return Fold(Operator.ADD, (_bound(name, stop),), (), body)


def greatest(term: Element, name: str = "@k") -> Term:
    """The maximum of the elements of a buffer."""
    return Fold(Operator.MAXIMUM, (_bound(name),), (), replace(term, address=symbol(name)))


def c(value: float | Fraction) -> Term:
    return Literal(Fraction(value))


def chosen(on_true: Term, on_false: Term, *, negated: bool = False) -> Term:
    return Choice((Holds(f(Operator.LESS, a, b), negated),), on_true, on_false)


a, b, s = Element("a", ROW), Element("b", ROW), Scalar("s")
x, y, size, place = Element("x", K), Element("y", K), Index(N), Index(K)
mean = div(total(x), size)

EQUAL: dict[str, tuple[Term, Term]] = {
    "commuted sum": (add(a, b), add(b, a)),
    "commuted product": (mul(a, b, s), mul(s, a, b)),
    "reassociated sum": (add(a, add(b, s)), add(add(a, b), s)),
    "reassociated product": (mul(a, mul(b, s)), mul(mul(a, b), s)),
    "division and reciprocal": (div(a, size), mul(a, div(c(1), size))),
    "division and reciprocal function": (div(a, b), mul(a, f(Operator.RECIPROCAL, b))),
    "rsqrt and 1/sqrt": (f(Operator.RSQRT, add(a, s)), div(c(1), f(Operator.SQRT, add(a, s)))),
    "square and product": (f(Operator.SQUARE, a), mul(a, a)),
    "negation and subtraction": (add(a, f(Operator.NEGATE, b)), sub(a, b)),
    "sum twice": (add(a, a), mul(c(2), a)),
    "sigmoid": (f(Operator.SIGMOID, a), div(c(1), add(c(1), f(Operator.EXP, f(Operator.NEGATE, a))))),
    "silu": (f(Operator.SILU, a), mul(a, f(Operator.SIGMOID, a))),
    "silu as a quotient": (f(Operator.SILU, a), div(a, add(c(1), f(Operator.EXP, f(Operator.NEGATE, a))))),
    "relu": (f(Operator.RELU, a), f(Operator.MAXIMUM, c(0), a)),
    "commuted maximum": (f(Operator.MAXIMUM, a, b), f(Operator.MAXIMUM, b, a)),
    "commuted minimum": (f(Operator.MINIMUM, a, b), f(Operator.MINIMUM, b, a)),
    "maximum of one": (f(Operator.MAXIMUM, a, a), a),
    "factor out of a sum": (total(mul(s, x)), mul(s, total(x))),
    "quotient out of a sum": (total(div(x, size)), div(total(x), size)),
    "sum of a sum": (total(add(x, y)), add(total(x), total(y))),
    "other bound name": (total(x), total(Element("x", symbol("@q")), "@q")),
    "roundings": (Rounded(BFLOAT16, add(Rounded(BFLOAT16, a), b)), add(a, b)),
    "a literal and its float32": (add(a, c(1e-5)), add(a, c(Fraction(float(np.float32(1e-5)))))),
    "choice between equals": (Choice((AtLeast(ROW),), add(a, b), add(b, a)), add(a, b)),
    "choice of 1 and 0": (chosen(c(1), c(0)), f(Operator.LESS, a, b)),
    "choice of 0 and 1": (chosen(c(0), c(1), negated=True), f(Operator.LESS, a, b)),
    "choice between numbers": (chosen(c(5), c(2)), add(c(2), mul(c(3), f(Operator.LESS, a, b)))),
    "choice between numbers the other way": (chosen(c(5), c(2)), chosen(c(2), c(5), negated=True)),
    "exp of a sum": (f(Operator.EXP, add(a, b)), mul(f(Operator.EXP, a), f(Operator.EXP, b))),
    "square of an exp": (f(Operator.SQUARE, f(Operator.EXP, a)), f(Operator.EXP, mul(c(2), a))),
    "softmax with and without its shift": (
        div(f(Operator.EXP, sub(a, greatest(x))), total(f(Operator.EXP, sub(x, greatest(x, "@q"))))),
        div(f(Operator.EXP, a), total(f(Operator.EXP, x))),
    ),
    "centred sum of squares": (
        total(f(Operator.SQUARE, sub(x, mean))), total(mul(sub(x, mean), sub(x, mul(total(x), div(c(1), size)))))
    ),
}  # fmt: skip

UNEQUAL: dict[str, tuple[Term, Term]] = {
    "sum of squares and square of sum": (total(mul(x, x)), f(Operator.SQUARE, total(x))),
    "commuted difference": (sub(a, b), sub(b, a)),
    "commuted quotient": (div(a, b), div(b, a)),
    "another constant": (add(a, c(1e-5)), add(a, c(1e-6))),
    "another element": (a, Element("a", ROW + 1)),
    "another axis": (total(Element("x", K + ROW * N)), total(Element("x", ROW + K * N))),
    "another extent": (total(x), total(x, stop="m")),
    "another start": (total(x), Fold(Operator.ADD, (Bound("@k", number(1), N, number(1)),), (), x)),
    "another step": (total(x), Fold(Operator.ADD, (Bound("@k", number(0), N, number(2)),), (), x)),
    "another operator": (total(x), Fold(Operator.MAXIMUM, (_bound(),), (), x)),
    "a condition": (total(x), Fold(Operator.ADD, (_bound(),), (AtLeast(K - 3),), x)),
    "epsilon inside and outside": (f(Operator.RSQRT, add(a, s)), add(f(Operator.RSQRT, a), s)),
    "epsilon under the mean": (div(add(total(x), s), size), add(div(total(x), size), s)),
    "no mean": (total(x), mean),
    "root of a square": (f(Operator.SQRT, mul(a, a)), a),
    "root of a product": (f(Operator.SQRT, mul(a, b)), mul(f(Operator.SQRT, a), f(Operator.SQRT, b))),
    "maximum and minimum": (f(Operator.MAXIMUM, a, b), f(Operator.MINIMUM, a, b)),
    "exp of a negation": (f(Operator.EXP, a), f(Operator.EXP, f(Operator.NEGATE, a))),
    "exp of a product": (f(Operator.EXP, mul(a, b)), mul(f(Operator.EXP, a), f(Operator.EXP, b))),
    "exp with and without a shift": (f(Operator.EXP, sub(a, greatest(x))), f(Operator.EXP, a)),
    "softmax shifted on one level": (
        div(f(Operator.EXP, sub(a, greatest(x))), total(f(Operator.EXP, x))),
        div(f(Operator.EXP, a), total(f(Operator.EXP, x))),
    ),
    "sum of exps and exp of a sum": (total(f(Operator.EXP, x)), f(Operator.EXP, total(x))),
    "sigmoid and silu": (f(Operator.SIGMOID, a), f(Operator.SILU, a)),
    "index weights in different sums": (
        mul(total(mul(place, x)), total(mul(place, y))), mul(total(mul(place, place, x)), total(y))
    ),
    "index weight and none": (total(mul(place, x)), mul(place, total(x))),
    "inner and outer index": (
        total(mul(total(Element("x", symbol("@q")), "@q"), x)), total(mul(x, total(x, "@q")))
    ),
    "a buffer named like a bound index": (total(Element("$k0", ROW)), mul(size, Element("$k0", ROW + 1))),
    "choice of another condition": (Choice((AtLeast(ROW),), a, b), Choice((AtLeast(ROW - 1),), a, b)),
    "choice of 0 and 1, and a truth": (chosen(c(0), c(1)), f(Operator.LESS, a, b)),
    "choice of an element and 0, and a truth": (chosen(a, c(0)), f(Operator.LESS, a, b)),
    "strict and not": (chosen(c(1), c(0)), f(Operator.LESS_EQUAL, a, b)),
    "choice with arms exchanged": (Choice((AtLeast(ROW),), a, b), Choice((AtLeast(ROW),), b, a)),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_the_same_real_function_has_one_form(name: str) -> None:
    left, right = EQUAL[name]
    assert normal_form(left, {}) == normal_form(right, {})


@pytest.mark.parametrize("name", UNEQUAL)
def test_another_function_has_another_form(name: str) -> None:
    left, right = UNEQUAL[name]
    assert normal_form(left, {}) != normal_form(right, {})


NUMBERS = [
    Numbers(
        {"@i": i, "@k": 1, "@q": 2, "n": n, "m": 3},
        {"s": scalar},
        {name: np.random.default_rng(seed + n).uniform(0.3, 2.0, 40) for seed, name in enumerate("abxy")},
    )
    for i, n, scalar in ((0, 4, 0.7), (2, 5, 1.3), (1, 3, 2.1))
]
_UNARY = [
    Operator.SQUARE,
    Operator.NEGATE,
    Operator.EXP,
    Operator.RSQRT,
    Operator.SQRT,
    Operator.SIGMOID,
    Operator.SILU,
    Operator.RELU,
    Operator.RECIPROCAL,
]
_BINARY = [Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.DIVIDE, Operator.MAXIMUM, Operator.MINIMUM]
_LEAVES = st.sampled_from([a, b, s, x, y, size, place, c(1), c(2), c(Fraction(1, 2))])


def _grown(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    return st.one_of(
        st.builds(lambda operator, operand: f(operator, operand), st.sampled_from(_UNARY), inner),
        st.builds(lambda operator, left, right: f(operator, left, right), st.sampled_from(_BINARY), inner, inner),
        st.builds(lambda operator, left, right: f(operator, left, right), st.sampled_from(_BINARY[:4]), inner, inner),
        st.builds(
            lambda operator, body: Fold(operator, (_bound(),), (), body),
            st.sampled_from([Operator.ADD, Operator.MAXIMUM]),
            inner,
        ),
        st.builds(lambda body: Fold(Operator.ADD, (_bound(),), (AtLeast(K - 1),), body), inner),
        st.builds(lambda left, right: Choice((AtLeast(K - ROW),), left, right), inner, inner),
    )


TERMS = st.recursive(_LEAVES, _grown, max_leaves=7)


def _values(term: Term) -> list[float]:
    with np.errstate(all="ignore"):
        return [float(value_of(term, numbers)) for numbers in NUMBERS]


def _rewritten(term: Term, draw: st.DrawFn) -> Term:
    """Another way to write `term`."""
    match term:
        case Function(operator, arguments):
            inner = tuple(_rewritten(argument, draw) for argument in arguments)
            return _other_way(operator, inner) if draw(st.booleans()) else Function(operator, inner)
        case Fold(operator, bounds, conditions, body):
            return Fold(operator, bounds, conditions, _rewritten(body, draw))
        case Choice(conditions, on_true, on_false):
            return Choice(conditions, _rewritten(on_true, draw), _rewritten(on_false, draw))
        case _:
            return Rounded(BFLOAT16, term) if draw(st.booleans()) else term


def _other_way(operator: Operator, arguments: tuple[Term, ...]) -> Term:
    match operator, arguments:
        case ((Operator.ADD | Operator.MULTIPLY | Operator.MAXIMUM | Operator.MINIMUM), (left, right)):
            return f(operator, right, left)
        case Operator.SUBTRACT, (left, right):
            return add(f(Operator.NEGATE, right), left)
        case Operator.DIVIDE, (left, right):
            return mul(f(Operator.RECIPROCAL, right), left)
        case Operator.SQUARE, (operand,):
            return mul(operand, operand)
        case Operator.RSQRT, (operand,):
            return f(Operator.RECIPROCAL, f(Operator.SQRT, operand))
        case Operator.SILU, (operand,):
            return mul(f(Operator.SIGMOID, operand), operand)
        case Operator.RELU, (operand,):
            return f(Operator.MAXIMUM, c(0), operand)
        case _:
            return Function(operator, arguments)


@st.composite
def rewritings(draw: st.DrawFn) -> tuple[Term, Term]:
    term = draw(TERMS)
    return term, _rewritten(term, draw)


@given(rewritings())
def test_another_way_to_write_a_term_has_the_same_form(pair: tuple[Term, Term]) -> None:
    left, right = pair
    assume(np.isfinite(_values(left)).all())
    assert normal_form(left, {}) == normal_form(right, {})


def _agree(left: Term, right: Term) -> bool:
    pairs = zip(_values(left), _values(right), strict=True)
    return all(not np.isfinite([one, other]).all() or np.isclose(one, other, rtol=1e-6) for one, other in pairs)


@settings(max_examples=600)
@given(TERMS, TERMS)
def test_terms_with_one_form_have_one_value(left: Term, right: Term) -> None:
    if normal_form(left, {}) == normal_form(right, {}):
        assert _agree(left, right)


def test_small_terms_with_one_form_have_one_value() -> None:
    """Every product and quotient of two sums of products of small factors: those of one form agree."""
    factors = [
        x,
        y,
        place,
        s,
        size,
        mul(place, x),
        mul(place, y),
        mul(place, place, x),
        mul(s, x),
        f(Operator.SQUARE, x),
    ]
    sums = [total(factor) for factor in factors] + [total(add(x, factor)) for factor in factors]
    found: dict[str, Term] = {}
    for left in sums:
        for right in sums:
            for operator in (Operator.MULTIPLY, Operator.DIVIDE, Operator.ADD, Operator.SUBTRACT):
                term = f(operator, left, right)
                other = found.setdefault(str(normal_form(term, {})), term)
                assert _agree(term, other), normal_form(term, {})


def test_a_sum_whose_condition_is_excluded_is_nothing() -> None:
    """Where i < 5 is given, a sum over terms that need i >= 5 is 0, not the sum without its condition."""
    guarded = Fold(Operator.ADD, (_bound(),), (AtLeast(ROW - 5),), x)
    under = pruned(guarded, Ranges(), (AtLeast(number(4) - ROW),))
    assert float(value_of(under, NUMBERS[0])) == 0.0
