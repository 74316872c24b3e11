"""A text that was read: what it defines, and what was found in it once for all that is lowered from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from portcheck.frontends.cuda.definitions import Definitions
from portcheck.frontends.cuda.host_facts import HostFacts
from portcheck.frontends.cuda.launch import LaunchSite
from portcheck.frontends.cuda.macros import Macro
from portcheck.frontends.cuda.syntax import Node, Unit


@dataclass
class Known:
    """What is found once in a text for all that is lowered from it."""

    host_facts: dict[tuple[int, int, int], HostFacts] = field(default_factory=dict)
    host_calls: dict[str, list[Node]] = field(default_factory=dict)
    sites: list[LaunchSite] | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A file that was read with all it includes."""

    path: str
    unit: Unit
    definitions: Definitions
    macros: Mapping[str, Macro]
    notes: tuple[str, ...]
    known: Known = field(default_factory=Known)
