"""NKI calls of every generation: their parameters in order, what they mean and between which versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from portcheck.ir import Operator, Order
from portcheck.knowledge.schema import Sources, Table, read_toml, toml_files
from portcheck.knowledge.semantics import Semantics
from portcheck.knowledge.signatures import Parameter, Role, parameters_at
from portcheck.knowledge.versions import NkiVersion


class ApiStatus(StrEnum):
    """Whether a call may be used in a version."""

    OK = "ok"
    DEPRECATED = "deprecated"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersion:
    """One call as the versions from `since` up to, not including, `until` accept it ("" = still open).

    `engine` lists the engines that may execute it, separated by "|"; "unknown" when undocumented, "" when none does.
    `accumulate_dtype` is the dtype inside a reduction or product ("" without one, "unknown" when undocumented), and
    `order` how its terms are combined. `result_dtype` is a dtype name, "destination" (the tile written decides),
    "operand" (the first source decides), "promote" (legacy promotion rules), "argument" (the dtype argument or its
    default), or "" for no element type; a dtype argument overrides "operand" and "promote". `targets` lists the chips
    that have it, empty for all. `numbers` are those in what it does that no argument states, by name.
    """

    name: str
    semantics: Semantics
    operator: Operator | None
    since: str
    until: str
    parameters: tuple[Parameter, ...]
    engine: str
    accumulate_dtype: str
    result_dtype: str
    order: Order | None
    targets: tuple[str, ...]
    status: ApiStatus
    replacement: str
    note: str
    source: str
    numbers: Mapping[str, int] = field(default_factory=dict)

    @property
    def returns_value(self) -> bool:
        """Whether the call hands back its result instead of writing a destination argument."""
        return self.result_dtype not in ("", "destination")

    def parameter(self, name: str) -> Parameter | None:
        """The parameter called `name`, None when this version has none."""
        return next((item for item in self.parameters if item.name == name), None)

    def with_role(self, role: Role) -> tuple[Parameter, ...]:
        """The parameters that play `role`, in call order."""
        return tuple([item for item in self.parameters if item.role is role])


@dataclass(frozen=True, slots=True)
class Api:
    """One call with everything known about it, oldest version first."""

    name: str
    versions: tuple[ApiVersion, ...]

    def at(self, version: NkiVersion) -> ApiVersion | None:
        """The call as `version` accepts it, the newest form when several do; None when it has none."""
        fitting = [item for item in self.versions if version.matches(item.since, item.until)]
        return fitting[-1] if fitting else None

    @property
    def latest(self) -> ApiVersion:
        """The newest form of the call."""
        return self.versions[-1]


def load_apis(folder: Path) -> Mapping[str, Api]:
    """Read the calls of `mappings/nki` by qualified name; raises KnowledgeError."""
    index: dict[str, Api] = {}
    for path, shown in toml_files(folder):
        root, sources = read_toml(path, shown)
        namespace = root.text("namespace")
        for key, table in root.table("api").items():
            name = f"{namespace}.{key}"
            if name in index:
                raise table.error(f'"{name}" is described twice')
            index[name] = _api(name, table, sources)
        root.finish()
    return index


def _api(name: str, table: Table, sources: Sources) -> Api:
    base = _version(name, table, sources, None)
    if table.has("versions"):
        forms = tuple(_version(name, form, sources, base) for form in table.tables("versions"))
    else:
        forms = (base,)
    table.finish()
    for form in forms:
        if not form.since:
            raise table.error('no version says "since"')
    return Api(name, forms)


def _numbers(table: Table, sources: Sources) -> Mapping[str, int]:
    """The numbers of an entry, each of which must have a source."""
    found: dict[str, int] = {}
    for name, entry in table.items():
        found[name] = entry.integer("value")
        sources.cite(entry)
        entry.finish()
    table.finish()
    return found


def _version(name: str, table: Table, sources: Sources, base: ApiVersion | None) -> ApiVersion:
    """Decode an entry (`base` is None) or one of its versions, which says only what differs from the entry."""
    form = ApiVersion(
        name=name,
        semantics=base.semantics if base and not table.has("semantics") else table.member("semantics", Semantics),
        operator=table.optional_member("operator", Operator, base.operator if base else None),
        since=table.text("since", base.since if base else ""),
        until=table.text("until", base.until if base else ""),
        parameters=parameters_at(table, "parameters") if not base or table.has("parameters") else base.parameters,
        engine=table.text("engine", base.engine if base else ""),
        accumulate_dtype=table.text("accumulate_dtype", base.accumulate_dtype if base else ""),
        result_dtype=table.text("result_dtype", base.result_dtype if base else ""),
        order=table.optional_member("order", Order, base.order if base else None),
        targets=table.texts("targets", base.targets if base else ()),
        status=table.member("status", ApiStatus, base.status if base else ApiStatus.OK),
        replacement=table.text("replacement", base.replacement if base else ""),
        note=table.text("note", base.note if base else ""),
        source=sources.cite(table) if base is None or table.has("source") else base.source,
        numbers=_numbers(table.table("numbers", {}), sources) or (base.numbers if base else {}),
    )
    if base is not None:
        table.finish()
    return form
