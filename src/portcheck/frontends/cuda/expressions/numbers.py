"""Bits read as other numbers: reinterpretation, numbers packed in a word, numbers as PTX writes them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import reduce

from portcheck.core.dtype import FLOAT32, FLOAT64, UINT32, DType, DTypeKind, dtype_named
from portcheck.frontends.cuda.expressions.arithmetic import binary
from portcheck.frontends.cuda.model.conversions import convert, convert_constant, integer_bits, materialised, wrapped
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.ir import Cast, Const, Rounding


def calculate(state: State, text: str, left: Scalar, right: Scalar | int) -> Scalar:
    """`left text right` as C computes it; a plain number is one of `left`'s type."""
    number = Scalar(Const(right, left.dtype), left.dtype) if isinstance(right, int) else right
    return binary(state, text, left, number) or left


def bits_of(state: State, dtype: DType) -> int:
    """How many bits a number of `dtype` takes; 0 where that is not known."""
    facts = state.knowledge.dtype(dtype.name)
    return facts.bits if facts is not None else 0


def unsigned_of(bits: int) -> DType:
    """The unsigned integer of `bits` bits: 8, 16, 32 or 64."""
    return dtype_named(f"uint{bits}")


def reinterpreted(state: State, value: Scalar, dtype: DType, via: str = "") -> Scalar:
    """The bits of `value` read as `dtype`; integers are cut or extended to its width first."""
    if value.dtype == dtype:
        return value
    if value.dtype.is_integer and dtype.is_integer:
        return convert(state, value, dtype)
    if value.dtype.is_integer and bits_of(state, value.dtype) != bits_of(state, dtype):
        value = convert(state, value, unsigned_of(bits_of(state, dtype)))
    if dtype.is_integer and bits_of(state, value.dtype) != bits_of(state, dtype):
        return convert(state, reinterpreted(state, value, unsigned_of(bits_of(state, value.dtype))), dtype)
    operand = materialised(state, value)
    return state.result(Cast, dtype, operand=operand, rounding=Rounding.EXACT, bitwise=True, via=via)


def split(state: State, word: Scalar, dtype: DType, count: int) -> list[Scalar]:
    """The `count` numbers of `dtype` that lie in a word, the lowest bits first."""
    bits = bits_of(state, dtype)
    word = reinterpreted(state, word, unsigned_of(bits * count))
    part = unsigned_of(bits)
    shifted = [calculate(state, ">>", word, bits * place) if place else word for place in range(count)]
    return [reinterpreted(state, convert(state, piece, part), dtype) for piece in shifted]


def joined(state: State, parts: Sequence[Scalar]) -> Scalar:
    """Numbers put side by side in a word, the first in the lowest bits."""
    bits = bits_of(state, parts[0].dtype)
    whole = unsigned_of(bits * len(parts))
    words = [convert(state, reinterpreted(state, part, unsigned_of(bits)), whole) for part in parts]
    placed = [calculate(state, "<<", word, bits * place) if place else word for place, word in enumerate(words)]
    return reduce(lambda one, other: calculate(state, "|", one, other), placed)


def literal(text: str, dtype: DType) -> Scalar | None:
    """A number as PTX writes it, in `dtype`; `0f` and `0d` begin the bits of a float."""
    lowered = text.lower()
    try:
        if lowered.startswith(("0f", "0d")):
            code, held = (">f", FLOAT32) if lowered[1] == "f" else (">d", FLOAT64)
            value: float = struct.unpack(code, bytes.fromhex(lowered[2:]))[0]
            return Scalar(convert_constant(Const(value, held), dtype), dtype)
        number = int(lowered.rstrip("u"), 0)
    except (ValueError, struct.error):
        return _decimal(lowered, dtype)
    if dtype.is_float:
        return _from_bits(number, dtype)
    if dtype.kind is DTypeKind.BOOL:
        return Scalar(Const(bool(number), dtype), dtype)
    return Scalar(Const(wrapped(number, dtype), dtype), dtype)


def _decimal(text: str, dtype: DType) -> Scalar | None:
    try:
        return Scalar(convert_constant(Const(float(text), FLOAT64), dtype), dtype)
    except ValueError:
        return None


def _from_bits(number: int, dtype: DType) -> Scalar | None:
    """An integer where a float is wanted is the float's bits."""
    code = {FLOAT32: ("<I", "<f"), FLOAT64: ("<Q", "<d")}.get(dtype)
    if code is None:
        return None
    packed: float = struct.unpack(code[1], struct.pack(code[0], number & (2 ** integer_bits(UINT32) - 1)))[0]
    return Scalar(Const(packed, dtype), dtype)
