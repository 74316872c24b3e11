"""Numbers and characters as C++ writes them."""

from __future__ import annotations

from portcheck.core.dtype import FLOAT32, FLOAT64, INT8, INT32, INT64, UINT16, UINT32, UINT64, DType
from portcheck.ir import Const

_CHARACTERS = {"": INT8, "u8": INT8, "L": INT32, "u": UINT16, "U": UINT32}
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34, "a": 7, "b": 8, "f": 12, "v": 11}


def number_literal(text: str) -> Const | None:
    """The constant a number token stands for, in its C++ type; the grammar takes a sign for part of some."""
    digits = text.lstrip("+-")
    constant = integer_literal(digits) or _float_literal(digits)
    if constant is None or text.count("-") - digits.count("-") != 1:
        return constant
    return Const(_negated(constant), constant.dtype)


def _negated(constant: Const) -> int | float:
    """The negative of a number, wrapped in an unsigned type."""
    value = constant.value
    if isinstance(value, float):
        return -value
    width = {UINT32: 32, UINT64: 64}.get(constant.dtype)
    return -int(value) if width is None else -int(value) % (1 << width)


def integer_literal(text: str) -> Const | None:
    """The constant an integer token stands for; None for anything else."""
    lowered = text.replace("'", "").lower()
    digits = lowered.rstrip("ulz")
    suffix = lowered[len(digits) :]
    base = _base(digits)
    try:
        value = int(digits, base) if digits else None
    except ValueError:
        return None
    if value is None or value >= 2**64:
        return None
    return Const(value, _integer_dtype(value, "u" in suffix, "l" in suffix or "z" in suffix, base == 10))


def character_literal(text: str) -> Const | None:
    """The constant a character token stands for, in the type its prefix says."""
    prefix, _, rest = text.partition("'")
    inner = rest[:-1] if rest.endswith("'") else ""
    dtype = _CHARACTERS.get(prefix)
    value = ord(inner) if len(inner) == 1 else escaped(inner)
    if dtype is None or value is None:
        return None
    return Const(value - 256 if dtype == INT8 and value > 127 else value, dtype)


def escaped(inner: str) -> int | None:
    """The code of an escape sequence; None for anything else."""
    digits = inner[1:]
    if not inner.startswith("\\") or not digits:
        return None
    if digits[0] == "x" or (digits[0] in "uU" and len(digits) > 1):
        base, digits = 16, digits[1:]
    elif digits in _ESCAPES:
        return _ESCAPES[digits]
    else:
        base = 8
    try:
        return int(digits, base)
    except ValueError:
        return None


def string_literal(text: str) -> str:
    """The characters a string token stands for; escapes that are not read stay as written."""
    inner = text[text.find('"') + 1 : text.rfind('"')]
    found: list[str] = []
    characters = iter(inner)
    for character in characters:
        following = next(characters, "") if character == "\\" else ""
        found.append(chr(_ESCAPES[following]) if following in _ESCAPES else character + following)
    return "".join(found)


def _base(digits: str) -> int:
    if digits.startswith("0x"):
        return 16
    if digits.startswith("0b"):
        return 2
    return 8 if len(digits) > 1 and digits.isdigit() and digits[0] == "0" else 10


def _integer_dtype(value: int, is_unsigned: bool, is_long: bool, is_decimal: bool) -> DType:
    """The first type the value fits, of those its suffix and base allow."""
    if is_unsigned:
        return UINT64 if is_long or value >= 2**32 else UINT32
    if not is_long and value < 2**31:
        return INT32
    if not is_long and not is_decimal and value < 2**32:
        return UINT32
    return INT64 if value < 2**63 else UINT64


def _float_literal(text: str) -> Const | None:
    lowered = text.replace("'", "").lower()
    is_hexadecimal = lowered.startswith("0x")
    is_single = lowered.endswith("f") and (not is_hexadecimal or "p" in lowered)
    digits = lowered.rstrip("fl") if not is_hexadecimal or "p" in lowered else lowered
    try:
        value = float.fromhex(digits) if is_hexadecimal else float(digits)
    except (ValueError, OverflowError):
        return None
    return Const(value, FLOAT32 if is_single else FLOAT64)
