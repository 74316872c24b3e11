"""What sort of construct it is that stays opaque."""

from __future__ import annotations

from typing import NamedTuple

from portcheck.ir import OpaqueKind
from portcheck.knowledge import Construct, ConstructKind, Semantics

_FORMS = {
    "goto_statement": OpaqueKind.CONTROL,
    "labeled_statement": OpaqueKind.CONTROL, "for_range_loop": OpaqueKind.CONTROL,
    "try_statement": OpaqueKind.CONTROL, "throw_statement": OpaqueKind.CONTROL,
    "new_expression": OpaqueKind.MEMORY, "delete_expression": OpaqueKind.MEMORY,
    "struct_specifier": OpaqueKind.DTYPE, "class_specifier": OpaqueKind.DTYPE,
}  # fmt: skip
_MEANINGS = {
    Semantics.LAUNCH: OpaqueKind.LAUNCH, Semantics.TEXTURE: OpaqueKind.TEXTURE,
    Semantics.TEXTURE_SAMPLE: OpaqueKind.TEXTURE, Semantics.TEXTURE_TEXEL: OpaqueKind.TEXTURE,
    Semantics.TEXTURE_SURFACE: OpaqueKind.TEXTURE, Semantics.TEXTURE_CUBE: OpaqueKind.TEXTURE,
    Semantics.TEXTURE_GATHER: OpaqueKind.TEXTURE,
}  # fmt: skip


class Obstacle(NamedTuple):
    """Why something is not understood: in words, and of what kind it is."""

    reason: str
    kind: OpaqueKind


def form_kind(form: str) -> OpaqueKind:
    """The kind of a form of expression or statement that is not read."""
    return _FORMS.get(form, OpaqueKind.SYNTAX)


def construct_kind(construct: Construct) -> OpaqueKind:
    """The kind of a construct of CUDA that has no lowering."""
    if construct.kind is ConstructKind.INSTRUCTION:
        return OpaqueKind.ASSEMBLY
    return _MEANINGS.get(construct.semantics, OpaqueKind.LIBRARY)
