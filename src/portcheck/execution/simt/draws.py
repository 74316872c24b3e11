"""Random numbers that stand in for cuRAND's: a stream that a seed of the run chooses, drawn as a kernel asks.

cuRAND documents what its generators are, not to the last bit what its device functions return; so none of them is
imitated. A draw is that of Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
2011) at the seed and sequence that the kernel set its state up with and the number of draws before. The state is one
number, as the IR keeps it: which seed and sequence, and how many draws; so it may be copied and stored like any.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from portcheck.execution.arithmetic.formats import Value

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_WORD = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def philox(counter: tuple[Value, ...], key: tuple[Value, Value]) -> tuple[Value, ...]:
    """Four random words for a counter of four words and a key of two, all of 32 bits, held in 64."""
    first, second, third, fourth = counter
    left_key, right_key = key
    for _ in range(_ROUNDS):
        left, right = first * np.uint64(_MULTIPLIERS[0]), third * np.uint64(_MULTIPLIERS[1])
        first, second, third, fourth = (
            (right >> _WORD) ^ second ^ left_key, right & _LOW, (left >> _WORD) ^ fourth ^ right_key, left & _LOW,
        )  # fmt: skip
        left_key = (left_key + np.uint64(_KEY_STEPS[0])) & _LOW
        right_key = (right_key + np.uint64(_KEY_STEPS[1])) & _LOW
    return first, second, third, fourth


class Draws:
    """The streams of a run, one for each seed and sequence that a kernel sets up."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._known: dict[tuple[int, int], int] = {}
        self._seeds: list[int] = [0]
        self._sequences: list[int] = [0]

    def started(self, seeds: Value, sequences: Value, offsets: Value) -> Value:
        """The states that begin with these numbers, which are uint64."""
        numbers = [self._number(pair) for pair in zip(seeds.tolist(), sequences.tolist(), strict=True)]
        return (np.array(numbers, np.uint64) << _WORD) | (offsets & _LOW)

    def _number(self, pair: tuple[int, int]) -> int:
        number = self._known.get(pair)
        if number is None:
            number = self._known[pair] = len(self._seeds)
            self._seeds.append(pair[0])
            self._sequences.append(pair[1])
        return number

    def is_started(self, states: Value) -> Value:
        """Which of these are states that something set up."""
        numbers = states >> _WORD
        return cast(Value, (numbers > 0) & (numbers < len(self._seeds)))

    def skipped(self, states: Value, counts: Value) -> Value:
        """The states so many draws later."""
        return cast(Value, (states & ~_LOW) | ((states + counts) & _LOW))

    def words(self, states: Value) -> Value:
        """The word of 32 bits, held in 64, that each state stands at; the next one is one draw later."""
        numbers = np.where(self.is_started(states), states >> _WORD, np.uint64(0)).astype(np.int64)
        seeds = np.array(self._seeds, np.uint64)[numbers] ^ np.uint64(int(self._seed) & 0xFFFFFFFFFFFFFFFF)
        sequences = np.array(self._sequences, np.uint64)[numbers]
        place = states & _LOW
        nothing: Value = np.zeros(len(states), np.uint64)
        counter = (place >> np.uint64(2), nothing, sequences & _LOW, sequences >> _WORD)
        found = np.stack(philox(counter, (seeds & _LOW, seeds >> _WORD)))
        return cast(Value, found[(place & np.uint64(3)).astype(np.int64), np.arange(len(states))])
