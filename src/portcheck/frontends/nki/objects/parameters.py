"""What the parameters of a kernel are: tensors, numbers, objects with such attributes, or what the user states."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from portcheck.core.dtype import BOOL, FLOAT32, INT64, DType
from portcheck.core.errors import InputError
from portcheck.frontends.nki.objects.classes import order_of
from portcheck.frontends.nki.objects.completing import complete
from portcheck.frontends.nki.objects.enumerations import members_of
from portcheck.frontends.nki.objects.functions import all_parameters
from portcheck.frontends.nki.objects.given import as_made, forget_what_changes
from portcheck.frontends.nki.objects.wrapping import wrapper_of
from portcheck.frontends.nki.source.expression_trees import Trees, UnreadError, expression
from portcheck.frontends.nki.source.imports import is_nki
from portcheck.frontends.nki.source.parse import empty_segment
from portcheck.frontends.nki.source.screen import is_too_deep
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.facts import Facts, sizes_in
from portcheck.frontends.nki.state.failure import NeedsUnrollingError, RaisedError, UnfollowedError
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.values.arithmetic import known
from portcheck.frontends.nki.values.callables import Class, ClassKind, Function
from portcheck.frontends.nki.values.flags import flag_called
from portcheck.frontends.nki.values.values import NONE, Either, External, Instance, Parameter, Text, Unknown, Value
from portcheck.ir import Apply, OpaqueKind, Symbol
from portcheck.knowledge import Semantics

_LONGEST = 1000
"""Characters that the text of a stated value may have."""
_SHOWN = 60
_NUMBERS = {"int": INT64, "float": FLOAT32, "bool": BOOL}
_OPTIONAL = "Optional"
_UNION = "Union"
_SEQUENCES = frozenset({"list", "tuple", "List", "Tuple", "Sequence"})
_NESTED = 4
"""Objects inside one another that annotations may describe."""


def bind_parameters(context: Context, frame: Frame, function: Function) -> None:
    """Gives the parameters of a kernel what they stand for, and notes what annotations and options say of them."""
    context.home = function.home
    for parameter in all_parameters(function.node):
        name = parameter.name.value
        annotation = parameter.annotation.annotation if parameter.annotation is not None else None
        facts = context.facts[name]
        facts.is_optional = _is_nothing(parameter.default) or _may_be_nothing(annotation)
        _note_number(context, name, annotation, parameter.default)
        _note_shape(context, name, facts)
        stated = _stated(context, function, name, annotation)
        if stated is not None:
            frame.names[name] = stated
        elif _is_nothing(parameter.default) and not facts.is_given and _is_opaque(context, function.home, annotation):
            context.assume(f"{name} is taken to be None, its default: state it with --value {name}=...")
            context.left_out.append(name)
            frame.names[name] = NONE
        else:
            frame.names[name] = _declared(context, function.home, name, annotation, 0)
    for starred in (function.node.params.star_arg, function.node.params.star_kwarg):
        if isinstance(starred, cst.Param):
            name = starred.name.value
            frame.names[name] = Unknown(name, f"what the kernel is given as {name} is not known", kind=OpaqueKind.CALL)


def part(context: Context, name: str, dtype: DType | None = None) -> Value:
    """A part of a parameter by its own name, such as `config.eps` or `tensors[0]`: as stated, or a parameter too."""
    stated = _stated_value(context, context.home, name)
    if stated is not None:
        return stated
    if name not in context.facts:
        context.facts[name] = Facts(is_part=True)
        context.buffers[name] = context.symbols[name] = None
        _note_shape(context, name, context.facts[name])
    if dtype is not None:
        context.scalars.setdefault(name, dtype)
    return Parameter(name)


def _stated(context: Context, function: Function, name: str, annotation: cst.BaseExpression | None) -> Value | None:
    """What the options say that a parameter is; a text names a member where an enumeration is asked for."""
    value = _stated_value(context, function.home, name)
    kind = class_of(context, function.home, annotation) if isinstance(value, Text) else None
    if isinstance(kind, Class) and kind.kind is ClassKind.ENUMERATION and isinstance(value, Text):
        word = value.value.rpartition(".")[2]
        return next((item for item in members_of(kind) if item.record == word), value)
    return value


def _stated_value(context: Context, home: Frame | None, name: str) -> Value | None:
    """What the options say that `name` is, if they do; InputError for what is not understood."""
    text = context.values.get(name)
    value = evaluated_text(context, home, text) if text is not None else None
    if text is not None and value is None:
        raise InputError(
            f"--value {name}: {text[:_SHOWN]} is not understood",
            hint="give a number, True, False, None, a name of the port, or a text in quotes",
        )
    return value


def evaluated_text(context: Context, home: Frame | None, text: str) -> Value | None:
    """What the user's `text` means among the names of the file `home`; a word that is no expression is a text."""
    try:
        parsed = ast.parse(text[:_LONGEST], mode="eval")
        if is_too_deep(parsed):
            return None
        node = expression(Trees(()), parsed.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnreadError, cst.CSTValidationError):
        return Text(text)
    frame = Frame(empty_segment(context.path), home)
    value = evaluated_aside(context, frame, node)
    is_word = isinstance(value, Unknown) and isinstance(parsed.body, ast.Name | ast.Attribute)
    is_open = isinstance(value, Unknown | Symbol) or (isinstance(value, Apply) and known(value) is None)
    return Text(text) if is_word else None if is_open else value


