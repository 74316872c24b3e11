"""What is shared while one program is lowered: the builder, the knowledge, names in use, facts about parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portcheck.core.dtype import INT64, DType, dtype_of
from portcheck.core.source import Span
from portcheck.frontends.nki.loops.rounds import Remembered, Round, Site
from portcheck.frontends.nki.state.answers import answer
from portcheck.frontends.nki.state.choices import Choices
from portcheck.frontends.nki.state.clauses import Clauses
from portcheck.frontends.nki.state.facts import Facts, sizes_in
from portcheck.frontends.nki.state.failure import ForkError
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.joins import Joins
from portcheck.frontends.nki.state.mutation import Journal, State
from portcheck.frontends.nki.state.naming import fresh
from portcheck.frontends.nki.state.noted import Noted
from portcheck.frontends.nki.state.recorder import Recorder
from portcheck.frontends.nki.state.results import Results
from portcheck.frontends.nki.values.ages import new_age
from portcheck.frontends.nki.values.arithmetic import implied
from portcheck.frontends.nki.values.callables import Function
from portcheck.frontends.nki.values.tiles import Buffer, Dimension, Grid, Result, View
from portcheck.frontends.nki.values.values import Either, Items, Nothing, Unknown, Value, choice_of
from portcheck.ir import ZERO, Assume, Axis, Expr, Opaque, OpaqueKind, Space, Symbol, ValueType, integer
from portcheck.ir.expr import Ref
from portcheck.knowledge import Knowledge, NkiVersion

if TYPE_CHECKING:
    import libcst as cst

    from portcheck.frontends.nki.loops.carrying import Carried
    from portcheck.frontends.nki.state.flow import Flow
    from portcheck.frontends.nki.state.learning import Known, Learned
    from portcheck.frontends.nki.state.scope import Scope

FUEL = 400_000
"""Syntax nodes evaluated for one kernel; what is left after that is opaque."""

_AXES = ("p", "f")
"""What the axes of accesses are called; there may be a number behind."""
_POSITION = "dim"
"""What the positions in a tile are called, with a number behind."""
_DIGITS = "0123456789"
_USUAL_RANK = 2
_CURRENT = NkiVersion(0, 2)
"""The first version of the current generation."""


class OutOfFuelError(Exception):
    """The kernel evaluates more than FUEL syntax nodes."""


@dataclass(slots=True, eq=False)
class Context:
    """The state of one lowering; `evaluate`, `call` and `run` lead back into the interpreter."""

    builder: Recorder
    knowledge: Knowledge
    version: NkiVersion
    target: str
    path: str
    facts: dict[str, Facts]
    scalars: dict[str, DType]
    shapes: dict[str, str]
    dtypes: dict[str, str]
    values: dict[str, str]
    evaluate: Callable[[Context, Frame, cst.CSTNode, str], Value]
    call: Callable[[Context, Function, Sequence[Value], dict[str, Value]], Value]
    invoke: Callable[[Context, Value, str, Sequence[Value], dict[str, Value]], Value]
    run: Callable[[Context, Frame, Sequence[cst.CSTNode]], Flow]
    truth: Callable[[Context, Value], bool | None]
    assign: Callable[[Context, Frame, cst.CSTNode, Value], None]
    buffers: dict[str, None] = field(default_factory=dict)
    symbols: dict[str, None] = field(default_factory=dict)
    bound: set[str] = field(default_factory=lambda: set(_AXES))
    free: dict[str, Symbol] = field(default_factory=dict)
    chosen: dict[tuple[Expr, DType, DType], DType] = field(default_factory=dict)
    abbreviations: dict[Expr, Expr] = field(default_factory=dict)
    results_of: Results = field(default_factory=Results)
    """The names of dtypes that are one of two by a condition, and of numbers that are too large to be written out."""
    undefined: dict[str, Unknown] = field(default_factory=dict)
    numbers: dict[int, tuple[Unknown, Symbol]] = field(default_factory=dict)
    program_axes: dict[str, Axis] = field(default_factory=dict)
    results: tuple[str, ...] = ()
    registers: dict[str, View] = field(default_factory=dict)
    """The accumulator registers of each engine that has any."""
    shown: dict[tuple[str, str], Buffer] = field(default_factory=dict)
    """The buffers that show another as elements of another dtype, by its name and that of the dtype."""
    kept_numbers: dict[str, View | Expr] = field(default_factory=dict)
    """The registers of numbers of Python that are too large to be written out where they are used, or their values."""
    via: str = ""
    mask: Grid | Expr | None = None
    loop_depth: int = 0
    carried: list[Sequence[Carried]] = field(default_factory=list)
    rounds: list[Round | None] = field(default_factory=list)
    plans: dict[tuple[Span, ...], Remembered] = field(default_factory=dict)
    """What was found out about the rounds of each loop that was evaluated, by how it was reached."""
    unkept: set[tuple[Span, ...]] = field(default_factory=set)
    """The loops that had to be evaluated round by round, by how they were reached."""
    site: Site | None = None
    inlining: int = 0
    fuel: int = FUEL
    counter: int = 0
    views: dict[str, View] = field(default_factory=dict)
    holding: dict[Expr, bool] = field(default_factory=dict)
    """The conditions of the arms that are being evaluated; `arms` of them they say, the others follow."""
    arms: int = 0
    forked: list[cst.CSTNode] = field(default_factory=list)
    """The statements that are being evaluated for either of two values, once for each time."""
    returning: Expr | None = None
    """By which condition some path returns from a function, in the loop that is being evaluated."""
    asserted: tuple[Expr, ...] = ()
    clauses: Clauses = field(default_factory=Clauses)
    sizes: set[str] = field(default_factory=set)
    """The symbols that stand for sizes of tensors."""
    known: tuple[tuple[object, ...], Known] | None = None
    """What follows from all that, and from what it was worked out."""
    learned: dict[tuple[frozenset[str], frozenset[str]], Learned] = field(default_factory=dict)
    settled: list[Result] = field(default_factory=list)
    """The computed tiles that were given a buffer, in that order."""
    formats: set[str] = field(default_factory=set)
    """The parameters that were used as dtypes."""
    left_out: list[str] = field(default_factory=list)
    """The parameters that are taken to be None, their default."""
    deepened: set[str] = field(default_factory=set)
    """The parameters that were seen to have more dimensions than were assumed."""
    may_read_again: bool = False
    """Whether the kernel may be read from its start as soon as a parameter is seen to be another than it was taken."""
    noted: Noted = field(default_factory=Noted)
    journal: Journal = field(default_factory=Journal)
    choices: Choices = field(default_factory=Choices)
    lazy: dict[int, tuple[Items, int]] = field(default_factory=dict)
    """The iterators of the statement whose elements were computed, and the next operation when they were."""
    joins: Joins = field(default_factory=Joins)
    """The tiles that branches put into one buffer."""
    parts: dict[str, None] = field(default_factory=dict)
    home: Frame | None = None
    homes: dict[Scope, Frame] = field(default_factory=dict)
    pending: set[tuple[Scope, str]] = field(default_factory=set)

    @property
    def is_legacy(self) -> bool:
        """Whether the port is written for the first generation."""
        return self.version < _CURRENT

    def resolve(self, value: Value) -> Value:
        """`value`, or the one of two values that the arm of a branch leaves that is being evaluated."""
        while (choice := choice_of(value)) is not None and (holds := self.holds(choice[0])) is not None:
            value = choice[1] if holds else choice[2]
            if isinstance(value, Nothing):
                return Nothing(choice[0])
        return value

    def is_chosen(self, value: Value | None) -> bool:
        """Whether `value` is `None` because of a condition of the arm that is being evaluated, and else another."""
        condition = value.chosen_by if isinstance(value, Nothing) else None
        return condition is not None and self.holds(condition) is not None

    def holds(self, condition: Expr) -> bool | None:
        """Whether the arm of a branch that is being evaluated is one where `condition` holds; None where it is open."""
        return answer(condition, self.holding) if self.holding else None

    def certain(self, value: Value) -> Value:
        """`value`, or the one of two values that it is here; raises ForkError where that is not known."""
        value = self.resolve(value)
        if isinstance(value, Either):
            raise ForkError(value.condition)
        return value

    @contextmanager
    def assuming(self, condition: Expr, holds: bool) -> Iterator[dict[int, State]]:
        """Evaluates what runs only where `condition` holds, or does not; gives what lists hold for that reason."""
        before, asserted, clauses = self.holding, self.asserted, self.clauses.held
        said = implied(condition, holds)
        self.holding = self.clauses.with_consequences(before, condition, holds) or {**before, **said}
        self.arms += len(said)
        try:
            with self.choices.taken(self.journal, self.holds) as taken:
                yield taken
        finally:
            self.holding, self.asserted = before, asserted
            self.arms -= len(said)
            self.clauses.leave(clauses, condition, holds)

    def assert_that(self, condition: Expr, via: str) -> None:
        """From here on `condition` holds: the port says so."""
        self.builder.emit(Assume, via=via, condition=condition)
        self.asserted = (*self.asserted, condition)
        self.clauses.add(condition)

    def marks(self) -> tuple[int, ...]:
        """How many names of buffers and symbols are taken, and what was noted, asserted and settled so far."""
        taken = len(self.buffers), len(self.symbols), self.noted.mark(), len(self.asserted)
        return (*taken, len(self.settled), self.builder.mark(), len(self.clauses.held), new_age())

    def release(self, marks: tuple[int, ...]) -> None:
        """Gives back the names taken, and takes back what was noted, asserted and settled, since `marks`."""
        self.builder.take_back(marks[5])
        while len(self.settled) > marks[4]:
            self.settled.pop().view = None
        while len(self.buffers) > marks[0]:
            self.buffers.popitem()
        while len(self.symbols) > marks[1]:
            name = self.symbols.popitem()[0]
            self.builder.give_back(name)
            self.abbreviations.pop(self.abbreviations.pop(Symbol(name, INT64), ZERO), None)
        self.noted.take_back(marks[2])
        self.asserted = self.asserted[: marks[3]]
        self.clauses.held = self.clauses.held[: marks[6]]
        self.results_of.forget(marks[7])

    def settled_since(self, marks: tuple[int, ...]) -> list[Result]:
        """The computed tiles that were given a buffer since `marks`."""
        return self.settled[marks[4] :]

    def burn(self, count: int = 1) -> None:
        """Counts evaluated nodes, or elements of lists that are copied."""
        self.fuel -= count
        if self.fuel < 0:
            raise OutOfFuelError

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Evaluates what ran before the kernel: outside its loops and branches, and without a trace in it."""
        kept = (self.loop_depth, self.carried, self.rounds, self.journal, self.noted)
        self.loop_depth, self.carried, self.rounds, self.journal, self.noted = 0, [], [], Journal(), Noted()
        try:
            with self.builder.region():
                yield
        finally:
            self.loop_depth, self.carried, self.rounds, self.journal, self.noted = kept

    def placeholder(self, extent: Expr, label: str = "", *, spread: bool = False) -> Dimension:
        """A fresh dimension."""
        self.counter += 1
        return Dimension(f"${self.counter}", extent, self.label(label), spread)

    def label(self, wanted: str) -> str:
        """`wanted` as the name of an axis, "" where something else has it."""
        if not wanted or wanted in self.symbols:
            return ""
        self.bound.add(wanted)
        return wanted

    def fresh_buffer(self, wanted: str) -> str:
        """`wanted`, or a name like it that no buffer has."""
        return fresh(wanted or "tile", self.buffers)

    def fresh_symbol(self, wanted: str) -> str:
        """`wanted`, or a name like it that no symbol has."""
        return fresh(wanted, self.symbols)

    def bind_symbol(self, wanted: str) -> str:
        """A symbol that a loop binds."""
        made = self.fresh_symbol(wanted)
        self.bound.add(made)
        return made

    def is_bound(self, name: str) -> bool:
        """Whether `name` may be that of a loop, an axis or a position of a tile."""
        stem = name.rstrip(_DIGITS)
        return name in self.bound or stem in self.bound or (stem == _POSITION and stem != name)

    def free_symbol(self, text: str) -> Symbol:
        """The number that `text` stands for where nothing says which; no loop, axis or position has its name."""
        found = self.free.get(text)
        if found is None or found.name not in self.symbols:  # it may have been given back
            name = self.fresh_symbol(f"{text}'") if self.is_bound(text) else text
            self.symbols[name] = None
            found = self.free[text] = Symbol(name, INT64)
        return found

    def number_of(self, value: Unknown, text: str = "") -> Symbol:
        """The number that a value that was not understood may be: one for each value, whatever their texts are."""
        held = self.numbers.get(id(value))
        if held is None or held[1].name not in self.symbols:  # it may have been given back
            held = self.numbers[id(value)] = (value, self.some_number(value.text or text))
        return held[1]

    def some_number(self, text: str) -> Symbol:
        """A number that nothing states and that no other is known to equal, called after `text`."""
        return Symbol(self.fresh_symbol(f"{text}'" if self.is_bound(text) else text), INT64)

    def fail_left_out(self) -> None:
        """Notes for the next pass that a kernel fails here: what was taken to be left out is given."""
        for parameter in self.left_out:
            self.facts[parameter].is_given = True

    def stated_dtype(self, name: str) -> DType | None:
        """What the options say about the dtype of the parameter `name`."""
        facts = self.knowledge.dtype(self.dtypes[name]) if name in self.dtypes else None
        return None if facts is None else DType(facts.name, facts.kind)

    def parameter_view(self, name: str, rank: int = 0) -> View:
        """The tensor parameter `name`; `rank` is assumed as long as nothing shows it (0: what was assumed last)."""
        facts = self.facts[name]
        facts.is_tensor = True
        self.use(name)
        found = self.views.get(name)
        last = _USUAL_RANK if found is None else len(found.dimensions)
        count = len(sizes_in(self.shapes.get(name, ""))) or facts.count(rank or last)
        if found is None or len(found.dimensions) != count:
            shape = tuple(self._size_at(name, position) for position in range(count))
            dtype = self.stated_dtype(name) or dtype_of(name)
            dimensions = tuple(self.placeholder(extent) for extent in shape)
            index = tuple(Symbol(dimension.symbol, INT64) for dimension in dimensions)
            found = View(Buffer(name, dtype, shape, Space.GLOBAL), dimensions, index)
            self.views[name] = found
        return found

    def assume(self, text: str) -> None:
        """Notes something that is taken to hold, which a report must say."""
        if self.home is not None and self.home.file is not None:
            self.home.file.assume(text)

    def use(self, name: str) -> None:
        """Notes that a part of a parameter is used: it is a parameter of its own then."""
        if self.facts[name].is_part:
            self.parts[name] = None

    def scalar(self, name: str) -> Symbol:
        """The parameter `name`, or part of one, as a number."""
        self.use(name)
        return Symbol(name, self.stated_dtype(name) or self.scalars.get(name, dtype_of(name)))

    def size_of(self, name: str, position: int) -> Expr:
        """The extent of dimension `position` of the parameter `name`: stated, or a symbol."""
        self.facts[name].seen_dimension(position)
        return self._size_at(name, position)

    def _size_at(self, name: str, position: int) -> Expr:
        stated = sizes_in(self.shapes.get(name, ""))
        if position < len(stated):
            return integer(stated[position])
        symbol = self.facts[name].name_at(position) or f"{name}.shape[{position}]"
        return self.size(symbol)

    def size(self, symbol: str) -> Expr:
        """The size called `symbol`, as a number where the options state it."""
        stated = sizes_in(self.shapes.get(symbol, ""))
        if len(stated) == 1:
            return integer(stated[0])
        self.sizes.add(symbol)
        return Symbol(symbol, INT64)

    def name_dimension(self, parameter: str, position: int, local: str) -> None:
        """Notes that dimension `position` of `parameter` is unpacked into the local called `local`."""
        facts = self.facts[parameter]
        if not local or local.strip("_") == "" or facts.is_named(position) or self.is_bound(local):
            return
        if local not in self.symbols:
            self.symbols[local] = None
            facts.name(position, local)

    def opaque(
        self,
        reason: str,
        via: str,
        *,
        reads: Sequence[str] = (),
        writes: Sequence[str] = (),
        operands: Sequence[Expr] = (),
        value: ValueType | None = None,
        kind: OpaqueKind = OpaqueKind.SYNTAX,
    ) -> Ref | None:
        """Emits an operation that was not understood; its result where `value` says what it is like, and may here."""
        if value is not None and not all(map(self.builder.sees, value.shape)):
            value = None
        made = self.builder.emit(
            Opaque,
            via=via,
            reason=reason,
            reads=tuple(dict.fromkeys(reads)),
            writes=tuple(dict.fromkeys(writes)),
            operands=tuple(operands),
            type=value,
            kind=kind,
        )
        return Ref(made.id, value.dtype) if value is not None else None

    def unknown(self, text: str, reason: str, *parts: Value, kind: OpaqueKind = OpaqueKind.SYNTAX) -> Unknown:
        """A value that was not understood."""
        return Unknown(text, reason, parts, kind)
