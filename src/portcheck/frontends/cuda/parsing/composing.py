"""New text made of parts of an old one, which keep their places."""

from __future__ import annotations

from portcheck.frontends.cuda.parsing.parse import parse
from portcheck.frontends.cuda.parsing.syntax import Node, Unit
from portcheck.frontends.cuda.text.origins import Origins


class Pieces:
    """Collects text, and where each part of it stood."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._parts: list[tuple[str, int, int]] = []

    def put(self, text: str, node: Node) -> None:
        """Adds text that stands for `node`."""
        self._parts.append((text, self._unit.character(node.start), self._unit.character(node.end)))

    def keep(self, start: int, end: int) -> None:
        """Adds the bytes from `start` to `end` of the old text."""
        text = self._unit.encoded[start:end].decode("utf-8", "replace")
        self._parts.append((text, self._unit.character(start), -1))

    def parsed(self) -> Node:
        """What was collected, parsed."""
        origins, length = Origins(), 0
        for text, start, end in self._parts:
            if text:
                origins.add(length, start, end)
            length += len(text)
        text = "".join(text for text, _, _ in self._parts)
        return parse(self._unit.source, text, (origins, *self._unit.origins), self._unit.fixed).root
