"""How much of both sides was understood."""

from __future__ import annotations

from portcheck.core.report import CoverageTable, NotUnderstood, SideCoverage
from portcheck.ir import Call, Opaque, coverage
from portcheck.passes import Facts
from portcheck.rubric.places import place_at
from portcheck.rules import Pair


def coverage_table(pair: Pair) -> CoverageTable:
    """Operations understood on each side, and what was not."""
    return CoverageTable(cuda=_side(pair.cuda, pair), nki=_side(pair.nki, pair))


def _side(facts: Facts, pair: Pair) -> SideCoverage:
    counts = [coverage(kernel.body) for kernel in facts.program.kernels]
    groups: dict[str, list[Opaque | Call]] = {}
    ops: tuple[Opaque | Call, ...] = (*facts.opaque, *facts.calls)
    for op in ops:
        reason = op.reason if isinstance(op, Opaque) else f"helper not found: {op.callee}"
        groups.setdefault(reason, []).append(op)
    rows = [
        NotUnderstood(reason=reason, count=len(ops), place=place_at(ops[0].span, pair.sources))
        for reason, ops in groups.items()
    ]
    return SideCoverage(
        understood=sum(count.understood for count in counts),
        total=sum(count.total for count in counts),
        not_understood=tuple(sorted(rows, key=lambda row: (-row.count, row.reason))),
    )
