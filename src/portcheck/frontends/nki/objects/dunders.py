"""Operators on objects of classes of the port: the methods that Python calls for them."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from portcheck.frontends.nki.objects.classes import found_in
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.values.callables import ClassKind, Function
from portcheck.frontends.nki.values.values import Instance, Value

_BINARY: Mapping[type[cst.CSTNode], str] = {
    cst.Add: "add", cst.Subtract: "sub", cst.Multiply: "mul", cst.Divide: "truediv", cst.FloorDivide: "floordiv",
    cst.Modulo: "mod", cst.Power: "pow", cst.MatrixMultiply: "matmul", cst.BitAnd: "and", cst.BitOr: "or",
    cst.BitXor: "xor", cst.LeftShift: "lshift", cst.RightShift: "rshift",
}  # fmt: skip
_UNARY: Mapping[type[cst.CSTNode], str] = {cst.Minus: "neg", cst.Plus: "pos", cst.BitInvert: "invert"}
_COMPARED: Mapping[type[cst.CSTNode], tuple[str, str]] = {
    cst.Equal: ("eq", "eq"), cst.NotEqual: ("ne", "ne"), cst.LessThan: ("lt", "gt"), cst.GreaterThan: ("gt", "lt"),
    cst.LessThanEqual: ("le", "ge"), cst.GreaterThanEqual: ("ge", "le"),
}  # fmt: skip


def special(context: Context, target: Value, word: str, *arguments: Value) -> Value | None:
    """What the method `__word__` of an object gives; None where its class has none."""
    function = found_in(target.owner, f"__{word}__") if isinstance(target, Instance) else None
    return context.call(context, function, [target, *arguments], {}) if isinstance(function, Function) else None


def binary(context: Context, kind: type[cst.CSTNode], left: Value, right: Value) -> Value | None:
    """`left + right` and the like, where one of them is an object whose class says what that is."""
    word = _BINARY.get(kind)
    if word is None or not isinstance(left, Instance) and not isinstance(right, Instance):
        return None
    found = special(context, left, word, right)
    return found if found is not None else special(context, right, "r" + word, left)


def unary(context: Context, kind: type[cst.CSTNode], operand: Value) -> Value | None:
    """`-operand` and the like of an object."""
    word = _UNARY.get(kind)
    return special(context, operand, word) if word is not None else None


def compared(context: Context, kind: type[cst.CSTNode], left: Value, right: Value) -> Value | None:
    """`left == right` and the like, where the class of one of them says what that is."""
    words = _COMPARED.get(kind)
    if kind in (cst.In, cst.NotIn) and isinstance(right, Instance):
        found = special(context, right, "contains", left)
        return found if kind is cst.In else None
    if words is None:
        return None
    found = special(context, left, words[0], right)
    return found if found is not None else special(context, right, words[1], left)


def has_own_equality(target: Instance) -> bool:
    """Whether objects of the class are equal when their fields are."""
    return target.owner.kind in (ClassKind.DATA, ClassKind.TUPLE)
