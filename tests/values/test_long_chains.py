"""Values of many steps: no recursion and no hidden square, and an end where a value is too large to be written out."""

from __future__ import annotations

import pytest
from tests.values.reading import cuda, nki

from portcheck.values import Evaluated, normal_form, term_text
from portcheck.values.memory import Reader
from portcheck.values.terms import Unknown

STEPS = 450
PORT = """
def k(x):
    y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x[0:128, 0:512])
{}
    nisa.dma_copy(dst=y, src=t)
    return y
"""
KERNEL = """
__global__ void k(const float* x, float* y) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = x[i];
{}
  y[i] = a;
}}
void launch(const float* x, float* y) {{ k<<<256, 256>>>(x, y); }}
"""


def port(statement: str, steps: int = STEPS) -> Evaluated:
    return nki(PORT.format("\n".join(f"    {statement.format(step)}" for step in range(steps))))


def form(evaluated: Evaluated) -> str:
    contract = evaluated.contract("y")
    assert contract is not None and not contract.problem
    (piece,) = contract.pieces
    assert len(term_text(piece.value)) < 1000
    return str(normal_form(piece.value, {}))


def test_a_port_of_many_steps_is_worked_out() -> None:
    assert form(port("nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0={}.0)")).startswith(str(sum(range(STEPS))))


def test_a_kernel_of_many_steps_is_worked_out() -> None:
    text = KERNEL.format("\n".join(f"  a = a + {step}.0f;" for step in range(STEPS)))
    assert form(cuda(text)).startswith(str(sum(range(STEPS))))


def test_many_stores_to_parts_are_read_together() -> None:
    contract = port("nisa.memset(dst=t[0:128, {0}:{0}+1], value={0}.0)").contract("y")
    assert contract is not None and not contract.problem
    (piece,) = contract.pieces
    assert normal_form(piece.value, {})


def test_a_whole_tile_is_read_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    solve = Reader._solve
    monkeypatch.setattr(Reader, "_solve", lambda *given: calls.append(given) or solve(*given))
    port("nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0={}.0)", 20)
    assert len(calls) <= 1


@pytest.mark.parametrize(
    "statement",
    [
        "nisa.tensor_scalar(dst=t[0:128, 0:511], data=t[0:128, 1:512], op0=nl.add, operand0={}.0)",
        "nisa.tensor_scalar(dst=t[0:64, 0:512], data=t[0:64, 0:512], op0=nl.add, operand0={}.0)",
    ],
)
def test_a_part_is_not_the_whole(statement: str) -> None:
    contract = port(statement, 2).contract("y")
    assert contract is not None and not contract.problem
    assert " if " in term_text(contract.pieces[0].value)


def test_a_value_that_doubles_at_each_step_ends() -> None:
    contract = port("nisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.multiply)").contract("y")
    assert contract is not None
    assert "made of more than" in contract.problem or isinstance(contract.pieces[0].value, Unknown)
