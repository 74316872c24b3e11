"""What is one of two things by a condition: dtypes, tiles, numbers; how it is used without knowing which."""

from __future__ import annotations

import numpy as np
import pytest
from tests.execution.tiles.ports import NEW, executed, normal
from tests.frontends.nki.reading import burnt_by, kernel, opaques, stores

from portcheck.core.dtype import BOOL, INT64, DType
from portcheck.ir import (
    Alloc,
    Apply,
    Branch,
    Copy,
    Expr,
    Load,
    Operator,
    Symbol,
    apply,
    integer,
    operations,
    refs_in,
    symbols_in,
)

N = Symbol("n", INT64)
FLAGS = "x, n, flag: bool, other: bool"


def tiles(body: str, parameters: str = FLAGS) -> dict[str, DType]:
    made = kernel(body, parameters=parameters)
    assert opaques(made) == []
    return {op.name: op.type.dtype for op in operations(made.body) if isinstance(op, Alloc)}


CHOSEN = "if flag:\n    dt = nl.bfloat16\nelse:\n    dt = nl.float16\n"
MADE = "t = nl.ndarray((128, 8), dtype=dt, buffer=nl.sbuf)\n"


def test_a_dtype_that_is_one_of_two_is_one_symbol_wherever_it_is_used() -> None:
    found = tiles(f"{CHOSEN}{MADE}{MADE.replace('t =', 'u =')}nisa.tensor_copy(dst=t, src=u)\n")
    assert found["t"].is_symbolic
    assert found["t"] == found["u"]


def test_another_choice_is_another_dtype() -> None:
    again = CHOSEN.replace("flag", "other").replace("dt", "d2")
    found = tiles(f"{CHOSEN}{again}{MADE}{MADE.replace('t =', 'u =').replace('=dt', '=d2')}")
    assert found["t"] != found["u"]


def test_in_an_arm_that_decides_it_the_dtype_is_known() -> None:
    found = tiles(f"{CHOSEN}if flag:\n    {MADE}    nisa.memset(t, value=0)\n")
    assert found["t"].name == "bfloat16"


def test_what_a_dtype_decides_is_asked_for_either() -> None:
    body = f"{CHOSEN}if dt == nl.bfloat16:\n    nisa.memset(a, value=1)\nelse:\n    nisa.memset(a, value=2)\n"
    made = kernel(body, parameters=FLAGS)
    outer = next(op for op in made.body if isinstance(op, Branch))
    assert [len(stores(arm)) for arm in (outer.then, outer.otherwise)] == [1, 1]


UNTOUCHED = """
if flag:
    t = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
else:
    t = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf, address=(0, 64))
nisa.memset(t, value=1)
nisa.tensor_copy(dst=a, src=t)
"""


def test_tiles_that_nothing_was_put_into_are_not_copied_after_a_branch() -> None:
    made = kernel(UNTOUCHED, parameters=FLAGS)
    assert opaques(made) == []
    assert len([op for op in operations(made.body) if isinstance(op, Load)]) == 1


FILLED = (
    NEW + "def k(x, flag: bool):\n"
    "    out = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n"
    "    if flag:\n"
    "        t = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "        nisa.dma_copy(dst=t, src=x)\n"
    "    else:\n"
    "        t = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    if not flag:\n"
    "        nisa.memset(t, value=5)\n"
    "    nisa.dma_copy(dst=out, src=t)\n"
    "    return out\n"
)


@pytest.mark.parametrize("flag", [True, False])
def test_what_an_arm_put_into_its_tile_is_there_after_the_branch(flag: bool) -> None:
    x = normal(1, 4, 8)
    wanted = x if flag else np.full((4, 8), 5, np.float32)
    assert np.array_equal(executed(FILLED, {"x": x, "flag": flag}).results[0], wanted)


NESTED = (
    NEW + "def k(x, flag: bool, other: bool):\n"
    "    out = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n"
    "    if flag:\n"
    "        width = 4\n"
    "        if other:\n"
    "            t = nl.ndarray((4, 16), dtype=nl.float32, buffer=nl.sbuf)\n"
    "        else:\n"
    "            t = nl.ndarray((4, 32), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    else:\n"
    "        t = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.dma_copy(dst=t[0:4, 0:8], src=x)\n"
    "    nisa.dma_copy(dst=out, src=t[0:4, 0:8])\n"
    "    return out\n"
)


