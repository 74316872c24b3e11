"""What the operands of NKI calls may be: spaces, dtypes and sizes by version and target, and what goes together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from portcheck.knowledge.objects import NkiSpace
from portcheck.knowledge.schema import UNKNOWN, Sources, Table, Unknown, read_toml, toml_files
from portcheck.knowledge.sizes import Size, size_at
from portcheck.knowledge.versions import NkiVersion

ANY = "any"
"""Written for dtypes where the vendor says that all are accepted."""
_FIRST = "0.1"
_FIELDS = ("spaces", "dtypes", "not_dtypes", "partitions", "free", "rank", "count")

Decide = Callable[[str, str], bool | None]
"""Whether the argument given for a parameter is what a word says; None where that cannot be told."""


class NanRule(StrEnum):
    """What becomes of values that are not numbers."""

    UNKNOWN = "unknown"
    KEPT = "kept"
    """Values are moved, not computed with."""
    SPREADS_ON_TRN1 = "spreads_on_trn1"
    """They reach other elements on NeuronCore-v2 and are kept on newer ones."""


class BoundsRule(StrEnum):
    """What becomes of an index that is known only at run time and lies outside of the tensor."""

    UNKNOWN = "unknown"
    UNDEFINED = "undefined"
    CHECKED = "checked"
    """Refused or skipped at run time, as the call's argument says."""


class Together(StrEnum):
    """What must hold between several operands of one call."""

    SAME_DTYPE = "same_dtype"
    SAME_SPACE = "same_space"
    NOT_ALL_IN_PSUM = "not_all_in_psum"
    ONLY_TOGETHER = "only_together"
    """If one has one of the dtypes, all have."""
    NEVER_TOGETHER = "never_together"
    """The dtypes do not occur in one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a fact holds: versions from `since` up to, not including, `until`; chips; other arguments of the call.

    `targets` is empty for every chip. `when` are pairs of a parameter and what its argument must be: the last part of
    a name, a number, the dtype of a tile, "bitwise" for operators on bit patterns, or "given" for anything but None.
    """

    since: str
    until: str
    targets: tuple[str, ...]
    when: tuple[tuple[str, str], ...]

    def holds(self, version: NkiVersion, target: str, decide: Decide) -> bool | None:
        """Whether a call of `version` on `target` is meant; None where an argument that matters cannot be told."""
        if not version.matches(self.since, self.until) or (self.targets and target not in self.targets):
            return False
        decided = [decide(parameter, word) for parameter, word in self.when]
        return False if False in decided else None if None in decided else True


@dataclass(frozen=True, slots=True, kw_only=True)
class OperandFacts:
    """What one operand may be. UNKNOWN: the vendor does not say; None: nothing is said here.

    `dtypes` is (ANY,) where all are accepted, `not_dtypes` those that are not. `partitions` and `free` count the
    partitions and the elements of each, `rank` the dimensions, `count` the tensors of a list.
    """

    spaces: tuple[NkiSpace, ...] | Unknown | None
    dtypes: tuple[str, ...] | Unknown | None
    not_dtypes: tuple[str, ...]
    partitions: Size | Unknown | None
    free: Size | Unknown | None
    rank: Size | Unknown | None
    count: Size | Unknown | None
    sources: Mapping[str, str]

    def source_of(self, field: str) -> str:
        """The citation of what is said in `field`, such as "free"; raises KeyError where nothing is."""
        return self.sources[field]

    def changed(self, by: OperandFacts) -> OperandFacts:
        """These facts with everything `by` says."""
        return OperandFacts(
            spaces=self.spaces if by.spaces is None else by.spaces,
            dtypes=self.dtypes if by.dtypes is None else by.dtypes,
            not_dtypes=self.not_dtypes if by.dtypes is None and not by.not_dtypes else by.not_dtypes,
            partitions=self.partitions if by.partitions is None else by.partitions,
            free=self.free if by.free is None else by.free,
            rank=self.rank if by.rank is None else by.rank,
            count=self.count if by.count is None else by.count,
            sources={**self.sources, **by.sources},
        )

    def doubted(self, by: OperandFacts) -> OperandFacts:
        """These facts without everything `by` might change."""
        return replace(
            self,
            spaces=self.spaces if by.spaces is None else UNKNOWN,
            dtypes=self.dtypes if by.dtypes is None and not by.not_dtypes else UNKNOWN,
            partitions=self.partitions if by.partitions is None else UNKNOWN,
            free=self.free if by.free is None else UNKNOWN,
            rank=self.rank if by.rank is None else UNKNOWN,
            count=self.count if by.count is None else UNKNOWN,
        )


@dataclass(frozen=True, slots=True)
class Case:
    """What is otherwise for one operand where `scope` holds; later cases of a call change what earlier ones said."""

    scope: Scope
    operand: str
    facts: OperandFacts


