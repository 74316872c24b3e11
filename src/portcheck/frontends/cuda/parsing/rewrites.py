"""What the grammar cannot read, and what to write instead: only where text did not parse.

Macros that are defined have been expanded. What is left are attributes the grammar does not know and macros of headers
that are not in reach: those become calls, so that they are reported and the statements around them are read.
"""

from __future__ import annotations

from portcheck.frontends.cuda.parsing.syntax import Unit
from portcheck.frontends.cuda.text.lexer import Token, TokenKind, significant
from portcheck.frontends.cuda.text.origins import Edit

_ATTRIBUTES = frozenset({"__attribute__", "__declspec", "__cluster_dims__"})
_ALIGNMENT = "__align__"
_RESTRICTED = frozenset({"__restrict", "__restrict__"})
_TYPEOF = frozenset({"typeof", "__typeof__", "__typeof"})
_QUALIFIERS = frozenset({"__global__", "__device__", "__host__", "__forceinline__", "__noinline__"})
_KNOWN_IN_HEADS = frozenset({"__launch_bounds__", "alignas", "decltype", "noexcept", "requires", "explicit"})
_TRANSPARENT = frozenset({"namespace", "extern"})
_RECORDS = frozenset({"struct", "class", "union", "enum"})
_TYPES = frozenset(
    {"int", "float", "double", "char", "bool", "short", "long", "unsigned", "signed", "void", "const", "*"}
)
_CONTROL = frozenset({"for", "while", "do", "if", "switch", "return"})
_NO_CALLS = _CONTROL | {
    "sizeof", "decltype", "typeof", "__typeof__", "alignas", "alignof", "asm", "__asm__", "__asm", "catch", "else",
    "case", "goto", "throw", "new", "delete", "operator", "requires", "static_assert", "try", "const", "volatile",
    "static", "constexpr", "unsigned", "signed", "struct", "class", "enum", "union", "typename", "auto", "default",
}  # fmt: skip
KEYWORDS = _NO_CALLS | _TYPES | _QUALIFIERS | {"this", "break", "continue", "template", "using", "typedef", "namespace"}


def rewrites(unit: Unit) -> list[Edit]:
    """The edits of `unit` where it did not parse, in order; places are characters."""
    text = unit.encoded.decode("utf-8", "replace")
    found: list[Edit] = []
    for start, end in _stretches(unit):
        found.extend(_Rewriter(text[start:end], start).edits())
    return found


def _stretches(unit: Unit) -> list[tuple[int, int]]:
    """The stretches that did not parse, each with the declaration after it: a head may have been cut in two."""
    found: list[tuple[int, int]] = []
    was_broken = False
    for node in unit.root.children:
        if node.is_broken or was_broken:
            start, end = unit.character(node.start), unit.character(node.end)
            if was_broken:
                start, _ = found.pop()
            found.append((start, end))
        was_broken = node.is_broken
    return found


