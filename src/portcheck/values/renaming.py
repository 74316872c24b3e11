"""The port's terms in the original's names: buffers, scalars and sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from portcheck.core.dtype import DType
from portcheck.ir import Polynomial, Ranges
from portcheck.ir.algebra import replace_symbols, use_divisibility
from portcheck.numerics import Stage
from portcheck.values.casts import holds
from portcheck.values.contract import Contract, Piece
from portcheck.values.fusion import Quantified, fuse
from portcheck.values.substitution import in_bound, in_condition, in_term
from portcheck.values.terms import (
    Bound,
    Carried,
    Element,
    Fold,
    Index,
    Rounded,
    Scalar,
    Term,
    Unknown,
    children,
    has_kind,
    map_children,
    map_condition,
)
from portcheck.values.walking import from_below


@dataclass(frozen=True, slots=True)
class Names:
    """What the port's names are called in the original. Sizes may be expressions of the original's.

    `dtypes` gives, by name, what a dtype that the port leaves open is taken to be.
    """

    buffers: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, Polynomial] = field(default_factory=dict)
    dtypes: Mapping[str, DType] = field(default_factory=dict)


def renamed_term(term: Term, names: Names, ranges: Ranges) -> Term:
    """`term` in the original's names."""
    sized = in_term(term, dict(names.sizes), ranges)
    return _renamed(sized, names)


def _renamed(term: Term, names: Names) -> Term:
    return from_below(term, children, lambda node, of: _renamed_alone(node, of, names))


def _renamed_alone(term: Term, of: Callable[[Term], Term], names: Names) -> Term:
    """`term`, with what `of` says in place of the terms inside."""
    match term:
        case Element(buffer, address):
            return Element(names.buffers.get(buffer, buffer), address)
        case Carried(buffer, index):
            return Carried(names.buffers.get(buffer, buffer), index)
        case Scalar(name):
            return _renamed_scalar(name, names)
        case Rounded(dtype, operand, span, source):
            own = names.dtypes.get(source.name, source) if source is not None else None
            if own is not None and (own.is_float or not holds(own, dtype)):
                return Unknown(f"a value is stored as {dtype}", span)
            return Rounded(names.dtypes.get(dtype.name, dtype), of(operand), span, source)
        case Fold():
            inner = map_children(term, of)
            assert isinstance(inner, Fold)
            return replace(inner, stages=tuple(_renamed_stage(stage, names) for stage in term.stages))
        case _:
            return map_children(term, of)


def _renamed_stage(stage: Stage, names: Names) -> Stage:
    terms = replace_symbols(stage.terms, names.sizes)
    return replace(stage, terms=terms, dtype=names.dtypes.get(stage.dtype.name, stage.dtype))


def _renamed_scalar(name: str, names: Names) -> Term:
    if name in names.sizes:
        return Index(names.sizes[name])
    return Scalar(names.buffers.get(name, name))


def renamed_piece(piece: Piece, names: Names, ranges: Ranges) -> Piece:
    """`piece` in the original's names, canonical again."""
    sizes = dict(names.sizes)
    scope = Quantified(
        tuple(in_bound(bound, sizes, ranges) for bound in piece.bounds),
        tuple(
            map_condition(in_condition(part, sizes, ranges), lambda t: _renamed(t, names)) for part in piece.conditions
        ),
        (replace_symbols(piece.address, sizes, ranges),),
        renamed_term(piece.value, names, ranges),
    )
    fused = fuse(scope, ranges) or scope
    return replace(
        piece,
        bounds=tuple(_simplified(bound, ranges) for bound in fused.bounds),
        conditions=fused.conditions,
        address=fused.index[0],
        value=refused(fused.value, ranges),
    )


def _simplified(bound: Bound, ranges: Ranges) -> Bound:
    return replace(bound, stop=use_divisibility(bound.stop, ranges))


def refused(term: Term, ranges: Ranges) -> Term:
    """`term` with the bounds of its reductions canonical under what is known now."""
    return from_below(
        term,
        lambda node: children(node) if has_kind(node, Fold) else (),
        lambda node, of: _refused_alone(map_children(node, of) if has_kind(node, Fold) else node, ranges),
    )


def _refused_alone(term: Term, ranges: Ranges) -> Term:
    if not isinstance(term, Fold):
        return term
    scope = Quantified(term.bounds, term.conditions, (), term.body)
    fused = fuse(scope, ranges)
    if fused is None:
        return term
    bounds = tuple(_simplified(bound, ranges) for bound in fused.bounds)
    return replace(term, bounds=bounds, conditions=fused.conditions, body=fused.value)


def renamed(contract: Contract, output: str, names: Names, ranges: Ranges) -> Contract:
    """`contract` as that of the original's `output`."""
    pieces = tuple(renamed_piece(piece, names, ranges) for piece in contract.pieces)
    return Contract(output, pieces, contract.problem)


def replaced_names(value: Polynomial, names: Mapping[str, Polynomial]) -> Polynomial:
    """A size or index with symbols renamed."""
    return replace_symbols(value, names)
