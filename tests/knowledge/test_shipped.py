"""The shipped `mappings/` load, agree with each other and answer the questions of the other rooms."""

import math

import pytest

from portcheck.core.dtype import CONCRETE
from portcheck.ir import MemoryOrder, Operator, Order, Rounding
from portcheck.knowledge import UNKNOWN, NkiVersion, Role, Semantics, load, problems

LEGACY, BETA, NEWEST = NkiVersion.parse("0.1"), NkiVersion.parse("0.2"), NkiVersion.parse("0.6")


def test_tables_do_not_contradict_each_other():
    assert list(problems(load())) == []


@pytest.mark.parametrize("name", CONCRETE)
def test_every_dtype_of_the_ir_has_facts(name):
    assert load().dtype(name).kind == CONCRETE[name].kind


@pytest.mark.parametrize("chip", ["trn1", "inf2", "trn2", "trn3"])
def test_every_hardware_number_has_a_source(chip):
    facts = load().chip(chip)
    cited = [*facts.sources.values(), *(quantity.source for quantity in facts.quantities.values())]
    cited += [rule.source for rule in facts.start_rules] + [peak.rate.source for peak in facts.peaks]
    for engine in facts.engines:
        cited += [engine.clock_ghz.source, engine.elements_per_cycle.source, engine.elements_per_cycle_16bit.source]
    assert all("aws-neuron-sdk" in source for source in cited)


@pytest.mark.parametrize(
    ("name", "semantics", "operator", "dtype", "max_ulp"),
    [
        ("rsqrtf", Semantics.COMPUTE_UNARY, Operator.RSQRT, "float32", 2),
        ("sqrtf", Semantics.COMPUTE_UNARY, Operator.SQRT, "float32", 0),
        ("exp", Semantics.COMPUTE_UNARY, Operator.EXP, "operand", 1),
        ("__sinf", Semantics.COMPUTE_UNARY, Operator.SIN, "float32", UNKNOWN),
        ("fmaxf", Semantics.COMPUTE_BINARY, Operator.MAXIMUM, "float32", 0),
        ("std::max", Semantics.COMPUTE_EXTREMUM, Operator.MAXIMUM, "operand", 0),
        ("atomicAdd", Semantics.ATOMIC_ADD, Operator.ADD, "operand", None),
        ("__half2float", Semantics.CAST, None, "float32", 0),
        ("__hfma2", Semantics.COMPUTE_TERNARY, Operator.FMA, "operand", 0),
        ("__ldg", Semantics.LOAD, None, "operand", None),
        ("cooperative_groups::thread_group::shfl_down", Semantics.EXCHANGE_DOWN, None, "operand", None),
    ],
)
def test_cuda_construct_means(name, semantics, operator, dtype, max_ulp):
    construct = load().construct(name)
    assert (construct.semantics, construct.operator) == (semantics, operator)
    assert (construct.dtype, construct.error.max_ulp) == (dtype, max_ulp)


@pytest.mark.parametrize(
    ("name", "value", "unit"), [("warp_size", 32, "lanes"), ("threads_per_block", 1024, "threads")]
)
def test_limits_of_cuda_devices_have_units_and_sources(name, value, unit):
    assert load().cuda_limit(name) == value
    assert load().limits[name].unit == unit
    assert "Programming Guide" in load().limits[name].source


def test_a_limit_nobody_stated_is_an_error():
    with pytest.raises(KeyError):
        load().cuda_limit("registers_per_lane")


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("__threadfence", MemoryOrder.SEQUENTIAL),
        ("cuda::memory_order_acquire", MemoryOrder.ACQUIRE),
        ("cuda::std::memory_order::acq_rel", MemoryOrder.ACQUIRE_RELEASE),
        ("cuda::atomic_thread_fence", None),
    ],
)
def test_order_of_a_fence_is_known_where_the_name_says_it(name, order):
    assert load().construct(name).memory_order is order


