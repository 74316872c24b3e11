"""The operations: a small closed vocabulary into which both languages are lowered.

The program is imperative: buffers (`Alloc`, parameters) are written by `Store`, `Copy` and `Atomic` and read by
`Load`; everything else is a pure result named by its id. A mutable C local is a register buffer of shape (); a tile
is a buffer in SBUF or PSUM. Each operation carries the span it was written at and `via`, the construct as the source
names it (`__shfl_xor_sync`, `nisa.tensor_reduce`), which the mapping table prints. See docs/decisions/0002.
"""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.ir.access import Access
from portcheck.ir.expr import TRUE, Expr
from portcheck.ir.iteration import Range, Sequence
from portcheck.ir.kinds import (
    CheckKind,
    ExchangeKind,
    Filter,
    LeaveKind,
    MemoryOrder,
    OpaqueKind,
    Order,
    Outside,
    Rounding,
    SampleKind,
    Scope,
    WriteMode,
)  # fmt: skip
from portcheck.ir.operation import Operation as Operation  # made known to those who know operations from here
from portcheck.ir.operators import Operator
from portcheck.ir.rearranging import Collective as Collective
from portcheck.ir.rearranging import Sort as Sort
from portcheck.ir.types import AxisKind, ValueType


@dataclass(frozen=True, slots=True, kw_only=True)
class Alloc(Operation):
    """A new, uninitialised buffer called `name`; `dynamic` where its size is given at launch.

    With a `base` it is no new memory but a view of that buffer, which is none itself: the same bytes, little-endian
    and row-major, read as elements of another dtype, element i of the view at byte i * size of an element. It has one
    dimension, or no shape where the base states none (a pointer) or is one variable.
    """

    name: str
    type: ValueType
    dynamic: bool = False
    base: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(Operation):
    """Reads the elements of `access`; masked-out elements hold `fill`, or nothing defined without one."""

    access: Access
    type: ValueType
    fill: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Store(Operation):
    """Writes `value` to the elements of `access`.

    A value has no dimensions or as many as there are axes; those of extent 1 are broadcast. Elements that share an
    index are written in no defined order: OVERWRITE keeps one of them, ADD adds them all. `unique_indices` promises
    that there are none; where that is not so the result is undefined.
    """

    access: Access
    value: Expr
    mode: WriteMode = WriteMode.OVERWRITE
    unique_indices: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy(Operation):
    """Moves elements between buffers, axis by axis, casting if their dtypes differ (indices as in `Store`)."""

    destination: Access
    source: Access
    mode: WriteMode = WriteMode.OVERWRITE
    unique_indices: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute(Operation):
    """One operator on data, element by element.

    Operands have no dimensions or as many as the result, and those of extent 1 are broadcast (in `Select` too).
    A float result is rounded once, as `rounding` says; integers wrap. `approximate` says that the construct is
    documented as, or known to be, an approximation of the operator. `contractible` marks a product or sum that the
    compiler may fuse with its neighbour. Where `mask` is false the elements are undefined; in a mask the symbols
    `dim0`, `dim1`, ... are the position along the result's dimensions.
    """

    operator: Operator
    operands: tuple[Expr, ...]
    type: ValueType
    approximate: bool = False
    contractible: bool = False
    rounding: Rounding = Rounding.NEAREST_EVEN
    mask: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast(Operation):
    """A change of dtype: a rounding point unless `rounding` is exact.

    A `bitwise` cast keeps the bits and reads them as a dtype of the same width; it neither rounds nor saturates.
    A `saturating` one gives the nearest end of the finite range for a value beyond it (infinities too), and for NaN
    0 in an integer and NaN in a float. Without it such a value becomes an infinity (NaN where the format has none) in
    a float, wraps from an integer to an integer, and is undefined from a float to an integer.
    """

    operand: Expr
    type: ValueType
    rounding: Rounding = Rounding.NEAREST_EVEN
    saturating: bool = False
    bitwise: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduce(Operation):
    """Combines elements with `operator`: along dimensions `dimensions` of a shaped operand, or over `lanes` lanes.

    Exactly one of the two is given. `type.dtype` is the result's, `accumulate` the dtype the sum is kept in.
    A reduction over lanes gives every lane the result (a `cg::reduce`, a `__reduce_add_sync`). Its lanes are threads
    of a warp or block, or partitions of a tile (`scope`: warp, block, core), in groups of `lanes`; lanes outside the
    bit mask `lanes_mask` (None: all take part) neither contribute nor get a defined result.
    Elements where `mask` (over `dim0`, `dim1`, ... of the operand) is false do not take part. A mean is a sum
    followed by a product.
    """

    operator: Operator
    operand: Expr
    type: ValueType
    accumulate: ValueType
    dimensions: tuple[int, ...] = ()
    lanes: Expr | None = None
    lanes_mask: Expr | None = None
    scope: Scope = Scope.WARP
    keep_dimensions: bool = True
    order: Order = Order.UNDOCUMENTED
    mask: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Operation):
    """A running combination along `dimension` or over lanes (as in `Reduce`): r[i] = operator(r[i-1], a[i]).

    With a `multiplier` there are two operands and r[i] = operator(multiplier(a[i], r[i-1]), b[i]). r[-1] is `initial`,
    without which the first r is the first a (or b). An exclusive scan gives r[i-1] at i; a `reverse` one runs from the
    last element. Where `mask` (over `dim0`, `dim1`, ... of the operands) is false r[i] = r[i-1]. `accumulate` is the
    dtype r is kept in (None: that of the result).
    """

    operator: Operator
    operands: tuple[Expr, ...]
    type: ValueType
    dimension: int | None = None
    lanes: Expr | None = None
    lanes_mask: Expr | None = None
    scope: Scope = Scope.WARP
    multiplier: Operator | None = None
    initial: Expr | None = None
    inclusive: bool = True
    reverse: bool = False
    order: Order = Order.SEQUENTIAL
    accumulate: ValueType | None = None
    mask: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matmul(Operation):
    """`stationary`^T x `moving`: both contract over their first dimension; result (stationary free, moving free).

    `accumulate` is the dtype products are summed in; the order inside one instruction is `order`.
    """

    stationary: Expr
    moving: Expr
    type: ValueType
    accumulate: ValueType
    order: Order = Order.UNDOCUMENTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Transpose(Operation):
    """Permutes dimensions: dimension i of the result is dimension `permutation[i]` of the operand."""

    operand: Expr
    permutation: tuple[int, ...]
    type: ValueType


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange(Operation):
    """Moves a value between the lanes of a warp (or partitions), or votes on one.

    `width` is the size of a group of lanes. `lane` is the offset, index or mask that the kind asks for, 0 for a kind
    that asks for none; `pattern` has the source of every lane of a group for PATTERN. What a lane gets whose source
    lies outside its group says `ExchangeKind`, as CUDA does (Programming Guide, Warp Shuffle Functions). `lanes_mask`
    has the participating lanes as a bit mask (None: all); what others get, and what is taken from them, is undefined.
    """

    kind: ExchangeKind
    operand: Expr
    lane: Expr
    width: Expr
    type: ValueType
    lanes_mask: Expr | None = None
    pattern: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Operation):
    """`on_true` where `condition` holds, else `on_false`."""

    condition: Expr
    on_true: Expr
    on_false: Expr
    type: ValueType


