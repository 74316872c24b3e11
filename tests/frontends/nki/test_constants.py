"""Constants that the kernel is given, or the names of their files: tensors of their own, one for each text."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques

from portcheck.ir import Copy, Kernel, operations

CONFIGURED = "x, n: int, cfg"
SOME = 'nisa.dma_copy(dst=a, src=nl.shared_constant(cfg.files[f"{cfg.n}_m"])[0:128, 0:8])\n'


def read(made: Kernel) -> list[str]:
    """The buffers that are copied from."""
    assert opaques(made) == []
    return [op.source.buffer for op in operations(made.body) if isinstance(op, Copy)]


def test_an_array_that_is_given_is_itself() -> None:
    body = "c = nl.shared_constant(x)\nnisa.dma_copy(dst=a, src=c[0:128, 0:8])\nnisa.dma_copy(dst=b, src=x[0:128, 0:8])"
    assert read(kernel(body)) == ["x", "x"]


def test_a_dictionary_has_one_tensor_for_each_text() -> None:
    same = "m = cfg.n\n" + SOME.replace("cfg.n}", "m}")
    named = "nisa.dma_copy(dst=a, src=nl.shared_constant(cfg.files['ones'])[0:128, 0:8])\n"
    names = read(kernel(SOME + same + SOME.replace("_m", "_k") + named, parameters=CONFIGURED))
    assert names[0] == names[1] == "cfg.files['{cfg.n}_m']"
    assert names[2:] == ["cfg.files['{cfg.n}_k']", "cfg.files['ones']"]


@pytest.mark.parametrize("number", ["i", "cfg.n + i", "a"])
def test_a_text_of_which_it_is_not_known_that_it_is_the_same_names_nothing(number: str) -> None:
    loop = "for i in range(n):\n    " + SOME.replace("cfg.n}", number + "}")
    made = kernel(loop, parameters=CONFIGURED)
    assert any(op.via.startswith("nl.shared_constant") for op in opaques(made))
