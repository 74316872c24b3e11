"""What a loop hands on by one condition only: where that is the same in each round, it is known where nothing does."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, stores

from portcheck.core.dtype import INT64
from portcheck.ir import Const, Copy, Kernel, Opaque, operations

FLAGS = "x, n: int, flag: bool, other: bool"
LOOP = """
t = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
tiles = [t]
for i in range(n):
    if {test}:
        tiles = []
        for j in range(2):
            tiles.append(nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf))
    nisa.tensor_copy(dst=tiles[0], src=a)
"""


def calls(made: Kernel) -> list[Opaque]:
    """The calls that were not understood."""
    return [op for op in opaques(made) if op.via.startswith("nisa.")]


def test_a_list_that_one_arm_makes_anew_in_each_round_is_the_old_one_in_the_other() -> None:
    made = kernel(LOOP.format(test="flag"), parameters=FLAGS)
    assert calls(made) == []
    written = {op.access.buffer for op in stores(made.body)}
    assert "t" in written
    assert len(written) == 2


def test_after_the_loop_it_is_known_where_nothing_changed_it() -> None:
    after = "if {test}:\n    nisa.tensor_copy(dst=tiles[0], src=a)\n"
    assert calls(kernel(LOOP.format(test="flag") + after.format(test="not flag"), parameters=FLAGS)) == []
    assert calls(kernel(LOOP.format(test="flag") + after.format(test="flag"), parameters=FLAGS))


@pytest.mark.parametrize(
    "loop",
    [
        LOOP.format(test="i % 2 == 0"),
        LOOP.format(test="flag").replace("    if flag", "    nisa.tensor_copy(dst=tiles[0], src=b)\n    if flag"),
        LOOP.format(test="flag").replace("for j", "tiles.append(b)\n        for j").replace("        tiles = []\n", ""),
        LOOP.format(test="flag") + "    if other:\n        tiles = [b]\n",
    ],
)
def test_what_may_be_another_in_some_round_is_not_known_there(loop: str) -> None:
    assert calls(kernel(loop, parameters=FLAGS))


def test_a_number_that_an_arm_chooses_is_that_number_in_the_arm() -> None:
    body = "m = 4 if flag else n\nif flag:\n    nisa.memset(a, value=m + 1)\nelse:\n    nisa.memset(b, value=m)\n"
    made = kernel(body, parameters=FLAGS)
    assert opaques(made) == []
    first, second = (store.value for store in stores(made.body))
    assert first != second
    body = "m = 4 if flag else n\nif flag:\n    t = nl.ndarray((128, m), dtype=nl.float32, buffer=nl.sbuf)\n"
    shapes = [op.type.shape for op in operations(kernel(body, parameters=FLAGS).body) if op.via == "nl.ndarray"]
    assert shapes[-1][1] == Const(4, INT64)


TENSOR = """
nisa.dma_copy(dst=a, src=x[0:128, 0:8])
for i in range(n):
    if {test}:
        x = b
    else:
        nisa.dma_copy(dst=x[0:128, 0:8], src=a)
"""


def test_a_tensor_of_the_caller_is_itself_where_no_arm_gave_its_name_to_something_else() -> None:
    made = kernel(TENSOR.format(test="flag"), parameters=FLAGS)
    assert calls(made) == []
    written = [op.destination.buffer for op in operations(made.body) if isinstance(op, Copy)]
    assert written == ["a", "x"]
    assert calls(kernel(TENSOR.format(test="i == 2"), parameters=FLAGS))
