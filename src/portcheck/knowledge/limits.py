"""Limits of CUDA devices: what has one value on all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.knowledge.schema import read_toml

FILE = "limits.toml"
"""The file of `mappings/cuda` that holds them; the others hold constructs."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A number that the programming model fixes, in `unit`."""

    name: str
    value: int
    unit: str
    source: str


def load_limits(folder: Path) -> Mapping[str, Limit]:
    """Read the limits in `mappings/cuda`; raises KnowledgeError."""
    root, sources = read_toml(folder / FILE, f"{folder.parent.name}/{folder.name}/{FILE}")
    found: dict[str, Limit] = {}
    for name, table in root.table("limit").items():
        found[name] = Limit(name, table.integer("value"), table.text("unit"), sources.cite(table))
        table.finish()
    root.finish()
    return found
