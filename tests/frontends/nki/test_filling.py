"""Loops of unknown length that only put numbers into a list, and those that do more or something else."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques

from portcheck.ir import Kernel, Loop, operations

KERNEL = """
mask = [255] * 32
for i in range(n):
    {body}
{after}
nisa.nc_stream_shuffle(dst=a[0:32, :], src=b[0:32, :], shuffle_mask=mask)
"""


def lowered(body: str, after: str = "pass") -> Kernel:
    return kernel(KERNEL.format(body=body, after=after), parameters="x, n: int, m: int")


@pytest.mark.parametrize("body", ["mask[i] = i", "mask[m + i] = 31 - i", "mask[i - m] = m", "mask[i + 1] = min(i, m)"])
def test_a_list_that_a_loop_fills_is_a_pattern(body: str) -> None:
    made = lowered(body)
    assert opaques(made) == []
    assert not any(isinstance(op, Loop) for op in operations(made.body))


@pytest.mark.parametrize(
    "body",
    [
        "mask[2 * i] = i",
        "mask[n - i] = i",
        "mask[i * m] = i",
        "mask[i] = b",
        "mask[i] = mask[i - 1] + 1",
        "mask[i] = i * 0.5",
        "if i > m: mask[i] = i",
        "mask.append(i)",
    ],
)
def test_one_that_is_filled_in_another_way_is_not_known(body: str) -> None:
    assert opaques(lowered(body))


def test_what_the_variable_is_after_the_loop_is_the_last_place() -> None:
    assert opaques(lowered("mask[i] = i", "nisa.memset(a, value=i)")) == []
    assert opaques(lowered("mask[i] = i", "mask[0] = m"))


@pytest.mark.parametrize("value", ["mask[i]", "other[i]", "others[0][i]", "read(i)"])
def test_a_loop_that_reads_what_it_fills_is_none(value: str) -> None:
    before = "for i in range(n):\n    mask[i] = 3\nother, others = mask, [mask]\ndef read(i):\n    return mask[i]\n"
    body = KERNEL.format(body=f"mask[i + 1] = {value} + 1", after="pass").replace("* 32\n", f"* 32\n{before}")
    assert opaques(kernel(body, parameters="x, n: int, m: int"))
