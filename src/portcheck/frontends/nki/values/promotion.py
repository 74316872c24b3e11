"""The dtype of a result of the first generation where the call states none (nki-facts, legacy type promotion)."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.core.dtype import (
    BFLOAT16,
    BOOL,
    FLOAT8_E4M3,
    FLOAT8_E5M2,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    UINT8,
    DType,
    DTypeKind,
    dtype_of,
)  # fmt: skip

_PAIRS = {frozenset({FLOAT16, BFLOAT16}): FLOAT32, frozenset({FLOAT8_E4M3, FLOAT8_E5M2}): BFLOAT16}
_HOLDS_UNSIGNED = {8: INT16, 16: INT32, 32: FLOAT32}
"""By the bits of an unsigned integer, the type that holds it and the signed ones that are no wider."""
_WIDTH = {"64": 64, "32": 32, "16": 16, "8": 8}


def promoted(dtypes: Sequence[DType]) -> DType:
    """The dtype of an operation on operands of `dtypes`; float32 for none."""
    if not dtypes:
        return FLOAT32
    result = dtypes[0]
    for dtype in dtypes[1:]:
        result = _pair(result, dtype)
    return result


def _pair(left: DType, right: DType) -> DType:
    if left == right:
        return left
    left, right = (UINT8 if dtype == BOOL else dtype for dtype in (left, right))
    stated = _PAIRS.get(frozenset({left, right}))
    if stated is not None:
        return stated
    for dtype in (FLOAT64, FLOAT32):
        if dtype in (left, right):
            return dtype
    for one, other in ((left, right), (right, left)):
        if other.is_integer and (one.is_float or one.is_symbolic):
            return one
    if left.is_symbolic or right.is_symbolic:
        return dtype_of(f"promote({_bare(left)}, {_bare(right)})")
    if left.is_integer and right.is_integer:
        return _integers(left, right)
    return max(left, right, key=_bits)


def _integers(left: DType, right: DType) -> DType:
    if left.kind is right.kind:
        return max(left, right, key=_bits)
    unsigned, signed = (left, right) if left.kind is DTypeKind.UNSIGNED else (right, left)
    return signed if _bits(signed) > _bits(unsigned) else _HOLDS_UNSIGNED.get(_bits(unsigned), FLOAT32)


def _bare(dtype: DType) -> str:
    return dtype.name.removeprefix("dtype(").removesuffix(")") if dtype.is_symbolic else dtype.name


def _bits(dtype: DType) -> int:
    digits = "".join(character if character.isdigit() else " " for character in dtype.name.partition("_")[0]).split()
    return _WIDTH.get(digits[0], 0) if digits else 0
