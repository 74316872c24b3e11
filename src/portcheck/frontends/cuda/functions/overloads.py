"""Which of several functions of one name a call means: overloads and explicit specialisations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from portcheck.frontends.cuda.functions.ranking import fit_of, requirements
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
from portcheck.frontends.cuda.model.values import CType, FunctionName, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.definitions import Function, declared_name
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Const, OpaqueKind


def chosen_for(
    state: State, functions: list[Function], call: CallSite, values: list[Value], owner: Value | None = None
) -> Function | Value | None:
    """The function a call means; None where none takes these arguments, a lost value where that is not known.

    An explicit specialisation is no overload: it stands in for its template once that is chosen.
    """
    if call.templates:
        functions = [
            function for function in functions if function.template is not None or function.is_packed
        ] or functions
    special = [function for function in functions if function.is_special]
    fitting = best_of(state, [function for function in functions if not function.is_special], values, owner, call)
    if len(fitting) > 1:
        return state.opaque(call.node, f"which {call.name} is meant", kind=OpaqueKind.CALL)
    function = fitting[0] if fitting else None
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
    meant = [found for found in special if is_for(state, found, known, wanted)]
    if "" in known or len(meant) > 1:
        return state.opaque(call.node, f"specialisation of {call.name} that is not known", kind=OpaqueKind.CALL)
    return meant[0] if meant else function


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
    """The overload whose parameters fit the arguments best; None where none takes so many, or several fit alike."""
    found = best_of(state, functions, values, owner)
    return found[0] if len(found) == 1 else None


def best_of(
    state: State,
    functions: Iterable[Function],
    values: list[Value],
    owner: Value | None = None,
    call: CallSite | None = None,
) -> list[Function]:
    """The overloads whose parameters fit the arguments best: several where it is not seen which is meant.

    Of several that fit alike, the one that says `const` of just what is constant (`owner` is what it is called on),
    then the one that is no template, or has no parameter pack, or says more of its types. What is defined twice by one
    head counts once.
    """
    heads: dict[tuple[str, ...], Function] = {}
    for function in functions:
        if _takes_so_many(function, len(values)) and not function.is_kernel:
            heads.setdefault(_head(function), function)
    possible = [function for function in heads.values() if _may_take(state, function, values)]
    if len(possible) < _SEVERAL:
        return possible
    ranks: list[tuple[tuple[int, ...], tuple[int, ...], Function]] = []
    for function in possible:
        fit = fit_of(state, function, call, values)
        if fit is not None:
            order = (_constness(state, function, values, owner), function.template is None, not function.is_packed)
            high = (fit.high, *order, fit.detail)
            ranks.append((high if fit.low == fit.high else (fit.low,), high, function))
    best = max((low for low, _, _ in ranks), default=None)
    return [function for _, high, function in ranks if best is not None and high >= best]


_SEVERAL = 2


def _takes_so_many(function: Function, count: int) -> bool:
    required = [parameter for parameter in function.parameters if parameter.type == "parameter_declaration"]
    return len(required) <= count <= len(function.parameters)


def _head(function: Function) -> tuple[str, ...]:
    """What two definitions of one function have in common: all of its head but the names of its parameters."""
    template, result = function.template, function.node.field("type")
    parts = [function.space, template.text if template is not None else "", result.text if result is not None else ""]
    for parameter in function.parameters:
        type_, declarator = parameter.field("type"), parameter.field("declarator")
        around = declarator.text.replace(declared_name(declarator), "", 1) if declarator is not None else ""
        parts.append(f"{parameter.has('const')} {type_.text if type_ is not None else ''} {around}")
    parts.extend(clause.text for clause in requirements(function))
    return ("const" if function.is_constant else "", *("".join(part.split()) for part in parts))


def _constness(state: State, function: Function, values: list[Value], owner: Value | None) -> int:
    """At how many places a function says `const` of what is constant and nothing of what is not."""
    score = int(owner is not None and is_constant(owner) == function.is_constant)
    for parameter, value in zip(function.parameters, values, strict=False):
        declarator = parameter.field("declarator")
        is_indirect = declarator is not None and declarator.type.removeprefix("abstract_") in _INDIRECT
        score += is_indirect and is_constant(value) == parameter.has("const")
    return score


_INDIRECT = frozenset({"pointer_declarator", "reference_declarator"})


def _may_take(state: State, function: Function, values: list[Value]) -> bool:
    """Whether no parameter is of a type that surely takes no such value."""
    open_names = {name for name, _, _ in template_parameters(function.template)}
    for parameter, value in zip(function.parameters, values, strict=False):
        specifier = parameter.field("type")
        if specifier is not None and specifier.text in open_names:
            continue
        type_ = declare(state, type_of(state, specifier), parameter.field("declarator")).type
        if not _converts(state, value, type_):
            return False
    return True


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
