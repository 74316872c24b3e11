"""Going through programs: what each operation reads, writes and holds; rebuilding; coverage."""

from dataclasses import replace

import pytest
from tests.ir.program_text import last_of, program_of

from portcheck.ir import (
    Barrier,
    Const,
    Coverage,
    Load,
    Op,
    Ref,
    Store,
    Symbol,
    accesses,
    coverage,
    definitions,
    expressions,
    kernel_operations,
    operands,
    operations,
    reads,
    rebuild,
    regions,
    writes,
)  # fmt: skip

NESTED = (
    "%20: branch %5",
    "  %21: loop i = 0 to 4 step 1",
    "    %22: store ss = %3",
    "  %23: barrier block",
    "else",
    "  %24: while",
    "    test",
    "      %25: fence block",
    "    condition %5",
    "    body",
    "      %26: barrier warp",
)


def test_operations_come_before_what_they_hold() -> None:
    assert [op.id for op in operations([last_of(*NESTED)])] == [20, 21, 22, 23, 24, 25, 26]


def test_regions_are_in_the_order_they_may_run() -> None:
    branch = last_of(*NESTED)
    assert [[op.id for op in region] for region in regions(branch)] == [[21, 23], [24]]
    assert [[op.id for op in region] for region in regions(regions(branch)[1][0])] == [[25], [26]]


def test_definitions_are_all_operations_by_id() -> None:
    program = program_of(*NESTED)
    known = definitions(program.kernels[0])
    assert list(known) == [op.id for op in kernel_operations(program)]
    assert all(op.id == id for id, op in known.items())


TOUCHES = [
    ("%9 = load x[0] -> float16", ("x",), ()),
    ("%9: store ss = %3", (), ("ss",)),
    ("%9: copy tile[0] = y[0]", ("y",), ("tile",)),
    ("%9 = atomic add y[0] value(%3) -> float32", ("y",), ("y",)),
    ("%9: store ss += %3", ("ss",), ("ss",)),
    ("%9: store ss = %3 group", ("ss",), ("ss",)),
    ("%9: copy tile[0] += y[0]", ("y", "tile"), ("tile",)),
    ("%9 = random philox() state(y) -> float32", ("y",), ("y",)),
    ("%9 = random philox(1) -> float32", (), ()),
    ("%9: return y, tile", ("y", "tile"), ()),
    ("%9: call f(%3) reads(x, y) writes(ss)", ("x", "y"), ("ss",)),
    ('%9: opaque "?" reads(x) writes(y)', ("x",), ("y",)),
    ("%9 = compute exp(%3) -> float32", (), ()),
    ("%9: barrier block", (), ()),
]


@pytest.mark.parametrize(("line", "read", "written"), TOUCHES, ids=[line for line, _, _ in TOUCHES])
def test_buffers_an_operation_touches(line: str, read: tuple[str, ...], written: tuple[str, ...]) -> None:
    op = last_of(line)
    assert reads(op) == read
    assert writes(op) == written


def test_copy_reads_before_it_writes() -> None:
    assert [access.buffer for access in accesses(last_of("%9: copy tile[0] = y[0]"))] == ["y", "tile"]


# Each operand is its own number, so that the list tells which were found and in what order.
OPERANDS = [
    ("%9 = load x[1] mask(true) fill(2) -> float16", []),
    ("%9: store y[1] = 2", [2]),
    ("%9 = compute fma(1, 2, 3) -> float32", [1, 2, 3]),
    ("%9 = cast 1 -> float32", [1]),
    ("%9 = reduce add(1) lanes(2) accumulate(float32) -> float32", [1]),
    ("%9 = scan add(1, 2) dimension(0) initial(3) -> float32", [1, 2]),
    ("%9 = matmul 1, 2 accumulate(float32) -> float32", [1, 2]),
    ("%9 = transpose 1 permutation(0) -> float32", [1]),
    ("%9 = exchange xor(1) lane(2) width(3) -> float32", [1, 2]),
    ("%9 = select(true, 2, 3) -> float32", [True, 2, 3]),
    ("%9 = atomic add y[0] value(1) -> float32", [1]),
    ("%9 = atomic exchange y[0] value(1) compare(2) -> float32", [1, 2]),
    ("%9 = random g(1, 2) -> float32", [1, 2]),
    ("%9: loop i = 1 to 2 step 3", []),
    ("%9: branch true", [True]),
    ("%9: call f(1, 2)", [1, 2]),
    ("%9: assume true", [True]),
    ("%9: check trap", [True]),
    ("%9: check print operands(1, 2)", [True, 1, 2]),
    ("%9: barrier block", []),
    ("%9 = barrier block participants(2) combine(add) operand(1) -> int32", [1]),
    ('%9: opaque "?" operands(1)', [1]),
    ("%9: return y", []),
]