def evaluated_aside(context: Context, frame: Frame, node: cst.CSTNode) -> Value | None:
    """The value of an expression that does nothing in the kernel; None where it is not followed."""
    try:
        with context.aside():
            return context.evaluate(context, frame, node, "")
    except (UnfollowedError, NeedsUnrollingError, RaisedError):
        return None


def _declared(context: Context, home: Frame, name: str, annotation: cst.BaseExpression | None, depth: int) -> Value:
    """A parameter, or part of one, as its annotation describes it: an object of a class of the port, or anything."""
    facts = context.facts[name]
    facts.is_optional = facts.is_optional or (depth > 0 and _may_be_nothing(annotation))
    wrapper = wrapper_of(context, home, name)
    if wrapper is not None:
        facts.is_tensor = False
        context.assume(f"{name} is taken to be an object of {wrapper.name}, which has {', '.join(sorted(facts.asked))}")
        made = _as_made(context, name, wrapper, depth)
        if made is not None and facts.is_part and facts.is_optional:
            return Either(flag_called(f"{name} is None"), NONE, made)
        return made or Parameter(name)
    kind = class_of(context, home, annotation)
    if isinstance(kind, External) and _is_tensor(context, kind.name):
        facts.is_tensor = True
    facts.enumeration = kind if isinstance(kind, Class) and kind.kind is ClassKind.ENUMERATION else None
    if not isinstance(kind, Class) or kind.kind is ClassKind.ENUMERATION or depth >= _NESTED:
        return Parameter(name)
    whole = _as_made(context, name, kind, depth)
    if whole is not None:
        return whole
    made = Instance({}, kind.name, owner=kind)
    for item in reversed(order_of(kind)):
        for field, inner in item.annotated.items():
            part(context, f"{name}.{field}", _number_of(inner))
            value = _stated_value(context, item.home, f"{name}.{field}")
            made.held[field] = value or _declared(context, item.home, f"{name}.{field}", inner, depth + 1)
    if not made.held:
        return Parameter(name)
    if complete(context, name, made):
        forget_what_changes(context, made, name, lambda word, dtype: part(context, word, dtype))
        if facts.is_optional:
            context.assume(f"{name} is taken to be given")
    return made


def _as_made(context: Context, name: str, kind: Class, depth: int) -> Instance | None:
    """A parameter of a class of the port as its `__init__` makes it, where that is followed."""

    def declare(home: Frame, word: str, annotation: cst.BaseExpression | None) -> Value:
        part(context, word, _number_of(annotation))
        return _stated_value(context, home, word) or _declared(context, home, word, annotation, depth + 1)

    return as_made(context, name, kind, declare, lambda word, dtype: part(context, word, dtype))