class _Rewriter:
    """Goes through a stretch of text once."""

    def __init__(self, text: str, offset: int) -> None:
        self._tokens = significant(text)
        self._offset = offset
        self._closings = _closings(self._tokens)
        self._edits: dict[int, list[Edit]] = {}

    def edits(self) -> list[Edit]:
        """The edits, in order and apart."""
        scopes: list[str] = []
        head: list[str] = []  # the words of the declaration that is being read
        for index, token in enumerate(self._tokens):
            match token.text:
                case "{":
                    scopes.append(_scope_of(head, scopes))
                    head = []
                case "}" | ";":
                    scopes[len(scopes) - (token.text == "}") :] = []
                    head = []
                case _:
                    head.append(token.text)
            if token.kind is TokenKind.NAME:
                self._name(index, scopes[-1] if scopes else "file")
        found: list[Edit] = []
        for edit in sorted((edit for edits in self._edits.values() for edit in edits), key=lambda edit: edit.start):
            if not found or edit.start >= found[-1].end:
                found.append(edit)
        return [Edit(edit.start + self._offset, edit.end + self._offset, edit.text) for edit in found]

    def _text(self, index: int) -> str:
        return self._tokens[index].text if 0 <= index < len(self._tokens) else ""

    def _is_name(self, index: int) -> bool:
        return 0 <= index < len(self._tokens) and self._tokens[index].kind is TokenKind.NAME

    def _put(self, first: int, last: int, text: str) -> None:
        """Puts `text` in the place of the tokens from `first` to `last`."""
        edit = Edit(self._tokens[first].start, self._tokens[last].end, text)
        self._edits.setdefault(first, []).append(edit)

    def _name(self, index: int, scope: str) -> None:
        name, before, after = self._text(index), self._text(index - 1), self._text(index + 1)
        close = self._closings.get(index + 1, -1) if after == "(" else -1
        if name == _ALIGNMENT:
            self._put(index, index, "alignas")
        elif name in _TYPEOF and close >= 0:
            self._put(index, index, "decltype")
        elif name in _ATTRIBUTES and close >= 0:
            self._put(index, close, " ")
        elif name in _RESTRICTED and self._is_name(index - 1) or name in _QUALIFIERS and before == "]":
            self._put(index, index, " ")
        elif name in _QUALIFIERS and scope != "body":
            self._head(index)
        elif after == "typename" and before in ("(", ","):
            self._put(index, index, " ")
        elif name in _NO_CALLS or (name in _KNOWN_IN_HEADS and name != "decltype"):
            return
        elif scope == "body":
            self._in_body(index, close)
        elif scope == "file" and close >= 0 and before in ("", ";", "}", ")") and self._begins(close + 1):
            self._put(index, close, " ")

    def _begins(self, index: int) -> bool:
        """Whether a declaration may begin at `index`."""
        return index >= len(self._tokens) or (self._is_name(index) and self._text(index) not in ("const", "noexcept"))

    def _head(self, index: int) -> None:
        """Takes macros with arguments out of the head of a function that begins at `index`."""
        groups: list[tuple[int, int]] = []
        while index < len(self._tokens) and self._text(index) not in ("{", ";", ":", "="):
            close = self._closings.get(index + 1, -1) if self._text(index + 1) == "(" else -1
            if close >= 0 and self._is_name(index):
                groups.append((index, close))
                index = close
            index += 1
        for first, last in groups[:-1]:
            if self._text(first) not in _KNOWN_IN_HEADS and self._text(last + 1) != "(":
                self._put(first, last, " ")

    def _in_body(self, index: int, close: int) -> None:
        before, after = self._text(index - 1), self._text(index + 1)
        if close >= 0:
            self._types(index + 2, close)
        if before not in ("{", "}", ";", ")", "else", "do", ":"):
            return
        if close < 0:
            if after in _CONTROL:
                self._put(index, index, self._text(index) + "();")
            return
        following = self._text(close + 1)
        if following == "{":
            given = self._given(index + 2, close)
            self._put(index, close, f"void {self._text(index)}(int _ = ({given}))")
        elif following == "}" or self._is_name(close + 1):
            self._put(close, close, ");")

    def _given(self, first: int, close: int) -> str:
        texts = [token.text for token in self._tokens[first:close] if token.text not in _TYPES or token.text == "*"]
        return " ".join(texts) or "0"

    def _types(self, first: int, close: int) -> None:
        """Makes a name of a type that is an argument."""
        start = first
        for index in range(first, close + 1):
            if self._text(index) == "," or index == close:
                words = [self._text(place) for place in range(start, index)]
                if words and words[0] != "*" and set(words) <= _TYPES:
                    self._put(start, index - 1, f'"{" ".join(words)}"')
                start = index + 1


def _closings(tokens: list[Token]) -> dict[int, int]:
    """The index of each opening parenthesis to that of its closing one."""
    found: dict[int, int] = {}
    open_: list[int] = []
    for index, token in enumerate(tokens):
        if token.text == "(":
            open_.append(index)
        elif token.text == ")" and open_:
            found[open_.pop()] = index
    return found


def _scope_of(head: list[str], scopes: list[str]) -> str:
    """What the braces after `head` hold: declarations of the file, members, or statements."""
    outer = scopes[-1] if scopes else "file"
    if outer == "body":
        return "body"
    if not _TRANSPARENT.isdisjoint(head) and "(" not in head:
        return "file"
    if not _RECORDS.isdisjoint(head) and "(" not in head:
        return "record"
    return "body" if "(" in head else outer