@pytest.mark.parametrize(("line", "values"), OPERANDS, ids=[line for line, _ in OPERANDS])
def test_operands_of_an_operation(line: str, values: list[object]) -> None:
    assert [operand.value for operand in operands(last_of(line)) if isinstance(operand, Const)] == values


EXPRESSIONS = [
    ("%9 = load tile[a, b] over(p: free < c) mask(d) fill(e) -> float16[f]", "abcdef"),
    ("%9: store y[a] = v", "va"),
    ("%9: copy tile[c] over(p: free < d) = y[a] mask(b)", "abcd"),
    ("%9 = compute exp(a) mask(b) -> float32[c]", "abc"),
    ("%9 = reduce add(a) lanes(b) lanes_mask(c) accumulate(float32) mask(d) -> float32[e]", "abcde"),
    ("%9 = scan add(a) lanes(b) lanes_mask(c) initial(d) mask(e) -> float32[f]", "abcdef"),
    ("%9 = atomic add y[c] value(a) compare(b) limit(d) -> float32[e]", "abcde"),
    ("%9 = barrier block participants(b) combine(add) operand(a) -> int32[c]", "abc"),
    ("%9: check print operands(a, b)", "ab"),
    ("%9 = exchange xor(a) lane(b) width(c) lanes_mask(d) -> float32", "abcd"),
    ("%9: loop i = a to b step c", "abc"),
    ("%9: loop i = a while b next c", "abc"),
    ("%9: alloc t: float32[a, b]", "ab"),
    ("%9 = call f(a) -> float32[b]", "ab"),
]


@pytest.mark.parametrize(("line", "names"), EXPRESSIONS, ids=[line for line, _ in EXPRESSIONS])
def test_expressions_of_an_operation(line: str, names: str) -> None:
    found = [expression.name for expression in expressions(last_of(line)) if isinstance(expression, Symbol)]
    assert found == list(names)


def test_rebuilding_can_drop_and_repeat_operations_at_every_depth() -> None:
    def change(op: Op) -> tuple[Op, ...]:
        if isinstance(op, Barrier):
            return ()
        return (op, replace(op, id=100)) if isinstance(op, Store) else (op,)

    [rebuilt] = rebuild([last_of(*NESTED)], change)
    assert [op.id for op in operations([rebuilt])] == [20, 21, 22, 100, 24, 25]


def test_rebuilding_shows_operations_with_their_regions_rebuilt() -> None:
    seen = []

    def change(op: Op) -> tuple[Op, ...]:
        seen.append(op.id)
        return (op,)

    rebuild([last_of(*NESTED)], change)
    assert seen == [22, 21, 23, 25, 26, 24, 20]


COVERAGE = [
    ((), Coverage(5, 5)),
    (("%9: barrier block",), Coverage(6, 6)),
    (('%9: opaque "?"',), Coverage(5, 6)),
    (("%9: call f()",), Coverage(5, 6)),
    (("%9: branch %5", '  %10: opaque "?"'), Coverage(6, 7)),
]


@pytest.mark.parametrize(("lines", "expected"), COVERAGE, ids=[" ".join(lines) for lines, _ in COVERAGE])
def test_coverage_counts_what_was_understood(lines: tuple[str, ...], expected: Coverage) -> None:
    assert coverage(program_of(*lines).kernels[0].body) == expected


def test_nothing_is_wholly_covered() -> None:
    assert coverage(()).share == 1.0


def test_load_is_referred_to_by_its_id() -> None:
    store = last_of("%9: store ss = %3")
    assert isinstance(store, Store)
    assert isinstance(store.value, Ref)
    assert isinstance(definitions(program_of().kernels[0])[store.value.id], Load)
