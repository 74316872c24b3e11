"""What a port states beside the operation itself: bounds, patterns, recurrences, what does not fit, what a gap is."""

import pytest
from tests.frontends.nki.test_lowering import CURRENT, LEGACY, TILES, kernel

from portcheck.core.dtype import FLOAT32, INT64
from portcheck.ir import (
    Check,
    Compute,
    Copy,
    Exchange,
    ExchangeKind,
    Kernel,
    Matmul,
    Op,
    Opaque,
    OpaqueKind,
    Operator,
    Outside,
    Program,
    Random,
    Scan,
    Side,
    Store,
    Symbol,
    ValueType,
    apply,
    integer,
    operations,
)  # fmt: skip
from portcheck.ir.algebra import polynomial_of
from portcheck.ir.text import parse_program, print_program
from portcheck.ir.verify import verify


def first(made: Kernel, kind: type) -> Op:
    return next(op for op in operations(made.body) if isinstance(op, kind))


def check(made: Kernel) -> Kernel:
    """`made`, which must be valid and read back."""
    program = Program(side=Side.NKI, path="port.py", kernels=(made,), launches=())
    assert verify(program) == ()
    assert parse_program(print_program(program)) == program
    return made


BOUNDS = [
    (CURRENT, "nisa.dma_copy(dst=a, src=x[0:128, 0:512], oob_mode=nisa.oob_mode.skip)", Outside.SKIP),
    (CURRENT, "nisa.dma_copy(dst=a, src=x[0:128, 0:512])", Outside.ERROR),
    (LEGACY, "nisa.dma_copy(dst=a, src=x[0:128, 0:512], oob_mode=nisa.oob_mode.skip)", Outside.SKIP),
]


@pytest.mark.parametrize(("prefix", "text", "outside"), BOUNDS, ids=["skip", "by default", "first generation"])
def test_transfer_says_what_happens_out_of_bounds(prefix: str, text: str, outside: Outside) -> None:
    copy = first(check(kernel(prefix, TILES + text)), Copy)
    assert isinstance(copy, Copy)
    assert (copy.source.outside, copy.destination.outside) == (outside, outside)


def test_shuffle_of_partitions_is_an_exchange_by_a_pattern() -> None:
    text = "nisa.nc_stream_shuffle(dst=a, src=a, shuffle_mask=[31 - i for i in range(32)])"
    made = first(check(kernel(CURRENT, TILES + text)), Exchange)
    assert isinstance(made, Exchange)
    assert (made.kind, made.pattern) == (ExchangeKind.PATTERN, tuple(range(31, -1, -1)))


@pytest.mark.parametrize("mask", ["[254] * 32", "[x.shape[0]] * 32", "[]"])
def test_shuffle_beyond_its_group_or_by_what_is_not_known_is_a_gap(mask: str) -> None:
    made = check(kernel(CURRENT, TILES + f"nisa.nc_stream_shuffle(dst=a, src=a, shuffle_mask={mask})"))
    assert not any(isinstance(op, Exchange) for op in operations(made.body))
    assert isinstance(first(made, Opaque), Opaque)


def test_recurrence_has_two_operands_and_a_carried_dtype() -> None:
    text = "nisa.tensor_tensor_scan(dst=a, data0=a, data1=a, initial=0.0, op0=nl.multiply, op1=nl.add)"
    scan = first(check(kernel(CURRENT, TILES + text)), Scan)
    assert isinstance(scan, Scan)
    assert (scan.multiplier, scan.operator, len(scan.operands)) == (Operator.MULTIPLY, Operator.ADD, 2)
    assert scan.accumulate == ValueType(FLOAT32)


def test_random_tile_names_its_distribution() -> None:
    drawn = first(check(kernel(LEGACY, "t = nl.rand((128, 512))\nnl.store(y[0:128, 0:512], t)")), Random)
    assert isinstance(drawn, Random)
    assert drawn.distribution == "uniform"


def test_print_shows_its_text_and_tensor() -> None:
    shown = first(check(kernel(CURRENT, TILES + 'nl.device_print("a is", a)')), Check)
    assert isinstance(shown, Check)
    assert (shown.message, len(shown.operands)) == ("a is", 1)


MISFITS = [
    ("a tile stored in a smaller one", "nisa.tensor_copy(dst=a[0:64, 0:512], src=b)", Store),
    ("a transfer between other totals", "nisa.dma_copy(dst=a, src=b[0:64, 0:512])", Copy),
    ("other contractions", "nisa.nc_matmul(dst=p, stationary=w[0:64, 0:128], moving=b)", Matmul),
    ("operands of other extents", "nisa.tensor_tensor(dst=a, data1=a, data2=b[0:128, 0:256], op=nl.add)", Compute),
]


