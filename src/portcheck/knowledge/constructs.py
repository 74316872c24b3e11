"""CUDA constructs: what each function, variable, type, qualifier and macro means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from portcheck.core.errors import did_you_mean
from portcheck.ir import MemoryOrder, Operator, Rounding, Scope
from portcheck.knowledge.fragments import FILE as FRAGMENTS_FILE
from portcheck.knowledge.limits import FILE as LIMITS_FILE
from portcheck.knowledge.schema import Sources, Table, Unknown, read_toml, toml_files
from portcheck.knowledge.semantics import Semantics
from portcheck.knowledge.signatures import Parameter, Role, parameters_at


class ConstructKind(StrEnum):
    """What sort of name a construct is in CUDA C++."""

    FUNCTION = "function"
    METHOD = "method"
    VARIABLE = "variable"
    TYPE = "type"
    QUALIFIER = "qualifier"
    PRAGMA = "pragma"
    MACRO = "macro"
    INSTRUCTION = "instruction"


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """How far a result may lie from the correctly rounded one, as the vendor documents it.

    `max_ulp` counts units in the last place of the result dtype: 0 is correctly rounded, UNKNOWN undocumented, None
    where the question does not arise; against the exact value add half a unit. It grows with the operand when
    `ulp_slope` is not 0: max_ulp + floor(|ulp_slope * x|). `max_absolute` replaces it for operands in `interval`.
    `max_relative` is a relative error. The vendor's bounds come from tests that are not exhaustive.
    """

    max_ulp: float | Unknown | None = None
    ulp_slope: float = 0.0
    max_absolute: float | None = None
    interval: tuple[float, ...] = ()
    max_relative: float | None = None
    note: str = ""

    @property
    def is_inexact(self) -> bool:
        """Whether anything but a correctly rounded result is possible."""
        return self.max_ulp not in (None, 0) or self.max_absolute is not None or self.max_relative is not None


_EXACT = ErrorBound(0.0)
_NO_ERROR = ErrorBound()


@dataclass(frozen=True, slots=True, kw_only=True)
class Construct:
    """One CUDA construct.

    `operator` is the IR operator it computes, None when there is none. `dtype` is the result's dtype name, "operand"
    when it is that of the (promoted) operands, "" when there is no result or the source does not fix it. `lanes` counts
    the elements of a packed or vector type. `rounding` and `memory_order` are set where the name fixes them. `value` is
    a macro's number, or what tells a function from its siblings (an order, a lane, whether a scan is inclusive).
    `float_form` (`integer_form`) is what an overloaded name means for floats (integers), `fast_math` what
    -use_fast_math turns it into.
    """

    name: str
    aliases: tuple[str, ...]
    kind: ConstructKind
    semantics: Semantics
    operator: Operator | None
    dtype: str
    parameters: tuple[Parameter, ...]
    error: ErrorBound
    rounding: Rounding | None
    saturates: bool
    lanes: int
    scope: Scope | None
    memory_order: MemoryOrder | None
    value: float | int | None
    float_form: str
    integer_form: str
    fast_math: str
    nki_counterpart: str
    note: str
    source: str

    @property
    def approximate(self) -> bool:
        """Whether the result may differ from the correctly rounded one."""
        return self.error.is_inexact

    def index_of(self, role: Role) -> int | None:
        """The position of the parameter that plays `role`, None when there is none."""
        return next((index for index, item in enumerate(self.parameters) if item.role is role), None)


def load_constructs(folder: Path) -> Mapping[str, Construct]:
    """Read the constructs of `mappings/cuda` by every spelling (name or alias); raises KnowledgeError."""
    index: dict[str, Construct] = {}
    for path, shown in toml_files(folder):
        if path.name in (FRAGMENTS_FILE, LIMITS_FILE):
            continue
        root, sources = read_toml(path, shown)
        reader = _Reader(root, sources)
        for name, table in root.table("construct").items():
            for construct in reader.constructs(name, table):
                _add(index, construct, table)
        root.finish()
    return index


class _Reader:
    """Decodes the entries of one file with the file's defaults and its rounding suffixes."""

    def __init__(self, root: Table, sources: Sources) -> None:
        defaults = root.table("defaults", {})
        self._kind = defaults.member("kind", ConstructKind, ConstructKind.FUNCTION)
        self._counterpart = defaults.text("nki_counterpart", "")
        defaults.finish()
        suffixes = root.table("roundings", {})
        self._roundings = {suffix: suffixes.member(suffix, Rounding) for suffix in suffixes.names()}
        self._sources = sources

    def constructs(self, name: str, table: Table) -> tuple[Construct, ...]:
        """The construct `name`, or one for each suffix of a name written as CUDA's documents do: `__fadd_[rn,rz]`."""
        construct = self._decode(name, table)
        stem, bracket, suffixes = name.partition("[")
        if not bracket:
            return (construct,)
        return tuple(self._variant(construct, stem, suffix, table) for suffix in suffixes.rstrip("]").split(","))

    def _variant(self, construct: Construct, stem: str, suffix: str, table: Table) -> Construct:
        if suffix not in self._roundings:
            raise table.error(f'the suffix "{suffix}" is not in [roundings]', did_you_mean(suffix, self._roundings))
        return replace(construct, name=stem + suffix, rounding=self._roundings[suffix])

    def _decode(self, name: str, table: Table) -> Construct:
        construct = Construct(
            name=name,
            aliases=table.texts("aliases", ()),
            kind=table.member("kind", ConstructKind, self._kind),
            semantics=table.member("semantics", Semantics),
            operator=table.optional_member("operator", Operator),
            dtype=table.text("dtype", ""),
            parameters=parameters_at(table, "parameters"),
            error=_error_bound(table),
            rounding=table.optional_member("rounding", Rounding),
            saturates=table.flag("saturates", False),
            lanes=table.integer("lanes", 1),
            scope=table.optional_member("scope", Scope),
            memory_order=table.optional_member("memory_order", MemoryOrder),
            value=table.optional_number("value"),
            float_form=table.text("float_form", ""),
            integer_form=table.text("integer_form", ""),
            fast_math=table.text("fast_math", ""),
            nki_counterpart=table.text("nki_counterpart", self._counterpart),
            note=table.text("note", ""),
            source=self._sources.cite(table),
        )
        table.finish()
        return construct


def _error_bound(table: Table) -> ErrorBound:
    """The error keys of `table`; two shared instances serve the two common cases."""
    max_ulp = table.number_or_unknown("max_ulp")
    if not table.has_any("ulp_slope", "max_absolute", "interval", "max_relative", "error_note"):
        return _NO_ERROR if max_ulp is None else _EXACT if max_ulp == 0 else ErrorBound(max_ulp)
    return ErrorBound(
        max_ulp=max_ulp,
        ulp_slope=table.number("ulp_slope", 0.0),
        max_absolute=table.optional_number("max_absolute"),
        interval=table.numbers("interval", ()),
        max_relative=table.optional_number("max_relative"),
        note=table.text("error_note", ""),
    )


def _add(index: dict[str, Construct], construct: Construct, table: Table) -> None:
    for spelling in (construct.name, *construct.aliases):
        if spelling in index:
            raise table.error(f'the spelling "{spelling}" is already taken by "{index[spelling].name}"')
        index[spelling] = construct
