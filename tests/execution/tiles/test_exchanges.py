"""An exchange that lacks a side, or whose parts do not fit, ends the run."""

from __future__ import annotations

import pytest
from tests.execution.tiles.ports import NEW, OLD, executed, executed_on_ranks, normal

from portcheck.execution.tiles import EventKind

SENT = (
    NEW
    + """
def kernel(x):
    n, m = x.shape
    me = nl.program_id(0)
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.sendrecv(src=a, dst=a, send_to_rank={to}, recv_from_rank={whence}, pipe_id=0)
    nisa.dma_copy(dst=out, src=a)
    return out
"""
)


def test_a_tile_that_nobody_takes_is_waited_for() -> None:
    def sent(to: str, whence: str) -> EventKind | None:
        done = executed(SENT.format(to=to, whence=whence), {"x": normal(1, 4, 4)}, grid=(2,))
        return None if done.stopped is None else done.stopped.kind

    assert sent("1 - me", "1 - me") is None
    assert sent("me", "me") is None
    assert sent("1 - me", "me") is EventKind.WAITS_FOREVER
    assert sent("1 - me", "2 + me") is EventKind.WAITS_FOREVER


SOME = (
    OLD
    + """
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i = nl.program_id(0)
    t = nl.load(x[i])
    for r in nl.sequential_range(1 + i):
        t = nl.all_reduce(t, op=np.add, program_axes=[i])
        nl.store(out[i], t)
    return out
"""
)


def test_an_instance_that_reduces_oftener_than_the_others_waits_forever() -> None:
    def reduced(instances: int) -> EventKind | None:
        done = executed(SOME, {"x": normal(2, instances, 4, 4)}, grid=(instances,))
        return None if done.stopped is None else done.stopped.kind

    assert reduced(1) is None
    assert reduced(2) is EventKind.WAITS_FOREVER


REDUCED = (
    NEW.replace("import nki.isa", "import nki.collectives as ncc\nimport nki.isa")
    + """
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ncc.{call}
    return out
"""
)
GROUP = "replica_group=ncc.ReplicaGroup([[0, 1]])"


@pytest.mark.parametrize(
    ("call", "ranks", "rows", "kind", "what"),
    [
        (f"all_reduce(srcs=[x], dsts=[out], {GROUP}, op=nl.add)", 2, 4, None, ""),
        (f"all_reduce(srcs=[x], dsts=[out], {GROUP}, op=nl.add)", 1, 4, EventKind.NOT_EXECUTED, "rank 1, and 1 are"),
        (f"all_reduce(srcs=[x], dsts=[out], {GROUP}, op=nl.add)", 3, 4, EventKind.NOT_EXECUTED, "rank 2 is not known"),
        (f"all_reduce(srcs=[x], dsts=[out], {GROUP}, op=nl.multiply)", 2, 4, EventKind.NOT_EXECUTED, "multiply"),
        (f"all_gather(srcs=[x], dsts=[out], {GROUP}, collective_dim=0)", 2, 4, EventKind.SHAPE_MISMATCH, "(8, 4)"),
        (f"all_to_all(srcs=[x], dsts=[out], {GROUP}, collective_dim=0)", 2, 5, EventKind.SHAPE_MISMATCH, "equal parts"),
    ],
)
def test_ranks_that_do_not_fit_end_the_run(
    call: str, ranks: int, rows: int, kind: EventKind | None, what: str
) -> None:  # fmt: skip
    done = executed_on_ranks(REDUCED.format(call=call), [{"x": normal(rank, rows, 4)} for rank in range(ranks)])
    assert (None if done.stopped is None else done.stopped.kind) is kind
    assert done.stopped is None or what in done.stopped.message
