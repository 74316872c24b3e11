"""Which declaration a name means where several are called so."""

from __future__ import annotations

from tests.frontends.cuda.reading import kernel

from portcheck.ir import symbols_in


def test_a_local_does_not_hide_what_the_extent_of_an_array_of_the_file_is_made_of() -> None:
    found = kernel("""
    const int n = 1 << 4;
    const int rows = n;
    __device__ int covered[rows];
    __global__ void k(float* x) { for (int n = 0; n < 10; n++) if (!covered[n]) x[n] = 1.f; }
    """)
    shape = next(parameter.type.shape for parameter in found.parameters if parameter.name == "covered")
    assert [symbols_in(extent) for extent in shape] == [frozenset()]
