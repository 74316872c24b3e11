"""Which size of the port is which size of the original, from the extents and strides of an output they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeGuard

from portcheck.ir import Operator, Polynomial
from portcheck.ir.algebra import minimum, replace_symbols
from portcheck.ir.polynomial import number, split, symbol
from portcheck.values import Element, Fold, Piece, Term, subterms

_LAUNCH = ("gridDim.",)


@dataclass(slots=True)
class Sizes:
    """Correspondences found so far: port symbol to original expression, and original symbol to port expression."""

    port: dict[str, Polynomial] = field(default_factory=dict)
    original: dict[str, Polynomial] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    shapes: frozenset[str] | None = None
    """The port's sizes that are extents of its parameters, which its caller chooses; None: all of them."""

    def in_original(self, value: Polynomial) -> Polynomial:
        """An expression of the port in the original's sizes."""
        return replace_symbols(value, self.port)

    def equate(self, original: Polynomial, port: Polynomial, fixed: frozenset[str]) -> None:
        """Learns from two extents or strides that stand for the same thing; `fixed` are the original's symbols.

        Two sizes of the original are never made equal.
        """
        port = self.in_original(port)
        original = replace_symbols(original, self.original)
        size = _underlying(port)
        if original == port:
            if size is not None:
                self.port.setdefault(size, symbol(size))
            return
        if size is not None and size not in fixed and size not in self.port:
            self._learn(size, _underlying_extent(original))
            return
        lone, product = _underlying(original), _untiled(port)
        if product is None or lone is None or lone not in fixed or lone in self.original:
            return
        if product.symbols & fixed:
            return
        self.original[lone] = product
        self.assumptions.append(f"{lone} = {product}")

    def _learn(self, size: str, value: Polynomial) -> None:
        """Takes a size of the port to be `value`; says so where that is more than another name for an extent."""
        if any(atom.operator is not None for atom in value.atoms):
            return
        self.port[size] = value
        if (self.shapes is not None and size not in self.shapes) or _underlying(value) is None:
            self.assumptions.append(f"{size} = {value}")

    def assert_equal(self, value: Polynomial, limit: Polynomial) -> None:
        """Uses what the port asserts: a size of it is a number."""
        size = self.in_original(value)
        name, own = _underlying(size), _underlying(value)
        if name is not None and size == symbol(name) and limit.constant is not None:
            self.original[name] = limit
            self.port = {key: replace_symbols(known, {name: limit}) for key, known in self.port.items()}
            if own is not None and value == symbol(own):
                self.port[own] = limit
            self.assumptions.append(f"{name} = {limit} (asserted by the port)")


def _underlying(value: Polynomial) -> str | None:
    """The size that a whole extent is made of: n itself, T*floor(n/T), T*ceil(n/T), min(n, ...)."""
    names = set(value.symbols)
    if len(names) != 1:
        return None
    (name,) = names
    if value == symbol(name):
        return name
    if len(value.terms) != 1 or len(value.terms[0][0]) != 1:
        return None
    atom = value.terms[0][0][0]
    tiled = atom.operator in (Operator.FLOOR_DIVIDE, Operator.CEILING_DIVIDE) and atom.arguments[0] == symbol(name)
    return name if tiled else None


def _untiled(value: Polynomial) -> Polynomial | None:
    """A product of sizes, whole tiles of a size taken as the size; None for anything else."""
    if len(value.terms) != 1:
        return None
    monomial, factor = value.terms[0]
    product = number(factor)
    for atom in monomial:
        part = Polynomial((((atom,), 1),))
        if atom.operator in (Operator.FLOOR_DIVIDE, Operator.CEILING_DIVIDE):
            size, tile = atom.arguments
            product, rest = split(product, tile)
            if rest.terms:
                return None
            part = size
        product = product * part
    is_plain = len(product.terms) == 1 and all(atom.operator is None for atom in product.atoms)
    return product if is_plain and product.symbols and product.terms[0][1] == 1 else None


def _underlying_extent(value: Polynomial) -> Polynomial:
    """An extent without the tiling of the original."""
    name = _underlying(value)
    return symbol(name) if name is not None else value


def covered(extent: Polynomial) -> tuple[Polynomial, bool]:
    """An extent without the limit that an unknown launch puts on it, and whether there was one."""
    if len(extent.terms) == 1 and len(extent.terms[0][0]) == 1:
        atom = extent.terms[0][0][0]
        if atom.operator is Operator.MINIMUM:
            kept = [part for part in atom.arguments if not any(name.startswith(_LAUNCH) for name in part.symbols)]
            if kept and len(kept) < len(atom.arguments):
                return minimum(kept), True
    return extent, False


def learn(sizes: Sizes, original: Piece, port: Piece, fixed: frozenset[str]) -> None:
    """Learns from two stores of one output: their extents, strides, and the extents of their reductions."""
    if len(original.bounds) != len(port.bounds):
        return
    pairs = list(zip(original.bounds, port.bounds, strict=True))
    for left, right in pairs:
        stride, other = original.address.coefficient(left.variable), port.address.coefficient(right.variable)
        if stride is not None and other is not None:
            sizes.equate(stride, other, fixed)
    for left, right in pairs:
        sizes.equate(covered(left.stop)[0], right.stop, fixed)
    for first, second in zip(_extents(original.value), _extents(port.value), strict=False):
        sizes.equate(first, second, fixed)


def _extents(value: Term) -> list[Polynomial]:
    return [bound.stop for node in subterms(value) if isinstance(node, Fold) for bound in node.bounds]


def learn_strides(sizes: Sizes, original: Piece, port: Piece, inputs: dict[str, str]) -> None:
    """Learns the strides of inputs that the original reads at the very element it writes.

    There the port's input must have the strides of its output. `inputs` names the original's input for each of the
    port's.
    """
    same = {node.buffer for node in subterms(original.value) if _is_at(node, original)}
    for node in subterms(port.value):
        if not isinstance(node, Element) or inputs.get(node.buffer) not in same:
            continue
        for bound in port.bounds:
            written = port.address.coefficient(bound.variable)
            read = node.address.coefficient(bound.variable)
            size = _underlying(read) if read is not None else None
            if written is None or size is None or size in sizes.port or size in written.symbols:
                continue
            sizes.port[size] = sizes.in_original(written)
            sizes.assumptions.append(f"{size} = {sizes.port[size]}")


def _is_at(node: Term, piece: Piece) -> TypeGuard[Element]:
    return isinstance(node, Element) and node.address == piece.address
