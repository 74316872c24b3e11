"""Values of records made: by constructors, by lists of members, by default."""

from __future__ import annotations

from portcheck.core.dtype import INT32
from portcheck.frontends.cuda.expressions.casts import is_packed, packed_of
from portcheck.frontends.cuda.functions.copying import (
    copies_otherwise,
    copying,
    is_lvalue,
    may_be_elided,
    may_be_lvalue,
)
from portcheck.frontends.cuda.functions.methods import call_on, converted, functions_of, has_destructor, record_of
from portcheck.frontends.cuda.functions.overloads import chosen
from portcheck.frontends.cuda.functions.packs import sized
from portcheck.frontends.cuda.memory.members import member_place, member_value
from portcheck.frontends.cuda.memory.places import contents, elements_of, pointer_of, read, write
from portcheck.frontends.cuda.memory.vectors import variable_members
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert
from portcheck.frontends.cuda.model.records import Record, names_of
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import complete, type_of_value
from portcheck.frontends.cuda.model.values import (
    BASE,
    Aggregate,
    CType,
    Lost,
    Nothing,
    Null,
    Place,
    Scalar,
    Slot,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.parsing.definitions import Function
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.statements.arrays import fill
from portcheck.ir import ZERO, Const, OpaqueKind

_LISTS = frozenset({"initializer_list", "argument_list"})


def made(state: State, type_: CType, listed: list[Node], node: Node, name: str = "") -> Value:
    """A value of `type_` of these arguments or members; a record is a variable called `name`."""
    type_ = complete(state, type_)
    record = record_of(state, type_)
    if record is None:
        return _plain(state, type_, listed, node)
    values = [state.evaluate(item) if item.type not in _PAIRS else Nothing() for item in listed]
    if len(values) == 1 and not _is_copied(state, record, listed[0]):
        same = _same(state, type_, values[0], listed[0])
        if same is not None:
            return same
    variable = variable_members(state, name or record.simple_name, type_, None, node, True)
    if isinstance(variable, Lost):
        return variable
    is_other = len(listed) == 1 and listed[0].key == node.key and not _constructors(state, record)
    if is_other or not initialise(state, variable, record, listed, values, node):
        return state.opaque(node, f"initialiser of a {type_.name}", kind=OpaqueKind.DTYPE)
    _destroyed(state, variable, record, node)
    return variable


def _destroyed(state: State, variable: Value, record: Record, node: Node) -> None:
    """Says that a variable will be destroyed by a function that is not followed, where it has such a one."""
    if has_destructor(state, record):
        members = [member for _, member in variable.members] if isinstance(variable, Aggregate) else []
        pointed = [pointer_of(state, member) for member in members]
        written = [found.buffer for found in pointed if found is not None]
        is_known = [name for name in written if name in state.buffers and not state.buffers[name].constant]
        state.keep(node, f"destructor of {record.name}", writes=tuple(dict.fromkeys(is_known)), kind=OpaqueKind.CALL)


def made_array(state: State, place: Place, counts: tuple[int, ...], initial: Node | None, node: Node) -> None:
    """Initialises an array of records, element by element."""
    record = record_of(state, place.type)
    if record is None:
        return
    _destroyed(state, place, record, node)
    if initial is None and is_trivial(state, record):
        return
    type_ = place.type
    for count in reversed(counts):
        type_ = CType(kind=TypeKind.ARRAY, name=f"{type_.name}[]", target=type_, extent=count)
    is_list = initial is None or initial.type in _LISTS
    if not is_list or not _array(state, place, type_, initial.named if initial is not None else []):
        state.keep(initial or node, "initialiser of an array", kind=OpaqueKind.MEMORY)


_PAIRS = frozenset({"initializer_pair", "initializer_list"})


def _same(state: State, type_: CType, value: Value, node: Node) -> Value | None:
    """A copy of a value that is already of `type_`, or converts to it; None where it is not."""
    own = type_of_value(value)
    if isinstance(value, Lost) or (own is not None and own.name == type_.name):
        return read(state, value, node)
    base = _part(state, value, f"{BASE}{type_.name}")
    if base is not None:
        return read(state, base, node)
    return converted(state, value, type_, node) if own is not None and own.kind is TypeKind.RECORD else None


def _is_copied(state: State, record: Record, node: Node) -> bool:
    """Whether a record says itself how a copy of what `node` names is made."""
    return is_lvalue(node) and bool(copying(state, record))


def copied(state: State, value: Value, type_: CType, node: Node) -> Value:
    """An argument as a parameter of `type_` gets it: as its record makes copies, where that does so otherwise."""
    own = record_of(state, type_of_value(value))
    record = record_of(state, complete(state, type_)) or own
    is_copy = is_lvalue(node) or may_be_lvalue(node)
    if record is None or own is None or not is_copy or isinstance(value, Lost) or not copies_otherwise(state, record):
        return value
    if own is record and _is_copied(state, record, node):
        variable = variable_members(state, record.simple_name, record.type, None, node, True)
        if not isinstance(variable, Lost) and initialise(state, variable, record, [node], [value], node):
            _destroyed(state, variable, record, node)
            return variable
    return state.opaque(node, f"copy of a {record.name}", kind=OpaqueKind.CALL)


def returned(state: State, type_: CType, node: Node) -> Value:
    """What `return` gives of a record: a copy of a variable, which C++ lets a compiler leave out, is not followed."""
    record = record_of(state, complete(state, type_))
    is_left_open = may_be_elided(node) or may_be_lvalue(node)
    if record is not None and is_left_open and copies_otherwise(state, record):
        state.evaluate(node)
        return state.opaque(node, f"a {record.name} that is returned may be copied", kind=OpaqueKind.CALL)
    return made(state, type_, [node], node)


def _plain(state: State, type_: CType, listed: list[Node], node: Node) -> Value:
    """A number, vector or pointer of its parts."""
    if type_.kind is TypeKind.ARRAY:
        return state.opaque(node, "initialiser of an array", kind=OpaqueKind.MEMORY)
    if listed and is_packed(state, type_):
        return packed_of(state, type_, listed, node)
    if len(listed) == 1 and listed[0].type not in _PAIRS:
        return adapted(state, read(state, state.evaluate(listed[0]), listed[0]), type_, listed[0])
    if not listed and type_.kind is TypeKind.SCALAR and type_.dtype is not None:
        return convert(state, Scalar(ZERO, INT32), type_.dtype)
    if not listed and type_.kind is TypeKind.POINTER:
        return Null()
    if type_.kind is TypeKind.VECTOR and len(listed) <= len(type_.fields):
        values = _by_name(state, type_, listed)
        if values is not None:
            zero = Scalar(ZERO, INT32)
            return Aggregate(type_, tuple((name, values.get(name, zero)) for name, _ in type_.fields))
    return state.opaque(node, f"initialiser of a {type_.name}", kind=OpaqueKind.DTYPE)


def _by_name(state: State, type_: CType, listed: list[Node]) -> dict[str, Value] | None:
    """The members that a list gives values, in order or by name."""
    names = [name for name, _ in type_.fields]
    found: dict[str, Value] = {}
    for position, item in enumerate(listed):
        pair = _pair(item)
        name, inner = pair if pair is not None else (names[position], item)
        if name not in names or inner is None:
            return None
        found[name] = read(state, state.evaluate(inner), inner)
    return found


def _pair(item: Node) -> tuple[str, Node | None] | None:
    """The member and the value of `.member = value`; None where `item` is none."""
    if item.type != "initializer_pair":
        return None
    designator = item.field("designator")
    named = designator.named if designator is not None else []
    is_member = designator is not None and designator.type == "field_designator" and bool(named)
    return (named[0].text if is_member else "", item.field("value"))


def adapted(state: State, value: Value, type_: CType, node: Node) -> Value:
    """`value` for a variable of `type_`: what is a record is converted where it says how."""
    own = type_of_value(value)
    if own is None or own.kind is not TypeKind.RECORD or type_.kind not in (TypeKind.SCALAR, TypeKind.POINTER):
        return value
    found = converted(state, value, type_.dtype if type_.kind is TypeKind.SCALAR else type_, node)
    return found if found is not None else value


def initialise(
    state: State, target: Value, record: Record, listed: list[Node], values: list[Value], node: Node
) -> bool:
    """Initialises what lies at `target` by a constructor, else member by member; false where neither fits."""
    constructors = [sized(state, function, 0, values) for _, function in _constructors(state, record)]
    if constructors:
        function = chosen(state, constructors, values)
        if function is not None:
            return _constructed(state, target, record, (function, CallSite(node, function.name, (), tuple(listed))),
                                values)  # fmt: skip
        if values:
            return False
    by_default(state, target, record, given=bool(listed) or node.type in _LISTS)
    return _listed(state, target, record.type, listed)


def _constructors(state: State, record: Record) -> list[tuple[Record, Function]]:
    name = record.simple_name
    return [found for found in functions_of(state, record, name) if found[0] is record]


def by_default(state: State, target: Value, record: Record, given: bool = False) -> None:
    """Gives the members of `target` what the record says they have at first; `given` sets the others to zero."""
    fields = complete(state, record.type).fields
    for name, type_ in fields[:1] if record.is_union else fields:
        part = _member_of(target, name) or _part(state, target, name)
        if part is not None:
            _one_by_default(state, part, record, name, type_, given)


def _one_by_default(state: State, part: Value, record: Record, name: str, type_: CType, given: bool = False) -> None:
    default, inner = record.defaults.get(name), record_of(state, type_)
    if default is not None:
        with names_of(state, record):
            _given(state, part, type_, default)
    elif inner is not None:
        default_constructed(state, part, inner, given)
    elif given and type_.kind is TypeKind.ARRAY:
        if not _array(state, part, type_, []):
            _all_zero(state, part, type_, name, record.node)
    elif given:
        _zero(state, part, type_, record.node)


def _all_zero(state: State, part: Value, type_: CType, name: str, node: Node) -> None:
    """A large array of numbers, which is a buffer of its own, filled with zeros."""
    inner: CType | None = type_
    while inner is not None and inner.kind is TypeKind.ARRAY:
        inner = inner.target
    buffer = state.buffers.get(part.buffer) if isinstance(part, Place) and not part.index else None
    if buffer is None or inner is None or inner.kind is not TypeKind.SCALAR:
        _not_set(state, part, name, node)
        return
    fill(state, buffer, Const(0.0, buffer.dtype) if buffer.dtype.is_float else Const(0, buffer.dtype))


def _not_set(state: State, part: Value, name: str, node: Node) -> None:
    writes = (part.buffer,) if isinstance(part, Place) else ()
    state.keep(node, f"initialiser of {name}", writes=writes, kind=OpaqueKind.DTYPE)


def _zero(state: State, part: Value, type_: CType, node: Node) -> None:
    if type_.kind is TypeKind.SCALAR and type_.dtype is not None:
        write(state, part, convert(state, Scalar(ZERO, INT32), type_.dtype), node)
    elif type_.kind is TypeKind.VECTOR:
        write(state, part, _plain(state, type_, [], node), node)


def default_constructed(state: State, target: Value, record: Record, given: bool = False) -> None:
    """What a variable of a record holds when nothing is said, or (`given`) when a list that is empty is given."""
    constructors = [function for _, function in _constructors(state, record)]
    function = chosen(state, constructors, [])
    if function is None:
        by_default(state, target, record, given)
        return
    _constructed(state, target, record, (function, CallSite(function.node, function.name, (), ())), [])


def is_trivial(state: State, record: Record) -> bool:
    """Whether a variable of a record is left as it is when nothing is said."""
    if record.defaults or _constructors(state, record):
        return False
    inner = (record_of(state, type_) for _, type_ in record.type.fields)
    return all(found is None or is_trivial(state, found) for found in inner)


def _part(state: State, target: Value, name: str) -> Value | None:
    if isinstance(target, Place):
        return member_place(state, target, name)
    return member_value(target, name) if isinstance(target, Aggregate) else None


def _member_of(target: Value, name: str) -> Value | None:
    """The member itself, also where it is a reference to something else."""
    return target.member(name) if isinstance(target, Aggregate) else None


def _listed(state: State, target: Value, type_: CType, listed: list[Node]) -> bool:
    """Members given by a list, in order or by name."""
    fields = complete(state, type_).fields
    for position, item in enumerate(listed):
        pair = _pair(item)
        if pair is None and position >= len(fields):
            return False
        name, inner = pair if pair is not None else (fields[position][0], item)
        field = next((found for field_name, found in fields if field_name == name), None)
        part = _member_of(target, name) or _part(state, target, name)
        if field is None or part is None or inner is None or not _given(state, part, field, inner):
            return False
    return True


def _given(state: State, part: Value, type_: CType, node: Node) -> bool:
    """Initialises one member by what a list has for it."""
    record = record_of(state, type_)
    if type_.reference or isinstance(part, Slot):
        inner = node.named[0] if node.type in _LISTS and node.named else node
        value = state.evaluate(inner)
        if isinstance(part, Slot) and (type_.reference or type_.kind is TypeKind.UNKNOWN):
            part.value = value
        else:
            write(state, part, read(state, value, inner), node)
        return isinstance(part, Slot)
    if node.type not in _LISTS:
        write(state, part, contents(state, state.evaluate(node), type_, node), node)
        return True
    if record is not None:
        values = [state.evaluate(item) if item.type not in _PAIRS else Nothing() for item in node.named]
        return initialise(state, part, record, node.named, values, node)
    if type_.kind is TypeKind.ARRAY:
        return _array(state, part, type_, node.named)
    if not node.named and type_.kind in (TypeKind.SCALAR, TypeKind.VECTOR):
        _zero(state, part, type_, node)
    else:
        write(state, part, _plain(state, type_, node.named, node), node)
    return True


def _array(state: State, part: Value, type_: CType, items: list[Node]) -> bool:
    """Initialises an array; elements that the list does not reach are zero."""
    inner = type_.target
    elements = elements_of(state, part, type_)
    if inner is None or elements is None or len(items) > len(elements):
        return False
    for position, element in enumerate(elements):
        record = record_of(state, inner)
        if position < len(items):
            if not _given(state, element, inner, items[position]):
                return False
        elif record is not None:
            default_constructed(state, element, record, given=True)
        elif inner.kind is TypeKind.ARRAY:
            if not _array(state, element, inner, []):
                return False
        else:
            _zero(state, element, inner, state.definitions.kernels[0].node if not items else items[0])
    return True


def _constructed(
    state: State, target: Value, record: Record, how: tuple[Function, CallSite], values: list[Value]
) -> bool:
    function, call = how
    clause = next((child for child in function.node.named if child.type == "field_initializer_list"), None)
    listed = [child for child in clause.named if child.type == "field_initializer"] if clause is not None else []
    result = call_on(
        state, call, function, (record, target), values, lambda: _initialisers(state, target, record, listed)
    )
    return result is not None and not isinstance(result, Lost)


def _initialisers(state: State, target: Value, record: Record, listed: list[Node]) -> None:
    """What stands between the parameters of a constructor and its body; by default what is not named there."""
    named: dict[str, Node] = {}
    for item in listed:
        name = _initialised(state, record, item)
        if name == record.name:
            _delegated(state, target, record, item)
            return
        named[name] = item
    for name, type_ in complete(state, record.type).fields:
        part, given = _member_of(target, name) or _part(state, target, name), named.get(name)
        if part is None:
            continue
        if given is None:
            _one_by_default(state, part, record, name, type_)
        elif not _given(state, part, type_, _arguments(given)):
            _not_set(state, part, name, given)


def _initialised(state: State, record: Record, item: Node) -> str:
    """The member, base or record itself that an initialiser is for."""
    name = item.named[0] if item.named else item
    if any(field == name.text for field, _ in record.type.fields):
        return name.text
    bases = {base.simple_name: f"{BASE}{base.name}" for base in record.bases}
    simple = name.text.partition("<")[0].rpartition("::")[2]
    return record.name if simple == record.simple_name else bases.get(simple, name.text)


def _delegated(state: State, target: Value, record: Record, item: Node) -> None:
    listed = _arguments(item).named
    values = [state.evaluate(argument) for argument in listed]
    if not initialise(state, target, record, listed, values, item):
        state.keep(item, f"initialiser of a {record.name}", kind=OpaqueKind.DTYPE)


def _arguments(item: Node) -> Node:
    return item.named[-1]
