"""The flags of nvcc that change arithmetic, in one spelling; every other flag is named as ignored."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.core.errors import InputError

# CUDA Compiler Driver NVCC, "Options for Steering GPU Code Generation": short and long spellings.
_FAST_MATH = frozenset({"use_fast_math"})
_SWITCHES = frozenset({"fmad", "ftz", "prec-div", "prec-sqrt"})
_VALUES = ("true", "false")


@dataclass(frozen=True, slots=True)
class NvccFlags:
    """Flags with a meaning for us as `-use_fast_math` or `-ftz=true`, and those without one as they were written."""

    known: tuple[str, ...]
    ignored: tuple[str, ...]


def parse_flags(text: str) -> NvccFlags:
    """The flags in `text`, split as a shell does; raises InputError for a switch that is neither true nor false."""
    known: list[str] = []
    ignored: list[str] = []
    words = iter(_words(text))
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name in _FAST_MATH and not equals:
            known.append(f"-{name}")
        elif word.startswith("-") and name in _SWITCHES:
            known.append(f"-{name}={_truth(word, value if equals else next(words, ''))}")
        else:
            ignored.append(word)
    return NvccFlags(tuple(known), tuple(ignored))


def ignored_flags(flags: NvccFlags) -> Iterator[str]:
    """A sentence for each ignored flag."""
    for flag in flags.ignored:
        instead = _INSTEAD.get(flag[:2], "")
        yield f"the nvcc flag {flag} is ignored{instead}"


_INSTEAD = {"-D": "; pass --define NAME=VALUE", "-I": "; pass -I DIR to portcheck"}


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"--nvcc-flags cannot be split into words: {error}", hint="close the quotation") from error


def _truth(word: str, value: str) -> str:
    if value not in _VALUES:
        raise InputError(f'the nvcc flag {word} needs true or false, not "{value}"')
    return value
