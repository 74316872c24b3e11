"""Assignments: to names, attributes, elements of Python objects and of tiles."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from portcheck.frontends.nki.expressions import operators
from portcheck.frontends.nki.expressions.evaluate import evaluate, selectors
from portcheck.frontends.nki.expressions.subscripts import indexed, key_of
from portcheck.frontends.nki.lowering.compute import combine
from portcheck.frontends.nki.objects.attributes import bind_target, items_of, name_size
from portcheck.frontends.nki.objects.dunders import special
from portcheck.frontends.nki.objects.objects import set_attribute
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError, NeedsUnrollingError, UnfollowedError
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.mutation import changing, lose
from portcheck.frontends.nki.state.uses import note_form
from portcheck.frontends.nki.values.ages import new_age
from portcheck.frontends.nki.values.data import as_number, as_view, operand, settled, store
from portcheck.frontends.nki.values.leaves import buffers_of, expressions_of
from portcheck.frontends.nki.values.operands import Operand
from portcheck.frontends.nki.values.series import write_out
from portcheck.frontends.nki.values.tiles import Joining, Result, View
from portcheck.frontends.nki.values.values import Instance, Items, Parameter, Table, Unknown, Value, obstacle_kind
from portcheck.ir import OpaqueKind, Space, WriteMode
from portcheck.knowledge import Form


def assign(context: Context, frame: Frame, part: cst.Assign) -> None:
    """`first = second = value`."""
    first = part.targets[0].target
    value = evaluated(context, frame, part.value, first)
    for target in part.targets:
        bind_to(context, frame, target.target, value)


def evaluated(context: Context, frame: Frame, node: cst.BaseExpression, target: cst.CSTNode) -> Value:
    """The value of `node` under the name of the target, stored into a buffer if the function indexes that name."""
    hint = target.value if isinstance(target, cst.Name) else ""
    value = evaluate(context, frame, node, hint)
    if isinstance(value, Result) and hint in frame.stored and value.view is None:
        return settled(context, value, hint)
    return value


def bind_to(context: Context, frame: Frame, target: cst.CSTNode, value: Value) -> None:
    """`target = value`."""
    if isinstance(value, Joining):
        _join(context, frame, target, value)
    elif isinstance(target, cst.Subscript):
        _put(context, frame, target, value, "=", WriteMode.OVERWRITE)
    elif isinstance(target, cst.Attribute):
        _set_attribute(context, frame, target, value)
    else:
        if isinstance(target, cst.Name):
            name_size(context, value, target.value)
        bind_target(frame, target, value, context)


def _join(context: Context, frame: Frame, target: cst.CSTNode, value: Joining) -> None:
    """`target = value` where the tile that `target` names is combined with `value`, in its place."""
    current = evaluate(context, frame, target) if isinstance(target, cst.Name | cst.Subscript) else None
    view = as_view(context, current) if isinstance(current, View | Result) else None
    via = value.call.via
    try:
        if view is None:
            raise MisunderstoodError("what it is combined with is not understood", OpaqueKind.MEMORY)
        combined = combine(value.call, value.operator, value.source, view)
    except MisunderstoodError as error:
        buffers = buffers_of(context, current, value.source)
        context.opaque(f"{via}: {error}", via, reads=buffers, writes=buffers_of(context, current), kind=error.kind)
        return
    assert isinstance(combined, Result)
    source = Operand(combined.expression, combined.dtype, combined.real)
    store(context, view, source, via=via, mask=combined.mask)


def _set_attribute(context: Context, frame: Frame, target: cst.Attribute, value: Value) -> None:
    owner = context.certain(evaluate(context, frame, target.value))
    set_attribute(context, owner, target.attr.value, value)


def _put(context: Context, frame: Frame, target: cst.Subscript, value: Value, via: str, mode: WriteMode) -> None:
    """`target = value` for an indexed target."""
    owner = context.certain(evaluate(context, frame, target.value))
    chosen = selectors(context, frame, target)
    if isinstance(owner, Instance):
        given = chosen[0] if len(chosen) == 1 else Items(list(chosen))
        if special(context, owner, "setitem", given, value) is None:
            raise UnfollowedError(f"{frame.segment.text(target)} is assigned to")
        return
    if isinstance(owner, Items | Table):
        _put_python(context, owner, chosen, value)
        return
    view = indexed(context, owner, chosen) if isinstance(owner, View | Result | Parameter) else None
    source = operand(context, value)
    if view is None or source is None:
        text = frame.segment.text(target)
        reason = value.reason if isinstance(value, Unknown) else f"the assignment to {text} is not understood"
        context.opaque(
            reason, via, reads=buffers_of(context, value), writes=buffers_of(context, owner),
            operands=expressions_of(context, value), kind=obstacle_kind(value),
        )  # fmt: skip
        return
    store(context, view, source, via=via, mode=mode, mask=value.mask if isinstance(value, Result) else None)


def _put_python(context: Context, owner: Items | Table, chosen: Sequence[Value], value: Value) -> None:
    key = key_of(chosen[0] if len(chosen) == 1 else Items(list(chosen)))
    if isinstance(owner, Items):
        write_out(context, owner)
    changing(context, owner)
    if owner.lost:  # what it may hold
        if isinstance(owner, Items):
            owner.held.append(value)
        else:
            owner.held["", new_age()] = value
        return
    if key is not None and isinstance(owner, Table):
        owner.entries[key] = value
    elif isinstance(key, int) and isinstance(owner, Items) and -len(owner.values) <= key < len(owner.values):
        owner.values[key] = value
    elif context.loop_depth and len(chosen) == 1 and as_number(context, chosen[0]) is not None:
        raise NeedsUnrollingError
    else:
        lose(context, owner, "an element of it was assigned that is not known")


def update(context: Context, frame: Frame, part: cst.AugAssign) -> None:
    """`target += value`: in place for a tile, a new value for a number."""
    kind = operators.UPDATES.get(type(part.operator))
    value = evaluate(context, frame, part.value)
    text = frame.segment.text(part)
    if kind is None:
        bind_to(context, frame, part.target, context.unknown(text, "this operator is not read", value))
        return
    sign = operators.BINARY[kind][0] + "="
    current = context.certain(evaluate(context, frame, part.target))
    if kind is cst.Add and isinstance(current, Items) and current.is_list:
        _extend(context, current, value)
        return
    is_number = isinstance(current, View) and current.buffer.name in context.kept_numbers
    view = as_view(context, current) if isinstance(current, View | Result) and not is_number else None
    if view is None and not (isinstance(current, Parameter) and context.facts[current.name].is_tensor):
        bind_to(context, frame, part.target, operators.binary_operation(context, kind, current, value, text))
        return
    view = view or as_view(context, current)
    assert view is not None
    note_form(context, Form.TILE_ARITHMETIC)
    if kind is cst.Add and isinstance(value, Result) and view.buffer.space is Space.PSUM:
        # Products into one place are a group, whose first one begins it where nothing was put there before.
        mode = WriteMode.GROUP if value.space is Space.PSUM and value.view is None else WriteMode.ADD
        product = Operand(value.expression, value.dtype, value.real)
        store(context, view, product, via=sign, mode=mode, mask=value.mask)
        return
    computed = operators.binary_operation(context, kind, current, value, text)
    source = operand(context, computed)
    if source is None:
        context.opaque(
            f"{sign} is not understood", sign, reads=buffers_of(context, value), writes=(view.buffer.name,),
            kind=obstacle_kind(computed),
        )  # fmt: skip
        return
    mask = value.mask if isinstance(value, Result) else None
    store(context, view, source, via=sign, mask=mask)


def _extend(context: Context, current: Items, value: Value) -> None:
    """`list += value`, which changes the list itself."""
    added = items_of(context, value)
    if added is None:
        lose(context, current, "what was added to it is not known")
        return
    write_out(context, current)
    changing(context, current)
    context.burn(len(added))
    current.values.extend(added)


def delete(context: Context, frame: Frame, target: cst.BaseDelTargetExpression) -> None:
    """`del target`."""
    match target:
        case cst.Name(value=name):
            frame.names.pop(name, None)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                assert isinstance(element.value, cst.Name | cst.Attribute | cst.Subscript | cst.Tuple | cst.List)
                delete(context, frame, element.value)
        case cst.Subscript(value=owner):
            _delete_element(context, evaluate(context, frame, owner), selectors(context, frame, target))
        case _:
            raise UnfollowedError("an attribute is deleted")


def _delete_element(context: Context, owner: Value, chosen: Sequence[Value]) -> None:
    if not isinstance(owner, Items | Table):
        raise UnfollowedError("an element of something that is not known is deleted")
    key = key_of(chosen[0]) if len(chosen) == 1 else None
    changing(context, owner)
    if isinstance(owner, Table) and key in owner.entries:
        del owner.entries[key]
    elif isinstance(owner, Items) and isinstance(key, int) and -len(owner.values) <= key < len(owner.values):
        del owner.values[key]
    else:
        lose(context, owner, "an element of it was deleted that is not known")
