"""Cooperative groups: which threads, how many, which one this is; and what the group does together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from portcheck.core.dtype import INT32, UINT32
from portcheck.frontends.cuda.cooperation.exchanges import exchange, is_exchange, lanes_mask
from portcheck.frontends.cuda.cooperation.objects_of_libraries import operator_named
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator, binary
from portcheck.frontends.cuda.expressions.numbers import calculate
from portcheck.frontends.cuda.functions.inlining import inline
from portcheck.frontends.cuda.functions.overloads import chosen
from portcheck.frontends.cuda.memory.places import read, scalar
from portcheck.frontends.cuda.model.callsite import CallSite, qualified_name
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import (
    Aggregate,
    Builtin,
    FunctionName,
    Functor,
    Group,
    Nothing,
    Scalar,
    Value,
)
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.ir import (
    TRUE,
    ZERO,
    Barrier,
    Const,
    Exchange,
    ExchangeKind,
    Expr,
    OpaqueKind,
    Operator,
    Order,
    Reduce,
    Scan,
    Scope,
    ValueType,
)
from portcheck.knowledge import Construct, Role, Semantics

_METHODS = "cooperative_groups::thread_group::"
_SCOPES = {Scope.BLOCK: Scope.BLOCK, Scope.GRID: Scope.GRID, Scope.WARP: Scope.WARP, Scope.CLUSTER: Scope.CLUSTER}


def make_group(state: State, call: CallSite, construct: Construct) -> Value | None:
    """The group a call such as `this_thread_block()` gives; None for one that is not followed."""
    if construct.scope is Scope.BLOCK:  # an argument is memory for its tiles
        return block_group(state)
    if construct.scope is Scope.GRID:
        return _grid(state)
    is_masked = not call.arguments or construct.index_of(Role.PREDICATE) is not None
    if construct.scope is Scope.WARP and is_masked:
        return _masked_group(state, call, construct)
    if construct.scope is not Scope.WARP or not call.arguments:
        return None
    outer = read(state, state.evaluate(call.arguments[0]), call.arguments[0])
    size_node = call.templates[0] if call.templates else (call.arguments[1] if len(call.arguments) > 1 else None)
    if size_node is None or not isinstance(outer, Group):
        return None
    size = scalar(state, state.evaluate(_value_node(size_node)), size_node)
    size = Scalar(Const(size.expr.value, UINT32), UINT32) if isinstance(size.expr, Const) else size
    lanes = warp_size(state).expr
    is_wide = isinstance(size.expr, Const) and isinstance(lanes, Const) and size.expr.value > lanes.value
    return Group(
        Scope.BLOCK if is_wide else Scope.WARP, size, _binary(state, "%", outer.rank, size),
        _binary(state, "/", outer.rank, size),
        _binary(state, "/", outer.size, size),
    )  # fmt: skip


def _masked_group(state: State, call: CallSite, construct: Construct) -> Value | None:
    """The lanes that run this, or those of a group that agree with this one on a label."""
    warp = warp_size(state).expr
    label = call.at(construct, Role.PREDICATE)
    if label is None:
        fields: dict[str, object] = {"kind": ExchangeKind.ACTIVE, "operand": TRUE}
    else:
        outer = read(state, state.evaluate(call.arguments[0]), call.arguments[0])
        if not isinstance(outer, Group) or outer.scope != Scope.WARP or outer.size.expr != Const(32, UINT32):
            return None
        number = scalar(state, state.evaluate(label), label)
        fields = {"kind": ExchangeKind.MATCH, "operand": materialised(state, number), "lanes_mask": outer.mask}
    mask = state.result(Exchange, UINT32, lane=ZERO, width=warp, via=call.via, **fields)
    own = calculate(state, "<<", Scalar(Const(1, UINT32), UINT32), convert(state, lane_of(state), UINT32))
    below = calculate(state, "&", mask, calculate(state, "-", own, 1))
    size, rank = (
        convert(state, apply_operator(state, Operator.POPULATION_COUNT, (lanes,), UINT32, call.via), UINT32)
        for lanes in (mask, below)
    )
    return Group(Scope.WARP, size, rank, mask=mask.expr)


def block_group(state: State) -> Group:
    """All threads of the block: x varies fastest."""
    names = {found.semantics: found.name for found in _variables(state)}
    thread, extent = names[Semantics.INDEX_THREAD], names[Semantics.INDEX_BLOCK_SIZE]
    used = [member for member in "yz" if f"{thread}.{member}" in state.axes or member in state.dimensions]
    state.ranked.update(("", *used))
    rank = state.builtin(f"{thread}.x", Semantics.INDEX_THREAD)
    size = state.builtin(f"{extent}.x", Semantics.INDEX_BLOCK_SIZE)
    stride = size
    for member in used:
        component = state.builtin(f"{thread}.{member}", Semantics.INDEX_THREAD)
        along = state.builtin(f"{extent}.{member}", Semantics.INDEX_BLOCK_SIZE)
        rank = _binary(state, "+", _binary(state, "*", component, stride), rank)
        size = _binary(state, "*", size, along)
        stride = size
    return Group(Scope.BLOCK, size, rank)


@contextmanager
def missing_dimensions(state: State, block: tuple[Expr, ...]) -> Iterator[bool]:
    """Whether threads were numbered without a dimension that blocks have, or may have as the kernel looks at it.

    Inside the `with` block they are numbered with it.
    """
    thread = next(found.name for found in _variables(state) if found.semantics is Semantics.INDEX_THREAD)
    asked = {member for member in "yz" if f"{thread}.{member}" in state.axes}
    extents = zip("yz", block[1:], strict=False)
    wide = {member for member, extent in extents if not isinstance(extent, Const) or extent.value != 1}
    missing = frozenset((asked | wide) - state.ranked) if state.ranked and not state.dimensions else frozenset()
    state.dimensions = missing
    try:
        yield bool(missing)
    finally:
        state.dimensions = frozenset()


def lane_of(state: State) -> Scalar:
    """This thread's place in its warp."""
    return calculate(state, "&", block_group(state).rank, int(state.knowledge.cuda_limit("warp_size")) - 1)


