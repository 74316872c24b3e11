"""Which functions of a file without decorators are kernels, and what is assumed of their parameters."""

from __future__ import annotations

import pytest

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Alloc, Opaque, Program, kernel_operations

HEAD = """
from typing import Union
import nki
import nki.isa as nisa
import nki.language as nl

class Wrapper:
    def __init__(self, tensor):
        self.tensor = tensor
        self.shape = tuple(tensor.shape)

def part(x, out):
    t = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.dma_copy(dst=out, src=t)

def again(x, out):
    part(x, out)
"""


def lowered(text: str, **options: tuple[tuple[str, str], ...]) -> Program:
    port = read_nki(SourceFile("port.py", HEAD + text), NkiOptions(**options))  # type: ignore[arg-type]
    return port.lower([kernel.name for kernel in port.kernels])


def names(text: str) -> list[str]:
    return [kernel.name for kernel in read_nki(SourceFile("port.py", HEAD + text), NkiOptions()).kernels]


def test_who_calls_nki_through_helpers_and_names_it_is_a_kernel() -> None:
    assert names("def whole(x: nl.ndarray, out: nl.ndarray):\n    part(x, out)\n") == ["whole"]
    assert names("def whole(x: nl.ndarray, out: nl.ndarray):\n    middle(x, out)\n\n"
                 "def middle(x: nl.ndarray, out: nl.ndarray):\n    part(x, out)\n") == ["whole"]  # fmt: skip


def test_who_only_calls_it_belongs_to_the_host() -> None:
    assert names("def run(values):\n    return part(values, values)\n") == ["part"]


def test_a_parameter_that_may_be_a_tensor_or_an_object_is_taken_for_a_tensor() -> None:
    made = lowered(
        "@nki.jit\ndef kernel(x: Union[Wrapper, nl.ndarray]):\n"
        "    view = Wrapper(x) if not isinstance(x, Wrapper) else x\n"
        "    t = nl.ndarray((128, view.shape[1]), dtype=nl.float32, buffer=nl.sbuf)\n"
    )
    assert [str(op.type.shape[1]) for op in kernel_operations(made) if isinstance(op, Alloc)] != []
    assert not any(isinstance(op, Opaque) for op in kernel_operations(made))


@pytest.mark.parametrize("use", ["a, b, c = shape", "c = shape[2]", "c = shape[-3]"])
def test_a_shape_that_is_too_short_for_its_use_has_more_dimensions(use: str) -> None:
    made = lowered(
        f"@nki.jit\ndef kernel(x: nl.ndarray):\n    shape = tuple(x.shape)\n    n = len(shape)\n    {use}\n"
        "    t = nl.ndarray((128, c), dtype=nl.float32, buffer=nl.sbuf)\n"
    )
    assert not any(isinstance(op, Opaque) for op in kernel_operations(made))


def test_the_dtype_that_a_parameter_names_may_be_stated_in_any_format() -> None:
    text = "@nki.jit\ndef kernel(x, wanted):\n    t = nl.ndarray((128, 4), dtype=wanted, buffer=nl.sbuf)\n"
    made = lowered(text, dtypes=(("wanted", "float8_e5m2_x4"),))
    assert [op.type.dtype.name for op in kernel_operations(made) if isinstance(op, Alloc)] == ["float8_e5m2_x4"]
