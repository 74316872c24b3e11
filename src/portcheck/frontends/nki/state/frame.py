"""Where names live: one frame a function call, with what the function's text says about its names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portcheck.frontends.nki.values.ages import new_age
from portcheck.frontends.nki.values.callables import Function
from portcheck.frontends.nki.values.values import Items, Value

if TYPE_CHECKING:
    import libcst as cst

    from portcheck.frontends.nki.source.parse import Segment
    from portcheck.frontends.nki.state.context import Context
    from portcheck.frontends.nki.state.scope import Scope


@dataclass(slots=True, eq=False)
class Frame:
    """The names of one call of a function; `parent` is the frame of the function or module around it.

    `segment` is the parsed text the function stands in, `stored` the names it indexes or assigns into.
    `depth` counts the calls that were inlined to get here, `root` is the function's own node. `may_have_left` says
    that what follows may not run: something before it may have returned, in a way that is not written out. `outer` has
    the frames whose names it declares as `nonlocal` or `global`. The frame of a file's own names has it as its `scope`.
    What a generator gives is added to `given`.
    """

    segment: Segment
    parent: Frame | None = None
    depth: int = 0
    stored: frozenset[str] = frozenset()
    root: cst.CSTNode | None = None
    names: dict[str, Value] = field(default_factory=dict)
    may_have_left: bool = False
    outer: dict[str, Frame] = field(default_factory=dict)
    age: int = field(default_factory=new_age, init=False, repr=False)
    scope: Scope | None = None
    method: Function | None = None
    given: Items | None = None

    def find(self, name: str) -> Value | None:
        """The value of `name` here or in a frame around this one."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.parent
        return None

    def value(self, context: Context, name: str) -> Value | None:
        """The value of `name` here, in a frame around this one or in the file, which is evaluated for it."""
        found = self.find(name)
        file = self.file
        return file.value(context, name) if found is None and file is not None else found

    @property
    def file(self) -> Scope | None:
        """The file that the text of this frame stands in."""
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame.scope


def declare(frame: Frame, names: Sequence[str], *, is_global: bool) -> None:
    """`nonlocal` or `global`: what is bound to `names` from now on is bound where they belong."""
    for name in names:
        owner = frame.parent
        while owner is not None and (owner.parent is not None if is_global else name not in owner.names):
            owner = owner.parent
        if owner is not None:
            frame.outer[name] = owner
