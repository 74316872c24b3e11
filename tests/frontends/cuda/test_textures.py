"""Reads of textures and surfaces are samples, with what the host code states of them."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, not_understood

from portcheck.ir import Filter, Op, Outside, Sample, SampleKind

HEAD = """
texture<float, 2, cudaReadModeElementType> plane;
texture<uchar4, 2, cudaReadModeNormalizedFloat> colours;
"""
HOST = """
void set_up() {
  cudaTextureDesc description;
  description.filterMode = cudaFilterModeLinear;
  description.addressMode[0] = cudaAddressModeClamp;
  description.addressMode[1] = cudaAddressModeClamp;
  description.normalizedCoords = 1;
}
"""
PARAMETERS = "float* y, cudaTextureObject_t t, cudaSurfaceObject_t s, int i"


def samples(found: list[Op]) -> list[Sample]:
    assert not not_understood(found)
    return [op for op in found if isinstance(op, Sample)]


KINDS = {
    "y[i] = tex2D<float>(t, i, 0.5f);": (SampleKind.TEXTURE, ("float32", "float32")),
    "y[i] = tex2D(plane, i, 1);": (SampleKind.TEXTURE, ("float32", "float32")),
    "y[i] = tex1Dfetch<float>(t, i);": (SampleKind.TEXEL, ("int32",)),
    "y[i] = surf2Dread<float>(s, i * 4, 0);": (SampleKind.SURFACE, ("int32", "int32")),
    "float v; surf2Dread(&v, s, i * 4, 0); y[i] = v;": (SampleKind.SURFACE, ("int32", "int32")),
    "float v; tex2D(&v, t, 0.5f, 1.0f); y[i] = v;": (SampleKind.TEXTURE, ("float32", "float32")),
    "float v; tex1Dfetch(&v, t, i); y[i] = v;": (SampleKind.TEXEL, ("int32",)),
}


@pytest.mark.parametrize(("text", "expected"), KINDS.items(), ids=KINDS)
def test_read_is_a_sample(text: str, expected: tuple[SampleKind, tuple[str, ...]]) -> None:
    (found,) = samples(body(text, PARAMETERS, HEAD))
    assert (found.kind, tuple(part.dtype.name for part in found.coordinates)) == expected


def test_vector_is_a_sample_for_each_component_and_bytes_are_read_as_fractions() -> None:
    found = samples(body("float4 c = tex2D(colours, i, i); y[0] = c.x + c.w;", PARAMETERS, HEAD))
    assert [(op.component, op.type.dtype.name) for op in found] == [(place, "float32") for place in range(4)]


def test_layer_and_level_have_their_place() -> None:
    (found,) = samples(body("y[0] = tex2DLayered<float>(t, 0.f, 0.f, i) ;", PARAMETERS))
    assert found.layer is not None
    (found,) = samples(body("y[0] = tex2DLod<float>(t, 0.f, 0.f, 2.f);", PARAMETERS))
    assert (found.layer, found.level is None) == (None, False)


def test_what_the_host_states_is_known() -> None:
    (found,) = samples(body("y[0] = tex2D<float>(t, 0.f, 0.f);", PARAMETERS, HOST))
    assert (found.filter, found.outside, found.is_normalised) == (Filter.LINEAR, Outside.CLAMP, True)


UNKNOWN = {
    "nothing stated": "",
    "two things stated": HOST + HOST.replace("Linear", "Point").replace("Clamp;", "Wrap;").replace("= 1", "= 0"),
    "stated of a reference": HEAD + "void f() { plane.filterMode = cudaFilterModeLinear; plane.normalized = 1; }",
}


@pytest.mark.parametrize("before", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_stated_of_an_object_is_not_known(before: str) -> None:
    before = before.replace("set_up", "first", 1)
    (found,) = samples(body("y[0] = tex2D<float>(t, 0.f, 0.f);", PARAMETERS, before))
    assert (found.filter, found.is_normalised) == (None, None)


def test_surface_write_stays_opaque() -> None:
    assert not_understood(body("surf2Dwrite(y[0], s, i * 4, 0);", PARAMETERS)) == ["surf2Dwrite is not modelled"]
