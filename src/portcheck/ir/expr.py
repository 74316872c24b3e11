"""Expressions: pure, typed trees over constants, named symbols and results of operations.

Every operand, index, extent, bound, guard and mask of the IR is one of these. Arithmetic on axes, sizes and
parameters stays a tree, as written (nothing is folded, so that `[32 + 1]` can still be told from `[33]`); arithmetic
on data is a `Compute` operation, because it has a place in the source and a rounding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from portcheck.core.dtype import BOOL, INT32, INT64, DType
from portcheck.ir.operators import PREDICATES, Operator

_MOST_NODES = 1 << 62
"""Nodes that are counted; an expression that holds another twice counts it twice."""
_NOTED = 64
"""Names in an expression that are kept beside it."""


@dataclass(frozen=True, slots=True)
class Const:
    """A literal: a Python int, float (infinities and NaN included) or bool, in a dtype."""

    value: int | float | bool
    dtype: DType


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name with one value per thread, tile or program: an axis, a loop variable, a size or a scalar parameter."""

    name: str
    dtype: DType


@dataclass(frozen=True, slots=True)
class Ref:
    """The result of the operation with this id."""

    id: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator applied to expressions; `dtype` is that of the result.

    Integer results wrap to `dtype` where the language says so; a NaN-free mathematical integer otherwise.
    Its hash, its nodes and its levels are worked out once, and so are the names in it: they are asked for again and
    again, and each expression holds others.
    """

    operator: Operator
    arguments: tuple[Expr, ...]
    dtype: DType
    nodes: int = field(init=False, repr=False, compare=False)
    levels: int = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)
    _names: _Names | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        nodes, levels = 1, 0
        for argument in self.arguments:
            below = (argument.nodes, argument.levels) if isinstance(argument, Apply) else (1, 1)
            nodes += below[0]
            levels = max(levels, below[1])
        note = object.__setattr__
        note(self, "nodes", min(nodes, _MOST_NODES))
        note(self, "levels", 1 + levels)
        note(self, "_hash", hash((self.operator, self.arguments, self.dtype)))
        note(self, "_names", None)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Apply], tuple[Operator, tuple[Expr, ...], DType]]:
        # In another process the hashes of texts are others.
        return Apply, (self.operator, self.arguments, self.dtype)


Expr = Const | Symbol | Ref | Apply


@lru_cache(maxsize=1024, typed=True)
def integer(value: int, dtype: DType = INT64) -> Const:
    """The integer literal `value`."""
    return Const(value, dtype)


def apply(operator: Operator, *arguments: Expr, dtype: DType | None = None) -> Apply:
    """`operator` applied to `arguments`.

    The dtype defaults to bool for predicates, to that of the second argument for a select, else to the first's.
    """
    if dtype is None:
        dtype = BOOL if operator in PREDICATES else arguments[operator is Operator.SELECT].dtype
    return Apply(operator, arguments, dtype)


def subexpressions(expression: Expr) -> Iterator[Expr]:
    """`expression` and everything below it, parents first."""
    stack: list[Expr] = [expression]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Apply):
            stack.extend(reversed(node.arguments))


def symbols_in(expression: Expr) -> frozenset[str]:
    """The names of the symbols in `expression`."""
    if isinstance(expression, Apply):
        return _names_in(expression).symbols
    return _named(expression.name).symbols if isinstance(expression, Symbol) else _NO_NAMES.symbols


def refs_in(expression: Expr) -> frozenset[int]:
    """The ids of the operations whose results `expression` uses directly."""
    if isinstance(expression, Apply):
        return _names_in(expression).refs
    return frozenset((expression.id,)) if isinstance(expression, Ref) else _NO_NAMES.refs


class _Names(NamedTuple):
    """The symbols and the results that an expression names; where `are_many`, not all of them."""

    symbols: frozenset[str]
    refs: frozenset[int]
    are_many: bool = False


_NO_NAMES = _Names(frozenset(), frozenset())


def _names_in(expression: Apply) -> _Names:
    noted = expression._names or _noted_names(expression)
    if not noted.are_many:
        return noted
    parts = list(subexpressions(expression))
    return _Names(
        frozenset(part.name for part in parts if isinstance(part, Symbol)),
        frozenset(part.id for part in parts if isinstance(part, Ref)),
    )


def _noted_names(expression: Apply) -> _Names:
    """The names in `expression` as they are kept beside it, and beside each expression in it."""
    pending, noted = [expression], _NO_NAMES
    while pending:
        node = pending[-1]
        inner = [part for part in node.arguments if isinstance(part, Apply) and part._names is None]
        pending.extend(inner)
        if not inner:
            noted = _united(node.arguments)
            object.__setattr__(pending.pop(), "_names", noted)
    return noted


def _united(parts: Iterable[Expr]) -> _Names:
    """All the names in `parts`, unless they are too many to be kept at each level of a long sum."""
    found = _NO_NAMES
    for part in parts:
        names = _names_at(part)
        if names is None or names is found:
            continue
        if names.are_many:
            return _MANY
        if found.symbols <= names.symbols and found.refs <= names.refs:
            found = names
        elif not (names.symbols <= found.symbols and names.refs <= found.refs):
            found = _Names(found.symbols | names.symbols, found.refs | names.refs)
    return found if len(found.symbols) + len(found.refs) <= _NOTED else _MANY


def _names_at(part: Expr) -> _Names | None:
    if isinstance(part, Apply):
        return part._names
    if isinstance(part, Symbol):
        return _named(part.name)
    return _Names(_NO_NAMES.symbols, frozenset((part.id,))) if isinstance(part, Ref) else None


@lru_cache(maxsize=1024)
def _named(symbol: str) -> _Names:
    return _Names(frozenset((symbol,)), _NO_NAMES.refs)


_MANY = _Names(frozenset(), frozenset(), True)


def is_within(expression: Expr, levels: int) -> bool:
    """Whether `expression` has at most `levels` levels; a constant or a symbol has one."""
    return (expression.levels if isinstance(expression, Apply) else 1) <= levels


def substitute(expression: Expr, symbols: dict[str, Expr]) -> Expr:
    """`expression` with each symbol named in `symbols` replaced; safe for trees of any depth."""
    if not isinstance(expression, Apply):
        return symbols.get(expression.name, expression) if isinstance(expression, Symbol) else expression
    made: list[Expr] = []
    pending: list[tuple[Expr, bool]] = [(expression, False)]
    while pending:
        node, has_arguments = pending.pop()
        match node:
            case Symbol(name) if name in symbols:
                made.append(symbols[name])
            case Apply(operator, arguments, dtype) if has_arguments:
                first = len(made) - len(arguments)
                replaced = tuple(made[first:])
                del made[first:]
                is_same = all(new is old for new, old in zip(replaced, arguments, strict=True))
                made.append(node if is_same else Apply(operator, replaced, dtype))
            case Apply(arguments=arguments) if _may_name(node, symbols):
                pending.append((node, True))
                pending.extend((argument, False) for argument in reversed(arguments))
            case _:
                made.append(node)
    return made[0]


def _may_name(expression: Apply, symbols: Collection[str]) -> bool:
    names = expression._names or _noted_names(expression)
    return names.are_many or not names.symbols.isdisjoint(symbols)


ZERO = integer(0, INT32)
ONE = integer(1, INT32)
TRUE = Const(True, BOOL)
