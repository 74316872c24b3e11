"""Texts in quotes: the characters of an array, and the constant array that a text by itself is."""

from __future__ import annotations

from portcheck.core.dtype import INT8, INT32, UINT8
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import scalar_type
from portcheck.frontends.cuda.model.values import Place, Value
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.statements.initialisers import LARGEST_INITIALISER
from portcheck.frontends.cuda.text.literals import escaped
from portcheck.ir import Access, Axis, AxisKind, Const, Expr, Store, Symbol, integer

TEXTS = frozenset({"string_literal", "raw_string_literal", "concatenated_string"})
_PREFIXES = ('"', 'u8"', 'R"', 'u8R"')
_BYTES = 256


def characters_of(node: Node) -> tuple[int, ...] | None:
    """The bytes of a text and the 0 at its end; None for one of wide characters, or with an escape that is not read."""
    found: list[int] = []
    for piece in node.named if node.type == "concatenated_string" else [node]:
        if not piece.children or piece.children[0].text not in _PREFIXES:
            return None
        for part in piece.named:
            if part.type in ("string_content", "raw_string_content"):
                found += part.text.encode()
                continue
            code = escaped(part.text) if part.type == "escape_sequence" else None
            if code is None and part.type != "raw_string_delimiter":
                return None
            found += [code % _BYTES] if code is not None else []
    return (*found, 0)


def spelled(initial: Node | None) -> tuple[int, ...] | None:
    """The bytes that initialise an array of characters; None where something else does."""
    if initial is not None and initial.type == "initializer_list" and len(initial.named) == 1:
        initial = initial.named[0]
    return characters_of(initial) if initial is not None and initial.type in TEXTS else None


def spell(state: State, array: Place, text: tuple[int, ...]) -> None:
    """Fills a local array of characters: with the text, and 0 behind it."""
    buffer = state.buffers[array.buffer]
    axis = Axis(state.unique(f"{buffer.name}.0"), AxisKind.FREE, buffer.shape[0])
    _put(state, buffer.name, Symbol(axis.name, INT32), 0, (axis,))
    for position, code in enumerate(text):
        if code:
            signed = code - _BYTES if buffer.dtype == INT8 and code >= _BYTES // 2 else code
            _put(state, buffer.name, integer(position), signed)


def _put(state: State, name: str, index: Expr, code: int, axes: tuple[Axis, ...] = ()) -> None:
    access = Access(buffer=name, index=(index,), axes=axes)
    state.builder.emit(Store, access=access, value=Const(code, state.buffers[name].dtype), via="=")


def text_value(state: State, node: Node) -> Value | None:
    """A text by itself: an array made once, at the head of the kernel; None where it is not read, or too long."""
    text = characters_of(node)
    if text is None or len(text) > LARGEST_INITIALISER:
        return None
    key = ("text", text)
    if key not in state.kept:
        with state.builder.region() as made, state.unmasked():
            buffer = state.allocate("text", INT8, (integer(len(text)),))
            place = Place(buffer.name, (), scalar_type(INT8), 1)
            spell(state, place, text)
        state.kept[key] = place
        state.hoisted.extend(made)
    found = state.kept[key]
    return found if isinstance(found, Place) else None


def holds_characters(dtype: object) -> bool:
    """Whether an array of these numbers may be initialised by a text."""
    return dtype in (INT8, UINT8)
