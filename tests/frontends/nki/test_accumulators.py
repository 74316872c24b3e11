"""The accumulator registers of the engines, scans that continue, and products in special modes."""

from __future__ import annotations

import pytest
from tests.frontends.nki.instructions import kinds, obstacles, on_tiles

from portcheck.ir import (
    Alloc,
    Compute,
    Const,
    Kernel,
    Load,
    Matmul,
    Operator,
    Reduce,
    Scan,
    Store,
    operations,
)  # fmt: skip
from portcheck.ir.types import Space

EXP = "nisa.activation(dst=a, op=nl.exp, data=a, reduce_op=nl.add, reduce_res={res}, reduce_cmd=nisa.reduce_cmd.{cmd})"


def registers(made: Kernel) -> list[str]:
    return [op.name for op in operations(made.body) if isinstance(op, Alloc) and op.type.space is Space.REGISTER]


def test_registers_that_nobody_reads_are_left_out() -> None:
    made = on_tiles(EXP.format(res="s", cmd="reset_reduce"))
    assert kinds(made) == "Load Compute Reduce Store Store"
    assert registers(made) == []


def test_a_reduction_nobody_reads_is_left_out() -> None:
    assert kinds(on_tiles(EXP.format(res="None", cmd="reset_reduce"))) == "Load Compute Store"


def test_an_idle_instruction_leaves_the_registers_alone() -> None:
    assert kinds(on_tiles("nisa.activation(dst=a, op=nl.exp, data=a)")) == "Load Compute Store"


def test_a_reduction_continues_from_the_registers_of_its_engine() -> None:
    made = on_tiles(EXP.format(res="None", cmd="reset_reduce") + "\n" + EXP.format(res="s", cmd="reduce"))
    assert obstacles(made) == []
    assert registers(made) == ["scalar_accumulator"]
    assert isinstance(made.body[0], Alloc)
    assert made.body[0].name == "scalar_accumulator"
    assert kinds(made) == "Load Compute Reduce Store Store Load Compute Reduce Load Compute Store Store Store"


def test_registers_outlive_the_iterations_of_a_loop() -> None:
    loop = "for n in range(x.shape[0]):\n    " + EXP.format(res="None", cmd="reduce")
    made = on_tiles(EXP.format(res="None", cmd="reset") + "\n" + loop + "\n" + EXP.format(res="s", cmd="idle"))
    assert obstacles(made) == []
    writes = [op for op in operations(made.body) if isinstance(op, Store) and op.access.buffer == "scalar_accumulator"]
    reads = [op for op in operations(made.body) if isinstance(op, Load) and op.access.buffer == "scalar_accumulator"]
    assert (len(writes), len(reads)) == (2, 2)


def test_the_engines_have_registers_of_their_own() -> None:
    body = EXP.format(res="None", cmd="reduce") + (
        "\nnisa.tensor_scalar_reduce(dst=a, data=a, op0=nl.multiply, operand0=2.0, reduce_op=nl.maximum, reduce_res=s,"
        " reduce_cmd=nisa.reduce_cmd.reduce)"
    )
    assert registers(on_tiles(body)) == ["scalar_accumulator", "vector_accumulator"]


def test_a_loaded_register_begins_with_the_given_number() -> None:
    made = on_tiles(
        "nisa.exponential(dst=a, src=a, max_value=s, reduce_res=s, reduce_cmd=nisa.reduce_cmd.load_reduce,"
        " reduce_init=s)"
    )
    assert obstacles(made) == []
    assert kinds(made) == "Load Load Compute Compute Reduce Load Compute Store Store"


RESETS = [("add", 0.0), ("multiply", 1.0), ("maximum", float("-inf")), ("minimum", float("inf"))]


@pytest.mark.parametrize(("operator", "value"), RESETS, ids=[case[0] for case in RESETS])
def test_a_reset_stores_what_the_reduction_begins_with(operator: str, value: float) -> None:
    call = (
        "nisa.activate2(dst=a, op=nl.copy, data=a, imm0=0.0, imm1=0.0, op0=nl.bypass, op1=nl.bypass,"
        f" reduce_op=nl.{operator}, reduce_res={{}}, reduce_cmd=nisa.reduce_cmd.{{}})"
    )
    made = on_tiles(call.format("None", "reset") + "\n" + call.format("s", "reduce"))
    first = next(op for op in operations(made.body) if isinstance(op, Store))
    assert first.access.buffer == "scalar_accumulator"
    assert isinstance(first.value, Const)
    assert first.value.value == value


