"""Which version of NKI a port is written for, and the evidence for it: the names and calls of its files."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from portcheck.frontends.nki.source.mentions import mentions, modules_imported
from portcheck.knowledge import Form, Knowledge, NkiVersion, Reception
from portcheck.knowledge.fitting import Misfit, MisfitKind, Written, call_misfits, name_misfit
from portcheck.knowledge.releases import Release

_SHOWN = 3
_SAYS_NOTHING = (MisfitKind.UNKNOWN, MisfitKind.ARGUMENT_UNKNOWN, MisfitKind.SURPLUS)
"""What no version accepts says nothing about which one is meant."""


@dataclass(frozen=True, slots=True)
class Generation:
    """The version a port is read as, and why; `is_stated` says that the user named it."""

    version: str
    evidence: tuple[str, ...]
    is_stated: bool = False


Named = tuple[str, Written | None]
"""A name and how it is called, if it is."""


@dataclass(frozen=True, slots=True)
class Text:
    """One file of a port: its tree, its imports, and what the names they bind stand for."""

    tree: ast.Module
    imports: tuple[ast.stmt, ...]
    aliases: Mapping[str, str]


def generation_of(files: Sequence[Text], stated: str | None, knowledge: Knowledge) -> Generation:
    """The version that `stated` or else the imports and calls of `files` speak for."""
    modules = {name for file in files for name in modules_imported(file.imports)}
    imports = [f"imports {name}" for name in sorted(modules)]
    if stated is not None and _is_version(stated):
        return Generation(stated, (f"stated: {stated}", *imports), is_stated=True)
    named = ((item.name, item.written) for file in files for item in mentions(file.tree, file.aliases))
    found = list(dict.fromkeys(named))
    if not found:
        return _by_imports(modules, tuple(imports), knowledge)
    misfits = {release: list(_misfits(found, release, knowledge)) for release in knowledge.releases.versions}
    candidates = [release for release in misfits if release.is_whole or not misfits[release]]
    best = min(reversed(candidates), key=lambda release: len(misfits[release]))
    return Generation(best.label, (*imports, *_reasons(misfits, best)))


def _by_imports(modules: Collection[str], imports: tuple[str, ...], knowledge: Knowledge) -> Generation:
    """The version of a port that uses nothing of NKI: the newest in the package that it imports."""
    if not modules:
        return Generation(newest_version(knowledge), ("no import of NKI; the newest version is assumed",))
    roots = {knowledge.releases.root_of(name) for name in modules}
    fitting = [release for release in knowledge.releases.versions if release.root in roots]
    return Generation(
        fitting[-1].label, (*imports, "uses nothing of it; the newest version of that package is assumed")
    )


def newest_version(knowledge: Knowledge) -> str:
    """The version that a port is read as of which nothing is known."""
    return knowledge.releases.newest.label


def _is_version(label: str) -> bool:
    try:
        NkiVersion.parse(label)
    except ValueError:
        return False
    return True


def _misfits(found: Sequence[Named], release: Release, knowledge: Knowledge) -> Iterator[str]:
    """What `release` does not accept of the text, one sentence each."""
    for name, written in found:
        missing = name_misfit(knowledge, name, release.version)
        if missing is not None:
            if missing.kind not in _SAYS_NOTHING:
                yield f"{name} is not in it"
            continue
        if written is None:
            continue
        for misfit in call_misfits(knowledge, name, release.version, written):
            if misfit.kind not in _SAYS_NOTHING and not _is_ignored(misfit, release, knowledge):
                yield _about(name, misfit)


def _is_ignored(misfit: Misfit, release: Release, knowledge: Knowledge) -> bool:
    """Whether `release` passes over a keyword that it does not have."""
    ruling = knowledge.forms.ruling(Form.UNKNOWN_KEYWORD, release.version)
    is_keyword = misfit.kind in (MisfitKind.ARGUMENT_GONE, MisfitKind.ARGUMENT_LATER)
    return is_keyword and ruling is not None and ruling.reception is Reception.IGNORED


def _about(name: str, misfit: Misfit) -> str:
    if misfit.kind is MisfitKind.MISSING:
        return f"{name} needs the argument {misfit.argument}"
    return f"{name} has no parameter {misfit.argument}"


def _reasons(misfits: Mapping[Release, Sequence[str]], best: Release) -> Iterator[str]:
    """Why the version is `best`: what newer ones do not accept, then older ones, then what it does not itself."""
    labels = list(misfits)
    fitting = [release.label for release in labels if not misfits[release] and (release.is_whole or release is best)]
    if fitting:
        shown = fitting[0] if len(fitting) == 1 else f"{fitting[0]} to {fitting[-1]}"
        yield f"{shown} accept{'s' if len(fitting) == 1 else ''} every call"
    at = labels.index(best)
    for place in (at + 1, at - 1):
        if 0 <= place < len(labels):
            reasons = list(dict.fromkeys(misfits[labels[place]]))
            yield from (f"not {labels[place].label}: {reason}" for reason in reasons[:_SHOWN])
    if misfits[best]:
        reasons = list(dict.fromkeys(misfits[best]))
        more = f" and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
        yield f"no version accepts every call; of {best.label}: {', '.join(reasons[:_SHOWN])}{more}"
