"""Drawing expressions, types and accesses whose parts are defined."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from tests.ir.atoms import DTYPES, INTEGERS, SIZES, constants, dtypes

from portcheck.core.dtype import BOOL
from portcheck.ir import (
    PREDICATES,
    Access,
    Apply,
    Axis,
    AxisKind,
    Builder,
    Expr,
    Operator,
    Outside,
    Ref,
    Space,
    Symbol,
    ValueType,
    apply,
    arity,
)  # fmt: skip


class Drawing:
    """Draws parts of a program; keeps what is visible, so that everything used is defined."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.builder = Builder()
        self.names = 0
        self.refs: list[Ref] = []
        self.ranks: dict[int, int] = {}
        self.symbols: list[Symbol] = []
        self.buffers: list[tuple[str, int, bool]] = []
        self.loops = 0

    def some(self, values: list[Any] | tuple[Any, ...]) -> Any:
        return self.draw(st.sampled_from(values))

    def maybe(self, make: Callable[[], Any]) -> Any:
        return make() if self.draw(st.booleans()) else None

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}" if self.names % 3 else f"{stem}({self.names})"

    # Expressions, types, accesses

    def expression(self, depth: int = 2) -> Expr:
        kind = self.draw(st.integers(0, 3 if depth else 2))
        if kind == 3:
            operator = self.some(list(Operator))
            arguments = tuple(self.expression(depth - 1) for _ in range(arity(operator)))
            usual = [argument.dtype for argument in arguments]
            return Apply(operator, arguments, BOOL if operator in PREDICATES else self.some([*usual, *usual, *DTYPES]))
        if kind == 2 and self.refs:
            return self.draw(st.sampled_from(self.refs))
        if kind == 1 and self.symbols:
            return self.draw(st.sampled_from(self.symbols))
        return self.draw(constants) if kind else Symbol(self.some(SIZES), self.some(INTEGERS))

    def expressions(self, most: int = 2) -> tuple[Expr, ...]:
        return tuple(self.expression(1) for _ in range(self.draw(st.integers(0, most))))

    def operand(self, rank: int) -> Expr:
        """An expression that goes with a result of `rank` dimensions."""
        drawn = self.expression(1)
        return self.draw(constants) if isinstance(drawn, Ref) and self.ranks[drawn.id] not in (0, rank) else drawn

    def condition(self) -> Expr:
        return Apply(self.some((Operator.LESS, Operator.EQUAL)), (self.expression(1), self.expression(1)), BOOL)

    def extent(self) -> Expr:
        """An extent that is no literal, so that every shape goes with every other."""
        size = Symbol(self.some(SIZES), self.some(INTEGERS))
        return apply(Operator.MULTIPLY, size, self.draw(constants)) if self.draw(st.booleans()) else size

    def a_type(self, rank: int | None = None) -> ValueType:
        """A type of `rank` dimensions."""
        rank = self.draw(st.integers(0, 2)) if rank is None else rank
        shape = tuple(self.extent() for _ in range(rank))
        return ValueType(self.draw(dtypes), shape, self.some(list(Space)))

    def access(self, written: bool = False, rank: int | None = None) -> Access:
        """An access, along `rank` axes if that is given."""
        count = self.draw(st.integers(0, 2)) if rank is None else rank
        name, dimensions, _ = self.some([buffer for buffer in self.buffers if not (written and buffer[2])])
        outer = len(self.symbols)
        axes = []
        for _ in range(count):
            axis = Axis(self.fresh("p"), self.some(list(AxisKind)), self.maybe(self.extent))
            axes.append(axis)
            self.symbols.append(Symbol(axis.name, self.some(INTEGERS)))
        index = tuple(self.expression() for _ in range(self.some((1, dimensions))))
        mask = self.maybe(self.condition)
        del self.symbols[outer:]
        outside, is_volatile = self.some(list(Outside)), self.draw(st.booleans())
        return Access(buffer=name, index=index, axes=tuple(axes), mask=mask, outside=outside, is_volatile=is_volatile)
