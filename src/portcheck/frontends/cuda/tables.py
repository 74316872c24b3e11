"""Which arrays of the file keep what their lists say."""

from __future__ import annotations

from portcheck.frontends.cuda.state import State
from portcheck.frontends.cuda.syntax import Node

_DEVICE = ("__device__", "__global__")


def is_never_changed(state: State, declaration: Node, name: str) -> bool:
    """Whether nothing changes an array: it is `const`, or constant memory that the host hands to no function."""
    if declaration.has("const") or declaration.has("constexpr"):
        return True
    return declaration.has("__constant__") and not any(
        name in (found.text for found in listed.found("identifier")) and not _is_in_device_code(listed)
        for unit in state.definitions.units
        for listed in unit.root.found("argument_list")
    )


def _is_in_device_code(node: Node) -> bool:
    current = node.parent
    while current is not None and current.type != "function_definition":
        current = current.parent
    return current is not None and any(current.has(word) for word in _DEVICE)
