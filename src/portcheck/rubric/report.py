"""The report of a pair, from its facts and findings."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.core.finding import Finding
from portcheck.core.report import SCHEMA_VERSION, Inputs, Report, Tool
from portcheck.rubric.tables import (
    alignment_lines,
    coverage_table,
    mapping_rows,
    output_rows,
    precision_rows,
    reduction_rows,
)
from portcheck.rubric.verdict import summary, verdict
from portcheck.rules import Pair

_NOT_CHECKED = (
    "special values: NaN, infinities and denormals (the vendor does not document the engines' behaviour)",
    "overflow of index arithmetic, and data races in the original",
    "algebraic identities beyond one normal form, and refutation by evaluation",
    "tolerances of whole outputs",
    "fit to the hardware",
)


def report_of(
    pair: Pair,
    findings: Sequence[Finding],
    *,
    tool: Tool,
    inputs: Inputs,
    target: str,
    nki_version: str,
    not_checked: Sequence[str] = (),
) -> Report:
    """Everything that is said about `pair`. `not_checked` adds what this run could not look at."""
    outputs = output_rows(pair) if pair.has_port else ()
    outcome = verdict(findings, outputs)
    return Report(
        schema_version=SCHEMA_VERSION,
        tool=tool,
        inputs=inputs,
        target=target,
        nki_version=nki_version,
        verdict=outcome,
        summary=summary(outcome, findings, outputs),
        coverage=coverage_table(pair),
        alignment=alignment_lines(pair) if pair.has_port else (),
        mapping=mapping_rows(pair) if pair.has_port else (),
        outputs=outputs,
        reductions=reduction_rows(pair) if pair.has_port else (),
        precision=precision_rows(pair) if pair.has_port else (),
        findings=tuple(findings),
        suppressed=(),
        not_checked=(*not_checked, *_NOT_CHECKED),
    )
