"""What is known of the symbols in sizes and indices: extents, divisibility, least and greatest values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from portcheck.ir.operators import Operator
from portcheck.ir.polynomial import Atom, Monomial, Polynomial, symbol, term_quotient

INDEX_MARK = "@"
UNSIZED = (INDEX_MARK, "%", "$")
"""Names that start so are indices and results: nothing is known of them unless an extent is given. All others are
sizes, and sizes are never negative."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """What is known of symbols: exclusive upper ends (all start at 0), sizes that divide, and lower bounds.

    `extents` maps a symbol to E with 0 <= symbol < E. `divisors` are pairs (n, d): d divides n.
    `least` maps a size to the least value it takes (0 where nothing is said).
    `most` maps a size to the greatest value it takes.
    """

    extents: Mapping[str, Polynomial] = field(default_factory=dict)
    divisors: tuple[tuple[Polynomial, Polynomial], ...] = ()
    least: Mapping[str, int] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)

    def with_extent(self, name: str, extent: Polynomial) -> Ranges:
        """These ranges and 0 <= name < extent."""
        return Ranges({**self.extents, name: extent}, self.divisors, self.least, self.most)

    def is_nonnegative(self, value: Polynomial) -> bool:
        """Whether `value` >= 0 follows; False means not known."""
        return self._lowest(value, depth=8) >= 0

    def is_less(self, left: Polynomial, right: Polynomial) -> bool:
        """Whether left < right follows; False means not known."""
        return self.is_nonnegative(right - left - 1)

    def _lowest(self, value: Polynomial, depth: int) -> float:
        """A lower bound of `value`, -inf where none is found."""
        if value.constant is not None:
            return value.constant
        if depth == 0:
            return float("-inf")
        ranged = sorted(value.symbols & self.extents.keys())
        for name in ranged:
            coefficient = value.coefficient(name)
            if coefficient is None:
                continue
            rest = value - coefficient * symbol(name)
            if self._lowest(coefficient, depth - 1) >= 0:
                return self._lowest(rest, depth - 1)
            if self._lowest(-coefficient, depth - 1) >= 0:
                return self._lowest(rest + coefficient * (self.extents[name] - 1), depth - 1)
        return self._lowest_of_sizes(value, depth)

    def _lowest_of_sizes(self, value: Polynomial, depth: int) -> float:
        refined = self._without_clipping(value)
        if refined is not None:
            return max(self._lowest(choice, depth - 1) for choice in refined)
        total = 0.0
        for monomial, factor in value.terms:
            if factor < 0:
                most = 1.0
                for atom in monomial:
                    most *= self.most.get(atom.text, float("inf")) if atom.operator is None else self._atom_most(atom)
                total += factor * most
            else:
                least = [self._atom_least(atom) for atom in monomial]
                if any(value < 0 for value in least):
                    return float("-inf")
                total += factor * prod(least)
        return total

    def _without_clipping(self, value: Polynomial) -> tuple[Polynomial, ...] | None:
        """Lower estimates of `value` without one min (negative), max, floor or remainder atom it holds."""
        for monomial, factor in value.terms:
            for atom in monomial:
                if atom.operator is None:
                    continue
                rest = value - Polynomial(((monomial, factor),))
                others = list(monomial)
                others.remove(atom)
                estimates = self._estimates(atom, Polynomial(((tuple(others), factor),)), rest)
                if estimates:
                    return estimates
        return None

    def _estimates(self, atom: Atom, scale: Polynomial, rest: Polynomial) -> tuple[Polynomial, ...]:
        """Polynomials without `atom` that are no greater than scale * atom + rest; the greatest one counts."""
        is_positive = scale.terms[0][1] > 0
        if any(other.operator is not None or self._atom_least(other) < 0 for other in scale.atoms):
            return ()
        match atom.operator:
            case Operator.MINIMUM if not is_positive:
                return tuple(rest + argument * scale for argument in atom.arguments)
            case Operator.MAXIMUM if is_positive:
                return tuple(rest + argument * scale for argument in atom.arguments)
            case Operator.FLOOR_MODULO if not is_positive:
                return (rest + (atom.arguments[1] - 1) * scale,)
            case Operator.CEILING_DIVIDE if is_positive:
                return self._multiples(atom, scale, rest)
            case Operator.FLOOR_DIVIDE if not is_positive:
                return self._multiples(atom, scale, rest)
            case Operator.CEILING_DIVIDE | Operator.FLOOR_DIVIDE:
                return self._multiples_off(atom, scale, rest)
            case _:
                return ()

    def _multiples(self, atom: Atom, scale: Polynomial, rest: Polynomial) -> tuple[Polynomial, ...]:
        """k*d*ceil(n/d) is at least k*n, and -k*d*floor(n/d) is at least -k*n."""
        value, divisor = atom.arguments
        if len(divisor.terms) != 1:
            return ()
        quotient = term_quotient(*scale.terms[0], divisor)
        if quotient is None:
            return ()
        plain = rest + value * Polynomial((quotient,))
        is_some = atom.operator is Operator.CEILING_DIVIDE and self.is_nonnegative(value - 1)
        return (plain, rest + scale) if is_some else (plain,)

    def _multiples_off(self, atom: Atom, scale: Polynomial, rest: Polynomial) -> tuple[Polynomial, ...]:
        """-k*d*ceil(n/d) is at least -k*(n + d - 1), and k*d*floor(n/d) at least k*(n - d + 1)."""
        value, divisor = atom.arguments
        step = divisor.constant
        quotient = term_quotient(*scale.terms[0], divisor) if step is not None and step > 0 else None
        if step is None or quotient is None:
            return ()
        end = value + (step - 1) if atom.operator is Operator.CEILING_DIVIDE else value - (step - 1)
        return (rest + end * Polynomial((quotient,)),)

    def _atom_least(self, atom: Atom) -> float:
        if atom.operator is None:
            if atom.text in self.extents:
                return 0
            return self.least.get(atom.text, float("-inf") if atom.text.startswith(UNSIZED) else 0)
        if atom.operator is Operator.CEILING_DIVIDE:
            return 1 if self.is_nonnegative(atom.arguments[0] - 1) else float("-inf")
        if atom.operator in (Operator.FLOOR_DIVIDE, Operator.FLOOR_MODULO):
            return 0 if self.is_nonnegative(atom.arguments[0]) else float("-inf")
        if atom.operator is Operator.MINIMUM:
            return 0 if all(self.is_nonnegative(argument) for argument in atom.arguments) else float("-inf")
        return float("-inf")

    def _atom_most(self, atom: Atom) -> float:
        return float("inf")

    def divides(self, divisor: Polynomial, value: Polynomial) -> bool:
        """Whether `value` is known to be a multiple of `divisor`."""
        step = divisor.constant
        if step == 0:
            return False
        for monomial, factor in value.terms:
            if step is not None and factor % step == 0:
                continue
            if divisor.terms and len(divisor.terms) == 1 and term_quotient(monomial, factor, divisor) is not None:
                continue
            if not any(self._divides_by_fact(divisor, known, by, monomial) for known, by in self.divisors):
                return False
        return True

    def _divides_by_fact(self, divisor: Polynomial, known: Polynomial, by: Polynomial, monomial: Monomial) -> bool:
        if len(known.terms) != 1 or not known.terms[0][0] or known.terms[0][1] not in (1, -1):
            return False
        if term_quotient(monomial, 1, known) is None:
            return False
        if by == divisor:
            return True
        step, fact = divisor.constant, by.constant
        return step is not None and fact is not None and step != 0 and fact % step == 0


EVERYTHING = Ranges()
