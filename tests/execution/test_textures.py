"""Samples of textures are what the programming guide says, worked out here element by element with fractions."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.execution.running import executed

from portcheck.core.errors import InputError
from portcheck.execution import EventKind, Texture
from portcheck.ir import Filter, Outside

KERNELS = {
    1: "y[i] = tex1D<float>(t, x[i]);",
    2: "y[i] = tex2D<float>(t, x[i], x[n + i]);",
    3: "y[i] = tex3D<float>(t, x[i], x[n + i], x[2 * n + i]);",
}
SHAPES = {1: (7,), 2: (5, 7), 3: (3, 5, 7)}
FRACTION_STEPS = 256
POINTS = 400
RANDOM = np.random.default_rng(3)


def kernel(body: str) -> str:
    return f"""
    __global__ void k(cudaTextureObject_t t, const float* x, float* y, int n) {{
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) {{ {body} }}
    }}"""


def remapped(coordinate: Fraction, extent: int, outside: Outside, is_normalised: bool) -> Fraction:
    """The position in elements; what repeats does so before it is scaled."""
    if not is_normalised:
        return coordinate
    whole = math.floor(coordinate)
    if outside is Outside.WRAP:
        coordinate -= whole
    elif outside is Outside.MIRROR:
        coordinate = coordinate - whole if whole % 2 == 0 else 1 - (coordinate - whole)
    return coordinate * extent


def element(array: np.ndarray, index: tuple[int, ...], outside: Outside) -> Fraction:
    """The element with this index, z y x; what lies outside as the addressing says."""
    inside = []
    for place, extent in zip(index, array.shape, strict=True):
        if not 0 <= place < extent and outside is Outside.BORDER:
            return Fraction(0)
        inside.append(place % extent if outside is Outside.WRAP else min(max(place, 0), extent - 1))
    return Fraction(float(array[tuple(inside)]))


def reference(
    array: np.ndarray, coordinates: tuple[float, ...], filter: Filter, outside: Outside, is_normalised: bool
) -> float:
    """One sample; `coordinates` are x, y, z."""
    extents = array.shape[::-1]
    along = [
        remapped(Fraction(float(part)), extent, outside, is_normalised)
        for part, extent in zip(coordinates, extents, strict=True)
    ]
    if filter is Filter.POINT:
        return float(element(array, tuple(math.floor(part) for part in reversed(along)), outside))
    lows = [math.floor(part - Fraction(1, 2)) for part in along]
    weights = [
        Fraction(round((part - Fraction(1, 2) - low) * FRACTION_STEPS), FRACTION_STEPS)
        for part, low in zip(along, lows, strict=True)
    ]
    total = Fraction(0)
    for corner in product((0, 1), repeat=len(along)):
        weight = math.prod(part if step else 1 - part for part, step in zip(weights, corner, strict=True))
        index = tuple(low + step for low, step in zip(lows, corner, strict=True))[::-1]
        total += weight * element(array, index, outside)
    return float(np.float32(float(total)))


def set_ups() -> list[tuple[int, Filter, Outside, bool]]:
    found = []
    for dimensions, filter, is_normalised in product((1, 2, 3), Filter, (False, True)):
        addressing = (Outside.CLAMP, Outside.BORDER)
        if is_normalised:
            addressing += (Outside.WRAP, Outside.MIRROR)
        found += [(dimensions, filter, outside, is_normalised) for outside in addressing]
    return found


@pytest.mark.parametrize(("dimensions", "filter", "outside", "is_normalised"), set_ups())
def test_samples_of_every_set_up(dimensions: int, filter: Filter, outside: Outside, is_normalised: bool) -> None:
    array = RANDOM.integers(-64, 64, SHAPES[dimensions]).astype(np.float32)
    scale = 1.0 if is_normalised else 7.0
    x = (RANDOM.uniform(-1.5, 2.5, (dimensions, POINTS)) * scale).astype(np.float32)
    x[:, :40] = (RANDOM.integers(-6, 10, (dimensions, 40)) / 4 * scale).astype(np.float32)
    texture = Texture(array=array, filter=filter, outside=outside, is_normalised=is_normalised)
    arguments = {"t": texture, "x": x, "y": np.zeros(POINTS, np.float32), "n": POINTS}
    done = executed(kernel(KERNELS[dimensions]), arguments, 4, 128)
    expected = [reference(array, tuple(x[:, i]), filter, outside, is_normalised) for i in range(POINTS)]
    assert not done.faults
    assert np.array_equal(done.arrays["y"], np.array(expected, np.float32))


def run_one(body: str, texture: Texture, x: list[float]) -> object:
    values = np.array(x, np.float32)
    return executed(kernel(body), {"t": texture, "x": values, "y": np.zeros_like(values), "n": len(x)}, 1, 32)


def test_addressing_that_repeats_needs_normalised_coordinates() -> None:
    texture = Texture(
        array=np.arange(4, dtype=np.float32), filter=Filter.POINT, outside=Outside.WRAP, is_normalised=False
    )
    assert run_one("y[i] = tex1D<float>(t, x[i]);", texture, [-1, 1.5, 9]).arrays["y"].tolist() == [0, 1, 3]


def test_whole_numbers_read_as_floats_are_fractions_of_their_range() -> None:
    for dtype, values, expected in (
        (np.uint8, [0, 51, 255], [0, 0.2, 1]), (np.int8, [-128, -127, 127], [-1, -1, 1]),
        (np.uint16, [0, 13107, 65535], [0, 0.2, 1]),
    ):  # fmt: skip
        done = run_one("y[i] = tex1D<float>(t, x[i]);", Texture(array=np.array(values, dtype)), [0.5, 1.5, 2.5])
        assert done.arrays["y"].tolist() == [float(np.float32(one)) for one in expected]


def test_channels_layers_and_texels() -> None:
    array = np.arange(3 * 2 * 5 * 4).reshape(3, 2, 5, 4).astype(np.float32)
    texture = Texture(array=array, channels=4, is_layered=True, filter=Filter.POINT, outside=Outside.CLAMP)
    body = "float4 v = tex2DLayered<float4>(t, x[i], 1.f, i % 3); y[i] = v.x + 10 * v.w;"
    done = run_one(body, texture, [0.5, 1.5, 4.5, 9])
    expected = [array[i % 3, 1, min(int(x), 4)] @ np.array([1, 0, 0, 10]) for i, x in enumerate([0.5, 1.5, 4.5, 9])]
    assert done.arrays["y"].tolist() == expected
    done = run_one("y[i] = tex1Dfetch<int>(t, i);", Texture(array=np.array([5, -7], np.int32)), [0, 0])
    assert done.arrays["y"].tolist() == [5, -7]


def test_a_texel_or_layer_outside_is_a_fault_unless_the_texture_says_what_it_gives() -> None:
    array = np.array([5, 7], np.float32)
    body = "y[i] = tex1Dfetch<float>(t, i - 1);"
    wild = run_one(body, Texture(array=array), [0, 0, 0])
    assert [event.kind for event in wild.faults] == [EventKind.OUT_OF_BOUNDS]
    assert wild.faults[0].thread == (0, 0, 0)
    assert wild.arrays["y"].tolist() == [0, 5, 7]
    clamped = run_one(body, Texture(array=array, outside=Outside.CLAMP), [0, 0, 0, 0])
    assert not clamped.faults
    assert clamped.arrays["y"].tolist() == [5, 5, 7, 7]
    layered = Texture(array=array[:, None], is_layered=True)
    body = "y[i] = tex1DLayered<float>(t, 0.5f, i);"
    assert not run_one(body, layered, [0, 0]).faults
    assert [event.kind for event in run_one(body, layered, [0, 0, 0]).faults] == [EventKind.OUT_OF_BOUNDS]


def test_surfaces_are_read_by_bytes() -> None:
    body = "float v; surf2Dread(&v, t, i * 4, 1); y[i] = v;"
    done = run_one(body, Texture(array=np.arange(6, dtype=np.float32).reshape(2, 3)), [0, 0, 0])
    assert done.arrays["y"].tolist() == [3, 4, 5]
    askew = run_one(body.replace("i * 4", "i * 2"), Texture(array=np.arange(6, dtype=np.float32).reshape(2, 3)), [0, 0])
    assert [event.kind for event in askew.faults] == [EventKind.OUT_OF_BOUNDS]


SET_UP = """
void host() {
  cudaTextureDesc d; d.filterMode = cudaFilterModeLinear; d.addressMode[0] = cudaAddressModeMirror;
  d.addressMode[1] = cudaAddressModeMirror; d.normalizedCoords = 1;
}"""


def test_what_the_source_states_holds_and_what_nobody_states_is_said() -> None:
    array = np.array([0, 4, 8, 12], np.float32)
    arguments = {"t": Texture(array=array), "x": np.array([1.25], np.float32), "y": np.zeros(1, np.float32), "n": 1}
    stated = executed(kernel(KERNELS[1]) + SET_UP, arguments, 1, 32)
    assert stated.arrays["y"].tolist() == [10]  # 1.25 mirrors to 0.75, which is 3.0: halfway between the last two
    unstated = executed(kernel(KERNELS[1]), arguments, 1, 32)
    assert unstated.arrays["y"].tolist() == [4]
    said = {event.message for event in unstated.events if event.kind is EventKind.ASSUMED}
    assert said == {"t: the nearest element, the nearest one inside, coordinates in elements"}
    assert not unstated.faults


def test_each_thread_may_have_a_texture_of_its_own() -> None:
    text = """
    __global__ void k(cudaTextureObject_t a, cudaTextureObject_t b, float* y) {
      int i = threadIdx.x;
      cudaTextureObject_t mine = i % 2 ? b : a;
      y[i] = tex1D<float>(mine, i);
    }"""
    first, second = np.arange(64, dtype=np.float32), -np.arange(64, dtype=np.float32)
    arguments = {"a": Texture(array=first), "b": Texture(array=second), "y": np.zeros(64, np.float32)}
    done = executed(text, arguments, 1, 64)
    assert np.array_equal(done.arrays["y"], np.where(np.arange(64) % 2, second, first))


def test_a_texture_that_does_not_fit_is_refused_and_one_that_is_none_ends_the_run() -> None:
    with pytest.raises(InputError, match="has the shape"):
        run_one(KERNELS[1], Texture(array=np.zeros((2, 2), np.float32)), [0])
    with pytest.raises(InputError, match="is int16 and is read as int32"):
        run_one("y[i] = tex1Dfetch<int>(t, i);", Texture(array=np.zeros(2, np.int16)), [0])
    with pytest.raises(InputError, match="gives no whole numbers"):
        run_one("y[i] = tex1D<int>(t, x[i]);", Texture(array=np.zeros(2, np.int32), filter=Filter.LINEAR), [0])
    done = executed(
        kernel(KERNELS[1]), {"t": 5, "x": np.zeros(1, np.float32), "y": np.zeros(1, np.float32), "n": 1}, 1, 1
    )
    assert done.stopped is not None
    assert done.stopped.kind is EventKind.NOT_EXECUTED