@dataclass(frozen=True, slots=True, kw_only=True)
class Barrier(Operation):
    """All threads (or cores) of `scope` wait for each other.

    `participants` are fewer than all: the lanes of a warp as a bit mask, else the number of threads that must arrive
    (None: all). With `combine`, and then an `operand` and a `type`, every thread gets the participants' operands
    combined: `__syncthreads_or`, `_and`, `_count`.
    """

    scope: Scope
    participants: Expr | None = None
    combine: Operator | None = None
    operand: Expr | None = None
    type: ValueType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence(Operation):
    """Orders this thread's memory operations for observers in `scope`; a relaxed fence orders nothing."""

    scope: Scope
    order: MemoryOrder = MemoryOrder.RELAXED


@dataclass(frozen=True, slots=True, kw_only=True)
class Atomic(Operation):
    """Combines `value` into an element indivisibly; the result is the old value. No operator: plain exchange.

    `compare` is the expected value of a compare-and-swap. With a `limit` a sum starts again at 0 once the old value is
    at or above it (`atomicInc`), and a difference starts again at the limit once the old value is 0 or above it
    (`atomicDec`). Without `unique_indices` elements that have the same index are combined one after the other, in any
    order; with it there are none, or else the result is undefined.
    """

    access: Access
    operator: Operator | None
    value: Expr
    type: ValueType
    compare: Expr | None = None
    limit: Expr | None = None
    scope: Scope = Scope.DEVICE
    order: MemoryOrder = MemoryOrder.RELAXED
    result_used: bool = False
    unique_indices: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Operation):
    """Reads a `component` of a texture or surface; what is not stated of how it was set up is None (see 0013)."""

    kind: SampleKind
    texture: Expr
    coordinates: tuple[Expr, ...]
    type: ValueType
    component: int = 0
    layer: Expr | None = None
    level: Expr | None = None
    filter: Filter | None = None
    outside: Outside | None = None
    is_normalised: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Random(Operation):
    """Random numbers from `generator`; operands are its seed, counter or limits.

    `state` is the buffer that holds the generator's state, which is read and written ("": it is in no buffer);
    `distribution` names what is drawn (uniform, normal; "": as the generator gives it).
    """

    generator: str
    operands: tuple[Expr, ...]
    type: ValueType
    state: str = ""
    distribution: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(Operation):
    """Runs `body` for each value of the symbol `variable`, in order unless `kind` asserts that order is free."""

    variable: str
    values: Range | Sequence
    body: tuple[Op, ...]
    kind: AxisKind = AxisKind.SEQUENTIAL