def test_a_negated_reduction_leaves_the_register_as_it_is() -> None:
    made = on_tiles(
        "nisa.tensor_scalar_reduce(dst=a, data=a, op0=nl.add, operand0=0.5, reduce_op=nl.add, reduce_res=s,"
        " reduce_res_negate=True)"
    )
    assert kinds(made) == "Load Compute Reduce Compute Store Store"


def test_range_select_of_sdk_2_28_ignores_command_and_filling() -> None:
    call = (
        "nisa.range_select(dst=a, on_true_tile=a, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=s, bound1=s,"
        " reduce_cmd=nisa.reduce_cmd.idle, reduce_res=s, on_false_value=0.0)"
    )
    forced, followed = (on_tiles(call, version=version) for version in ("0.2/2.28", "0.2/2.27"))
    smallest = -3.4028234663852886e38
    fills = [{node.value for node in _constants(made)} for made in (forced, followed)]
    assert smallest in fills[0]
    assert smallest not in fills[1]
    assert registers(forced) == []
    assert registers(followed) == ["vector_accumulator"]


def _constants(made: Kernel) -> list[Const]:
    found = [getattr(op, "on_false", None) for op in operations(made.body)]
    return [item for item in found if isinstance(item, Const)]


SCANS = [
    ("subtracts the state", "op0=nl.multiply, op1=nl.subtract", "subtract", "multiply", 0),
    ("reversed product", "op0=nl.multiply, op1=nl.add, reverse0=True, reverse1=True", "add", "multiply", 0),
    ("state minus data", "op0=nl.subtract, op1=nl.add, reverse0=True", "add", "add", 1),
    ("data minus product", "op0=nl.multiply, op1=nl.subtract, reverse1=True", "add", "multiply", 1),
    ("mirrored comparison", "op0=nl.less, op1=nl.add, reverse0=True", "add", "greater", 0),
]


@pytest.mark.parametrize(
    ("operators", "operator", "multiplier", "negated"), [c[1:] for c in SCANS], ids=[c[0] for c in SCANS]
)
def test_a_scan_with_reversed_operands(operators: str, operator: str, multiplier: str, negated: int) -> None:
    made = on_tiles(f"nisa.tensor_tensor_scan(dst=a, data0=a, data1=p, initial=s, {operators})")
    scan = next(op for op in operations(made.body) if isinstance(op, Scan))
    negations = [op for op in operations(made.body) if isinstance(op, Compute) and op.operator is Operator.NEGATE]
    assert (scan.operator, scan.multiplier, len(negations)) == (operator, multiplier, negated)
    assert obstacles(made) == []


def test_a_cumulative_difference_takes_the_state_from_the_data() -> None:
    made = on_tiles("nisa.tensor_scalar_cumulative(dst=b, src=b, op0=nl.multiply, op1=nl.subtract, imm0=2.0)")
    scan = next(op for op in operations(made.body) if isinstance(op, Scan))
    assert (scan.multiplier, scan.operator) == (Operator.SUBTRACT, Operator.ADD)
    assert isinstance(scan.initial, Const)
    assert scan.initial.value == 0.0
    assert obstacles(made) == []


def test_a_cumulative_sum_that_continues_leaves_its_end_in_the_registers() -> None:
    call = (
        "nisa.tensor_scalar_cumulative(dst=b, src=b, op0=nl.multiply, op1=nl.add, imm0=2.0,"
        " reduce_cmd=nisa.reduce_cmd.{})"
    )
    made = on_tiles(call.format("reset_reduce") + "\n" + call.format("reduce"))
    scans = [op for op in operations(made.body) if isinstance(op, Scan)]
    assert [scan.initial is None for scan in scans] == [True, False]
    assert registers(made) == ["vector_accumulator"]
    assert len([op for op in operations(made.body) if isinstance(op, Reduce)]) == 2


def test_a_product_of_paired_rows_contracts_two_dimensions() -> None:
    tiles = (
        "l = nl.ndarray((128, 2, 64), dtype=nl.float8_e4m3, buffer=nl.sbuf)\n"
        "r = nl.ndarray((128, 2, 512), dtype=nl.float8_e4m3, buffer=nl.sbuf)\n"
        "nisa.nc_matmul(dst=p[0:64, :], stationary=l, moving=r, perf_mode=nisa.matmul_perf_mode.double_row)"
    )
    made = on_tiles(tiles)
    assert obstacles(made) == []
    products = [op for op in operations(made.body) if isinstance(op, Matmul)]
    assert [[getattr(extent, "value", None) for extent in op.type.shape] for op in products] == [[64, 512]] * 2
    assert kinds(made) == "Load Load Load Load Matmul Matmul Compute Store"


