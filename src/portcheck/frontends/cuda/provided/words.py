"""Functions of the bits of whole words: permuted bytes, funnel shifts, packed products, halves of a double."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from portcheck.core.dtype import INT8, INT16, INT32, UINT8, UINT16, UINT32, UINT64, DType, DTypeKind, dtype_named
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator, select
from portcheck.frontends.cuda.expressions.numbers import calculate, reinterpreted
from portcheck.frontends.cuda.memory.places import read, scalar
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert, integer_bits
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Aggregate, Scalar, Value
from portcheck.ir import Const, Operator, Symbol
from portcheck.knowledge import Construct, Semantics

_BYTE = 8
_WORD = 32


def word_function(state: State, call: CallSite, construct: Construct) -> Value | None:
    """The function `construct` of the call's arguments; None where it has too few."""
    count = len(construct.parameters)
    if len(call.arguments) < count:
        return None
    values = [read(state, state.evaluate(node), node) for node in call.arguments[:count]]
    if construct.semantics is Semantics.DOT_PACKED:
        return _dot(state, call, construct, values)
    numbers = [scalar(state, value, node) for value, node in zip(values, call.arguments, strict=False)]
    return _FUNCTIONS[construct.semantics](state, construct, numbers)


def is_word_function(construct: Construct) -> bool:
    """Whether a construct works on the bits of words."""
    return construct.semantics in _FUNCTIONS or construct.semantics is Semantics.DOT_PACKED


