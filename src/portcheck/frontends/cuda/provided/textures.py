"""Textures and surfaces: what a read of one gives, and what the host code states of how it was set up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from portcheck.core.dtype import FLOAT32, INT32, UINT64, DType
from portcheck.frontends.cuda.memory.places import pointer_of, read, scalar, target, write
from portcheck.frontends.cuda.model.callsite import CallSite
from portcheck.frontends.cuda.model.conversions import convert, materialised
from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import scalar_type, type_of
from portcheck.frontends.cuda.model.values import Aggregate, CType, Nothing, Pointer, Scalar, TypeKind, Value
from portcheck.frontends.cuda.parsing.definitions import Definitions
from portcheck.frontends.cuda.parsing.syntax import Node, Unit, bare
from portcheck.ir import Expr, Filter, Outside, Parameter, Sample, SampleKind, Symbol, ValueType
from portcheck.knowledge import Construct, Knowledge, Role, Semantics

_KINDS = {
    Semantics.TEXTURE_SAMPLE: SampleKind.TEXTURE, Semantics.TEXTURE_TEXEL: SampleKind.TEXEL,
    Semantics.TEXTURE_SURFACE: SampleKind.SURFACE, Semantics.TEXTURE_CUBE: SampleKind.CUBE,
    Semantics.TEXTURE_GATHER: SampleKind.GATHER,
}  # fmt: skip
_WHOLE = (Semantics.TEXTURE_SURFACE, Semantics.TEXTURE_TEXEL)
_FIELDS = "cudaTextureDesc::"
_FILTERS = {Semantics.TEXTURE_POINT: Filter.POINT, Semantics.TEXTURE_LINEAR: Filter.LINEAR}
_OUTSIDE = {
    Semantics.OUTSIDE_CLAMP: Outside.CLAMP, Semantics.OUTSIDE_WRAP: Outside.WRAP,
    Semantics.OUTSIDE_MIRROR: Outside.MIRROR, Semantics.OUTSIDE_BORDER: Outside.BORDER,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SetUp:
    """How textures are set up, as far as the host code in reach states it without contradiction."""

    filter: Filter | None = None
    outside: Outside | None = None
    is_normalised: bool | None = None


def is_sample(construct: Construct) -> bool:
    """Whether a construct reads a texture or surface."""
    return construct.semantics in _KINDS


def sample(state: State, call: CallSite, construct: Construct) -> Value | None:
    """The value at the coordinates; None where the texture or the type of its elements is not followed."""
    call, written = _with_result(state, call, construct)
    handle_node = call.at(construct, Role.SOURCE)
    if handle_node is None:
        return None
    declared = _declared(state, handle_node)
    handle = _handle(state, handle_node, declared)
    result = _result_type(state, call, written, declared)
    if handle is None or result is None:
        return None
    along = INT32 if construct.semantics in _WHOLE else FLOAT32
    coordinates = tuple(_number(state, node, along) for node in call.all(construct, Role.INDICES))
    layer, level = (
        _number(state, node, dtype) if (node := call.at(construct, role)) is not None else None
        for role, dtype in ((Role.LAYER, INT32), (Role.LEVEL, FLOAT32))
    )
    fields = {
        "kind": _KINDS[construct.semantics], "texture": handle, "coordinates": coordinates, "layer": layer,
        "level": level, "via": call.via, **_stated(state, construct, bare(handle_node).text if declared else ""),
    }  # fmt: skip
    value = _read(state, result, fields)
    if written is None:
        return value
    write(state, target(written), value, call.node, call.via)
    return Nothing()


def _read(state: State, type_: CType, fields: dict[str, object]) -> Value:
    if type_.kind is TypeKind.VECTOR:
        members = [
            (name, state.result(Sample, member.dtype or FLOAT32, component=place, **fields))
            for place, (name, member) in enumerate(type_.fields)
        ]
        return Aggregate(type_, tuple(members))
    return state.result(Sample, type_.dtype or FLOAT32, **fields)


def _number(state: State, node: Node, dtype: DType) -> Expr:
    return materialised(state, convert(state, scalar(state, state.evaluate(node), node), dtype))


def _declared(state: State, node: Node) -> Node | None:
    """The type of a texture reference of the file, with its template arguments."""
    found = state.definitions.variables.get(bare(node).text)
    type_node = found[0].field("type") if found is not None and state.lookup(bare(node).text) is None else None
    return type_node if type_node is not None and type_node.type == "template_type" else None


def _handle(state: State, node: Node, declared: Node | None) -> Expr | None:
    """What names the texture: the number of an object, or the name of a reference."""
    if declared is None:
        value = read(state, state.evaluate(node), node)
        return materialised(state, value) if isinstance(value, Scalar) and value.dtype.is_integer else None
    name = bare(node).text
    if all(parameter.name != name for parameter in state.template_parameters):
        type_ = ValueType(UINT64)
        state.template_parameters.append(Parameter(name=name, type=type_, is_buffer=False, span=node.span))
    return Symbol(name, UINT64)


def _with_result(state: State, call: CallSite, construct: Construct) -> tuple[CallSite, Pointer | None]:
    """The call without the pointer that an element is written through, and that pointer."""
    may_be_written = construct.semantics is Semantics.TEXTURE_SURFACE
    if not call.arguments or not (may_be_written or bare(call.arguments[0]).type == "pointer_expression"):
        return call, None
    first = pointer_of(state, state.evaluate(call.arguments[0]))
    shorter = CallSite(call.node, call.name, call.templates, call.arguments[1:])
    return (call, None) if first is None else (shorter, first)


def _result_type(state: State, call: CallSite, written: Pointer | None, declared: Node | None) -> CType | None:
    """The type of what is read."""
    if written is not None:
        return _elements(written.type)
    if call.templates:
        return _elements(type_of(state, call.templates[0]))
    arguments = declared.field("arguments") if declared is not None else None
    listed = arguments.named if arguments is not None else []
    if not listed:
        return None
    type_ = _elements(type_of(state, listed[0]))
    modes = [state.construct(argument.text) for argument in listed[1:]]
    reads_floats = any(mode is not None and mode.semantics is Semantics.TEXTURE_READS_FLOATS for mode in modes)
    return _floats(type_) if reads_floats and type_ is not None else type_


def _elements(type_: CType) -> CType | None:
    return type_ if type_.kind is TypeKind.VECTOR or type_.dtype is not None else None


def _floats(type_: CType) -> CType:
    """The type of what is read where integers are given as fractions of their range."""
    single = scalar_type(FLOAT32)
    if type_.kind is not TypeKind.VECTOR:
        return single
    return replace(type_, fields=tuple((name, single) for name, _ in type_.fields))


def _stated(state: State, construct: Construct, reference: str) -> dict[str, object]:
    if construct.semantics in _WHOLE:
        return {}
    found = set_up(state.definitions, state.knowledge, reference)
    return {"filter": found.filter, "outside": found.outside, "is_normalised": found.is_normalised}


def set_up(definitions: Definitions, knowledge: Knowledge, reference: str = "") -> SetUp:
    """What all texts in reach state of the texture reference, or without one of their texture objects."""
    stated: dict[Semantics, set[object]] = {}
    for unit in definitions.units:
        for owner, field, value in _statements(unit):
            known = knowledge.construct(_FIELDS + field)
            is_object = owner not in definitions.variables
            if known is not None and (owner == reference if reference else is_object):
                stated.setdefault(known.semantics, set()).add(_meaning(knowledge, value))
    filters, outside, normalised = (
        _only(stated.get(semantics, set()))
        for semantics in (Semantics.TEXTURE_FILTER, Semantics.TEXTURE_ADDRESSING, Semantics.TEXTURE_NORMALISED)
    )
    return SetUp(
        filters if isinstance(filters, Filter) else None, outside if isinstance(outside, Outside) else None,
        normalised if isinstance(normalised, bool) else None,
    )  # fmt: skip


def _only(values: set[object]) -> object:
    return next(iter(values)) if len(values) == 1 else None


def _meaning(knowledge: Knowledge, text: str) -> object:
    """What a value that is assigned to a field of a description means; its text where that is not known."""
    construct = knowledge.construct(text)
    if construct is not None and construct.semantics in _FILTERS:
        return _FILTERS[construct.semantics]
    if construct is not None and construct.semantics in _OUTSIDE:
        return _OUTSIDE[construct.semantics]
    return {"0": False, "false": False, "1": True, "true": True}.get(text, text)


@lru_cache(maxsize=8)
def _statements(unit: Unit) -> tuple[tuple[str, str, str], ...]:
    """The assignments to members in a text: of what, the member's name and what it is given."""
    found: list[tuple[str, str, str]] = []
    for node in unit.root.below():
        if node.type != "assignment_expression":
            continue
        left, right = node.field("left"), node.field("right")
        while left is not None and left.type == "subscript_expression":
            left = left.field("argument")
        is_member = left is not None and left.type == "field_expression"
        owner, field = (left.field(name) if left is not None and is_member else None for name in ("argument", "field"))
        if owner is not None and field is not None and right is not None:
            found.append((owner.text, field.text, right.text))
    return tuple(found)