@pytest.mark.parametrize(("flag", "other"), [(True, True), (True, False), (False, False)])
def test_tiles_of_inner_branches_are_there_after_the_outer_one(flag: bool, other: bool) -> None:
    x = normal(1, 4, 8)
    assert np.array_equal(executed(NESTED, {"x": x, "flag": flag, "other": other}).results[0], x)


LISTED = (
    NEW + "def k(x, flag: bool):\n"
    "    rows, columns = x.shape\n"
    "    out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)\n"
    "    tiles = []\n"
    "    for i in range(rows // 4):\n"
    "        if flag:\n"
    "            tiles.append(nl.ndarray((4, columns), dtype=nl.float32, buffer=nl.sbuf))\n"
    "        else:\n"
    "            tiles.append(nl.ndarray((4, 2 * columns), dtype=nl.float32, buffer=nl.sbuf))\n"
    "    for i in range(rows // 4):\n"
    "        nisa.dma_copy(dst=tiles[i][0:4, 0:columns], src=x[4 * i : 4 * i + 4])\n"
    "    for i in range(rows // 4):\n"
    "        nisa.dma_copy(dst=out[4 * i : 4 * i + 4], src=tiles[i][0:4, 0:columns])\n"
    "    return out\n"
)


@pytest.mark.parametrize("flag", [True, False])
def test_lists_of_tiles_of_either_kind_grow_in_loops_of_unknown_length(flag: bool) -> None:
    x = normal(1, 12, 8)
    assert np.array_equal(executed(LISTED, {"x": x, "flag": flag}).results[0], x)


def test_a_false_assertion_ends_its_arm() -> None:
    body = "if n == 1:\n    m = 4\nelif n == 2:\n    m = 8\nelse:\n    assert False\nnisa.memset(a, value=m)\n"
    made = kernel(body, parameters="x, n: int")
    assert opaques(made) == []
    assert stores(made.body)[0].access.buffer == "a"


def test_a_false_assertion_outside_of_branches_ends_nothing() -> None:
    made = kernel("assert False\nnisa.memset(a, value=4)\n", parameters="x, n: int")
    assert len(stores(made.body)) == 1


def test_an_optional_number_is_a_number_where_it_is_there() -> None:
    body = "if n is None:\n    n = 4\nnisa.memset(a, value=n)\n"
    for annotation in ("int = None", "Optional[int] = None", "int | None = None"):
        made = kernel(body, "from typing import Optional", f"x, n: {annotation}")
        assert len(stores(made.body)) == 1
        assert opaques(made) == []


def grown(shift: str) -> str:
    """Statements after which `m` is a number of thousands of parts."""
    return "m = n\n" + "".join(f"m = min(m * m + n // (m + {shift}), n % (m + {place}))\n" for place in range(2, 12))


def tile(name: str, size: str) -> str:
    return f"{name} = nl.ndarray((128, {size}), dtype=nl.float32, buffer=nl.sbuf)\n"


def sizes(body: str) -> dict[str, Expr]:
    made = kernel(body, parameters="x, n: int")
    assert opaques(made) == []
    return {op.name: op.type.shape[1] for op in operations(made.body) if isinstance(op, Alloc)}


def test_a_number_that_grows_too_large_is_the_same_wherever_it_is_made() -> None:
    found = sizes(f"{grown('1')}{tile('t', 'm')}{grown('1')}{tile('u', 'm')}")
    assert found["t"] == found["u"]


def test_other_large_numbers_have_other_names() -> None:
    found = sizes(f"{grown('1')}{tile('t', 'm')}{grown('3')}{tile('u', 'm')}")
    assert found["t"] != found["u"]


def test_a_large_number_that_varies_with_a_loop_has_no_name_of_its_own() -> None:
    lines = "".join(f"    {line}\n" for line in grown("j").splitlines())
    made = kernel(f"for j in range(n):\n{lines}    nisa.memset(a, value=m)\n", parameters="x, n: int")
    assert opaques(made) or all("j" in symbols_in(store.value) or refs_in(store.value) for store in stores(made.body))


def test_a_small_number_is_written_out() -> None:
    assert sizes(f"m = min(n * n, n // 3)\n{tile('t', 'm')}")["t"] == apply(
        Operator.MINIMUM, apply(Operator.MULTIPLY, N, N), apply(Operator.FLOOR_DIVIDE, N, integer(3))
    )