@dataclass(frozen=True, slots=True, kw_only=True)
class While(Operation):
    """Runs `test`, leaves if `condition` is false, runs `body`, again; `body_first` for a do-while."""

    test: tuple[Op, ...]
    condition: Expr
    body: tuple[Op, ...]
    body_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch(Operation):
    """Runs `then` where `condition` holds, else `otherwise`; threads of one kernel may part ways."""

    condition: Expr
    then: tuple[Op, ...]
    otherwise: tuple[Op, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave(Operation):
    """Ends the iteration or the innermost loop for the threads that reach it."""

    kind: LeaveKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Return(Operation):
    """Ends the kernel for the threads that reach it; `buffers` are what a port hands back, in order.

    `shapes` are those that the buffers are seen in, row-major (empty: each in its own).
    """

    buffers: tuple[str, ...] = ()
    shapes: tuple[tuple[Expr, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Operation):
    """A call of a helper whose source is not at hand; reads and writes are what its arguments allow."""

    callee: str
    arguments: tuple[Expr, ...]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    type: ValueType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assume(Operation):
    """A condition the source asserts and the analysis may rely on."""

    condition: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Operation):
    """A device-side print, assertion, trap or clock; `message` is the text or format, `operands` what is printed."""

    kind: CheckKind
    condition: Expr = TRUE
    type: ValueType | None = None
    operands: tuple[Expr, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque(Operation):
    """Source that was not understood, with what it may read and write; never dropped, always counted.

    `kind` is what sort of construct it is, for rules; `reason` says it in words, for readers.
    """

    reason: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    operands: tuple[Expr, ...] = ()
    type: ValueType | None = None
    kind: OpaqueKind = OpaqueKind.SYNTAX


Op = (
    Alloc | Load | Store | Copy | Compute | Cast | Reduce | Scan | Matmul | Transpose | Exchange | Select | Barrier
    | Fence | Atomic | Sample | Random | Sort | Collective | Loop | While | Branch | Leave | Return | Call | Assume
    | Check | Opaque
)  # fmt: skip
