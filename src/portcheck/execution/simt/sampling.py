"""Samples of textures and surfaces: which elements a sample takes, and what it makes of them.

CUDA C++ Programming Guide 13.0, Texture and Surface Memory and Texture Fetching: how coordinates become positions,
what addressing modes make of those outside, and the linear filter. Positions are worked out in float64, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import cast

import numpy as np

from portcheck.core.dtype import FLOAT32, INT64, UINT64, DType
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.formats import Value, limits, storage
from portcheck.execution.simt.batch import Batch
from portcheck.execution.simt.compilation import Code, Compilation, Step
from portcheck.execution.simt.events import EventKind
from portcheck.execution.simt.expressions import code_of
from portcheck.execution.simt.textures import Texture, set_up
from portcheck.ir import Filter, Outside, Sample, SampleKind, Symbol
from portcheck.knowledge import load

_WIDEST_FRACTION = 2
"""Bytes of a whole number that a texture can give as a float (Programming Guide, Texture Object API, readMode)."""
_FARTHEST = 2.0**40
"""Positions beyond are as far outside as any."""


@dataclass(frozen=True, slots=True)
class _Positions:
    """Where some threads sample, in float64: each coordinate, x first; the layer."""

    threads: Value
    coordinates: tuple[Value, ...]
    layer: Value | None

    def of(self, chosen: Value) -> _Positions:
        parts = tuple(part[chosen] for part in self.coordinates)
        return _Positions(self.threads[chosen], parts, None if self.layer is None else self.layer[chosen])


def sample(compilation: Compilation, op: Sample) -> Step:
    """Reads a component of a texture at the position of each thread."""
    if op.kind not in (SampleKind.TEXTURE, SampleKind.TEXEL, SampleKind.SURFACE):
        raise InputError(f"samples of kind {op.kind} are not executed")
    slot, handle = compilation.slot(op.id), code_of(compilation, op.texture, UINT64)
    find = _finder(compilation, op)
    textures = compilation.textures
    level = None if op.level is None else code_of(compilation, op.level, FLOAT32)

    def run(batch: Batch) -> None:
        if level is not None and np.any(level(batch)):
            raise batch.stop(EventKind.NOT_EXECUTED, op.span, "levels of detail are not executed")
        numbers = np.broadcast_to(handle(batch), batch.active.count)
        positions = find(batch)
        result: Value = np.zeros(batch.active.count, storage(op.type.dtype))
        for number in np.unique(numbers).tolist():
            texture = textures.get(number)
            if texture is None:
                raise batch.stop(EventKind.NOT_EXECUTED, op.span, f"no texture is given for {_name(op)}")
            chosen = np.flatnonzero(numbers == number)
            result[chosen] = _Sampler(op, texture).values(batch, positions.of(chosen))
        batch.slots[slot] = result

    return run


def _finder(compilation: Compilation, op: Sample) -> Callable[[Batch], _Positions]:
    dtype = FLOAT32 if op.kind is SampleKind.TEXTURE else INT64
    coordinates = [code_of(compilation, part, dtype) for part in op.coordinates]
    layer = None if op.layer is None else code_of(compilation, op.layer, INT64)

    def each(code: Code, batch: Batch) -> Value:
        return np.broadcast_to(code(batch).astype(np.float64), batch.active.count)

    def find(batch: Batch) -> _Positions:
        found = tuple(each(code, batch) for code in coordinates)
        return _Positions(batch.numbers(), found, None if layer is None else each(layer, batch))

    return find


def _name(op: Sample) -> str:
    return op.texture.name if isinstance(op.texture, Symbol) else "the texture"


class _Sampler:
    """One texture, as one operation reads it."""

    def __init__(self, op: Sample, texture: Texture) -> None:
        self._op = op
        self._set_up = set_up(op, texture)
        self._result = storage(op.type.dtype)
        self._layers = texture.array if texture.is_layered else texture.array[None]
        if texture.channels == 1:
            self._layers = self._layers[..., None]
        expected = len(op.coordinates) + 2
        if self._layers.ndim != expected or self._layers.shape[-1] != texture.channels or not texture.array.size:
            raise InputError(
                f"the texture {_name(op)} has the shape {texture.array.shape}",
                "x is the last dimension, before it y and z; layers come first, several channels last",
            )
        if texture.is_layered != (op.layer is not None) or op.component >= texture.channels:
            raise InputError(f"the texture {_name(op)} has other layers or channels than its sample reads")
        if op.type.dtype.is_integer and self._set_up.filter is Filter.LINEAR:
            raise InputError(f"the texture {_name(op)} has a linear filter, which gives no whole numbers")
        self._values = _as_read(self._layers[..., op.component], op.type.dtype, _name(op))

    def values(self, batch: Batch, positions: _Positions) -> Value:
        """What the threads get, one each."""
        layer = self._layer(batch, positions)
        if self._op.kind is not SampleKind.TEXTURE:
            return self._elements(batch, positions, layer).astype(self._result)
        self._say(batch)
        extents = self._values.shape[:0:-1]
        along = [self._along(part, extent) for part, extent in zip(positions.coordinates, extents, strict=True)]
        if self._set_up.filter is Filter.LINEAR:
            return self._weighted(layer, along).astype(self._result)
        return self._at(layer, [np.floor(part) for part in along]).astype(self._result)

    def _along(self, coordinate: Value, extent: int) -> Value:
        """The position in elements, moved inside where the coordinate repeats."""
        position = np.nan_to_num(coordinate, nan=0.0, posinf=_FARTHEST, neginf=-_FARTHEST)
        if not self._set_up.is_normalised:
            return cast(Value, np.clip(position, -_FARTHEST, _FARTHEST))
        whole = np.floor(position)
        if self._set_up.outside is Outside.WRAP:
            position = position - whole
        elif self._set_up.outside is Outside.MIRROR:
            rest = position - whole
            position = np.where(whole % 2 == 0, rest, 1.0 - rest)
        return cast(Value, np.clip(position * extent, -_FARTHEST, _FARTHEST))

    def _at(self, layer: Value, indices: list[Value]) -> Value:
        """The elements with these numbers along x, y, z; what addressing makes of those outside."""
        places: list[Value] = []
        is_inside: Value = np.ones(len(layer), np.bool_)
        for index, extent in zip(indices, self._values.shape[:0:-1], strict=True):
            is_inside &= (index >= 0) & (index < extent)
            if self._set_up.outside is Outside.WRAP:
                index = index % extent
            places.append(np.clip(index, 0, extent - 1).astype(np.int64))
        found = self._values[(layer, *reversed(places))]
        return np.where(is_inside, found, 0) if self._set_up.outside is Outside.BORDER else found

    def _weighted(self, layer: Value, along: list[Value]) -> Value:
        """The elements around, each weighted by how near it is, in steps of the filter."""
        steps = 2.0 ** load().cuda_limit("texture_fraction_bits")
        corners = [np.floor(part - 0.5) for part in along]
        weights = [np.rint((part - 0.5 - low) * steps) / steps for part, low in zip(along, corners, strict=True)]
        total: Value = np.zeros(len(layer), np.float64)
        for offsets in product((0, 1), repeat=len(along)):
            weight: Value = np.ones(len(layer), np.float64)
            for offset, part in zip(offsets, weights, strict=True):
                weight = weight * (part if offset else 1.0 - part)
            indices = [low + offset for low, offset in zip(corners, offsets, strict=True)]
            total += np.where(weight == 0, 0.0, weight * self._at(layer, indices).astype(np.float64))
        return total

    def _elements(self, batch: Batch, positions: _Positions, layer: Value) -> Value:
        """Elements by whole numbers; those outside are faults, unless the texture says what they give."""
        indices = list(positions.coordinates)
        if self._op.kind is SampleKind.SURFACE:
            indices[0] = indices[0] / (self._layers.dtype.itemsize * self._layers.shape[-1])
        extents = self._values.shape[:0:-1]
        wrong: Value = np.zeros(len(layer), np.bool_)
        for index, extent in zip(indices, extents, strict=True):
            wrong |= (index < 0) | (index >= extent) | (index != np.floor(index))
        found = self._at(layer, [np.floor(index) for index in indices])
        if not wrong.any() or self._set_up.outside in (Outside.CLAMP, Outside.BORDER):
            return found
        self._outside(batch, positions, wrong, tuple(float(index[wrong][0]) for index in indices))
        return np.where(wrong, 0, found)

    def _layer(self, batch: Batch, positions: _Positions) -> Value:
        if positions.layer is None:
            return np.zeros(len(positions.threads), np.int64)
        most = len(self._layers) - 1
        wrong = (positions.layer < 0) | (positions.layer > most)
        if wrong.any():
            self._outside(batch, positions, wrong, (float(positions.layer[wrong][0]),))
        return np.clip(positions.layer, 0, most).astype(np.int64)

    def _outside(self, batch: Batch, positions: _Positions, wrong: Value, where: tuple[float, ...]) -> None:
        text = f"reads {_name(self._op)} at {where}, which lies outside of {self._values.shape[::-1]}"
        first, count = positions.threads[wrong][0], int(wrong.sum())
        batch.report(EventKind.OUT_OF_BOUNDS, self._op.span, text, first, count, subject=_name(self._op))

    def _say(self, batch: Batch) -> None:
        """Reports what neither the source nor the argument states."""
        if self._set_up.assumed:
            text = f"{_name(self._op)}: {', '.join(self._set_up.assumed)}"
            batch.report(EventKind.ASSUMED, self._op.span, text, batch.numbers()[0])


def _as_read(elements: Value, dtype: DType, name: str) -> Value:
    """Elements as a sample in `dtype` gives them: whole numbers as floats are fractions of their range."""
    kept = storage(dtype)
    if dtype.is_integer and elements.dtype != kept:
        raise InputError(f"the texture {name} is {elements.dtype} and is read as {dtype}", f"convert it to {kept.name}")
    if dtype.is_integer or elements.dtype.kind not in "iu":
        return elements
    if elements.dtype.itemsize > _WIDEST_FRACTION:
        raise InputError(f"the texture {name} is {elements.dtype}, which is not read as fractions of its range")
    most = limits(elements.dtype)[1]
    return np.maximum(elements.astype(np.float64) / most, -1.0)
