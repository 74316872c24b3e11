"""Inputs that a function of the scalar engine is not documented for."""

from __future__ import annotations

from typing import cast

import numpy as np

from portcheck.core.source import Span
from portcheck.execution.arithmetic.formats import Value
from portcheck.execution.tiles.events import EventKind
from portcheck.execution.tiles.machine import Instance
from portcheck.execution.tiles.options import Outlier
from portcheck.ir import Compute, Program
from portcheck.ir.uses import UseKind
from portcheck.knowledge import Activation, Knowledge, NkiVersion

_SCALAR = "scalar"


def scalar_calls(program: Program, kernel: str, knowledge: Knowledge) -> frozenset[Span]:
    """Where the text of `kernel` calls what only the scalar engine executes."""
    if not program.version:
        return frozenset()
    version = NkiVersion.parse(program.version)
    found = set()
    for use in program.uses:
        api = knowledge.api(use.name, version) if use.kind is UseKind.CALL and use.kernel == kernel else None
        if api is not None and api.engine == _SCALAR:
            found.add(use.span)
    return frozenset(found)


def outliers(instance: Instance, op: Compute, operand: Value, undefined: Value | None) -> Value | None:
    """Which elements are undefined after `op`: also those of inputs outside the range, where that is chosen."""
    machine = instance.machine
    known = machine.run.knowledge.activation(op.operator) if op.span in machine.scalar_calls else None
    is_outside = None if known is None else _outside(known, operand)
    if is_outside is None:
        return undefined
    if undefined is not None:
        is_outside = is_outside & ~np.broadcast_to(undefined, is_outside.shape)
    if not is_outside.any():
        return undefined
    assert known is not None
    place = tuple(int(part) for part in np.argwhere(is_outside)[0])
    text = f"{op.operator} of {float(operand[place]):.9g}, which is documented from {_range(known)}"
    instance.report(EventKind.OUTSIDE_RANGE, op, text, place, int(is_outside.sum()))
    instance.choose("outlier", op, "an activation outside its documented range")
    if instance.options.outlier is Outlier.FUNCTION:
        return undefined
    return is_outside if undefined is None else undefined | is_outside


def _outside(known: Activation, operand: Value) -> Value | None:
    """The elements outside the range; NaN is in none. None where every number is inside."""
    if known.low is None or known.high is None:
        return None
    size = np.abs(operand) if known.on_magnitude else operand
    return cast(Value, (size < known.low) | (size > known.high))


def _range(known: Activation) -> str:
    what = " in magnitude" if known.on_magnitude else ""
    return f"{known.low:.9g} to {known.high:.9g}{what}"
