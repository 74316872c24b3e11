"""With `-ftz=true` subnormal float32 numbers are zeros wherever something is computed, and nowhere else."""

import numpy as np
import pytest
from tests.execution.running import executed, lowered

from portcheck.execution import EventKind, Execution, Geometry, Options, run

LEAST = 2.0**-126
TINY = 2.0**-130
CASES: dict[str, tuple[str, list[float], list[float], list[float]]] = {
    "a sum takes zeros": ("x[i] + 0.f", [TINY, -TINY, LEAST], [TINY, -TINY, LEAST], [0, 0, LEAST]),
    "a sum gives zeros": ("x[i] - 1.5f * %LEAST", [LEAST, 2 * LEAST], [-LEAST / 2, LEAST / 2], [-0.0, 0]),
    "a product gives zeros": ("x[i] * 0.5f", [LEAST, -LEAST, 4.0], [LEAST / 2, -LEAST / 2, 2.0], [0, -0.0, 2.0]),
    "a quotient takes zeros": ("x[i] / x[i]", [TINY, 3.0], [1, 1], [np.nan, 1]),
    "a fused sum": ("fmaf(x[i], 1.f, x[i])", [TINY, LEAST], [2 * TINY, 2 * LEAST], [0, 2 * LEAST]),
    "a root": ("sqrtf(x[i])", [2.0**-140, 4.0], [2.0**-70, 2], [0, 2]),
    "a comparison": ("x[i] > 0.f ? 1.f : 2.f", [TINY, LEAST], [1, 1], [2, 1]),
    "a negation": ("-x[i]", [TINY, LEAST], [-TINY, -LEAST], [-0.0, -LEAST]),
    "a copied sign": ("copysignf(x[i], -1.f)", [TINY, LEAST], [-TINY, -LEAST], [-TINY, -LEAST]),
    "a copy": ("x[i]", [TINY, LEAST], [TINY, LEAST], [TINY, LEAST]),
    "a choice": ("n > 0 ? x[i] : 0.f", [TINY, LEAST], [TINY, LEAST], [TINY, LEAST]),
    "the bits": ("__int_as_float(__float_as_int(x[i]))", [TINY, LEAST], [TINY, LEAST], [TINY, LEAST]),
    "a double": ("(float)((double)x[i] * 2.0)", [TINY, LEAST], [2 * TINY, 2 * LEAST], [0, 2 * LEAST]),
    "a narrowed double": ("(float)(0.5 * 1.1754943508222875e-38)", [0, 0], [LEAST / 2] * 2, [0, 0]),
}


def ran(body: str, x: list[float], **options: object) -> Execution:
    text = "__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = %s; }"
    written = body.replace("%LEAST", "1.1754943508222875e-38f")
    arguments = {"x": np.array(x, np.float32), "y": np.zeros(len(x), np.float32), "n": len(x)}
    return executed(text % written, arguments, 1, 32, **options)


def bits(values: object) -> list[str]:
    return ["nan" if np.isnan(value) else float(value).hex() for value in np.array(values, np.float32)]


@pytest.mark.parametrize("name", CASES)
def test_subnormal_numbers(name: str) -> None:
    body, x, kept, flushed = CASES[name]
    assert bits(ran(body, x).arrays["y"]) == bits(kept)
    assert bits(ran(body, x, flushes=True).arrays["y"]) == bits(flushed)


def test_doubles_and_halves_keep_theirs() -> None:
    text = """
    __global__ void k(double* x, half* h) {
      x[0] = x[0] * 0.5;
      h[0] = h[0] * h[1];
    }"""
    arguments = {"x": np.array([2.0**-1022]), "h": np.array([2.0**-14, 0.5], np.float16)}
    done = executed(text, arguments, 1, 1, flushes=True)
    assert done.arrays["x"][0] == 2.0**-1023
    assert done.arrays["h"][0] == 2.0**-15


def test_the_flags_that_the_source_was_read_with_decide_and_are_said() -> None:
    text = "__global__ void k(const float* x, float* y) { y[0] = x[0] * 0.5f; y[1] = x[1] / x[2]; }"
    arguments = {"x": np.array([LEAST, 1, 3], np.float32), "y": np.zeros(2, np.float32)}
    fast = lowered(text, fast_math=True, flush_to_zero=True, precise_division=False)
    done = run(fast, arguments, Geometry.of(1, 1))
    assert done.arrays["y"].tolist() == [0, float(np.float32(1) / np.float32(3))]
    assert not done.faults
    (said,) = [event for event in done.events if event.kind is EventKind.ASSUMED]
    assert "approximate" in said.message
    assert run(fast, arguments, Geometry.of(1, 1), Options(flushes=False)).arrays["y"][0] == np.float32(LEAST / 2)
    assert run(lowered(text), arguments, Geometry.of(1, 1)).events == ()
