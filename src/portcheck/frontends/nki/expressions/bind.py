"""Calls of NKI with their arguments put to the parameters of the version, to be asked by role."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from portcheck.core.dtype import DType, dtype_named, dtype_of
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.state.sizes import shortened
from portcheck.frontends.nki.values.arithmetic import is_number, known, literal
from portcheck.frontends.nki.values.data import as_number, as_view, store
from portcheck.frontends.nki.values.flags import condition_of
from portcheck.frontends.nki.values.leaves import dtype_of_value
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.promotion import promoted
from portcheck.frontends.nki.values.tiles import Grid, Result, View
from portcheck.frontends.nki.values.values import NONE, External, Format, Items, Nothing, ShapeOf, Text, Unknown, Value
from portcheck.frontends.nki.values.values import Parameter as KernelParameter
from portcheck.frontends.nki.values.views import mask_by_position
from portcheck.ir import Expr, OpaqueKind, Operator, Space, Symbol
from portcheck.knowledge import VALUE_NEUTRAL, ApiVersion, Form, NkiSpace, OperatorObject, Parameter, Reception, Role

_QUALIFIED = 2
"""Names of operator objects have at least this many dots, unless they are defaults written as signatures write them."""
_SPACES = {NkiSpace.SBUF: Space.SHARED, NkiSpace.PSUM: Space.PSUM}
_OF_TILES = {space.value: space for space in Space}


@dataclass(slots=True, eq=False)
class Call:
    """One call: `values` by parameter name, `rest` what a starred parameter collects, `hint` the name it is bound to.

    `receiver` is the tensor whose method is called. `asked` are the roles that were asked for so far, `undecided`
    those asked for as a flag or number that is not known. The first `positions` values were given by position; what is
    `passed_over` the version ignores. `obstacle` is why it was not understood, if so.
    """

    context: Context
    api: ApiVersion
    via: str
    hint: str
    values: dict[str, Value] = field(default_factory=dict)
    rest: list[Value] = field(default_factory=list)
    misfits: list[str] = field(default_factory=list)
    receiver: Value | None = None
    asked: set[Role] = field(default_factory=set)
    undecided: set[Role] = field(default_factory=set)
    positions: int = 0
    passed_over: dict[str, Value] = field(default_factory=dict)
    obstacle: str = ""

    def given(self, role: Role) -> Value | None:
        """The argument that plays `role`, its default if left out; None when there is none or it is `None`."""
        return next(iter(self.all(role)), None)

    def all(self, role: Role) -> list[Value]:
        """The arguments that play `role`, in call order, without those that are `None`."""
        found: list[Value] = []
        self.asked.add(role)
        for parameter in self.api.with_role(role):
            value = self.values.get(parameter.name)
            if value is None and parameter.default is not None:
                value = _default(parameter.default)
            if value is not None and not isinstance(value, Nothing):
                found.append(value)
        return found

    def number(self, role: Role) -> Expr | None:
        """The argument that plays `role` as a number."""
        value = self.given(role)
        number = as_number(self.context, value)
        if number is None and isinstance(value, Unknown):
            self.undecided.add(role)
        return number

    def constant(self, role: Role) -> int | float | bool | None:
        """The argument that plays `role` if its value is known."""
        number = self.number(role)
        return known(number) if number is not None else None

    def documented(self, name: str) -> int:
        """A number in what the call does that no argument states."""
        if name not in self.api.numbers:
            raise MisunderstoodError(f"the number {name} is not documented", OpaqueKind.LIBRARY)
        return self.api.numbers[name]

    def flag(self, role: Role) -> bool:
        """Whether the argument that plays `role` is certainly true."""
        value = self.constant(role)
        if value is None and self.given(role) is not None:
            self.undecided.add(role)
        return bool(value)

    def unread(self) -> list[str]:
        """The arguments that say something about values and were not asked for, nor have their default value."""
        parameters = {item.name: item for item in self.api.parameters}
        found: list[str] = []
        for name, value in self.values.items():
            parameter = parameters.get(name)
            role = parameter.role if parameter is not None else _role_called(name)
            is_read = role in self.asked or role in VALUE_NEUTRAL or _is_default(value, parameter)
            if role in self.undecided or not is_read:
                found.append(name)
        return found

    def operator_object(self, role: Role) -> OperatorObject | None:
        """The operator object that plays `role`."""
        return operator_object(self.context, self.given(role))

    def destination(self, role: Role = Role.DESTINATION) -> View | None:
        """The elements that the call writes."""
        return as_view(self.context, self.given(role))

    def dtype(self) -> DType | None:
        """The dtype argument."""
        return as_dtype(self.context, self.given(Role.DTYPE))

    def space(self) -> Space:
        """The memory space argument; SBUF when it is left out. Raises MisunderstoodError where nothing says which."""
        if isinstance(self.given(Role.BUFFER), Unknown):
            raise MisunderstoodError("the memory is not understood", OpaqueKind.MEMORY)
        return as_space(self.context, self.given(Role.BUFFER)) or Space.SHARED

    @property
    def mask(self) -> Grid | Expr | None:
        """The mask argument; raises MisunderstoodError where it is not known what it is."""
        value = self.given(Role.MASK)
        if isinstance(value, Grid) or value is None:
            return value
        number = as_number(self.context, value)
        if number is None:
            raise MisunderstoodError("the mask is not understood")
        return condition_of(number)

    def mask_unread(self) -> Grid | Expr | None:
        """The mask argument, which still counts as not asked for."""
        asked = set(self.asked)
        try:
            return self.mask
        except MisunderstoodError:
            return None
        finally:
            self.asked = asked

    def mask_at(self, rank: int) -> Expr | None:
        """The mask over the positions of a tile of `rank` dimensions."""
        return mask_by_position(self.mask, rank)

    def result_dtype(self, *sources: Value | None) -> DType:
        """The dtype of what the call gives, by the rule of its version."""
        stated = self.dtype()
        if stated is not None:
            return stated
        destination = self.destination()
        if destination is not None:
            return destination.buffer.dtype
        dtypes = [dtype_of_value(self.context, source) for source in sources]
        present = [dtype for dtype in dtypes if dtype is not None]
        if self.api.result_dtype == "operand" and present:
            return present[0]
        if self.api.result_dtype in ("promote", "operand", "argument", "destination", ""):
            return promoted(present)
        return dtype_named(self.api.result_dtype)

    def finish(self, value: Operand, *sources: Value | None) -> Value:
        """Casts `value` to the result's dtype and stores it into the destination, or hands it back."""
        return self.finish_where(self.mask, value, *sources)

    def finish_where(self, mask: Grid | Expr | None, value: Operand, *sources: Value | None) -> Value:
        """As `finish`, for a result that is there where `mask` holds."""
        converted = cast(self.context, value, self.result_dtype(*sources), self.via)
        destination = self.destination()
        if destination is not None:
            store(self.context, destination, converted, mask=mask, via=self.via)
            return NONE
        return Result(converted.expression, converted.dtype, converted.shape, converted.shape, mask=mask)