def test_a_transposing_product_is_the_product_with_its_moving_tile() -> None:
    made = on_tiles("nisa.nc_matmul(dst=p[0:128, 0:128], stationary=w, moving=w, is_transpose=True)")
    assert kinds(made) == "Load Load Matmul Store"


DERIVED = ["gelu_dx", "silu_dx", "erf_dx", "gelu_apprx_sigmoid_dx"]


@pytest.mark.parametrize("function", DERIVED)
def test_a_derivative_is_made_of_known_functions(function: str) -> None:
    made = on_tiles(f"nisa.activation(dst=a, op=nl.{function}, data=a)\nc = nl.{function}(a)\nnl.store(y, c)")
    assert obstacles(made) == []
    assert kinds(made).count("Compute") >= 6


def test_parameterised_and_magnitude_functions() -> None:
    made = on_tiles(
        "nisa.activate2(dst=a, op=nl.prelu, data=a, imm0=s, imm1=0.0, op0=nl.multiply, op1=nl.bypass, relu_param=0.1)\n"
        "nisa.tensor_tensor(dst=a, data1=a, data2=a, op=nl.abs_max)\nc = nl.abs_min(a, a)\nnl.store(y, c)"
    )
    assert obstacles(made) == []
    assert "Select" in kinds(made)


NATIVE = [
    ("integers on gpsimd", "dst=i, data1=i, data2=i, op=nl.add", 0),
    ("asked of vector", "dst=i, data1=i, data2=i, op=nl.add, engine=nisa.engine.vector", 3),
    ("a float destination", "dst=a, data1=i, data2=i, op=nl.add", 2),
    ("unlike operands", "dst=i, data1=i, data2=u, op=nl.add", 3),
    ("bit patterns", "dst=i, data1=i, data2=i, op=nl.bitwise_and, engine=nisa.engine.vector", 0),
]


@pytest.mark.parametrize(("arguments", "casts"), [case[1:] for case in NATIVE], ids=[case[0] for case in NATIVE])
def test_integers_go_through_float32_except_on_gpsimd(arguments: str, casts: int) -> None:
    assert kinds(on_tiles(f"nisa.tensor_tensor({arguments})")).count("Cast") == casts


AXES = [("0.2", [2]), ("0.3", [1])]


@pytest.mark.parametrize(("version", "dimensions"), AXES)
def test_the_first_free_axis_meant_the_last_one_in_0_2(version: str, dimensions: list[int]) -> None:
    made = on_tiles(
        "t = nl.ndarray((128, 8, 64), dtype=nl.float32, buffer=nl.sbuf)\n"
        "nisa.tensor_reduce(dst=a[:, 0:8], op=nl.add, data=t, axis=1)\n",
        version=version,
    )
    reduction = next(op for op in operations(made.body) if isinstance(op, Reduce))
    assert list(reduction.dimensions) == dimensions


SPACES = [("sbuf", "sbuf on_chip"), ("psum", "psum on_chip"), ("shared_hbm", "hbm")]


@pytest.mark.parametrize(("space", "words"), SPACES, ids=[case[0] for case in SPACES])
def test_what_is_asked_of_a_memory_space_is_decided(space: str, words: str) -> None:
    for word in ("hbm", "on_chip", "psum", "sbuf"):
        made = on_tiles(f"if nl.is_{word}(nl.{space}):\n    nisa.memset(a, value=0.0)")
        assert kinds(made) == ("Store" if word in words.split() else "")


GENERATIONS = [("trn1", False), ("trn2", False), ("trn3", True)]


@pytest.mark.parametrize(("target", "is_last"), GENERATIONS)
def test_the_generation_of_the_chip_is_decided(target: str, is_last: bool) -> None:
    for test in ("nisa.get_nc_version() >= nisa.nc_version.gen4", "nisa.get_nc_version() > 3"):
        made = on_tiles(f"if {test}:\n    nisa.memset(a, value=0.0)", target=target)
        assert kinds(made) == ("Store" if is_last else "")
