"""Python's operators on numbers, index variables and tiles."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from portcheck.core.dtype import BOOL, FLOAT32, dtype_of
from portcheck.frontends.nki.expressions.bind import Call, as_dtype
from portcheck.frontends.nki.lowering.compute import combine
from portcheck.frontends.nki.lowering.functions import single
from portcheck.frontends.nki.lowering.products import matmul
from portcheck.frontends.nki.objects.attributes import items_of
from portcheck.frontends.nki.python.texts import combined_texts
from portcheck.frontends.nki.state.abbreviating import fitted
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError, RaisedError
from portcheck.frontends.nki.state.mutation import alike
from portcheck.frontends.nki.state.uses import note_form
from portcheck.frontends.nki.values.arithmetic import is_number, known, literal, unary
from portcheck.frontends.nki.values.callables import BoundMethod, Class, Function
from portcheck.frontends.nki.values.data import as_number, operand
from portcheck.frontends.nki.values.flags import some_flag
from portcheck.frontends.nki.values.leaves import buffers_of, expressions_of
from portcheck.frontends.nki.values.tiles import Grid, Result, View
from portcheck.frontends.nki.values.values import (
    Either,
    External,
    Format,
    Items,
    Nothing,
    Table,
    Text,
    Unknown,
    Value,
)  # fmt: skip
from portcheck.frontends.nki.values.values import Parameter as KernelParameter
from portcheck.frontends.nki.values.views import combined
from portcheck.ir import PREDICATES, Apply, Expr, OpaqueKind, Operator, Space, ValueType
from portcheck.knowledge import ApiStatus, ApiVersion, Form, Parameter, Role, Semantics

BINARY: Mapping[type[cst.CSTNode], tuple[str, Operator]] = {
    cst.Add: ("+", Operator.ADD),
    cst.Subtract: ("-", Operator.SUBTRACT),
    cst.Multiply: ("*", Operator.MULTIPLY),
    cst.Divide: ("/", Operator.DIVIDE),
    cst.FloorDivide: ("//", Operator.FLOOR_DIVIDE),
    cst.Modulo: ("%", Operator.FLOOR_MODULO),
    cst.Power: ("**", Operator.POWER),
    cst.LeftShift: ("<<", Operator.SHIFT_LEFT),
    cst.RightShift: (">>", Operator.SHIFT_RIGHT_ARITHMETIC),
    cst.BitAnd: ("&", Operator.BITWISE_AND),
    cst.BitOr: ("|", Operator.BITWISE_OR),
    cst.BitXor: ("^", Operator.BITWISE_XOR),
}
UPDATES: Mapping[type[cst.CSTNode], type[cst.CSTNode]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
    cst.FloorDivideAssign: cst.FloorDivide,
    cst.ModuloAssign: cst.Modulo,
    cst.PowerAssign: cst.Power,
    cst.LeftShiftAssign: cst.LeftShift,
    cst.RightShiftAssign: cst.RightShift,
    cst.BitAndAssign: cst.BitAnd,
    cst.BitOrAssign: cst.BitOr,
    cst.BitXorAssign: cst.BitXor,
}
_LOGICAL = {Operator.BITWISE_AND: Operator.LOGICAL_AND, Operator.BITWISE_OR: Operator.LOGICAL_OR}


def binary_operation(context: Context, kind: type[cst.CSTNode], left: Value, right: Value, text: str) -> Value:
    """`left operator right`."""
    left, right = context.certain(left), context.certain(right)
    if _refuses(context, left, right) or _refuses(context, right, left):
        raise RaisedError  # in this arm of a branch, which nothing takes then
    if kind is cst.MatrixMultiply and is_tile(context, left) and is_tile(context, right):
        return product_of_tiles(context, left, right)
    if kind not in BINARY:
        return context.unknown(text, "this operator is not read", left, right)
    sign, operator = BINARY[kind]
    if isinstance(left, Items) or isinstance(right, Items):
        return _joined(context, operator, left, right, text)
    if isinstance(left, Text) or isinstance(right, Text):
        return combined_texts(context, sign, left, right, text)
    if is_tile(context, left) or is_tile(context, right):
        return on_tiles(context, sign, operator, left, right, text)
    return numbers(context, operator, left, right, text)


def _refuses(context: Context, one: Value, other: Value) -> bool:
    """Whether one operand is `None` in this arm, with which Python computes nothing, and the other is plain."""
    return context.is_chosen(one) and (isinstance(other, Nothing | View | Result) or is_number(other))


def numbers(context: Context, operator: Operator, left: Value, right: Value, text: str) -> Value:
    """`left operator right` on numbers and index variables."""
    first = left if isinstance(left, Grid) else as_number(context, left)
    second = right if isinstance(right, Grid) else as_number(context, right)
    if first is None or second is None:
        return context.unknown(text, "an operand is not understood", left, right)
    if isinstance(first, Grid) or isinstance(second, Grid):
        logical = _LOGICAL.get(operator, operator) if _is_predicate(first) or _is_predicate(second) else operator
        grid = combined(logical, first, second)
        return grid if grid is not None else context.unknown(text, "an index too large to keep", kind=OpaqueKind.LIMIT)
    if first.dtype == BOOL and second.dtype == BOOL:
        operator = _LOGICAL.get(operator, operator)
    made = fitted(context, operator, first, second, text)
    if made is not None:
        return made
    return some_flag(context, text) if operator in PREDICATES else context.some_number(text)


def _is_predicate(value: Grid | Expr) -> bool:
    return (value.expression if isinstance(value, Grid) else value).dtype == BOOL


def unary_operation(context: Context, kind: type[cst.CSTNode], value: Value, text: str) -> Value:
    """`operator value`."""
    value = context.certain(value)
    if context.is_chosen(value) and kind is not cst.Not:
        raise RaisedError
    operator = _UNARY.get(kind)
    if kind is cst.Plus:
        return value
    if operator is None:
        return context.unknown(text, "this operator is not read", value)
    if is_tile(context, value) and operator is not Operator.LOGICAL_NOT:
        return _single_on_tile(context, operator, value, text)
    if isinstance(value, Grid):
        if operator is Operator.BITWISE_NOT and _is_predicate(value):
            operator = Operator.LOGICAL_NOT
        return Grid(unary(operator, value.expression), value.dimensions)
    if operator is Operator.LOGICAL_NOT and isinstance(value, _WITH_TRUTH):
        is_true = context.truth(context, value)
        return (
            literal(not is_true) if is_true is not None else context.unknown(text, "what is true is not known", value)
        )
    number = as_number(context, value)
    return (
        unary(operator, number) if number is not None else context.unknown(text, "the operand is not understood", value)
    )


_WITH_TRUTH = (Nothing, Text, External, Items, Table, Class, Function, BoundMethod)
"""Values that are no numbers and of which it is known whether Python takes them as true."""
_UNARY: Mapping[type[cst.CSTNode], Operator] = {
    cst.Minus: Operator.NEGATE,
    cst.Not: Operator.LOGICAL_NOT,
    cst.BitInvert: Operator.BITWISE_NOT,
}


def _are_tuples(one: Value, other: Value) -> bool:
    """Whether both are tuples of one length."""
    if not isinstance(one, Items) or not isinstance(other, Items):
        return False
    if any(item.is_list or item.lost or item.series is not None for item in (one, other)):
        return False
    return len(one.values) == len(other.values)


_ORDERED = frozenset({Semantics.LOOP_SEQUENTIAL, Semantics.LOOP_STATIC, Semantics.LOOP_RANGE})


def _loop_of(context: Context, value: Value) -> Semantics | None:
    """Which kind of loop the range function `value` makes."""
    entry = context.knowledge.api_in_any_version(value.name) if isinstance(value, External) else None
    semantics = entry.latest.semantics if entry is not None else None
    return semantics if semantics in _ORDERED or semantics is Semantics.LOOP_PARALLEL else None


def choice(context: Context, condition: Expr, chosen: Value, other: Value, text: str, hint: str = "") -> Value:
    """One of two values by a condition that is not known; `hint` is the name it will be bound to."""
    if alike(chosen, other):
        return chosen
    if isinstance(chosen, Format | External) and isinstance(other, Format | External):
        dtypes = as_dtype(context, chosen), as_dtype(context, other)
        if None not in dtypes:
            return Format(context.stated_dtype(hint) or dtype_of(context.fresh_symbol(hint or text)))
        loops = {_loop_of(context, value): value for value in (chosen, other)}
        if None not in loops:  # what runs in order may stand for what need not
            return next((value for kind, value in loops.items() if kind in _ORDERED), chosen)
    if _are_tuples(chosen, other):
        pairs = zip(items_of(context, chosen) or (), items_of(context, other) or (), strict=True)
        return Items([choice(context, condition, one, another, text) for one, another in pairs])
    if isinstance(chosen, Either) or isinstance(other, Either):
        return Either(condition, chosen, other)
    first, second = as_number(context, chosen), as_number(context, other)
    if first is None or second is None:
        return Either(condition, chosen, other)
    return Apply(Operator.SELECT, (condition, first, second), first.dtype)


def one_of(context: Context, test: Expr, left: Value, right: Value, text: str, *, is_and: bool) -> Value:
    """`left and right`, or `left or right`: one of the two, by `test`, which says whether `left` is true."""
    if any(isinstance(item, Unknown) and item.parts for item in (left, right)):
        return context.unknown(text, "an operand is not understood", left, right)
    logical = Operator.LOGICAL_AND if is_and else Operator.LOGICAL_OR
    first = test if isinstance(left, Either) else left
    if isinstance(right, Grid) or all(is_number(item) and item.dtype == BOOL for item in (first, right)):
        return numbers(context, logical, first, right, text)
    return choice(context, test, right, left, text) if is_and else choice(context, test, left, right, text)


def product_of_tiles(context: Context, left: Value, right: Value) -> Value:
    """`left @ right`: the matrix product of two tiles."""
    note_form(context, Form.TILE_ARITHMETIC)
    call = Call(context, _PRODUCT, "@", "", {"x": left, "y": right})
    before, context.via = context.via, call.via
    try:
        return matmul(call)
    except MisunderstoodError as error:
        return _opaque_tile(context, call.via, error, left, right)
    finally:
        context.via = before


def on_tiles(context: Context, sign: str, operator: Operator, left: Value, right: Value, text: str) -> Value:
    """A Python operator between tiles, or a tile and a scalar: one instruction."""
    sides = (left, right)
    if any(_is_own_tile(context, side) for side in sides) or all(
        isinstance(side, View) and side.shape for side in sides
    ):
        note_form(context, Form.TILE_ARITHMETIC)
    call = Call(context, _described(operator, len((left, right))), sign, "")
    before, context.via = context.via, sign
    try:
        return combine(call, operator, left, right)
    except MisunderstoodError as error:
        return _opaque_tile(context, sign, error, left, right)
    finally:
        context.via = before


def _single_on_tile(context: Context, operator: Operator, value: Value, text: str) -> Value:
    note_form(context, Form.TILE_ARITHMETIC)
    call = Call(context, _described(operator, 1), "-" if operator is Operator.NEGATE else "~", "")
    found = operand(context, value)
    if found is None:
        return context.unknown(text, "the operand is not understood", value)
    return call.finish(single(call, operator, found), value)


def _opaque_tile(context: Context, sign: str, error: MisunderstoodError, left: Value, right: Value) -> Value:
    source = left if isinstance(left, View | Result) else right
    shape = source.shape if isinstance(source, View | Result) else ()
    dtype = source.buffer.dtype if isinstance(source, View) else FLOAT32
    made = context.opaque(
        f"{sign}: {error}", sign, reads=buffers_of(context, left, right),
        operands=expressions_of(context, left, right), value=ValueType(dtype, shape), kind=error.kind,
    )  # fmt: skip
    return Result(made, dtype, shape, shape) if made is not None else context.unknown(sign, str(error), left, right)


def _described(operator: Operator, count: int) -> ApiVersion:
    """An operator of Python on tiles, described as the calls of the knowledge base are."""
    return ApiVersion(
        name=operator.value, semantics=Semantics.COMPUTE_BINARY if count == 2 else Semantics.COMPUTE_UNARY,
        operator=operator, since="0.1", until="", parameters=(), engine="unknown", accumulate_dtype="",
        result_dtype="promote", order=None, targets=(), status=ApiStatus.OK, replacement="", note="", source="",
    )  # fmt: skip


_PRODUCT = ApiVersion(
    name=Operator.MULTIPLY.value, semantics=Semantics.MATMUL, operator=None, since="0.1", until="",
    parameters=(Parameter("x", Role.SOURCE), Parameter("y", Role.SOURCE)), engine="unknown", accumulate_dtype="float32",
    result_dtype="float32", order=None, targets=(), status=ApiStatus.OK, replacement="", note="", source="",
)  # fmt: skip


def is_tile(context: Context, value: Value) -> bool:
    """Whether `value` is a tile or a tensor, and not a number that stands in a register."""
    if isinstance(value, KernelParameter):
        return context.facts[value.name].is_tensor
    if isinstance(value, View) and value.buffer.space is Space.REGISTER and not value.dimensions:
        return False
    return isinstance(value, View | Result)


def _is_own_tile(context: Context, value: Value) -> bool:
    """Whether `value` is a tile that the kernel made: what it is given, or has no dimensions, may be a number."""
    if not isinstance(value, View | Result) or not value.shape:
        return False
    return isinstance(value, Result) or value.buffer.name not in context.facts


def _joined(context: Context, operator: Operator, left: Value, right: Value, text: str) -> Value:
    if operator is Operator.ADD and isinstance(left, Items) and isinstance(right, Items):
        context.burn(len(left.values) + len(right.values))
        return Items([*left.values, *right.values], left.is_list)
    for items, factor in ((left, right), (right, left)):
        number = as_number(context, factor)
        count = known(number) if number is not None else None
        if operator is Operator.MULTIPLY and isinstance(items, Items) and isinstance(count, int) and 0 <= count <= 4096:
            context.burn(len(items.values) * count)
            return Items(items.values * count, items.is_list)
    return context.unknown(text, "an operation on lists that is not understood", left, right)
