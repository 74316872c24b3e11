"""How values of C++ types lie in memory: sizes, alignments and offsets in bytes, as CUDA's compiler places them."""

from __future__ import annotations

from typing import NamedTuple

from portcheck.core.dtype import BOOL, UINT64, DType
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import CType, TypeKind

_BITS = 8
_WHOLE_LANES = frozenset({1, 2, 4})
"""Vectors of so many lanes are aligned as a whole; one of three as its members are (Built-in Vector Types)."""


class Layout(NamedTuple):
    """The bytes a value takes, and of what its address is a multiple."""

    size: int
    alignment: int


def size_of_dtype(state: State, dtype: DType) -> int | None:
    """How many bytes a number takes; None for a format whose width is not a whole number of them, or not known."""
    if dtype == BOOL:
        return 1
    facts = state.knowledge.dtype(dtype.name)
    return facts.bits // _BITS if facts is not None and facts.bits % _BITS == 0 else None


def layout(state: State, type_: CType) -> Layout | None:
    """The layout of `type_`; None where it is not known."""
    match type_.kind:
        case TypeKind.SCALAR if type_.dtype is not None:
            size = size_of_dtype(state, type_.dtype)
            return None if size is None else Layout(size, size)
        case TypeKind.POINTER:
            size = size_of_dtype(state, UINT64)
            return None if size is None else Layout(size, size)
        case TypeKind.VECTOR:
            return _of_vector(state, type_)
        case TypeKind.ARRAY if type_.target is not None and type_.extent > 0:
            element = layout(state, type_.target)
            return None if element is None else Layout(element.size * type_.extent, element.alignment)
        case TypeKind.RECORD | TypeKind.UNKNOWN:
            record = state.records.get(type_.name)
            return record.layout if record is not None else None
        case _:
            pass
    return None


def _of_vector(state: State, type_: CType) -> Layout | None:
    element = layout(state, type_.fields[0][1])
    if element is None:
        return None
    size = element.size * len(type_.fields)
    largest = state.knowledge.cuda_limit("vector_alignment")
    return Layout(size, min(size, largest) if len(type_.fields) in _WHOLE_LANES else element.alignment)


def size_of(state: State, type_: CType) -> int | None:
    """How many bytes a value of `type_` takes; None where that is not known. As the language has it, `void` has 1."""
    if type_.kind is TypeKind.VOID:
        return 1
    found = layout(state, type_)
    return found.size if found is not None else None


def offset_of(state: State, type_: CType, name: str) -> int | None:
    """Where a member begins, in bytes from the start of what holds it."""
    if type_.kind is TypeKind.VECTOR:
        element = layout(state, type_.fields[0][1])
        names = [field for field, _ in type_.fields]
        return names.index(name) * element.size if element is not None and name in names else None
    record = state.records.get(type_.name) if type_.kind is TypeKind.RECORD else None
    return record.offsets.get(name) if record is not None and record.layout is not None else None


def numbers_in(state: State, type_: CType, budget: int = 64) -> list[DType]:
    """The formats of the numbers a value of `type_` is made of, each once, in the order of their bytes."""
    match type_.kind:
        case TypeKind.SCALAR if type_.dtype is not None:
            return [type_.dtype]
        case TypeKind.POINTER:
            return [UINT64]
        case TypeKind.ARRAY if type_.target is not None:
            return numbers_in(state, type_.target, budget - 1)
        case TypeKind.VECTOR | TypeKind.RECORD if budget > 0:
            found = (dtype for _, field in type_.fields for dtype in numbers_in(state, field, budget - 1))
            return list(dict.fromkeys(found))
        case _:
            pass
    return []


def storage(state: State, type_: CType) -> tuple[DType, int] | None:
    """The number that memory for values of `type_` is counted in, and how many of them a value takes.

    It is the first of the value's own numbers; those of another format are seen through a view.
    """
    dtypes = numbers_in(state, type_)
    size = size_of(state, type_)
    width = size_of_dtype(state, dtypes[0]) if dtypes else None
    if not size or not width or size % width:
        return None
    return dtypes[0], size // width