def _is_opaque(context: Context, home: Frame, annotation: cst.BaseExpression | None) -> bool:
    """Whether a parameter is an object of a class of the port whose fields no annotation names."""
    kind = class_of(context, home, annotation)
    is_object = isinstance(kind, Class) and kind.kind is not ClassKind.ENUMERATION
    return is_object and isinstance(kind, Class) and not any(item.annotated for item in order_of(kind))


def class_of(context: Context, home: Frame, annotation: cst.BaseExpression | None) -> Value | None:
    """The class that an annotation names, also as a text; of several a tensor, or the only one beside `None`."""
    match annotation:
        case cst.SimpleString():
            text = str(annotation.evaluated_value)
            return evaluated_text(context, home, text) if text.isidentifier() else None
        case cst.Name() | cst.Attribute():
            return evaluated_aside(context, Frame(home.segment, home), annotation)
        case cst.Subscript(value=outer, slice=[cst.SubscriptElement(slice=cst.Index(value=inner))]):
            return class_of(context, home, inner) if _word(outer) == _OPTIONAL else None
        case cst.Subscript(value=outer, slice=parts) if _word(outer) == _UNION:
            choices = [part.slice.value for part in parts if isinstance(part.slice, cst.Index)]
            return _one_of(context, home, choices)
        case cst.BinaryOperation(operator=cst.BitOr(), left=left, right=right):
            return _one_of(context, home, [left, right])
        case _:
            return None


def _one_of(context: Context, home: Frame, choices: Sequence[cst.BaseExpression]) -> Value | None:
    """The class that a parameter of one of several is taken to be of."""
    named = [class_of(context, home, choice) for choice in choices if not _is_nothing(choice)]
    tensors = [kind for kind in named if isinstance(kind, External) and _is_tensor(context, kind.name)]
    return tensors[0] if tensors else named[0] if len(named) == 1 else None


def _is_tensor(context: Context, name: str) -> bool:
    entry = context.knowledge.api_in_any_version(name)
    is_made = entry is not None and entry.latest.semantics is Semantics.ALLOC
    return is_made or (is_nki(name) and name.lower().endswith("tensor"))


def _word(node: cst.CSTNode) -> str:
    name = node.attr if isinstance(node, cst.Attribute) else node
    return name.value if isinstance(name, cst.Name) else ""


def _is_nothing(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _may_be_nothing(annotation: cst.BaseExpression | None) -> bool:
    """Whether an annotation says that the parameter may be `None`."""
    match annotation:
        case cst.Subscript(value=outer):
            return _word(outer) == _OPTIONAL
        case cst.BinaryOperation(operator=cst.BitOr(), left=left, right=right):
            return _is_nothing(left) or _is_nothing(right)
        case _:
            return False


def _note_shape(context: Context, name: str, facts: Facts) -> None:
    """A stated shape says that the parameter is a tensor, and of which rank."""
    sizes = sizes_in(context.shapes.get(name, ""))
    if sizes:
        facts.is_tensor = True
        facts.is_optional = False
        facts.rank = len(sizes)


def _note_number(
    context: Context, name: str, annotation: cst.BaseExpression | None, default: cst.BaseExpression | None
) -> None:
    dtype = _number_of(annotation) or _of_default(default)
    if dtype is not None:
        context.scalars[name] = dtype


def _number_of(annotation: cst.BaseExpression | None) -> DType | None:
    """The dtype of a number that an annotation names, also beside `None`."""
    match annotation:
        case cst.Name(value=word):
            return _NUMBERS.get(word)
        case cst.Subscript(value=outer, slice=[cst.SubscriptElement(slice=cst.Index(value=inner))]):
            return _number_of(inner) if _word(outer) == _OPTIONAL else None
        case cst.BinaryOperation(operator=cst.BitOr(), left=left, right=right) if _may_be_nothing(annotation):
            return _number_of(right if _is_nothing(left) else left)
        case _:
            return None


def _of_default(default: cst.BaseExpression | None) -> DType | None:
    if isinstance(default, cst.UnaryOperation):
        default = default.expression
    if isinstance(default, cst.Integer):
        return INT64
    if isinstance(default, cst.Float):
        return FLOAT32
    if isinstance(default, cst.Name) and default.value in ("True", "False"):
        return BOOL
    return None
