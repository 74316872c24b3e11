"""How a lowering says that it does not understand a call."""

from __future__ import annotations


class MisunderstoodError(Exception):
    """The call is kept opaque for this reason."""
