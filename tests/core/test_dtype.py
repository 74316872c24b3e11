"""Dtypes and the names they are found by."""

import pytest

from portcheck.core.dtype import BOOL, CONCRETE, FLOAT16, INT8, UINT64, DType, DTypeKind, dtype_named, dtype_of


@pytest.mark.parametrize("dtype", [*CONCRETE.values(), dtype_of("x")], ids=str)
def test_dtype_is_found_by_its_name(dtype: DType) -> None:
    assert dtype_named(str(dtype)) == dtype


@pytest.mark.parametrize("name", ["", "float", "half", "dtype(x", "Float32"])
def test_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(KeyError):
        dtype_named(name)


@pytest.mark.parametrize(
    ("dtype", "is_float", "is_integer", "is_symbolic"),
    [
        (FLOAT16, True, False, False),
        (INT8, False, True, False),
        (UINT64, False, True, False),
        (BOOL, False, False, False),
        (dtype_of("x"), False, False, True),
    ],
    ids=str,
)
def test_kind_of_a_dtype(dtype: DType, is_float: bool, is_integer: bool, is_symbolic: bool) -> None:
    assert (dtype.is_float, dtype.is_integer, dtype.is_symbolic) == (is_float, is_integer, is_symbolic)


def test_symbolic_dtype_is_named_after_its_parameter() -> None:
    assert dtype_of("x") == DType("dtype(x)", DTypeKind.SYMBOLIC)