def test_shuffle_parameters_have_roles():
    construct = load().construct("__shfl_xor_sync")
    assert [item.role for item in construct.parameters] == [Role.MASK, Role.SOURCE, Role.LANE_MASK, Role.WIDTH]
    assert construct.parameters[3].default == "warpSize"


@pytest.mark.parametrize(
    ("name", "rounding"),
    [
        ("__float2int_rz", Rounding.TOWARD_ZERO),
        ("__float2int_rn", Rounding.NEAREST_EVEN),
        ("__fadd_ru", Rounding.UP),
        ("__float2half", Rounding.NEAREST_EVEN),
        ("__half2float", Rounding.EXACT),
    ],
)
def test_rounding_follows_the_name(name, rounding):
    assert load().construct(name).rounding is rounding


def test_fast_exponential_error_grows_with_its_operand():
    error = load().construct("__expf").error
    assert (error.max_ulp, error.ulp_slope) == (2, 1.173)


@pytest.mark.parametrize(
    ("name", "value"),
    [("INFINITY", math.inf), ("FLT_MAX", 3.4028234663852886e38), ("INT_MIN", -(2**31)), ("FLT_EPSILON", 2**-23)],
)
def test_numeric_macro_has_its_value(name, value):
    assert load().construct(name).value == value


@pytest.mark.parametrize(
    ("name", "version", "parameters"),
    [
        ("nki.isa.tensor_tensor", NEWEST, ["dst", "data1", "data2", "op", "engine", "name"]),
        ("nki.isa.tensor_reduce", NEWEST, ["dst", "op", "data", "axis", "negate", "keepdims", "name"]),
        (
            "neuronxcc.nki.isa.tensor_tensor",
            LEGACY,
            ["data1", "data2", "op", "*", "dtype", "mask", "engine", "**kwargs"],
        ),
        ("nki.isa.dma_compute", BETA, ["dst", "srcs", "scales", "reduce_op", "name"]),
        (
            "nki.isa.dma_compute",
            NkiVersion.parse("0.3"),
            ["dst", "srcs", "reduce_op", "scales", "unique_indices", "name"],
        ),
        ("neuronxcc.nki.language.load", LEGACY, ["src", "*", "mask", "dtype", "mode", "**kwargs"]),
        ("nki.language.load", NEWEST, ["src", "dtype"]),
    ],
)
def test_nki_parameters_stand_in_call_order(name, version, parameters):
    assert [item.name for item in load().api(name, version).parameters] == parameters


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("nki.language.load", BETA),
        ("nki.isa.activate2", NkiVersion.parse("0.3")),
        ("nki.isa.tensor_copy_dynamic_src", NkiVersion.parse("0.4")),
        ("nki.isa.tensor_tensor", LEGACY),
        ("neuronxcc.nki.language.exp", NEWEST),
        ("nki.language.fori_loop", NkiVersion.parse("0.5")),
    ],
)
def test_call_of_another_version_is_not_found_but_known(name, version):
    knowledge = load()
    assert knowledge.api(name, version) is None
    assert knowledge.api_in_any_version(name) is not None


def test_destination_and_operator_have_roles():
    call = load().api("nki.isa.activation", NEWEST)
    roles = [
        call.with_role(role)[0].name for role in (Role.DESTINATION, Role.OPERATOR, Role.SOURCE, Role.BIAS, Role.SCALE)
    ]
    assert roles == ["dst", "op", "data", "bias", "scale"]


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("nki.isa.tensor_reduce", Order.UNDOCUMENTED),
        ("nki.isa.tensor_tensor_scan", Order.SEQUENTIAL),
        ("nki.isa.nc_matmul", Order.UNDOCUMENTED),
        ("nki.isa.tensor_copy", None),
    ],
)
def test_order_of_terms_is_stated_where_documented(name, order):
    assert load().api(name, NEWEST).order is order


def test_unknown_call_has_a_nearest_name():
    assert load().nearest_api("nki.isa.tensor_tensr") == "nki.isa.tensor_tensor"


