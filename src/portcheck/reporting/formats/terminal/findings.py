"""The findings of the terminal format: what changed, both places, what to do, and why we say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from portcheck.core.finding import Finding
from portcheck.core.report import Suppressed
from portcheck.core.source import SourceFile
from portcheck.reporting.escape import single_line
from portcheck.reporting.formats.terminal.excerpts import both_sides
from portcheck.reporting.formats.terminal.words import SEVERITY_STYLES, bullets, labelled, prose, quiet, spaced

_INDENT = 2


def finding_blocks(findings: Sequence[Finding], sources: Mapping[str, SourceFile], width: int) -> list[RenderableType]:
    """One block a finding, in the order of the report, with an empty line between two."""
    if not findings:
        return [quiet("none")]
    blocks: list[RenderableType] = []
    for index, finding in enumerate(findings):
        if index:
            blocks.append(Text())
        blocks += [_title(finding), Padding(Group(*_body(finding, sources, width - _INDENT)), (0, 0, 0, _INDENT))]
    return blocks


def suppressed_lines(suppressed: Sequence[Suppressed]) -> list[RenderableType]:
    """One line a silenced finding, with the reason that was given."""
    return bullets(
        f"{item.finding.code} {item.finding.name}: {item.reason or 'no reason given'}" for item in suppressed
    )


def _title(finding: Finding) -> Text:
    code, name = Text(single_line(finding.code)), Text(single_line(finding.name), style="bold")
    code.stylize(SEVERITY_STYLES[finding.severity])
    concerns = f"; concerns {', '.join(finding.outputs)}" if finding.outputs else ""
    return spaced(Text(" ").join([code, name]), quiet(f"{finding.severity}, {finding.certainty}{concerns}"))


def _body(finding: Finding, sources: Mapping[str, SourceFile], width: int) -> Iterator[RenderableType]:
    grounds = list(_grounds(finding))
    yield prose(finding.message)
    if finding.cuda or finding.nki:
        below = 1 if grounds else 0
        yield Padding(both_sides(finding.cuda, finding.nki, sources, width), (1, 0, below, 0))
    if grounds:
        yield labelled(grounds)


def _grounds(finding: Finding) -> Iterator[tuple[str, RenderableType]]:
    if finding.remedy:
        yield "remedy", prose(finding.remedy, style="bold")
    for index, ground in enumerate(finding.because):
        yield "" if index else "because", prose(ground)
    for index, consequence in enumerate(finding.consequences):
        text = prose(f"{consequence.code} {consequence.name}: {consequence.message}")
        yield "" if index else "follows", text
