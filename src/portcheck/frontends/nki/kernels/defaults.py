"""What the parameters of a kernel are where their arguments are left out."""

from __future__ import annotations

import libcst as cst

from portcheck.core.dtype import CONCRETE
from portcheck.frontends.nki.expressions.bind import as_dtype
from portcheck.frontends.nki.objects.parameters import evaluated_aside
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.values.arithmetic import known
from portcheck.frontends.nki.values.callables import Function
from portcheck.frontends.nki.values.values import External, Format, Nothing, Text
from portcheck.ir import Apply, Const, Default


def default_of(context: Context, function: Function, parameter: cst.Param) -> Default | None:
    """The default of a parameter; None where it must be given, or its default is no number, text, dtype or `None`."""
    if parameter.default is None:
        return None
    value = evaluated_aside(context, Frame(function.segment, function.home), parameter.default)
    match value:
        case Nothing():
            return Default(None)
        case Text(text):
            return Default(text)
        case Const() | Apply():
            number = known(value)
            return Default(number) if number is not None else None
        case External() | Format():
            dtype = as_dtype(context, value)
            return Default(dtype.name) if dtype is not None and CONCRETE.get(dtype.name) == dtype else None
        case _:
            return None
