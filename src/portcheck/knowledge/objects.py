"""NKI names that are not calls: operator objects, memory spaces, tile constants, and activation input ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from portcheck.ir import Operator
from portcheck.knowledge.ranges import NameRange, ranges_at
from portcheck.knowledge.schema import Sources, Table, Unknown, read_toml, toml_files

_Value = TypeVar("_Value")


class NkiSpace(StrEnum):
    """A memory an NKI tensor lives in."""

    SBUF = "sbuf"
    PSUM = "psum"
    HBM = "hbm"
    SHARED_HBM = "shared_hbm"
    PRIVATE_HBM = "private_hbm"


class OperatorForm(StrEnum):
    """How an operator object is made of an operator of the IR."""

    PLAIN = "plain"
    """It is that operator."""
    IDENTITY = "identity"
    """It gives its operand."""
    DERIVATIVE = "derivative"
    """The derivative of a function."""
    MAGNITUDES = "magnitudes"
    """The operator on absolute values."""
    LEAKY = "leaky"
    """The operand where it is positive, elsewhere the operand times a parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorObject:
    """An operator passed as an object (`op=nl.add`), with the IR operator it stands for (None when the IR has none).

    One of another form than plain is made of the operator `of`, or of none. `reduces` says whether it is legal as a
    reduction; `bitwise` whether it works on bit patterns without casts. `targets` are the chips that have it, empty for
    all.
    """

    name: str
    names: tuple[str, ...]
    operator: Operator | None
    form: OperatorForm
    of: Operator | None
    reduces: bool
    bitwise: bool
    activation: bool
    targets: tuple[str, ...]
    note: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """The input range and accuracy of one function of the scalar engine; beyond the range results are invalid.

    `low` and `high` bound the operand, or its magnitude when `on_magnitude`; None means the whole line.
    """

    operator: Operator
    low: float | int | None
    high: float | int | None
    on_magnitude: bool
    max_ulp: float | Unknown | None
    note: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TileConstant:
    """A hardware constant a kernel may name (`nl.tile_size.pmax`): its value on every target, in `unit`."""

    name: str
    values: Mapping[str, int | float | Unknown]
    unit: str
    note: str
    source: str


@dataclass(frozen=True, slots=True)
class ObjectTable:
    """All objects by qualified name; activations by IR operator."""

    operators: Mapping[str, OperatorObject]
    spaces: Mapping[str, NkiSpace]
    constants: Mapping[str, TileConstant]
    enumerations: Mapping[str, tuple[str, ...]]
    engines: Mapping[str, str]
    activations: Mapping[str, Activation]
    ranges: Mapping[str, NameRange]


def load_objects(folder: Path) -> ObjectTable:
    """Read `mappings/nki/objects`; raises KnowledgeError."""
    table = ObjectTable({}, {}, {}, {}, {}, {}, {})
    for path, shown in toml_files(folder):
        root, sources = read_toml(path, shown)
        _read_into(table, root, sources)
        root.finish()
    return table


def _read_into(objects: ObjectTable, root: Table, sources: Sources) -> None:
    for key, table in root.table("operator", {}).items():
        entry = _operator(key, table, sources)
        for name in entry.names:
            _claim(objects.operators, name, entry, table)
    for key, table in root.table("constant", {}).items():
        _claim_all(objects.constants, _constant(key, table, sources), table)
    for _, table in root.table("activation", {}).items():
        activation = _activation(table, sources)
        _claim(objects.activations, activation.operator, activation, table)
    for _, table in root.table("space", {}).items():
        sources.cite(table)
        _claim_all(objects.spaces, table.member("space", NkiSpace), table)
    for _, table in root.table("enumeration", {}).items():
        sources.cite(table)
        _claim_all(objects.enumerations, table.texts("members"), table)
    for key, table in root.table("engine", {}).items():
        sources.cite(table)
        _claim_all(objects.engines, key, table)
    for name, found in ranges_at(root.table("range", {}), sources).items():
        _claim(objects.ranges, name, found, root)


def _claim_all(index: Mapping[str, _Value], value: _Value, table: Table) -> None:
    for name in table.texts("names"):
        _claim(index, name, value, table)
    table.finish()


def _claim(index: Mapping[str, _Value], name: str, value: _Value, table: Table) -> None:
    if name in index:
        raise table.error(f'the name "{name}" is already taken')
    assert isinstance(index, dict)  # ObjectTable promises readers a Mapping; while it is being filled it is a dict
    index[name] = value


def _operator(key: str, table: Table, sources: Sources) -> OperatorObject:
    entry = OperatorObject(
        name=key,
        names=table.texts("names"),
        operator=table.optional_member("operator", Operator),
        form=table.member("form", OperatorForm, OperatorForm.PLAIN),
        of=table.optional_member("of", Operator),
        reduces=table.flag("reduces", False),
        bitwise=table.flag("bitwise", False),
        activation=table.flag("activation", False),
        targets=table.texts("targets", ()),
        note=table.text("note", ""),
        source=sources.cite(table),
    )
    table.finish()
    return entry


def _constant(key: str, table: Table, sources: Sources) -> TileConstant:
    per_target = table.table("values")
    values = {target: per_target.exact_number_or_unknown(target) for target in per_target.names()}
    return TileConstant(
        name=key, values=values, unit=table.text("unit"), note=table.text("note", ""), source=sources.cite(table)
    )


def _activation(table: Table, sources: Sources) -> Activation:
    entry = Activation(
        operator=table.member("operator", Operator),
        low=table.optional_number("low"),
        high=table.optional_number("high"),
        on_magnitude=table.flag("on_magnitude", False),
        max_ulp=table.number_or_unknown("max_ulp"),
        note=table.text("note", ""),
        source=sources.cite(table),
    )
    table.finish()
    return entry