def permuted_bytes(state: State, first: Scalar, second: Scalar, selector: Scalar, replicates: bool = False) -> Scalar:
    """Four bytes of the eight in `second` and `first`, chosen by the selector's nibbles.

    A nibble has the number of the byte in its low three bits; its highest, where it counts (`replicates`), asks for
    the sign of that byte instead.
    """
    low = convert(state, convert(state, first, UINT32), UINT64)
    high = convert(state, convert(state, second, UINT32), UINT64)
    both = calculate(state, "|", calculate(state, "<<", high, _WORD), low)
    selector = convert(state, selector, UINT32)
    parts = [_chosen_byte(state, both, selector, place, replicates) for place in range(_WORD // _BYTE)]
    return convert(state, reduce(lambda one, other: calculate(state, "|", one, other), parts), UINT32)


def _chosen_byte(state: State, both: Scalar, selector: Scalar, place: int, replicates: bool) -> Scalar:
    """The byte for `place`, at that place of a word."""
    nibble = _nibble(state, selector, place)
    byte = convert(state, calculate(state, "&", calculate(state, ">>", both, _start(state, nibble)), 0xFF), UINT32)
    if replicates and not (isinstance(nibble.expr, Const) and nibble.expr.value < _BYTE):
        sign = calculate(state, "*", calculate(state, ">>", byte, _BYTE - 1), 0xFF)
        wanted = calculate(state, "!=", calculate(state, "&", nibble, _BYTE), 0)
        byte = select(state, wanted, sign, byte)
    return calculate(state, "<<", byte, _BYTE * place) if place else byte


def _nibble(state: State, selector: Scalar, place: int) -> Scalar:
    if isinstance(selector.expr, Const):
        return Scalar(Const(int(selector.expr.value) >> (4 * place) & 0xF, UINT32), UINT32)
    return calculate(state, "&", calculate(state, ">>", selector, 4 * place), 0xF)


def _start(state: State, nibble: Scalar) -> Scalar:
    """The first bit of the byte a nibble names."""
    if isinstance(nibble.expr, Const):
        return Scalar(Const(int(nibble.expr.value) % _BYTE * _BYTE, UINT64), UINT64)
    return convert(state, calculate(state, "*", calculate(state, "&", nibble, _BYTE - 1), _BYTE), UINT64)


def funnel_shifted(state: State, low: Scalar, high: Scalar, shift: Scalar, is_left: bool, clamps: bool) -> Scalar:
    """The upper word of high:low shifted left, or the lower word of it shifted right.

    The distance counts modulo 32, or (`clamps`) is 32 at most.
    """
    joined = calculate(
        state, "|", calculate(state, "<<", convert(state, convert(state, high, UINT32), UINT64), _WORD),
        convert(state, convert(state, low, UINT32), UINT64),
    )  # fmt: skip
    shift = convert(state, shift, UINT32)
    most = Scalar(Const(_WORD, UINT32), UINT32)
    if clamps:
        distance = apply_operator(state, Operator.MINIMUM, (shift, most), UINT32, "")
    else:
        distance = calculate(state, "&", shift, _WORD - 1)
    shifted = calculate(state, "<<" if is_left else ">>", joined, convert(state, distance, UINT64))
    return convert(state, calculate(state, ">>", shifted, _WORD) if is_left else shifted, UINT32)


def _byte_permute(state: State, construct: Construct, numbers: list[Scalar]) -> Scalar:
    del construct
    return permuted_bytes(state, numbers[0], numbers[1], numbers[2])


def _funnel_left(state: State, construct: Construct, numbers: list[Scalar]) -> Scalar:
    return funnel_shifted(state, numbers[0], numbers[1], numbers[2], True, construct.saturates)


def _funnel_right(state: State, construct: Construct, numbers: list[Scalar]) -> Scalar:
    return funnel_shifted(state, numbers[0], numbers[1], numbers[2], False, construct.saturates)


def _difference_sum(state: State, construct: Construct, numbers: list[Scalar]) -> Scalar:
    """|x - y| + z: the distance of signed numbers is unsigned, and so is the sum."""
    dtype = INT32 if construct.value else UINT32
    left, right = (convert(state, number, dtype) for number in numbers[:2])
    larger = apply_operator(state, Operator.MAXIMUM, (left, right), dtype, "")
    smaller = apply_operator(state, Operator.MINIMUM, (left, right), dtype, "")
    distance = calculate(state, "-", convert(state, larger, UINT32), convert(state, smaller, UINT32))
    return calculate(state, "+", distance, convert(state, numbers[2], UINT32))


def _product_of_parts(state: State, construct: Construct, numbers: list[Scalar]) -> Scalar:
    """The low bits of the product of the low bits of two numbers, which carry a sign where the result does."""
    dtype, dropped = dtype_named(construct.dtype), _WORD - int(construct.value or 0)
    left, right = (_low_bits(state, convert(state, number, dtype), dropped) for number in numbers[:2])
    return calculate(state, "*", left, right)


def _low_bits(state: State, number: Scalar, dropped: int) -> Scalar:
    """`number` without its upper bits; an index of the launch is taken to be as small as the source takes it to be."""
    if isinstance(number.expr, Symbol) and number.expr.name in state.small_symbols:
        state.note(
            f"{number.expr.name} is taken to be below 2^{_WORD - dropped - 1}, as its product with fewer bits asks"
        )
        return number
    return calculate(state, ">>", calculate(state, "<<", number, dropped), dropped)


def _high(state: State, construct: Construct, numbers: list[Scalar]) -> Scalar:
    word = reinterpreted(state, convert(state, numbers[0], dtype_named("float64")), UINT64)
    return convert(state, calculate(state, ">>", word, _WORD), dtype_named(construct.dtype))


def _low(state: State, construct: Construct, numbers: list[Scalar]) -> Scalar:
    word = reinterpreted(state, convert(state, numbers[0], dtype_named("float64")), UINT64)
    return convert(state, word, dtype_named(construct.dtype))


def _join(state: State, construct: Construct, numbers: list[Scalar]) -> Scalar:
    """High and low half of a double."""
    high, low = (convert(state, convert(state, number, UINT32), UINT64) for number in numbers[:2])
    word = calculate(state, "|", calculate(state, "<<", high, _WORD), low)
    return reinterpreted(state, word, dtype_named(construct.dtype))


def _dot(state: State, call: CallSite, construct: Construct, values: list[Value]) -> Value | None:
    """The sum of products of what lies packed in two words, added to the third."""
    del call
    accumulator = values[2]
    if not isinstance(accumulator, Scalar):
        return None
    dtype = UINT32 if accumulator.dtype.kind is DTypeKind.UNSIGNED else INT32
    is_signed = dtype == INT32
    element = (INT8, UINT8)[not is_signed]
    first_type = element if construct.lanes == 4 else (INT16, UINT16)[not is_signed]
    first = _parts(state, values[0], first_type, 0)
    second = _parts(state, values[1], element, int(construct.value or 0))
    if first is None or second is None:
        return None
    total = convert(state, accumulator, dtype)
    for one, other in zip(first, second, strict=False):
        product = calculate(state, "*", convert(state, one, dtype), convert(state, other, dtype))
        total = calculate(state, "+", total, product)
    return total


def _parts(state: State, value: Value, element: DType, start: int) -> list[Scalar] | None:
    """What is packed in a word or vector, from the part `start` on."""
    if isinstance(value, Aggregate):
        members = [member for _, member in value.members if isinstance(member, Scalar)]
        return [convert(state, member, element) for member in members][start:]
    if not isinstance(value, Scalar):
        return None
    bits = integer_bits(element)
    word = convert(state, value, UINT32)
    shifted = [calculate(state, ">>", word, bits * place) if place else word for place in range(start, _WORD // bits)]
    return [convert(state, part, element) for part in shifted]


_FUNCTIONS: dict[Semantics, Callable[[State, Construct, list[Scalar]], Scalar]] = {
    Semantics.COMPUTE_BYTE_PERMUTE: _byte_permute, Semantics.SHIFT_FUNNEL_LEFT: _funnel_left,
    Semantics.SHIFT_FUNNEL_RIGHT: _funnel_right, Semantics.COMPUTE_DIFFERENCE_SUM: _difference_sum,
    Semantics.COMPUTE_PRODUCT_OF_PARTS: _product_of_parts,
    Semantics.BITS_HIGH: _high, Semantics.BITS_LOW: _low, Semantics.BITS_JOIN: _join,
}  # fmt: skip
