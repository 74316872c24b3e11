"""Kernels of our own give what NumPy gives, for every class of call and both generations."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tests.execution.tiles.ports import Case, differences

TABLES = sorted(path.stem for path in Path(__file__).parent.glob("*_kernels.py") if path.stem != Path(__file__).stem)
CASES: tuple[Case, ...] = tuple(
    case for table in TABLES for case in import_module(f"tests.execution.tiles.{table}").CASES
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_kernel_computes_its_reference_and_nothing_beside_it(case: Case) -> None:
    done = case.executed()
    assert done.stopped is None
    assert done.faults == ()
    assert differences(case, done) == []
    assert differences(replace(case, reference=lambda given: spoilt(case)), done)


def spoilt(case: Case) -> tuple[np.ndarray, ...]:
    """The reference with the last element of the last result a little off."""
    wanted = [result * 1 for result in case.reference(case.arguments)]
    last = wanted[-1]
    last.flat[-1] = last.flat[-1] * 0.99 + 1 if last.dtype.kind == "f" else last.flat[-1] + 1
    return tuple(wanted)


def test_there_are_tables() -> None:
    assert len(TABLES) >= 7


def test_names_are_used_once() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
