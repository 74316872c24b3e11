"""Bringing bounds to a canonical form never changes what a scope stands for, by brute force over small sizes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.concrete import instances, is_true, number_of
from tests.values.numeric import Numbers, value_of

from portcheck.ir import Operator, Polynomial, Ranges, number
from portcheck.ir.algebra import ceiling_divide, floor_divide, floor_modulo, minimum
from portcheck.ir.polynomial import symbol
from portcheck.values.folds import fold
from portcheck.values.fusion import Quantified, counted_from_zero, fuse
from portcheck.values.terms import AtLeast, Bound, Condition, Element, IsZero

N, M = symbol("n"), symbol("m")
FREE = symbol("@f")
NAMES = ("@a", "@b", "@c")
A, B, C = map(symbol, NAMES)
RANGES = Ranges().with_extent("@f", number(4))
SIZES = [{"n": n, "m": m, "@f": f} for n, m, f in ((0, 1, 0), (1, 3, 1), (5, 2, 3), (7, 4, 2), (11, 3, 0), (12, 1, 3))]


def _unit(name: str, stop: Polynomial) -> Bound:
    return Bound(name, number(0), stop, number(1))


@st.composite
def tiles(draw: st.DrawFn) -> Quantified:
    """Tiles with clipped ends, masks or rounded numbers, the way ports and kernels write them; some of them wrong."""
    radix = draw(st.sampled_from([number(2), number(3), number(4), M]))
    size = draw(st.sampled_from([N, N, N + 1, N - 1, N * 2, N - FREE]))
    whole, rest = ceiling_divide(size, radix), size - radix * A
    kind = draw(st.sampled_from(["clip", "mask", "floor", "wide", "strided", "ragged", "early"]))
    conditions: tuple[Condition, ...] = ()
    bounds = (_unit("@a", whole), _unit("@b", radix))
    match kind:
        case "clip":
            bounds = (_unit("@a", whole), _unit("@b", minimum([radix, rest])))
        case "mask":
            conditions = (AtLeast(rest - B - 1),)
        case "floor":
            bounds = (_unit("@a", floor_divide(size, radix)), _unit("@b", radix))
        case "wide":
            bounds = (_unit("@a", whole + draw(st.integers(0, 1))), _unit("@b", radix + draw(st.integers(-1, 1))))
            conditions = (AtLeast(rest - B - 1),)
        case "strided":
            step = radix + draw(st.sampled_from([0, 0, 1]))
            bounds = (_unit("@a", radix), Bound("@b", A + draw(st.sampled_from([0, 0, 1])), size, step))
        case "ragged":
            bounds = (_unit("@a", ceiling_divide(size - B, radix)), _unit("@b", radix))
        case "early":
            bounds = (_unit("@a", whole), _unit("@b", minimum([radix, rest, number(draw(st.integers(1, 5)))])))
    if draw(st.booleans()):
        bounds = (*bounds, _unit("@c", draw(st.sampled_from([number(1), number(2), M]))))
    if draw(st.booleans()):
        bounds = bounds[::-1]
    mixed = radix * A + B if kind != "strided" else B
    payload = draw(st.sampled_from([mixed, mixed + 1, mixed * 2, mixed + C, A + B, mixed + A]))
    present = {bound.variable for bound in bounds}
    if "@c" not in present and "@c" in payload.symbols:
        payload = mixed
    index = (payload,) if draw(st.booleans()) else ()
    return Quantified(bounds, conditions, index, Element("x", draw(st.sampled_from([mixed, payload, number(0)]))))


def _linear(draw: st.DrawFn, names: list[Polynomial]) -> Polynomial:
    total = number(draw(st.integers(-2, 3)))
    for name in names:
        total = total + name * draw(st.sampled_from([0, 0, 1, 1, -1, 2, -2, 3]))
    return total


@st.composite
def scopes(draw: st.DrawFn) -> Quantified:
    """Scopes with arbitrary limits and conditions."""
    bounds: list[Bound] = []
    seen: list[Polynomial] = [N, M, FREE]
    for name in NAMES[: draw(st.integers(1, 3))]:
        stop = (
            _linear(draw, seen[:1] + seen[3:])
            if draw(st.booleans())
            else draw(st.sampled_from([N, M, number(2), number(3), ceiling_divide(N, M), minimum([N, M + 1])]))
        )
        start = draw(st.sampled_from([number(0), number(0), number(0), number(1), *seen[2:]]))
        step = draw(st.sampled_from([number(1), number(1), number(1), number(2), number(3), M]))
        bounds.append(Bound(name, start, stop, step))
        seen.append(symbol(name))
    conditions: list[Condition] = []
    for _ in range(draw(st.integers(0, 2))):
        value = _linear(draw, seen)
        if draw(st.booleans()) and len(bounds) > 1:
            value = draw(st.sampled_from([floor_modulo, floor_divide]))(value, draw(st.sampled_from([number(2), M])))
        conditions.append(draw(st.sampled_from([AtLeast(value), IsZero(value), IsZero(value, True)])))
    index = tuple(_linear(draw, seen) for _ in range(draw(st.integers(0, 2))))
    order = draw(st.permutations(bounds))
    return Quantified(tuple(order), tuple(conditions), index, Element("x", _linear(draw, seen)))


def _same(before: Quantified, after: Quantified | None) -> None:
    for sizes in SIZES:
        expected = instances(before, sizes)
        found = instances(after, sizes) if after is not None else type(expected)()
        assert found == expected, (sizes, before, after)


@given(tiles())
def test_fusing_tiles_keeps_every_instance(scope: Quantified) -> None:
    _same(scope, fuse(scope, RANGES))


@given(scopes())
def test_fusing_any_scope_keeps_every_instance(scope: Quantified) -> None:
    _same(scope, fuse(scope, RANGES))


@given(st.one_of(tiles(), scopes()))
def test_counting_from_zero_keeps_every_instance(scope: Quantified) -> None:
    _same(scope, counted_from_zero(scope, RANGES))


@given(tiles(), st.sampled_from([2, 3, 4]))
def test_fusing_under_a_divisor_keeps_every_instance_where_it_divides(scope: Quantified, divisor: int) -> None:
    fused = fuse(scope, Ranges(divisors=((N, number(divisor)),)).with_extent("@f", number(4)))
    for n in (0, divisor, 3 * divisor):
        sizes = {"n": n, "m": 3, "@f": 2}
        assert (instances(fused, sizes) if fused else {}) == instances(scope, sizes), (sizes, scope, fused)


X = np.linspace(1.0, 2.0, 400)


def _total(scope: Quantified, sizes: Mapping[str, int]) -> float:
    return sum(count * X[address + 150] for (address,), count in instances(scope, sizes).items())


@given(st.one_of(tiles(), scopes()))
def test_a_sum_over_fused_bounds_is_the_sum_over_the_written_ones(scope: Quantified) -> None:
    scope = Quantified(scope.bounds, scope.conditions, (), scope.value)
    assert isinstance(scope.value, Element)
    shifted = Element("x", scope.value.address + 150)
    folded = fold(Operator.ADD, scope.bounds, shifted, None, RANGES, scope.conditions)
    for sizes in SIZES:
        found = value_of(folded, Numbers(sizes, {}, {"x": X}))
        assert np.allclose(found, _total(scope, sizes)), (sizes, scope, folded)


@given(scopes())
def test_conditions_that_are_dropped_follow_from_the_bounds(scope: Quantified) -> None:
    """What `fuse` turns into limits still excludes every instance that the written conditions exclude."""
    fused = fuse(scope, RANGES)
    if fused is None or fused.bounds != scope.bounds:
        return
    dropped = [condition for condition in scope.conditions if condition not in fused.conditions]
    for sizes in SIZES:
        for assigned in _assigned(fused, sizes):
            assert all(is_true(condition, assigned) for condition in dropped)


def _assigned(scope: Quantified, sizes: Mapping[str, int]) -> list[dict[str, int]]:
    from tests.properties.concrete import assignments

    return [a for a in assignments(scope.bounds, sizes) if all(is_true(c, a) for c in scope.conditions)]


def test_number_of_is_the_value_of_a_polynomial() -> None:
    assert number_of(floor_divide(N * N - 1, number(3)) * 2 + M, {"n": 5, "m": 7}) == 23
