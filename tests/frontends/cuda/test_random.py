"""Draws of cuRAND are random numbers from a state in memory."""

from __future__ import annotations

from tests.frontends.cuda.reading import body, not_understood

from portcheck.ir import Random

PARAMETERS = "float* y, curandState* states, int seed"


def test_draws_say_what_they_draw_and_from_which_state() -> None:
    lines = """
    int t = threadIdx.x;
    curandState mine;
    curand_init(seed, t, 0, &mine);
    y[t] = curand_uniform(&mine) + curand_normal(&states[t]);
    float4 four = curand_uniform4(&mine);
    y[t + 1] = four.x + four.w;
    states[t] = mine;
    """
    found = body(lines, PARAMETERS)
    assert not not_understood(found)
    draws = [op for op in found if isinstance(op, Random)]
    assert [(op.state, op.distribution) for op in draws] == [
        ("mine", ""), ("mine", "uniform"), ("states", "normal"), *[("mine", "uniform")] * 4,
    ]  # fmt: skip
    assert [op.type.dtype.name for op in draws[1:3]] == ["float32", "float32"]
