"""How a lowering says that it does not understand a call."""

from __future__ import annotations

from portcheck.ir import Expr, OpaqueKind


class MisunderstoodError(Exception):
    """The call is kept opaque for this reason; `kind` is what stood in the way."""

    def __init__(self, reason: str, kind: OpaqueKind = OpaqueKind.CALL) -> None:
        super().__init__(reason)
        self.kind = kind


class UnfollowedError(Exception):
    """A statement that uses an object whose state is not known is kept opaque for this reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.kind = OpaqueKind.CONTROL


class RaisedError(Exception):
    """The text of the port raises an error here: nothing after it runs."""


class NeedsUnrollingError(Exception):
    """A loop body uses Python objects in a way that only makes sense iteration by iteration."""


class ForkError(Exception):
    """A statement uses one of two values by `condition`: it is run for either."""

    def __init__(self, condition: Expr) -> None:
        super().__init__()
        self.condition = condition


class ReadAgainError(Exception):
    """A use shows that a parameter is not what it was taken to be: the kernel is read again from its start."""
