"""The closed sets that operations choose from: orders, scopes, roundings, exchanges."""

from __future__ import annotations

from enum import StrEnum


class Order(StrEnum):
    """In which order the terms of a reduction are combined."""

    SEQUENTIAL = "sequential"
    PAIRWISE = "pairwise"
    BUTTERFLY = "butterfly"
    ANY = "any"
    """Every order is possible and may change from run to run (atomics)."""
    UNDOCUMENTED = "undocumented"
    """One order, which the vendor does not state."""


class Scope(StrEnum):
    """How far a barrier, fence or atomic reaches."""

    WARP = "warp"
    BLOCK = "block"
    CLUSTER = "cluster"
    GRID = "grid"
    DEVICE = "device"
    SYSTEM = "system"
    CORE = "core"


class WriteMode(StrEnum):
    """What a store does with what was there."""

    OVERWRITE = "overwrite"
    ADD = "add"
    GROUP = "group"
    """PSUM: the first write of the group overwrites, the later ones add."""


class Rounding(StrEnum):
    """How a cast rounds."""

    NEAREST_EVEN = "nearest_even"
    TOWARD_ZERO = "toward_zero"
    UP = "up"
    DOWN = "down"
    STOCHASTIC = "stochastic"
    EXACT = "exact"
    """The value is representable, or the bits are kept."""


class ExchangeKind(StrEnum):
    """From which lane a lane takes its value, given the operand `lane`."""

    XOR = "xor"
    DOWN = "down"
    UP = "up"
    INDEX = "index"
    PATTERN = "pattern"
    """A constant permutation of a group of partitions."""
    VOTE_ANY = "vote_any"
    VOTE_ALL = "vote_all"
    BALLOT = "ballot"
    MATCH = "match"
    ACTIVE = "active"


class CheckKind(StrEnum):
    """A device-side check or trace that computes nothing."""

    PRINT = "print"
    ASSERT = "assert"
    TRAP = "trap"
    CLOCK = "clock"


class LeaveKind(StrEnum):
    """Which construct a `Leave` ends."""

    ITERATION = "iteration"
    LOOP = "loop"
