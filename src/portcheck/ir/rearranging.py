"""Operations that put elements elsewhere by what they are, or on other cores; see docs/decisions/0022."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.ir.access import Access
from portcheck.ir.expr import Expr
from portcheck.ir.kinds import CollectiveKind
from portcheck.ir.operation import Operation
from portcheck.ir.operators import Operator
from portcheck.ir.types import ValueType


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort(Operation):
    """The positions along `dimension` of the elements of `operand` in ascending or `descending` order.

    Of equal elements the one at the lower position comes first; where NaN comes is not stated.
    """

    operand: Expr
    type: ValueType
    dimension: int
    descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Collective(Operation):
    """Data exchanged or combined by ranks (cores or devices), or by program instances, each of which runs this.

    `source` is what a rank gives and `destination` what it gets, as `kind` says. `ranks` are those that take part, in
    groups of `group_size` that have nothing to do with each other; for a PERMUTE pairs of a source and a target (0:
    not stated). `dimension` is that of the accesses along which the parts of ranks lie side by side, in the order of
    the group. `send_to` and `receive_from` are the ranks of a SEND. Where there are `program_axes`, it is the program
    instances of one launch that REDUCE: those that differ only along these axes of its grid (docs/decisions/0028).
    """

    kind: CollectiveKind
    destination: Access
    source: Access
    operator: Operator | None = None
    dimension: int = 0
    ranks: tuple[int, ...] = ()
    group_size: int = 0
    send_to: Expr | None = None
    receive_from: Expr | None = None
    program_axes: tuple[int, ...] = ()
