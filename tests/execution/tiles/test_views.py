"""A tile and the views of its bytes hold the same: values, and which of them were written."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.tiles.ports import NEW, normal
from tests.execution.tiles.ports import executed as executed_text

from portcheck.execution.tiles import EventKind, Execution, run
from portcheck.ir.text import parse_program
from portcheck.ir.verify import check_valid

TEXT = """
program nki "port.py" version "0.6"
symbols int64: p, f
launch k @1:1-9:9
kernel k results(out) @1:1-9:9
  buffer x: float32[2:int64, 3:int64] global const @1:1-9:9
  %1: alloc out: {result} global @2:1-9
  %2: alloc a: float32[2:int64, 3:int64] shared @3:1-9
  %3: copy a{part} = x{part} @4:1-9
  %4: alloc bits: {viewed} shared of a @5:1-9
{body}
  %9: return out @9:1-9
"""
PART = "[p, f] over(p: partition < 2:int64, f: free < {}:int64)"
READ = """  %5: copy out[f] over(f: free < {count}:int64) = bits[f] over(f: free < {count}:int64) @6:1-9"""
WRITE = """  %5: store bits[f] over(f: free < {count}:int64) = 0:{dtype} @6:1-9
  %6: copy out{part} = a{part} @7:1-9"""


def executed(body: str, viewed: str, result: str, written: int = 3) -> Execution:
    body = body.replace("{part}", PART.format(3))
    program = parse_program(TEXT.format(body=body, viewed=viewed, result=result, part=PART.format(written)))
    check_valid(program)
    return run(program, {"x": normal(1, 2, 3)})


def test_bytes_are_read_in_row_major_order() -> None:
    done = executed(READ.format(count=24), "uint8[24:int64]", "uint8[24:int64]")
    assert done.events == ()
    assert (done.results[0] == normal(1, 2, 3).reshape(-1).view(np.uint8)).all()


def test_bytes_never_written_are_found_through_a_view() -> None:
    done = executed(READ.format(count=12), "uint16[12:int64]", "uint16[12:int64]", written=2)
    assert [(event.kind, event.element, event.count) for event in done.events] == [
        (EventKind.UNINITIALISED_READ, (4,), 4),
        (EventKind.UNDEFINED_RESULT, (4,), 4),
        (EventKind.UNWRITTEN_RESULT, (4,), 4),
    ]


def test_what_is_written_through_a_view_is_written() -> None:
    body = WRITE.format(count=12, part="{part}", dtype="uint16")
    done = executed(body, "uint16[12:int64]", "float32[2:int64, 3:int64]", written=2)
    assert done.events == ()
    assert (done.results[0] == 0).all()


def test_half_an_element_is_not_enough() -> None:
    body = WRITE.format(count=5, part="{part}", dtype="uint16")
    done = executed(body, "uint16[12:int64]", "float32[2:int64, 3:int64]", written=2)
    assert [(event.kind, event.element, event.count) for event in done.events[:1]] == [
        (EventKind.UNINITIALISED_READ, (0, 2), 2)
    ]
    assert (done.results[0][0, :2] == 0).all() and done.results[0][1, 0] == normal(1, 2, 3)[1, 0]


RETURNED = (
    NEW
    + """
def kernel(x):
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return {returned}
"""
)


@pytest.mark.parametrize(
    ("returned", "shape"),
    [("out", (6, 4)), ("out.reshape((n * m,))", (24,)), ("out.reshape((2, n // 2, m))", (2, 3, 4))],
)
def test_a_result_has_the_shape_that_it_is_returned_in(returned: str, shape: tuple[int, ...]) -> None:
    done = executed_text(RETURNED.format(returned=returned), {"x": normal(1, 6, 4)})
    assert done.events == ()
    assert (done.results[0] == normal(1, 6, 4).reshape(shape)).all() and done.results[0].shape == shape


@pytest.mark.parametrize(("shape", "is_right"), [("[3:int64, 2:int64]", True), ("[3:int64, 3:int64]", False)])
def test_a_shape_of_other_size_ends_the_run(shape: str, is_right: bool) -> None:
    text = TEXT.format(
        body="  %5: copy out{part} = a{part} @6:1-9".replace("{part}", PART.format(3)), viewed="uint8[24:int64]",
        result="float32[2:int64, 3:int64]", part=PART.format(3),
    )  # fmt: skip
    done = run(parse_program(text.replace("return out", f"return out{shape}")), {"x": normal(1, 2, 3)})
    assert (done.stopped is None) == is_right
    assert done.stopped is None or done.stopped.kind is EventKind.SHAPE_MISMATCH


GATHERED = (
    NEW
    + """
def kernel(x, at):
    n, m = x.shape
    k, one = at.shape
    out = nl.ndarray((k, m), dtype=x.dtype, buffer=nl.shared_hbm)
    index = nl.load(at)
    nisa.dma_copy(dst=out, src=x.ap(pattern=[[m, k], [1, m]], vector_offset=index, indirect_dim=0))
    return out
"""
)


def test_a_tensor_without_elements_has_none_to_read() -> None:
    places = np.array([[0], [1]], np.int32)
    assert executed_text(GATHERED, {"x": normal(1, 2, 3), "at": places}).events == ()
    done = executed_text(GATHERED, {"x": normal(1, 0, 3), "at": places})
    assert EventKind.OUT_OF_BOUNDS in [event.kind for event in done.faults]
