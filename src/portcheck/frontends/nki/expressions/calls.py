"""Calls: of NKI by its signature, of functions of the file by inlining, of Python, of anything else as kept calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import libcst as cst

from portcheck.core.dtype import BOOL, FLOAT32, FLOAT64, INT32, INT64, DType, dtype_of
from portcheck.frontends.nki.expressions.allocating import allocated
from portcheck.frontends.nki.expressions.bind import Call, as_dtype, bind
from portcheck.frontends.nki.expressions.either_way import either_way
from portcheck.frontends.nki.expressions.tensors import is_tensor_class, tensor_class
from portcheck.frontends.nki.lowering import lower_call
from portcheck.frontends.nki.objects.attributes import items_of
from portcheck.frontends.nki.objects.calls import object_call
from portcheck.frontends.nki.objects.classes import found_in
from portcheck.frontends.nki.objects.objects import instantiated
from portcheck.frontends.nki.python.calls import TAKES_EITHER, is_certainly_number, is_of_numbers, python_call
from portcheck.frontends.nki.python.methods import method_call
from portcheck.frontends.nki.python.numbers import NUMBERS
from portcheck.frontends.nki.source.imports import LEGACY_ROOT, ROOT, is_nki
from portcheck.frontends.nki.state.abbreviating import chosen_dtype
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import ForkError
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.mutation import lose_all
from portcheck.frontends.nki.state.uses import note_call, note_unknown_call
from portcheck.frontends.nki.values.arithmetic import is_number
from portcheck.frontends.nki.values.arrays import ARRAY_LIBRARIES, array_call
from portcheck.frontends.nki.values.callables import (
    Accessed,
    Bound,
    BoundMethod,
    Class,
    ClassKind,
    Function,
    Method,
    Super,
)  # fmt: skip
from portcheck.frontends.nki.values.leaves import buffers_of, expressions_of, leaves_of
from portcheck.frontends.nki.values.origins import may_vary
from portcheck.frontends.nki.values.tiles import Result, View
from portcheck.frontends.nki.values.values import (
    NONE,
    Either,
    External,
    Format,
    Instance,
    Items,
    Nothing,
    Parameter,
    Table,
    Unknown,
    Value,
)  # fmt: skip
from portcheck.ir import Call as KeptCall
from portcheck.ir import Const, OpaqueKind, ValueType
from portcheck.knowledge import ApiVersion, Knowledge, Role, Semantics


def call_expression(context: Context, frame: Frame, node: cst.CSTNode, hint: str) -> Value:
    """The value of a call; what it does is emitted."""
    assert isinstance(node, cst.Call)
    callee = context.evaluate(context, frame, node.func, "")
    if isinstance(callee, External) and callee.name == "super" and not node.args:
        return _super(frame)
    via = frame.segment.text(node.func)
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    for argument in node.args:
        value = context.evaluate(context, frame, argument.value, "")
        if argument.keyword is not None:
            keywords[argument.keyword.value] = value
        elif argument.star:
            unpacked = _unpacked(context, argument.star, value, keywords)
            if unpacked is None:
                return kept(context, via, [*positional, value], keywords)
            positional.extend(unpacked)
        else:
            positional.append(value)
    return call_value(context, callee, via, hint, positional, keywords)


def _super(frame: Frame) -> Value:
    """`super()` in a method: the object that it was called on, seen from behind the class that it is defined in."""
    inner: Frame | None = frame
    while inner is not None and (inner.method is None or inner.method.owner is None):
        inner = inner.parent
    if inner is None or inner.method is None or inner.method.owner is None or not inner.method.node.params.params:
        return Unknown("super()", "super() outside a method", kind=OpaqueKind.CALL)
    first = inner.names.get(inner.method.node.params.params[0].name.value, NONE)
    return Super(inner.method.owner, first)


def _unpacked(context: Context, star: str, value: Value, keywords: dict[str, Value]) -> list[Value] | None:
    if star == "**":
        if not isinstance(value, Table):
            return None
        keywords.update({str(key): item for key, item in value.entries.items()})
        return []
    return items_of(context, value)


def call_value(
    context: Context, callee: Value, via: str, hint: str, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    """The value of calling `callee`."""
    callee = context.certain(callee)
    if not _keeps(callee):
        settle = _one_dtype if _is_instruction(context, callee) else Context.certain
        try:
            settled = [settle(context, value) for value in positional]
            keywords = {name: settle(context, value) for name, value in keywords.items()}
        except ForkError as error:
            if not _only_writes(context, callee):
                raise
            return either_way(
                context, error.condition, lambda: call_value(context, callee, via, hint, positional, keywords)
            )
        positional = settled
    match callee:
        case External(name):
            return _external(context, name, via, hint, positional, keywords)
        case Function():
            return context.call(context, callee, positional, keywords)
        case Bound(function, given, named):
            return call_value(context, function, via, hint, [*given, *positional], {**dict(named), **keywords})
        case BoundMethod(function, receiver):
            return context.call(context, function, [receiver, *positional], keywords)
        case Accessed(_, function):
            return call_value(context, function, via, hint, positional, keywords)
        case Class():
            made = instantiated(context, callee, positional, keywords)
            return made if made is not None else kept(context, via, positional, keywords)
        case Instance() if (called := found_in(callee.owner, "__call__")) is not None:
            return call_value(context, called, via, hint, [callee, *positional], keywords)
        case Method(Super(), _):
            return NONE
        case Method(receiver, name):
            return _method(context, receiver, name, via, hint, positional, keywords)
        case Parameter() if (tile := allocated(context, callee, via, hint, positional, keywords)) is not None:
            return tile
        case _:
            return kept(context, via, positional, keywords)


def invoke(context: Context, callee: Value, via: str, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """The value of calling `callee`, which no call in the text names."""
    return call_value(context, callee, via or "call", "", positional, keywords)


def _keeps(callee: Value) -> bool:
    """Whether `callee` puts what it is given into a name, an object, a list or a table, whatever it is."""
    if isinstance(callee, Class):
        return callee.kind is not ClassKind.ENUMERATION
    is_own = isinstance(callee, Function | Bound | BoundMethod | Accessed)
    is_own = is_own or (isinstance(callee, External) and callee.name in TAKES_EITHER)
    return is_own or (isinstance(callee, Method) and isinstance(callee.receiver, Items | Table))


def _is_instruction(context: Context, callee: Value) -> bool:
    """Whether `callee` is a call of NKI for which a dtype that is not known is as good as one that is."""
    entry = context.knowledge.api_in_any_version(callee.name) if isinstance(callee, External) else None
    return entry is not None and entry.latest.semantics not in _OF_DTYPES


def _only_writes(context: Context, callee: Value) -> bool:
    """Whether `callee` is a call of NKI that gives nothing but writes its destination."""
    entry = context.knowledge.api_in_any_version(callee.name) if isinstance(callee, External) else None
    if entry is None:
        return False
    api = entry.at(context.version) or entry.latest
    return any(item.role is Role.DESTINATION for item in api.parameters)


_OF_DTYPES = frozenset({Semantics.QUERY_BYTES, Semantics.QUERY_LIMITS})
"""Calls whose values dtypes decide."""


_MAY_BE_DTYPES = (Format, External, Unknown)
"""What a dtype may be as which it is given; what is not known is one where another side certainly is."""


def _one_dtype(context: Context, value: Value) -> Value:
    """`value`; one of two dtypes by a condition that is not known is a dtype of its own, of which no more is known."""
    value = context.resolve(value)
    if isinstance(value, Either):
        sides = [_one_dtype(context, side) for side in (value.first, value.second)]
        formats = [as_dtype(context, side) if isinstance(side, _MAY_BE_DTYPES) else None for side in sides]
        first, second = formats
        is_one = any(isinstance(side, Format | External) for side in sides)
        if is_one and first is not None and second is not None:
            return Format(first if first == second else chosen_dtype(context, value.condition, first, second))
    return context.certain(value)


def _external(
    context: Context, name: str, via: str, hint: str, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    if context.knowledge.space(name) is not None:
        return External(name)
    entry = context.knowledge.api_in_any_version(name)
    if entry is not None:
        api = entry.at(context.version) or entry.latest
        return _lowered(bind(context, api, via, hint, positional, keywords))
    dtype = as_dtype(context, External(name))
    if dtype is not None and len(positional) == 1:
        return _scalar_of(context, dtype, positional[0])
    if is_nki(name):
        note_unknown_call(context, name, positional, keywords)
    else:
        modelled = object_call(context, name, positional, keywords)
        if modelled is None:
            modelled = python_call(
                context, name, positional, keywords, lambda value, given: call_value(context, value, via, "", given, {})
            )
        if modelled is None and name.partition(".")[0] in ARRAY_LIBRARIES:
            modelled = array_call(context, name.rpartition(".")[2], positional, keywords)
        if modelled is not None:
            return modelled
        if name.rpartition(".")[2] == "dtype" and len(positional) == 1:
            return positional[0]
        if is_of_numbers(name):
            given = [*positional, *keywords.values()]
            made = context.unknown(f"{via}()", f"{via} of what is not understood", *given, kind=OpaqueKind.CALL)
            return _number_if_fixed(context, made) if is_certainly_number(name) else made
        if name in _LISTING and len(positional) == 1:
            parts = (*positional, *keywords.values())
            return Unknown(f"{via}()", f"{via} of what is not understood", parts, OpaqueKind.CALL, is_list=True)
    root = name.partition(".")[0]
    is_plain = is_nki(name) or root in ARRAY_LIBRARIES or root in sys.stdlib_module_names or "." not in name
    return kept(context, via, positional, keywords, is_plain=is_plain)


_LISTING = frozenset({"list", "tuple", "sorted"})
"""Functions of Python that give a list or tuple of what another thing holds."""


def _number_if_fixed(context: Context, made: Unknown) -> Value:
    """`made`, which can only be a number, as a symbol where it is the same in every round of the loops around."""
    return made if may_vary(context, made) else context.number_of(made)


def _scalar_of(context: Context, dtype: DType, value: Value) -> Value:
    """`value` as a number of `dtype`: a truth value, a whole number, or one of another format than Python's own."""
    if dtype == BOOL or (dtype.is_integer and is_number(value) and value.dtype.is_float):
        made = NUMBERS["bool" if dtype == BOOL else "int"](context, [value])
        value = made if made is not None else value
    if isinstance(value, Const) and dtype not in (BOOL, INT32, INT64, FLOAT32, FLOAT64):
        return Const(value.value, dtype)
    return value


