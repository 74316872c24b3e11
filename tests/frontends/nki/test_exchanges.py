"""Collectives say what each rank gives and gets, and which ranks take part."""

from __future__ import annotations

import pytest
from tests.frontends.nki.instructions import obstacles, on_tiles

from portcheck.core.dtype import INT64
from portcheck.ir import Collective, CollectiveKind, Compute, Kernel, Loop, Operator, Symbol, operations


def collectives(made: Kernel) -> list[Collective]:
    assert obstacles(made) == []
    return [op for op in operations(made.body) if isinstance(op, Collective)]


GROUP = "g = ncc.ReplicaGroup([[0, 1], [2, 3]])\nh = nl.ndarray((256, 512), dtype=nl.float32, buffer=nl.hbm)\n"
CALLS = [
    ("ncc.all_reduce(srcs=[a], dsts=[p], replica_group=g, op=nl.maximum)", CollectiveKind.REDUCE, Operator.MAXIMUM),
    (
        "ncc.reduce_scatter(srcs=[h], dsts=[a], replica_group=g, collective_dim=0, op=nl.add)", CollectiveKind.SCATTER,
        Operator.ADD,
    ),
    ("ncc.all_gather(srcs=[a], dsts=[h], replica_group=g, collective_dim=0)", CollectiveKind.GATHER, None),
    ("ncc.all_to_all(srcs=[h], dsts=[h], replica_group=g, collective_dim=0)", CollectiveKind.EXCHANGE, None),
    (
        "ncc.collective_permute_implicit(srcs_by_channel=[[a]], dsts_by_channel=[[p]], replica_group=g)",
        CollectiveKind.RING, None,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "operator"), CALLS, ids=[str(case[1]) for case in CALLS])
def test_a_collective_has_the_ranks_of_its_groups(call: str, kind: CollectiveKind, operator: Operator | None) -> None:
    [made] = collectives(on_tiles(GROUP + call))
    assert (made.kind, made.operator, made.ranks, made.group_size) == (kind, operator, (0, 1, 2, 3), 2)


def test_pairs_of_a_permutation_are_groups_of_two() -> None:
    [made] = collectives(on_tiles("ncc.collective_permute(srcs=[a], dsts=[p], source_target_pairs=[(0, 1), (1, 0)])"))
    assert (made.kind, made.ranks, made.group_size) == (CollectiveKind.PERMUTE, (0, 1, 1, 0), 2)


def test_each_pair_of_tensors_is_an_operation_of_its_own() -> None:
    body = GROUP + "ncc.all_reduce(srcs=[x, y], dsts=[h, h], replica_group=g, op=nl.add)"
    assert [op.source.buffer for op in collectives(on_tiles(body))] == ["x", "y"]


def test_what_is_reduced_in_a_ring_is_combined_before_it_travels() -> None:
    made = on_tiles(
        GROUP + "ncc.collective_permute_implicit_reduce(srcs0_by_channel=[[a]], srcs1_by_channel=[[a]],"
        " dsts_by_channel=[[p]], replica_group=g, op=nl.add)"
    )
    [ring] = collectives(made)
    assert (ring.kind, ring.operator) == (CollectiveKind.RING, None)
    assert ring.source.buffer != "a"
    assert [op.operator for op in operations(made.body) if isinstance(op, Compute)] == [Operator.ADD]


def test_a_tile_is_sent_to_one_rank_and_taken_from_another() -> None:
    [made] = collectives(
        on_tiles(
            "me = nl.program_id(0)\nnisa.sendrecv(src=a, dst=p, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0)"
        )
    )
    assert made.kind is CollectiveKind.SEND
    assert made.send_to == made.receive_from
    assert not isinstance(made.send_to, Symbol)


def test_ranks_that_are_not_known_are_left_out() -> None:
    [made] = collectives(on_tiles("ncc.all_reduce(srcs=[a], dsts=[p], replica_group=x.groups, op=nl.add)"))
    assert (made.ranks, made.group_size) == ((), 0)


CHANNELS = """
tiles = []
for c in range(m):
    tiles.append([h[c]])
others = []
for c in range({length}):
    others.append([h[c]])
ncc.collective_permute_implicit(srcs_by_channel=tiles, dsts_by_channel={given}, replica_group=g)
"""


def test_tensors_of_which_it_is_not_known_how_many_there_are_are_exchanged_in_a_loop() -> None:
    made = on_tiles(GROUP + CHANNELS.format(length="m", given="others"), parameters="x, y, m: int")
    assert [op.kind for op in collectives(made)] == [CollectiveKind.RING]
    [loop] = [op for op in made.body if isinstance(op, Loop) and op.body]
    assert loop.values.stop == Symbol("m", INT64)


@pytest.mark.parametrize(("length", "given"), [("m + 1", "others"), ("m", "[[h]]")])
def test_as_many_must_be_given_as_are_received(length: str, given: str) -> None:
    made = on_tiles(GROUP + CHANNELS.format(length=length, given=given), parameters="x, y, m: int")
    assert any("collective_permute_implicit" in reason for reason in obstacles(made))
    assert not any(isinstance(op, Collective) for op in operations(made.body))


def test_groups_that_a_loop_makes_are_not_known() -> None:
    body = "groups = []\nfor c in range(m):\n    groups.append([c, c + 1])\n"
    [made] = collectives(
        on_tiles(body + "ncc.all_reduce(srcs=[a], dsts=[p], replica_group=groups, op=nl.add)", parameters="x, m: int")
    )
    assert (made.ranks, made.group_size) == ((), 0)
