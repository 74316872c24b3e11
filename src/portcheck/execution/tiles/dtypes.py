"""Dtypes by the names that a port has for them: those of parameters, and what two of them promote to."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.core.dtype import CONCRETE, DType, dtype_of
from portcheck.frontends.nki import promoted

_PROMOTED = "promote("


def resolved(name: str, known: Mapping[str, DType]) -> DType | None:
    """The dtype called `name` in the symbol `dtype(name)`, by the dtypes of what is given; None where one is not."""
    name = name.strip()
    if not name.startswith(_PROMOTED) or not name.endswith(")"):
        return CONCRETE.get(name) or known.get(dtype_of(name).name)
    parts = [resolved(part, known) for part in _parts(name[len(_PROMOTED) : -1])]
    found = [part for part in parts if part is not None]
    return promoted(found) if len(found) == len(parts) else None


def missing(name: str, known: Mapping[str, DType]) -> str:
    """The first name inside `name` whose dtype nothing gives."""
    if not name.startswith(_PROMOTED):
        return name
    return next((missing(part, known) for part in _parts(name[len(_PROMOTED) : -1]) if not resolved(part, known)), name)


def compared(text: str, known: Mapping[str, DType]) -> bool | None:
    """Whether the comparison of two dtypes that a symbol is called by holds; None for another text, or not known."""
    for sign in (_SAME, _OTHER):
        left, found, right = text.partition(sign)
        if found:
            sides = [_side(side, known) for side in (left, right)]
            return None if None in sides else (sides[0] == sides[1]) == (sign == _SAME)
    return None


_SAME, _OTHER = " == ", " != "
_SYMBOLIC = "dtype("


def _side(text: str, known: Mapping[str, DType]) -> DType | None:
    if text.startswith(_SYMBOLIC) and text.endswith(")"):
        return resolved(text[len(_SYMBOLIC) : -1], known)
    return CONCRETE.get(text)


def _parts(text: str) -> list[str]:
    """What stands between the commas that are in no parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]
