"""Counts the kernels of CUDA text by its own simple lexer; shares nothing with the frontend it is a check of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SILENT = re.compile(
    r"""//(?:[^\n\\]|\\[\s\S])*|/\*[\s\S]*?(?:\*/|\Z)|R"([^()\\\s]{0,16})\([\s\S]*?\)\1"|"(?:[^"\\\n]|\\[\s\S])*"?"""
    r"""|'(?:[^'\\\n]|\\[\s\S])*'?|(?<!\w)\d[\w.']*"""
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)((?:[^\n\\]|\\[\s\S])*)", re.MULTILINE)
_ENTRY = re.compile(r"\b__global__\b")
_WORD = re.compile(r"[A-Za-z_]\w*|[^\s\w]")
_NO_LINE_END = re.compile(r"[^\n]")


@dataclass(frozen=True)
class Written:
    """A kernel as it is written: its name, its line, and whether an `#if` decides about it."""

    name: str
    line: int
    is_conditional: bool


def kernels_in(text: str) -> list[Written]:
    """All kernel definitions of `text`, whatever its `#if` say; those that macros define are not seen."""
    plain = _SILENT.sub(lambda found: found.group() if found.group()[0].isdigit() else _blank(found), text)
    conditional = list(_conditionals(plain))
    bare = _DIRECTIVE.sub(_blank, plain)
    found: list[Written] = []
    for entry in _ENTRY.finditer(bare):
        name = _defined_name(bare, entry.end())
        if name:
            decided = any(start < entry.start() < end for start, end in conditional)
            found.append(Written(name, text.count("\n", 0, entry.start()) + 1, decided))
    return found


def _blank(found: re.Match[str]) -> str:
    return _NO_LINE_END.sub(" ", found.group())


def _conditionals(text: str) -> Iterator[tuple[int, int]]:
    """The stretches between `#if` and `#endif`, but for the guard around a header."""
    directives = [(found.start(), found.group(1), found.group(2).split()[:1]) for found in _DIRECTIVE.finditer(text)]
    open_: list[int] = []
    for index, (start, word, name) in enumerate(directives):
        if word in ("if", "ifdef", "ifndef"):
            following = directives[index + 1][1:] if index + 1 < len(directives) else ()
            is_guard = word == "ifndef" and not open_ and following == ("define", name)
            open_.append(-1 if is_guard else start)
        elif word == "endif" and open_:
            begin = open_.pop()
            if begin >= 0:
                yield begin, start


def _defined_name(text: str, start: int) -> str:
    """The name before the last parentheses before the `{`; "" for what is only declared or has no closing brace."""
    name = last = ""
    while word := _WORD.search(text, start):
        token, start = word.group(), word.end()
        match token:
            case ";":
                return ""
            case "{":
                return name if _closing(text, word.start(), "{", "}") >= 0 else ""
            case "(":
                start = _closing(text, word.start(), "(", ")") + 1
                if start == 0:
                    return ""
                name = last
            case "<" if last:
                close = _closing(text, word.start(), "<", ">")  # the arguments of a specialisation
                start = close + 1 if 0 <= close < word.start() + 200 else start
            case _ if token[0].isalpha() or token[0] == "_":
                last = token
            case _:
                pass
    return ""


def _closing(text: str, start: int, opening: str, closing: str) -> int:
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == opening) - (text[index] == closing)
        if depth == 0:
            return index
    return -1