def _grid(state: State) -> Group:
    names = {found.semantics: found.name for found in _variables(state)}
    block = block_group(state)
    number = state.builtin(f"{names[Semantics.INDEX_BLOCK]}.x", Semantics.INDEX_BLOCK)
    blocks = state.builtin(f"{names[Semantics.INDEX_GRID_SIZE]}.x", Semantics.INDEX_GRID_SIZE)
    rank = _binary(state, "+", _binary(state, "*", number, block.size), block.rank)
    return Group(Scope.GRID, _binary(state, "*", blocks, block.size), rank)


def method(state: State, call: CallSite, group: Group) -> Value:
    """`group.name(...)`."""
    construct = state.construct(_METHODS + call.name)
    if construct is None:
        return state.opaque(call.node, f"call of method {call.name}", kind=OpaqueKind.LIBRARY, via=call.via)
    members = {
        Semantics.INDEX_RANK: group.rank, Semantics.INDEX_GROUP_SIZE: group.size,
        Semantics.INDEX_META_RANK: group.meta_rank, Semantics.INDEX_META_SIZE: group.meta_size,
    }  # fmt: skip
    found = members.get(construct.semantics)
    if found is not None:
        return found
    if construct.semantics is Semantics.BARRIER_GROUP:
        return barrier(state, call, group)
    if is_exchange(construct):
        return exchange(state, call, construct, group)
    index = {
        Semantics.INDEX_THREAD, Semantics.INDEX_BLOCK, Semantics.INDEX_BLOCK_SIZE, Semantics.INDEX_GRID_SIZE
    }  # fmt: skip
    if construct.semantics in index and construct.dtype:
        name = next(found.name for found in _variables(state) if found.semantics is construct.semantics)
        return Builtin(name)
    return state.opaque(call.node, f"call of method {call.name}", kind=OpaqueKind.LIBRARY, via=call.via)


def barrier(state: State, call: CallSite, group: Group) -> Value:
    """All threads of the group wait for each other; tiles of several warps, not the whole block, are not followed."""
    if group.scope == Scope.BLOCK and group.meta_rank is not None:
        return state.keep(call.node, "barrier of a tile of several warps", kind=OpaqueKind.LIBRARY)
    scope = _SCOPES.get(Scope(group.scope), Scope.BLOCK)
    state.builder.emit(Barrier, scope=scope, participants=group.mask, via=call.via)
    return Nothing()


def group_barrier(state: State, call: CallSite) -> Value | None:
    """`sync(group)`."""
    group = read(state, state.evaluate(call.arguments[0]), call.arguments[0]) if call.arguments else None
    return barrier(state, call, group) if isinstance(group, Group) else None


