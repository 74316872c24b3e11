"""Each fault is found in a kernel that has it, and none in its twin that does not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.tiles.ports import NEW, OLD, any_lowered, executed, normal

from portcheck.core.errors import InputError
from portcheck.execution.tiles import EventKind, Options, run

COPY = (
    NEW
    + """
def copy(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(({partitions}, columns), dtype=x.dtype, buffer=nl.{space})
    nisa.dma_copy(dst=tile[0:{read}, 0:columns], src=x[0:{read}, 0:columns])
    nisa.dma_copy(dst=out[0:{written}, 0:columns], src=tile[0:{written}, 0:columns])
    return out
"""
)


def copied(
    rows: int = 8, columns: int = 8, *, read: object = "rows", written: object = "rows", partitions: int = 128,
    space: str = "sbuf",
) -> list[EventKind]:  # fmt: skip
    text = COPY.format(read=read, written=written, partitions=partitions, space=space)
    return [event.kind for event in executed(text, {"x": normal(1, rows, columns)}).events]


def test_a_plain_copy_is_silent() -> None:
    assert copied() == []


def test_a_value_never_written_that_reaches_the_result_is_found() -> None:
    done = executed(COPY.format(read=7, written=8, partitions=128, space="sbuf"), {"x": normal(1, 8, 8)})
    kinds = [EventKind.UNINITIALISED_READ, EventKind.UNDEFINED_RESULT, EventKind.UNWRITTEN_RESULT]
    assert [event.kind for event in done.events] == kinds
    assert [(event.element, event.count) for event in done.events] == [((7, 0), 8)] * 3
    assert [event.kind for event in done.faults] == kinds[1:]
    assert {event.span.start.line for event in done.events[:2]} == {13}
    assert np.isnan(done.results[0][7]).all()
    assert not np.isnan(done.results[0][:7]).any()


def test_a_part_of_the_result_that_is_not_written_is_found() -> None:
    assert copied(written=7) == [EventKind.UNWRITTEN_RESULT]


def test_a_value_never_written_is_harmless_where_nothing_comes_of_it() -> None:
    text = (
        NEW
        + """
def padded(x):
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 4), dtype=x.dtype, buffer=nl.sbuf)
    twice = nl.ndarray((128, 4), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[0:8, 0:4], src=x)
    nisa.tensor_scalar(dst=twice, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out, src=twice[0:8, 0:4])
    return out
"""
    )
    done = executed(text, {"x": normal(1, 8, 4)})
    assert [(event.kind, event.element, event.count) for event in done.events] == [
        (EventKind.UNINITIALISED_READ, (8, 0), 480)
    ]
    assert done.faults == ()
    assert (done.results[0] == 2 * normal(1, 8, 4)).all()


def test_more_partitions_than_the_chip_has_are_found() -> None:
    assert copied(partitions=128) == []
    assert copied(partitions=129) == [EventKind.LIMIT_EXCEEDED]


def test_more_bytes_of_a_partition_than_the_memory_has_are_found() -> None:
    assert copied(columns=4096, space="psum") == []
    assert copied(columns=4097, space="psum") == [EventKind.LIMIT_EXCEEDED]
    assert copied(columns=57344) == []
    assert copied(columns=57345) == [EventKind.LIMIT_EXCEEDED]


def test_all_dimensions_after_the_first_are_in_a_partition() -> None:
    text = (
        NEW
        + """
def kernel(x):
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(({shape}), dtype=nl.float32, buffer=nl.psum)
    nisa.dma_copy(dst=out, src=x)
    return out
"""
    )
    for shape, faults in (("128, 8, 512", 0), ("128, 9, 512", 1), ("129, 2, 2", 1)):
        done = executed(text.replace("{shape}", shape), {"x": normal(1, 8, 4)})
        assert [event.kind for event in done.events] == [EventKind.LIMIT_EXCEEDED] * faults, shape


def test_blocks_before_the_partitions_count_for_no_limit() -> None:
    text = (
        OLD
        + """
