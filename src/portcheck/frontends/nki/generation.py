"""Which version of NKI a file is written for, and the evidence for it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from portcheck.frontends.nki.imports import is_legacy, is_nki, qualified
from portcheck.knowledge import ApiStatus, Knowledge, NkiVersion, Role

LEGACY = "0.1"
NEWEST = "0.6"
_CURRENT = ("0.6", "0.5", "0.4", "0.3", "0.2")


@dataclass(frozen=True, slots=True)
class Generation:
    """The version a file is read as and why."""

    version: str
    evidence: tuple[str, ...]


def generation_of(tree: ast.Module, aliases: Mapping[str, str], stated: str | None, knowledge: Knowledge) -> Generation:
    """The version that `stated` or else the imports and calls of a file speak for."""
    legacy = sorted({name for name in aliases.values() if is_legacy(name)})
    current = sorted({name for name in aliases.values() if is_nki(name) and not is_legacy(name)})
    evidence = [f"imports {name}" for name in (*legacy, *current)]
    if stated is not None and _is_version(stated):
        return Generation(stated, (f"stated: {stated}", *evidence))
    calls = _calls(tree, aliases)
    if legacy and (not current or _prefers_legacy(calls)):
        return Generation(LEGACY, tuple(evidence))
    if not current:
        return Generation(NEWEST, ("no import of NKI; the newest version is assumed",))
    return _newest_consistent(calls, evidence, knowledge)


def _is_version(label: str) -> bool:
    try:
        NkiVersion.parse(label)
    except ValueError:
        return False
    return True


def _calls(tree: ast.Module, aliases: Mapping[str, str]) -> list[tuple[str, ast.Call]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = qualified(node.func, aliases)
            if is_nki(name):
                found.append((name, node))
    return found


def _prefers_legacy(calls: list[tuple[str, ast.Call]]) -> bool:
    """In a file that imports both generations, the one that more calls resolve to."""
    legacy = sum(is_legacy(name) for name, _ in calls)
    return legacy * 2 > len(calls)


def _newest_consistent(calls: list[tuple[str, ast.Call]], evidence: list[str], knowledge: Knowledge) -> Generation:
    """The newest version that has every call with the keywords it is given; the one with the fewest misfits."""
    best = NEWEST
    fewest: list[str] | None = None
    for label in _CURRENT:
        misfits = _misfits(calls, NkiVersion.parse(label), knowledge)
        if fewest is None or len(misfits) < len(fewest):
            best, fewest = label, misfits
        if not misfits:
            break
    if best != NEWEST:
        against = _misfits(calls, NkiVersion.parse(NEWEST), knowledge)
        evidence.extend(f"not {NEWEST}: {reason}" for reason in against[:3])
    return Generation(best, tuple(evidence))


def _misfits(calls: list[tuple[str, ast.Call]], version: NkiVersion, knowledge: Knowledge) -> list[str]:
    found: dict[str, None] = {}
    for name, call in calls:
        entry = knowledge.api_in_any_version(name)
        if entry is None:
            continue
        form = entry.at(version)
        if form is None or form.status is ApiStatus.REMOVED:
            found[f"{name} is not in it"] = None
            continue
        names = {parameter.name for parameter in form.parameters}
        if not names or any(parameter.startswith("**") for parameter in names):
            continue
        strangers = [keyword.arg for keyword in call.keywords if keyword.arg and keyword.arg not in names]
        # `mask` is the first generation's; a call that carries it says nothing between the current versions.
        found.update({f"{name} has no parameter {word}": None for word in strangers if word != Role.MASK})
    return list(found)
