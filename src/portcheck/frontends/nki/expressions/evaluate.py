"""Expressions of a port: what each one stands for, with the operations it emits on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst

from portcheck.core.dtype import BOOL, FLOAT64
from portcheck.frontends.nki.expressions import operators, subscripts
from portcheck.frontends.nki.expressions.calls import call_expression
from portcheck.frontends.nki.objects import attributes, dunders
from portcheck.frontends.nki.objects.calls import is_object_word
from portcheck.frontends.nki.objects.enumerations import plain_value
from portcheck.frontends.nki.objects.functions import function_of
from portcheck.frontends.nki.python import calls as python_calls
from portcheck.frontends.nki.python import comparing, texts
from portcheck.frontends.nki.python import sequences as python_sequences
from portcheck.frontends.nki.python.comprehensions import comprehension
from portcheck.frontends.nki.source.imports import is_nki
from portcheck.frontends.nki.source.parse import Spot
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.sizes import decided
from portcheck.frontends.nki.state.uses import note_form
from portcheck.frontends.nki.statements.skipping import evaluated_perhaps, skipped_value
from portcheck.frontends.nki.values.arithmetic import WRITTEN_FALSE, known, literal, unary
from portcheck.frontends.nki.values.callables import BoundMethod, Class, Function
from portcheck.frontends.nki.values.data import as_number, kept_number
from portcheck.frontends.nki.values.flags import condition_of, flag_called, some_flag
from portcheck.frontends.nki.values.tiles import Grid, View
from portcheck.frontends.nki.values.values import (
    NONE,
    Dots,
    Either,
    External,
    Instance,
    Items,
    Nothing,
    Package,
    Parameter,
    Stretch,
    Table,
    Text,
    Unknown,
    Value,
)  # fmt: skip
from portcheck.ir import Apply, Const, Expr, OpaqueKind, Operator
from portcheck.knowledge import Form

_Handler = Callable[[Context, Frame, cst.CSTNode, str], Value]


def evaluate(context: Context, frame: Frame, node: cst.CSTNode, hint: str = "") -> Value:
    """The value of the expression `node`; `hint` is the name it will be bound to."""
    context.burn()
    handler = _HANDLERS.get(type(node))
    if handler is None:
        return skipped_value(context, frame, node, f"{type(node).__name__} is not read")
    if handler in _SIMPLE:
        return context.resolve(handler(context, frame, node, hint))
    builder = context.builder
    builder.enter(Spot(frame.segment, node))
    try:
        value = context.resolve(handler(context, frame, node, hint))
        is_kept = isinstance(value, View) and value.buffer.name in context.kept_numbers
        return kept_number(context, value) if is_kept and isinstance(value, View) else value
    finally:
        builder.leave()


def _undefined(context: Context, name: str) -> Unknown:
    """The value of a name that nothing in reach defines: the same wherever it is read."""
    context.fail_left_out()
    unknown = Unknown(name, f"the name {name} is not defined in this file", (), OpaqueKind.CALL)
    return context.undefined.setdefault(name, unknown)


def _name(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.Name)
    word = node.value
    if word in _WORDS:
        return _WORDS[word]
    found = frame.value(context, word)
    if found is not None:
        return found
    return External(word) if python_calls.is_builtin(word) or is_object_word(word) else _undefined(context, word)


_WORDS: Mapping[str, Value] = {"True": literal(True), "False": WRITTEN_FALSE, "None": NONE}


def _integer(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.Integer)
    digits = node.value.replace("_", "")
    if len(digits) > 40:
        return context.unknown(digits[:40], "an integer of more than 40 digits", kind=OpaqueKind.LIMIT)
    return literal(int(digits, 0) if digits.strip("0") else 0)


def _float(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.Float)
    return Const(float(node.value.replace("_", "")), FLOAT64)


def _items(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.Tuple | cst.List | cst.Set)
    values: list[Value] = []
    for element in node.elements:
        value = evaluate(context, frame, element.value)
        if isinstance(element, cst.StarredElement):
            unpacked = attributes.items_of(context, value)
            if unpacked is None:
                return context.unknown(frame.segment.text(node), "unpacks something that is not understood", value)
            context.burn(len(unpacked))
            values.extend(unpacked)
        else:
            values.append(value)
    if isinstance(node, cst.Set):
        found = python_sequences.without_repeats(values)
        return found if found is not None else context.unknown(frame.segment.text(node), "a set of what is not known")
    return Items(values, is_list=not isinstance(node, cst.Tuple))


def _dictionary(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.Dict)
    table = Table({})
    for element in node.elements:
        value = evaluate(context, frame, element.value)
        if isinstance(element, cst.StarredDictElement):
            if not isinstance(value, Table):
                return context.unknown(frame.segment.text(node), "a dictionary that unpacks another", value)
            table.entries.update(value.entries)
            continue
        assert isinstance(element, cst.DictElement)
        key = subscripts.key_of(evaluate(context, frame, element.key))
        if key is None:
            return context.unknown(frame.segment.text(node), "a dictionary whose keys are not known", value)
        table.entries[key] = value
    return table


def _attribute(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.Attribute)
    owner = evaluate(context, frame, node.value)
    if isinstance(owner, External) and is_nki(owner.name):
        name = context.knowledge.releases.canonical(f"{owner.name}.{node.attr.value}")
        context.noted.names[node] = (name, frame.segment)
    return attributes.attribute(context, owner, node.attr.value)


def _subscript(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.Subscript)
    target = evaluate(context, frame, node.value)
    if isinstance(target, View) and node.value in context.noted.sliced:
        note_form(context, Form.NESTED_SLICE)
    if isinstance(target, View | Parameter):
        context.noted.sliced.add(node)
    return subscripts.subscript(context, target, selectors(context, frame, node), hint, frame.segment.text(node))


def selectors(context: Context, frame: Frame, node: cst.Subscript) -> list[Value]:
    """The values between the brackets of `node`."""
    found: list[Value] = []
    for element in node.slice:
        inner = element.slice
        if isinstance(inner, cst.Index):
            value = evaluate(context, frame, inner.value)
            found.extend(value.values if isinstance(value, Items) and len(node.slice) == 1 else [value])
        elif isinstance(inner, cst.Slice):
            ends = [
                as_number(context, evaluate(context, frame, end)) if end is not None else None
                for end in (inner.lower, inner.upper, inner.step)
            ]
            missing = any(
                end is not None and number is None
                for end, number in zip((inner.lower, inner.upper, inner.step), ends, strict=True)
            )
            stretch = Stretch(ends[0], ends[1], ends[2])
            found.append(
                context.unknown(frame.segment.text(inner), "a slice that is not understood", NONE)
                if missing
                else stretch
            )
    return found


def _binary(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.BinaryOperation)
    left, right = (plain_value(evaluate(context, frame, part)) or NONE for part in (node.left, node.right))
    found = dunders.binary(context, type(node.operator), left, right)
    if found is not None:
        return found
    return operators.binary_operation(context, type(node.operator), left, right, frame.segment.text(node))


def _unary(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.UnaryOperation)
    value = plain_value(evaluate(context, frame, node.expression)) or NONE
    found = dunders.unary(context, type(node.operator), value)
    if found is not None:
        return found
    return operators.unary_operation(context, type(node.operator), value, frame.segment.text(node))


def _boolean(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.BooleanOperation)
    left = evaluate(context, frame, node.left)
    if isinstance(left, Grid):
        # Python's own `and` gives its right operand when the left is an object: the left half of such a mask is lost.
        return evaluate(context, frame, node.right) if isinstance(node.operator, cst.And) else left
    is_and = isinstance(node.operator, cst.And)
    answer = truth(context, left)
    if answer is not None:
        return evaluate(context, frame, node.right) if answer is is_and else left
    test = condition(context, left, frame.segment.text(node.left))
    right = evaluated_perhaps(context, frame, node.right, test, holds=is_and)
    if not is_and and isinstance(right, Instance) and (nothing := comparing.may_be_nothing(context, left)) is not None:
        test = unary(Operator.LOGICAL_NOT, nothing)  # an object, or none
    return operators.one_of(context, test, left, right, frame.segment.text(node), is_and=is_and)


def condition(context: Context, test: Value, text: str) -> Expr:
    """`test` as a truth value."""
    if isinstance(test, Either):
        parts = [condition(context, part, text) for part in (test.first, test.second)]
        values = [known(part) for part in parts]
        if values == [True, False]:
            return test.condition
        return Apply(Operator.SELECT, (test.condition, *parts), BOOL)
    answer = truth(context, test)
    if answer is not None:
        return literal(answer)
    if isinstance(test, External):
        return flag_called(test.name)
    number = context.number_of(test, text) if isinstance(test, Unknown) else as_number(context, test)
    return some_flag(context, text) if number is None else condition_of(number)


def truth(context: Context, value: Value) -> bool | None:
    """Whether Python takes `value` as true; None when that is not known."""
    match value:
        case Either(first=first, second=second):
            answers = truth(context, first), truth(context, second)
            return answers[0] if answers[0] is answers[1] else None
        case Items(values):
            return bool(values)
        case Text(text):
            return bool(text)
        case Unknown():
            return None
        case Instance():
            return _truth_of_object(context, value)
        case Table(entries, record):
            return bool(entries) or bool(record)
        case External(name) if not is_nki(name) and not python_calls.is_builtin(name):
            return None  # it may be a number, or empty
        case External() | Package() | Function() | Class() | BoundMethod() | Grid():
            return True
        case Nothing():
            return False
        case _:
            pass
    number = as_number(context, value)
    if number is None:
        return None
    result = known(number)
    return decided(context, condition_of(number)) if result is None else bool(result)


def _truth_of_object(context: Context, value: Instance) -> bool | None:
    """Whether Python takes an object as true: what its class says, else yes."""
    for word in ("bool", "len"):
        found = dunders.special(context, value, word)
        if found is not None:
            return truth(context, found)
    inner = plain_value(value)
    return truth(context, inner) if inner is not value and inner is not None else True


def _comparison(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.Comparison)
    left = evaluate(context, frame, node.left)
    result: Value | None = None
    for target in node.comparisons:
        right = evaluate(context, frame, target.comparator)
        part = dunders.compared(context, type(target.operator), left, right)
        if part is None:
            part = comparing.comparison(context, type(target.operator), left, right, frame.segment.text(node))
        result = part if result is None else comparing.both(context, result, part, frame.segment.text(node))
        left = right
    return result if result is not None else left


def _conditional(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.IfExp)
    test = evaluate(context, frame, node.test)
    answer = truth(context, test)
    if answer is not None:
        return evaluate(context, frame, node.body if answer else node.orelse, hint)
    flag = condition(context, test, frame.segment.text(node.test))
    chosen, other = (
        evaluated_perhaps(context, frame, part, flag, hint, holds=holds)
        for part, holds in ((node.body, True), (node.orelse, False))
    )
    return operators.choice(context, flag, chosen, other, frame.segment.text(node), hint)


def _lambda(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.Lambda)
    return function_of(context, frame, node, hint or "lambda")


def _named(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    assert isinstance(node, cst.NamedExpr)
    value = evaluate(context, frame, node.value, node.target.value if isinstance(node.target, cst.Name) else hint)
    attributes.bind_target(frame, node.target, value, context)
    return value


def _dots(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    return Dots()


_HANDLERS: Mapping[type[cst.CSTNode], _Handler] = {
    cst.Name: _name,
    cst.Integer: _integer,
    cst.Float: _float,
    cst.SimpleString: texts.string,
    cst.FormattedString: texts.string,
    cst.Tuple: _items,
    cst.List: _items,
    cst.Set: _items,
    cst.Dict: _dictionary,
    cst.Attribute: _attribute,
    cst.Subscript: _subscript,
    cst.BinaryOperation: _binary,
    cst.UnaryOperation: _unary,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.IfExp: _conditional,
    cst.ListComp: comprehension,
    cst.GeneratorExp: comprehension,
    cst.SetComp: comprehension,
    cst.DictComp: comprehension,
    cst.Lambda: _lambda,
    cst.NamedExpr: _named,
    cst.Ellipsis: _dots,
    cst.Call: call_expression,
}
_SIMPLE = frozenset({_name, _integer, _float, _dots})
"""Those that emit nothing, and so need no place."""
