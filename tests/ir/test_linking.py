"""Linking: one kernel for each launch, in the names of the program."""

from __future__ import annotations

import pytest

from portcheck.ir import Alloc, Load, Loop, Program, Store, Symbol, operations
from portcheck.ir.linking import linked
from portcheck.ir.text import parse_program, print_program
from portcheck.ir.verify import verify

TEXT = """\
program cuda "k.cu"
temporaries t
launch k grid(2) block(32) arguments(a = x, b = t) values(n = i + 1)
launch k grid(1) block(32) arguments(a = t, b = y, n = box)
kernel k
  buffer a: float32 global const
  buffer b: float32 global
  scalar n: int32
  %1: alloc box: float32[32] shared
  %4: loop i = 0 to n step 1
    %2 = load a[i] -> float32
    %3: store box[i] = %2
  %5 = load box[0] -> float32
  %6: store b[n] = %5
"""


def program() -> Program:
    found = parse_program(TEXT)
    assert verify(found) == ()
    return found


def test_every_launch_has_its_own_kernel() -> None:
    found = linked(program())
    assert [launch.kernel for launch in found.launches] == ["k", "k#2"]
    assert [kernel.name for kernel in found.kernels] == ["k", "k#2"]
    assert verify(found) == ()
    assert parse_program(print_program(found)) == found
    assert found.temporaries == ("t",)


def test_parameters_are_called_as_in_the_program_and_values_replace_them() -> None:
    first, second = linked(program()).kernels
    assert [parameter.name for parameter in first.parameters] == ["x", "t"]
    assert [parameter.name for parameter in second.parameters] == ["t", "y", "box"]
    loads = [op.access.buffer for op in operations(first.body) if isinstance(op, Load)]
    assert loads == ["x", "box"]


def test_names_that_a_kernel_binds_are_not_mixed_up_with_those_of_the_program() -> None:
    first, second = linked(program()).kernels
    (loop,) = (op for op in first.body if isinstance(op, Loop))
    assert loop.variable == "i_2"
    (store,) = (op for op in loop.body if isinstance(op, Store))
    assert store.access.index == (Symbol("i_2", store.access.index[0].dtype),)
    (made,) = (op for op in second.body if isinstance(op, Alloc))
    last = [op for op in second.body if isinstance(op, Store)][-1]
    assert made.name == "box_2"
    assert last.access.index[0] == Symbol("box", last.access.index[0].dtype)


def test_a_program_of_one_launch_stays_as_it_is() -> None:
    one = parse_program(TEXT.replace("launch k grid(1) block(32) arguments(a = t, b = y, n = box)\n", ""))
    assert linked(one) is one


_PARAMETERS = ("  buffer a: float32 global const\n", "  buffer b: float32 global\n")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_buffer_passed_to_read_and_to_write_may_be_written(order: tuple[int, int]) -> None:
    ordered = "".join(_PARAMETERS[place] for place in order)
    text = TEXT.replace("".join(_PARAMETERS), ordered).replace("a = t, b = y", "a = t, b = t")
    found = linked(parse_program(text))
    assert verify(found) == ()
    assert [(part.name, part.constant) for part in found.kernels[1].parameters] == [("t", False), ("box", False)]
