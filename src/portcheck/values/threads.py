"""The symbols a kernel runs along: axes and their extents, warps and lanes, block sizes the launch states."""

from __future__ import annotations

from dataclasses import dataclass, replace

from portcheck.ir import (
    Alloc,
    Apply,
    Assume,
    AxisKind,
    Const,
    Exchange,
    Expr,
    Kernel,
    Launch,
    Operator,
    Polynomial,
    Ranges,
    Reduce,
    Space,
    Symbol,
    accesses,
    expressions,
    number,
    operations,
    subexpressions,
    symbols_in,
)
from portcheck.ir.algebra import floor_divide, polynomial_of, replace_symbols
from portcheck.ir.polynomial import symbol
from portcheck.ir.ranges import INDEX_MARK
from portcheck.values.lanes import WARP
from portcheck.values.substitution import LANE
from portcheck.values.terms import Bound

WARP_INDEX = f"{INDEX_MARK}threadIdx.x/{WARP}"
WARPS = "warps"
"""The number of warps of a block whose size is not a number."""
_THREAD, _BLOCK_SIZE = "threadIdx.x", "blockDim.x"
_SPLITTERS = {
    Operator.TRUNCATED_DIVIDE: WARP,
    Operator.TRUNCATED_MODULO: WARP,
    Operator.FLOOR_DIVIDE: WARP,
    Operator.FLOOR_MODULO: WARP,
    Operator.BITWISE_AND: WARP - 1,
    Operator.SHIFT_RIGHT_ARITHMETIC: WARP.bit_length() - 1,
    Operator.SHIFT_RIGHT_LOGICAL: WARP.bit_length() - 1,
}
_THREADS = (AxisKind.BLOCK, AxisKind.LANE)


@dataclass(frozen=True, slots=True)
class Threads:
    """How symbols of the source are expressed, the indices of one block, those of the grid, and what is assumed."""

    symbols: dict[str, Polynomial]
    block: tuple[Bound, ...]
    grid: tuple[Bound, ...]
    ranges: Ranges
    assumptions: tuple[str, ...]
    has_lanes: bool = False

    def names(self) -> frozenset[str]:
        """The names of all thread and block indices."""
        return frozenset(bound.variable for bound in (*self.block, *self.grid))


def threads_of(kernel: Kernel, launch: Launch | None) -> Threads:
    """The threads of `kernel` as `launch` runs them."""
    ranges = _launched(launch)
    symbols = _stated_sizes(launch, ranges)
    assumptions: list[str] = []
    block: list[Bound] = []
    grid: list[Bound] = []
    has_lanes = False
    ranges = replace(ranges, divisors=asserted(kernel, symbols).divisors)
    for name, extent in _inferred_block(kernel, symbols).items():
        symbols[name] = extent
        assumptions.append(f"{name} = {extent}: the extent of the shared array that the thread index selects")
    for axis in sorted(kernel.axes, key=lambda axis: axis.kind not in _THREADS):
        extent = symbol(f"{axis.name}.extent") if axis.extent is None else polynomial_of(axis.extent, ranges, symbols)
        if axis.kind in _THREADS and axis.name == _THREAD and _uses_lanes(kernel) and _is_whole_warps(extent):
            has_lanes = True
            bounds, assumed = _warps_and_lanes(extent, symbols)
            assumptions.extend(assumed)
            _substitute_sizes(symbols, ranges)
        elif extent.constant == 1:
            symbols[axis.name], bounds = number(0), []
        else:
            symbols[axis.name] = symbol(f"{INDEX_MARK}{axis.name}")
            bounds = [Bound(f"{INDEX_MARK}{axis.name}", number(0), extent, number(1))]
        (block if axis.kind in _THREADS else grid).extend(bounds)
    counts = {name: 1 for bound in block for name in bound.stop.symbols}
    ranges = replace(ranges, least={**ranges.least, **counts})
    for bound in (*block, *grid):
        ranges = ranges.with_extent(bound.variable, bound.stop)
    return Threads(symbols, tuple(block), tuple(grid), ranges, tuple(assumptions), has_lanes)


def _launched(launch: Launch | None) -> Ranges:
    """Sizes of blocks and grids are at least 1."""
    names = {f"{prefix}.{letter}" for prefix in ("gridDim", "blockDim") for letter in "xyz"}
    for extent in launch.block if launch is not None else ():
        names |= symbols_in(extent)
    return Ranges(least=dict.fromkeys(sorted(names), 1))


def _stated_sizes(launch: Launch | None, ranges: Ranges) -> dict[str, Polynomial]:
    sizes: dict[str, Polynomial] = {}
    if launch is None:
        return sizes
    for prefix, extents in (("gridDim", launch.grid), ("blockDim", launch.block)):
        for letter, extent in zip("xyz", extents, strict=False):
            if symbols_in(extent) != {f"{prefix}.{letter}"}:
                sizes[f"{prefix}.{letter}"] = polynomial_of(extent, ranges)
    return sizes


def _inferred_block(kernel: Kernel, stated: dict[str, Polynomial]) -> dict[str, Polynomial]:
    """Block sizes that no launch states, from static shared arrays indexed by a thread index alone."""
    shapes = {op.name: op.type.shape for op in operations(kernel.body) if isinstance(op, Alloc) and _is_shared(op)}
    found: dict[str, set[Polynomial]] = {}
    for op in operations(kernel.body):
        for access in accesses(op):
            for index, extent in zip(access.index, shapes.get(access.buffer, ()), strict=False):
                if isinstance(index, Symbol) and index.name.startswith("threadIdx."):
                    size = polynomial_of(_unpadded(extent))
                    found.setdefault(f"blockDim.{index.name[-1]}", set()).add(size)
    parameters = {parameter.name for parameter in kernel.parameters}
    return {
        name: next(iter(sizes))
        for name, sizes in sorted(found.items())
        if len(sizes) == 1 and _is_open(stated.get(name), parameters)
    }