def kernel(x):
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((200, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)
    nl.store(out, nl.load(x))
    return out
"""
    )
    assert executed(text, {"x": normal(1, 8, 4)}).events == ()


def test_limits_are_those_of_the_chip() -> None:
    text = COPY.format(read=8, written=8, partitions=128, space="sbuf")
    for target, columns in (("trn1", 49152), ("trn3", 65536)):
        for size, faults in ((columns, 0), (columns + 1, 1)):
            done = executed(text, {"x": normal(1, 8, size)}, target=target)
            assert len(done.faults) == faults, (target, size)


def test_an_index_outside_is_found() -> None:
    text = (
        NEW
        + """
def shifted(x, start):
    out = nl.ndarray((8, 4), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((8, 4), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[start:start + 8, 0:4])
    nisa.dma_copy(dst=out, src=tile)
    return out
"""
    )
    assert executed(text, {"x": normal(1, 10, 4), "start": 2}).events == ()
    done = executed(text, {"x": normal(1, 10, 4), "start": 3})
    assert [event.kind for event in done.faults] == [
        EventKind.OUT_OF_BOUNDS, EventKind.UNDEFINED_RESULT, EventKind.UNWRITTEN_RESULT,
    ]  # fmt: skip
    assert (done.faults[0].element, done.faults[0].count) == ((10, 0), 4)


def test_a_name_without_a_value_is_named() -> None:
    text = (
        NEW
        + """
def scaled(x, factor):
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=factor)
    nisa.dma_copy(dst=out, src=tile)
    return out
"""
    )
    assert executed(text, {"x": normal(1, 8, 4), "factor": 2.0}).events == ()
    with pytest.raises(InputError, match="needs a value for factor"):
        executed(text, {"x": normal(1, 8, 4)})
    with pytest.raises(InputError, match="nothing in scaled is called facter"):
        executed(text, {"x": normal(1, 8, 4), "facter": 2.0})


def test_sizes_that_do_not_fit_each_other_are_told() -> None:
    text = (
        NEW
        + """
def added(x, y):
    k, l = y.shape
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.sbuf)
    b = nl.ndarray((k, l), dtype=y.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=b, src=y)
    nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.add)
    nisa.dma_copy(dst=out, src=a)
    return out
"""
    )
    assert executed(text, {"x": normal(1, 8, 4), "y": normal(2, 8, 4)}).events == ()
    done = executed(text, {"x": normal(1, 8, 4), "y": normal(2, 8, 5)})
    assert done.stopped is not None and done.stopped.kind is EventKind.SHAPE_MISMATCH
    with pytest.raises(InputError, match="x has 2 dimensions in added, and the array has 3"):
        executed(text, {"x": normal(1, 8, 4, 2), "y": normal(2, 8, 4)})


def test_what_was_not_understood_ends_the_run_where_it_is_reached() -> None:
    text = (
        NEW
        + """
def strange(x, rounds):
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(rounds):
        nisa.no_such_instruction(dst=out, src=x)
    nisa.dma_copy(dst=out, src=x)
    return out
"""
    )
    program = any_lowered(text)
    assert run(program, {"x": normal(1, 8, 4), "rounds": 0}).stopped is None
    stopped = run(program, {"x": normal(1, 8, 4), "rounds": 1}).stopped
    assert stopped is not None and stopped.kind is EventKind.NOT_EXECUTED
    assert stopped.span.start.line == 12
    assert "no_such_instruction" in stopped.message


def test_what_the_kernel_asserts_is_checked() -> None:
    text = (
        NEW
        + """
def even(x):
    n, m = x.shape
    assert m % 2 == 0
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out
"""
    )
    assert executed(text, {"x": normal(1, 8, 4)}).events == ()
    stopped = executed(text, {"x": normal(1, 8, 5)}).stopped
    assert stopped is not None and stopped.kind is EventKind.ASSUMPTION_BROKEN


def test_a_budget_ends_the_run() -> None:
    text = COPY.format(read=8, written=8, partitions=128, space="sbuf")
    given = {"x": normal(1, 8, 8)}
    needed = executed(text, given).steps
    assert executed(text, given, steps=needed).stopped is None
    stopped = executed(text, given, steps=needed - 1).stopped
    assert stopped is not None and stopped.kind is EventKind.BUDGET_SPENT
    assert executed(text, given, memory=100).stopped is not None


def test_memory_is_given_back_when_an_instance_ends() -> None:
    text = (
        OLD
        + """
def kernel(x):
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.load(x[nl.program_id(0), :])
    tile = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nl.store(out[nl.program_id(0), :], a)
    return out
"""
    )
    done = executed(text, {"x": normal(1, 64, 4)}, grid=(64,), memory=1 << 20)
    assert done.events == ()
    assert executed(text, {"x": normal(1, 64, 4)}, grid=(64,), memory=1 << 17).stopped is not None


def test_options_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="steps"):
        Options(steps=-1)
    with pytest.raises(InputError, match="there is no chip trn9"):
        executed(COPY.format(read=8, written=8, partitions=8, space="sbuf"), {"x": normal(1, 8, 8)}, target="trn9")


def test_integers_that_the_reading_did_not_know_of_are_told() -> None:
    text = COPY.format(read=8, written=8, partitions=8, space="sbuf")
    numbers = np.arange(64, dtype=np.int32).reshape(8, 8)
    assert executed(text, {"x": numbers}).events == ()
    told = run(any_lowered(text), {"x": numbers})
    assert [event.kind for event in told.events] == [EventKind.ASSUMED]
    assert told.faults == () and (told.results[0] == numbers).all()


def test_a_grid_that_nothing_states_is_one_instance_and_told() -> None:
    text = (
        NEW
        + """
def kernel(x):
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    part = nl.ndarray((4, m), dtype=x.dtype, buffer=nl.sbuf)
    at = nl.program_id(1) * 4
    nisa.dma_copy(dst=part, src=x[at:at + 4, :])
    nisa.dma_copy(dst=out[at:at + 4, :], src=part)
    return out
