"""On-chip buffers that carry a bank-conflict trick: a padded extent, or an index permuted by exclusive or."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.ir import (
    Access,
    Alloc,
    Apply,
    Const,
    Expr,
    Kernel,
    Op,
    Operator,
    Program,
    Ranges,
    Space,
    accesses,
    operations,
    subexpressions,
    symbols_in,
)
from portcheck.ir.algebra import polynomial_of

_ON_CHIP = (Space.SHARED, Space.PSUM)


@dataclass(frozen=True, slots=True)
class Padding:
    """A dimension of an on-chip buffer with elements nobody reads or writes, kept to move rows to other banks."""

    alloc: Alloc
    dimension: int
    used: Expr
    padding: int


@dataclass(frozen=True, slots=True)
class Swizzle:
    """An access whose index is permuted by an exclusive or."""

    op: Op
    access: Access
    buffer: str


def paddings(program: Program) -> tuple[Padding, ...]:
    """The padded on-chip buffers of `program`: an extent written `size + 1`, or one more than the square's other."""
    found: list[Padding] = []
    for kernel in program.kernels:
        for op in operations(kernel.body):
            if isinstance(op, Alloc) and op.type.space in _ON_CHIP:
                found.extend(_padding(op, kernel))
    return tuple(found)


def _padding(alloc: Alloc, kernel: Kernel) -> list[Padding]:
    shape = alloc.type.shape
    found = []
    for dimension in range(1, len(shape)):
        written = _written_as_sum(shape[dimension])
        used, extra = written if written else _beside_square(shape, dimension)
        if used is not None and not _reaches(alloc, kernel, dimension, used):
            found.append(Padding(alloc, dimension, used, extra))
    return found


def _written_as_sum(extent: Expr) -> tuple[Expr, int] | None:
    match extent:
        case Apply(Operator.ADD, (Const() | Apply() as used, Const(int(extra)))) if 0 < extra <= 8:
            return used, extra
        case Apply(Operator.ADD, (used, Const(int(extra)))) if 0 < extra <= 8:
            return used, extra
        case _:
            return None


def _beside_square(shape: tuple[Expr, ...], dimension: int) -> tuple[Expr | None, int]:
    own, other = polynomial_of(shape[dimension]).constant, polynomial_of(shape[dimension - 1]).constant
    if own is not None and other is not None and other > 1 and own == other + 1 and not other & (other - 1):
        return shape[dimension - 1], 1
    return None, 0


def _reaches(alloc: Alloc, kernel: Kernel, dimension: int, used: Expr) -> bool:
    """Whether an access may touch the padding: an axis of it runs over the whole extent, or past `used`."""
    limit = polynomial_of(used)
    for op in operations(kernel.body):
        for access in accesses(op):
            if access.buffer != alloc.name or dimension >= len(access.index):
                continue
            for axis in access.axes:
                runs = axis.extent is not None and axis.name in symbols_in(access.index[dimension])
                if runs and axis.extent is not None and Ranges().is_less(limit, polynomial_of(axis.extent)):
                    return True
    return False


def swizzles(program: Program) -> tuple[Swizzle, ...]:
    """The accesses to on-chip buffers whose index holds an exclusive or with an axis or loop variable."""
    found = []
    for kernel in program.kernels:
        spaces = {op.name: op.type.space for op in operations(kernel.body) if isinstance(op, Alloc)}
        for op in operations(kernel.body):
            for access in accesses(op):
                if spaces.get(access.buffer) in _ON_CHIP and any(map(_is_permuted, access.index)):
                    found.append(Swizzle(op, access, access.buffer))
    return tuple(found)


def _is_permuted(index: Expr) -> bool:
    return any(
        isinstance(node, Apply) and node.operator is Operator.BITWISE_XOR and symbols_in(node)
        for node in subexpressions(index)
    )
