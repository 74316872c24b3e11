"""Which of several functions of one name a call means: overloads and explicit specialisations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.instances import shown_argument
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.templates import (
    bind_template,
    template_argument,
    template_arguments,
    template_parameters,
)
from portcheck.frontends.cuda.model.types import declare, is_constant, type_of, type_of_value
from portcheck.frontends.cuda.model.values import CType, FunctionName, Place, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.definitions import Function
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Const, OpaqueKind


def chosen_for(
    state: State, functions: list[Function], call: CallSite, values: list[Value], owner: Value | None = None
) -> Function | Value | None:
    """The function a call means; None where none takes these arguments, a lost value where that is not known.

    An explicit specialisation is no overload: it stands in for its template once that is chosen.
    """
    special = [function for function in functions if function.is_special]
    function = chosen(state, [function for function in functions if not function.is_special], values, owner)
    if function is None:
        stated = [found for found in special if states(state, found, call.templates)]
        return chosen(state, stated or [found for found in special if not found.specialised or not call.templates],
                      values, owner)  # fmt: skip
    if not special or function.template is None:
        return function
    with state.builder.region(), state.scope():
        bind_template(state, function, template_arguments(state, function, call), values)
        bound = [state.scopes[-1].get(name) for name, _, _ in template_parameters(function.template)]
        wanted = signature(state, function)
    known = ["" if binding is None else instance_text(binding) for binding in bound]
    fitting = [found for found in special if is_for(state, found, known, wanted)]
    if "" in known or len(fitting) > 1:
        return state.opaque(call.node, f"specialisation of {call.name} that is not known", kind=OpaqueKind.CALL)
    return fitting[0] if fitting else function


def states(state: State, function: Function, templates: Sequence[Node]) -> bool:
    """Whether a specialisation is for template arguments that begin as written."""
    given = [instance_text(template_argument(state, node)) for node in templates]
    stated = [instance_text(template_argument(state, node)) for node in function.specialised]
    return bool(stated) and "" not in stated and stated == given[: len(stated)]


def is_for(state: State, function: Function, arguments: list[str], wanted: list[str]) -> bool:
    """Whether a specialisation is the one for these template arguments, which give its template these parameters."""
    stated = [instance_text(template_argument(state, node)) for node in function.specialised]
    return stated == arguments[: len(stated)] and signature(state, function) == wanted


def signature(state: State, function: Function) -> list[str]:
    """The types of the parameters of a function, as the scopes have it."""
    types = [(parameter.field("type"), parameter.field("declarator")) for parameter in function.parameters]
    return [shown_argument(declare(state, type_of(state, type_), declarator).type) for type_, declarator in types]


def instance_text(argument: Value | CType | None) -> str:
    """What tells the instances of a template apart as far as it is known; else ""."""
    match argument:
        case CType():
            return shown_argument(argument)
        case FunctionName(name=name):
            return name
        case Scalar(expr=Const(value=value)):
            return str(value)
        case _:
            pass
    return ""


def chosen(
    state: State, functions: Iterable[Function], values: list[Value], owner: Value | None = None
) -> Function | None:
    """The overload whose parameters fit the arguments best; None where none takes so many.

    Of several that fit alike, the one that says `const` of just what is constant (`owner` is what it is called on),
    then the one that is no template, or has no parameter pack.
    """
    found: list[tuple[tuple[int, int, bool, bool], Function]] = []
    for function in functions:
        parameters = function.parameters
        required = [parameter for parameter in parameters if parameter.type == "parameter_declaration"]
        if not len(required) <= len(values) <= len(parameters) or function.is_kernel:
            continue
        fit = _fit(state, function, values)
        if fit is not None:
            rank = (fit, _constness(state, function, values, owner), function.template is None, not function.is_packed)
            found.append((rank, function))
    if not found:
        return None
    best = max(score for score, _ in found)
    return next(function for score, function in found if score == best)


def _constness(state: State, function: Function, values: list[Value], owner: Value | None) -> int:
    """At how many places a function says `const` of what is constant and nothing of what is not."""
    score = int(owner is not None and is_constant(owner) == function.is_constant)
    for parameter, value in zip(function.parameters, values, strict=False):
        declarator = parameter.field("declarator")
        is_indirect = declarator is not None and declarator.type.removeprefix("abstract_") in _INDIRECT
        score += is_indirect and is_constant(value) == parameter.has("const")
    return score


_INDIRECT = frozenset({"pointer_declarator", "reference_declarator"})


def _is_number(value: Value) -> bool:
    type_ = type_of_value(value)
    return type_ is not None and type_.kind is TypeKind.SCALAR


def _is_pointer(parameter: Node) -> bool:
    declarator = parameter.field("declarator")
    return declarator is not None and declarator.type in ("pointer_declarator", "abstract_pointer_declarator")


def _fit(state: State, function: Function, values: list[Value]) -> int | None:
    """How well the parameters fit the arguments; None where one takes no such value."""
    score = 0
    open_names = {name for name, _, _ in template_parameters(function.template)}
    for parameter, value in zip(function.parameters, values, strict=False):
        specifier = parameter.field("type")
        if specifier is not None and specifier.text in open_names:
            score += 2 * (_is_number(value) and not _is_pointer(parameter))
            continue
        type_ = declare(state, type_of(state, parameter.field("type")), parameter.field("declarator")).type
        if not _converts(state, value, type_):
            return None
        dtype = value.dtype if isinstance(value, Scalar) else None
        if isinstance(value, Place) and not value.remaining:
            dtype = value.type.dtype
        if dtype is not None:
            score += 2 * (type_.dtype == dtype) - (type_.kind is TypeKind.POINTER) * 2
        elif type_.kind is TypeKind.POINTER:
            target = type_.target.dtype if type_.target is not None else None
            score += 1 + (target is not None and target == getattr(getattr(value, "type", None), "dtype", None))
        else:
            own = type_of_value(value)
            score += 2 * (own is not None and type_.name == own.name)
    return score


def _converts(state: State, value: Value, type_: CType) -> bool:
    """Whether a parameter of `type_` may take `value`: a vector takes its like, a record what it can be made of."""
    own = type_of_value(value)
    if own is None or type_.kind is TypeKind.UNKNOWN:
        return True
    if TypeKind.VECTOR in (own.kind, type_.kind):
        return own.name == type_.name or TypeKind.RECORD in (own.kind, type_.kind)
    if type_.kind is TypeKind.RECORD and own.kind is TypeKind.SCALAR:
        record = state.records.get(type_.name)
        return record is None or bool(record.functions.get(record.simple_name))
    return True
