"""Kernels of one name: definitions are told apart, and launches say which of them they mean.

The second kernel `k` of a file is called `k#2`. An explicit specialisation is an instance of its template, `k<half>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from portcheck.frontends.cuda.functions.overloads import instance_text, is_for, signature, states
from portcheck.frontends.cuda.host.following import Host
from portcheck.frontends.cuda.host.launch import LaunchSite
from portcheck.frontends.cuda.model.frames import Binding
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.templates import template_argument, template_parameters
from portcheck.frontends.cuda.model.types import declare, type_of
from portcheck.frontends.cuda.model.values import CType, TypeKind
from portcheck.frontends.cuda.parsing.definitions import Definitions, Function
from portcheck.frontends.cuda.parsing.syntax import bare

_SEVERAL = 2
_NUMBER = "#"


def tell_apart(definitions: Definitions) -> None:
    """Gives each kernel a name of its own, and sets aside the explicit specialisations of templates that are here."""
    templates = {function.name for function in definitions.kernels if not function.is_special}
    seen: dict[str, set[tuple[str, int]]] = {}
    own: list[Function] = []
    for function in definitions.kernels:
        if function.is_special and function.name in templates:
            definitions.special_kernels.setdefault(function.name, []).append(function)
            continue
        places = seen.setdefault(function.name, set())
        place = (function.node.span.path, function.node.start)
        if place in places:
            continue
        places.add(place)
        number = f"{_NUMBER}{len(places)}" if len(places) > 1 else ""
        own.append(replace(function, name=function.name + number))
    definitions.kernels[:] = own


def resolved(state: State, sites: Iterable[LaunchSite]) -> list[LaunchSite]:
    """`sites` with the names of the kernels they mean; one that may mean several has no name, which is noted."""
    named: dict[str, list[Function]] = {}
    for function in state.definitions.kernels:
        named.setdefault(function.name.partition(_NUMBER)[0], []).append(function)
    several = {name: functions for name, functions in named.items() if len(functions) >= _SEVERAL}
    return [replace(site, name=_meant(state, several[site.name], site)) if site.name in several else site
            for site in sites]  # fmt: skip


def _meant(state: State, functions: list[Function], site: LaunchSite) -> str:
    callee = site.node.field("function")
    if callee is not None:
        functions = state.definitions.functions_called(functions, bare(callee), name=bare(callee).text)
    host = Host(state, site.host, site.node, (*site.templates, *site.arguments))
    with host.names():
        types = [host.type_of(argument) for argument in site.arguments]
        ranked = [(_fit(state, function, site, types), function.name) for function in functions]
    fitting = sorted(((fit, name) for fit, name in ranked if fit is not None), reverse=True)
    if not fitting or (len(fitting) >= _SEVERAL and (fitting[0][0] == fitting[1][0] or None in types)):
        state.note(f"{site.name}: the launch on line {site.node.span.start.line} may mean several kernels; left out")
        return ""
    return fitting[0][1]


def _fit(state: State, function: Function, site: LaunchSite, types: list[CType | None]) -> int | None:
    """How many parameters are of just the type that is passed; None where one cannot take it."""
    parameters = function.parameters
    required = [parameter for parameter in parameters if parameter.type == "parameter_declaration"]
    if not len(required) <= len(types) <= len(parameters) or (site.templates and function.template is None):
        return None
    if function.is_special and site.templates and not states(state, function, site.templates):
        return None
    open_names = {name for name, _, _ in template_parameters(function.template)}
    exact = 0
    for parameter, given in zip(parameters, types, strict=False):
        specifier = parameter.field("type")
        if given is None or (specifier is not None and specifier.text in open_names):
            continue
        wanted = declare(state, type_of(state, specifier), parameter.field("declarator")).type
        if not _converts(given, wanted):
            return None
        exact += _name(given) == _name(wanted)
    return exact


def _converts(given: CType, wanted: CType) -> bool:
    if TypeKind.UNKNOWN in (given.kind, wanted.kind):
        return True
    if given.kind is TypeKind.SCALAR and wanted.kind is TypeKind.SCALAR:
        return True
    if given.kind is TypeKind.POINTER and wanted.kind is TypeKind.POINTER:
        return _name(given) == _name(wanted) or "void" in (_name(given), _name(wanted))
    return given.kind is wanted.kind and _name(given) == _name(wanted)


def _name(type_: CType) -> str:
    """What tells types apart, but for `const`."""
    if type_.kind is TypeKind.POINTER:
        return f"{_name(type_.target)}*" if type_.target is not None else "void*"
    return str(type_.dtype) if type_.kind is TypeKind.SCALAR else type_.name


def special_kernel(state: State, function: Function, bindings: Mapping[str, Binding]) -> Function | None:
    """The explicit specialisation of a kernel for these template arguments, if there is one."""
    listed = state.definitions.special_kernels.get(function.name, ())
    if not listed:
        return None
    with state.builder.region(), state.scope():
        state.scopes[-1].update(bindings)
        wanted = signature(state, function)
        arguments = [instance_text(bindings[name]) for name in bindings]
        return next((one for one in listed if is_for(state, one, arguments, wanted)), None)


def special_bindings(state: State, function: Function, special: Function) -> dict[str, Binding] | None:
    """The template arguments of `function` that its specialisation is for; None where one is not known."""
    found: dict[str, Binding] = {}
    stated = special.specialised
    for position, (name, _, _) in enumerate(template_parameters(function.template)):
        if position < len(stated):
            binding = template_argument(state, stated[position])
        else:
            binding = _passed_as(state, function, special, name)
        if binding is None or not instance_text(binding):
            return None
        found[name] = binding
    return found


def _passed_as(state: State, function: Function, special: Function, name: str) -> CType | None:
    for parameter, own in zip(function.parameters, special.parameters, strict=False):
        specifier = parameter.field("type")
        if specifier is not None and specifier.text == name:
            return type_of(state, own.field("type"))
    return None
