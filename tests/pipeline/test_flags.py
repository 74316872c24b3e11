"""What stated options mean for the original, and how the report repeats them."""

from __future__ import annotations

from dataclasses import fields

import pytest

from portcheck.frontends.cuda import CudaOptions
from portcheck.pipeline import Request
from portcheck.pipeline.flags import cuda_options, stated_options


def _request(flags: str = "") -> Request:
    return Request(cuda_path="k.cu", nki_path="k.py", nvcc_flags=flags)


def _changed(flags: str) -> dict[str, object]:
    """The options that `flags` set to something else than their default."""
    plain, found = CudaOptions(), cuda_options(_request(flags))
    names = [field.name for field in fields(CudaOptions)]
    return {name: getattr(found, name) for name in names if getattr(found, name) != getattr(plain, name)}


FLAGS = {
    "": {},
    "-use_fast_math": {"fast_math": True, "flush_to_zero": True, "precise_division": False},
    "-fmad=false": {"fmad": False},
    "-fmad=true": {},
    "-ftz=true": {"flush_to_zero": True},
    "-ftz=false": {},
    "-prec-div=false": {"precise_division": False},
    "-prec-div=true": {},
    "-fmad=false  -ftz=true": {"fmad": False, "flush_to_zero": True},
    "-O3 -lineinfo": {},
}


@pytest.mark.parametrize("flags", FLAGS)
def test_flags_set(flags: str) -> None:
    assert _changed(flags) == FLAGS[flags]


def test_definitions_and_folders_are_passed_on() -> None:
    request = Request(cuda_path="k.cu", nki_path="k.py", defines=(("N", "4"),), include_roots=("include",))
    options = cuda_options(request)
    assert (options.defines, options.include_roots) == ((("N", "4"),), ("include",))


def test_everything_stated_is_repeated_in_one_order() -> None:
    request = Request(
        cuda_path="k.cu",
        nki_path="k.py",
        nvcc_flags="-fmad=false -O3",
        defines=(("N", "4"), ("M", "2")),
        shapes=(("x", "512,4096"),),
        dtypes=(("x", "bfloat16"),),
        assumptions=("no NaN",),
    )
    assert stated_options(request) == (
        "nvcc -fmad=false: no contraction of products and sums",
        "nvcc -O3: ignored",
        "define N=4",
        "define M=2",
        "shape x=512,4096",
        "dtype x=bfloat16",
        "assumed: no NaN",
    )


@pytest.mark.parametrize("flags", [flags for flags in FLAGS if flags and "-O3" not in flags])
def test_a_flag_that_is_known_is_not_said_to_be_ignored(flags: str) -> None:
    lines = stated_options(_request(flags))
    assert len(lines) == len(flags.split())
    assert not [line for line in lines if line.endswith("ignored")]
