"""A strict reader of TOML tables: every key is asked for by name and type, and what is left over is an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import tomli

from portcheck.core.errors import KnowledgeError, did_you_mean

UNKNOWN_WORD = "unknown"


class Unknown(StrEnum):
    """The value of a fact that the vendor does not document."""

    UNKNOWN = UNKNOWN_WORD


UNKNOWN = Unknown.UNKNOWN

_MISSING = object()

_Member = TypeVar("_Member", bound=StrEnum)


class Table:
    """One TOML table being read: it knows its file and entry, hands out keys once and objects to the rest.

    Every accessor raises KnowledgeError, naming file, entry and key, for a missing key without default or a wrong type.
    """

    __slots__ = ("_asked", "_values", "entry", "file")

    def __init__(self, values: Mapping[str, Any], file: str, entry: str) -> None:
        self._values = values
        self._asked: list[str] = []
        self.file = file
        self.entry = entry

    def error(self, message: str, hint: str = "") -> KnowledgeError:
        """The error that places `message` in this entry, to be raised."""
        return KnowledgeError(f"{self.file}: {self.entry or 'top level'}: {message}", hint=hint)

    def _inner(self, key: str) -> str:
        return f"{self.entry}.{key}" if self.entry else key

    def _take(self, key: str, default: object) -> Any:
        self._asked.append(key)
        value = self._values.get(key, default)
        if value is _MISSING:
            hint = did_you_mean(key, [name for name in self._values if name not in self._asked])
            raise self.error(f'missing key "{key}"', hint)
        return value

    def _wrong(self, key: str, wanted: str, value: object) -> KnowledgeError:
        return self.error(f'key "{key}" must be {wanted}, not {value!r}')

    def text(self, key: str, default: object = _MISSING) -> str:
        """The string at `key`."""
        value = self._take(key, default)
        if type(value) is not str:
            raise self._wrong(key, "a string", value)
        return value

    def flag(self, key: str, default: object = _MISSING) -> bool:
        """The boolean at `key`."""
        value = self._take(key, default)
        if type(value) is not bool:
            raise self._wrong(key, "true or false", value)
        return value

    def integer(self, key: str, default: object = _MISSING) -> int:
        """The integer at `key`."""
        value = self._take(key, default)
        if type(value) is not int:
            raise self._wrong(key, "an integer", value)
        return value

    def number(self, key: str, default: object = _MISSING) -> float:
        """The number at `key`, as a float."""
        value = self._take(key, default)
        if type(value) not in (int, float):
            raise self._wrong(key, "a number", value)
        return float(value)

    def optional_number(self, key: str) -> float | int | None:
        """The number at `key` in the type it is written in, or None when the key is absent."""
        value = self._take(key, None)
        if value is None or type(value) in (int, float):
            number: float | int | None = value
            return number
        raise self._wrong(key, "a number", value)

    def number_or_unknown(self, key: str) -> float | Unknown | None:
        """The number at `key`, UNKNOWN when it says "unknown", or None when the key is absent."""
        value = self._take(key, None)
        if value is None:
            return None
        if value == UNKNOWN_WORD:
            return UNKNOWN
        if type(value) not in (int, float):
            raise self._wrong(key, 'a number or "unknown"', value)
        return float(value)

    def exact_number_or_unknown(self, key: str) -> float | int | Unknown:
        """The number at `key` in the type it is written in, or UNKNOWN when it says "unknown"."""
        value = self._take(key, _MISSING)
        if value == UNKNOWN_WORD:
            return UNKNOWN
        if type(value) in (int, float):
            number: float | int = value
            return number
        raise self._wrong(key, 'a number or "unknown"', value)

    def integers(self, key: str) -> tuple[int, ...]:
        """The list of integers at `key`."""
        value = self._take(key, _MISSING)
        if not isinstance(value, list) or not all(type(item) is int for item in value):
            raise self._wrong(key, "a list of integers", value)
        return tuple(value)

    def texts(self, key: str, default: object = _MISSING) -> tuple[str, ...]:
        """The list of strings at `key`."""
        value = self._take(key, default)
        if not isinstance(value, list | tuple) or not all(type(item) is str for item in value):
            raise self._wrong(key, "a list of strings", value)
        return tuple(value)

    def member(self, key: str, choices: type[_Member], default: _Member | None = None) -> _Member:
        """The member of the enumeration `choices` named at `key`; required when there is no `default`."""
        if default is not None and key not in self._values:
            self._asked.append(key)
            return default
        word = self.text(key)
        try:
            return choices(word)
        except ValueError:
            message = f'key "{key}" has the unknown value "{word}"'
            raise self.error(message, did_you_mean(word, [str(choice) for choice in choices])) from None

    def members(self, key: str, choices: type[_Member]) -> tuple[_Member, ...]:
        """The members of the enumeration `choices` listed at `key`."""
        words = self.texts(key)
        for word in words:
            if word not in tuple(choices):
                message = f'key "{key}" has the unknown value "{word}"'
                raise self.error(message, did_you_mean(word, [str(choice) for choice in choices]))
        return tuple(choices(word) for word in words)

    def optional_member(self, key: str, choices: type[_Member], default: _Member | None = None) -> _Member | None:
        """The member of `choices` named at `key`, or `default` when the key is absent."""
        if key not in self._values:
            self._asked.append(key)
            return default
        return self.member(key, choices)

    def tables(self, key: str, default: object = _MISSING) -> tuple[Table, ...]:
        """The list of tables at `key`; each is named after its place in the list."""
        value = self._take(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(item, dict) for item in value):
            raise self._wrong(key, "a list of tables", value)
        return tuple(Table(item, self.file, f"{self._inner(key)}[{index}]") for index, item in enumerate(value))

    def table(self, key: str, default: object = _MISSING) -> Table:
        """The table at `key`."""
        value = self._take(key, default)
        if not isinstance(value, dict):
            raise self._wrong(key, "a table", value)
        return Table(value, self.file, self._inner(key))

    def items(self) -> Iterable[tuple[str, Table]]:
        """The keys of this table with the tables under them; a key that holds anything else is an error."""
        for key in self._values:
            yield key, self.table(key)

    def names(self) -> tuple[str, ...]:
        """The keys as written, in order."""
        return tuple(self._values)

    def strings(self) -> dict[str, str]:
        """All keys of this table, each of which must hold a string."""
        return {key: self.text(key) for key in self._values}

    def numbers(self, key: str, default: object = _MISSING) -> tuple[float, ...]:
        """The list of numbers at `key`, as floats."""
        value = self._take(key, default)
        if not isinstance(value, list | tuple) or not all(type(item) in (int, float) for item in value):
            raise self._wrong(key, "a list of numbers", value)
        return tuple(float(item) for item in value)

    def has_any(self, *keys: str) -> bool:
        """Whether at least one of `keys` is written."""
        return any(key in self._values for key in keys)

    def has(self, key: str) -> bool:
        """Whether `key` is written."""
        return key in self._values

    def says(self, key: str, word: str) -> bool:
        """Whether exactly `word` is written at `key`."""
        found = self._values.get(key) == word
        if found:
            self._asked.append(key)
        return found

    def finish(self) -> None:
        """Object to the first key nobody asked for."""
        if self._values.keys() <= set(self._asked):
            return
        for key in self._values:
            if key not in self._asked:
                raise self.error(f'unknown key "{key}"', did_you_mean(key, self._asked))


class Sources:
    """The documents a file of `mappings/` cites: short keys in the entries, full names for the reader."""

    __slots__ = ("_documents",)

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._documents = documents

    def cite(self, table: Table, key: str = "source", default: object = _MISSING) -> str:
        """The full citation at `key`, written `KEY` or `KEY:place` with KEY from the file's [sources]."""
        written = table.text(key, default)
        document, colon, place = written.partition(":")
        name = self._documents.get(document)
        if name is None:
            raise table.error(
                f'key "{key}" cites the unknown source "{document}"', did_you_mean(document, self._documents)
            )
        return f"{name}{colon}{place}"


def read_toml(path: Path, shown: str) -> tuple[Table, Sources]:
    """The root table of the file at `path`, called `shown` in errors, and the documents it cites.

    Raises KnowledgeError for a file that cannot be read, is not TOML or has no [sources].
    """
    try:
        with path.open("rb") as stream:
            values = tomli.load(stream)
    except (OSError, UnicodeDecodeError, tomli.TOMLDecodeError) as error:
        raise KnowledgeError(f"{shown}: cannot be read: {error}") from error
    root = Table(values, shown, "")
    return root, Sources(root.table("sources").strings())


def toml_files(folder: Path) -> tuple[tuple[Path, str], ...]:
    """The TOML files of `folder` in name order, each with the short name that errors use."""
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise KnowledgeError(f"{folder}: no .toml file in this folder")
    return tuple((path, f"{folder.parent.name}/{folder.name}/{path.name}") for path in paths)
