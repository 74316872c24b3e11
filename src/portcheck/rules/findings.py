"""From what rules report to findings: places with their text, fingerprints, consequences under their causes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from portcheck.core.finding import Certainty, Consequence, Finding, Place, Severity
from portcheck.core.source import NOWHERE, SourceFile, Span
from portcheck.rules._base import Draft, Pair, Rule
from portcheck.rules.catalogue import all_rules

_SEVERITIES = list(Severity)
_CERTAINTIES = list(Certainty)


@dataclass(frozen=True, slots=True)
class _Reported:
    rule: Rule
    draft: Draft


def judge(pair: Pair) -> tuple[Finding, ...]:
    """All findings about `pair`, most severe first, each with what follows from it attached."""
    reported = [
        _Reported(rule, draft)
        for rule in all_rules()
        if pair.has_port or not rule.needs_port
        for draft in rule.judge(pair)
    ]
    roots = [item for item in reported if _cause(item, reported) is None]
    findings = [_finding(item, list(_consequences(item, reported)), pair.sources) for item in roots]
    return tuple(sorted(findings, key=_order))


def _cause(item: _Reported, reported: list[_Reported]) -> _Reported | None:
    """The finding that explains `item`, if one of the codes it may follow from is about the same thing."""
    for code in item.rule.consequence_of:
        for other in reported:
            if other.rule.code == code and other is not item and _about_the_same(item.draft, other.draft):
                return other
    return None


def _about_the_same(left: Draft, right: Draft) -> bool:
    return bool(left.subject & right.subject or set(left.outputs) & set(right.outputs))


def _consequences(root: _Reported, reported: list[_Reported]) -> Iterator[Consequence]:
    for item in reported:
        cause = _cause(item, reported)
        while cause is not None and cause is not root:
            cause = _cause(cause, reported)
        if cause is root:
            yield Consequence(code=item.rule.code, name=item.rule.name, message=item.draft.message)


def _finding(item: _Reported, consequences: list[Consequence], sources: Mapping[str, SourceFile]) -> Finding:
    rule, draft = item.rule, item.draft
    cuda, nki = _place(draft.cuda, sources), _place(draft.nki, sources)
    certainty = draft.certainty or rule.certainty
    if _CERTAINTIES.index(certainty) < _CERTAINTIES.index(rule.certainty):
        certainty = rule.certainty
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=rule.severity,
        certainty=certainty,
        message=draft.message,
        remedy=draft.remedy,
        because=draft.because,
        consequences=tuple(consequences),
        cuda=cuda,
        nki=nki,
        fingerprint=_fingerprint(rule.code, cuda, nki),
        outputs=draft.outputs,
        about_rounding=rule.about_rounding or draft.about_rounding,
    )


def _place(span: Span | None, sources: Mapping[str, SourceFile]) -> Place | None:
    if span is None or span == NOWHERE or span.path not in sources:
        return None
    return Place(span=span, text=sources[span.path].text_of(span))


def _fingerprint(code: str, cuda: Place | None, nki: Place | None) -> str:
    """A digest of what is flagged that does not change when lines move or are indented otherwise."""
    parts = [code, *(" ".join(place.text.split()) if place else "" for place in (cuda, nki))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _order(finding: Finding) -> tuple[int, str, tuple[int, int], str]:
    place = finding.nki or finding.cuda
    start = (place.span.start.line, place.span.start.column) if place else (0, 0)
    return _SEVERITIES.index(finding.severity), finding.code, start, finding.message


def numbered(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Findings with fingerprints made unique: repeated ones get a running number."""
    seen: dict[str, int] = {}
    result = []
    for finding in findings:
        count = seen.get(finding.fingerprint, 0)
        seen[finding.fingerprint] = count + 1
        result.append(replace(finding, fingerprint=f"{finding.fingerprint}-{count}") if count else finding)
    return tuple(result)
