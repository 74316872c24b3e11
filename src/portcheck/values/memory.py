"""Buffers as lists of writes, and what a read of an element finds in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count

from portcheck.core.dtype import DType
from portcheck.ir import Polynomial, Ranges, WriteMode, number
from portcheck.ir.algebra import floor_divide, floor_modulo
from portcheck.ir.polynomial import symbol
from portcheck.ir.ranges import INDEX_MARK
from portcheck.values.conditions import simplified, truth
from portcheck.values.fusion import Quantified, fuse, ranges_of, replaced, unit
from portcheck.values.terms import (
    AtLeast,
    Bound,
    Carried,
    Choice,
    Condition,
    Element,
    IsZero,
    Term,
    Unknown,
    condition_symbols,
    symbols_of,
)


@dataclass(frozen=True, slots=True)
class Write:
    """A store: `scope` quantifies over the threads, tile axes and finished loops that carried it out."""

    scope: Quantified
    mode: WriteMode = WriteMode.OVERWRITE
    operation: int = 0


@dataclass(frozen=True, slots=True)
class Marker:
    """Where a loop body begins: what is read beyond it was left by the iteration before."""

    buffer: str


@dataclass(frozen=True, slots=True)
class Havoc:
    """A point after which nothing is known of the buffer."""

    reason: str


Event = Write | Marker | Havoc


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer and what happened to it, latest last. `per_thread` buffers are registers: each thread has its own."""

    name: str
    shape: tuple[Polynomial, ...]
    dtype: DType
    is_input: bool
    per_thread: bool
    events: tuple[Event, ...] = ()

    def then(self, event: Event) -> Buffer:
        """This buffer after one more event."""
        return replace(self, events=(*self.events, event))

    def address(self, index: tuple[Polynomial, ...]) -> Polynomial:
        """The row-major offset of an element; a single index on a buffer of several dimensions is that already."""
        if len(index) == 1 or not self.shape:
            return index[0] if index else number(0)
        offset = number(0)
        for position, extent in zip(index, self.shape, strict=True):
            offset = offset * extent + position
        return offset


def _unwritten(buffer: Buffer) -> Unknown:
    return Unknown(f"{buffer.name} is read before it is written")


def _depends_on_sizes(condition: Condition) -> bool:
    """Whether a condition may hold for some sizes: one over indices of known extents alone is decided already."""
    return any(not name.startswith(INDEX_MARK) for name in condition_symbols(condition))


