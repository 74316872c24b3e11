"""Instances of a kernel that is a template: the arguments its launches state, or that follow from what they pass.

A launch in a function that is a template itself has the arguments of that function's calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from portcheck.core.dtype import FLOAT32
from portcheck.frontends.cuda.host.following import Host, calls_of, enclosing_function
from portcheck.frontends.cuda.host.kernel_names import special_bindings, special_kernel
from portcheck.frontends.cuda.host.launch import LaunchSite
from portcheck.frontends.cuda.model.callsite import qualified_name
from portcheck.frontends.cuda.model.constants import folded
from portcheck.frontends.cuda.model.frames import Binding
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.templates import default_argument, template_parameters
from portcheck.frontends.cuda.model.types import type_of
from portcheck.frontends.cuda.model.values import CType, FunctionName, Scalar, TypeKind
from portcheck.frontends.cuda.parsing.definitions import Function, declared_name
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.ir import Const, symbols_in

_MOST_CALLS = 32
_DEEPEST_CALLS = 3
MOST_INSTANCES = 8

Bindings = Mapping[str, Binding]


@dataclass(frozen=True, slots=True)
class Instance:
    """A kernel with its template arguments; `label` is how it is called, `sites` are its launches.

    `special` is the explicit specialisation that stands for the template there.
    """

    label: str
    bindings: Bindings
    sites: tuple[LaunchSite, ...]
    special: Function | None = None


def instances(state: State, function: Function, sites: Sequence[LaunchSite]) -> list[Instance]:
    """The distinct instances that the launches of `function` ask for, in their order, as far as they are known."""
    parameters = template_parameters(function.template)
    found: dict[str, Instance] = {}
    for site in sites if parameters else ():
        for around in _environments(state, site.host, 0):
            bindings = _at_launch(state, function, site, around)
            if bindings is None:
                continue
            label = _label(function, bindings)
            known = found.get(label)
            mine = (*(known.sites if known is not None else ()), site)
            found[label] = Instance(label, bindings, mine, special_kernel(state, function, bindings))
    return list(found.values())


def specialisations(state: State, function: Function) -> list[Instance]:
    """The instances that explicit specialisations of a kernel define, as if nothing launched them."""
    found: list[Instance] = []
    for special in state.definitions.special_kernels.get(function.name, ()):
        bindings = special_bindings(state, function, special)
        if bindings is not None:
            found.append(Instance(_label(function, bindings), bindings, (), special))
    return found


def _label(function: Function, bindings: Bindings) -> str:
    parameters = template_parameters(function.template)
    return f"{function.name}<{', '.join(shown(bindings[name]) for name, _, _ in parameters if name)}>"


def shown(binding: Binding) -> str:
    """A template argument as a label has it."""
    match binding:
        case CType(name=name, dtype=dtype):
            return name if dtype is None or not name else {"float32": "float", "float64": "double"}.get(name, name)
        case Scalar(expr=Const(value=value)):
            return str(value).lower() if isinstance(value, bool) else str(value)
        case FunctionName(name=name):
            return name
        case _:
            pass
    return "an expression"


def agreed(state: State, function: Function, found: Sequence[Instance]) -> Bindings:
    """The arguments that all instances have in common; of types that differ those of one instance, with a note.

    Numbers that differ stay open: the kernel is read for all of them.
    """
    if not found:
        return {}
    chosen = next((one for one in found if _is_single(one)), found[0])
    result: dict[str, Binding] = {}
    for name, _, is_type in template_parameters(function.template):
        values = {shown(one.bindings[name]) for one in found if name in one.bindings}
        if len(values) == 1:
            result[name] = chosen.bindings[name]
        elif is_type and values:
            result[name] = chosen.bindings[name]
            said = f"{shown(chosen.bindings[name])} is chosen"
            state.note(f"{function.name}: launches differ in template parameter {name}; {said}")
        elif values:
            state.note(f"{function.name}: launches differ in template parameter {name}; none is chosen")
    return result


def _is_single(instance: Instance) -> bool:
    types = [binding for binding in instance.bindings.values() if isinstance(binding, CType)]
    return all(type_.dtype == FLOAT32 for type_ in types)


def _at_launch(state: State, function: Function, site: LaunchSite, around: Bindings) -> Bindings | None:
    """The template arguments of one launch; None where one is not known."""
    deduced = any(is_type for _, _, is_type in template_parameters(function.template)[len(site.templates) :])
    wanted = (*site.templates, *(site.arguments if deduced else ()))
    host = Host(state, site.host, site.node, wanted, bindings=around)
    with host.names():
        return _bindings(state, function, (host, site.templates, site.arguments))


def _bindings(
    state: State, function: Function, call: tuple[Host, Sequence[Node], Sequence[Node]]
) -> Bindings | None:  # fmt: skip
    """The template arguments of `function` where it is called so; None where one is not known."""
    host, given, arguments = call
    found: dict[str, Binding] = {}
    for position, (name, node, is_type) in enumerate(template_parameters(function.template)):
        if not name:
            continue
        binding: Binding | None
        if position < len(given):
            binding = _stated(state, given[position], is_type)
        elif is_type:
            binding = _deduced(host, function.parameters, name, arguments)
        else:
            binding = None
        if binding is None and position >= len(given):
            with state.scope():
                for known, value in found.items():
                    state.bind(known, value)
                binding = default_argument(state, node, is_type)
            binding = folded(binding) if isinstance(binding, Scalar) else binding
        if binding is None or (isinstance(binding, CType) and binding.kind is TypeKind.UNKNOWN):
            return None
        found[name] = binding
    return found


def _stated(state: State, argument: Node, is_type: bool) -> Binding | None:
    return type_of(state, argument) if is_type else constant_argument(state, argument)


def constant_argument(state: State, node: Node) -> Scalar | FunctionName | None:
    """A template argument that is a constant number, or a function; None for anything else."""
    inner = node.field("type") if node.type == "type_descriptor" else None
    with state.builder.region() as emitted:
        value = state.evaluate(inner if inner is not None else node)
    if emitted or not isinstance(value, Scalar | FunctionName):
        return None
    if isinstance(value, FunctionName):
        return value
    number = folded(value)
    return number if not number.is_data and not symbols_in(number.expr) else None


def _deduced(host: Host, parameters: Sequence[Node], name: str, arguments: Sequence[Node]) -> CType | None:
    """The type that makes a parameter declared with `name` fit what is passed."""
    for parameter, argument in zip(parameters, arguments, strict=False):
        named = parameter.field("type")
        if named is None or named.text != name:
            continue
        type_: CType | None = host.type_of(argument)
        declarator = parameter.field("declarator")
        while declarator is not None and type_ is not None:
            if declarator.type in ("pointer_declarator", "abstract_pointer_declarator", "array_declarator"):
                type_ = type_.target if type_.kind is TypeKind.POINTER else None
            declarator = declarator.field("declarator")
        if type_ is not None and type_.kind is not TypeKind.UNKNOWN:
            return replace(type_, constant=False, volatile=False, reference=False)
    return None


def _environments(state: State, host: Node | None, depth: int) -> list[Bindings]:
    """What the template parameters of the function around a launch stand for, for each of its calls in reach."""
    key = (host.key if host is not None else None, depth)
    if key not in state.host_environments:
        state.host_environments[key] = _around(state, host, depth)
    return state.host_environments[key]


def _around(state: State, host: Node | None, depth: int) -> list[Bindings]:
    parent = host.parent if host is not None else None
    if host is None or parent is None or parent.type != "template_declaration" or depth == _DEEPEST_CALLS:
        return [{}]
    name = declared_name(host.field("declarator"))
    function = next((one for one in state.definitions.functions.get(name, []) if one.node.key == host.key), None)
    if function is None:
        return [{}]
    found: dict[str, Bindings] = {}
    for call in calls_of(state, name)[:_MOST_CALLS]:
        caller, callee, arguments = enclosing_function(call), call.field("function"), call.field("arguments")
        templates = qualified_name(state, bare(callee))[1] if callee is not None else []
        listed = arguments.named if arguments is not None else []
        for around in _environments(state, caller, depth + 1):
            there = Host(state, caller, call, (*templates, *listed), bindings=around)
            with there.names():
                bindings = _bindings(state, function, (there, templates, listed))
            if bindings is not None:
                found.setdefault(str([shown(value) for value in bindings.values()]), bindings)
    return list(found.values()) or [{}]