def test_one_of_two_values_that_a_loop_does_not_change_is_still_the_same_after_it() -> None:
    lines = f"if flag:\n    {tile('t', '16')}else:\n    {tile('t', '32')}"
    lines += "for i in range(n):\n    if other:\n        for j in range(n):\n            nisa.memset(a, value=j)\n"
    made = kernel(f"{lines}nisa.memset(t[0:128, 0:8], value=1)\n", parameters=FLAGS)
    assert opaques(made) == []
    last = next(op for op in reversed(made.body) if isinstance(op, Branch))
    assert [len(list(operations(arm))) for arm in (last.then, last.otherwise)] == [1, 1]


def test_of_a_choice_with_a_side_that_is_known_the_other_follows() -> None:
    body = "w = None if flag else x\nif w is not None:\n    nisa.dma_copy(dst=a, src=w)\n"
    made = kernel(body, parameters="x, flag: bool")
    assert opaques(made) == []
    found = next(op for op in operations(made.body) if isinstance(op, Branch))
    assert isinstance(found.condition, Apply)
    assert found.condition.operator is Operator.LOGICAL_NOT


SIZED = """
if flag:
    out = nl.ndarray((n, 4), dtype=nl.float32, buffer=nl.{space})
else:
    out = nl.ndarray((8, n), dtype=nl.{dtype}, buffer=nl.{space})
nisa.dma_copy(dst=out[0:4, 0:4], src=a[0:4, 0:4])
"""


def copies(space: str, dtype: str = "float32") -> list[Copy]:
    made = kernel(SIZED.format(space=space, dtype=dtype), parameters="x, n: int, flag: bool")
    assert opaques(made) == []
    return [op for op in operations(made.body) if isinstance(op, Copy)]


def test_an_empty_tensor_of_either_size_is_one_tensor_in_device_memory() -> None:
    assert len(copies("shared_hbm")) == 1
    assert len(copies("shared_hbm", "bfloat16")) == 2
    assert len(copies("sbuf")) == 2


@pytest.mark.parametrize("flag", [True, False])
def test_a_tensor_of_either_size_has_the_size_of_its_arm(flag: bool) -> None:
    text = (
        NEW + "def k(x, flag: bool):\n"
        "    rows, columns = x.shape\n"
        "    if flag:\n"
        "        out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)\n"
        "    else:\n"
        "        out = nl.ndarray((rows, 2 * columns), dtype=nl.float32, buffer=nl.shared_hbm)\n"
        "        nisa.dma_copy(dst=out[0:rows, columns : 2 * columns], src=x)\n"
        "    nisa.dma_copy(dst=out[0:rows, 0:columns], src=x)\n"
        "    return out\n"
    )
    x = normal(1, 4, 8)
    wanted = x if flag else np.concatenate([x, x], axis=1)
    assert np.array_equal(executed(text, {"x": x, "flag": flag}).results[0], wanted)


def test_what_was_chosen_by_a_condition_is_not_chosen_by_it_again() -> None:
    lines = [
        "w = None if flag else x", "if flag:", "    v = w", "else:", "    v = x.reshape((8, 128))",
        "if v is None:", "    nisa.memset(a, value=1)",
    ]  # fmt: skip
    made = kernel("\n".join(lines), parameters="x, flag: bool")
    assert opaques(made) == []
    found = next(op for op in operations(made.body) if isinstance(op, Branch))
    assert found.condition == Symbol("flag", BOOL)


SHOWN = (
    NEW + "def k(x, flag: bool):\n"
    "    t = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.dma_copy(dst=t, src=x)\n"
    "    if flag:\n        bits = t.view(nl.int32)\n"
    "    else:\n        bits = t.view(nl.int8)\n"
    "    first = bits[:, 0:8]\n"
    "    out = nl.ndarray((4, 8), dtype=nl.int32, buffer=nl.shared_hbm)\n"
    "    u = nl.ndarray((4, 8), dtype=nl.int32, buffer=nl.sbuf)\n"
    "    nisa.tensor_copy(dst=u, src=first)\n"
    "    nisa.dma_copy(dst=out, src=u)\n"
    "    return out\n"
)


@pytest.mark.parametrize("flag", [True, False])
def test_the_bits_of_a_tile_are_shown_as_either_of_two_formats(flag: bool) -> None:
    x = normal(1, 4, 8)
    wanted = x.view(np.int32) if flag else x.view(np.int8)[:, 0:8]
    assert np.array_equal(executed(SHOWN, {"x": x, "flag": flag}).results[0], wanted)


