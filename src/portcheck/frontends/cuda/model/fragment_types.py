"""Types of matrix fragments: arrays of as many numbers as the tile has elements, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portcheck.core.dtype import INT32, DType
from portcheck.frontends.cuda.model.values import CType, Place, Scalar, TypeKind, Value
from portcheck.ir import Const
from portcheck.knowledge import Construct, Semantics

if TYPE_CHECKING:
    from portcheck.frontends.cuda.model.state import State

_USES = (Semantics.FRAGMENT_LEFT, Semantics.FRAGMENT_RIGHT, Semantics.FRAGMENT_SUM)
_LAYOUTS = (Semantics.LAYOUT_ROWS, Semantics.LAYOUT_COLUMNS)
_MOST_ELEMENTS = 2**16
_MEMBERS = "nvcuda::wmma::fragment::"


@dataclass(frozen=True, slots=True)
class Fragment:
    """A tile of numbers, and how its rows or columns lie in memory (None: said when it is loaded or stored)."""

    rows: int
    columns: int
    dtype: DType
    layout: Semantics | None = None


def fragment_type(
    state: State, words: Sequence[Construct], extents: Sequence[int], dtype: DType | None
) -> CType | None:
    """The type of a fragment of an M x N x K product; None where its arguments are not followed."""
    use = next((word.semantics for word in words if word.semantics in _USES), None)
    layout = next((word.semantics for word in words if word.semantics in _LAYOUTS), None)
    if use is None or len(extents) != len(_USES) or dtype is None:
        return None
    rows, columns, inner = extents
    if use is Semantics.FRAGMENT_LEFT:
        columns = inner
    if use is Semantics.FRAGMENT_RIGHT:
        rows = inner
    if not 0 < rows * columns <= _MOST_ELEMENTS:
        return None
    name = f"fragment<{rows}, {columns}, {dtype}, {layout or 'any'}>"
    state.fragments[name] = Fragment(rows, columns, dtype, layout)
    element = CType(kind=TypeKind.SCALAR, name=name, dtype=dtype)
    return CType(kind=TypeKind.ARRAY, name=name, target=element, extent=rows * columns)


def fragment_of(state: State, value: Value) -> Fragment | None:
    """What `value` is, if it is a whole fragment."""
    is_array = isinstance(value, Place) and value.remaining == 1
    return state.fragments.get(value.type.name) if isinstance(value, Place) and is_array else None


def fragment_member(state: State, value: Value, name: str) -> Value | None:
    """A member of a fragment: its elements, or their number; None for a member of anything else."""
    fragment = fragment_of(state, value)
    construct = state.construct(_MEMBERS + name) if fragment is not None else None
    if fragment is None or construct is None:
        return None
    return value if construct.semantics is Semantics.VIEW else _count(fragment)


def _count(fragment: Fragment) -> Scalar:
    return Scalar(Const(fragment.rows * fragment.columns, INT32), INT32)