@pytest.mark.parametrize("name", ["nki.language.add", "neuronxcc.nki.language.add", "numpy.add"])
def test_operator_object_of_every_generation(name):
    assert load().operator_object(name).operator is Operator.ADD


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("nki.language.bfloat16", "bfloat16"), ("numpy.float32", "float32"), ("neuronxcc.nki.language.uint8", "uint8")],
)
def test_nki_dtype_spelling(spelling, name):
    assert load().nki_dtype(spelling).name == name


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("half", "float16"), ("unsigned int", "uint32"), ("size_t", "uint64"), ("__nv_bfloat16", "bfloat16")],
)
def test_cuda_dtype_spelling(spelling, name):
    assert load().cuda_dtype(spelling).name == name


@pytest.mark.parametrize(
    ("name", "target", "value"),
    [
        ("nki.language.tile_size.pmax", "trn2", 128),
        ("neuronxcc.nki.language.tile_size.gemm_moving_fmax", "trn1", 512),
        ("nki.language.tile_size.sbuf_min_align", "trn3", UNKNOWN),
        ("nki.language.tile_size.nothing", "trn2", None),
    ],
)
def test_tile_constant_per_target(name, target, value):
    assert load().constant(name, target) == value


@pytest.mark.parametrize("name", ["nki.isa.engine.vector", "nki.isa.vector_engine", "neuronxcc.nki.isa.engine.vector"])
def test_engine_object_of_every_spelling(name):
    assert load().engine(name) == "vector"


def test_range_of_a_square_root_excludes_zero():
    assert load().activation(Operator.SQRT).low > 0


def test_no_activation_claims_an_error_bound():
    approximated = [entry for entry in load().objects.activations.values() if entry.max_ulp is not None]
    assert {entry.max_ulp for entry in approximated} == {UNKNOWN}


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("nki.language.tile_size.psum_num_banks", "0.4", False),
        ("nki.language.tile_size.psum_num_banks", "0.5", True),
        ("nki.language.tile_size.pmax", "0.2", True),
        ("neuronxcc.nki.language.tile_size.pmax", "0.2", False),
        ("nki.isa.dma_engine.gpsimd_dma", "0.2", False),
        ("nki.isa.dma_engine.gpsimd_dma", "0.3", True),
        ("neuronxcc.nki.isa.reduce_cmd.idle", "0.1/2.21", False),
        ("neuronxcc.nki.isa.reduce_cmd.idle", "0.1", True),
        ("neuronxcc.nki.isa.nc_version.gen4", "0.1", None),
        ("nki.language.float8_e8m0fnu", "0.4", False),
        ("nki.language.exp", "0.2", True),
        ("nki.language.sum", "0.2", False),
        ("nki.isa.activation", "0.2", True),
        ("nki.isa.topk", "0.5", False),
        ("nki.isa.tensor_sort", "0.6", None),
    ],
)
def test_whether_a_version_offers_a_name_is_known(name, version, expected):
    assert load().offers(name, NkiVersion.parse(version)) is expected


def test_packed_formats_say_how_many_numbers_they_hold():
    assert [load().nki_dtype(f"nki.language.{name}").elements for name in ("float4_e2m1fn_x4", "float8_e4m3")] == [4, 1]


@pytest.mark.parametrize(
    ("name", "version", "numbers"),
    [
        ("nki.isa.max8", "0.3", {"found": 8}),
        ("neuronxcc.nki.isa.local_gather", "0.1/2.22", {"stream": 16}),
        ("nki.isa.quantize_mx", "0.4", {"group": 8, "quadrant": 32}),
        ("nki.isa.quantize_mx", "0.6", {"group": 8, "quadrant": 32}),
        ("nki.isa.memset", "0.6", {}),
    ],
)
def test_numbers_that_no_argument_states_stand_in_every_version_of_a_call(name, version, numbers):
    assert load().api(name, NkiVersion.parse(version)).numbers == numbers
