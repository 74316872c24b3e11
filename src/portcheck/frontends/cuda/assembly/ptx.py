"""Text of PTX instructions, cut into opcodes, guards and operands; what they mean is said elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_SEPARATORS = frozenset(",;{}[]|@!:+")
_NAME_CHARACTERS = frozenset("_$%.<>")


@dataclass(frozen=True, slots=True)
class Name:
    """A register, special register, placeholder (`%0`) or number, as written."""

    text: str
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """`[base + offset]`."""

    base: Name
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Several:
    """`{a, b}`: registers side by side, the lowest first."""

    parts: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Both:
    """`d|p`: a result with a predicate beside it."""

    first: Name
    second: Name


Written = Name | Memory | Several | Both


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: the parts of its opcode, its operands, and the predicate it runs under."""

    opcode: tuple[str, ...]
    operands: tuple[Written, ...]
    guard: Name | None = None

    @property
    def text(self) -> str:
        """The opcode as written."""
        return ".".join(self.opcode)


def instructions_of(text: str) -> tuple[Instruction, ...] | None:
    """The instructions of `text` in order; None where it holds a label, a jump target or text that does not fit."""
    try:
        return tuple(_Reader(list(_tokens(text))).instructions())
    except _UnreadError:
        return None


class _UnreadError(Exception):
    """Text that is no list of instructions."""


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        first = text[position]
        end = position + 1
        if first.isspace():
            position = end
            continue
        if text.startswith("//", position):
            position = _after(text, "\n", end)
            continue
        if text.startswith("/*", position):
            position = _after(text, "*/", end + 1)
            continue
        if first not in _SEPARATORS:
            while end < len(text) and (
                text[end].isalnum() or text[end] in _NAME_CHARACTERS or text[end : end + 2] == "::"
            ):
                end += 2 if text[end] == ":" else 1
        yield text[position:end]
        position = end


def _after(text: str, mark: str, start: int) -> int:
    found = text.find(mark, start)
    return len(text) if found < 0 else found + len(mark)


class _Reader:
    """Reads tokens one after the other."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._position = 0

    def instructions(self) -> Iterator[Instruction]:
        """All instructions; declarations of registers and the braces around blocks are left out."""
        while (token := self._peek()) is not None:
            if token in ("{", "}", ";"):
                self._take()
            elif token.startswith("."):
                self._skip_declaration(token)
            else:
                yield self._instruction()

    def _skip_declaration(self, token: str) -> None:
        if token != ".reg":
            raise _UnreadError
        while self._take() != ";":
            pass

    def _instruction(self) -> Instruction:
        guard: Name | None = None
        if self._peek() == "@":
            self._take()
            guard = self._name()
        opcode = self._take()
        if not opcode[0].isalpha() or self._peek() == ":":
            raise _UnreadError
        operands: list[Written] = []
        while self._peek() not in (";", "}", None):
            operands.append(self._operand())
            if self._peek() == ",":
                self._take()
        if self._peek() == ";":
            self._take()
        return Instruction(tuple(opcode.split(".")), tuple(operands), guard)

    def _operand(self) -> Written:
        token = self._peek()
        if token == "[":
            return self._memory()
        if token == "{":
            return self._several()
        first = self._name()
        if self._peek() == "|":
            self._take()
            return Both(first, self._name())
        return first

    def _memory(self) -> Memory:
        self._expect("[")
        base, offset = self._name(), 0
        if self._peek() == "+":
            self._take()
            offset = whole_number(self._take())
        elif (token := self._peek()) is not None and token.startswith("-"):
            offset = whole_number(self._take())
        self._expect("]")
        return Memory(base, offset)

    def _several(self) -> Several:
        self._expect("{")
        parts = [self._name()]
        while self._peek() == ",":
            self._take()
            parts.append(self._name())
        self._expect("}")
        return Several(tuple(parts))

    def _name(self) -> Name:
        is_negated = self._peek() == "!"
        if is_negated:
            self._take()
        token = self._take()
        if token in _SEPARATORS:
            raise _UnreadError
        if token == "-":
            token += self._take()
        return Name(token, is_negated)

    def _expect(self, wanted: str) -> None:
        if self._take() != wanted:
            raise _UnreadError

    def _peek(self) -> str | None:
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def _take(self) -> str:
        token = self._peek()
        if token is None:
            raise _UnreadError
        self._position += 1
        return token


def whole_number(text: str) -> int:
    """The integer a token is; raises for anything else."""
    try:
        return int(text.rstrip("Uu"), 0)
    except ValueError:
        raise _UnreadError from None
