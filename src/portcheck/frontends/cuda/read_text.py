"""A text that was read: what it defines, and what was found in it once for all that is lowered from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from portcheck.frontends.cuda.host.launch import LaunchSite
from portcheck.frontends.cuda.model.host_facts import HostFacts
from portcheck.frontends.cuda.parsing.definitions import Definitions
from portcheck.frontends.cuda.parsing.syntax import Node, Unit
from portcheck.frontends.cuda.text.macros import Macro


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