def _is_open(stated: Polynomial | None, parameters: set[str]) -> bool:
    """Whether a launch leaves a block size open: it states none, or a variable of the host."""
    return stated is None or (stated.constant is None and not stated.symbols & parameters)


def _is_shared(op: Alloc) -> bool:
    return op.type.space is Space.SHARED and len(op.type.shape) > 1 and not op.base


def _unpadded(extent: Expr) -> Expr:
    match extent:
        case Apply(Operator.ADD, (used, Const())):
            return used
        case _:
            return extent


def _uses_lanes(kernel: Kernel) -> bool:
    for op in operations(kernel.body):
        if isinstance(op, Exchange) or (isinstance(op, Reduce) and op.lanes is not None):
            return True
        if any(_splits_lanes(node) for expression in expressions(op) for node in subexpressions(expression)):
            return True
    return False


def _splits_lanes(node: Expr) -> bool:
    match node:
        case Apply(operator, (left, Const(value))) if operator in _SPLITTERS:
            return _SPLITTERS[operator] == value and _THREAD in symbols_in(left)
        case _:
            return False


def _is_whole_warps(extent: Polynomial) -> bool:
    """Whether a block of `extent` threads is, or may be taken to be, made of whole warps."""
    return extent.constant is None or extent.constant % WARP == 0


def _warps_and_lanes(extent: Polynomial, symbols: dict[str, Polynomial]) -> tuple[list[Bound], list[str]]:
    """Splits threadIdx.x into warp and lane; a symbolic block size becomes 32 times a number of warps."""
    assumptions = []
    if extent == symbol(_BLOCK_SIZE):
        warps = symbol(WARPS)
        symbols[_BLOCK_SIZE] = warps * WARP
        assumptions.append(f"{_BLOCK_SIZE} is a multiple of {WARP}")
    else:
        warps = floor_divide(extent, number(WARP))
        if extent.constant is None and warps * WARP != extent:
            assumptions.append(f"{extent} is a multiple of {WARP}")
            symbols.update(_as_multiple(extent))
            warps = symbol(WARPS)
    lane = Bound(LANE, number(0), number(WARP), number(1))
    if warps.constant == 1:
        symbols[_THREAD] = symbol(LANE)
        return [lane], assumptions
    symbols[_THREAD] = symbol(WARP_INDEX) * WARP + symbol(LANE)
    return [Bound(WARP_INDEX, number(0), warps, number(1)), lane], assumptions


def _substitute_sizes(symbols: dict[str, Polynomial], ranges: Ranges) -> None:
    """Rewrites what the launch says of grids in the sizes that are known now."""
    for name in [name for name in symbols if name.startswith("gridDim.")]:
        symbols[name] = replace_symbols(symbols[name], symbols, ranges)


def _as_multiple(extent: Polynomial) -> dict[str, Polynomial]:
    """A single symbol written as 32 times its quotient."""
    if len(extent.terms) == 1 and len(extent.terms[0][0]) == 1 and extent.terms[0][0][0].operator is None:
        name = extent.terms[0][0][0].text
        return {name: symbol(WARPS) * WARP, _BLOCK_SIZE: symbol(WARPS) * WARP}
    return {}


def asserted(kernel: Kernel, symbols: dict[str, Polynomial]) -> Ranges:
    """What the assertions of `kernel` say of its sizes: divisors, and sizes that equal others or a number."""
    divisors: list[tuple[Polynomial, Polynomial]] = []
    for op in operations(kernel.body):
        if isinstance(op, Assume):
            for condition in _conjuncts(op.condition):
                _learn(condition, symbols, divisors)
    return Ranges(divisors=tuple(divisors))


def _conjuncts(condition: Expr) -> list[Expr]:
    match condition:
        case Apply(Operator.LOGICAL_AND, (left, right)):
            return [*_conjuncts(left), *_conjuncts(right)]
        case _:
            return [condition]


def _learn(condition: Expr, symbols: dict[str, Polynomial], divisors: list[tuple[Polynomial, Polynomial]]) -> None:
    match condition:
        case Apply(Operator.EQUAL, (Apply(operator, (value, divisor)), Const(0))) if operator in (
            Operator.FLOOR_MODULO,
            Operator.TRUNCATED_MODULO,
        ):
            divisors.append((polynomial_of(value, symbols=symbols), polynomial_of(divisor, symbols=symbols)))
        case Apply(Operator.EQUAL, (left, right)):
            _equate(polynomial_of(left, symbols=symbols), polynomial_of(right, symbols=symbols), right, left, symbols)
        case _:
            return


def _equate(
    left: Polynomial, right: Polynomial, right_source: Expr, left_source: Expr, symbols: dict[str, Polynomial]
) -> None:
    if left == right or left.constant is not None or right.constant is not None:
        return
    candidates = [(right_source, left), (left_source, right)]
    for source, value in sorted(candidates, key=lambda candidate: _has_a_name(candidate[0])):
        if isinstance(source, Symbol) and source.name not in value.symbols:
            symbols[source.name] = value
            return


def _has_a_name(source: Expr) -> bool:
    """Whether a size is a variable of the source, not the extent of an argument."""
    return isinstance(source, Symbol) and source.name.isidentifier()
