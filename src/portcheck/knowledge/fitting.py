"""Whether a version of NKI has a name, and takes a call as it is written: the one place that compares the two."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache

from portcheck.knowledge.apis import Api, ApiStatus, ApiVersion
from portcheck.knowledge.load import Knowledge
from portcheck.knowledge.ranges import range_of
from portcheck.knowledge.semantics import Semantics
from portcheck.knowledge.signatures import WRITTEN, Role
from portcheck.knowledge.versions import NkiVersion

_NAMES_SHOWN = 3
_NEAR = 0.75
"""How alike two words are of which one is the other misspelt, as difflib measures it."""


class MisfitKind(StrEnum):
    """Why a version does not take a name or a call."""

    UNKNOWN = "unknown"
    """No version has the name."""
    GONE = "gone"
    """Only earlier versions have the name."""
    LATER = "later"
    """Only later versions have the name."""
    ARGUMENT_UNKNOWN = "argument-unknown"
    ARGUMENT_GONE = "argument-gone"
    ARGUMENT_LATER = "argument-later"
    SURPLUS = "surplus"
    """More arguments by position than it takes."""
    DESTINATION = "destination"
    """A destination is given to a call that hands its result back and takes any keyword."""
    MISSING = "missing"
    """An argument that it requires is not given."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """One reason: about which parameter, and the version that ended or began it; "" for neither."""

    kind: MisfitKind
    argument: str = ""
    bound: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """A call as it is written: arguments by position, keywords; `is_open` says that it may have more of both."""

    positions: int = 0
    keywords: tuple[str, ...] = ()
    is_open: bool = False


def name_misfit(knowledge: Knowledge, name: str, version: NkiVersion) -> Misfit | None:
    """Why `version` does not have `name`; None where it does, or where the tables cannot know."""
    name = knowledge.releases.canonical(name)
    offered = knowledge.offers(name, version)
    if offered is None:
        return _unlisted(knowledge, name, version)
    form = knowledge.api(name, version)
    if offered and (form is None or form.status is not ApiStatus.REMOVED):
        return None
    since, until = _range_of(knowledge, name)
    if form is None and since and NkiVersion.parse(since) > version and not version.matches(since):
        return Misfit(MisfitKind.LATER, bound=since)
    return Misfit(MisfitKind.GONE, bound=form.since if form is not None else until)


def _range_of(knowledge: Knowledge, name: str) -> tuple[str, str]:
    entry = knowledge.api_in_any_version(name)
    if entry is not None:
        last = [form for form in entry.versions if form.status is not ApiStatus.REMOVED] or list(entry.versions)
        return entry.versions[0].since, last[-1].until
    found = range_of(name, knowledge.objects.ranges)
    return (found.since, found.until) if found is not None else ("", "")


def _unlisted(knowledge: Knowledge, name: str, version: NkiVersion) -> Misfit | None:
    releases = knowledge.releases
    for twin in releases.twins(name):
        if twin in knowledge.apis or twin in knowledge.object_names:
            since, _ = _range_of(knowledge, twin)
            first = releases.first_in(releases.root_of(name))
            is_older = NkiVersion.parse(since) < NkiVersion.parse(first)
            return Misfit(MisfitKind.GONE, bound=first) if is_older else Misfit(MisfitKind.LATER, bound=since)
    owner, _, word = name.rpartition(".")
    is_package = name in releases.packages or name in releases.modules
    if word.startswith("_") or is_package or not releases.root_of(name):
        return None
    is_closed = releases.is_complete(name) or owner in _owners(knowledge)
    is_near = owner == releases.root_of(name) and bool(get_close_matches(name, knowledge.apis, n=1, cutoff=0.8))
    return Misfit(MisfitKind.UNKNOWN) if is_closed or is_near else None


@lru_cache(maxsize=4)
def _owners(knowledge: Knowledge) -> frozenset[str]:
    """The enumerations, classes and groups of constants: what hangs on them is in the tables."""
    found = {name.rpartition(".")[0] for name in _names(knowledge)}
    return frozenset(name for name in found if knowledge.releases.is_complete(name))


def call_misfits(
    knowledge: Knowledge, name: str, version: NkiVersion, written: Written, *, is_method: bool = False
) -> tuple[Misfit, ...]:
    """Why `version`, which has `name`, does not take the call as written; nothing where its parameters are unknown.

    A method takes by position what its function takes by keyword only, and its first argument is its tensor.
    """
    entry = knowledge.api_in_any_version(knowledge.releases.canonical(name))
    form = entry.at(version) if entry is not None else None
    if entry is None or form is None or not form.parameters:
        return ()
    names = [parameter.name for parameter in form.parameters]
    taken = names.index("*") if "*" in names and not is_method else len(names)
    slots = [word for word in names[:taken] if not word.startswith("*")]
    takes_any = any(word.startswith("**") for word in names)
    found = list(_strangers(knowledge, entry, version, written))
    if takes_any:
        found = [item for item in (_taken(knowledge, form, item) for item in found) if item is not None]
    is_collecting = any(word.startswith("*") and word != "*" for word in names)
    if written.positions > len(slots) and not is_collecting:
        found.append(Misfit(MisfitKind.SURPLUS))
    if not written.is_open:
        found.extend(_missing(form, {*slots[: written.positions], *written.keywords}))
    return tuple(found)


def _strangers(knowledge: Knowledge, entry: Api, version: NkiVersion, written: Written) -> list[Misfit]:
    form = entry.at(version)
    assert form is not None
    names = {parameter.name for parameter in form.parameters}
    return [_stranger(knowledge, entry, version, word) for word in written.keywords if word not in names]


def _stranger(knowledge: Knowledge, entry: Api, version: NkiVersion, word: str) -> Misfit:
    """Why `version` does not know the keyword `word`: another version, or the call in another package, may."""
    twins = [knowledge.apis[twin] for twin in knowledge.releases.twins(entry.name) if twin in knowledge.apis]
    forms = [form for api in (entry, *twins) for form in api.versions if form.parameter(word) is not None]
    earlier = [form.until for form in forms if form.until and NkiVersion.parse(form.until) <= _end(version)]
    if earlier:
        return Misfit(MisfitKind.ARGUMENT_GONE, word, max(earlier, key=NkiVersion.parse))
    later = [form.since for form in forms]
    if later:
        return Misfit(MisfitKind.ARGUMENT_LATER, word, min(later, key=NkiVersion.parse))
    return Misfit(MisfitKind.ARGUMENT_UNKNOWN, word)


def _taken(knowledge: Knowledge, form: ApiVersion, found: Misfit) -> Misfit | None:
    """What is wrong with a keyword that only `**kwargs` takes, if anything."""
    if found.kind is MisfitKind.ARGUMENT_LATER and not any(item.role in WRITTEN for item in form.parameters[:1]):
        twins = [knowledge.apis[twin] for twin in knowledge.releases.twins(form.name) if twin in knowledge.apis]
        later = [other.parameter(found.argument) for twin in twins for other in twin.versions]
        if any(item is not None and item.role is Role.DESTINATION for item in later):
            return Misfit(MisfitKind.DESTINATION, found.argument, found.bound)
    return found if _is_misspelt(form, found) else None


def _is_misspelt(form: ApiVersion, found: Misfit) -> bool:
    """Whether a keyword that only `**kwargs` takes is a mistake: no version has it, and it is spelled like another."""
    if found.kind is not MisfitKind.ARGUMENT_UNKNOWN or form.semantics in _OPEN:
        return False
    return bool(get_close_matches(found.argument, [item.name for item in form.parameters], n=1, cutoff=_NEAR))


_OPEN = frozenset({Semantics.DECORATOR, Semantics.LAUNCH, Semantics.MEASURE})
"""What hands its keywords on to something else."""


def _end(version: NkiVersion) -> NkiVersion:
    """The last release that `version` may stand for, and any of the next."""
    return version if version.sdk else NkiVersion(version.major, version.minor, 10**6)


def _missing(form: ApiVersion, given: Collection[str]) -> list[Misfit]:
    required = [item.name for item in form.parameters if item.default is None and not item.name.startswith("*")]
    return [Misfit(MisfitKind.MISSING, name) for name in required if name not in given]


def nearest_names(knowledge: Knowledge, name: str, version: NkiVersion) -> tuple[str, ...]:
    """The names that `version` has and that are spelled most like `name`, nearest first; at most three."""
    owner, _, word = name.rpartition(".")
    words: dict[str, str] = {}
    for known in _names(knowledge):
        if knowledge.releases.root_of(known) == knowledge.releases.at(version).root and knowledge.offers(
            known, version
        ):
            place, _, last = known.rpartition(".")
            if place == owner or last not in words:
                words[last] = known
    return tuple(words[found] for found in get_close_matches(word, list(words), n=_NAMES_SHOWN, cutoff=0.7))


def nearest_parameters(form: ApiVersion, word: str) -> Sequence[str]:
    """The parameters of `form` that are spelled most like `word`."""
    return get_close_matches(word, [item.name for item in form.parameters], n=1, cutoff=0.5)


@lru_cache(maxsize=4)
def _names(knowledge: Knowledge) -> tuple[str, ...]:
    return tuple(sorted({*knowledge.apis, *knowledge.object_names}))
