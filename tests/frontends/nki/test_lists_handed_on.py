"""A list of tiles that each round makes anew for the next: one buffer holds as many, whatever the rounds are."""

from __future__ import annotations

import pytest
from tests.frontends.nki.reading import kernel, opaques

from portcheck.ir import Alloc, Kernel, Load, Loop, Opaque, operations

LISTS = """
old = []
for j in range(m):
    t = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(t, 0.0)
    old.append(t)
for i in range(n):
    new = []
    for j in range({length}):
        t = nl.ndarray((128, {width}), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=t[:, 0:8], data=old[j], op0=nl.add, operand0=1.0)
        new.append({made})
    {next}
{after}
"""
PLAIN = {
    "length": "m", "width": "8", "made": "t", "next": "old = new",
    "after": "nisa.tensor_copy(dst=b, src=old[m - 1])",
}  # fmt: skip


def lowered(**changes: str) -> Kernel:
    return kernel(LISTS.format(**(PLAIN | changes)), parameters="x, n: int, m: int")


def calls(made: Kernel) -> list[Opaque]:
    return [op for op in opaques(made) if op.via.startswith("nisa.")]


@pytest.mark.parametrize("length", ["m", "2"])
def test_a_round_reads_the_tiles_that_the_one_before_made(length: str) -> None:
    body = LISTS.format(**(PLAIN | {"length": length})).replace("range(m)", f"range({length})")
    made = kernel(body.replace("m - 1", "1"), parameters="x, n: int, m: int")
    assert opaques(made) == []
    [loop] = [op for op in made.body if isinstance(op, Loop) and op.variable == "i"]
    held = {op.name for op in made.body if isinstance(op, Alloc) and op.name.startswith("old")}
    assert len(held) == 1
    read = [op.access.buffer for op in operations(loop.body) if isinstance(op, Load)]
    assert read[0] in held
    assert not held & set(read[1:])
    assert [op.access.buffer for op in made.body if isinstance(op, Load)][-1] in held


CHANGED = "for j in range(m):\n    nisa.memset(new[j], 1.0)\n"


def test_what_the_last_round_made_may_be_changed_where_the_other_name_is_not_read_any_more() -> None:
    assert calls(lowered(after=CHANGED + "nisa.tensor_copy(dst=b, src=new[0])")) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"length": "m + 1"},
        {"width": "16"},
        {"made": "a"},
        {"next": "old = new if i % 2 == 0 else old"},
        {"after": CHANGED + PLAIN["after"]},
        {"after": "nisa.memset(old[0], 1.0)\nnisa.tensor_copy(dst=b, src=new[0])"},
    ],
    ids=["more of them", "others", "the same each time", "by a condition", "changed by the other name", "and back"],
)
def test_a_list_that_is_not_as_the_one_before_or_shares_its_tiles_is_not_followed(changes: dict[str, str]) -> None:
    assert calls(lowered(**changes))


def test_a_list_with_two_names_does_not_grow_by_one_of_them() -> None:
    assert opaques(lowered(after="new.append(a)\n" + PLAIN["after"]))
