"""Recognises loops whose values are known before they start: an affine range, or a sequence such as a halving one."""

from __future__ import annotations

from dataclasses import dataclass, field

from portcheck.core.dtype import INT32, INT64, DType, DTypeKind
from portcheck.frontends.cuda.expressions.arithmetic import binary
from portcheck.frontends.cuda.expressions.choices import condition
from portcheck.frontends.cuda.memory.places import pointer_of, scalar
from portcheck.frontends.cuda.memory.stepping import advance
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import declare, type_of
from portcheck.frontends.cuda.model.values import Place, Pointer, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.definitions import declared_name
from portcheck.frontends.cuda.parsing.mutations import Mutations
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.frontends.cuda.statements.wrapping import may_wrap
from portcheck.ir import (
    ONE,
    Const,
    Expr,
    Operator,
    Range,
    Sequence,
    Symbol,
    apply,
    symbols_in,
)  # fmt: skip
from portcheck.ir.walk import expressions, operations

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_AFFINE = frozenset({"+=", "-=", "++", "--"})


@dataclass(frozen=True, slots=True)
class _Update:
    """What happens to a variable each time round: `variable operator amount`."""

    name: str
    operator: str
    amount: Node | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A loop over known values; `others` are the variables that go along with the first."""

    name: str
    variable: str
    dtype: DType
    values: Range | Sequence
    others: tuple[tuple[str, Value, Scalar, bool], ...] = field(default=())

    def bindings(self, state: State) -> list[tuple[str, Value]]:
        """What the names of the header stand for inside the body."""
        symbol = Scalar(Symbol(self.variable, self.dtype), self.dtype)
        found: list[tuple[str, Value]] = [(self.name, symbol)]
        for name, start, step, backwards in self.others:
            found.append((name, self._along(state, start, step, backwards)))
        return found

    def _along(self, state: State, start: Value, step: Scalar, backwards: bool) -> Value:
        """start + trips * step, where trips = (variable - first) / its step."""
        assert isinstance(self.values, Range)
        trips: Expr = Symbol(self.variable, self.dtype)
        if not _is(self.values.start, 0):
            trips = apply(Operator.SUBTRACT, trips, self.values.start, dtype=self.dtype)
        if not _is(self.values.step, 1):
            trips = apply(Operator.TRUNCATED_DIVIDE, trips, self.values.step, dtype=self.dtype)
        amount = Scalar(trips, self.dtype)
        if not _is(step.expr, 1):
            amount = binary(state, "*", amount, step) or amount
        if isinstance(start, Pointer):
            return advance(state, start, amount, backwards)
        number = start if isinstance(start, Scalar) else Scalar(ONE, INT32)
        return binary(state, "-" if backwards else "+", number, amount) or number


def read_counted(
    state: State, node: Node, initial: Node | None, test: Node | None, update: Node | None
) -> Counted | None:
    """The loop as a counted one; None where its values cannot be told before it runs. Emits what the bounds need."""
    if initial is None or test is None or update is None:
        return None
    starts = _starts(state, node, initial)
    updates = _updates(update)
    comparison = _comparison(bare(test), [found.name for found in updates or ()])
    if starts is None or updates is None or comparison is None:
        return None
    name, operator, bound = comparison
    names = [found.name for found in updates]
    if set(names) - set(starts) or set(starts) - set(names) or len(set(names)) != len(names):
        return None
    if not _is_steady(state, node, test, update, names) or _depends(test, updates, name):
        return None
    return _build(state, starts, updates, (name, operator, bound), test)


def _build(
    state: State, starts: dict[str, tuple[Node, DType | None]], updates: list[_Update],
    comparison: tuple[str, str, Node | None], test: Node,
) -> Counted | None:  # fmt: skip
    name, operator, bound = comparison
    value_node, dtype = starts[name]
    main = next(found for found in updates if found.name == name)
    others = [found for found in updates if found.name != name]
    with state.builder.region() as emitted:
        first = scalar(state, state.evaluate(value_node), value_node)
        dtype = dtype or first.dtype
        if not dtype.is_integer:
            return None
        start = materialised_bound(state, convert(state, first, dtype))
        variable = state.unique(name)
        with state.scope():
            state.bind(name, Scalar(Symbol(variable, dtype), dtype))
            values = _values(state, start, main, (operator, bound), test, variable, dtype)
        if values is None or (others and not isinstance(values, Range)):
            state.names.discard(variable)
            return None
        along = _others(state, starts, others)
    if along is None or any(variable in symbols_in(found) for op in operations(emitted) for found in expressions(op)):
        state.names.discard(variable)
        return None
    state.builder.adopt(emitted)
    return Counted(name=name, variable=variable, dtype=dtype, values=values, others=tuple(along))


def _values(
    state: State, start: Expr, main: _Update, comparison: tuple[str, Node | None], test: Node,
    variable: str, dtype: DType,
) -> Range | Sequence | None:  # fmt: skip
    operator, bound = comparison
    if main.operator in _AFFINE and bound is not None and operator in ("<", "<=", ">", ">=", "!="):
        affine = _range(state, start, main, (operator, bound), (variable, dtype))
        if affine is not None:
            return affine
    here = Scalar(Symbol(variable, dtype), dtype)
    amount = _amount(state, main)
    following = binary(state, main.operator.removesuffix("=")[:2], here, amount, via=main.operator)
    if main.operator in ("++", "--"):
        following = binary(state, main.operator[0], here, amount, via=main.operator)
    holds = condition(state, test)
    if following is None or following.is_data or holds.is_data and variable not in symbols_in(holds.expr):
        return None
    following = convert(state, following, dtype)
    if following.is_data:
        return None
    return Sequence(start=start, condition=holds.expr, next=following.expr)


def _range(
    state: State, start: Expr, main: _Update, comparison: tuple[str, Node], counter: tuple[str, DType]
) -> Range | None:
    (operator, bound), (variable, dtype) = comparison, counter
    step = _amount(state, main)
    stop = scalar(state, state.evaluate(bound), bound)
    if variable in symbols_in(stop.expr) or variable in symbols_in(step.expr):
        return None
    upwards = main.operator in ("+=", "++")
    if operator == "!=" and not (isinstance(step.expr, Const) and step.expr.value == 1):
        return None
    if operator != "!=" and (operator in ("<", "<=")) != upwards:
        return None
    if stop.dtype.is_float or step.dtype.is_float:
        return None
    if isinstance(step.expr, Const) and step.expr.value <= 0:
        return None
    if may_wrap(state, dtype, (start, stop, step), (operator, upwards)):
        return None
    limit = materialised_bound(state, stop)
    if operator in ("<=", ">="):
        shift = Operator.ADD if upwards else Operator.SUBTRACT
        limit = apply(shift, limit, ONE, dtype=stop.dtype)
    stride = materialised_bound(state, step)
    if not upwards:
        stride = _backwards(stride)
    return Range(start=start, stop=limit, step=stride)


def _backwards(stride: Expr) -> Expr:
    """A step down: below 0 for a stride without sign too."""
    if isinstance(stride, Const):
        return Const(-stride.value, INT32)
    return apply(Operator.NEGATE, stride, dtype=INT64 if stride.dtype.kind is DTypeKind.UNSIGNED else stride.dtype)


def materialised_bound(state: State, value: Scalar) -> Expr:
    """A bound as it is written; conversions that keep the value are left out."""
    return materialised(state, value) if value.is_data else value.expr


def _amount(state: State, update: _Update) -> Scalar:
    if update.amount is None:
        return Scalar(ONE, INT32)
    return scalar(state, state.evaluate(update.amount), update.amount)


def _others(
    state: State, starts: dict[str, tuple[Node, DType | None]], updates: list[_Update]
) -> list[tuple[str, Value, Scalar, bool]] | None:
    found: list[tuple[str, Value, Scalar, bool]] = []
    for update in updates:
        node, dtype = starts[update.name]
        value = state.evaluate(node)
        pointer = pointer_of(state, value)
        start: Value = pointer if pointer is not None else scalar(state, value, node)
        if isinstance(start, Scalar) and dtype is not None:
            start = convert(state, start, dtype)
        step = _amount(state, update)
        if update.operator not in _AFFINE or (isinstance(start, Scalar) and not start.dtype.is_integer):
            return None
        found.append((update.name, start, step, update.operator in ("-=", "--")))
    return found


def _starts(state: State, node: Node, initial: Node) -> dict[str, tuple[Node, DType | None]] | None:
    """The first values of the loop's variables; None where one is a reference, an array, or used after the loop."""
    found: dict[str, tuple[Node, DType | None]] = {}
    if initial.type == "declaration":
        base = type_of(state, initial.field("type"))
        for declarator in initial.fields("declarator"):
            value = declarator.field("value") if declarator.type == "init_declarator" else None
            read = declare(state, base, declarator)
            if value is None or read.extents or read.type.reference:
                return None
            if read.type.kind not in (TypeKind.SCALAR, TypeKind.DEDUCED, TypeKind.POINTER):
                return None
            only = value.named[0] if value.type in ("initializer_list", "argument_list") and value.named else value
            found[declared_name(declarator)] = (only, read.type.dtype)
        return found
    return _assigned_starts(state, node, initial)