def reduce_lanes(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A reduction over the lanes of a group, or of the whole warp."""
    group_node, value_node = call.at(construct, Role.GROUP), call.at(construct, Role.SOURCE)
    group = read(state, state.evaluate(group_node), group_node) if group_node is not None else None
    if value_node is None or (group_node is not None and not isinstance(group, Group)):
        return None
    operator = operator_of(state, call, construct)
    if operator is None:
        return _by_function(state, call, construct, group) if isinstance(group, Group) else None
    number = scalar(state, read(state, state.evaluate(value_node), value_node), value_node)
    is_masked = isinstance(group, Group) and group.mask is not None
    lanes: Scalar = group.size if isinstance(group, Group) and not is_masked else warp_size(state)
    is_tile = isinstance(group, Group) and (group.scope == Scope.WARP or group.meta_rank is not None)
    if isinstance(group, Group) and not is_tile:
        return None
    mask = group.mask if isinstance(group, Group) and is_masked else lanes_mask(state, call, construct)
    return state.result(
        Reduce, number.dtype, operator=operator, operand=materialised(state, number),
        accumulate=ValueType(number.dtype), lanes=lanes.expr, lanes_mask=mask,
        scope=Scope(group.scope) if isinstance(group, Group) else Scope.WARP, via=call.via,
    )  # fmt: skip


def _by_function(state: State, call: CallSite, construct: Construct, group: Group) -> Value | None:
    """A reduction with a function of the program's own: its order is not stated, here it is that of a butterfly."""
    value_node, node = call.at(construct, Role.SOURCE), call.at(construct, Role.OPERATOR)
    named = state.evaluate(node) if node is not None else None
    is_tile = group.scope == Scope.WARP and group.mask is None and isinstance(group.size.expr, Const)
    if value_node is None or not isinstance(named, FunctionName) or not is_tile:
        return None
    value: Value | None = read(state, state.evaluate(value_node), value_node)
    combined = CallSite(call.node, named.name, (), (value_node, value_node))
    offset = int(group.size.expr.value) // 2 if isinstance(group.size.expr, Const) else 0
    state.note(f"{call.name} with {named.name}: the lanes are combined as a butterfly, its order is not stated")
    while offset and isinstance(value, Scalar | Aggregate):
        other = _of_lane(state, call, value, (offset, group.size.expr))
        function = chosen(state, state.definitions.functions.get(named.name, ()), [value, other])
        if function is None:
            return None
        value = inline(state, function, combined, [value, other])
        value = read(state, value, value_node) if value is not None else None
        offset //= 2
    return value


def _of_lane(state: State, call: CallSite, value: Scalar | Aggregate, where: tuple[int, Expr]) -> Value:
    """`value` as the lane has it whose number differs in the bits of an offset, in a group of some width."""
    if isinstance(value, Aggregate):
        parts = ((name, part) for name, part in value.members if isinstance(part, Scalar | Aggregate))
        return Aggregate(value.type, tuple((name, _of_lane(state, call, part, where)) for name, part in parts))
    return state.result(
        Exchange, value.dtype, kind=ExchangeKind.XOR, operand=materialised(state, value), lane=Const(where[0], INT32),
        width=where[1], via=call.via,
    )  # fmt: skip


def scan_lanes(state: State, call: CallSite, construct: Construct) -> Value | None:
    """A running combination over the lanes of a group."""
    group_node, value_node = call.at(construct, Role.GROUP), call.at(construct, Role.SOURCE)
    group = read(state, state.evaluate(group_node), group_node) if group_node is not None else None
    operator = operator_of(state, call, construct) if call.at(construct, Role.OPERATOR) else Operator.ADD
    if value_node is None or not isinstance(group, Group) or group.scope != Scope.WARP or operator is None:
        return None
    number = scalar(state, state.evaluate(value_node), value_node)
    is_inclusive = construct.value != 0
    zero = Const(0.0 if number.dtype.is_float else 0, number.dtype)
    if not is_inclusive and operator is not Operator.ADD:
        return None
    lanes = warp_size(state) if group.mask is not None else group.size
    return state.result(
        Scan, number.dtype, operator=operator, operands=(materialised(state, number),), lanes=lanes.expr,
        lanes_mask=group.mask, scope=Scope.WARP, inclusive=is_inclusive, initial=None if is_inclusive else zero,
        order=Order.UNDOCUMENTED, via=call.via,
    )  # fmt: skip


def operator_of(state: State, call: CallSite, construct: Construct) -> Operator | None:
    """What a reduction combines with: as its argument says, or its name; None for a function of the program's own."""
    node = call.at(construct, Role.OPERATOR)
    if node is None:
        return construct.operator
    functor = state.evaluate(node)
    return functor.operator if isinstance(functor, Functor) else None


def warp_size(state: State) -> Scalar:
    """The number of lanes of a warp."""
    found = next((found for found in _variables(state) if found.semantics is Semantics.INDEX_WARP_SIZE), None)
    value = int(found.value) if found is not None and found.value is not None else 0
    return Scalar(Const(value, INT32), INT32)


def operator_object(state: State, node: Node) -> Functor | None:
    """The operator a function object such as `plus<float>` stands for."""
    return operator_named(state, qualified_name(state, bare(node))[0])


def _variables(state: State) -> list[Construct]:
    """The variables of the language."""
    wanted = (
        Semantics.INDEX_THREAD, Semantics.INDEX_BLOCK, Semantics.INDEX_BLOCK_SIZE, Semantics.INDEX_GRID_SIZE,
        Semantics.INDEX_WARP_SIZE,
    )  # fmt: skip
    return [found for found in state.knowledge.variables if found.semantics in wanted]


def _value_node(node: Node) -> Node:
    """A template argument as an expression: the grammar may have read a name as a type."""
    inner = node.field("type") if node.type == "type_descriptor" else None
    return inner if inner is not None else node


def _binary(state: State, text: str, left: Scalar, right: Scalar) -> Scalar:
    return binary(state, text, left, right) or left
