"""Forms of writing and single names or arguments that a version of NKI rejects, ignores or advises against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from portcheck.knowledge.schema import Sources, Table, read_toml
from portcheck.knowledge.versions import NkiVersion


class Form(StrEnum):
    """A way of writing; `mappings/nki/forms.toml` says which versions object to it."""

    IDENTITY = "identity"
    IDENTITY_WITH_NONE = "identity_with_none"
    KEYWORD_ONLY = "keyword_only"
    LIST_PARAMETER = "list_parameter"
    DECORATED_HELPER = "decorated_helper"
    DICTIONARY_KEY = "dictionary_key"
    GENERATOR = "generator"
    INHERITANCE = "inheritance"
    REGISTER_CONDITION = "register_condition"
    NESTED_SLICE = "nested_slice"
    TILE_ARITHMETIC = "tile_arithmetic"
    UNKNOWN_KEYWORD = "unknown_keyword"
    NUMBER_AS_ENUMERATION = "number_as_enumeration"
    TEXT_AS_ENUMERATION = "text_as_enumeration"
    TEXT_AS_SPACE = "text_as_space"
    LEGACY_NAMESPACE = "legacy_namespace"


class Reception(StrEnum):
    """What a version does with a form."""

    REJECTED = "rejected"
    IGNORED = "ignored"
    DEPRECATED = "deprecated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the versions from `since` up to, not including, `until` ("" = still open) do with a form."""

    reception: Reception
    since: str
    until: str
    replacement: str
    source: str

    def includes(self, version: NkiVersion) -> bool:
        """Whether some release of `version` does so."""
        return version.matches(self.since, self.until)


@dataclass(frozen=True, slots=True)
class FormFacts:
    """How a form is called, and the rulings about it; `doubt` cites kernels of the vendor that have it all the same."""

    spelled: str
    rulings: tuple[Ruling, ...]
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class FormTable:
    """All forms, and the rulings about names and about arguments of calls (name, argument; "" = the name itself).

    `keywords` are those that only calls of the first generation have, with what is written instead.
    """

    forms: Mapping[Form, FormFacts]
    notices: Mapping[tuple[str, str], tuple[Ruling, ...]]
    keywords: Mapping[str, str]

    def ruling(self, form: Form, version: NkiVersion) -> Ruling | None:
        """What `version` does with `form`; None where it accepts it, or nothing is documented."""
        return _at(self.forms[form].rulings, version)

    def notice(self, name: str, argument: str, version: NkiVersion) -> Ruling | None:
        """What `version` does with `name`, or with its `argument`, though it has it; None where it just accepts it."""
        return _at(self.notices.get((name, argument), ()), version)


def _at(rulings: tuple[Ruling, ...], version: NkiVersion) -> Ruling | None:
    return next((ruling for ruling in reversed(rulings) if ruling.includes(version)), None)


def load_forms(path: Path) -> FormTable:
    """Read `mappings/nki/forms.toml`; raises KnowledgeError."""
    root, sources = read_toml(path, f"nki/{path.name}")
    table = root.table("form")
    forms: dict[Form, FormFacts] = {}
    for form in Form:
        entry = table.table(form.value)
        doubt = sources.cite(entry, "doubt") if entry.has("doubt") else ""
        forms[form] = FormFacts(entry.text("spelled"), _rulings(entry, sources), doubt)
        entry.finish()
    table.finish()
    notices: dict[tuple[str, str], tuple[Ruling, ...]] = {}
    for entry in root.tables("notice"):
        notices[entry.text("name"), entry.text("argument", "")] = _rulings(entry, sources)
        entry.finish()
    keywords = {word: entry.text("replacement") for word, entry in root.table("keyword").items() if sources.cite(entry)}
    root.finish()
    return FormTable(forms, notices, keywords)


def _rulings(entry: Table, sources: Sources) -> tuple[Ruling, ...]:
    return tuple(_ruling(item, sources) for item in entry.tables("rulings"))


def _ruling(table: Table, sources: Sources) -> Ruling:
    ruling = Ruling(
        reception=table.member("reception", Reception),
        since=table.text("since"),
        until=table.text("until", ""),
        replacement=table.text("replacement", ""),
        source=sources.cite(table),
    )
    for label in (ruling.since, *([ruling.until] if ruling.until else [])):
        try:
            NkiVersion.parse(label)
        except ValueError as error:
            raise table.error(str(error)) from error
    table.finish()
    return ruling
