"""String literals of Python, decoded so that every character of the value knows where it is written."""

from __future__ import annotations

from typing import NamedTuple

_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_DIGITS = {"x": 2, "u": 4, "U": 8}
_OCTAL = "01234567"


class Stretch(NamedTuple):
    """Characters of a value: written as they are from `start` on, or all of them by what ends at `end`."""

    text: str
    start: int
    end: int = -1


def stretches_of(text: str, start: int, end: int) -> list[Stretch] | None:
    """The value of the literals that stand in `text` from `start` to `end`, one after the other.

    None where something else stands there, or a name of a character, or a place to fill in.
    """
    found: list[Stretch] = []
    while start < end:
        character = text[start]
        if character.isspace() or character in "\\()":
            start += 1
        elif character == "#":
            line_end = text.find("\n", start)
            start = end if line_end < 0 else line_end
        else:
            after = _literal(text, start, end, found)
            if after is None:
                return None
            start = after
    return found


def _literal(text: str, start: int, end: int, found: list[Stretch]) -> int | None:
    """Adds the literal that begins at `start`; gives the place after it, None where there is none."""
    quote = start
    while quote < end and text[quote].isalpha():
        quote += 1
    prefix = text[start:quote].lower()
    if text[quote : quote + 1] not in ("'", '"') or not text[quote : quote + 1] or "b" in prefix:
        return None
    mark = text[quote] * 3 if text.startswith(text[quote] * 3, quote) else text[quote]
    position = plain = quote + len(mark)
    while position < end and not text.startswith(mark, position):
        changed = _changed(text, position, prefix)
        if changed is None:
            return None
        value, length = changed
        if value == text[position : position + length]:
            position += length
            continue
        if plain < position:
            found.append(Stretch(text[plain:position], plain))
        if value:
            found.append(Stretch(value, position, position + length))
        position = plain = position + length
    if plain < position:
        found.append(Stretch(text[plain:position], plain))
    return position + len(mark) if position < end else None


def _changed(text: str, position: int, prefix: str) -> tuple[str, int] | None:
    """What stands at `position` means, and how many characters it takes; None for a place to fill in."""
    character = text[position]
    if character == "\r":
        return "\n", 2 if text.startswith("\r\n", position) else 1
    if character in "{}" and "f" in prefix:
        return (character, 2) if text.startswith(character * 2, position) else None
    if character != "\\":
        return character, 1
    return _raw(text, position) if "r" in prefix else _escaped(text, position)


def _raw(text: str, position: int) -> tuple[str, int]:
    """A backslash that means itself, and so does a quote after it."""
    following = text[position + 1 : position + 2]
    return ("\\" + following, 2) if following in ("'", '"', "\\") and following else ("\\", 1)


def _escaped(text: str, position: int) -> tuple[str, int] | None:
    letter = text[position + 1 : position + 2]
    if letter in ("\n", "\r"):
        return "", 3 if text.startswith("\r\n", position + 1) else 2
    if letter in _SIMPLE:
        return _SIMPLE[letter], 2
    if letter in _DIGITS:
        count = _DIGITS[letter]
        digits = text[position + 2 : position + 2 + count]
        return chr(int(digits, 16)), 2 + count
    if letter == "N":
        return None
    octal = 0
    while octal < 3 and text[position + 1 + octal : position + 2 + octal] in tuple(_OCTAL):
        octal += 1
    if octal:
        return chr(int(text[position + 1 : position + 1 + octal], 8)), 1 + octal
    return "\\" + letter, 1 + len(letter)
