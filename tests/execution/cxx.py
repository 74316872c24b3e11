"""C++'s arithmetic on numbers, as the standard says it, with CUDA's widths; knows nothing of the frontend."""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np

WIDTHS = {
    "bool": 1, "signed char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16, "int": 32, "unsigned": 32,
    "long long": 64, "unsigned long long": 64,
}  # fmt: skip
FLOATS = {"float": np.float32, "double": np.float64}
UNSIGNED = frozenset({"bool", "unsigned char", "unsigned short", "unsigned", "unsigned long long"})
RANKS = ("int", "unsigned", "long long", "unsigned long long", "float", "double")
COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


@dataclass(frozen=True)
class Number:
    """A value of a C++ type: a Python int in its range, or a NumPy float of it."""

    value: int | np.floating
    type: str


def converted(number: Number, wanted: str) -> Number:
    """`number` as an assignment to `wanted` makes it; a float is in the range of an integer that is wanted."""
    value = number.value
    if wanted in FLOATS:
        return Number(FLOATS[wanted](value), wanted)
    if wanted == "bool":
        return Number(int(value != 0), wanted)
    width = WIDTHS[wanted]
    whole = int(value) & ((1 << width) - 1)
    return Number(whole - (1 << width) if wanted not in UNSIGNED and whole >> (width - 1) else whole, wanted)


def promoted(number: Number) -> Number:
    """`number` after integral promotion."""
    return number if number.type in RANKS else converted(number, "int")


def balanced(left: Number, right: Number) -> tuple[Number, Number]:
    """Both after the usual arithmetic conversions."""
    left, right = promoted(left), promoted(right)
    wanted = max(left.type, right.type, key=RANKS.index)
    return converted(left, wanted), converted(right, wanted)


def binary(text: str, left: Number, right: Number) -> Number:
    """`left text right`."""
    if text in ("<<", ">>"):
        left = promoted(left)
        shifted = left.value << right.value if text == "<<" else left.value >> right.value
        return converted(Number(shifted, "long long"), left.type)
    if text in ("&&", "||"):
        truths = (bool(left.value), bool(right.value))
        return Number(int(all(truths) if text == "&&" else any(truths)), "bool")
    left, right = balanced(left, right)
    if text in COMPARISONS:
        return Number(int(COMPARISONS[text](left.value, right.value)), "bool")
    if left.type in FLOATS:
        result = ARITHMETIC[text](left.value, right.value) if text in ARITHMETIC else left.value / right.value
        return Number(FLOATS[left.type](result), left.type)
    return converted(Number(_whole(text, left.value, right.value), "long long"), left.type)


def _whole(text: str, left: int, right: int) -> int:
    if text in ARITHMETIC or text in BITS:
        return (ARITHMETIC | BITS)[text](left, right)
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if text == "/" else left - quotient * right


def unary(text: str, number: Number) -> Number:
    """`text number`."""
    if text == "!":
        return Number(int(not number.value), "bool")
    number = promoted(number)
    if number.type in FLOATS:
        return Number(-number.value if text == "-" else number.value, number.type)
    value = {"-": -number.value, "+": number.value, "~": ~number.value}[text]
    return converted(Number(value, "long long"), number.type)


def chosen(condition: Number, first: Number, second: Number) -> Number:
    """`condition ? first : second`."""
    if first.type != second.type:
        first, second = balanced(first, second)
    return first if condition.value else second
