"""Which NKI versions have a name that is no call: a constant, an enumeration or member, a memory space, a dtype."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from portcheck.knowledge.schema import Sources, Table
from portcheck.knowledge.versions import NkiVersion


@dataclass(frozen=True, slots=True)
class NameRange:
    """The versions that have a name: from `since` up to, not including, `until` ("" = still open)."""

    since: str
    until: str
    source: str

    def includes(self, version: NkiVersion) -> bool:
        """Whether some release of `version` has the name."""
        return version.matches(self.since, self.until)


def ranges_at(table: Table, sources: Sources) -> Mapping[str, NameRange]:
    """The ranges written under `table` by the name they begin with; what one leaves out is that of its owner."""
    found: dict[str, NameRange] = {}
    for name, entry in sorted(table.items()):
        owner = range_of(name, found)
        since = entry.text("since", owner.since if owner else "")
        if not since:
            raise entry.error('missing key "since"', "nothing the name begins with has a range")
        found[name] = NameRange(since, entry.text("until", owner.until if owner else ""), sources.cite(entry))
        entry.finish()
    return found


def range_of(name: str, ranges: Mapping[str, NameRange]) -> NameRange | None:
    """The range of the longest listed name that `name` is or lies in; None when there is none."""
    while name and name not in ranges:
        name = name.rpartition(".")[0]
    return ranges.get(name)
