"""The report as JSON for other programs, and the schema of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

from portcheck.core.finding import Place
from portcheck.core.report import SCHEMA_VERSION, Report
from portcheck.reporting.catalogue import Options
from portcheck.reporting.escape import is_hidden

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


# A span is written flat, as the place that it is.
_PLACE = {
    "title": "Place",
    "description": "A stretch of a source from `start` up to, not including, `end`, with the text that stands there.",
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "start": {"$ref": "#/$defs/Position"},
        "end": {"$ref": "#/$defs/Position"},
        "text": {"type": "string"},
    },
}


def render(report: Report, options: Options) -> str:
    """`report` as JSON: keys in the order of the schema, ASCII escapes for characters that act on a display."""
    encoded = msgspec.json.format(msgspec.json.encode(_document(report)), indent=2).decode()
    return _escaped(encoded) + "\n"


def schema() -> str:
    """The JSON Schema of `render`."""
    _, components = msgspec.json.schema_components([Report], ref_template="#/$defs/{name}")
    definitions = {name: _closed(component) for name, component in sorted({**components, "Place": _PLACE}.items())}
    del definitions["Span"]
    report = definitions.pop("Report")
    report["properties"]["schema_version"] = {"const": SCHEMA_VERSION}
    document = {"$schema": _DIALECT, **report, "title": "portcheck report", "$defs": definitions}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _document(value: object) -> object:
    """`value` as plain lists, dictionaries and strings."""
    if isinstance(value, Place):
        return _place(value)
    if is_dataclass(value):
        return {field.name: _document(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_document(item) for item in value]
    if isinstance(value, str):
        return _encodable(value)
    return value


def _place(place: Place) -> dict[str, object]:
    span = place.span
    return {
        "path": _encodable(span.path),
        "start": _document(span.start),
        "end": _document(span.end),
        "text": _encodable(place.text),
    }


def _encodable(text: str) -> str:
    """`text` without lone surrogates, which a path that is no UTF-8 has and which JSON cannot carry."""
    return str(text).encode("utf-8", "backslashreplace").decode()


def _escaped(encoded: str) -> str:
    """JSON text whose strings hold no raw control or bidirectional characters; its line ends stay."""
    if encoded.isascii():
        return encoded.replace("\x7f", "\\u007f")
    return "".join(_unit(character) for character in encoded)


def _unit(character: str) -> str:
    if character == "\n" or not is_hidden(character):
        return character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))


def _closed(definition: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object all of whose keys are always there, and no other."""
    if "properties" not in definition:
        return dict(definition)
    properties = {name: _without_default(value) for name, value in definition["properties"].items()}
    return {**definition, "properties": properties, "required": list(properties), "additionalProperties": False}


def _without_default(definition: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in definition.items() if key != "default"}
