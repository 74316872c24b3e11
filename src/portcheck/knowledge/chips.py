"""The numbers of each chip generation, every one with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.core.errors import KnowledgeError
from portcheck.knowledge.schema import Sources, Table, Unknown, read_toml, toml_files


@dataclass(frozen=True, slots=True)
class Quantity:
    """One documented number: its value in `unit`, UNKNOWN where the vendor gives none, and where it stands."""

    value: int | float | Unknown
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine of a core: its short name, the on-chip memories it reaches ("sbuf", "psum"), clock and speed.

    The clock is in GHz, the speed in elements a cycle.
    """

    name: str
    spaces: tuple[str, ...]
    spaces_source: str
    clock_ghz: Quantity
    elements_per_cycle: Quantity
    elements_per_cycle_16bit: Quantity


@dataclass(frozen=True, slots=True)
class Peak:
    """The peak rate of `engine` in `dtype` for one `scope` ("core" or "chip"), in TFLOP/s (TOP/s for integers)."""

    engine: str
    dtype: str
    scope: str
    rate: Quantity


@dataclass(frozen=True, slots=True)
class StartRule:
    """Where an access over at most `partitions` partitions may start."""

    partitions: int
    starts: tuple[int, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One chip generation. Sizes are bytes or elements as named; `source_of` cites the number in a field.

    `matmul_contraction` is partitions per instruction, the free limits are elements. `quantities` holds what has no
    field of its own (bandwidths, thresholds, costs), by name.
    """

    name: str
    core: str
    generation: str
    generation_number: int
    targets: tuple[str, ...]
    cores_per_chip: int
    partitions: int
    sbuf_bytes_per_partition: int
    psum_bytes_per_partition: int
    psum_banks: int
    psum_bank_bytes: int
    matmul_contraction: int
    matmul_stationary_free: int
    matmul_moving_free: int
    psum_dtypes: tuple[str, ...]
    matmul_dtypes: tuple[str, ...]
    start_rules: tuple[StartRule, ...]
    engines: tuple[Engine, ...]
    peaks: tuple[Peak, ...]
    quantities: Mapping[str, Quantity]
    sources: Mapping[str, str]

    def source_of(self, field: str) -> str:
        """The citation of the number in `field`; raises KeyError for a field without one."""
        return self.sources[field]

    def engine(self, name: str) -> Engine:
        """The engine called `name` ("tensor", "vector", "scalar", "gpsimd"); raises KeyError."""
        for engine in self.engines:
            if engine.name == name:
                return engine
        raise KeyError(name)

    def quantity(self, name: str) -> Quantity:
        """The further number called `name`; raises KeyError."""
        return self.quantities[name]


def load_chips(folder: Path) -> Mapping[str, Chip]:
    """Read `mappings/hardware` by chip name; raises KnowledgeError."""
    chips: dict[str, Chip] = {}
    for path, shown in toml_files(folder):
        root, sources = read_toml(path, shown)
        chip = _chip(root.table("chip"), sources)
        root.finish()
        if chip.name in chips:
            raise KnowledgeError(f'{shown}: chip "{chip.name}" is described twice')
        chips[chip.name] = chip
    return chips


class _Fields:
    """Reads `{ value = ..., source = ... }` entries and remembers the citation of each."""

    def __init__(self, table: Table, sources: Sources) -> None:
        self.table = table
        self.documents = sources
        self.cited: dict[str, str] = {}

    def integer(self, key: str) -> int:
        """The integer at `key`."""
        entry = self.table.table(key)
        value = entry.integer("value")
        self._close(key, entry)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of strings at `key`."""
        entry = self.table.table(key)
        value = entry.texts("value")
        self._close(key, entry)
        return value

    def _close(self, key: str, entry: Table) -> None:
        self.cited[key] = self.documents.cite(entry)
        entry.finish()


def _chip(table: Table, sources: Sources) -> Chip:
    fields = _Fields(table, sources)
    chip = Chip(
        name=table.text("name"),
        core=table.text("core"),
        generation=table.text("generation"),
        generation_number=fields.integer("generation_number"),
        targets=table.texts("targets"),
        cores_per_chip=fields.integer("cores_per_chip"),
        partitions=fields.integer("partitions"),
        sbuf_bytes_per_partition=fields.integer("sbuf_bytes_per_partition"),
        psum_bytes_per_partition=fields.integer("psum_bytes_per_partition"),
        psum_banks=fields.integer("psum_banks"),
        psum_bank_bytes=fields.integer("psum_bank_bytes"),
        matmul_contraction=fields.integer("matmul_contraction"),
        matmul_stationary_free=fields.integer("matmul_stationary_free"),
        matmul_moving_free=fields.integer("matmul_moving_free"),
        psum_dtypes=fields.texts("psum_dtypes"),
        matmul_dtypes=fields.texts("matmul_dtypes"),
        start_rules=tuple(_start_rule(rule, sources) for rule in table.tables("start_rules")),
        engines=tuple(_engine(name, entry, sources) for name, entry in table.table("engines").items()),
        peaks=tuple(_peak(entry, sources) for entry in table.tables("peaks")),
        quantities={name: _quantity(entry, sources) for name, entry in table.table("quantities").items()},
        sources=fields.cited,
    )
    table.finish()
    return chip


def _quantity(table: Table, sources: Sources) -> Quantity:
    quantity = Quantity(table.exact_number_or_unknown("value"), table.text("unit"), sources.cite(table))
    table.finish()
    return quantity


def _engine(name: str, table: Table, sources: Sources) -> Engine:
    spaces = table.table("spaces")
    engine = Engine(
        name,
        spaces.texts("value"),
        sources.cite(spaces),
        _quantity(table.table("clock"), sources),
        _quantity(table.table("elements_per_cycle"), sources),
        _quantity(table.table("elements_per_cycle_16bit"), sources),
    )
    spaces.finish()
    table.finish()
    return engine


def _peak(table: Table, sources: Sources) -> Peak:
    rate = Quantity(table.exact_number_or_unknown("value"), table.text("unit", "TFLOP/s"), sources.cite(table))
    peak = Peak(table.text("engine"), table.text("dtype"), table.text("scope"), rate)
    table.finish()
    return peak


def _start_rule(table: Table, sources: Sources) -> StartRule:
    rule = StartRule(table.integer("partitions"), table.integers("starts"), sources.cite(table))
    table.finish()
    return rule
