"""The port as these rules see it: the calls it was seen to make, with their operands, and what bounds its sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from portcheck.core.source import Span
from portcheck.ir import Alloc, Assume, Branch, Const, Expr, Kernel, Leave, Op, Program, Return, Space
from portcheck.ir.algebra import polynomial_of
from portcheck.ir.polynomial import Polynomial, number, symbol
from portcheck.ir.ranges import EVERYTHING, Ranges
from portcheck.ir.uses import Run, TileUse, Use, UseKind, tiles_in
from portcheck.ir.walk import operations, regions
from portcheck.knowledge import ApiVersion, Chip, Knowledge, NkiVersion, OperandFacts, Role
from portcheck.passes.assertions import assertions
from portcheck.rules._base import Pair
from portcheck.rules.fit.deciding import decided, is_given

ON_CHIP = (Space.SHARED, Space.PSUM)
_LEGACY = NkiVersion(0, 1)


@dataclass(frozen=True, slots=True)
class Port:
    """A program for one chip and version, with the tables.

    `ranges` are what the assertions of each kernel say of its sizes. `entries` are the kernels that give back device
    memory which they allocate: only of these it is certain that they are launched, and that no parameter is a tile.
    `always` are the places of text that the compiler reaches whatever is given: in no arm of an undecided `if`, and
    behind none that leaves.
    """

    program: Program
    chip: Chip
    version: NkiVersion
    knowledge: Knowledge
    ranges: Mapping[str, Ranges]
    entries: frozenset[str]
    always: frozenset[Span]

    @property
    def is_legacy(self) -> bool:
        """Whether it is written in the generation where calls give back tiles."""
        return (self.version.major, self.version.minor) == (_LEGACY.major, _LEGACY.minor)


@dataclass(frozen=True, slots=True)
class Call:
    """One evaluation of a call that the version has."""

    port: Port
    use: Use
    run: Run
    api: ApiVersion

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.use.name.rpartition(".")[2]

    @property
    def is_masked(self) -> bool:
        """Whether a mask may leave less of its tiles than their shapes say."""
        return any(is_given(self.run, argument.parameter) for argument in self.run.with_role(Role.MASK))

    def decide(self, parameter: str, word: str) -> bool | None:
        """Whether the argument for `parameter` is `word`; None where that cannot be told."""
        return decided(self.run, self.api, self.port.knowledge, parameter, word)

    def exceeds(self, sizes: tuple[Expr, ...], limit: int) -> bool:
        """Whether the product of `sizes` is greater than `limit` for all sizes that the assertions leave."""
        total = number(1)
        for size in sizes:
            total = total * polynomial_of(size)
        return self.port.ranges.get(self.use.kernel, EVERYTHING).is_less(number(limit), total)

    def facts(self, parameter: str) -> OperandFacts | None:
        """What the tables say of the operand `parameter`; None for a call with arguments that are not documented."""
        known = self.port.knowledge.operands.get(self.use.name)
        if any(self.api.parameter(argument.parameter) is None for argument in self.run.arguments):
            return None
        return known.operand(parameter, self.port.version, self.port.chip.name, self.decide) if known else None

    def tiles(self) -> Iterator[Placed]:
        """The tiles it is given, those in lists included, and those it gives back."""
        for argument in self.run.arguments:
            for tile in tiles_in(argument.operand):
                yield Placed(self, argument.parameter, tile)
        for tile in tiles_in(self.run.result):
            yield Placed(self, "", tile)


@dataclass(frozen=True, slots=True)
class Placed:
    """A tile in a call: given for `parameter`, or given back ("")."""

    call: Call
    parameter: str
    tile: TileUse

    @property
    def is_on_chip(self) -> bool:
        """Whether it lies in a memory with partitions."""
        return self.tile.type.space in ON_CHIP and bool(self.tile.type.shape)

    @property
    def partitions(self) -> Expr:
        """How many partitions it occupies; only for tiles on the chip."""
        return self.tile.type.shape[0]

    @property
    def free(self) -> tuple[Expr, ...]:
        """The extents within a partition."""
        return self.tile.type.shape[1:]

    @property
    def title(self) -> str:
        """How a message that begins with it calls it."""
        return f"`{self.parameter}` of `{self.call.name}`" if self.parameter else f"The tile of `{self.call.name}`"


def port_of(pair: Pair) -> Port | None:
    """The port of a pair; None where nothing is known about its chip or version."""
    return port_for(pair.nki.program, pair.target, pair.knowledge)


def port_for(program: Program, target: str, knowledge: Knowledge) -> Port | None:
    """`program` as a port for the chip `target`; None where nothing is known about chip or version."""
    chip = knowledge.chip(target)
    try:
        version = NkiVersion.parse(program.version)
    except ValueError:
        return None
    if chip is None:
        return None
    ranges = {kernel.name: _asserted(program, kernel) for kernel in program.kernels}
    entries = frozenset(kernel.name for kernel in program.kernels if _allocates_result(kernel))
    always: set[Span] = set()
    for kernel in program.kernels:
        _reach(kernel.body, always)
    return Port(program, chip, version, knowledge, ranges, entries, frozenset(always))


def calls_of(port: Port) -> Iterator[Call]:
    """Every evaluation of every call that the version has and that is always reached, in the order of the text.

    Left out are those whose arguments by position may stand for others than they were put to, which PC805 says.
    """
    for use in port.program.uses:
        api = port.knowledge.api(use.name, port.version) if use.kind is UseKind.CALL else None
        if api is not None and use.span in port.always:
            yield from (Call(port, use, run, api) for run in use.runs if not _is_shifted(run, api))


def _is_shifted(run: Run, api: ApiVersion) -> bool:
    """Whether a call with arguments by position lacks one that it requires."""
    given = {argument.parameter for argument in run.arguments}
    required = (item.name for item in api.parameters if item.default is None and not item.name.startswith("*"))
    return any(argument.position is not None for argument in run.arguments) and not given.issuperset(required)


def number_of(size: Expr) -> int | None:
    """`size` as a number; None for one that is not known."""
    value = polynomial_of(size).constant
    return None if value is None or isinstance(size, Const) and isinstance(size.value, float) else int(value)


def _reach(body: tuple[Op, ...], found: set[Span]) -> None:
    """Adds the places in `body` that are reached whatever is given: in no arm, and behind no arm that leaves."""
    for op in body:
        found.add(op.span)
        if isinstance(op, Branch):
            if any(isinstance(inner, Leave | Return) for inner in operations((op,))):
                return
            continue
        for inner in regions(op):
            _reach(inner, found)
        if any(isinstance(inner, Return) for region in regions(op) for inner in operations(region)):
            return


def _allocates_result(kernel: Kernel) -> bool:
    made = {op.name for op in kernel.body if isinstance(op, Alloc) and op.type.space is Space.GLOBAL}
    return bool(made.intersection(kernel.results))


def _asserted(program: Program, kernel: Kernel) -> Ranges:
    """The least values of sizes that the assertions on every path of `kernel` leave."""
    always = {op.id for op in kernel.body if isinstance(op, Assume)}
    least: dict[str, int] = {}
    for found in assertions(program):
        if found.op.id not in always or found.kind not in ("most", "equal"):
            continue
        for low, high in ((found.value, found.limit), (found.limit, found.value)):
            name, bound = _bound(low, high)
            if name and (found.kind == "equal" or low is found.value):
                least[name] = max(least.get(name, 0), bound)
    return Ranges(least=least)


def _bound(low: Polynomial, high: Polynomial) -> tuple[str, int]:
    """The symbol that `low` <= `high` bounds from below, and its least value; "" where it is no such bound."""
    names = sorted(high.symbols)
    if low.constant is None or len(names) != 1:
        return "", 0
    rest = (high - symbol(names[0])).constant
    return ("", 0) if rest is None else (names[0], int(low.constant - rest))
