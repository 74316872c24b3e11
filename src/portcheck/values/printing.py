"""Terms as readable mathematics."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from portcheck.core.dtype import FLOAT32, FLOAT64
from portcheck.ir import Operator, Polynomial
from portcheck.ir.algebra import replace_symbols
from portcheck.ir.polynomial import symbol
from portcheck.values.terms import (
    AtLeast,
    Bound,
    Carried,
    Choice,
    Condition,
    Element,
    Fold,
    Function,
    Holds,
    Index,
    IsZero,
    LanePartial,
    Leader,
    Literal,
    Moved,
    NotAll,
    Rounded,
    Scalar,
    Term,
    Unknown,
    condition_terms,
    depth_of,
    symbols_of,
)

_INFIX = {Operator.ADD: (1, "+"), Operator.SUBTRACT: (1, "-"), Operator.MULTIPLY: (2, "*"), Operator.DIVIDE: (2, "/")}
_COMPARISONS = {
    Operator.LESS: "<",
    Operator.LESS_EQUAL: "<=",
    Operator.GREATER: ">",
    Operator.GREATER_EQUAL: ">=",
    Operator.EQUAL: "==",
    Operator.NOT_EQUAL: "!=",
}
_FOLDS = {Operator.ADD: "sum", Operator.MAXIMUM: "max", Operator.MINIMUM: "min", Operator.MULTIPLY: "prod"}
_ATOM = 9
_COORDINATES = "ijpq"
_BOUNDS = "klmnrstuvw"
_MOST_CHARACTERS = 600
_MOST_LEVELS = 60
"""Levels that are shown of a term; what has as many levels as those that are not shown is left out."""


def coordinate_names(bounds: tuple[Bound, ...], taken: frozenset[str] = frozenset()) -> dict[str, Polynomial]:
    """Short names for the coordinates of an output that are not `taken` by a size: i, j, ..."""
    letters = _free_letters(_COORDINATES, taken)
    return {bound.variable: symbol(_letter(letters, place)) for place, bound in enumerate(bounds)}


def _free_letters(letters: str, taken: frozenset[str]) -> str:
    return "".join(letter for letter in letters if letter not in taken) or letters


def _letter(letters: str, place: int) -> str:
    return letters[place] if place < len(letters) else f"{letters[0]}{place}"


def term_text(term: Term, names: Mapping[str, Polynomial] | None = None) -> str:
    """`term` in readable mathematics; `names` renames free index symbols."""
    taken = symbols_of(term) | {str(name) for name in (names or {}).values()}
    hidden = depth_of(term) - _MOST_LEVELS
    text = _Printer(dict(names or {}), 0, _free_letters(_BOUNDS, taken), hidden).text(term, 0)
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 4] + " ..."


def condition_text(condition: Condition, names: Mapping[str, Polynomial] | None = None) -> str:
    """A condition in readable mathematics."""
    hidden = max(map(depth_of, condition_terms(condition)), default=0) - _MOST_LEVELS
    return _Printer(dict(names or {}), 0, hidden=hidden).condition(condition)


class _Printer:
    def __init__(self, names: dict[str, Polynomial], depth: int, letters: str = _BOUNDS, hidden: int = 0) -> None:
        self.names, self.depth, self.letters, self.hidden = names, depth, letters, hidden

    def text(self, term: Term, level: int) -> str:
        text, own = self._parts(term)
        return f"({text})" if own < level else text

    def _parts(self, term: Term) -> tuple[str, int]:
        if 1 < depth_of(term) <= self.hidden:
            return "...", _ATOM
        match term:
            case Literal(value):
                return number_text(value), _ATOM
            case Index(value):
                renamed = self.polynomial(value)
                return str(renamed), _ATOM if len(renamed.terms) <= 1 else 1
            case Scalar(name):
                return name, _ATOM
            case Element(buffer, address):
                return f"{buffer}[{self.polynomial(address)}]", _ATOM
            case Function():
                return self._function(term)
            case Rounded(dtype, operand):
                is_wide = dtype in (FLOAT32, FLOAT64)
                return self._parts(operand) if is_wide else (f"{dtype}({self.text(operand, 0)})", _ATOM)
            case Fold():
                return self._fold(term), 3
            case Choice(conditions, on_true, on_false):
                test = " and ".join(self.condition(condition) for condition in conditions)
                return f"{self.text(on_true, 1)} if {test} else {self.text(on_false, 1)}", 0
            case _:
                return self._unfinished(term), _ATOM

    def _unfinished(self, term: Term) -> str:
        match term:
            case Leader(operand):
                return self.text(operand, _ATOM)
            case Moved(_, lane, operand):
                return f"lane({lane}: {self.text(operand, 0)})"
            case LanePartial(base=base):
                return f"lanes({self.text(base, 0)})"
            case Carried(buffer):
                return f"{buffer} of the iteration before"
            case Unknown(reason):
                return f"<{reason}>"
            case _:
                return "?"

    def polynomial(self, value: Polynomial) -> Polynomial:
        return replace_symbols(value, self.names)

    def _function(self, term: Function) -> tuple[str, int]:
        if len(term.arguments) == 2 and term.operator in _INFIX:
            level, sign = _INFIX[term.operator]
            left, right = term.arguments
            return f"{self.text(left, level)} {sign} {self.text(right, level + 1)}", level
        if len(term.arguments) == 2 and term.operator in _COMPARISONS:
            sides = [self.text(argument, 1) for argument in term.arguments]
            return f" {_COMPARISONS[term.operator]} ".join(sides), 0
        if term.operator is Operator.SQUARE:
            return f"{self.text(term.arguments[0], 4)}^2", 3
        if term.operator is Operator.NEGATE:
            return f"-{self.text(term.arguments[0], 2)}", 1
        name = {Operator.MAXIMUM: "max", Operator.MINIMUM: "min"}.get(term.operator, term.operator.value)
        return f"{name}({', '.join(self.text(argument, 0) for argument in term.arguments)})", _ATOM

    def _fold(self, term: Fold) -> str:
        places = {
            bound.variable: symbol(_letter(self.letters, self.depth + place)) for place, bound in enumerate(term.bounds)
        }
        inner = _Printer({**self.names, **places}, self.depth + len(term.bounds), self.letters, self.hidden)
        limits = ", ".join(inner.limits(bound) for bound in term.bounds)
        extra = "".join(f", {inner.condition(condition)}" for condition in term.conditions)
        name = _FOLDS.get(term.operator, term.operator.value)
        return f"{name}_{{{limits}{extra}}} {inner.text(term.body, 2)}"

    def limits(self, bound: Bound) -> str:
        name = self.names[bound.variable]
        start, stop, step = (self.polynomial(limit) for limit in (bound.start, bound.stop, bound.step))
        if str(start) == "0" and str(step) == "1":
            return f"{name}<{stop}"
        return f"{name}={start}..{stop}" + ("" if str(step) == "1" else f" by {step}")

    def condition(self, condition: Condition) -> str:
        match condition:
            case AtLeast(value):
                return _inequality(self.polynomial(value))
            case IsZero(value, negated):
                return f"{self.polynomial(value)} {'!=' if negated else '=='} 0"
            case Holds(term, negated):
                return f"not ({self.text(term, 0)})" if negated else self.text(term, 0)
            case NotAll(conditions):
                return "not (" + " and ".join(map(self.condition, conditions)) + ")"


def _inequality(value: Polynomial) -> str:
    """value >= 0 as `smaller < greater` with positive terms on both sides."""
    constant = dict(value.terms).get((), 0)
    rest = value - constant
    greater = Polynomial(tuple(term for term in rest.terms if term[1] > 0))
    smaller = -Polynomial(tuple(term for term in rest.terms if term[1] < 0))
    if constant < 0:
        left = smaller + (-constant - 1)
        return f"{left} < {greater}"
    return f"{smaller} <= {greater + constant}"


def number_text(value: Fraction | float) -> str:
    """A number as a programmer would write it."""
    if isinstance(value, Fraction | int):
        fraction = Fraction(value)
        return str(fraction.numerator) if fraction.denominator == 1 else f"{float(fraction):.7g}"
    return str(value)
