"""Integer polynomials over symbols: the canonical form of sizes, indices and bounds.

Operators that do not simplify become atoms (see `algebra`), so every integer expression has a form and two expressions
are the same function of their symbols if their forms are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import product

from portcheck.ir.operators import Operator


@dataclass(frozen=True, slots=True, order=True)
class Atom:
    """An indivisible factor: a symbol, or an operator applied to polynomials. `text` orders and identifies it.

    `symbols` are the names of the symbols in it.
    """

    text: str
    operator: Operator | None = field(default=None, compare=False)
    arguments: tuple[Polynomial, ...] = field(default=(), compare=False)
    symbols: frozenset[str] = field(default=frozenset(), compare=False)


Monomial = tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of integer multiples of products of atoms, in canonical order; no term has coefficient 0."""

    terms: tuple[tuple[Monomial, int], ...]

    @property
    def constant(self) -> int | None:
        """The value if this is a number, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def atoms(self) -> frozenset[Atom]:
        """The atoms of the terms; not those inside atoms."""
        return frozenset(atom for monomial, _ in self.terms for atom in monomial)

    @property
    def symbols(self) -> frozenset[str]:
        """The names of all symbols, those inside atoms included."""
        return frozenset(name for monomial, _ in self.terms for atom in monomial for name in atom.symbols)

    def coefficient(self, name: str) -> Polynomial | None:
        """What the symbol `name` is multiplied by; None if it occurs non-linearly or inside an atom."""
        collected: dict[Monomial, int] = {}
        for monomial, factor in self.terms:
            hits = [atom for atom in monomial if atom.operator is None and atom.text == name]
            if any(atom.operator is not None and name in atom.symbols for atom in monomial) or len(hits) > 1:
                return None
            if hits:
                collected[tuple(atom for atom in monomial if atom is not hits[0])] = factor
        return polynomial(collected)

    def __add__(self, other: Polynomial | int) -> Polynomial:
        collected = dict(self.terms)
        for monomial, factor in as_polynomial(other).terms:
            collected[monomial] = collected.get(monomial, 0) + factor
        return polynomial(collected)

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((monomial, -factor) for monomial, factor in self.terms))

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -as_polynomial(other)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        collected: dict[Monomial, int] = {}
        for (left, first), (right, second) in product(self.terms, as_polynomial(other).terms):
            monomial = tuple(sorted(left + right))
            collected[monomial] = collected.get(monomial, 0) + first * second
        return polynomial(collected)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        ordered = sorted(self.terms, key=lambda term: (not term[0], term[1] < 0, term[0]))
        parts = [_term_text(monomial, factor) for monomial, factor in ordered]
        return reduce(lambda text, part: f"{text} - {part[1:]}" if part[0] == "-" else f"{text} + {part}", parts)


def _term_text(monomial: Monomial, factor: int) -> str:
    if not monomial:
        return str(factor)
    body = "*".join(atom.text for atom in monomial)
    if factor in (1, -1):
        return body if factor == 1 else f"-{body}"
    return f"{factor}*{body}"


def polynomial(terms: Mapping[Monomial, int]) -> Polynomial:
    """The polynomial with these terms."""
    return Polynomial(tuple(sorted((monomial, factor) for monomial, factor in terms.items() if factor)))


def number(value: int) -> Polynomial:
    """The constant polynomial `value`."""
    return Polynomial((((), value),)) if value else Polynomial(())


def symbol(name: str) -> Polynomial:
    """The polynomial that is the symbol `name`."""
    return Polynomial((((Atom(name, symbols=frozenset((name,))),), 1),))


def as_polynomial(value: Polynomial | int) -> Polynomial:
    """`value`, integers made constant polynomials."""
    return number(value) if isinstance(value, int) else value


_INFIX = {
    Operator.FLOOR_DIVIDE: "floor({}/{})",
    Operator.CEILING_DIVIDE: "ceil({}/{})",
    Operator.FLOOR_MODULO: "{} mod {}",
}


def _wrapped(argument: Polynomial) -> str:
    text = str(argument)
    return text if len(argument.terms) <= 1 and "/" not in text and "-" not in text else f"({text})"


def _as_divisor(argument: Polynomial) -> str:
    text = _wrapped(argument)
    return f"({text})" if "*" in text and not text.startswith("(") else text


def opaque(operator: Operator, *arguments: Polynomial) -> Polynomial:
    """The atom of an operator that does not simplify."""
    if operator in _INFIX:
        above, below = arguments
        text = _INFIX[operator].format(_wrapped(above), _as_divisor(below))
        text = f"({text})" if operator is Operator.FLOOR_MODULO else text
    else:
        name = {Operator.MINIMUM: "min", Operator.MAXIMUM: "max"}.get(operator, operator.value)
        text = f"{name}({', '.join(map(str, arguments))})"
    symbols = frozenset(name for argument in arguments for name in argument.symbols)
    return Polynomial((((Atom(text, operator, arguments, symbols),), 1),))


def term_quotient(monomial: Monomial, factor: int, divisor: Polynomial) -> tuple[Monomial, int] | None:
    """The term divided by a divisor of one term, if that divides it."""
    (below, scale), *_ = divisor.terms
    rest = list(monomial)
    for atom in below:
        if atom not in rest:
            return None
        rest.remove(atom)
    return (tuple(rest), factor // scale) if factor % scale == 0 else None


def split(value: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder by terms: value = quotient * divisor + rest, rest holding what does not divide."""
    if len(divisor.terms) != 1:
        return (number(1), number(0)) if value == divisor and value.terms else (number(0), value)
    whole_part: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    constant_divisor = divisor.constant
    for monomial, factor in value.terms:
        divided = term_quotient(monomial, factor, divisor)
        if divided is not None:
            whole_part[divided[0]] = whole_part.get(divided[0], 0) + divided[1]
        elif not monomial and constant_divisor is not None and constant_divisor > 0:
            whole, remainder = divmod(factor, constant_divisor)
            whole_part[()] = whole_part.get((), 0) + whole
            rest[()] = remainder
        else:
            rest[monomial] = factor
    return polynomial(whole_part), polynomial(rest)
