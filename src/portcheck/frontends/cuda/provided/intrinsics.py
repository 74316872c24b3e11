"""Calls of what CUDA provides: each class of meaning lowers to its operation."""

from __future__ import annotations

from collections.abc import Callable

from portcheck.core.dtype import FLOAT64, UINT8, UINT64, DType, dtype_named
from portcheck.frontends.cuda.cooperation.asynchronous import landed
from portcheck.frontends.cuda.cooperation.atomics import atomic, is_atomic
from portcheck.frontends.cuda.cooperation.exchanges import exchange, is_exchange, match_all
from portcheck.frontends.cuda.cooperation.facilities import make_pipeline
from portcheck.frontends.cuda.cooperation.groups import group_barrier, make_group, reduce_lanes, scan_lanes
from portcheck.frontends.cuda.cooperation.ordering import is_ordering, ordering
from portcheck.frontends.cuda.cooperation.transfers import copy_asynchronously, wait_for_copies
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator
from portcheck.frontends.cuda.expressions.choices import condition
from portcheck.frontends.cuda.expressions.numbers import joined, reinterpreted, split
from portcheck.frontends.cuda.memory.copies import copy_bytes, fill_bytes
from portcheck.frontends.cuda.memory.places import address_expression, pointer_of, read, scalar, target, write
from portcheck.frontends.cuda.memory.vectors import loaded
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import common, convert, default_rounding, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import vector_type
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    CType,
    Nothing,
    Place,
    PointerCell,
    Scalar,
    Slot,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.provided.checks import check, is_check
from portcheck.frontends.cuda.provided.complexes import complex_function, is_complex
from portcheck.frontends.cuda.provided.compositions import (
    composed,
    composed_of,
    is_composition,
    is_split,
    saturated,
    split_results,
)
from portcheck.frontends.cuda.provided.fragments import fragment_call, is_fragment_call
from portcheck.frontends.cuda.provided.random import is_random, random
from portcheck.frontends.cuda.provided.simd import is_simd, simd
from portcheck.frontends.cuda.provided.textures import is_sample, sample
from portcheck.frontends.cuda.provided.words import is_word_function, word_function
from portcheck.ir import Assume, Cast, Compute, Const, Load, Operator, Rounding, Select, arity
from portcheck.knowledge import Construct, Role, Semantics

_KEEPS_INTEGERS = frozenset(
    {
        Operator.MINIMUM, Operator.MAXIMUM, Operator.ABSOLUTE, Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY,
        Operator.MULTIPLY_HIGH, Operator.POPULATION_COUNT, Operator.COUNT_LEADING_ZEROS, Operator.FIND_FIRST_SET,
        Operator.BITWISE_AND, Operator.BITWISE_OR, Operator.BITWISE_XOR, Operator.BITWISE_NOT, Operator.EQUAL,
        Operator.NOT_EQUAL, Operator.LESS, Operator.LESS_EQUAL, Operator.GREATER, Operator.GREATER_EQUAL, Operator.FMA,
        Operator.BIT_REVERSE,
    }
)  # fmt: skip
"""What overloads for integers exist of; everything else computes integers in double."""
_COMPUTES = frozenset({Semantics.COMPUTE_UNARY, Semantics.COMPUTE_BINARY, Semantics.COMPUTE_TERNARY})


def known_call(state: State, call: CallSite, construct: Construct) -> Value | None:
    """The call of a known construct; None for one whose meaning is known but not lowered."""
    semantics = construct.semantics
    if semantics in _COMPUTES:
        return _compute(state, call, construct)
    if is_composition(construct):
        return composed(state, call, construct)
    if is_simd(construct):
        return simd(state, call, construct)
    if is_complex(construct):
        return complex_function(state, call, construct)
    if is_split(construct):
        return split_results(state, call, construct)
    if is_word_function(construct):
        return word_function(state, call, construct)
    if is_fragment_call(construct):
        return fragment_call(state, call, construct)
    if is_sample(construct):
        return sample(state, call, construct)
    if is_exchange(construct):
        return exchange(state, call, construct)
    if is_atomic(construct):
        return atomic(state, call, construct)
    if is_ordering(construct):
        return ordering(state, call, construct)
    if is_check(construct):
        return check(state, call, construct)
    if is_random(construct):
        return random(state, call, construct)
    handler = _HANDLERS.get(semantics)
    return handler(state, call, construct) if handler is not None else None


