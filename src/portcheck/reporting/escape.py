"""Text from sources made safe to show: what a terminal would obey, or a reader could not see, becomes an escape."""

from __future__ import annotations

import unicodedata

# Cc control, Cf format (bidirectional controls, zero-width marks, tags), Cs lone surrogates, Zl and Zp line ends:
# https://www.unicode.org/reports/tr44/#General_Category_Values and https://trojansource.codes for why they are hidden.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_TAB = "    "


def is_hidden(character: str) -> bool:
    """Whether `character` acts on the display instead of being seen on it."""
    return unicodedata.category(character) in _HIDDEN


def visible(text: str) -> str:
    """`text` with hidden characters as `\\x1b` or `\\u202e`; lines stay lines and a tab becomes four spaces."""
    plain = text.replace("\r\n", "\n").replace("\t", _TAB)
    if plain.isascii() and plain.replace("\n", "").isprintable():
        return plain
    return "".join(character if character == "\n" else _shown(character) for character in plain)


def single_line(text: str) -> str:
    """`text` on one line: runs of white space become one space, hidden characters escapes."""
    return visible(" ".join(text.split(None)))


def _shown(character: str) -> str:
    if not is_hidden(character):
        return character
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
