"""Calls that no single version accepts together, though each has a version that accepts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from portcheck.ir.uses import Use
from portcheck.knowledge import Knowledge, NkiVersion
from portcheck.knowledge.fitting import MisfitKind, call_misfits, name_misfit
from portcheck.knowledge.releases import Release
from portcheck.rules.generation.calls import written_in
from portcheck.rules.generation.wording import short

_BY_VERSION = (MisfitKind.GONE, MisfitKind.LATER, MisfitKind.ARGUMENT_GONE, MisfitKind.ARGUMENT_LATER)
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Conflict:
    """The `uses` that the version does not accept; `others` says which versions they want and what those lack."""

    uses: tuple[Use, ...]
    others: tuple[str, ...]


def conflict_in(uses: Sequence[Use], version: NkiVersion, knowledge: Knowledge) -> Conflict | None:
    """The conflict among `uses`, all of one package; None where some version accepts all of them."""
    releases = knowledge.releases
    root = releases.at(version).root
    versions = [release for release in releases.versions if release.root == root]
    if any(all(_fits(use, release.version, knowledge) for use in uses) for release in versions):
        return None
    wanting = {
        use: fitting
        for use in uses
        if not _fits(use, version, knowledge)
        if (fitting := [release for release in versions if _fits(use, release.version, knowledge)])
    }
    if not wanting:
        return None
    return Conflict(tuple(wanting), tuple(dict.fromkeys(_reasons(wanting, uses, knowledge))))


def _fits(use: Use, version: NkiVersion, knowledge: Knowledge) -> bool:
    missing = name_misfit(knowledge, use.name, version)
    if missing is not None:
        return missing.kind not in _BY_VERSION
    misfits = (item for run in use.runs for item in call_misfits(knowledge, use.name, version, written_in(run)))
    return not any(item.kind in _BY_VERSION for item in misfits)


def _reasons(wanting: dict[Use, list[Release]], uses: Iterable[Use], knowledge: Knowledge) -> Iterator[str]:
    for use, fitting in wanting.items():
        nearest = fitting[-1]
        against = [other for other in uses if not _fits(other, nearest.version, knowledge)]
        names = ", ".join(list(dict.fromkeys(short(other.name) for other in against))[:_SHOWN])
        yield f"{short(use.name)} as written here is NKI {nearest.label}, which does not accept {names}"