def bind(
    context: Context,
    api: ApiVersion,
    via: str,
    hint: str,
    positional: Sequence[Value],
    keywords: dict[str, Value],
    *,
    is_method: bool = False,
) -> Call:
    """The call of `api` with these arguments; what does not fit its parameters is listed in `misfits`.

    A method takes by position what the function it stands for takes by keyword only.
    """
    call = Call(context, api, via, hint)
    names = [parameter.name for parameter in api.parameters]
    collects = any(name.startswith("*") and name.strip("*") and not name.startswith("**") for name in names)
    stars = [place for place, name in enumerate(names) if name.startswith("*")]
    taken = len(names) if not stars or (is_method and not collects) else stars[0]
    slots = [name for name in names[:taken] if not name.startswith("*")]
    takes_any = any(name.startswith("**") for name in names)
    for position, value in enumerate(positional):
        if position < len(slots):
            call.values[slots[position]] = value
            call.positions += 1
        elif collects:
            call.rest.append(value)
        else:
            call.misfits.append(f"argument {position + 1} of {len(slots)}")
            call.rest.append(value)
    for name, value in keywords.items():
        if name not in names and not takes_any:
            if _is_passed_over(context):
                call.passed_over[name] = value
                continue
            call.misfits.append(f"no parameter {name}")
        call.values[name] = value
    return call


def _is_passed_over(context: Context) -> bool:
    """Whether the version ignores keywords that a call does not have."""
    ruling = context.knowledge.forms.ruling(Form.UNKNOWN_KEYWORD, context.version)
    return ruling is not None and ruling.reception is Reception.IGNORED


