"""Textures and surfaces as arguments, and how one is set up: by the argument, by the source, else as CUDA has it.

CUDA C++ Programming Guide 13.0, Texture and Surface Memory; CUDA Runtime API 13.0, cudaTextureDesc.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from portcheck.execution.arithmetic.formats import Value
from portcheck.ir import Filter, Outside, Sample, SampleKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Texture:
    """An argument for a texture or surface: its elements, and how the host set it up.

    `array` has x as its last dimension, before it y and z; of a layered texture the layers first, with several
    `channels` these last. What is None is as the source states it, else as CUDA has it where nothing is set: the
    nearest element, the nearest one inside, coordinates in elements.
    """

    array: Value
    channels: int = 1
    is_layered: bool = False
    filter: Filter | None = None
    outside: Outside | None = None
    is_normalised: bool | None = None


def texture_numbers(arguments: Mapping[str, object]) -> dict[str, int]:
    """The number that stands for each texture among the arguments; 0 is none."""
    names = [name for name, value in arguments.items() if isinstance(value, Texture)]
    return {name: 1 + place for place, name in enumerate(names)}


@dataclass(frozen=True, slots=True)
class SetUp:
    """How a texture is sampled, and what of that nobody states."""

    filter: Filter
    outside: Outside | None
    is_normalised: bool
    assumed: tuple[str, ...] = ()


def set_up(op: Sample, texture: Texture) -> SetUp:
    """What the argument states, else the source, else what a description has in which nothing is set."""
    if op.kind is not SampleKind.TEXTURE:
        return SetUp(Filter.POINT, texture.outside, False)
    filter = texture.filter or op.filter
    outside = texture.outside or op.outside
    is_normalised = op.is_normalised if texture.is_normalised is None else texture.is_normalised
    stated = {
        "the nearest element": filter,
        "the nearest one inside": outside,
        "coordinates in elements": is_normalised,
    }
    assumed = [what for what, known in stated.items() if known is None]
    if filter is Filter.LINEAR:
        assumed.append("weights rounded to the nearest step, sums in float64")
    if not is_normalised and outside in (Outside.WRAP, Outside.MIRROR):
        outside = Outside.CLAMP  # what repeats needs normalised coordinates (cudaTextureDesc::addressMode)
    return SetUp(filter or Filter.POINT, outside or Outside.CLAMP, bool(is_normalised), tuple(assumed))
