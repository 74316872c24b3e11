"""A tile and the views of its bytes hold the same: values, and which of them were written."""

from __future__ import annotations

import numpy as np
from tests.execution.tiles.ports import normal

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