@pytest.mark.parametrize(("text", "kind"), [case[1:] for case in MISFITS], ids=[case[0] for case in MISFITS])
def test_tile_that_does_not_fit_is_a_gap(text: str, kind: type) -> None:
    made = check(kernel(CURRENT, TILES + text))
    assert not any(isinstance(op, kind) for op in operations(made.body))
    assert isinstance(first(made, Opaque), Opaque)


def test_bias_of_one_element_a_partition_goes_with_a_column_of_a_tile() -> None:
    made = check(kernel(CURRENT, TILES + "nisa.activation(dst=a[0:128, 3], op=nl.exp, data=a[0:128, 3], bias=s)"))
    ranks = [len(op.type.shape) for op in operations(made.body) if isinstance(op, Compute)]
    assert ranks == [2, 2]
    assert not any(isinstance(op, Opaque) for op in operations(made.body))


AFTER = """
for i in range(4):
    at = i * 32
    part = x[at:at + 32, 0:512]
    nisa.dma_copy(dst=a[0:32, 0:512], src=part)
"""


@pytest.mark.parametrize("source", ["part", "x[at:at + 32, 0:512]", "x[i * 32:i * 32 + 32, 0:512]"])
def test_names_bound_in_a_loop_stand_at_the_last_round_after_it(source: str) -> None:
    made = check(kernel(CURRENT, TILES + AFTER + f"nisa.dma_copy(dst=a[0:32, 0:512], src={source})"))
    [*_, last] = [op for op in operations(made.body) if isinstance(op, Copy)]
    row = Symbol(last.source.axes[0].name, INT64)
    assert polynomial_of(last.source.index[0]) == polynomial_of(apply(Operator.ADD, row, integer(96)))


def test_names_bound_in_a_loop_that_is_left_are_not_known_after_it() -> None:
    left = AFTER + "    if x.shape[0] > i:\n        break\n"
    made = check(kernel(CURRENT, TILES + left + "nisa.dma_copy(dst=a[0:32, 0:512], src=part)"))
    assert not any(isinstance(op, Copy) for op in made.body)


GAPS = [
    ("nisa.topk(val_dst=a, idx_dst=b, src=a, n=16)", OpaqueKind.LIBRARY),
    ("nisa.tensor_copy(dst=a, nothing=a)", OpaqueKind.CALL),
    ("for i in missing:\n    nisa.memset(dst=a, value=0.0)", OpaqueKind.CONTROL),
    ("v = a[:, 0:512:2].view(nl.uint8)\nnisa.tensor_copy(dst=a, src=v)", OpaqueKind.DTYPE),
    ("v = a.reshape(missing)\nnisa.tensor_copy(dst=a, src=v)", OpaqueKind.MEMORY),
    ("with missing:\n    nisa.memset(dst=a, value=0.0)", OpaqueKind.SYNTAX),
    ("n = 0\nwhile n < 100:\n    n = n + 1", OpaqueKind.LIMIT),
]


@pytest.mark.parametrize(("text", "kind"), GAPS, ids=[kind for _, kind in GAPS])
def test_gap_says_what_sort_of_construct_it_is(text: str, kind: OpaqueKind) -> None:
    gap = first(check(kernel(CURRENT, TILES + text)), Opaque)
    assert isinstance(gap, Opaque)
    assert gap.kind is kind


GROWING = [
    "t = x\nfor i in [1] * 200:\n    t = t[n:m, :]\nnisa.dma_copy(dst=a, src=t[0:128, 0:512])",
    "t = x\nfor i in range(200):\n    t = t[1:, :]\nnisa.dma_copy(dst=a, src=t[0:128, 0:512])",
    "s = n\nfor i in [1] * 250:\n    s = s + m\nnisa.dma_copy(dst=a, src=x[s:s + 128, 0:512])",
    "t = x\nfor i in [1] * 60:\n    t = t.ap([[n, 128], [1, 512]], offset=n)\nnisa.dma_copy(dst=a, src=t)",
    "t = x\nfor i in [1] * 12:\n    t = t.reshape((n * 2, m // 2))[0:m, 0:n]\nnisa.dma_copy(dst=a, src=t)",
    "t = x.reshape((1, x.shape[300]))\nnisa.dma_copy(dst=a, src=t[0:1, 0:512])",
]


@pytest.mark.parametrize("text", GROWING, ids=lambda text: text.split("\n")[-2].strip())
def test_index_that_grows_without_end_has_a_text_form(text: str) -> None:
    check(kernel(CURRENT, TILES + text, "x, n, m"))