COSTLY = (
    "class V:\n    pass\n\n\ndef shifted(t, n):\n    for i in [1, 2, 3, 4]:\n        n = n + i\n    return t[:, 0:8]\n"
)
CHOSEN_TILE = "if flag:\n    t = a\nelse:\n    t = b\n"


def test_what_a_call_is_given_is_evaluated_once_for_both_of_two_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    call = f"{CHOSEN_TILE}nisa.tensor_copy(dst=shifted(a, n), src=t)"
    on_one = burnt_by(lambda: kernel(call.replace("src=t", "src=a"), COSTLY, FLAGS), monkeypatch)
    assert burnt_by(lambda: kernel(call, COSTLY, FLAGS), monkeypatch) - on_one < 8


def test_it_is_made_for_either_in_an_arm_of_its_own() -> None:
    made = kernel(f"{CHOSEN_TILE}nisa.tensor_copy(dst=shifted(a, n), src=t)", COSTLY, FLAGS)
    assert opaques(made) == []
    branch = next(op for op in made.body if isinstance(op, Branch) and stores(op.then))
    read = [[op.access.buffer for op in arm if isinstance(op, Load)] for arm in (branch.then, branch.otherwise)]
    assert read == [["a"], ["b"]]


EITHER_SOURCE = (
    NEW + "def k(x, y, flag: bool, other: bool):\n"
    "    out = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n"
    "    s = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    t = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.dma_copy(dst=s, src=x)\n"
    "    nisa.dma_copy(dst=t, src=y)\n"
    "    one = s if flag else t\n"
    "    two = t if other else s\n"
    "    nisa.tensor_tensor(dst=two, data1=one, data2=two, op=nl.subtract)\n"
    "    nisa.tensor_scalar(dst=s, data=one, op0=nl.multiply, operand0=2.0)\n"
    "    if flag and not other:\n"
    "        nisa.tensor_copy(dst=t, src=two)\n"
    "    nisa.tensor_tensor(dst=s, data1=s, data2=t, op=nl.add)\n"
    "    nisa.dma_copy(dst=out, src=s)\n"
    "    return out\n"
)


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("other", [True, False])
def test_calls_on_one_of_two_tiles_compute_what_they_would_on_that(flag: bool, other: bool) -> None:
    x, y = (np.round(normal(seed, 4, 8) * 8) for seed in (1, 2))
    s, t = x.copy(), y.copy()
    one, two = (s if flag else t), (t if other else s)
    two[:] = one - two
    s[:] = 2 * one
    if flag and not other:
        t[:] = two
    found = executed(EITHER_SOURCE, {"x": x, "y": y, "flag": flag, "other": other}).results[0]
    assert np.array_equal(found, s + t)


SHAPES = (
    NEW + "def k(x, flag: bool):\n"
    "    out = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n"
    "    t = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n"
    "    nisa.dma_copy(dst=t, src=x)\n"
    "    part = t[:, 0:6] if flag else t[:, 2:5]\n"
    "    rows, columns = part.shape\n"
    "    nisa.memset(t[:, 0:columns], value=3.0)\n"
    "    nisa.dma_copy(dst=out, src=t)\n"
    "    return out\n"
)


@pytest.mark.parametrize(("flag", "width"), [(True, 6), (False, 3)])
def test_the_shape_of_one_of_two_tiles_is_that_of_either(flag: bool, width: int) -> None:
    wanted = normal(1, 4, 8)
    found = executed(SHAPES, {"x": wanted.copy(), "flag": flag}).results[0]
    wanted[:, :width] = 3
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("value", "wanted"), [("t", [2.0]), ("V() if flag else a", [1.0, 2.0]), ("V() if flag else V()", [1.0])]
)
def test_the_class_of_one_of_two_values_is_known_where_both_are_of_it(value: str, wanted: list[float]) -> None:
    body = (
        f"{CHOSEN_TILE}if isinstance({value}, V):\n    nisa.memset(a, value=1.0)\nelse:\n    nisa.memset(a, value=2.0)"
    )
    made = kernel(body, COSTLY, FLAGS)
    assert opaques(made) == []
    assert [getattr(op.value, "value", None) for op in stores(made.body)] == wanted
