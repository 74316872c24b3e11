"""Integers divided by 0 are found wherever the quotient is wanted, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.running import executed

from portcheck.execution import Event, EventKind

LANES = 32

FOUND = {
    "index": ("y[t] = 5 / (t - 3);", 3, 1),
    "remainder": ("y[t] = 7 % (t - 3);", 3, 1),
    "by an index": ("y[t] = t / blockIdx.x;", 0, LANES),
    "in an index": ("y[32 / (t - 3) & 7] = 1;", 3, 1),
    "in a condition": ("if (5 / (t - 3) > 2) y[t] = 1;", 3, 1),
    "in a bound": ("for (int j = 0; j < 5 / (t - 3); ++j) y[t] = j;", 3, 1),
    "in an operand": ("y[t] = x[t] + 5 / (t - 3);", 3, 1),
    "data": ("y[t] = 100 / x[t];", 0, 8),
    "guard that does not help": ("y[t] = t != 4 ? 5 / (t - 3) : 0;", 3, 1),
    "wanted by one of two": ("int q = 5 / (t - 3); y[t] = t != 3 ? q : 0; y[t + 32] = q;", 3, 1),
    "behind a condition": ("if (t < 9 || 5 / (t - 10) > 0) y[t] = 1;", 10, 1),
    "in a loop": ("for (int j = 1; j < 4; ++j) y[t] += 8 / (j + t - 4);", 3, 3),
}

SILENT = {
    "branch": "if (t != 3) y[t] = 5 / (t - 3);",
    "branch around data": "if (x[t] != 0) y[t] = 100 / x[t];",
    "else": "if (t == 3) y[t] = 0; else y[t] = 5 / (t - 3);",
    "left before": "if (t == 3) return; y[t] = 5 / (t - 3);",
    "choice": "y[t] = t != 3 ? 5 / (t - 3) : 0;",
    "choice of data": "int v = x[t]; y[t] = v != 0 ? 100 / v : -1;",
    "choice the other way": "y[t] = t == 3 ? 0 : 5 % (t - 3);",
    "choice of a sum": "y[t] = t != 3 ? x[t] + 5 / (t - 3) : 0;",
    "choice of a cast": "y[t] = (int)(t != 3 ? 1.5f * (5 / (t - 3)) : 0.f);",
    "choice of an element": "y[t] = t != 3 ? x[32 / (t - 3) & 7] : 0;",
    "choice in a choice": "y[t] = t > 1 ? (t != 3 ? 5 / (t - 3) : 1) : 5 / (t - 2);",
    "and": "if (t != 3 && 5 / (t - 3) > 1) y[t] = 1;",
    "and with data": "int v = x[t]; if (v != 0 && 100 / v > 30) y[t] = 1;",
    "or": "if (t == 3 || 5 / (t - 3) > 1) y[t] = 1;",
    "loop that stops before": "for (int j = 0; j < 3; ++j) y[t] += 6 / (3 - j);",
    "size of the launch": "y[t] = t / blockDim.x + t / n;",
}


def events(statements: str) -> tuple[Event, ...]:
    text = f"__global__ void k(int* y, const int* x, int n) {{ int t = threadIdx.x;\n{statements}\n}}"
    x = np.arange(LANES, dtype=np.int32) % 4
    return executed(text, {"y": np.zeros(2 * LANES, np.int32), "x": x, "n": 4}, 1, LANES).events


@pytest.mark.parametrize(("statements", "thread", "count"), FOUND.values(), ids=FOUND)
def test_division_by_zero_is_found_where_it_happens(statements: str, thread: int, count: int) -> None:
    (event,) = events(statements)
    assert (event.kind, event.thread, event.count) == (EventKind.DIVISION_BY_ZERO, (thread, 0, 0), count)
    assert event.span.start.line == 2


@pytest.mark.parametrize("statements", SILENT.values(), ids=SILENT)
def test_no_quotient_that_nobody_wants_is_reported(statements: str) -> None:
    assert events(statements) == ()
