"""Constants of the host: identity matrices, arrays that the port computes, and those that it is given."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, INT64, UINT8, DType
from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.objects.parameters import part
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.values.data import allocate, store
from portcheck.frontends.nki.values.operands import Operand, cast
from portcheck.frontends.nki.values.tiles import Grid
from portcheck.frontends.nki.values.values import Parameter, PiecedText, Text, Unknown, Value
from portcheck.frontends.nki.values.views import positions
from portcheck.ir import Operator, Space, Symbol, apply, integer
from portcheck.knowledge import Role


def constant(call: Call) -> Value:
    """An identity matrix on chip."""
    return _constant(call, Space.SHARED)


def device_constant(call: Call) -> Value:
    """An identity matrix or another array of the host, in device memory."""
    return _constant(call, Space.GLOBAL)


def _constant(call: Call, space: Space) -> Value:
    context = call.context
    given = _given(call) if space is Space.GLOBAL else None
    if given is not None:
        return given
    content, dtype = _content(call)
    view = call.destination() or allocate(context, call.hint, dtype, content.shape, space, call.via)
    store(context, view, cast(context, content, dtype, call.via), via=call.via)
    return view


def _content(call: Call) -> tuple[Operand, DType]:
    size, array = call.number(Role.SIZE), call.given(Role.VALUE)
    if size is not None:
        diagonal = apply(Operator.EQUAL, Symbol("dim0", INT64), Symbol("dim1", INT64))
        return Operand(diagonal, BOOL, (size, size)), call.dtype() or UINT8
    dtype = call.dtype() or (array.dtype if isinstance(array, Grid) else None)
    if not isinstance(array, Grid) or dtype is None:
        raise MisunderstoodError("the constant is not understood")
    shape = tuple(item.extent if item is not None else integer(1) for item in array.dimensions)
    return Operand(positions(array, len(shape)), array.expression.dtype, shape), dtype


def _given(call: Call) -> Parameter | None:
    """The tensor that stands for an array that the kernel is given, or for a file that it is given the name of."""
    context, value = call.context, call.given(Role.VALUE)
    if isinstance(value, Unknown):
        value = _entry(context, value)
    if not isinstance(value, Parameter):
        return None
    facts = context.facts[value.name]
    if not facts.is_tensor:
        context.assume(f"{value.name} is taken to be the array that {call.via} is given, or the name of its file")
    facts.is_tensor = True
    return value


def _entry(context: Context, value: Unknown) -> Value:
    """What a dictionary of the caller's holds by a key that is a text: the same for the same text."""
    match value.parts:
        case (Parameter(name), Text(key)):
            return part(context, f"{name}[{key!r}]")
        case (Parameter(name), PiecedText() as text):
            found = _key(context, text)
            return value if found is None else part(context, f"{name}[{found!r}]")
        case _:
            return value


def _key(context: Context, text: PiecedText) -> str | None:
    """What `text` consists of, with its numbers in braces, where these are the same wherever it stands."""
    written: list[str] = []
    for piece in text.parts:
        if isinstance(piece, Text):
            written.append(piece.value)
        elif isinstance(piece, Symbol) and not context.is_bound(piece.name):
            written.append(f"{{{piece.name}}}")
        else:
            return None
    return "".join(written) if written else None
