"""Calls that several versions of NKI accept in the same words and understand differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.knowledge.schema import Sources, Table, read_toml
from portcheck.knowledge.versions import NkiVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """From version `at` a call means `after`, before it `before`, where all its conditions hold.

    `given`, `omitted` and `position` are parameters that must be given, left out, or given by position. `rank` is the
    least number of dimensions of its source, `axis` the number of its axis. `integers` says that it writes integers,
    `fraction_into_integers` that besides its value is a float. `same` are parameters with the values with which
    both mean the same; `is_refused` says that from `at` on the call is an error.
    """

    key: str
    names: tuple[str, ...]
    at: str
    given: tuple[str, ...]
    omitted: tuple[str, ...]
    position: tuple[str, ...]
    rank: int
    axis: int | None
    integers: bool
    fraction_into_integers: bool
    same: tuple[tuple[str, str], ...]
    is_refused: bool
    before: str
    after: str
    source: str

    @property
    def version(self) -> NkiVersion:
        """The first version with the new meaning."""
        return NkiVersion.parse(self.at)


def load_meanings(path: Path) -> Mapping[str, tuple[Change, ...]]:
    """Read `mappings/nki/meanings.toml` by the name of the call; raises KnowledgeError."""
    root, sources = read_toml(path, f"nki/{path.name}")
    found: dict[str, tuple[Change, ...]] = {}
    for key, table in root.table("change").items():
        change = _change(key, table, sources)
        for name in change.names:
            found[name] = (*found.get(name, ()), change)
    root.finish()
    return found


def _change(key: str, table: Table, sources: Sources) -> Change:
    change = Change(
        key=key,
        names=table.texts("names"),
        at=table.text("at"),
        given=table.texts("given", ()),
        omitted=table.texts("omitted", ()),
        position=table.texts("position", ()),
        rank=table.integer("rank", 0),
        axis=table.integer("axis") if table.has("axis") else None,
        integers=table.flag("integers", False),
        fraction_into_integers=table.flag("fraction_into_integers", False),
        same=tuple(table.table("same", {}).strings().items()),
        is_refused=table.flag("refused", False),
        before=table.text("before"),
        after=table.text("after"),
        source=sources.cite(table),
    )
    try:
        NkiVersion.parse(change.at)
    except ValueError as error:
        raise table.error(str(error)) from error
    table.finish()
    return change
