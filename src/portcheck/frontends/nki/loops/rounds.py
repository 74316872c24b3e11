"""One round of a loop that is kept: what is planned for it, what it allocates, how its numbers go on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from portcheck.core.dtype import INT64, DType
from portcheck.frontends.nki.values.ages import new_age
from portcheck.frontends.nki.values.arithmetic import difference, folded, known_int, plus, polynomial, same, times
from portcheck.frontends.nki.values.tiles import View
from portcheck.frontends.nki.values.values import Counter, Items, Table, Value
from portcheck.ir import (
    Apply,
    Expr,
    Operator,
    Ranges,
    Space,
    Symbol,
    apply,
    integer,
    refs_in,
    substitute,
    symbols_in,
)  # fmt: skip
from portcheck.ir.algebra import polynomial_of

if TYPE_CHECKING:
    from portcheck.frontends.nki.loops.slots import Held, Slot
    from portcheck.frontends.nki.state.mutation import Changes, Changing, State

ATTEMPTS = 9
"""Times that a body is evaluated, each with what the one before found out."""
Site = tuple[str, str, int]
"""Where a round allocates a tile: the name it is for, its place in the text, and how often that came before."""


@dataclass(frozen=True, slots=True)
class Made:
    """What is allocated at a site."""

    dtype: DType
    shape: tuple[Expr, ...]
    space: Space


@dataclass(frozen=True, slots=True)
class Form:
    """How a number goes on from round to round: `step` more in each, or else `previous` is what a round leaves.

    `previous` is an expression over the variable of the loop.
    """

    step: Expr | None = None
    previous: Expr | None = None


Where: TypeAlias = "bool | tuple[Expr, Where, Where]"
"""Whether something is so, or where it is: by a condition, where that holds, and where it does not."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is known before a body is evaluated: how numbers go on, which do so through memory, and which tiles last.

    Of those that are `outliving` the last is read behind the loop: all rounds share one.

    `places` are the numbers in objects that go on too. What is `lost`, each with the values that it may be, and the
    objects that are `forgotten` are not known in any round; what is lost `partly` is kept where that says. One that is
    `recalled` comes from an evaluation of the same text before and may not hold in this one.
    """

    forms: Mapping[Slot, Form] = field(default_factory=dict)
    through_memory: frozenset[Slot] = frozenset()
    places: frozenset[Held] = frozenset()
    lost: Mapping[Slot, tuple[Value, ...]] = field(default_factory=dict)
    partly: Mapping[Slot, Where] = field(default_factory=dict)
    forgotten: frozenset[Items | Table] = frozenset()
    lasting: Mapping[Site, Made] = field(default_factory=dict)
    outliving: Mapping[Site, Made] = field(default_factory=dict)
    variable: str = ""
    recalled: bool = False

    def over(self, variable: str) -> Plan:
        """The plan for a loop with another variable."""
        if variable == self.variable:
            return self
        name: dict[str, Expr] = {self.variable: Symbol(variable, INT64)}
        lasting = {
            site: replace(tile, shape=tuple(substitute(extent, name) for extent in tile.shape))
            for site, tile in self.lasting.items()
        }
        forms = {
            key: form if form.previous is None else replace(form, previous=substitute(form.previous, name))
            for key, form in self.forms.items()
        }
        return replace(self, forms=forms, lasting=lasting, variable=variable)

    def of_older(self, age: int) -> Plan:
        """The plan without the objects made since `age`."""

        def is_older(slot: Slot) -> bool:
            return isinstance(slot, str) or slot.item.age < age

        return replace(
            self,
            forms={slot: form for slot, form in self.forms.items() if is_older(slot)},
            through_memory=frozenset(filter(is_older, self.through_memory)),
            places=frozenset(filter(is_older, self.places)),
            lost={slot: values for slot, values in self.lost.items() if is_older(slot)},
            partly={slot: where for slot, where in self.partly.items() if is_older(slot)},
            forgotten=frozenset(item for item in self.forgotten if item.age < age),
        )


@dataclass(frozen=True, slots=True)
class Remembered:
    """A plan that was found, and when what was going on then had begun: it is taken back in that order."""

    plan: Plan
    begun: tuple[int, ...]

    def now(self, going_on: Collection[int]) -> Plan:
        """The plan without objects of what may have been taken back: of what is not going on any more."""
        ended = next((age for age in self.begun if age not in going_on), None)
        return self.plan if ended is None else self.plan.of_older(ended)


@dataclass(slots=True, eq=False)
class Round:
    """The round that is being evaluated; `is_traced` says that Python runs it once, whatever the loop's length.

    `guesses` are the symbols that stand for numbers of which it is not known yet how they go on, `ends` what the names
    held where the round ended early, `early` the older objects that had changed there with
    what they held, `stacks` the tiles that last, one beside the other, by their site, or the one that all rounds share;
    `length` is how many rounds
    there are, if that is known.
    """

    changes: Changes
    counter: Counter | None = None
    variable: Symbol | None = None
    is_traced: bool = False
    plan: Plan = field(default_factory=Plan)
    stacks: dict[Site, View] = field(default_factory=dict)
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    sites: dict[str, Site] = field(default_factory=dict)
    made: dict[Site, Made] = field(default_factory=dict)
    guesses: dict[Slot, Symbol] = field(default_factory=dict)
    ends: list[dict[Slot, Value]] = field(default_factory=list)
    early: list[tuple[Changing, State]] = field(default_factory=list)
    since: int = field(default_factory=new_age)
    counted: View | None = None
    """The register that counts the rounds that come to their end, where some may not."""
    begun: tuple[int, int] = (0, 0)
    """How many assertions and conditions of arms held already when the loop began."""
    length: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.length = None if self.counter is None else known_int(length_of(self.counter))

    def site(self, hint: str, place: str) -> Site:
        """The site of the next tile that is allocated for `hint` at `place`."""
        number = self.counts.get((hint, place), 0)
        self.counts[hint, place] = number + 1
        return hint, place, number

    @property
    def place(self) -> Expr | None:
        """How many rounds came before this one."""
        return None if self.counter is None or self.variable is None else place_of(self.counter, self.variable)


def place_of(counter: Counter, value: Expr) -> Expr:
    """How many values of a range come before `value`."""
    distance = difference(value, counter.start)
    if known_int(counter.step) == 1:
        return distance
    return apply(Operator.FLOOR_DIVIDE, distance, counter.step)


def length_of(counter: Counter) -> Expr:
    """How many values a range has."""
    distance = difference(counter.stop, counter.start)
    if known_int(counter.step) != 1:
        distance = apply(Operator.CEILING_DIVIDE, distance, counter.step)
    count = known_int(distance)
    if count is not None:
        return integer(max(0, count))
    if Ranges().is_nonnegative(polynomial_of(distance)):
        return distance
    return apply(Operator.MAXIMUM, distance, integer(0))


def last_of(counter: Counter) -> Expr:
    """The last value of a range that is not empty."""
    distance = difference(counter.stop, counter.start)
    rounds = distance if known_int(counter.step) == 1 else apply(Operator.CEILING_DIVIDE, distance, counter.step)
    count = known_int(rounds)
    before = integer(count - 1) if count is not None else plus(rounds, integer(-1))
    return plus(counter.start, times(before, counter.step))


def form_of(end: Expr, name: Slot, made: Round) -> Form | None:
    """How the number that `name` stands for goes on, which is `end` at the end of a round; None if in no plain way."""
    guess = made.guesses[name]
    if refs_in(end):
        return None
    guessed = {item.name for item in made.guesses.values()}
    if not symbols_in(end) & guessed:
        return Form(previous=end)
    step = beyond(end, guess)
    own = {made.variable.name} if made.variable is not None else set()
    return Form(step=step) if step is not None and not symbols_in(step) & (guessed | own) else None


def beyond(end: Expr, guess: Symbol) -> Expr | None:
    """`end` - `guess` where the guess cancels out."""
    if not guess.dtype.is_integer:
        return None
    terms = polynomial(apply(Operator.SUBTRACT, end, guess))
    if terms is None:
        return None
    total: Expr = integer(0)
    for factors, count in terms.items():
        part: Expr = integer(count)
        for factor in factors:
            part = times(part, factor)
        total = plus(total, part)
    return folded(total)


def at_round(form: Form, start: Expr, made: Round) -> Expr:
    """What a number is at the start of a round, if it was `start` before the loop."""
    assert made.counter is not None and made.variable is not None and made.place is not None
    if form.step is not None:
        return plus(start, _advanced(made.counter, made.variable, made.place, form.step))
    assert form.previous is not None
    before = plus(made.variable, folded(times(integer(-1), made.counter.step)))
    previous = substitute(form.previous, {made.variable.name: before})
    is_first = apply(Operator.EQUAL, made.variable, made.counter.start)
    return previous if previous == start else Apply(Operator.SELECT, (is_first, start, previous), start.dtype)


def _advanced(counter: Counter, variable: Symbol, place: Expr, step: Expr) -> Expr:
    """`step` for each round before this one."""
    each, stride = known_int(step), known_int(counter.step)
    if each is not None and stride and each % stride == 0:
        return times(difference(variable, counter.start), integer(each // stride))
    return times(place, step)


def after_rounds(form: Form, start: Expr, made: Round) -> Expr:
    """What a number is after the loop, if it was `start` before."""
    assert made.counter is not None and made.variable is not None
    length = length_of(made.counter)
    if form.step is not None:
        return plus(start, times(length, form.step))
    assert form.previous is not None
    last = substitute(form.previous, {made.variable.name: last_of(made.counter)})
    if Ranges().is_nonnegative(polynomial_of(length) - 1) or last == start:
        return last
    some = apply(Operator.GREATER, length, integer(0))
    return Apply(Operator.SELECT, (some, last, start), start.dtype)


def goes_on(form: Form, start: Expr, end: Expr, made: Round) -> bool:
    """Whether a round that begins with a number as `form` says, after `start` before the loop, ends as it says."""
    if form.step is not None:
        return same(end, plus(at_round(form, start, made), form.step))
    assert form.previous is not None
    return same(end, form.previous)


def are_as_planned(made: Round) -> bool:
    """Whether the tiles that are planned to last were allocated as planned."""
    planned = {**made.plan.lasting, **made.plan.outliving}
    found = ((made.made.get(site), tile) for site, tile in planned.items())
    return all(one is not None and _are_one_kind(one, other) for one, other in found)


def _are_one_kind(one: Made, other: Made) -> bool:
    is_alike = (one.dtype, one.space, len(one.shape)) == (other.dtype, other.space, len(other.shape))
    return is_alike and all(map(same, one.shape, other.shape))


def agrees(form: Form, end: Expr, name: Slot, made: Round) -> bool:
    """Whether a round that ends early leaves the number as `form` says."""
    other = form_of(end, name, made)
    if other is None or (other.step is None) is not (form.step is None):
        return False
    one, two = (form.step, other.step) if form.step is not None else (form.previous, other.previous)
    return one is not None and two is not None and same(one, two)
