"""`with`: what it enters may be an object of the port, or nothing that is known."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques, program, stores

from portcheck.ir import Kernel, Op, Opaque, Return, Store, While, operations

MANAGER = """
class Manager:
    def __enter__(self):
        return 3.0

    def __exit__(self, kind, value, trace):
        pass
"""


def loops(made: Kernel) -> list[While]:
    return [op for op in operations(made.body) if isinstance(op, While)]


def inside(op: While) -> list[Op]:
    return list(operations(op.body))


def test_the_body_of_an_object_of_the_port_runs_once() -> None:
    made = kernel("with Manager() as number:\n    nisa.memset(a, number)", MANAGER)
    assert opaques(made) == []
    assert loops(made) == []
    assert len(stores(made.body)) == 1


def test_the_body_of_something_unknown_may_run_any_number_of_times() -> None:
    made = kernel("with elsewhere(x):\n    nisa.memset(a, 1.0)")
    (loop,) = loops(made)
    assert [op.access.buffer for op in inside(loop) if isinstance(op, Store)] == ["a"]


def test_what_the_body_writes_is_not_known_after_it() -> None:
    made = kernel("with elsewhere(x):\n    nisa.memset(a, 1.0)\nnisa.tensor_copy(dst=b, src=a)")
    (loop,) = loops(made)
    assert [op.writes for op in loop.test if isinstance(op, Opaque)] == [("a",)]


def test_a_tile_of_the_body_alone_is_not_said_to_be_unknown() -> None:
    body = "c = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)\n    nisa.memset(c, 1.0)"
    made = kernel(f"with elsewhere(x):\n    {body}\n    nisa.tensor_copy(dst=a, src=c)")
    assert [op.writes for op in loops(made)[0].test if isinstance(op, Opaque)] == [("a",)]


def test_the_calls_of_the_body_are_understood() -> None:
    made = program("with elsewhere(x):\n    nisa.memset(a, 1.0)")
    assert [use.is_understood for use in made.uses if use.name == "nki.isa.memset"] == [True]


@pytest.mark.parametrize("last", ["break", "return"])
def test_a_body_that_may_be_left_is_not_followed(last: str) -> None:
    block = f"nisa.memset(a, 1.0)\n        if n > i:\n            {last}"
    body = f"for i in range(n):\n    with elsewhere(x):\n        {block}"
    made = kernel(body)
    assert loops(made) == []
    assert len(opaques(made)) == 1


def test_a_result_may_be_handed_back_at_the_end_of_the_body() -> None:
    made = kernel("y = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n"
                  "with elsewhere(x):\n    nisa.dma_copy(dst=y, src=a)\n    return y")  # fmt: skip
    assert [op.buffers for op in operations(made.body) if isinstance(op, Return)] == [("y",)]