def _assigned_starts(state: State, node: Node, initial: Node) -> dict[str, tuple[Node, DType | None]] | None:
    found: dict[str, tuple[Node, DType | None]] = {}
    for part in _parts(initial):
        left, right, operator = part.field("left"), part.field("right"), part.field("operator")
        if part.type != "assignment_expression" or left is None or right is None or operator is None:
            return None
        bound = state.lookup(left.text) if left.type == "identifier" else None
        is_register = isinstance(bound, Place) and not bound.index and not bound.remaining
        if operator.text != "=" or not (is_register or isinstance(bound, Scalar)) or _is_read_later(node, left.text):
            return None
        dtype = bound.type.dtype if isinstance(bound, Place) else getattr(bound, "dtype", None)
        found[left.text] = (right, dtype)
    return found


def _is_read_later(node: Node, name: str) -> bool:
    """Whether the value a loop leaves in `name` may be read: the first mention after it is no assignment."""
    block = node
    while block.parent is not None and block.parent.type != "function_definition":
        if block.parent.type in ("for_statement", "while_statement", "do_statement") and block.key != node.key:
            return True
        block = block.parent
        if block.type in ("for_statement", "while_statement", "do_statement"):
            return True
    for mention in block.found("identifier"):
        if mention.start >= node.end and mention.text == name:
            parent = mention.parent
            left = parent.field("left") if parent is not None and parent.type == "assignment_expression" else None
            return left is None or left.key != mention.key or parent is None or not parent.has("=")
    return False


