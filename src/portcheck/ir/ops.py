"""The operations: a small closed vocabulary into which both languages are lowered.

The program is imperative: buffers (`Alloc`, parameters) are written by `Store`, `Copy` and `Atomic` and read by
`Load`; everything else is a pure result named by its id. A mutable C local is a register buffer of shape (); a tile
is a buffer in SBUF or PSUM. Each operation carries the span it was written at and `via`, the construct as the source
names it (`__shfl_xor_sync`, `nisa.tensor_reduce`), which the mapping table prints. See docs/decisions/0002.
"""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.core.source import Span
from portcheck.ir.expr import TRUE, Expr
from portcheck.ir.kinds import CheckKind, ExchangeKind, LeaveKind, Order, Rounding, Scope, WriteMode
from portcheck.ir.operators import Operator
from portcheck.ir.types import Axis, AxisKind, ValueType


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What all operations have: an id unique in the program, where they stand, what the source calls them."""

    id: int
    span: Span
    via: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The elements of a buffer that one operation touches.

    `axes` are bound here and give the shape of what is read or written (no axes: one element per thread).
    `index` has one expression per dimension of the buffer (one in all for a CUDA pointer, counted in elements).
    A single index on a buffer of several dimensions is the row-major offset in elements.
    `mask` is a predicate over the axes: where it is false nothing is read or written.
    """

    buffer: str
    index: tuple[Expr, ...]
    axes: tuple[Axis, ...] = ()
    mask: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alloc(Operation):
    """A new, uninitialised buffer called `name`; `dynamic` where its size is given at launch."""

    name: str
    type: ValueType
    dynamic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(Operation):
    """Reads the elements of `access`; masked-out elements hold `fill`, or nothing defined without one."""

    access: Access
    type: ValueType
    fill: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Store(Operation):
    """Writes `value` to the elements of `access`; dimensions of `value` of extent 1 are broadcast."""

    access: Access
    value: Expr
    mode: WriteMode = WriteMode.OVERWRITE


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy(Operation):
    """Moves elements between buffers, axis by axis, casting if their dtypes differ."""

    destination: Access
    source: Access
    mode: WriteMode = WriteMode.OVERWRITE


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute(Operation):
    """One operator on data, element by element; operands of shape () or extent 1 are broadcast.

    `approximate` says that the construct is documented as, or known to be, an approximation of the operator.
    `contractible` marks a product or sum that the compiler may fuse with its neighbour. Where `mask` is false the
    elements are undefined; in a mask the symbols `dim0`, `dim1`, ... are the position along the result's dimensions.
    """

    operator: Operator
    operands: tuple[Expr, ...]
    type: ValueType
    approximate: bool = False
    contractible: bool = False
    mask: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast(Operation):
    """A change of dtype: a rounding point unless `rounding` is exact."""

    operand: Expr
    type: ValueType
    rounding: Rounding = Rounding.NEAREST_EVEN
    saturating: bool = False
    bitwise: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduce(Operation):
    """Combines elements with `operator`: along dimensions `dimensions` of a shaped operand, or over `lanes` lanes.

    Exactly one of the two is given. `type.dtype` is the result's, `accumulate` the dtype the sum is kept in.
    A reduction over lanes gives every lane the result (a `cg::reduce`, a `__reduce_add_sync`).
    Elements where `mask` (over `dim0`, `dim1`, ... of the operand) is false do not take part. A mean is a sum
    followed by a product.
    """

    operator: Operator
    operand: Expr
    type: ValueType
    accumulate: ValueType
    dimensions: tuple[int, ...] = ()
    lanes: Expr | None = None
    keep_dimensions: bool = True
    order: Order = Order.UNDOCUMENTED
    mask: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Operation):
    """A running combination along `dimension` (or over lanes): r[i] = combine(r[i-1], operands[i])."""

    operator: Operator
    operands: tuple[Expr, ...]
    type: ValueType
    dimension: int | None = None
    lanes: Expr | None = None
    multiplier: Operator | None = None
    initial: Expr | None = None
    inclusive: bool = True
    reverse: bool = False
    order: Order = Order.SEQUENTIAL


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

    `width` is the size of the group of lanes, `lanes_mask` the participating lanes as a bit mask (None: all).
    """

    kind: ExchangeKind
    operand: Expr
    lane: Expr
    width: Expr
    type: ValueType
    lanes_mask: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Operation):
    """`on_true` where `condition` holds, else `on_false`."""

    condition: Expr
    on_true: Expr
    on_false: Expr
    type: ValueType


@dataclass(frozen=True, slots=True, kw_only=True)
class Barrier(Operation):
    """All threads (or cores) of `scope` wait for each other."""

    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence(Operation):
    """Orders this thread's memory operations for observers in `scope`."""

    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Atomic(Operation):
    """Combines `value` into an element indivisibly; the result is the old value. No operator: plain exchange.

    `compare` is the expected value of a compare-and-swap.
    """

    access: Access
    operator: Operator | None
    value: Expr
    type: ValueType
    compare: Expr | None = None
    scope: Scope = Scope.DEVICE
    result_used: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Random(Operation):
    """Random numbers from `generator`; operands are its seed, state or counter."""

    generator: str
    operands: tuple[Expr, ...]
    type: ValueType


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The values start, start + step, ... below `stop` (above it for a negative step)."""

    start: Expr
    stop: Expr
    step: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """The values start, next(start), ... while `condition` holds; both are over the loop variable."""

    start: Expr
    condition: Expr
    next: Expr


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
    """Ends the kernel for the threads that reach it; `buffers` are what a port hands back, in order."""

    buffers: tuple[str, ...] = ()


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
    """A device-side print, assertion, trap or clock."""

    kind: CheckKind
    condition: Expr = TRUE
    type: ValueType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque(Operation):
    """Source that was not understood, with what it may read and write; never dropped, always counted."""

    reason: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    operands: tuple[Expr, ...] = ()
    type: ValueType | None = None


Op = (
    Alloc | Load | Store | Copy | Compute | Cast | Reduce | Scan | Matmul | Transpose | Exchange | Select | Barrier
    | Fence | Atomic | Random | Loop | While | Branch | Leave | Return | Call | Assume | Check | Opaque
)  # fmt: skip
