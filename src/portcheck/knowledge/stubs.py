"""Where the public stub files mislead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.knowledge.ranges import NameRange, range_of
from portcheck.knowledge.schema import read_toml
from portcheck.knowledge.versions import NkiVersion

_FIRST = "0.1"


@dataclass(frozen=True, slots=True)
class StubFacts:
    """The names the stubs are not followed in, and in which versions."""

    exceptions: Mapping[str, NameRange]

    def is_exception(self, name: str, version: NkiVersion) -> bool:
        """Whether the tables knowingly say something else about `name` in `version` than the stubs."""
        found = range_of(name, self.exceptions)
        return found is not None and found.includes(version)


def load_stub_facts(path: Path) -> StubFacts:
    """Read `mappings/nki/stubs.toml`; raises KnowledgeError."""
    root, sources = read_toml(path, f"nki/{path.name}")
    exceptions: dict[str, NameRange] = {}
    for entry in root.tables("exception"):
        entry.text("reason")
        found = NameRange(entry.text("since", _FIRST), entry.text("until", ""), sources.cite(entry))
        exceptions.update(dict.fromkeys(entry.texts("names"), found))
        entry.finish()
    root.finish()
    return StubFacts(exceptions)
