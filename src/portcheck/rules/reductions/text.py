"""Words for reductions: what they combine, where, in how many roundings."""

from __future__ import annotations

from portcheck.ir import Operator
from portcheck.numerics import height
from portcheck.values import Fold

_NAMES = {
    Operator.ADD: "sum",
    Operator.MULTIPLY: "product",
    Operator.MAXIMUM: "maximum",
    Operator.MINIMUM: "minimum",
    Operator.LOGICAL_AND: "conjunction",
    Operator.LOGICAL_OR: "disjunction",
}


def name_of(operator: Operator) -> str:
    """What a reduction with `operator` is called."""
    return _NAMES.get(operator, f"{operator.value} reduction")


def stages_text(fold: Fold) -> str:
    """The stages of a reduction, in order, with their heights."""
    parts = [f"{stage.name} ({stage.terms} terms, {stage.order.value})" for stage in fold.stages]
    return " then ".join(parts)


def height_text(fold: Fold) -> str:
    """How many roundings a term passes at most."""
    return str(height(fold.stages))
