"""What each number format can represent, and how both languages spell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.core.dtype import DTypeKind
from portcheck.knowledge.schema import UNKNOWN, Sources, Table, Unknown, read_toml, toml_files


@dataclass(frozen=True, slots=True, kw_only=True)
class DTypeFacts:
    """One number format. Integers have `significand_bits` = value bits, `max_finite` = largest value.

    `significand_bits` counts the hidden bit (p, unit roundoff 2^-p). `min_normal_exponent` is e in the smallest
    normal number 2^e. `max_exact_integer` is where consecutive integers stop being representable. `bits` is the storage
    of `elements` numbers; everything else is about one of them. `targets` are the chips that have it, empty for all.
    `compiler` is what the compiler of the port calls it where it casts by itself.
    """

    name: str
    kind: DTypeKind
    bits: int
    elements: int
    significand_bits: int
    max_finite: float
    min_finite: float
    min_normal_exponent: int
    min_subnormal_exponent: int
    has_infinity: bool
    has_nan: bool
    overflow: str | Unknown
    cuda: tuple[str, ...]
    nki: tuple[str, ...]
    nki_note: str
    compiler: tuple[str, ...]
    targets: tuple[str, ...]
    source: str

    @property
    def max_exact_integer(self) -> int:
        """The largest n such that every integer of magnitude up to n is representable."""
        if self.kind is not DTypeKind.FLOAT:
            return (1 << self.significand_bits) - 1
        return min(1 << self.significand_bits, int(self.max_finite))


@dataclass(frozen=True, slots=True)
class DTypeTable:
    """All formats by name, and by their spelling in each language."""

    by_name: Mapping[str, DTypeFacts]
    by_cuda: Mapping[str, DTypeFacts]
    by_nki: Mapping[str, DTypeFacts]
    by_compiler: Mapping[str, DTypeFacts]


def load_dtypes(folder: Path) -> DTypeTable:
    """Read the formats under `folder` (`mappings/dtypes`); raises KnowledgeError."""
    by_name: dict[str, DTypeFacts] = {}
    by_cuda: dict[str, DTypeFacts] = {}
    by_nki: dict[str, DTypeFacts] = {}
    by_compiler: dict[str, DTypeFacts] = {}
    for path, shown in toml_files(folder):
        root, sources = read_toml(path, shown)
        for name, table in root.table("dtype").items():
            facts = _facts(name, table, sources)
            _claim(by_name, (name,), facts, table)
            _claim(by_cuda, facts.cuda, facts, table)
            _claim(by_nki, facts.nki, facts, table)
            _claim(by_compiler, facts.compiler, facts, table)
        root.finish()
    return DTypeTable(by_name, by_cuda, by_nki, by_compiler)


def _facts(name: str, table: Table, sources: Sources) -> DTypeFacts:
    overflow = table.text("overflow", "")
    facts = DTypeFacts(
        name=name,
        kind=table.member("kind", DTypeKind),
        bits=table.integer("bits"),
        elements=table.integer("elements", 1),
        significand_bits=table.integer("significand_bits"),
        max_finite=table.number("max_finite"),
        min_finite=table.number("min_finite"),
        min_normal_exponent=table.integer("min_normal_exponent", 0),
        min_subnormal_exponent=table.integer("min_subnormal_exponent", 0),
        has_infinity=table.flag("has_infinity", False),
        has_nan=table.flag("has_nan", False),
        overflow=UNKNOWN if overflow == UNKNOWN else overflow,
        cuda=table.texts("cuda", ()),
        nki=table.texts("nki", ()),
        nki_note=table.text("nki_note", ""),
        compiler=table.texts("compiler", ()),
        targets=table.texts("targets", ()),
        source=sources.cite(table),
    )
    table.finish()
    return facts


def _claim(index: dict[str, DTypeFacts], spellings: tuple[str, ...], facts: DTypeFacts, table: Table) -> None:
    for spelling in spellings:
        if spelling in index:
            raise table.error(f'the spelling "{spelling}" is already taken by dtype "{index[spelling].name}"')
        index[spelling] = facts
