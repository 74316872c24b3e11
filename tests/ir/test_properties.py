"""What holds of every valid program."""

from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from tests.ir.strategies import KINDS, programs

from portcheck.ir import Call, Op, Opaque, Operation, Program, coverage, definitions, kernel_operations, rebuild
from portcheck.ir.text import IrTextError, parse_program, print_program
from portcheck.ir.verify import check_valid, verify

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
search = settings(
    max_examples=5_000, derandomize=True, database=None, phases=[Phase.generate], suppress_health_check=slow
)
many = settings(max_examples=60, deadline=None, suppress_health_check=slow)


@many
@given(programs())
def test_text_form_reads_back_as_the_same_program(program: Program) -> None:
    read = parse_program(print_program(program))
    assert read == program
    assert repr(read) == repr(program)  # 1, 1.0 and True are equal, and so are 0.0 and -0.0


@many
@given(programs())
def test_text_form_is_one_line_an_operation(program: Program) -> None:
    lines = print_program(program).split("\n")
    ids = [line.split("%", 1)[1].split(":")[0].split(" ")[0] for line in lines if line.lstrip().startswith("%")]
    assert [int(id) for id in ids] == [op.id for op in kernel_operations(program)]


@many
@given(programs())
def test_programs_made_of_defined_things_are_valid(program: Program) -> None:
    assert verify(program) == ()
    check_valid(program)


@many
@given(programs())
def test_rebuilding_without_a_change_gives_the_same_body(program: Program) -> None:
    for kernel in program.kernels:
        assert rebuild(kernel.body, lambda op: (op,)) == kernel.body


@many
@given(programs())
def test_coverage_counts_every_operation_once(program: Program) -> None:
    for kernel in program.kernels:
        known = definitions(kernel)
        counted = coverage(kernel.body)
        assert counted.total == len(known)
        assert counted.total - counted.understood == sum(isinstance(op, Opaque | Call) for op in known.values())
        assert 0 <= counted.share <= 1


@many
@given(programs(), st.data())
def test_damaged_text_is_refused_or_read_but_never_a_crash(program: Program, data: st.DataObject) -> None:
    text = print_program(program)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 6)))
    damaged = text[:start] + data.draw(st.text('%"[]():,@-<>\n x1', max_size=3)) + text[end:]
    try:
        parse_program(damaged)
    except IrTextError as error:
        assert error.line > 0


@given(st.text())
def test_text_of_any_kind_is_refused_with_a_line(text: str) -> None:
    with pytest.raises(IrTextError) as caught:
        parse_program(text)
    assert caught.value.line > 0


def test_strategies_know_every_operation() -> None:
    assert set(get_args(Op)) == KINDS


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # of what it finds, which may be large
@pytest.mark.parametrize("kind", sorted(KINDS, key=str), ids=str)
def test_strategies_make_every_operation(kind: type[Operation]) -> None:
    find(programs(), lambda program: any(isinstance(op, kind) for op in kernel_operations(program)), settings=search)
