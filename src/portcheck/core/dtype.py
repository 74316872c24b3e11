"""The element types both languages share, and the symbolic ones a port leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DTypeKind(StrEnum):
    """What sort of number a dtype holds."""

    FLOAT = "float"
    SIGNED = "int"
    UNSIGNED = "uint"
    BOOL = "bool"
    SYMBOLIC = "symbolic"


@dataclass(frozen=True, slots=True)
class DType:
    """An element type: a named format, or a symbol such as the dtype of a parameter nobody stated.

    What a format can represent (bits, precision, range) is knowledge and lives in `mappings/dtypes`.
    """

    name: str
    kind: DTypeKind

    @property
    def is_float(self) -> bool:
        """Whether values are floating point."""
        return self.kind is DTypeKind.FLOAT

    @property
    def is_integer(self) -> bool:
        """Whether values are signed or unsigned integers."""
        return self.kind in (DTypeKind.SIGNED, DTypeKind.UNSIGNED)

    @property
    def is_symbolic(self) -> bool:
        """Whether the format is not known: it stands for the dtype of the parameter it is named after."""
        return self.kind is DTypeKind.SYMBOLIC

    def __hash__(self) -> int:
        return hash(self.name)  # enough to tell nearly all apart, and asked for with every expression

    def __str__(self) -> str:
        return self.name


def _float(name: str) -> DType:
    return DType(name, DTypeKind.FLOAT)


FLOAT64 = _float("float64")
FLOAT32 = _float("float32")
TFLOAT32 = _float("tfloat32")
FLOAT16 = _float("float16")
BFLOAT16 = _float("bfloat16")
FLOAT8_E4M3 = _float("float8_e4m3")
FLOAT8_E4M3FN = _float("float8_e4m3fn")
FLOAT8_E5M2 = _float("float8_e5m2")
INT8 = DType("int8", DTypeKind.SIGNED)
INT16 = DType("int16", DTypeKind.SIGNED)
INT32 = DType("int32", DTypeKind.SIGNED)
INT64 = DType("int64", DTypeKind.SIGNED)
UINT8 = DType("uint8", DTypeKind.UNSIGNED)
UINT16 = DType("uint16", DTypeKind.UNSIGNED)
UINT32 = DType("uint32", DTypeKind.UNSIGNED)
UINT64 = DType("uint64", DTypeKind.UNSIGNED)
BOOL = DType("bool", DTypeKind.BOOL)

WIDE = frozenset({INT32, INT64, UINT32, UINT64})
"""The integer formats that indices and sizes are kept in."""

CONCRETE = {
    dtype.name: dtype
    for dtype in (
        FLOAT64, FLOAT32, TFLOAT32, FLOAT16, BFLOAT16, FLOAT8_E4M3, FLOAT8_E4M3FN, FLOAT8_E5M2,
        INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, BOOL,
    )
}  # fmt: skip


def dtype_of(parameter: str) -> DType:
    """The symbolic dtype of the parameter called `parameter`."""
    return DType(f"dtype({parameter})", DTypeKind.SYMBOLIC)


def dtype_named(name: str) -> DType:
    """The dtype written `name`: a concrete format, or the symbol it spells.

    Raises KeyError for a name that is neither.
    """
    if name.startswith("dtype(") and name.endswith(")"):
        return DType(name, DTypeKind.SYMBOLIC)
    return CONCRETE[name]