@dataclass(frozen=True, slots=True)
class Pairing:
    """What must hold between `operands` where `scope` holds; `dtypes` are those the rule is about."""

    scope: Scope
    kind: Together
    operands: tuple[str, ...]
    dtypes: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Mode:
    """An argument that only the chips of `targets` accept: `value` as in `Scope.when`, "" for any but None.

    `value` "number" is a number in the place of a tile. Where `targets` is empty no chip does: `effect` is what happens
    then, and `instead` what the vendor advises.
    """

    parameter: str
    value: str
    targets: tuple[str, ...]
    since: str
    until: str
    effect: str
    instead: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """Everything known about the operands of one call. `nan` and `bounds` are None where neither can occur.

    `numbers` are the values that arguments which are plain numbers may have.
    """

    name: str
    operands: Mapping[str, OperandFacts]
    numbers: Mapping[str, Size]
    cases: tuple[Case, ...]
    pairs: tuple[Pairing, ...]
    modes: tuple[Mode, ...]
    nan: NanRule | None
    bounds: BoundsRule | None
    source: str

    def operand(self, name: str, version: NkiVersion, target: str, decide: Decide) -> OperandFacts | None:
        """What the operand `name` may be in a call of `version` on `target`; UNKNOWN where `decide` cannot tell."""
        facts = self.operands.get(name)
        if facts is None:
            return None
        for case in self.cases:
            if case.operand != name:
                continue
            holds = case.scope.holds(version, target, decide)
            if holds is not False:
                facts = facts.changed(case.facts) if holds else facts.doubted(case.facts)
        return facts


def load_operands(folder: Path) -> Mapping[str, CallFacts]:
    """Read `mappings/nki/operands` by the qualified name of the call; raises KnowledgeError."""
    index: dict[str, CallFacts] = {}
    for path, shown in toml_files(folder):
        root, sources = read_toml(path, shown)
        namespace = root.text("namespace")
        for key, table in root.table("call").items():
            name = f"{namespace}.{key}"
            if name in index:
                raise table.error(f'"{name}" is described twice')
            index[name] = _call(name, table, sources)
        root.finish()
    return index


def _call(name: str, table: Table, sources: Sources) -> CallFacts:
    source = sources.cite(table)
    operands = {key: _facts(entry, source) for key, entry in table.table("operands", {}).items()}
    call = CallFacts(
        name=name,
        operands=operands,
        numbers=_numbers(table.table("numbers", {})),
        cases=tuple(_case(entry, operands, sources) for entry in table.tables("cases", ())),
        pairs=tuple(_pairing(entry, operands, sources) for entry in table.tables("pairs", ())),
        modes=tuple(_mode(entry, sources) for entry in table.tables("modes", ())),
        nan=table.optional_member("nan", NanRule),
        bounds=table.optional_member("out_of_bounds", BoundsRule),
        source=source,
    )
    table.finish()
    return call


def _numbers(table: Table) -> Mapping[str, Size]:
    found = {name: size_at(table, name) for name in table.names()}
    table.finish()
    return {name: size for name, size in found.items() if isinstance(size, Size)}


def _facts(table: Table, source: str, *, is_whole: bool = True) -> OperandFacts:
    """The facts of one operand; `is_whole` asks for an entry that says or leaves unknown spaces and dtypes."""
    facts = OperandFacts(
        spaces=_spaces(table),
        dtypes=_dtypes(table),
        not_dtypes=table.texts("not_dtypes", ()),
        partitions=size_at(table, "partitions"),
        free=size_at(table, "free"),
        rank=size_at(table, "rank"),
        count=size_at(table, "count"),
        sources={field: source for field in _FIELDS if table.has(field)},
    )
    if is_whole:
        for key, value in (("spaces", facts.spaces), ("dtypes", facts.dtypes or facts.not_dtypes or None)):
            if value is None:
                raise table.error(f'missing key "{key}"', 'say "unknown" where the vendor does not say')
        table.finish()
    return facts


def _spaces(table: Table) -> tuple[NkiSpace, ...] | Unknown | None:
    if table.says("spaces", UNKNOWN):
        return UNKNOWN
    return table.members("spaces", NkiSpace) if table.has("spaces") else None


def _dtypes(table: Table) -> tuple[str, ...] | Unknown | None:
    if table.says("dtypes", UNKNOWN):
        return UNKNOWN
    if table.says("dtypes", ANY):
        return (ANY,)
    return table.texts("dtypes") if table.has("dtypes") else None


def _case(table: Table, operands: Mapping[str, OperandFacts], sources: Sources) -> Case:
    scope = _scope(table)
    operand = _known_operand(table.text("operand"), operands, table)
    case = Case(scope, operand, _facts(table, sources.cite(table), is_whole=False))
    table.finish()
    return case


def _pairing(table: Table, operands: Mapping[str, OperandFacts], sources: Sources) -> Pairing:
    scope = _scope(table)
    names = tuple(_known_operand(name, operands, table) for name in table.texts("operands"))
    pairing = Pairing(
        scope, table.member("kind", Together), names, table.texts("dtypes", ()), sources.cite(table)
    )  # fmt: skip
    table.finish()
    return pairing


def _known_operand(name: str, operands: Mapping[str, OperandFacts], table: Table) -> str:
    if name not in operands:
        raise table.error(f'"{name}" is no operand of this call', f"its operands are {', '.join(operands)}")
    return name


def _mode(table: Table, sources: Sources) -> Mode:
    mode = Mode(
        parameter=table.text("parameter"),
        value=table.text("value", ""),
        targets=table.texts("targets"),
        since=table.text("since", _FIRST),
        until=table.text("until", ""),
        effect=table.text("effect", ""),
        instead=table.text("instead", ""),
        source=sources.cite(table),
    )
    if bool(mode.targets) == bool(mode.effect):
        raise table.error("a mode has either targets or, where no chip has it, an effect")
    table.finish()
    return mode


def _scope(table: Table) -> Scope:
    return Scope(
        since=table.text("since", _FIRST),
        until=table.text("until", ""),
        targets=table.texts("targets", ()),
        when=tuple(table.table("when", {}).strings().items()),
    )
