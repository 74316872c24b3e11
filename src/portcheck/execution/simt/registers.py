"""Variables of threads: one number each, kept as a single number as long as it is the same for all."""

from __future__ import annotations

import numpy as np

from portcheck.execution.arithmetic.formats import NumpyType, Value


class Register:
    """One variable of every thread of a batch.

    A value that was stored or loaded whole may be held elsewhere too and is copied before it is changed.
    """

    __slots__ = ("_is_held", "_threads", "_type", "_value", "_written")

    def __init__(self, dtype: NumpyType, threads: int) -> None:
        self._type = dtype
        self._threads = threads
        self.reset()

    def reset(self) -> None:
        """Forgets what was stored: a declaration is reached again."""
        self._value: Value = self._type.type(0)
        self._is_held = True
        self._written: Value | bool = False

    def forget(self, index: Value) -> None:
        """The threads `index` have no value any more."""
        if self._written is not False and index.size:
            written = np.ones(self._threads, np.bool_) if self._written is True else self._written
            written[index] = False
            self._written = written

    def load(self, index: Value | None) -> Value:
        """The value of the threads `index`, or of all."""
        if self._value.ndim == 0:
            return self._value
        if index is None:
            self._is_held = True
            return self._value
        return self._value.take(index)

    def unwritten(self, index: Value | None) -> Value | None:
        """The positions in `index` of threads that stored nothing yet; None where there are none."""
        if self._written is True:
            return None
        if self._written is False:
            return np.arange(self._threads if index is None else len(index))
        written = self._written if index is None else self._written.take(index)
        return None if written.all() else np.flatnonzero(~written)

    def store(self, value: Value, index: Value | None, is_all_living: bool) -> None:
        """Gives the threads `index` (None: all) a value each; `is_all_living` where no others will ever read it."""
        if index is None or (is_all_living and value.ndim == 0):
            self._value = value
            self._is_held = True
            self._written = True
            return
        if self._is_held:
            self._value = np.array(np.broadcast_to(self._value, self._threads))
            self._is_held = False
        self._value[index] = value
        if is_all_living:
            self._written = True
        elif self._written is not True:
            if self._written is False:
                self._written = np.zeros(self._threads, np.bool_)
            self._written[index] = True
