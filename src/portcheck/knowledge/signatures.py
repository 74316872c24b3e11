"""Parameters of constructs and calls: a name, the role its argument plays, and the default."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from portcheck.core.errors import did_you_mean
from portcheck.knowledge.schema import Table


class Role(StrEnum):
    """What an argument means to the operation, whatever the parameter is called."""

    DESTINATION = "destination"
    SOURCE = "source"
    SOURCES = "sources"
    STATIONARY = "stationary"
    MOVING = "moving"
    STATIONARY_SCALE = "stationary_scale"
    MOVING_SCALE = "moving_scale"
    PREDICATE = "predicate"
    ON_TRUE = "on_true"
    ON_FALSE = "on_false"
    INDICES = "indices"
    OPERATOR = "operator"
    OPERATOR0 = "operator0"
    OPERATOR1 = "operator1"
    OPERAND0 = "operand0"
    OPERAND1 = "operand1"
    REVERSE0 = "reverse0"
    REVERSE1 = "reverse1"
    SCALE = "scale"
    BIAS = "bias"
    INITIAL = "initial"
    REDUCE_OPERATOR = "reduce_operator"
    REDUCE_DESTINATION = "reduce_destination"
    REDUCE_COMMAND = "reduce_command"
    REDUCE_INITIAL = "reduce_initial"
    PARAMETER = "parameter"
    """A number that shapes the function of an activation."""
    NEGATE = "negate"
    AXIS = "axis"
    KEEP_DIMENSIONS = "keep_dimensions"
    SHAPE = "shape"
    DTYPE = "dtype"
    COMPUTE_DTYPE = "compute_dtype"
    BUFFER = "buffer"
    ADDRESS = "address"
    VALUE = "value"
    MASK = "mask"
    ENGINE = "engine"
    NAME = "name"
    PATTERN = "pattern"
    OFFSET = "offset"
    SCALAR_OFFSET = "scalar_offset"
    VECTOR_OFFSET = "vector_offset"
    CHANNEL_MULTIPLIER = "channel_multiplier"
    COMPARISON0 = "comparison0"
    COMPARISON1 = "comparison1"
    BOUND0 = "bound0"
    BOUND1 = "bound1"
    START = "start"
    STOP = "stop"
    STEP = "step"
    SIZE = "size"
    COUNT = "count"
    BODY = "body"
    LANE_MASK = "lane_mask"
    DELTA = "delta"
    LANE = "lane"
    WIDTH = "width"
    ADDRESS_OF = "pointer"
    EXPECTED = "expected"
    PROBABILITY = "probability"
    SEED = "seed"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    EPSILON = "epsilon"
    WEIGHT = "weight"
    TRANSPOSE = "transpose"
    ACCUMULATE = "accumulate"
    BOUNDS_MODE = "bounds_mode"
    DESCRIPTOR_MODE = "descriptor_mode"
    PERFORMANCE = "performance"
    RANKS = "ranks"
    SEND_TO = "send_to"
    RECEIVE_FROM = "receive_from"
    STATE = "state"
    GROUP = "group"
    CONDITION = "condition"
    LAYER = "layer"
    LEVEL = "level"
    ORDER = "order"
    UNIQUE_INDICES = "unique_indices"
    FORMAT = "format"
    SCHEDULING = "scheduling"
    """When, or on which part of an engine, something is done."""
    IGNORED = "ignored"
    """The version takes it and does not look at it."""
    OTHER = "other"


VALUE_NEUTRAL = frozenset(
    {
        Role.ENGINE, Role.NAME, Role.BUFFER, Role.ADDRESS, Role.DESCRIPTOR_MODE, Role.SCHEDULING, Role.IGNORED,
    }
)  # fmt: skip
"""The roles whose argument does not change what is computed, only where, when or how fast."""
WRITTEN = frozenset({Role.DESTINATION, Role.REDUCE_DESTINATION, Role.EXPECTED})
"""The roles whose argument is written."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter in call order; `default` is its source text, None when the argument is required.

    A name that starts with `*` collects the remaining positional arguments, `**` the remaining keywords.
    """

    name: str
    role: Role
    default: str | None = None


def parameters_at(table: Table, key: str) -> tuple[Parameter, ...]:
    """The parameters written at `key` as "name: role, name: role = default"; a name without role is its own role.

    "*" alone marks the parameters after it as keyword-only and is kept under that name.
    """
    try:
        return _parameters(table.text(key, ""))
    except _SignatureError as error:
        raise table.error(f'key "{key}": {error}', error.hint) from None


class _SignatureError(Exception):
    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@cache  # many entries share a signature
def _parameters(text: str) -> tuple[Parameter, ...]:
    return tuple(_parameter(part) for part in split_top_level(text))


def split_top_level(text: str) -> list[str]:
    """The parts of `text` between the commas that stand outside brackets, stripped."""
    if "(" not in text and "[" not in text:
        return [part.strip() for part in text.split(",")] if text else []
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()]


def _parameter(text: str) -> Parameter:
    declaration, equals, default = text.partition("=")
    name, colon, word = declaration.partition(":")
    name, word = name.strip(), word.strip()
    if not name:
        raise _SignatureError("empty parameter name")
    if colon and word not in _ROLES:
        raise _SignatureError(f'parameter "{name}" has the unknown role "{word}"', did_you_mean(word, _ROLES))
    role = _ROLES[word] if colon else _ROLES.get(name, Role.OTHER)
    return Parameter(name, role, default.strip() if equals else None)


_ROLES = {str(role): role for role in Role}
