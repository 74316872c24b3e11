"""What an identifier stands for: a local, a macro, a constant of the file, a variable or constant of CUDA."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

from portcheck.core.dtype import FLOAT32, INT32, dtype_named
from portcheck.frontends.cuda.expressions.arithmetic import binary, one_of
from portcheck.frontends.cuda.expressions.undefined import undefined_number
from portcheck.frontends.cuda.memory.places import scalar, whole
from portcheck.frontends.cuda.memory.tables import initial_numbers, is_never_changed
from portcheck.frontends.cuda.memory.vectors import element_type
from portcheck.frontends.cuda.model.constants import folded
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import declare, type_of
from portcheck.frontends.cuda.model.values import Buffer, Builtin, CType, FunctionName, Place, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.namespaces import joined, space_of
from portcheck.frontends.cuda.parsing.parse import parse_expression
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.statements.arrays import element_of
from portcheck.frontends.cuda.statements.declarations import constant_array
from portcheck.frontends.cuda.statements.shared_memory import shared_variable
from portcheck.frontends.cuda.statements.strings import spelled
from portcheck.frontends.cuda.text.macros import Macro
from portcheck.ir import ZERO, Const, OpaqueKind, Space, integer
from portcheck.knowledge import Construct, Semantics

_DEVICE_SPACES = {"__constant__": Space.CONSTANT, "__device__": Space.GLOBAL, "__managed__": Space.GLOBAL}
_INDEX_VARIABLES = frozenset(
    {Semantics.INDEX_THREAD, Semantics.INDEX_BLOCK, Semantics.INDEX_BLOCK_SIZE, Semantics.INDEX_GRID_SIZE}
)
_MOST_MACROS = 40
_INNER = frozenset({"compound_statement", "field_declaration_list"})
_ASSIGNMENT = "assignment_expression"


def identifier(state: State, node: Node, name: str = "") -> Value:
    """What the name `node` stands for."""
    name = name or node.text
    bound = state.lookup(name)
    if bound is not None and not isinstance(bound, CType):
        return bound
    macro = state.macros.get(name)
    if macro is not None and macro.parameters is None:
        return object_macro(state, node, macro)
    found = constant(state, name, node) or variable(state, name, node)
    if found is not None:
        return found
    construct = state.construct(name)
    if construct is not None:
        known = _known(state, construct)
        if known is not None:
            return known
    if name in state.definitions.functions:
        return function_name(state, name, node)
    pointed = function_pointer(state, name)
    if pointed is not None:
        return pointed
    number = undefined_number(state, node, name)
    return number or state.opaque(node, f"unknown name {name}", INT32, kind=OpaqueKind.CALL)


def function_name(state: State, name: str, at: Node) -> FunctionName:
    """The function `name` that is meant at `at`: with its scopes where several namespaces have one."""
    functions = state.definitions.functions[name]
    spaces = {found.space for found in state.definitions.functions_called(functions, at)}
    is_one = len({found.space for found in functions}) == 1 or len(spaces) != 1
    return FunctionName(name if is_one else f"::{joined(next(iter(spaces)), name)}")


def object_macro(state: State, node: Node, macro: Macro) -> Value:
    """The value of a macro without arguments."""
    expression = parse_expression(macro.body, node.span)
    is_recursive = ("macro", macro.name) in state.instances or len(state.instances) > _MOST_MACROS
    if expression is None or is_recursive:
        return state.opaque(node, f"macro {macro.name}", INT32, kind=OpaqueKind.CALL)
    state.instances.append(("macro", macro.name))
    try:
        return state.evaluate(expression)
    finally:
        state.instances.pop()


def constant(state: State, name: str, at: Node) -> Value | None:
    """The value of the constant or enumerator of the file that `name` is at `at`."""
    found = state.definitions.enumerator_called(name, at)
    if found is not None:
        return enumerator_value(state, name, *found)
    declared = state.definitions.variable_called(name, at)
    if declared is None:
        return None
    declaration, declarator = declared
    value = declarator.field("value") if declarator.type == "init_declarator" else None
    is_constant = declaration.has("const") or declaration.has("constexpr") or not state.is_device
    key = ("constant", name, declarator.key, state.is_device)
    if value is None or not is_constant or key in state.instances:
        return None
    known = state.kept.get(key)
    if isinstance(known, Scalar):
        return known
    read = declare(state, type_of(state, declaration.field("type")), declarator)
    if read.extents or read.type.kind not in (TypeKind.SCALAR, TypeKind.DEDUCED):
        return None
    state.instances.append(key)
    try:
        with state.names_of_file(), state.builder.region() as emitted:
            initial = scalar(state, state.evaluate(_only(value)), value)
            number = convert(state, initial, read.type.dtype) if read.type.dtype is not None else initial
    finally:
        state.instances.pop()
    if not emitted:
        state.kept[key] = number
    state.builder.adopt(emitted)
    return number


def enumerator_value(state: State, name: str, enumerator: Node, listed: Node) -> Value | None:
    """The number an enumerator is: as given, or one more than that before it."""
    if ("constant", name) in state.instances:
        return None
    if listed.key not in state.enumerations:
        state.enumerations[listed.key] = dict(_counted(listed))
    given, more = state.enumerations[listed.key][enumerator.key]
    state.instances.append(("constant", name))
    try:
        with nullcontext() if _is_local(listed) else state.names_of_file():
            value = scalar(state, state.evaluate(given), given) if given is not None else Scalar(ZERO, INT32)
    finally:
        state.instances.pop()
    if isinstance(value.expr, Const):
        value = Scalar(value.expr, value.dtype)
        sum_ = binary(state, "+", value, Scalar(Const(more, INT32), INT32)) if more else None
        return folded(sum_) if sum_ is not None else value
    for _ in range(more):
        value = binary(state, "+", value, one_of(INT32)) or value
    return value


def _is_local(node: Node) -> bool:
    """Whether `node` stands in a body or a record, whose names it sees."""
    current = node.parent
    while current is not None and current.type not in _INNER:
        current = current.parent
    return current is not None


def _counted(listed: Node) -> Iterator[tuple[tuple[int, int, int], tuple[Node | None, int]]]:
    """For each enumerator the last value that is given at or before it, and by how much it is more."""
    given, more = None, -1
    for found in listed.named:
        if found.type == "enumerator":
            value = found.field("value")
            given, more = (value, 0) if value is not None else (given, more + 1)
            yield found.key, (given, more)


def variable(state: State, name: str, at: Node) -> Value | None:
    """A `__constant__` or `__device__` variable of the file: a buffer that the kernel is handed."""
    declared = state.definitions.variable_called(name, at)
    if declared is None or not state.is_device:
        return None
    declaration, declarator = declared
    space = next((space for word, space in _DEVICE_SPACES.items() if declaration.has(word)), None)
    is_shared = declaration.has("__shared__")
    is_constant = declaration.has("const") or declaration.has("constexpr")
    if space is None and not is_shared and not is_constant:
        return None
    read = declare(state, type_of(state, declaration.field("type")), declarator)
    if is_shared:
        return shared_variable(state, declaration, read)
    initial = declarator.field("value") if declarator.type == "init_declarator" else None
    is_list = initial is not None and (initial.type == "initializer_list" or spelled(initial) is not None)
    if is_list and is_never_changed(state, declaration, name):
        filled = constant_array(state, declarator, read)
        if filled is not None:
            return filled
    element, inner = element_of(read.type)
    held = element_type(state, element)
    if held is None:
        return None
    with state.names_of_file(), state.builder.region() as emitted:
        extents = [scalar(state, state.evaluate(extent), extent).expr for extent in read.extents if extent is not None]
    if emitted or len(extents) != len(read.extents):
        return None
    extents.extend(inner)
    name = _told_apart(state, name, declarator)
    if name not in state.buffers:
        space = space or Space.CONSTANT
        state.names.add(name)
        shape = (*extents, *map(integer, held[1]))
        state.buffers[name] = Buffer(name, held[0], shape, space is Space.CONSTANT, space)
        with state.names_of_file():
            numbers = () if initial is None else initial_numbers(state, initial, held[0], shape)
        state.file_variables[name] = (space, declarator.span, numbers)
    return whole(state, Place(name, () if extents or held[1] else (ZERO,), element, len(extents)))


def _told_apart(state: State, name: str, declarator: Node) -> str:
    """What a variable of the file is called: with its namespace where others have one of that name."""
    is_one = len(state.definitions.spaces.get(name, ())) <= 1
    return name if is_one else joined(space_of(declarator), name).replace("::", ".")


def function_pointer(state: State, name: str) -> FunctionName | None:
    """What a variable of the file points to that is given the name of a function and never another value."""
    declared = state.definitions.variables.get(name)
    value = declared[1].field("value") if declared is not None else None
    inner = value.field("argument") if value is not None and value.type == "pointer_expression" else value
    if inner is None or inner.text not in state.definitions.functions or not state.is_device:
        return None
    changes = [node.field("left") for unit in state.definitions.units for node in unit.root.found(_ASSIGNMENT)]
    return None if any(left is not None and left.text == name for left in changes) else FunctionName(inner.text)


def _known(state: State, construct: Construct) -> Value | None:
    if construct.semantics in _INDEX_VARIABLES:
        return Builtin(construct.name)
    if construct.value is not None:
        facts = state.knowledge.dtype(construct.dtype)
        if facts is not None:
            dtype = dtype_named(facts.name)
            value = float(construct.value) if dtype.is_float else int(construct.value)
            return Scalar(Const(value, dtype), dtype)
        whole = isinstance(construct.value, int)
        return Scalar(Const(construct.value, INT32 if whole else FLOAT32), INT32 if whole else FLOAT32)
    return None


def component(state: State, builtin: Builtin, member: str) -> Scalar | None:
    """A component of a built-in variable: the symbol that stands for it."""
    construct = state.construct(builtin.name)
    if construct is None or member not in ("x", "y", "z"):
        return None
    return state.builtin(f"{builtin.name}.{member}", construct.semantics)


def _only(value: Node) -> Node:
    """The one expression of `{e}` or `(e)`, else `value` itself."""
    is_list = value.type in ("initializer_list", "argument_list")
    return value.named[0] if is_list and len(value.named) == 1 else value