def _updates(update: Node) -> list[_Update] | None:
    found: list[_Update] = []
    for part in _parts(update):
        read = _one_update(bare(part))
        if read is None:
            return None
        found.append(read)
    return found


def _one_update(node: Node) -> _Update | None:
    operator = node.field("operator")
    if node.type == "update_expression":
        argument = node.field("argument")
        is_name = argument is not None and argument.type == "identifier" and operator is not None
        return _Update(argument.text, operator.text, None) if is_name and argument and operator else None
    left, right = node.field("left"), node.field("right")
    if node.type != "assignment_expression" or left is None or right is None or operator is None:
        return None
    if left.type != "identifier":
        return None
    if operator.text != "=":
        return _Update(left.text, operator.text, right)
    right = bare(right)
    inner = right.field("operator")
    first, second = right.field("left"), right.field("right")
    if right.type != "binary_expression" or inner is None or first is None or second is None:
        return None
    if first.type == "identifier" and first.text == left.text:
        return _Update(left.text, inner.text + "=", second)
    if second.type == "identifier" and second.text == left.text and inner.text in ("+", "*"):
        return _Update(left.text, inner.text + "=", first)
    return None


def _parts(node: Node) -> list[Node]:
    """The expressions between the commas of `node`."""
    node = bare(node)
    if node.type != "comma_expression":
        return [node]
    left, right = node.field("left"), node.field("right")
    return [*(_parts(left) if left is not None else []), *(_parts(right) if right is not None else [])]


def _comparison(test: Node, names: list[str]) -> tuple[str, str, Node | None] | None:
    """The variable, the operator and the bound of the test; no bound for a bare variable."""
    if test.type == "identifier" and test.text in names:
        return test.text, "", None
    left, right, operator = test.field("left"), test.field("right"), test.field("operator")
    if test.type != "binary_expression" or left is None or right is None or operator is None:
        return None
    left, right = bare(left), bare(right)
    if operator.text not in _FLIPPED:
        return None
    if left.type == "identifier" and left.text in names:
        return left.text, operator.text, right
    if right.type == "identifier" and right.text in names:
        return right.text, _FLIPPED[operator.text], left
    return None


def _depends(test: Node, updates: list[_Update], name: str) -> bool:
    """Whether the bound, or a step, reads another variable of the loop."""
    names = {found.name for found in updates}
    read = {found.text for found in test.found("identifier")} - {name}
    for update in updates:
        if update.amount is not None:
            read |= {found.text for found in update.amount.found("identifier")}
    return bool(names & read)


def _is_steady(state: State, node: Node, test: Node, update: Node, names: list[str]) -> bool:
    """Whether the body changes neither the loop's variables nor what test and update read."""
    body = node.field("body")
    changes: Mutations | None = state.mutations
    if body is None or changes is None:
        return False
    read = {found.text for part in (test, update) for found in part.found("identifier")}
    if any(changes.is_changed(name, body.start, body.end) for name in read | set(names)):
        return False
    return not test.found("subscript_expression", "pointer_expression", "update_expression", "assignment_expression")


def _is(expression: Expr, value: int) -> bool:
    return isinstance(expression, Const) and expression.value == value
