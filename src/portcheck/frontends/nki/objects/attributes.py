"""Attributes of values, unpacking, and binding of targets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import libcst as cst

from portcheck.core.dtype import INT64
from portcheck.frontends.nki.objects.classes import found_in
from portcheck.frontends.nki.objects.dunders import special
from portcheck.frontends.nki.objects.enumerations import members_of
from portcheck.frontends.nki.objects.objects import attribute_of, fields_in_order
from portcheck.frontends.nki.objects.parameters import part
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.deepening import deepen_parameter
from portcheck.frontends.nki.state.facts import Facts
from portcheck.frontends.nki.state.failure import RaisedError, ReadAgainError
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.mutation import alike, changing, lose, use_up
from portcheck.frontends.nki.values.arithmetic import is_number, is_small, known_int, literal, product, same
from portcheck.frontends.nki.values.callables import Accessed, Class, ClassKind, Method, Super
from portcheck.frontends.nki.values.constants import CONSTANTS
from portcheck.frontends.nki.values.patterns import item_size
from portcheck.frontends.nki.values.series import elements
from portcheck.frontends.nki.values.tiles import Grid, Result, View
from portcheck.frontends.nki.values.values import (
    Counter,
    Either,
    External,
    Format,
    Instance,
    Items,
    Key,
    Nothing,
    Package,
    Parameter,
    ShapeOf,
    Table,
    Text,
    Unknown,
    Value,
)  # fmt: skip
from portcheck.ir import Apply, Expr, OpaqueKind, Operator, Symbol, integer, symbols_in

UNROLL_LIMIT = 64
"""Iterations that are evaluated one by one where a loop cannot be kept as a loop."""


def attribute(context: Context, target: Value, name: str) -> Value:
    """`target.name`."""
    match target:
        case Either():
            found = _held_by_either(context, context.resolve(target), name)
            return found if found is not None else attribute(context, context.certain(target), name)
        case External(qualified):
            return _member(context, f"{qualified}.{name}")
        case Package(scope):
            found = scope.member(context, name)
            reason = f"{scope.shown} has no {name}"
            return found if found is not None else Unknown(name, reason, kind=OpaqueKind.CALL)
        case Parameter(parameter):
            return _of_parameter(context, parameter, name)
        case View() | Result():
            return _of_tile(context, target, name)
        case Instance() | Class() | Super():
            return attribute_of(context, target, name)
        case Table(entries) if name in entries:
            return entries[name]
        case Items(held=values) if name in _GRID_PARTS[: len(values)] and all(
            isinstance(item, Grid) for item in values
        ):
            return values[_GRID_PARTS.index(name)]
        case Nothing() if context.is_chosen(target):
            raise RaisedError  # in this arm of a branch, which nothing takes then
        case Unknown(is_list=True):
            return Method(target, name)
        case Unknown(text, _, parts) if not parts:
            return Unknown(f"{text}.{name}", f"{text}.{name} is not known")
        case Unknown():
            return context.unknown(f"{target.text}.{name}", target.reason, *target.parts, kind=target.kind)
        case _:
            return Method(target, name)


def _held_by_either(context: Context, target: Value, name: str) -> Value | None:
    """`target.name` where reading it does nothing, whichever of two values `target` is; None where it may."""
    match target:
        case Either(condition, first, second):
            one, other = (_held_by_either(context, context.resolve(item), name) for item in (first, second))
            if one is None or other is None or alike(one, other):
                return one if other is not None else None
            return _chosen_shape(condition, one, other) if name == "shape" else Either(condition, one, other)
        case Instance() if not target.lost and name in target.held:
            return None if isinstance(found_in(target.owner, name), Accessed) else target.held[name]
        case View() | Result() if name in ("dtype", "buffer", "shape"):
            return _of_tile(context, target, name)
        case _:
            return None


def _chosen_shape(condition: Expr, one: Value, other: Value) -> Value | None:
    """The shape of one of two tiles of as many dimensions; None where it is too large to be written out."""
    if not isinstance(one, Items) or not isinstance(other, Items) or len(one.held) != len(other.held):
        return None
    sizes: list[Value] = []
    for left, right in zip(one.held, other.held, strict=True):
        if not is_number(left) or not is_number(right):
            return None
        sizes.append(left if same(left, right) else Apply(Operator.SELECT, (condition, left, right), left.dtype))
    return Items(sizes) if all(is_number(size) and is_small(size) for size in sizes) else None


def _member(context: Context, qualified: str) -> Value:
    if qualified == _ENVIRONMENT:
        context.assume("the variables of the environment are taken not to be set")
        return Table({})
    if qualified in CONSTANTS:
        return CONSTANTS[qualified]
    qualified = context.knowledge.releases.canonical(qualified)
    constant = context.knowledge.constant(qualified, context.target)
    if isinstance(constant, int | float):
        return literal(constant)
    if constant is not None:
        return Symbol(qualified.rpartition(".")[2], INT64)
    return External(qualified)


_ENVIRONMENT = "os.environ"
_GRID_PARTS = ("p", "x", "y", "z", "w")
"""The index variables of a grid by name: along the partition, then along the free dimensions."""
_TENSOR_ATTRIBUTES = frozenset({"shape", "dtype", "ndim", "buffer", "size", "itemsize"})


def _of_parameter(context: Context, parameter: str, name: str) -> Value:
    facts = context.facts[parameter]
    if name == "shape":
        facts.is_tensor = True
        if not facts.has_rank:
            return ShapeOf(parameter)
        return _of_tile(context, context.parameter_view(parameter), name)
    if name == "dtype":
        facts.is_tensor = True
        return Format(context.parameter_view(parameter).buffer.dtype)
    if name in _TENSOR_ATTRIBUTES and facts.is_tensor:
        return _of_tile(context, context.parameter_view(parameter), name)
    if name in _TENSOR_METHODS:
        facts.used.add(name)
        return Method(Parameter(parameter), name)
    if facts.is_tensor:
        facts.asked.add(name)
        return Method(Parameter(parameter), name)
    return part(context, f"{parameter}.{name}")


_TENSOR_METHODS = frozenset(
    {"reshape", "broadcast_to", "ap", "view", "expand_dims", "permute", "rearrange", "as_tile", "astype"}
)


def _of_tile(context: Context, target: View | Result, name: str) -> Value:
    match name:
        case "shape":
            return Items(list(target.shape))
        case "dtype":
            return Format(target.buffer.dtype if isinstance(target, View) else target.dtype)
        case "ndim":
            return integer(len(target.shape))
        case "size":
            return product(tuple(target.shape))
        case "itemsize":
            return item_size(context, target.buffer.dtype if isinstance(target, View) else target.dtype)
        case "buffer":
            space = target.buffer.space if isinstance(target, View) else target.space
            return External(space.value)
        case _:
            facts = context.facts.get(target.buffer.name) if isinstance(target, View) else None
            if facts is not None:
                facts.asked.add(name)
            return Method(target, name)


def items_of(context: Context, value: Value) -> list[Value] | None:
    """The values that iterating over `value` gives, if it is known how many."""
    match value:
        case Either():
            return items_of(context, context.certain(value))
        case Items():
            return _elements(context, value)
        case Instance():
            fields = fields_in_order(value)
            iterated = special(context, value, "iter") if fields is None else None
            return items_of(context, iterated) if iterated is not None else fields
        case Class() if value.kind is ClassKind.ENUMERATION:
            return list(members_of(value))
        case Table(entries):
            return [value_of_key(key) for key in entries]
        case Counter(start, stop, step):
            ends = [known_int(start), known_int(stop), known_int(step)]
            if ends[0] is None or ends[1] is None or not ends[2]:
                return None
            numbers = range(ends[0], ends[1], ends[2])
            return [literal(number) for number in numbers] if not numbers[UNROLL_LIMIT:] else None
        case ShapeOf(parameter):
            return list(context.parameter_view(parameter).shape)
        case _:
            return None


def _elements(context: Context, value: Items) -> list[Value] | None:
    """The elements of a list; those of an iterator are taken."""
    found = list(value.values) if value.series is None or value.lost else elements(value.series)
    if found is not None:
        use_up(context, value)
    return found


def give_back(context: Context, value: Value, elements: Sequence[Value], count: int | None) -> None:
    """Of the `elements` that an iterator gave only the first `count` were asked for; None: it is not known how many."""
    if isinstance(value, Items) and value.once:
        if count is None:
            lose(context, value, "an iterator is left in the middle")
        else:
            changing(context, value)
            value.held[:] = elements[count:]


def value_of_key(key: Key) -> Value:
    """What a key of a dictionary stands for."""
    match key:
        case str():
            return Text(key)
        case bool() | int() | float():
            return literal(key)
        case tuple():
            return Items([value_of_key(part) for part in key])
        case _:
            return key


def bind_target(frame: Frame, target: cst.CSTNode, value: Value, context: Context) -> bool:
    """Binds a target to `value`, taking tuples apart; False when it does not come apart as the target asks."""
    if isinstance(target, cst.Name):
        owner = frame.outer.get(target.value)
        if owner is not None:
            changing(context, owner)
        (owner or frame).names[target.value] = _named_grid(context, value, target.value)
        return True
    if isinstance(target, cst.Subscript | cst.Attribute):
        context.assign(context, frame, target, value)
        return True
    if not isinstance(target, cst.Tuple | cst.List):
        return False
    elements = [element.value for element in target.elements]
    values = unpacked(context, value, [_local(element) for element in elements])
    starred = [place for place, item in enumerate(target.elements) if isinstance(item, cst.StarredElement)]
    if values is not None and starred:
        values = _gathered(values, starred[0], len(elements))
    if values is None or len(values) != len(elements):
        deepen(context, values or (), len(elements) - len(values or ()))
        if values is not None and context.holding and _is_certain(context, values):
            raise RaisedError  # in this arm of a branch, which nothing takes then
        for element in elements:
            text = _local(element) or "value"
            bind_target(
                frame, element, Unknown(text, "unpacked from something that is not understood", (value,)), context
            )
        return False
    done = [bind_target(frame, element, item, context) for element, item in zip(elements, values, strict=True)]
    return all(done)


def _is_certain(context: Context, values: Sequence[Value]) -> bool:
    """Whether there are as many `values` whatever the ranks are that nothing has shown yet."""
    symbols = {name for item in values if is_number(item) for name in symbols_in(item)}
    return not any(_is_shaped_by(name, facts, symbols) for name, facts in context.facts.items())


def deepen(context: Context, sizes: Sequence[Value], missing: int) -> None:
    """Notes for the next pass that a tensor has more dimensions: `sizes`, made of its shape, are `missing` too few."""
    symbols = {name for size in sizes if is_number(size) for name in symbols_in(size)}
    owners = [name for name, facts in context.facts.items() if _is_shaped_by(name, facts, symbols)]
    if len(owners) == 1:
        deepen_parameter(context, owners[0], missing)


def _is_shaped_by(name: str, facts: Facts, symbols: Collection[str]) -> bool:
    """Whether some of `symbols` are sizes of the parameter `name`, whose rank nothing has shown yet."""
    return not facts.has_rank and any(item.startswith(f"{name}.shape[") or item in facts.names for item in symbols)


def _gathered(values: list[Value], starred: int, count: int) -> list[Value] | None:
    """`values` for `count` targets, the one at `starred` taking all that are left."""
    rest = len(values) - count + 1
    if rest < 0:
        return None
    taken = Items(values[starred : starred + rest], is_list=True)
    return [*values[:starred], taken, *values[starred + rest :]]


def _named_grid(context: Context, value: Value, name: str) -> Value:
    """An index variable of one dimension takes the name it is first bound to."""
    if not isinstance(value, Grid):
        return value
    named = [item for item in value.dimensions if item is not None]
    if len(named) != 1 or named[0].label:
        return value
    label = context.label(name)
    return Grid(value.expression, tuple(item and replace(item, label=label) for item in value.dimensions))


def unpacked(context: Context, value: Value, names: list[str]) -> list[Value] | None:
    """`value` taken apart into as many values as there are `names`, which name the sizes of a parameter."""
    value = context.certain(value)
    if isinstance(value, ShapeOf):
        facts = context.facts[value.parameter]
        is_guessed = facts.is_measured and not facts.has_rank
        if is_guessed and len(sizes := context.parameter_view(value.parameter).shape) == len(names):
            facts.seen_at_least(len(names))
            return list(sizes)  # as it was guessed, which shows nothing
        facts.seen(len(names))
        if is_guessed and context.may_read_again:
            raise ReadAgainError
        value = Items(list(shape_named(context, value.parameter, names)))
    if isinstance(value, Items):
        name_shape(context, value, names)
        found = list(value.values)
        use_up(context, value)
        return found
    if isinstance(value, Parameter) and not context.facts[value.name].is_tensor:
        return [part(context, f"{value.name}[{place}]", INT64) for place in range(len(names))]
    if isinstance(value, Unknown) and not value.parts:
        return [Symbol(f"{value.text}[{place}]", INT64) for place in range(len(names))]
    if isinstance(value, Table | Counter):
        return items_of(context, value)
    return None


def shape_named(context: Context, parameter: str, names: list[str]) -> tuple[Value, ...]:
    """The shape of `parameter`, its sizes named after `names`."""
    for position, name in enumerate(names):
        context.name_dimension(parameter, position, name)
    context.views.pop(parameter, None)
    return context.parameter_view(parameter, len(names)).shape


def name_shape(context: Context, items: Items, names: list[str]) -> None:
    """Names the sizes of a parameter after the locals they are unpacked into, for the next pass."""
    for item, name in zip(items.values, names, strict=False):
        name_size(context, item, name)


def name_size(context: Context, value: Value, local: str) -> None:
    """Names a size of a parameter after the local it is assigned to, for the next pass."""
    if not isinstance(value, Symbol) or ".shape[" not in value.name:
        return
    parameter, _, rest = value.name.partition(".shape[")
    position = rest.rstrip("]")
    if parameter in context.facts and position.isdigit():
        context.name_dimension(parameter, int(position), local)


def _local(target: cst.CSTNode) -> str:
    return target.value if isinstance(target, cst.Name) else ""