def _lowered(call: Call) -> Value:
    value = lower_call(call)
    note_call(call, value)
    return value


def _method(
    context: Context, receiver: Value, name: str, via: str, hint: str,
    positional: Sequence[Value], keywords: dict[str, Value],
) -> Value:  # fmt: skip
    if isinstance(receiver, View | Result | Parameter):
        api = tensor_method(context, name)
        if api is not None:
            call = bind(context, api, via, hint, _gathered(api, positional), keywords)
            call.receiver = receiver
            return _lowered(call)
        function = tensor_function(context, name)
        if function is not None:
            given = [receiver, *_gathered(function, positional, 1)]
            return _lowered(bind(context, function, via, hint, given, keywords, is_method=True))
        owner = tensor_class(context.knowledge, ROOT)
        if owner and not context.is_legacy and not _is_given(context, receiver):
            note_unknown_call(context, f"{owner}.{name}", positional, keywords)
        return kept(context, via, [receiver, *positional], keywords)
    api = instruction_method(context, name) if isinstance(receiver, Nothing) else None
    if api is not None:
        return _lowered(bind(context, api, via, hint, positional, keywords))
    if isinstance(receiver, Nothing):
        context.fail_left_out()
    if isinstance(receiver, Unknown) and receiver.is_list and name in ("index", "count"):
        made = context.unknown(f"{via}()", receiver.reason, receiver, *positional, kind=OpaqueKind.CALL)
        return _number_if_fixed(context, made)
    modelled = method_call(context, receiver, name, positional, keywords)
    return modelled if modelled is not None else kept(context, via, [receiver, *positional], keywords)


