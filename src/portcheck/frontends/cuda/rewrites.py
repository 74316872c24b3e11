"""Overwrites in place what the grammar cannot read: the text keeps its length and its lines."""

from __future__ import annotations

from collections.abc import Mapping

from portcheck.frontends.cuda.lexer import Token, TokenKind, significant, tokens_of
from portcheck.frontends.cuda.macros import Macro
from portcheck.knowledge import ConstructKind, Knowledge, load

_BLANKED_WITH_ARGUMENTS = frozenset({"__attribute__", "__declspec", "__cluster_dims__"})
_ALIGNMENT = "__align__"
_TRANSPARENT_BRACES = frozenset({"namespace", "extern"})


def rewrite(text: str, macros: Mapping[str, Macro]) -> str:
    """`text` with alignments, attributes, empty macros and lone macro lines made harmless."""
    tokens = [token for token in tokens_of(text) if token.kind not in (TokenKind.SPACE, TokenKind.COMMENT)]
    characters = list(text)
    depths = _depths(tokens)
    index = 0
    while index < len(tokens):
        token = tokens[index]
        following = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if token.kind is not TokenKind.NAME:
            index += 1
            continue
        macro = macros.get(token.text)
        if token.text == _ALIGNMENT:
            characters[token.start : token.end] = "alignas".ljust(len(_ALIGNMENT))
        elif token.text in _BLANKED_WITH_ARGUMENTS and following == "(":
            index = _blank_call(tokens, characters, index)
        elif macro is not None and macro.parameters is None and _says_nothing(macro, macros):
            _blank(characters, token.start, token.end)
        elif macro is not None and macro.parameters is not None and following == "(" and depths[index] == 0:
            index = _blank_call(tokens, characters, index)
        index += 1
    return "".join(characters)


def _depths(tokens: list[Token]) -> list[int]:
    """How many function or type bodies each token stands in; namespaces do not count."""
    depths: list[int] = []
    braces: list[int] = []
    depth = parentheses = 0
    is_transparent = False
    for token in tokens:
        depths.append(depth + parentheses)
        match token.text:
            case "namespace" | "extern":
                is_transparent = True
            case ";":
                is_transparent = False
            case "(":
                parentheses += 1
            case ")":
                parentheses = max(0, parentheses - 1)
            case "{":
                braces.append(0 if is_transparent else 1)
                depth += braces[-1]
                is_transparent = False
            case "}":
                depth -= braces.pop() if braces else 0
            case _:
                pass
    return depths


def _blank_call(tokens: list[Token], characters: list[str], index: int) -> int:
    """Blanks a name and the parentheses after it; gives the index of the closing one."""
    depth = 0
    for last in range(index + 1, len(tokens)):
        depth += (tokens[last].text == "(") - (tokens[last].text == ")")
        if depth == 0:
            _blank(characters, tokens[index].start, tokens[last].end)
            return last
    return index


def _says_nothing(macro: Macro, macros: Mapping[str, Macro]) -> bool:
    """Whether a macro stands for nothing, or only for qualifiers that change no meaning."""
    knowledge = load()
    return all(_is_qualifier(token.text, knowledge) for token in significant(macro.body))


def _is_qualifier(text: str, knowledge: Knowledge) -> bool:
    construct = knowledge.construct(text)
    is_entry_point = construct is not None and construct.name == "__global__"
    return text in ("inline", "static") or (
        construct is not None and construct.kind is ConstructKind.QUALIFIER and not is_entry_point
    )


def _blank(characters: list[str], start: int, end: int) -> None:
    for index in range(start, end):
        if characters[index] not in "\r\n":
            characters[index] = " "
