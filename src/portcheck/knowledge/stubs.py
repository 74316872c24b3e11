"""What is known about the public stub files: which SDK shipped which version, and where the stubs mislead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.core.errors import KnowledgeError
from portcheck.knowledge.ranges import NameRange, range_of
from portcheck.knowledge.schema import read_toml
from portcheck.knowledge.versions import NkiVersion

_FIRST = "0.1"


@dataclass(frozen=True, slots=True)
class StubFacts:
    """The NKI version of every SDK release ("2.28" -> "0.2/2.28"), and the names the stubs are not followed in."""

    releases: Mapping[str, str]
    exceptions: Mapping[str, NameRange]

    def is_exception(self, name: str, version: NkiVersion) -> bool:
        """Whether the tables knowingly say something else about `name` in `version` than the stubs."""
        found = range_of(name, self.exceptions)
        return found is not None and found.includes(version)


def load_stub_facts(path: Path) -> StubFacts:
    """Read `mappings/nki/stubs.toml`; raises KnowledgeError."""
    root, sources = read_toml(path, f"nki/{path.name}")
    releases = {sdk: f"{version}/{sdk}" for sdk, version in root.table("releases").strings().items()}
    exceptions: dict[str, NameRange] = {}
    for entry in root.tables("exception"):
        entry.text("reason")
        found = NameRange(entry.text("since", _FIRST), entry.text("until", ""), sources.cite(entry))
        exceptions.update(dict.fromkeys(entry.texts("names"), found))
        entry.finish()
    root.finish()
    for label in releases.values():
        try:
            NkiVersion.parse(label)
        except ValueError as error:
            raise KnowledgeError(f"nki/{path.name}: releases: {error}") from error
    return StubFacts(releases, exceptions)