"""
    )
    assert executed(text, {"x": normal(1, 8, 4)}, grid=(1, 2)).events == ()
    alone = executed(text, {"x": normal(1, 8, 4)})
    assert [event.kind for event in alone.events] == [EventKind.ASSUMED, EventKind.UNWRITTEN_RESULT]
    with pytest.raises(InputError, match=r"asks for program_id\[1\]"):
        executed(text, {"x": normal(1, 8, 4)}, grid=(2,))


def test_a_barrier_that_one_core_does_not_reach_is_found() -> None:
    text = (
        NEW
        + """
def kernel(x):
    n, m = x.shape
    out = nl.ndarray((n, m), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    if nl.program_id(0) < {cores}:
        nisa.core_barrier(data=out, cores=(0, 1))
    return out
"""
    )
    given = {"x": normal(1, 8, 4)}
    assert executed(text.replace("{cores}", "2"), given, grid=(2,)).events == ()
    stopped = executed(text.replace("{cores}", "1"), given, grid=(2,)).stopped
    assert stopped is not None and stopped.kind is EventKind.WAITS_FOREVER
    assert stopped.span.start.line == 13 and stopped.program == (0,)


def test_an_index_that_was_never_written_is_found() -> None:
    text = (
        NEW
        + """
def kernel(x):
    n, m = x.shape
    out = nl.ndarray((4, m), dtype=x.dtype, buffer=nl.shared_hbm)
    which = nl.ndarray((4, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=which[0:{count}, :], value=2)
    a = nl.ndarray((4, m), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x.ap(pattern=[[m, 4], [1, m]], vector_offset=which, indirect_dim=0))
    nisa.dma_copy(dst=out, src=a)
    return out
"""
    )
    given = {"x": normal(1, 8, 5)}
    done = executed(text.replace("{count}", "4"), given)
    assert done.events == () and (done.results[0] == given["x"][[2] * 4]).all()
    told = executed(text.replace("{count}", "3"), given).faults
    assert EventKind.UNDEFINED_CONDITION in [event.kind for event in told]


PRODUCT = (
    NEW
    + """
def kernel(a, b):
    k, m = a.shape
    n = b.shape[1]
    out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.ndarray((k, m), dtype=a.dtype, buffer=nl.sbuf)
    right = nl.ndarray((k, n), dtype=b.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=a)
    nisa.dma_copy(dst=right, src=b)
    acc = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=left, moving=right)
    back = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=back, src=acc)
    nisa.dma_copy(dst=out, src=back)
    return out
"""
)


@pytest.mark.parametrize(
    ("rows", "columns", "others", "what"),
    [
        (128, 128, 512, ""),
        (129, 4, 4, "contracts 129 elements"),
        (4, 129, 4, "a stationary operand of 129 elements"),
        (4, 4, 513, "a moving operand of 513 elements"),
    ],
)
def test_a_product_larger_than_an_instruction_takes_is_found(rows: int, columns: int, others: int, what: str) -> None:
    done = executed(PRODUCT, {"a": normal(1, rows, columns), "b": normal(2, rows, others)})
    products = [event for event in done.faults if "product" in event.message]
    assert [event.kind for event in products] == [EventKind.LIMIT_EXCEEDED] * bool(what)
    assert all(what in event.message for event in products)


RESHAPED = (
    NEW
    + """
def kernel(x):
    out = nl.ndarray((6, 4), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out
"""
)


def test_as_many_elements_in_another_shape_are_taken_in_order() -> None:
    assert executed(RESHAPED, {"x": normal(1, 6, 4)}).events == ()
    done = executed(RESHAPED, {"x": normal(1, 3, 8)})
    assert [event.kind for event in done.events] == [EventKind.ASSUMED]
    assert (done.results[0] == normal(1, 3, 8).reshape(6, 4)).all()
    done = executed(RESHAPED, {"x": normal(1, 3, 9)})
    assert done.stopped is not None and done.stopped.kind is EventKind.SHAPE_MISMATCH


HALVED = (
    NEW
    + """
def halved(x):
    n, m = x.shape
    out = nl.ndarray((2, n // 2 * m), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile.reshape((2, n // 2 * m)))
    return out
"""
)


@pytest.mark.parametrize(("rows", "stopped"), [(6, None), (7, EventKind.ASSUMPTION_BROKEN)])
def test_a_reshape_that_would_lose_elements_ends_the_run(rows: int, stopped: EventKind | None) -> None:
    done = executed(HALVED, {"x": normal(1, rows, 4)})
    assert (done.stopped.kind if done.stopped is not None else None) == stopped
    if stopped is None:
        assert (done.results[0].reshape(rows, 4) == normal(1, rows, 4)).all()


def test_a_place_too_large_for_an_integer_is_outside() -> None:
    text = (
        NEW
        + """
def far(x, n):
    out = nl.ndarray((1, 4), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x[(n << 128) + 1, 0:4])
    return out
"""
    )
    done = run(any_lowered(text), {"x": normal(1, 8, 4), "n": 1})
    assert EventKind.OUT_OF_BOUNDS in [event.kind for event in done.events]
