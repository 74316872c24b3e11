"""Findings: what a rule says about a pair, with both places it concerns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from portcheck.core.source import Span


class Severity(StrEnum):
    """What a change does to the reader of the output, most severe first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    PERF = "perf"


class Certainty(StrEnum):
    """How sure the finding is, surest first."""

    CERTAIN = "certain"
    LIKELY = "likely"
    HINT = "hint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A span of one of the two sources with the text that stands there."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """A finding that follows from another one and is reported under it."""

    code: str
    name: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One statement about a pair.

    `message` says what changed, where and by how much; `remedy` is one sentence for this place; `because` lists the
    grounds (facts, mapping entries, documents). `cuda` and `nki` are None where a side has no counterpart; then
    `message` says where it was looked for. `fingerprint` survives moved lines. `outputs` names the outputs it
    concerns (original's names).
    """

    code: str
    name: str
    severity: Severity
    certainty: Certainty
    message: str
    remedy: str
    because: tuple[str, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    cuda: Place | None = None
    nki: Place | None = None
    fingerprint: str = ""
    outputs: tuple[str, ...] = ()
    about_rounding: bool = False
