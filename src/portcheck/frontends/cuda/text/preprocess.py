"""Reads directives and expands macros; every character keeps its place in the source.

Directives and branches not taken are blanked in place. Uses of macros become what they stand for, and all of that
stands where the use does. A name that is not defined is 0 in `#if`, as C says; the names taken for 0 are reported,
because the build may define them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from portcheck.frontends.cuda.text.conditions import holds
from portcheck.frontends.cuda.text.expansion import Exceeded, Expander, Unclosed
from portcheck.frontends.cuda.text.lexer import blank, directives, names_in, next_use, significant
from portcheck.frontends.cuda.text.macros import Macro, read_definition
from portcheck.frontends.cuda.text.origins import Edit, Origins, edited
from portcheck.knowledge import ConstructKind, load

Includer = Callable[[str, "Preprocessor"], None]
_MOST_TOKENS = 500_000
"""Tokens that all macros of a file and its headers may come to, besides a few for every character of the text."""
_MOST_TOKENS_PER_CHARACTER = 4
_MOST_TOKENS_OF_ONE = 50_000
_PRAGMA = "_Pragma"


@dataclass
class Preprocessor:
    """The macros defined so far and the names that conditions took for 0; shared by a file and what it includes.

    Names of `kept` are left as they are: they are template parameters as well, and said to be something.
    """

    macros: dict[str, Macro]
    kept: frozenset[str] = frozenset()
    undefined: set[str] = field(default_factory=set)
    has_exceeded: bool = False
    _left: int = _MOST_TOKENS
    _expandable: dict[str, Macro] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._expandable[_PRAGMA] = Macro(_PRAGMA, ("text",), "")
        for macro in self.macros.values():
            self.define(macro)

    def define(self, macro: Macro) -> None:
        """Adds a macro. CUDA's qualifiers stay what they are, whatever a file says for other compilers."""
        self.macros[macro.name] = macro
        construct = load().construct(macro.name)
        is_qualifier = construct is not None and construct.kind is ConstructKind.QUALIFIER
        if macro.name not in self.kept and not is_qualifier:
            self._expandable[macro.name] = macro

    def undefine(self, name: str) -> None:
        """Removes a macro, if there is one of that name."""
        self.macros.pop(name, None)
        self._expandable.pop(name, None)

    def process(self, text: str, include: Includer) -> tuple[str, Origins]:
        """`text` as the parser is to see it; `include` is called with each header name as written (`"x.h"`, `<x>`)."""
        self._left += _MOST_TOKENS_PER_CHARACTER * len(text)
        reader = _Directives(self, include)
        parts: list[str] = []
        edits: list[Edit] = []
        position = 0
        for start, end, directive in directives(text):
            self._ordinary(text[position:start], position, reader, (parts, edits))
            parts.append(blank(text[start:end]))
            reader.read(directive)
            position = end
        self._ordinary(text[position:], position, reader, (parts, edits))
        return edited("".join(parts), edits)

    def _ordinary(self, text: str, start: int, reader: _Directives, found: tuple[list[str], list[Edit]]) -> None:
        """Adds a stretch without directives, and what its macros become."""
        parts, edits = found
        if not reader.is_active:
            parts.append(blank(text))
            return
        parts.append(text)
        if not self._expandable.keys().isdisjoint(names_in(text)):
            edits.extend(self._expanded(text, start))

    def _expanded(self, text: str, offset: int) -> list[Edit]:
        expander = Expander(self._expandable, 0)
        edits: list[Edit] = []
        name = next_use(text, 0, self._expandable)
        while name is not None and not self.has_exceeded:
            expander.budget = allowed = min(self._left, _MOST_TOKENS_OF_ONE)
            try:
                expanded, end = expander.use(text, name)
            except (Exceeded, Unclosed, RecursionError):
                expanded, end = name.text, name.end
            self._left -= allowed - max(expander.budget, 0)
            self.has_exceeded = self._left <= 0
            if expanded != name.text or end != name.end:
                edits.append(Edit(offset + name.start, offset + end, expanded))
            name = next_use(text, end, self._expandable)
        return edits


@dataclass
class _Conditional:
    is_active: bool
    was_taken: bool
    outer_is_active: bool


class _Directives:
    """The conditionals that are open while a file is read."""

    def __init__(self, preprocessor: Preprocessor, include: Includer) -> None:
        self._preprocessor = preprocessor
        self._include = include
        self._open: list[_Conditional] = []

    @property
    def is_active(self) -> bool:
        return not self._open or self._open[-1].is_active

    def read(self, directive: str) -> None:
        """Obeys a directive: its text without the `#` and without continuations."""
        tokens = significant(directive)
        word = tokens[0].text if tokens else ""
        rest = directive[tokens[0].end :] if tokens else ""
        match word:
            case "if" | "ifdef" | "ifndef":
                taken = self.is_active and self._condition(word, rest)
                self._open.append(_Conditional(taken, taken, self.is_active))
            case "elif" | "else":
                self._alternative(word, rest)
            case "endif":
                if self._open:
                    self._open.pop()
            case _ if self.is_active:
                self._effect(word, rest)
            case _:
                pass

    def _condition(self, word: str, rest: str) -> bool:
        macros = self._preprocessor.macros
        if word == "if":
            return holds(rest, macros, self._preprocessor.undefined)
        name = "".join(token.text for token in significant(rest)[:1])
        if name not in macros and word == "ifdef":
            self._preprocessor.undefined.add(name)
        return (name in macros) == (word == "ifdef")

    def _alternative(self, word: str, rest: str) -> None:
        if not self._open:
            return
        current = self._open[-1]
        may = current.outer_is_active and not current.was_taken
        current.is_active = may and (word == "else" or self._condition("if", rest))
        current.was_taken = current.was_taken or current.is_active

    def _effect(self, word: str, rest: str) -> None:
        match word:
            case "define":
                macro = read_definition(rest)
                if macro is not None:
                    self._preprocessor.define(macro)
            case "undef":
                for token in significant(rest)[:1]:
                    self._preprocessor.undefine(token.text)
            case "include":
                self._include(rest.strip(), self._preprocessor)
            case _:
                pass
