"""Whether a port writes all that it hands back."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from portcheck.align.sizes import Sizes
from portcheck.ir import Alloc, Polynomial, Program, Ranges, kernel_operations, number
from portcheck.ir.algebra import polynomial_of, use_divisibility
from portcheck.values import Contract


def unwritten(port: Program, output: str, contract: Contract, sizes: Sizes, ranges: Ranges) -> tuple[str, ...]:
    """What a comparison takes for granted where a buffer that the port makes has more elements than are written.

    `contract` is that of `output` in the original's names.
    """
    made = [op.type.shape for op in kernel_operations(port) if isinstance(op, Alloc) and op.name == output]
    if len(made) != 1 or len(contract.pieces) != 1:
        return ()
    whole = sizes.in_original(_product(polynomial_of(extent) for extent in made[0]))
    reached = _product(bound.stop for bound in contract.pieces[0].bounds)
    if use_divisibility(whole - reached, ranges) == number(0):
        return ()
    return (f"of the {whole} elements of the port's {output} only those that are written matter ({reached})",)


def _product(extents: Iterable[Polynomial]) -> Polynomial:
    return prod(extents, start=number(1))