def _compute(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A function of numbers; packed values go member by member."""
    operator = construct.operator
    if operator is None or len(call.arguments) < arity(operator):
        return None
    nodes = call.arguments[: arity(operator)]
    values = [read(state, state.evaluate(node), node) for node in nodes]
    form = state.construct(construct.integer_form) if construct.integer_form else None
    integers = [value for value in values if isinstance(value, Scalar) and value.dtype.is_integer]
    if form is not None and len(integers) == len(values):
        return composed_of(state, call, form, tuple(integers))
    packed = [loaded(state, value) for value in values if isinstance(value, Aggregate)]
    if packed:
        names = [name for name, _ in packed[0].members]
        members: list[tuple[str, Value]] = []
        for name in names:
            parts = [loaded(state, value).member(name) if isinstance(value, Aggregate) else value for value in values]
            if not all(isinstance(part, Scalar) for part in parts):
                return None
            numbers = tuple(part for part in parts if isinstance(part, Scalar))
            members.append((name, _operate(state, call, construct, operator, numbers)))
        return Aggregate(packed[0].type, tuple(members))
    numbers = tuple(scalar(state, value, node) for value, node in zip(values, nodes, strict=True))
    return _operate(state, call, construct, operator, numbers)


def _operate(
    state: State, call: CallSite, construct: Construct, operator: Operator, operands: tuple[Scalar, ...]
) -> Scalar:
    dtype = operands[0].dtype
    for operand in operands[1:]:
        dtype = common(dtype, operand.dtype)
    is_fixed = construct.dtype not in ("", "operand", "bool")
    if is_fixed and operator not in _KEEPS_INTEGERS and dtype_named(construct.dtype).is_integer:
        dtype = dtype if dtype.is_float else FLOAT64
    elif is_fixed and (operator not in _KEEPS_INTEGERS or not construct.dtype.startswith(("int", "uint"))):
        dtype = dtype_named(construct.dtype)
    elif not dtype.is_float and operator not in _KEEPS_INTEGERS:
        dtype = FLOAT64
    elif is_fixed:
        dtype = dtype_named(construct.dtype) if _is_same_width_class(construct) else dtype
    operands = tuple(convert(state, operand, dtype) for operand in operands)
    approximate = construct.approximate or (state.options.fast_math and bool(construct.fast_math))
    result = apply_operator(state, operator, operands, dtype, call.via, approximate, construct.rounding)
    if construct.saturates and result.dtype.is_float:
        result = saturated(state, result, call.via)
    wanted = dtype_named(construct.dtype) if is_fixed else result.dtype
    return convert(state, result, wanted)


def _is_same_width_class(construct: Construct) -> bool:
    """Whether the result's type is also the operands': not so for counts of bits."""
    counts = (Operator.POPULATION_COUNT, Operator.COUNT_LEADING_ZEROS, Operator.FIND_FIRST_SET)
    return construct.operator not in counts


def _cast(state: State, call: CallSite, construct: Construct) -> Value | None:
    if not call.arguments or construct.dtype in ("", "operand"):
        return None
    node = call.arguments[0]
    value = read(state, state.evaluate(node), node)
    dtype = dtype_named(construct.dtype)
    if isinstance(value, Aggregate):
        members = tuple(
            (name, _cast_one(state, call, construct, member, dtype) if isinstance(member, Scalar) else member)
            for name, member in loaded(state, value).members
        )
        return Aggregate(_packed_type(state, dtype, value), members)
    result = _cast_one(state, call, construct, scalar(state, value, node), dtype)
    type_ = vector_type(state, dtype, construct.lanes) if construct.lanes > 1 else None
    if type_ is None:
        return result
    others = [scalar(state, state.evaluate(other), other) for other in call.arguments[1:]]
    results = [result, *(_cast_one(state, call, construct, other, dtype) for other in others)]
    lanes = results if len(results) == len(type_.fields) else [result] * len(type_.fields)
    return Aggregate(type_, tuple((name, member) for (name, _), member in zip(type_.fields, lanes, strict=True)))


def _packed_type(state: State, dtype: DType, value: Aggregate) -> CType:
    return vector_type(state, dtype, len(value.members)) or value.type


def _cast_one(state: State, call: CallSite, construct: Construct, value: Scalar, dtype: DType) -> Scalar:
    rounding = construct.rounding
    exact = default_rounding(state, value.dtype, dtype)
    chosen = exact if exact is Rounding.EXACT or rounding is None else rounding
    return convert(state, value, dtype, call.via, chosen, construct.saturates)


def _bits(state: State, call: CallSite, construct: Construct) -> Value | None:
    if not call.arguments or construct.dtype in ("", "operand"):
        return None
    value = scalar(state, state.evaluate(call.arguments[0]), call.arguments[0])
    dtype = dtype_named(construct.dtype)
    operand = materialised(state, value)
    return state.result(Cast, dtype, operand=operand, rounding=Rounding.EXACT, bitwise=True, via=call.via)


def _load(state: State, call: CallSite, construct: Construct) -> Value | None:
    node = call.at(construct, Role.ADDRESS_OF)
    pointer = pointer_of(state, state.evaluate(node)) if node is not None else None
    return None if pointer is None else read(state, target(pointer), call.node, call.via)


def _address(state: State, call: CallSite, construct: Construct) -> Value | None:
    """An address as a number: in another window it is the same one."""
    node = call.at(construct, Role.ADDRESS_OF)
    value = state.evaluate(node) if node is not None else Nothing()
    pointer = pointer_of(state, value)
    if pointer is not None:
        return Scalar(address_expression(state, pointer), UINT64)
    return value if isinstance(value, Scalar) else None


def _store(state: State, call: CallSite, construct: Construct) -> Value | None:
    node, value_node = call.at(construct, Role.ADDRESS_OF), call.at(construct, Role.VALUE)
    if node is None or value_node is None:
        return None
    value = read(state, state.evaluate(value_node), value_node)
    pointer = pointer_of(state, state.evaluate(node))
    if pointer is None:
        return None
    write(state, target(pointer), value, call.node, call.via)
    return Nothing()


def _pack(state: State, call: CallSite, construct: Construct) -> Value | None:
    """Numbers put side by side; one number fills all members."""
    if construct.dtype in ("", "operand") or construct.lanes < 2:
        return None
    numbers = [scalar(state, state.evaluate(node), node) for node in call.arguments]
    if len(numbers) == 1:
        numbers = numbers * construct.lanes
    if len(numbers) != construct.lanes:
        return None
    dtype = dtype_named(construct.dtype)
    type_ = vector_type(state, dtype, construct.lanes, construct.name)
    if type_ is None:
        return None
    values = [_cast_one(state, call, construct, number, dtype) for number in numbers]
    return Aggregate(type_, tuple((name, value) for (name, _), value in zip(type_.fields, values, strict=True)))


def _unpack(state: State, call: CallSite, construct: Construct) -> Value | None:
    """One number of those that lie side by side."""
    if not call.arguments:
        return None
    value = read(state, state.evaluate(call.arguments[0]), call.arguments[0])
    if not isinstance(value, Aggregate) or construct.value is None:
        return None
    part = loaded(state, value).members[int(construct.value)][1]
    return convert(state, part, dtype_named(construct.dtype), call.via) if isinstance(part, Scalar) else None


def _pack_lanes(state: State, call: CallSite, construct: Construct) -> Value | None:
    """One lane of each argument, that of a single one twice; where none is named, both lanes in turn."""
    values = [read(state, state.evaluate(node), node) for node in call.arguments]
    packed = [loaded(state, value) for value in values if isinstance(value, Aggregate)]
    if not packed or len(packed) != len(values):
        return None
    if construct.value is None:
        chosen = [member for _, member in reversed(packed[0].members)]
    else:
        chosen = [value.members[int(construct.value)][1] for value in packed] * (construct.lanes // len(packed))
    names = [name for name, _ in packed[0].members]
    return Aggregate(packed[0].type, tuple(zip(names, chosen, strict=False)))


def _group(state: State, call: CallSite, construct: Construct) -> Value | None:
    return make_group(state, call, construct)


def _group_barrier(state: State, call: CallSite, construct: Construct) -> Value | None:
    del construct
    return group_barrier(state, call)


def _hint(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A hint changes nothing; one that hands its argument on is that argument."""
    values = [state.evaluate(node) for node in call.arguments]
    return values[0] if values and (construct.dtype == "operand" or call.node.key != state.statement) else Nothing()


def _widen(state: State, call: CallSite, construct: Construct) -> Value | None:
    """Numbers of 8 bits, in the format that an argument names, from the bits of a word."""
    if len(call.arguments) < len(construct.parameters):
        return None
    named = state.construct(call.arguments[1].text)
    if named is None or not named.dtype:
        return None
    dtype, narrow = dtype_named(construct.dtype), dtype_named(named.dtype)
    word = scalar(state, state.evaluate(call.arguments[0]), call.arguments[0])
    numbers = [convert(state, part, dtype, call.via) for part in split(state, word, narrow, construct.lanes)]
    type_ = vector_type(state, dtype, construct.lanes) if construct.lanes > 1 else None
    if type_ is None:
        return numbers[0] if len(numbers) == 1 else None
    return Aggregate(type_, tuple((name, part) for (name, _), part in zip(type_.fields, numbers, strict=True)))


def _narrow(state: State, call: CallSite, construct: Construct) -> Value | None:
    """The bits of a number in a format of 8 bits, which the arguments name, and whether what is too large saturates."""
    if len(call.arguments) < len(construct.parameters):
        return None
    named = [state.construct(node.text) for node in call.arguments[1:]]
    formats = [found.dtype for found in named if found is not None and found.dtype]
    if None in named or len(formats) != 1:
        return None
    value = read(state, state.evaluate(call.arguments[0]), call.arguments[0])
    parts = [part for _, part in value.members] if isinstance(value, Aggregate) else [value]
    numbers = [part for part in parts if isinstance(part, Scalar) and part.dtype.is_float]
    if len(numbers) != construct.lanes or len(parts) != construct.lanes:
        return None
    saturates = any(found is not None and found.saturates for found in named)
    dtype = dtype_named(formats[0])
    narrow = [convert(state, part, dtype, call.via, Rounding.NEAREST_EVEN, saturates) for part in numbers]
    bits = [reinterpreted(state, part, UINT8, call.via) for part in narrow]
    return bits[0] if len(bits) == 1 else joined(state, bits)


def _assume(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A condition that the source promises; one that cannot be looked at without doing something is none."""
    del construct
    if len(call.arguments) != 1:
        return None
    with state.builder.region() as emitted:
        holds = condition(state, call.arguments[0])
    if all(isinstance(op, Load | Cast | Compute | Select) for op in emitted):
        state.builder.adopt(emitted)
        state.builder.emit(Assume, condition=holds.expr, via=call.via)
    return Nothing()


def _swap(state: State, call: CallSite, construct: Construct) -> Value | None:
    """Two variables exchange what they hold."""
    del construct
    if len(call.arguments) != 2:
        return None
    places = [state.evaluate(node) for node in call.arguments]
    values = [read(state, place, node) for place, node in zip(places, call.arguments, strict=True)]
    if not all(isinstance(place, Place | PointerCell | Slot) for place in places):
        return None
    for place, value in zip(places, reversed(values), strict=True):
        write(state, place, value, call.node, call.via)
    return Nothing()


def _not_a_number(state: State, call: CallSite, construct: Construct) -> Value | None:
    del state, call
    dtype = dtype_named(construct.dtype)
    return Scalar(Const(float("nan"), dtype), dtype)


def _order(state: State, call: CallSite, construct: Construct) -> Value | None:
    """What orders memory that is moved at once orders nothing more."""
    del construct
    landed(state, call.via)
    return Nothing()


_HANDLERS: dict[Semantics, Callable[[State, CallSite, Construct], Value | None]] = {
    Semantics.CAST: _cast,
    Semantics.CAST_BITS: _bits,
    Semantics.ADDRESS: _address,
    Semantics.LOAD: _load,
    Semantics.STORE: _store,
    Semantics.PACK: _pack,
    Semantics.PACK_LANES: _pack_lanes,
    Semantics.UNPACK: _unpack,
    Semantics.GROUP: _group,
    Semantics.BARRIER_GROUP: _group_barrier,
    Semantics.REDUCE_LANES: reduce_lanes,
    Semantics.HINT: _hint,
    Semantics.COPY: copy_bytes,
    Semantics.FILL: fill_bytes,
    Semantics.CAST_FP8: _narrow,
    Semantics.CAST_FROM_FP8: _widen,
    Semantics.ASSUME: _assume,
    Semantics.SWAP: _swap,
    Semantics.COMPUTE_NOT_A_NUMBER: _not_a_number,
    Semantics.ORDER: _order,
    Semantics.COPY_ASYNC: copy_asynchronously,
    Semantics.COPY_WAIT: wait_for_copies,
    Semantics.SCAN_LANES: scan_lanes,
    Semantics.VOTE_MATCH_ALL: match_all,
    Semantics.PIPELINE: make_pipeline,
}
