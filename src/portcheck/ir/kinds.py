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
    """How far a barrier, fence or atomic reaches; whose lanes a reduction or scan over lanes combines."""

    WARP = "warp"
    BLOCK = "block"
    CLUSTER = "cluster"
    GRID = "grid"
    DEVICE = "device"
    SYSTEM = "system"
    CORE = "core"
    """The engines of one core; for lanes: the partitions of a tile, in groups of as many as the operation has lanes."""


class MemoryOrder(StrEnum):
    """What an atomic or fence orders of the other memory operations of its thread (as in C++)."""

    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQUIRE_RELEASE = "acquire_release"
    SEQUENTIAL = "sequential"
    """Sequentially consistent."""


class Outside(StrEnum):
    """What happens at an index that lies outside the buffer, dimension by dimension."""

    UNDEFINED = "undefined"
    """Nothing is promised: a read gives anything, a write may land anywhere."""
    ERROR = "error"
    """The device reports it and what follows is not to be used."""
    SKIP = "skip"
    """As where the mask is false: nothing is written, a load gives its fill."""
    CLAMP = "clamp"
    """The nearest index inside."""
    WRAP = "wrap"
    """The index modulo the extent."""
    MIRROR = "mirror"
    """As if every second copy of the buffer ran backwards."""
    BORDER = "border"
    """A load gives its fill, 0 without one; nothing is written."""


class WriteMode(StrEnum):
    """What a store does with what was there."""

    OVERWRITE = "overwrite"
    ADD = "add"
    GROUP = "group"
    """PSUM: the first write of the group overwrites, the later ones add.

    A group begins at the `Alloc` of the buffer, each time it runs, and at every OVERWRITE, element by element.
    """


class Rounding(StrEnum):
    """How a cast or an operation on floats rounds."""

    NEAREST_EVEN = "nearest_even"
    TOWARD_ZERO = "toward_zero"
    UP = "up"
    DOWN = "down"
    STOCHASTIC = "stochastic"
    EXACT = "exact"
    """The value is representable, or the bits are kept."""


class ExchangeKind(StrEnum):
    """From which lane of its group of `width` lane i takes its value, given the operand `lane`; or what is voted on."""

    XOR = "xor"
    """From i ^ lane, also in an earlier group; its own value where that is in a later one."""
    DOWN = "down"
    """From i + lane; its own value where that is beyond the group."""
    UP = "up"
    """From i - lane; its own value where that is before the group."""
    INDEX = "index"
    """From lane modulo width, in its own group."""
    PATTERN = "pattern"
    """From pattern[i], in its own group; lanes are the elements along the first dimension (partitions)."""
    VOTE_ANY = "vote_any"
    VOTE_ALL = "vote_all"
    BALLOT = "ballot"
    """The participating lanes whose operand is true, as a bit mask."""
    MATCH = "match"
    """The participating lanes whose operand is equal to this lane's, as a bit mask."""
    ACTIVE = "active"
    """The lanes that run this, as a bit mask."""


class CollectiveKind(StrEnum):
    """What a rank gets of the sources of all ranks of its group."""

    REDUCE = "reduce"
    """The sources combined, element by element."""
    SCATTER = "scatter"
    """Its part of the sources combined."""
    GATHER = "gather"
    """The sources side by side."""
    EXCHANGE = "exchange"
    """Its part of every source, side by side."""
    PERMUTE = "permute"
    """The source of the rank whose target it is; nothing where it is none."""
    RING = "ring"
    """The source of the rank before it in the group, the first that of the last."""
    SEND = "send"
    """The source of the rank it receives from, which sends to it."""


class SampleKind(StrEnum):
    """How the coordinates of a sample count."""

    TEXTURE = "texture"
    """Positions: filtered and addressed as the texture was set up."""
    TEXEL = "texel"
    """Whole numbers of elements, without a filter."""
    SURFACE = "surface"
    """Whole numbers, the first in bytes, without a filter."""
    CUBE = "cube"
    """A direction from the middle of a cube."""
    GATHER = "gather"
    """A position: the component of the four elements a linear filter would use."""


class Filter(StrEnum):
    """What a texture gives between its elements."""

    POINT = "point"
    """The element the position lies in."""
    LINEAR = "linear"
    """The nearest elements, weighted by their distance in 8 bits."""


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


class OpaqueKind(StrEnum):
    """Why source was not understood: what sort of construct it is."""

    SYNTAX = "syntax"
    """Text that does not parse, a form of expression or statement that is not read."""
    CALL = "call"
    """A call or name that is not followed, or does not fit what is known of it."""
    ASSEMBLY = "assembly"
    TEXTURE = "texture"
    LAUNCH = "launch"
    """A kernel launched from device code."""
    LIBRARY = "library"
    """A call of a documented function, method or instruction that has no lowering."""
    MEMORY = "memory"
    """An address, index, shape or buffer that is not followed."""
    DTYPE = "dtype"
    """A type, or data read as another one."""
    CONTROL = "control"
    """A jump, or a loop or choice that is not followed."""
    LIMIT = "limit"
    """Text nested too deeply, or that expands to too much."""