def _role_called(name: str) -> Role:
    """The role of an argument that only `**kwargs` takes: that of its name."""
    return Role(name) if name in list(Role) else Role.OTHER


def operator_object(context: Context, value: Value | None) -> OperatorObject | None:
    """The operator object that `value` names."""
    if not isinstance(value, External):
        return None
    found = context.knowledge.operator_object(value.name)
    is_default = value.name.count(".") < _QUALIFIED
    return context.knowledge.operator_called(value.name.rpartition(".")[2]) if is_default and not found else found


def ir_operator(entry: OperatorObject | None) -> Operator | None:
    """The operator of the IR that an operator object stands for."""
    return entry.operator if entry is not None else None


def as_dtype(context: Context, value: Value | None) -> DType | None:
    """The dtype that `value` names: an object, a string, a name that the options or a parameter explain."""
    match value:
        case Format(dtype):
            return dtype
        case External(name):
            facts = context.knowledge.nki_dtype(name)
            return DType(facts.name, facts.kind) if facts is not None else None
        case Text(name):
            entry = context.knowledge.dtype(name)
            return DType(entry.name, entry.kind) if entry is not None else None
        case Nothing() | None:
            return None
        case Unknown():
            return dtype_of(context.number_of(value).name)
        case KernelParameter(name) if not context.facts[name].is_tensor:
            context.formats.add(name)
            return context.stated_dtype(name) or dtype_of(context.scalar(name).name)
        case _:
            number = as_number(context, value)
            return dtype_of(number.name) if isinstance(number, Symbol) else None


def as_space(context: Context, value: Value | None) -> Space | None:
    """The memory space that `value` names, or that it is as the `buffer` of a tile."""
    if not isinstance(value, External):
        return None
    space = context.knowledge.space(value.name)
    if space is None:
        return _OF_TILES.get(value.name)
    return _SPACES.get(space, Space.GLOBAL)


def same_space(context: Context, left: Value, right: Value) -> bool | None:
    """Whether two memory spaces are one; None for what is none, and for a tile in HBM, of which there are kinds."""
    first, second = as_space(context, left), as_space(context, right)
    if first is None or second is None:
        return None
    if first is not second or first is not Space.GLOBAL:
        return first is second
    kinds = [context.knowledge.space(item.name) for item in (left, right) if isinstance(item, External)]
    return None if None in kinds else kinds[0] is kinds[1]


def as_sizes(context: Context, value: Value | None) -> tuple[Expr, ...] | None:
    """A shape: a tuple or list of sizes, or a single size; None where one is not whole."""
    value = context.certain(value) if value is not None else None
    if isinstance(value, Items):
        sizes = [_as_size(context, item) for item in value.values]
        present = tuple(shortened(context, size) for size in sizes if size is not None)
        if len(present) != len(sizes):
            return None
        for item in value.values:
            if isinstance(item, KernelParameter):
                context.facts[item.name].is_count = True
        return present
    if isinstance(value, ShapeOf):
        return context.parameter_view(value.parameter).shape
    number = _as_size(context, value)
    return (number,) if number is not None else None


def _as_size(context: Context, value: Value | None) -> Expr | None:
    number = as_number(context, value)
    return None if number is None or number.dtype.is_float else number


def _is_default(value: Value, parameter: Parameter | None) -> bool:
    """Whether `value` is `None`, or what the parameter holds when it is left out."""
    if isinstance(value, Nothing):
        return True
    if parameter is None or parameter.default is None:
        return False
    default = _default(parameter.default)
    if isinstance(value, External) and isinstance(default, External):
        return value.name == default.name or value.name.endswith(f".{default.name}")
    if isinstance(value, Items):
        return not value.values and parameter.default in ("()", "[]")
    number, other = _as_constant(value), _as_constant(default)
    return value == default if number is None or other is None else number == other


def _as_constant(value: Value) -> int | float | bool | None:
    """`value` as a number, if it is one that is known."""
    return known(value) if is_number(value) else None


@lru_cache(maxsize=1024)
def _default(text: str) -> Value:
    if text == "None":
        return NONE
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return External(text.replace("np.", "numpy.", 1) if text.startswith("np.") else text)
    if isinstance(value, int | float):
        return literal(value)
    return Text(value) if isinstance(value, str) else NONE
