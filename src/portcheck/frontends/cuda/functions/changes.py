"""What a body changes: by its own statements, and by the functions, lambdas and function objects it calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.values import Closure, FunctionName
from portcheck.frontends.cuda.parsing.definitions import Function, declared_name, simple_name
from portcheck.frontends.cuda.parsing.mutations import Mutations
from portcheck.frontends.cuda.parsing.references import may_change
from portcheck.frontends.cuda.parsing.syntax import Node, bare
from portcheck.knowledge import WRITTEN

_PACK = "variadic_parameter_declaration"
_CALLED = "operator()"

Signatures = Mapping[str, list[list[Node]]]
"""The parameters of each thing a name may call."""


def mutations_of(state: State, body: Node, given: Mapping[str, object] | None = None) -> Mutations:
    """What `body` changes; `given` are the arguments its function is called with, by the parameter's name."""
    local = _callable(state, body, given or {})

    def takes_reference(call: Node, position: int) -> bool:
        return _takes_reference(state, local, call, position)

    def shows(call: Node, position: int) -> bool:
        return _shows(state, call, position)

    def keeps(declaration: Node, position: int) -> bool:
        specifier = declaration.field("type")
        name = simple_name(specifier) if specifier is not None else ""
        return state.definitions.holds_reference(name) or _any_refers(
            (_parameters_of(function) for function in state.definitions.methods.get(name, [])), position
        )

    return Mutations(body, takes_reference, shows, keeps)


def _callable(state: State, body: Node, given: Mapping[str, object]) -> Signatures:
    """The lambdas and functions that local names of `body` call."""
    found: dict[str, list[list[Node]]] = {}
    for name, value in given.items():
        if isinstance(value, Closure):
            found.setdefault(name, []).append(_parameters(value.node))
        elif isinstance(value, FunctionName):
            last = value.name.rpartition("::")[2]
            found[name] = [_parameters_of(function) for function in state.definitions.functions.get(last, [])]
    for node in body.found("lambda_expression"):
        declarator = node.parent
        if declarator is not None and declarator.type == "init_declarator":
            found.setdefault(declared_name(declarator), []).append(_parameters(node))
    return found


def _parameters(closure: Node) -> list[Node]:
    declarator = closure.field("declarator")
    parameters = declarator.field("parameters") if declarator is not None else None
    return [node for node in (parameters.named if parameters is not None else []) if node.field("type") is not None]


def _takes_reference(state: State, local: Signatures, call: Node, position: int) -> bool:
    function = call.field("function")
    name = declared_name(function) if function is not None else ""
    if function is not None and function.type == "template_function":
        inner = function.field("name")
        name = inner.text if inner is not None else ""
    if name in local:
        return _any_refers(local[name], position)
    if state.definitions.holds_reference(name):
        return True
    candidates = [*state.definitions.functions.get(name, []), *state.definitions.methods.get(name, [])]
    if function is not None and function.type == "field_expression":
        field = function.field("field")
        called = (field.field("name") or field).text if field is not None else ""
        candidates = state.definitions.methods.get(called, [])
        if not candidates and state.knowledge.writes_argument(called, position):
            return True
    elif not candidates and name not in state.macros:
        candidates = state.definitions.methods.get(_CALLED, [])
    if _any_refers(map(_parameters_of, candidates), position):
        return True
    bound = state.lookup(name) if name else None
    if isinstance(bound, Closure):
        return _any_refers([_parameters(bound.node)], position)
    construct = state.construct(function.text.partition("<")[0]) if function is not None else None
    if construct is not None and name not in state.macros:
        return position < len(construct.parameters) and construct.parameters[position].role in WRITTEN
    return name in state.macros or _may_be_a_macro(state, call, name)


def _any_refers(listed: Iterable[list[Node]], position: int) -> bool:
    """Whether the parameter at `position` of one of several functions may change what it is given."""
    for parameters in listed:
        is_beyond = bool(parameters) and parameters[-1].type == _PACK
        place = min(position, len(parameters) - 1) if is_beyond else position
        if place < len(parameters) and may_change(parameters[place], parameters[place].field("declarator")):
            return True
    return False


def _parameters_of(function: Function) -> list[Node]:
    """The parameters of a function, its pack last, which stands for any number of them."""
    return [*function.parameters, *([function.pack] if function.pack is not None else [])]


def _shows(state: State, call: Node, position: int) -> bool:
    """Whether what `call` calls may look at the bytes of its argument at `position`."""
    function = call.field("function")
    if function is None or function.type not in ("identifier", "template_function"):
        return False
    named = function.field("name") or function
    if named.text in state.macros:
        return True
    candidates = state.definitions.functions.get(named.text)
    if candidates:
        return any(_shows_parameter(state, candidate, position) for candidate in candidates)
    arguments = call.field("arguments")
    return arguments is not None and bare(arguments.named[position]).type == "pointer_expression"


def _shows_parameter(state: State, function: Function, position: int) -> bool:
    """Whether `function` looks at the bytes of what its parameter at `position` refers to."""
    body, parameters = function.body, function.parameters
    if body is None or position >= len(parameters):
        return False
    declarator = parameters[position].field("declarator")
    if declarator is None or declarator.type != "reference_declarator":
        return False
    if function.node.key not in state.shown:
        state.shown[function.node.key] = frozenset()  # while a function that calls itself is looked at
        state.shown[function.node.key] = mutations_of(state, body).shown
    return declared_name(declarator) in state.shown[function.node.key]


def _may_be_a_macro(state: State, call: Node, name: str) -> bool:
    """Whether a call is a statement of its own and nothing in reach says what it calls."""
    parent = call.parent
    is_statement = parent is not None and parent.type == "expression_statement"
    return is_statement and bool(name) and name not in state.definitions.functions and state.construct(name) is None
