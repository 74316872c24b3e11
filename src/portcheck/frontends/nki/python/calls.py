"""Calls of Python itself: which function models which built-in, and the functions of its standard library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from portcheck.frontends.nki.expressions.bind import as_dtype
from portcheck.frontends.nki.objects.instances import is_instance
from portcheck.frontends.nki.python.numbers import NUMBERS
from portcheck.frontends.nki.python.sequences import ITERATORS, SEQUENCES, Invoke
from portcheck.frontends.nki.python.texts import text_of, unknown_text
from portcheck.frontends.nki.state.context import Context
from portcheck.frontends.nki.state.failure import MisunderstoodError
from portcheck.frontends.nki.state.mutation import alike, made_lazily
from portcheck.frontends.nki.state.watching import watch_arguments
from portcheck.frontends.nki.values.arithmetic import literal
from portcheck.frontends.nki.values.data import as_number
from portcheck.frontends.nki.values.series import as_iterator
from portcheck.frontends.nki.values.values import (
    NONE,
    Either,
    External,
    Format,
    Items,
    Nothing,
    Stretch,
    Table,
    Text,
    Unknown,
    Value,
)

Arguments = Sequence[Value]
Keywords = Mapping[str, Value]


TAKES_EITHER = frozenset({"str", "repr", "isinstance"})
"""Functions of Python that may be given one of two values by a condition that is not known."""


def is_builtin(name: str) -> bool:
    """Whether `name` is a function of Python that is modelled."""
    return name in NUMBERS or name in SEQUENCES or name in _OTHERS or name in _SILENT or name in _TYPES


def is_of_numbers(name: str) -> bool:
    """Whether `name` is a function of Python that gives a number and does nothing else."""
    return name.removeprefix("math.") in NUMBERS or name == "numpy.prod"


def is_certainly_number(name: str) -> bool:
    """Whether a function of Python gives a number whatever it is given, or fails."""
    return name.removeprefix("math.") in _CERTAIN


_CERTAIN = frozenset({
    "len", "int", "float", "bool", "min", "max", "ceil", "floor", "round", "trunc", "isqrt", "gcd", "lcm", "numpy.prod",
})  # fmt: skip


def python_call(context: Context, name: str, arguments: Arguments, keywords: Keywords, invoke: Invoke) -> Value | None:
    """The value of a call of a Python function by its qualified name; None when it is not modelled.

    `invoke` calls a function that is handed over, as `map` and `sorted` do.
    """
    word = name.rpartition(".")[2] if name.partition(".")[0] in _LIBRARIES else name
    if word in _SILENT:
        return NONE
    try:
        if word in NUMBERS and not keywords:
            return NUMBERS[word](context, arguments)
        if word in SEQUENCES:
            if word not in ITERATORS:
                return SEQUENCES[word](context, arguments, keywords, invoke)
            return _iterator(context, arguments, lambda: SEQUENCES[word](context, arguments, keywords, invoke))
        return _OTHERS[word](context, arguments) if word in _OTHERS else None
    except MisunderstoodError as error:
        return context.unknown(f"{word}()", f"{word}: {error}", *arguments, kind=error.kind)


_LIBRARIES = frozenset({"math", "numpy", "builtins", "functools", "itertools", "operator"})
_SILENT = frozenset({"print", "warn", "debug", "info"})
_TYPES = frozenset({"object", "type", "property", "staticmethod", "classmethod", "Exception", "ValueError"})


def _iterator(context: Context, arguments: Arguments, make: Callable[[], Value | None]) -> Value | None:
    """What `make` gives, as what gives its elements once."""
    watches = watch_arguments(context, arguments)
    with made_lazily(context) as made:
        found = make()
        if isinstance(found, Items):
            made.append(as_iterator(found))
            found.watches = watches
    return found


def _instance(context: Context, arguments: Arguments) -> Value | None:
    if len(arguments) != 2:
        return None
    given = context.resolve(arguments[0])
    found = is_instance(context, given, arguments[1])
    given = given if found is not None else context.certain(given)
    if found is None:
        return context.unknown("isinstance()", "what class this is of is not known", arguments[0])
    return literal(found)


def _text(context: Context, arguments: Arguments) -> Value:
    given = context.resolve(arguments[0]) if arguments else Text("")
    if isinstance(given, Either):
        sides = [_text(context, [side]) for side in (given.first, given.second)]
        if all(isinstance(side, Text | Format | Either | Unknown) for side in sides):
            return sides[0] if alike(*sides) else Either(given.condition, *sides)
        given = context.certain(given)
    if isinstance(given, Format) and given.dtype.is_symbolic:
        return given  # the name of a dtype is compared as the dtype
    dtype = as_dtype(context, given) if isinstance(given, External) else None
    found = text_of(given if dtype is None else Format(dtype))
    return Text(found) if found is not None else unknown_text("str()", *arguments)


def _slice(context: Context, arguments: Arguments) -> Value | None:
    """`slice(start, stop, step)`, or `slice(stop)`."""
    ends = [None if isinstance(value, Nothing) else as_number(context, value) for value in arguments]
    is_missing = any(end is None and not isinstance(value, Nothing) for end, value in zip(ends, arguments, strict=True))
    if is_missing or not 1 <= len(ends) <= 3:
        return None
    return Stretch(None, ends[0]) if len(ends) == 1 else Stretch(*ends)


def _float_limits(context: Context, arguments: Arguments) -> Value | None:
    """The ends of the range of a floating-point format."""
    dtype = as_dtype(context, arguments[0]) if len(arguments) == 1 else None
    facts = context.knowledge.dtype(dtype.name) if dtype is not None else None
    if facts is None:
        return None
    return Table({"min": literal(facts.min_finite), "max": literal(facts.max_finite)}, "limits")


_OTHERS: Mapping[str, Callable[[Context, Arguments], Value | None]] = {
    "isinstance": _instance, "str": _text, "repr": _text, "slice": _slice, "finfo": _float_limits,
}  # fmt: skip
