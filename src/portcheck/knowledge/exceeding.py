"""What an NKI version does when a limit of a call or of a chip is exceeded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from portcheck.knowledge.schema import Sources, Table, read_toml
from portcheck.knowledge.versions import NkiVersion


class LimitKind(StrEnum):
    """The sort of limit that is exceeded."""

    PARTITIONS = "partitions"
    START_PARTITION = "start_partition"
    SIZE = "size"
    SPACE = "space"
    DTYPE = "dtype"
    TARGET = "target"


class Outcome(StrEnum):
    """What the compiler of a version does."""

    COMPILE_ERROR = "compile_error"
    VERIFICATION_ERROR = "verification_error"
    UNKNOWN = "unknown"


class Simulated(StrEnum):
    """Whether the simulator of a version finds it."""

    CHECKED = "checked"
    PARTLY = "partly"
    ABSENT = "absent"
    """The version has no simulator."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exceeding:
    """What versions from `since` up to, not including, `until` do where a limit is exceeded."""

    since: str
    until: str
    outcome: Outcome
    simulator: Simulated
    source: str


def load_exceeding(path: Path) -> Mapping[LimitKind, tuple[Exceeding, ...]]:
    """Read `mappings/nki/exceeding.toml`; raises KnowledgeError for a sort of limit that is missing, too."""
    root, sources = read_toml(path, f"nki/{path.name}")
    table = root.table("exceeding")
    found = {kind: _versions(table.table(kind), sources) for kind in LimitKind}
    table.finish()
    root.finish()
    return found


def exceeding_at(forms: tuple[Exceeding, ...], version: NkiVersion) -> Exceeding | None:
    """The newest of `forms` that is about some release of `version`; None when there is none."""
    return next((form for form in reversed(forms) if version.matches(form.since, form.until)), None)


def _versions(table: Table, sources: Sources) -> tuple[Exceeding, ...]:
    forms = tuple(_form(entry, sources) for entry in table.tables("versions"))
    table.finish()
    return forms


def _form(table: Table, sources: Sources) -> Exceeding:
    form = Exceeding(
        since=table.text("since"),
        until=table.text("until", ""),
        outcome=table.member("outcome", Outcome),
        simulator=table.member("simulator", Simulated),
        source=sources.cite(table),
    )
    table.finish()
    return form
