"""The report: the one frozen thing that every format renders and none recomputes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from portcheck.core.finding import Finding, Place

SCHEMA_VERSION = "1.0"


class Verdict(StrEnum):
    """The outcome for a pair, most severe first (docs/explanation/verdicts.md)."""

    NOT_FAITHFUL = "not-faithful"
    NOT_VERIFIED = "not-verified"
    NEEDS_DECISION = "needs-decision"
    WITHIN_TOLERANCE = "faithful-within-tolerance"
    FAITHFUL = "faithful"


class Fidelity(StrEnum):
    """How the counterpart of a CUDA construct compares with it."""

    EQUAL = "equal"
    REORDERED = "reordered"
    CHANGED = "changed"
    ABSORBED = "absorbed"
    NOT_NEEDED = "not needed"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """The program that made the report."""

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One side of what was compared: the file as named by the user, its kernels, what was assumed on reading it."""

    path: str
    sha256: str
    kernels: tuple[str, ...]
    version: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Both sides, and the flags and assumptions the user stated."""

    cuda: Input
    nki: Input
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotUnderstood:
    """A construct kept opaque: why, how often, and where it stands first."""

    reason: str
    count: int
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SideCoverage:
    """How many operations of one side were understood, and what was not."""

    understood: int
    total: int
    not_understood: tuple[NotUnderstood, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageTable:
    """Coverage of both sides."""

    cuda: SideCoverage
    nki: SideCoverage


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRow:
    """A CUDA construct, how often it occurs, its counterpart in the port and how well they agree."""

    construct: str
    count: int
    counterpart: str
    fidelity: Fidelity
    cuda: Place | None = None
    nki: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRow:
    """One stage of a reduction: terms, order, height (roundings a leaf passes) and the dtype it accumulates in.

    Numbers are text, because they may be symbolic (`ceil(dim/256)`).
    """

    name: str
    terms: str
    order: str
    height: str
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReductionSide:
    """A reduction of one side: what it sums in readable mathematics, its stages and total height."""

    text: str
    stages: tuple[StageRow, ...]
    height: str
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReductionRow:
    """A reduction of the original and its counterpart; either side is None where there is none."""

    operator: str
    cuda: ReductionSide | None
    nki: ReductionSide | None
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionRow:
    """A quantity that both sides hold, with the dtypes it is stored, computed and accumulated in."""

    quantity: str
    role: str
    cuda: str
    nki: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRow:
    """An output of the original: what each element is on both sides, and whether they were proved equal.

    `status` is `equal`, `undecided`, `differs` or `missing`; `domain` says which elements each side computes.
    """

    name: str
    counterpart: str
    status: str
    cuda: str
    nki: str
    cuda_domain: str = ""
    nki_domain: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """A finding that was silenced, and the reason given."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that is said about one pair."""

    schema_version: str
    tool: Tool
    inputs: Inputs
    target: str
    nki_version: str
    verdict: Verdict
    summary: str
    coverage: CoverageTable
    alignment: tuple[str, ...]
    mapping: tuple[MappingRow, ...]
    outputs: tuple[OutputRow, ...]
    reductions: tuple[ReductionRow, ...]
    precision: tuple[PrecisionRow, ...]
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    not_checked: tuple[str, ...]
