"""Clauses of the text form, each left out where it would say what holds anyway."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.ir.expr import Expr
from portcheck.ir.kernel import Default
from portcheck.ir.kinds import MemoryOrder, Order, Rounding, WriteMode
from portcheck.ir.ops import Copy, Store
from portcheck.ir.text.spelling import name_text, number_text, quoted


def joined(*parts: str) -> str:
    """The parts that are there, with spaces between them."""
    return " ".join(part for part in parts if part)


def names_clause(word: str, names: Sequence[str]) -> str:
    """A clause of names; "" for none."""
    return f"{word}({', '.join(map(name_text, names))})" if names else ""


def unless(value: Expr, default: Expr) -> Expr | None:
    """None where a value is its default."""
    return None if value == default else value


def name_clause(word: str, name: str) -> str:
    """A clause of one name; "" for none."""
    return f"{word}({name_text(name)})" if name else ""


def default_clause(default: Default | None) -> str:
    """The clause of what a parameter is where its argument is left out; "" where nothing is stated."""
    if default is None:
        return ""
    match default.value:
        case None:
            return "default(none)"
        case str() as text:
            return f"default({quoted(text)})"
        case number:
            return f"default({number_text(number)})"


def integers_clause(word: str, values: Sequence[int]) -> str:
    """A clause of integers; "" for none."""
    return f"{word}({', '.join(map(str, values))})" if values else ""


def flag_clause(word: str, is_set: bool) -> str:
    """A word where it holds."""
    return word if is_set else ""


def rounding_clause(rounding: Rounding) -> str:
    """The word of a rounding that is not the usual one."""
    return "" if rounding is Rounding.NEAREST_EVEN else rounding


def memory_order_clause(order: MemoryOrder) -> str:
    """The clause of an order that orders something."""
    return "" if order is MemoryOrder.RELAXED else f"order({order})"


def order_clause(order: Order, default: Order = Order.UNDOCUMENTED) -> str:
    """The clause of an order that is not the default."""
    return "" if order is default else f"order({order})"


def written(op: Store | Copy, value: str) -> str:
    """What is written and how, behind the place."""
    sign = "+=" if op.mode is WriteMode.ADD else "="
    group = flag_clause("group", op.mode is WriteMode.GROUP)
    return joined(sign, value, group, flag_clause("unique_indices", op.unique_indices))
