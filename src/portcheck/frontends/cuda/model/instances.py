"""Records and aliases with template parameters: which definition the arguments choose, and what its names are then."""

from __future__ import annotations

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.functions.packs import sized_record
from portcheck.frontends.cuda.model.constants import constant_value
from portcheck.frontends.cuda.model.frames import Binding
from portcheck.frontends.cuda.model.records import RECORDS, build
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.templates import default_argument, template_parameters
from portcheck.frontends.cuda.model.types import defined, type_of
from portcheck.frontends.cuda.model.values import CType, FunctionName, Scalar, TypeKind
from portcheck.frontends.cuda.parsing.namespaces import space_of
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.ir import Const, Symbol

_MOST_INSTANCES = 400
_Bindings = dict[str, Binding]


def instantiate(state: State, name: str, definition: Node | None, arguments: tuple[Node, ...]) -> CType:
    """The type that `name` with these template arguments is; unknown where they do not fit what defines it."""
    unknown = CType(kind=TypeKind.UNKNOWN, name=name)
    definition = sized_record(state, definition, len(arguments)) if definition is not None else None
    parameters = template_parameters(_parameters_of(definition)) if definition is not None else []
    if len(state.records) > _MOST_INSTANCES or (definition is not None and not parameters and arguments):
        return unknown
    given = _given(state, parameters, arguments)
    if given is None:
        return unknown
    values, bindings = given
    if definition is not None and definition.type == "alias_declaration":
        return _alias(state, name, definition, bindings)
    shown = f"{name}<{', '.join(map(shown_argument, values))}>" if values else name
    chosen = _specialised(state, name, values, definition)
    if chosen is not None:
        definition, bindings = chosen
    if definition is None or definition.type not in RECORDS:
        return unknown
    while shown in state.records and state.records[shown].node.key != definition.key:
        shown += "'"
    around = tuple(state.scopes) if not values and _is_local(definition) else ()
    return build(state, shown, definition, bindings, around, tuple(values)).type


def _is_local(definition: Node) -> bool:
    """Whether a record stands in the body of a function, whose types and constants it sees."""
    parent = definition.parent
    return parent is not None and parent.type in ("compound_statement", "declaration")


def _parameters_of(definition: Node) -> Node | None:
    parent = definition.parent
    return parent.field("parameters") if parent is not None and parent.type == "template_declaration" else None


def _given(
    state: State, parameters: list[tuple[str, Node, bool]], arguments: tuple[Node, ...]
) -> tuple[list[Binding], _Bindings] | None:
    """The template arguments in order, and by name; None where one is missing or not known."""
    values: list[Binding] = []
    bindings: _Bindings = {}
    if not parameters:
        read = [_argument(state, argument, _looks_like_type(state, argument)) for argument in arguments]
        known = [value for value in read if value is not None]
        return (known, {}) if len(known) == len(read) else None
    for position, (name, node, is_type) in enumerate(parameters):
        if position < len(arguments):
            value = _argument(state, arguments[position], is_type)
        else:
            with state.scope():
                state.scopes[-1].update(bindings)
                value = default_argument(state, node, is_type)
        if value is None:
            return None
        values.append(value)
        bindings[name] = value
    return values, bindings


def _looks_like_type(state: State, argument: Node) -> bool:
    return argument.type == "type_descriptor" and type_of(state, argument).kind is not TypeKind.UNKNOWN


def _argument(state: State, argument: Node, is_type: bool) -> Binding | None:
    if is_type:
        return type_of(state, argument)
    inner = argument.field("type") if argument.type == "type_descriptor" else None
    with state.builder.region() as emitted:
        value = state.evaluate(inner if inner is not None else argument)
    if emitted or not isinstance(value, Scalar):
        return None
    number = constant_value(value.expr)
    if number is None:
        return value
    return Scalar(Const(number, value.dtype if value.dtype.is_integer else INT32), value.dtype)


def shown_argument(binding: Binding) -> str:
    """A template argument as names of instances have it: the same for the same argument."""
    if isinstance(binding, CType):
        if binding.kind is TypeKind.SCALAR and binding.dtype is not None:
            return str(binding.dtype)
        if binding.kind is TypeKind.POINTER and binding.target is not None:
            return f"{shown_argument(binding.target)}*"
        return binding.name
    if isinstance(binding, FunctionName):
        return binding.name
    expression = getattr(binding, "expr", None)
    if isinstance(expression, Const):
        return str(expression.value)
    return expression.name if isinstance(expression, Symbol) else str(expression)


def _alias(state: State, name: str, definition: Node, bindings: _Bindings) -> CType:
    with state.scope():
        state.scopes[-1].update(bindings)
        return defined(state, name, definition)


def _specialised(
    state: State, name: str, values: list[Binding], definition: Node | None
) -> tuple[Node, _Bindings] | None:
    """The specialisation that fits the arguments and leaves the fewest of its own open."""
    best: tuple[int, Node, _Bindings] | None = None
    is_spread = len(state.definitions.spaces.get(name, ())) > 1
    for node in state.definitions.specialisations.get(name, ()):
        if definition is not None and is_spread and space_of(node) != space_of(definition):
            continue
        named = node.field("name")
        listed = named.field("arguments") if named is not None else None
        patterns = listed.named if listed is not None else []
        if any(pattern.type == "parameter_pack_expansion" for pattern in patterns):
            node = sized_record(state, node, len(values) - len(patterns) + len(_open_in(node)))
            named = node.field("name")
            listed = named.field("arguments") if named is not None else None
            patterns = listed.named if listed is not None else []
        parameters = template_parameters(_parameters_of(node))
        bindings = _matched(state, parameters, patterns, values)
        if bindings is not None and (best is None or len(bindings) < best[0]):
            best = (len(bindings), node, bindings)
    return None if best is None else (best[1], best[2])


def _open_in(node: Node) -> list[Node]:
    """The template parameters of a specialisation."""
    parameters = _parameters_of(node)
    return parameters.named if parameters is not None else []


def _matched(
    state: State, parameters: list[tuple[str, Node, bool]], patterns: list[Node], values: list[Binding]
) -> _Bindings | None:
    """What the parameters of a specialisation stand for if its arguments are `values`; None where they are not."""
    if len(patterns) != len(values):
        return None
    open_names = {name: is_type for name, _, is_type in parameters}
    bindings: _Bindings = {}
    for pattern, value in zip(patterns, values, strict=True):
        if not _match(state, pattern, value, (open_names, bindings)):
            return None
    return bindings


def _match(state: State, pattern: Node, value: Binding, names: tuple[dict[str, bool], _Bindings]) -> bool:
    open_names, bindings = names
    inner = pattern.field("type") if pattern.type == "type_descriptor" else pattern
    declarator = pattern.field("declarator") if pattern.type == "type_descriptor" else None
    if inner is not None and inner.text in open_names:
        if declarator is not None and declarator.type == "abstract_pointer_declarator":
            is_pointer = isinstance(value, CType) and value.kind is TypeKind.POINTER and value.target is not None
            if not is_pointer or not isinstance(value, CType) or value.target is None:
                return False
            value = value.target
        elif declarator is not None:
            return False
        known = bindings.setdefault(inner.text, value)
        return shown_argument(known) == shown_argument(value)
    own = _argument(state, pattern, isinstance(value, CType))
    return own is not None and shown_argument(own) == shown_argument(value)
