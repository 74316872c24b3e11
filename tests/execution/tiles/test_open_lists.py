"""Lists and loops that conditions decide which only a run knows: run for either answer."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.tiles.ports import NEW, executed, normal

_HEAD = NEW.replace("@nki.jit\n", "")
_TILE = "nl.ndarray((p, f), dtype=x.dtype, buffer=nl.sbuf)"


def result(body: str, flag: int, *shape: int) -> np.ndarray:
    text = _HEAD + body.replace("def k(", "@nki.jit\ndef k(").replace("TILE", _TILE)
    done = executed(text, {"x": normal(1, *shape), "flag": flag})
    return np.asarray(done.results[0])


_PAIRS = """
def k(x, flag):
    n, p, f = x.shape
    out = nl.ndarray((n, p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = []
    for i in nl.affine_range(2):
        row = []
        if flag:
            for j in nl.affine_range(n):
                t = TILE
                nisa.dma_copy(dst=t, src=x[j])
                row.append(t)
        else:
            for j in nl.affine_range(0, n, 2):
                t = nl.ndarray((p, 2, f), dtype=x.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=t[:, 0, :], src=x[j + 1])
                nisa.dma_copy(dst=t[:, 1, :], src=x[j])
                row.append(t)
        rows.append(row)
    if flag:
        for j in nl.affine_range(n):
            nisa.dma_copy(dst=out[j], src=rows[1][j])
    else:
        for j in nl.affine_range(n // 2):
            nisa.dma_copy(dst=out[2 * j], src=rows[1][j][:, 0, :])
            nisa.dma_copy(dst=out[2 * j + 1], src=rows[1][j][:, 1, :])
    return out
"""


@pytest.mark.parametrize(("flag", "order"), [(1, [0, 1, 2, 3]), (0, [1, 0, 3, 2])])
def test_lists_that_two_loops_of_two_arms_fill_are_read_as_what_they_are(flag: int, order: list[int]) -> None:
    assert np.array_equal(result(_PAIRS, flag, 4, 3, 5), normal(1, 4, 3, 5)[order])


_ADDED = """
def k(x, flag):
    n, p, f = x.shape
    out = nl.ndarray((p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = []
    for i in range(2):
        t = TILE
        nisa.dma_copy(dst=t, src=x[i])
        tiles.append(t)
    other = tiles
    if flag:
        more = TILE
        nisa.dma_copy(dst=more, src=x[2])
        other.append(more)
    else:
        tiles.pop()
    last = tiles[-1]
    if flag:
        tiles.append(tiles[0])
    for t in tiles:
        nisa.tensor_tensor(dst=last, data1=last, data2=t, op=nl.add)
    nisa.dma_copy(dst=out, src=last)
    return out
"""


@pytest.mark.parametrize("flag", [0, 1])
def test_a_list_that_arms_change_may_be_changed_again_where_the_same_condition_decides(flag: int) -> None:
    x = normal(1, 3, 4, 5)
    last = (x[2] if flag else x[0]).copy()
    for t in [x[0], x[1], last, x[0]] if flag else [last]:
        last += t
    assert np.allclose(result(_ADDED, flag, 3, 4, 5), last)


_RETURNS = """
def f(x, out, n, p, f):
    for i in nl.affine_range(n):
        t = TILE
        nisa.dma_copy(dst=t, src=x[n - 1 - i])
        if out is not None:
            nisa.dma_copy(dst=out[i], src=t)
        else:
            return t
    return out

def k(x, flag):
    n, p, f = x.shape
    whole = nl.ndarray((n, p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=whole, src=x)
    out = whole if flag else None
    made = FUNCTION(x, out, n, p, f)
    if not flag:
        nisa.dma_copy(dst=whole[1], src=made)
    return whole
""".replace("def f(", "def first(").replace("FUNCTION", "first")


@pytest.mark.parametrize("flag", [0, 1])
def test_a_loop_that_returns_by_what_is_the_same_in_each_round_runs_once_or_whole(flag: int) -> None:
    x = normal(1, 3, 4, 5)
    expected = x[::-1] if flag else np.stack([x[0], x[2], x[2]])
    assert np.array_equal(result(_RETURNS, flag, 3, 4, 5), expected)


_ONCE = """
def first(x, out, n):
    for i in nl.affine_range(n):
        nisa.dma_copy(dst=out[i], src=x[n - 1 - i])
        return i + 1
    return 5

def k(x, flag):
    n, p, f = x.shape
    out = nl.ndarray((n, p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    at = first(x, out, flag)
    nisa.dma_copy(dst=out[n - at], src=x[0])
    return out
"""


@pytest.mark.parametrize("flag", [0, 3])
def test_a_loop_whose_first_round_returns_has_one_round_or_none(flag: int) -> None:
    x = normal(1, 5, 4, 5)
    expected = x.copy()
    if flag:
        expected[0] = x[flag - 1]
    expected[5 - (1 if flag else 5)] = x[0]
    assert np.array_equal(result(_ONCE, flag, 5, 4, 5), expected)


_LEFT = """
def k(x, flag):
    n, p, f = x.shape
    out = nl.ndarray((n + 1, p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out[:n], src=x)
    nisa.dma_copy(dst=out[n], src=x[0])
    tiles, pairs = [], []
    for i in range(5):
        size = flag - 2 * i
        if size <= 0:
            break
        tiles.append(TILE)
        for j in nl.affine_range(2):
            pairs.append(TILE)
            nisa.dma_copy(dst=pairs[-1], src=x[n - 1 - i - j])
    for i in range(5):
        if flag - 2 * i <= 0:
            break
        nisa.dma_copy(dst=tiles[i], src=x[n - 1 - i])
    for i, t in enumerate(tiles):
        nisa.dma_copy(dst=out[i], src=t)
    if flag > 2:
        nisa.dma_copy(dst=out[n], src=pairs[-1])
    return out
"""


@pytest.mark.parametrize("flag", [0, 1, 3, 4, 5, 9, 20])
def test_a_list_is_as_long_as_its_loop_had_rounds_before_it_was_left(flag: int) -> None:
    x = normal(1, 9, 4, 5)
    rounds = min(5, max(0, (flag + 1) // 2))
    last = x[8 - (rounds - 1) - 1] if flag > 2 else x[0]
    expected = np.concatenate([x[::-1][:rounds], x[rounds:], last[None]])
    assert np.array_equal(result(_LEFT, flag, 9, 4, 5), expected)


_LATE = """
def k(x, flag):
    n, p, f = x.shape
    out = nl.ndarray((n, p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    tiles = []
    for i in range(3):
        t = TILE
        nisa.dma_copy(dst=t, src=x[n - 1 - i])
        tiles.append(t)
        if i >= flag:
            break
    nisa.dma_copy(dst=out[0], src=tiles[0])
    return out
"""


def test_a_list_that_grows_before_its_loop_is_left_is_no_series() -> None:
    with pytest.raises(AssertionError, match="opaque|line"):
        result(_LATE, 1, 5, 4, 5)


_REPLACED = """
def k(x, flag):
    n, p, f = x.shape
    out = nl.ndarray((p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    t = TILE
    nisa.memset(t, 0.0)
    for i in range(n):
        if 2 * i < flag:
            new = TILE
            nisa.dma_copy(dst=new, src=x[i])
            nisa.tensor_tensor(dst=new, data1=new, data2=t, op=nl.add)
            if i > 1:
                t = new
            else:
                t = new if flag > 5 else t
    nisa.dma_copy(dst=out, src=t)
    return out
"""


@pytest.mark.parametrize("flag", [0, 3, 5, 6, 9])
def test_a_tile_that_some_rounds_replace_goes_on_as_it_is(flag: int) -> None:
    x, t = normal(1, 4, 4, 5), np.zeros((4, 5), np.float32)
    for i in range(4):
        if 2 * i < flag and (i > 1 or flag > 5):
            t = x[i] + t
    assert np.allclose(result(_REPLACED, flag, 4, 4, 5), t)


_EXCHANGED = """
def k(x, flag):
    n, p, f = x.shape
    out = nl.ndarray((2, p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    s, t = TILE, TILE
    nisa.dma_copy(dst=s, src=x[0])
    nisa.dma_copy(dst=t, src=x[1])
    for i in range(n):
        if 2 * i < flag:
            s, t = t, s
    nisa.dma_copy(dst=out[0], src=s)
    nisa.dma_copy(dst=out[1], src=t)
    return out
"""


def test_tiles_that_some_rounds_exchange_are_not_mixed_up() -> None:
    with pytest.raises(AssertionError, match="line"):
        result(_EXCHANGED, 3, 4, 4, 5)


_TWO_LISTS = """
def k(x, flag):
    n, p, f = x.shape
    out = nl.ndarray((n, p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    first = [TILE for _ in range(n)]
    second = [TILE for _ in range(n)]
    for i in range(n):
        nisa.dma_copy(dst=first[i], src=x[i])
        nisa.dma_copy(dst=second[i], src=x[n - 1 - i])
    chosen = first if flag > 2 else second
    for i in range(n):
        nisa.dma_copy(dst=out[i], src=chosen[i])
    return out
"""


@pytest.mark.parametrize("flag", [1, 3])
def test_one_of_two_lists_of_unknown_length_may_be_chosen(flag: int) -> None:
    x = normal(1, 3, 4, 5)
    assert np.array_equal(result(_TWO_LISTS, flag, 3, 4, 5), x if flag > 2 else x[::-1])


_STEPS = ("one = (one * 3 + other) // 2 % 17", "other = (other + one) % 13") * 4
_LONG = """
def k(x, flag):
    n, p, f = x.shape
    out = nl.ndarray((n, p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    for i in range(n):
        one, other = i, n
        STEPS
        nisa.dma_copy(dst=out[min(one, other) % n], src=x[i])
    return out
""".replace("STEPS", "\n        ".join(_STEPS))


def _stepped(i: int) -> tuple[int, int]:
    """What the steps make of `i` and 5."""
    one, other = i, 5
    for _ in range(4):
        one = (one * 3 + other) // 2 % 17
        other = (other + one) % 13
    return one, other


def test_the_less_of_two_numbers_that_are_too_large_to_write_out_is_kept_in_a_register() -> None:
    x = normal(1, 5, 4, 5)
    expected = x.copy()
    for i in range(5):
        one, other = _stepped(i)
        expected[min(one, other) % 5] = x[i]
    assert np.array_equal(result(_LONG, 0, 5, 4, 5), expected)


def test_a_number_that_is_kept_in_a_register_is_not_changed_where_it_stands() -> None:
    x = normal(1, 5, 4, 5)
    less = "if i < 2:\n            less = one\n        else:\n            less = other\n        same = less\n"
    less += "        less -= 1\n        "
    text = _LONG.replace("nisa.dma_copy(dst=out[min", less + "nisa.dma_copy(dst=out[min")
    text = text.replace("out[min(one, other) % n]", "out[(less * 3 + same) % n]")
    expected = x.copy()
    for i in range(5):
        one, other = _stepped(i)
        same = one if i < 2 else other
        expected[((same - 1) * 3 + same) % 5] = x[i]
    assert np.array_equal(result(text, 0, 5, 4, 5), expected)
