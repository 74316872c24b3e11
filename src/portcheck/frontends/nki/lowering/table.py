"""Which function lowers which class of meaning, and what happens to calls that none understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from portcheck.frontends.nki.expressions.bind import Call
from portcheck.frontends.nki.lowering import (
    compute,
    constants,
    exchanging,
    gathering,
    indices,
    looping,
    memory,
    moments,
    products,
    reducing,
    registers,
    scaled,
    scans,
    searching,
    selection,
    shuffling,
    spaces,
    sums,
    viewing,
)  # fmt: skip
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError, RaisedError
from portcheck.frontends.nki.values.data import as_view
from portcheck.frontends.nki.values.leaves import buffers_of, expressions_of, leaves_of
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import NONE, Items, Parameter, Value
from portcheck.ir import Opaque, OpaqueKind, ValueType, operations
from portcheck.knowledge import Role, Semantics

_WRITES = (Role.DESTINATION, Role.REDUCE_DESTINATION)

_NO_NUMBERS = frozenset({Semantics.INDEX_RANGE, Semantics.INDEX_GRID, Semantics.INDEX_SLICE})
"""Calls that give several positions: no number stands for one that was not understood."""
_WITHOUT_VALUES = frozenset(
    {
        Semantics.ORDER, Semantics.HINT, Semantics.RANDOM_SEED, Semantics.BARRIER_CORE, Semantics.CHECK_PRINT,
        Semantics.QUERY,
        Semantics.QUERY_PROGRAM_RANK,
        Semantics.QUERY_RANK,
        Semantics.QUERY_GENERATION,
    }
)  # fmt: skip
"""Calls whose arguments say nothing about the elements of a tile."""

HANDLERS: Mapping[Semantics, Callable[[Call], Value]] = {
    Semantics.ALLOC: memory.alloc,
    Semantics.FILL: memory.fill,
    Semantics.LOAD: memory.load_tile,
    Semantics.STORE: memory.store_tile,
    Semantics.COPY: memory.copy,
    Semantics.ATOMIC_ADD: memory.add_atomically,
    Semantics.COPY_PREDICATED: memory.copy_predicated,
    Semantics.TRANSPOSE: memory.transpose,
    Semantics.LOAD_TRANSPOSE: memory.transpose,
    Semantics.CONSTANT: constants.constant,
    Semantics.CONSTANT_DEVICE: constants.device_constant,
    Semantics.CAST: memory.cast_tile,
    Semantics.CAST_BITS: memory.cast_bits,
    Semantics.ASSUME: memory.assume,
    Semantics.VIEW: viewing.view,
    Semantics.COMPUTE_UNARY: compute.unary,
    Semantics.COMPUTE_BINARY: compute.binary,
    Semantics.COMPUTE_NARY: sums.total,
    Semantics.COMPUTE_TENSOR_SCALAR: compute.tensor_scalar,
    Semantics.COMPUTE_SCALAR_TENSOR_TENSOR: compute.scalar_tensor_tensor,
    Semantics.COMPUTE_ACTIVATION: compute.activation,
    Semantics.COMPUTE_ACTIVATION_REDUCE: compute.activation,
    Semantics.COMPUTE_TENSOR_SCALAR_REDUCE: compute.tensor_scalar_reduce,
    Semantics.DROPOUT: compute.dropout,
    Semantics.RANDOM: compute.random_tile,
    Semantics.RANDOM_UNIFORM: compute.random_tile,
    Semantics.REDUCE_FREE: reducing.free,
    Semantics.REDUCE_LAST: reducing.free,
    Semantics.REDUCE_PARTITION: reducing.partition,
    Semantics.REDUCE_MEAN: reducing.mean,
    Semantics.REDUCE_LOOP: reducing.over_loop,
    Semantics.REDUCE_PROGRAMS: exchanging.over_programs,
    Semantics.REDUCE_VARIANCE: reducing.variance,
    Semantics.REDUCE_MOMENTS: moments.statistics,
    Semantics.REDUCE_MOMENTS_MERGE: moments.aggregate,
    Semantics.SOFTMAX: reducing.softmax,
    Semantics.RMS_NORM: reducing.rms_norm,
    Semantics.MATMUL: products.matmul,
    Semantics.SCAN: scans.scan,
    Semantics.REGISTER: registers.register,
    Semantics.COLLECTIVE_REDUCE: exchanging.exchange,
    Semantics.COLLECTIVE_SCATTER: exchanging.exchange,
    Semantics.COLLECTIVE_GATHER: exchanging.exchange,
    Semantics.COLLECTIVE_EXCHANGE: exchanging.exchange,
    Semantics.COLLECTIVE_PERMUTE: exchanging.exchange,
    Semantics.COLLECTIVE_RING: exchanging.exchange,
    Semantics.COLLECTIVE_SEND: exchanging.exchange,
    Semantics.RANKS: exchanging.group,
    Semantics.MATMUL_SCALED: scaled.product,
    Semantics.QUANTIZE: scaled.quantize,
    Semantics.QUANTIZE_HEADROOM: scaled.quantize,
    Semantics.GATHER: gathering.gather,
    Semantics.GATHER_STREAM: gathering.gather_in_stream,
    Semantics.SEARCH_TOP: searching.top,
    Semantics.SEARCH_INDEX: searching.index_of,
    Semantics.SEARCH_REPLACE: searching.replace,
    Semantics.SEARCH_NONZERO: searching.nonzero,
    Semantics.EXCHANGE_INDEX: shuffling.stream_shuffle,
    Semantics.SELECT: selection.select,
    Semantics.SELECT_REDUCE: selection.select,
    Semantics.SELECT_AFFINE: selection.affine_select,
    Semantics.SELECT_RANGE: selection.range_select,
    Semantics.IOTA: selection.iota,
    Semantics.INDEX_RANGE: indices.arange,
    Semantics.INDEX_SLICE: indices.slice_of,
    Semantics.INDEX_PARTITION: indices.partition,
    Semantics.INDEX_PROGRAM: indices.program,
    Semantics.INDEX_PROGRAM_COUNT: indices.program_count,
    Semantics.LOOP_RANGE: indices.counter,
    Semantics.LOOP_PARALLEL: indices.counter,
    Semantics.LOOP_SEQUENTIAL: indices.counter,
    Semantics.LOOP_STATIC: indices.counter,
    Semantics.LOOP_DYNAMIC: indices.counter,
    Semantics.LOOP_BODY: looping.counted,
    Semantics.LOOP_WHILE: looping.until_zero,
    Semantics.QUERY: indices.query,
    Semantics.QUERY_PROGRAM_RANK: indices.program_rank,
    Semantics.QUERY_RANK: indices.rank,
    Semantics.QUERY_GENERATION: indices.generation,
    Semantics.QUERY_SPACE: spaces.is_in_space,
    Semantics.QUERY_LAYOUT: viewing.layout,
    Semantics.QUERY_LIMITS: indices.number_limits,
    Semantics.QUERY_BYTES: indices.bytes_of,
    Semantics.ORDER: indices.nothing,
    Semantics.HINT: indices.nothing,
    Semantics.RANDOM_SEED: indices.nothing,
    Semantics.BARRIER_CORE: indices.barrier,
    Semantics.CHECK_PRINT: indices.show,
}


def lower_call(call: Call) -> Value:
    """The value of `call`; its operations are emitted. What is not understood becomes opaque."""
    handler = HANDLERS.get(call.api.semantics)
    if call.misfits:
        return not_understood(call, f"{call.via} does not fit its signature: {', '.join(call.misfits)}")
    if handler is None:
        reason = f"{call.via} ({call.api.semantics.value}) is not modelled"
        return not_understood(call, reason, OpaqueKind.LIBRARY)
    before, call.context.via = call.context.via, call.via
    outer, call.context.mask = call.context.mask, call.mask_unread()
    try:
        with call.context.builder.region() as body:
            value = handler(call)
    except MisunderstoodError as error:
        if _is_without_operand(call):
            raise RaisedError from None  # in this arm of a branch, which nothing takes then
        return not_understood(call, f"{call.via}: {error}", error.kind)
    finally:
        call.context.via, call.context.mask = before, outer
    problem = call.context.builder.problem(body)
    if problem:
        return not_understood(call, f"{call.via}: {problem}")
    unread = call.unread() if call.api.semantics not in _WITHOUT_VALUES else []
    if unread:
        return not_understood(call, f"{call.via}: the argument {unread[0]} is not read")
    call.context.builder.adopt(body)
    call.obstacle = next((op.reason for op in operations(body) if isinstance(op, Opaque)), "")
    return value


def _is_without_operand(call: Call) -> bool:
    """Whether `call` is given `None`, in this arm of a branch, for something that it cannot do without."""
    needed = (parameter.name for parameter in call.api.parameters if parameter.default is None)
    return any(_is_missing(call.context, call.values.get(name)) for name in needed)


def _is_missing(context: Context, value: Value | None) -> bool:
    """Whether `value` is `None` in this arm, or a shape with that for a size."""
    sizes = value.held if isinstance(value, Items) and not value.lost else []
    return any(map(context.is_chosen, (value, *sizes)))


def _is_format(context: Context, value: Value) -> bool:
    """Whether `value` is a parameter that was used as a dtype, and so is no tensor."""
    return isinstance(value, Parameter) and value.name in context.formats


def not_understood(call: Call, reason: str, kind: OpaqueKind = OpaqueKind.CALL) -> Value:
    """`call` as an opaque operation that reads its arguments and writes its destinations.

    Where it is not known which argument is the destination, each may be.
    """
    context, call.obstacle = call.context, reason
    given = [leaf for value in (*call.values.values(), *call.rest) for leaf in leaves_of(value)]
    written = [leaf for role in _WRITES for value in call.all(role) for leaf in leaves_of(value)]
    if call.misfits or (not written and not call.api.returns_value):
        written = [value if _is_format(context, value) else as_view(context, value) or value for value in given]
    read = [value for value in given if call.misfits or not any(value is item for item in written)]
    source = next((value for value in read if isinstance(value, View | Result)), None)
    shape = source.shape if isinstance(source, View | Result) else ()
    returns = call.api.returns_value and (not written or bool(call.misfits))
    value_type = ValueType(call.result_dtype(source), shape) if returns and shape else None
    made = context.opaque(
        reason,
        call.via,
        reads=buffers_of(context, *read),
        writes=buffers_of(context, *written),
        operands=expressions_of(context, *read),
        value=value_type,
        kind=kind,
    )
    if made is not None and value_type is not None:
        return Result(made, value_type.dtype, shape, shape)
    beside = [NONE] if call.api.semantics in _NO_NUMBERS else []
    return context.unknown(call.via + "()", reason, *read, *beside, kind=kind)