@dataclass(slots=True)
class Reader:
    """Reads elements of buffers. `given` are the conditions under which the read happens.

    With `trusting`, a program is taken never to read what it did not write: where only one store reaches an element,
    the conditions for it are taken to hold. `assumed` collects the buffers for which that was needed. `threads` are
    the indices of threads, of which there is always one.
    """

    ranges: Ranges
    given: tuple[Condition, ...] = ()
    trusting: bool = False
    assumed: list[str] = field(default_factory=list)
    threads: frozenset[str] = frozenset()
    _fresh: count[int] = field(default_factory=count)

    def read(self, buffer: Buffer, index: tuple[Polynomial, ...]) -> Term:
        """The element at `index`: the value of the latest write that reaches it, or the input's own."""
        perhaps: list[tuple[tuple[Condition, ...], Term]] = []
        term = self._certain(buffer, index, perhaps)
        for conditions, value in reversed(perhaps):
            term = self._chosen(conditions, value, buffer, term)
        return term

    def _certain(
        self, buffer: Buffer, index: tuple[Polynomial, ...], perhaps: list[tuple[tuple[Condition, ...], Term]]
    ) -> Term:
        """What the element is if none of the writes puts a value there that may; these are added to `perhaps`."""
        for event in reversed(buffer.events):
            match event:
                case Marker():
                    return Carried(buffer.name, index)
                case Havoc(reason):
                    return Unknown(reason)
                case Write():
                    found = self._found(event, buffer, index)
            if isinstance(found, Unknown):
                return found
            if found is None:
                continue
            value, conditions = found
            if not conditions:
                return value
            perhaps.append((conditions, value))
        return self._untouched(buffer, index)

    def _chosen(self, conditions: tuple[Condition, ...], value: Term, buffer: Buffer, otherwise: Term) -> Term:
        is_open = all(_depends_on_sizes(condition) for condition in conditions)
        if self.trusting and is_open and otherwise == _unwritten(buffer):
            self.assumed.append(buffer.name)
            return value
        return Choice(conditions, value, otherwise)

    def _untouched(self, buffer: Buffer, index: tuple[Polynomial, ...]) -> Term:
        if buffer.is_input:
            return Element(buffer.name, buffer.address(index))
        return _unwritten(buffer)

    def _found(
        self, write: Write, buffer: Buffer, index: tuple[Polynomial, ...]
    ) -> tuple[Term, tuple[Condition, ...]] | Unknown | None:
        """The value `write` gives the element and the conditions for it; None if it never reaches the element."""
        if write.mode is not WriteMode.OVERWRITE:
            return Unknown(f"{buffer.name} is read after an accumulating store")
        if self._is_same_part(write.scope, index):
            conditions = simplified(write.scope.conditions, self.ranges, self.given)
            return None if conditions is None else (write.scope.value, conditions)
        scope = self._renamed(write.scope)
        fused = fuse(scope, self.ranges)
        if fused is None:
            return None
        target = index
        if len(fused.index) != len(index):
            target = (buffer.address(index),)
            fused = replace(fused, index=(buffer.address(fused.index),))
        solved = self._solve(fused, target)
        if solved is None or isinstance(solved, Unknown):
            return solved
        return self._settled(solved, buffer)

    def _is_same_part(self, scope: Quantified, index: tuple[Polynomial, ...]) -> bool:
        """Whether elements are read by the very symbols that they were written by, each of which is an index itself."""
        if scope.index != index:
            return False
        names = [bound.variable for bound in scope.bounds]
        alone = {str(part) for part in index if part == symbol(str(part))}
        others = (part for part in index if str(part) not in names)
        return (
            alone.issuperset(names)
            and all(unit(bound) and self.ranges.extents.get(bound.variable) == bound.stop for bound in scope.bounds)
            and not any(part.symbols.intersection(names) for part in others)
        )

    def _renamed(self, scope: Quantified) -> Quantified:
        if not scope.bounds:
            return scope
        mark = next(self._fresh)
        names = {bound.variable: symbol(f"{bound.variable}'{mark}") for bound in scope.bounds}
        inner = ranges_of(scope.bounds, self.ranges)
        for bound in scope.bounds:
            if bound.variable in inner.extents:
                inner = inner.with_extent(f"{bound.variable}'{mark}", bound.stop)
        bounds = tuple(replace(bound, variable=f"{bound.variable}'{mark}") for bound in scope.bounds)
        return replaced(replace(scope, bounds=bounds), names, inner)

    def _solve(self, scope: Quantified, index: tuple[Polynomial, ...]) -> Quantified | Unknown | None:
        """`scope` narrowed to the one instance that writes `index`."""
        equations = [left - right for left, right in zip(scope.index, index, strict=True)]
        scope = replace(scope, index=tuple(equations))
        for position in range(len(equations)):
            outcome = self._solve_one(scope, scope.index[position])
            if not isinstance(outcome, Quantified):
                return outcome
            scope = outcome
        return scope

    def _solve_one(self, scope: Quantified, equation: Polynomial) -> Quantified | Unknown | None:
        names = {bound.variable for bound in scope.bounds}
        inner = ranges_of(scope.bounds, self.ranges)
        if not equation.symbols & names:
            equal = truth(IsZero(equation), inner, self.given)
            if equal is False:
                return None
            return scope if equal else replace(scope, conditions=(*scope.conditions, IsZero(equation)))
        digits = self._digits(scope, equation, inner)
        if digits is not None:
            return digits
        for bound in scope.bounds:
            coefficient = equation.coefficient(bound.variable)
            if coefficient is None or coefficient.constant not in (1, -1) or not unit(bound):
                continue
            rest = equation - coefficient * symbol(bound.variable)
            value = rest if coefficient.constant == -1 else -rest
            limits = (AtLeast(value), AtLeast(bound.stop - value - 1))
            others = tuple(other for other in scope.bounds if other is not bound)
            narrowed = Quantified(others, (*scope.conditions, *limits), scope.index, scope.value)
            return replaced(narrowed, {bound.variable: value}, inner)
        return Unknown("an element is read that the index of its store does not determine")

    def _digits(self, scope: Quantified, equation: Polynomial, ranges: Ranges) -> Quantified | None:
        """`scope` solved for outer*R + inner == position with inner < R: quotient and remainder of the position."""
        involved = [bound for bound in scope.bounds if bound.variable in equation.symbols]
        if len(involved) != 2 or not all(map(unit, involved)):
            return None
        for outer, inner in (involved, involved[::-1]):
            high, low = equation.coefficient(outer.variable), equation.coefficient(inner.variable)
            sign = low.constant if low is not None else None
            if high is None or sign not in (1, -1) or high != inner.stop * sign:
                continue
            rest = equation - high * symbol(outer.variable) - symbol(inner.variable) * sign
            position = rest if sign == -1 else -rest
            solution = {
                outer.variable: floor_divide(position, inner.stop, ranges),
                inner.variable: floor_modulo(position, inner.stop, ranges),
            }
            others = tuple(bound for bound in scope.bounds if bound not in involved)
            limits = (AtLeast(position), AtLeast(outer.stop * inner.stop - position - 1))
            narrowed = Quantified(others, (*scope.conditions, *limits), scope.index, scope.value)
            return replaced(narrowed, solution, ranges)
        return None

    def _settled(self, scope: Quantified, buffer: Buffer) -> tuple[Term, tuple[Condition, ...]] | Unknown | None:
        fused = fuse(replace(scope, index=()), self.ranges)
        if fused is None:
            return None
        names = {bound.variable for bound in fused.bounds}
        if symbols_of(fused.value) & names:
            return Unknown(f"an element of {buffer.name} is written more than once before it is read")
        runs = (AtLeast(bound.stop - bound.start - 1) for bound in fused.bounds if not self._always_exists(bound))
        conditions = simplified((*fused.conditions, *runs), ranges_of(fused.bounds, self.ranges), self.given)
        if conditions is None:
            return None
        if any(names & condition_symbols(condition) for condition in conditions):
            return Unknown(f"which store of {buffer.name} is read depends on more than its index")
        return fused.value, conditions

    def _always_exists(self, bound: Bound) -> bool:
        name = bound.variable.partition("'")[0]
        return name in self.threads or name[1:].isdigit()


def written(
    bounds: tuple[Bound, ...], index: tuple[Polynomial, ...], conditions: tuple[Condition, ...], value: Term,
    mode: WriteMode, operation: int,
) -> Write:  # fmt: skip
    """A write event."""
    return Write(Quantified(bounds, conditions, index, value), mode, operation)