def _is_given(context: Context, receiver: View | Result | Parameter) -> bool:
    """Whether a tensor is one that the kernel is given: it may be an object of the port that stands for one."""
    return isinstance(receiver, Parameter) or (isinstance(receiver, View) and receiver.buffer.name in context.facts)


def _gathered(api: ApiVersion, positional: Sequence[Value], skipped: int = 0) -> list[Value]:
    """`x.reshape(a, b)` as `x.reshape((a, b))` where the method takes one shape."""
    slots = [item for item in api.parameters[skipped:] if item.default is None and not item.name.startswith("*")]
    if len(slots) == 1 and len(positional) > 1:
        return [Items(list(positional))]
    return list(positional)


def tensor_method(context: Context, name: str) -> ApiVersion | None:
    """The method `name` of a tensor, in the version that has it or else the newest."""
    return _named(context, name, is_tensor_class)


def tensor_function(context: Context, name: str) -> ApiVersion | None:
    """The function that does what the method `name` of a first-generation tile does."""
    found = _named(context, name, lambda owner: not is_tensor_class(owner))
    return found if found is not None and found.semantics in (Semantics.VIEW, Semantics.CAST) else None


def instruction_method(context: Context, name: str) -> ApiVersion | None:
    """The method `name` of what a call that writes its destination gives back: the instruction, which is no value."""
    found = _named(context, name, lambda owner: not is_tensor_class(owner))
    return found if found is not None and found.semantics is Semantics.ORDER else None


def _named(context: Context, name: str, owner_fits: Callable[[str], bool]) -> ApiVersion | None:
    roots = (LEGACY_ROOT, ROOT) if context.is_legacy else (ROOT, LEGACY_ROOT)
    candidates = _by_last_word(context.knowledge).get(name, ())
    for root in roots:
        for qualified in candidates:
            owner = qualified.split(".")[-2]
            if qualified.startswith(root + ".") and owner_fits(owner):
                entry = context.knowledge.apis[qualified]
                return entry.at(context.version) or entry.latest
    return None


@lru_cache(maxsize=4)
def _by_last_word(knowledge: Knowledge) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for qualified in knowledge.apis:
        word = qualified.rpartition(".")[2]
        found[word] = (*found.get(word, ()), qualified)
    return found


def kept(
    context: Context, via: str, positional: Sequence[Value], keywords: Mapping[str, Value], *, is_plain: bool = False
) -> Value:
    """A call whose text is not at hand: it may read and write every buffer it is given, and change every object.

    One that is plain changes no object.
    """
    given = [*positional, *keywords.values()]
    if not is_plain:
        lose_all(context, f"{via}, which is not in reach, may change it", *given)
    flat = [item for value in given for item in leaves_of(value)]
    buffers = buffers_of(context, *flat)
    reference = context.builder.result(
        KeptCall,
        via=via,
        callee=via,
        arguments=expressions_of(context, *flat),
        reads=buffers,
        writes=buffers,
        type=ValueType(dtype_of(via)),
    )
    return Unknown(via + "()", f"{via} is not in this file", (reference, *flat), OpaqueKind.CALL)
