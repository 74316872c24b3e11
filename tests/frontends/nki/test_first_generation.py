"""Ports of the first generation: what its calls give, which dtype it has, and where nothing is written."""

from __future__ import annotations

import pytest

from portcheck.core.dtype import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    INT8,
    INT16,
    INT32,
    TFLOAT32,
    UINT8,
    UINT16,
    UINT32,
    DType,
)  # fmt: skip
from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.frontends.nki.values.arithmetic import constant_part, known
from portcheck.frontends.nki.values.promotion import promoted
from portcheck.ir import (
    Alloc,
    Collective,
    CollectiveKind,
    Const,
    Expr,
    Kernel,
    Load,
    Loop,
    Opaque,
    Operator,
    Space,
    Store,
    Symbol,
    integer,
    operations,
    substitute,
)  # fmt: skip
from portcheck.ir.verify import verify

PRELUDE = (
    "import neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as nl\n"
    "import numpy as np\n\n"
)


def kernel(body: str, parameters: str = "x, y", **options: object) -> Kernel:
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    source = SourceFile("port.py", f"{PRELUDE}@nki.jit\ndef k({parameters}):\n{lines}")
    program = read_nki(source, NkiOptions(**options)).lower(["k"])  # type: ignore[arg-type]  # test shorthand
    assert not verify(program)
    return program.kernels[0]


def not_understood(made: Kernel) -> list[str]:
    return [op.reason for op in operations(made.body) if isinstance(op, Opaque)]


def written(expression: Expr) -> str:
    match expression:
        case Const(value):
            return str(value)
        case Symbol(name):
            return name
        case _:
            return "..."


def stored(made: Kernel, buffer: str) -> list[Store]:
    return [op for op in operations(made.body) if isinstance(op, Store) and op.access.buffer == buffer]


def buffer(made: Kernel, name: str) -> Alloc:
    return next(op for op in operations(made.body) if isinstance(op, Alloc) and op.name == name)


PROMOTIONS = [
    (INT32, FLOAT16, FLOAT16),
    (UINT16, TFLOAT32, TFLOAT32),
    (FLOAT32, BFLOAT16, FLOAT32),
    (FLOAT16, BFLOAT16, FLOAT32),
    (INT16, INT32, INT32),
    (UINT8, UINT16, UINT16),
    (UINT16, INT32, INT32),
    (UINT8, INT16, INT16),
    (INT8, UINT8, INT16),
    (INT8, UINT16, INT32),
    (INT16, UINT16, INT32),
    (INT32, UINT32, FLOAT32),
    (BOOL, BOOL, BOOL),
    (INT8, BOOL, INT16),
    (BFLOAT16, BOOL, BFLOAT16),
]


@pytest.mark.parametrize(("left", "right", "expected"), PROMOTIONS, ids=[f"{a}-{b}" for a, b, _ in PROMOTIONS])
def test_two_dtypes_are_promoted_as_the_documents_say(left: DType, right: DType, expected: DType) -> None:
    assert promoted([left, right]) == promoted([right, left]) == expected


RESULTS = [
    ("c = a + 1", FLOAT32),
    ("c = nl.add(h, 1.5)", FLOAT32),
    ("c = nl.add(h, 2)", BFLOAT16),
    ("c = nl.add(h, np.float16(2))", FLOAT32),
    ("c = nl.add(h, nl.bfloat16(1.5))", BFLOAT16),
    ("c = nisa.activation(op=nl.exp, data=h, bias=s)", BFLOAT16),
    ("c = nisa.tensor_scalar(h, np.add, s)", BFLOAT16),
    ("c = nisa.tensor_tensor(h, a, np.add)", FLOAT32),
    ("c = nl.less(a, 0.0)", BOOL),
    ("c = nl.equal(a, h, dtype=nl.uint8)", UINT8),
]
TILES = """
a = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
h = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
"""


@pytest.mark.parametrize(("body", "expected"), RESULTS, ids=[case[0] for case in RESULTS])
def test_a_call_without_dtype_gives(body: str, expected: DType) -> None:
    made = kernel(f"{TILES}{body}\nc[0:128, 0:512] = c")
    assert buffer(made, "c").type.dtype == expected


def test_a_shape_of_a_parameter_that_is_taken_whole_is_a_shape() -> None:
    made = kernel("o = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\nnl.store(o, nl.load(x))\nreturn o")
    assert not not_understood(made)
    assert [written(size) for size in buffer(made, "o").type.shape] == ["x.shape[0]", "x.shape[1]"]


def test_what_a_loop_is_told_about_scheduling_does_not_change_its_range() -> None:
    made = kernel("for i in nl.sequential_range(2, 8, directives=nki.compiler.no_reorder()):\n  t = nl.load(x[i])")
    loop = next(op for op in operations(made.body) if isinstance(op, Loop))
    assert [written(part) for part in (loop.values.start, loop.values.stop)] == ["2", "8"]  # type: ignore[union-attr]  # a range


def test_when_a_tile_is_initialised_does_not_change_what_it_holds() -> None:
    made = kernel("p = nl.zeros((128, 4), nl.float32, buffer=nl.psum, lazy_initialization=True)")
    assert not not_understood(made)
    assert buffer(made, "p").type.space is Space.PSUM
    assert len(stored(made, "p")) == 1


ARRAYS = [
    ("np.identity(128, dtype=np.int8), dtype=nl.bfloat16", BFLOAT16, ["128", "128"]),
    ("np.identity(n=128, dtype=np.int8)", INT8, ["128", "128"]),
    ("np.arange(8, dtype=np.int32)[:, None] * 3", INT32, ["8", "1"]),
    ("np.arange(0, 64, 2, dtype=np.uint8)", UINT8, ["32"]),
    ("np.zeros((4, 8), dtype=np.float16)", FLOAT16, ["4", "8"]),
]


@pytest.mark.parametrize(("array", "dtype", "shape"), ARRAYS, ids=[case[0] for case in ARRAYS])
def test_an_array_of_the_host_is_a_constant_in_device_memory(array: str, dtype: DType, shape: list[str]) -> None:
    made = kernel(f"c = nl.shared_constant({array})\nt = nl.load(c)")
    assert not not_understood(made)
    alloc = buffer(made, "c")
    assert (alloc.type.dtype, alloc.type.space) == (dtype, Space.GLOBAL)
    assert [str(known(size)) for size in alloc.type.shape] == shape


def test_an_array_whose_dtype_nobody_stated_is_not_guessed() -> None:
    assert not_understood(kernel("c = nl.shared_constant(np.arange(8))")) == [
        "nl.shared_constant: the constant is not understood"
    ]


def test_an_element_of_an_array_is_a_number() -> None:
    made = kernel("s = np.arange(8) * 3\nt = nl.load(x[nl.ds(s[2], 4), 0:8])")
    loads = [op for op in operations(made.body) if isinstance(op, Load)]
    assert [constant_part(substitute(loads[0].access.index[0], {"p": integer(0)}))] == [6]


def test_the_index_variables_of_a_grid_have_names() -> None:
    made = kernel("w = nl.mgrid[0:128, 0:4, 0:8, 0:2]\nt = nl.load(x[w.p, w.x * 16 + w.y * 2 + w.z])")
    assert not not_understood(made)
    load = next(op for op in operations(made.body) if isinstance(op, Load))
    assert [written(size) for size in load.type.shape] == ["128", "4", "8", "2"]


def test_limits_of_a_dtype_are_numbers_where_it_is_known() -> None:
    made = kernel("t = nl.full((128, 4), nl.finfo(nl.float32).min, dtype=nl.float32)")
    assert [written(op.value) for op in stored(made, "t")] == ["-3.4028234663852886e+38"]
    assert not not_understood(kernel("t = nl.full((128, 4), nl.finfo(x.dtype).max, dtype=x.dtype)"))


CHOICE = "d = nl.bfloat16 if fast else nl.float32\ne = d\nt = nl.ndarray((128, 4), dtype=d, buffer=nl.sbuf)"


def test_a_dtype_that_depends_on_a_parameter_is_a_symbol_unless_stated() -> None:
    made = kernel(CHOICE, "x, fast=True")
    assert str(buffer(made, "t").type.dtype) == "dtype(d)"
    stated = kernel(CHOICE, "x, fast=True", dtypes=(("d", "bfloat16"),))
    assert buffer(stated, "t").type.dtype == BFLOAT16


def test_a_stated_shape_says_how_many_dimensions_a_tensor_has() -> None:
    made = kernel("t = nl.load(x)", shapes=(("x", "16,8,4"),))
    load = next(op for op in operations(made.body) if isinstance(op, Load))
    assert [written(size) for size in load.type.shape] == ["16", "8", "4"]


def test_a_mask_that_is_no_bound_on_the_position_is_not_guessed_at() -> None:
    body = TILES + "f = nl.arange(512)[None, :]\np = nl.arange(128)[:, None]\n"
    for mask in ("f == 3", "(f * f) < 5", "f // 2 < 3"):
        assert len(not_understood(kernel(f"{body}c = nl.sum(a[p, f], axis=1, mask={mask})"))) == 1
    assert not not_understood(kernel(f"{body}c = nl.sum(a[p, f], axis=1, mask=(f < 3) & (p >= 2))"))


def test_an_axis_of_a_product_that_its_mask_may_mean_twice_is_not_guessed() -> None:
    body = "a = nl.load(x)\nf = nl.arange(128)[None, :]\np = nl.arange(128)[:, None]\n"
    product = "c = nisa.nc_matmul(a[p, f], a[p, f], mask={})"
    assert len(not_understood(kernel(body + product.format("f < 3")))) == 1
    assert not not_understood(kernel(body + product.format("p < 3")))
    assert not not_understood(kernel(body + "c = nisa.nc_matmul(a[p, f][f < 3], a[p, f])"))


def test_a_tile_joined_with_what_is_no_tile_is_not_understood() -> None:
    made = kernel(TILES + "total = nl.loop_reduce(s, op=np.add, loop_indices=[0])")
    assert not_understood(made) == ["nl.loop_reduce: what it is combined with is not understood"]
    assert not_understood(kernel(TILES + "s[0:128, 0:1] = nl.loop_reduce(s, op=np.subtract, loop_indices=[0])"))


def test_a_tensor_that_is_loaded_whole_or_by_a_loop_variable_holds_tiles() -> None:
    made = kernel("n = x.shape[0]\nt = nl.load(x)")
    assert [len(op.type.shape) for op in operations(made.body) if isinstance(op, Load)] == [2]
    made = kernel("for i in nl.affine_range(x.shape[0]):\n  t = nl.load(x[i])")
    assert [len(op.type.shape) for op in operations(made.body) if isinstance(op, Load)] == [2]


def test_a_default_is_named_by_its_library_as_it_is_imported() -> None:
    choice = "nisa.select_reduce(dst=a, predicate=m, on_true=h, on_false=0.0, reduce_res=s, reduce_cmd={})"
    body = TILES + "m = nl.ndarray((128, 512), dtype=nl.uint8, buffer=nl.sbuf)\n"
    assert not not_understood(kernel(body + choice.format("nisa.reduce_cmd.reset_reduce")))


def test_of_two_kinds_of_loop_the_one_in_order_stands_for_both() -> None:
    made = kernel(
        "r = nl.affine_range if p > 0.0 else nl.sequential_range\nfor i in r(4):\n  t = nl.load(x[i])", "x, p=0.0"
    )
    assert [str(op.kind) for op in operations(made.body) if isinstance(op, Loop)] == ["sequential"]


def test_the_generation_of_the_chip_is_that_of_the_target() -> None:
    body = "n = 2 if nisa.get_nc_version() == nisa.nc_version.gen3 else 4\nt = nl.ndarray((128, n), dtype=nl.float32)"
    sizes = {target: written(buffer(kernel(body, target=target), "t").type.shape[1]) for target in ("trn1", "trn2")}
    assert sizes == {"trn1": "4", "trn2": "2"}


def test_a_tuple_is_chosen_element_by_element() -> None:
    made = kernel("n, m = (nl.num_programs(0), 2) if nl.program_ndim() != 0 else (1, 2)\nt = nl.load(x[0:128, 0:m])")
    assert [written(size) for op in operations(made.body) if isinstance(op, Load) for size in op.type.shape] == [
        "128",
        "2",
    ]


def test_how_often_a_loop_runs_may_be_a_symbol_of_its_own() -> None:
    text = (
        "n = mystery(x.shape[0])\nfor i in nl.affine_range(n):\n  t = nl.load(x[i * 128 + nl.arange(128)[:, None], 0])"
    )
    assert not not_understood(kernel(text))
    varying = "for i in nl.affine_range(4):\n  for j in nl.affine_range(mystery(i)):\n    t = nl.load(x[0:128, 0:4])"
    assert not_understood(kernel(varying))


LOADED = "t = nl.load(x[0:128, 0:8])\nm = elsewhere(3)\n"


@pytest.mark.parametrize(
    "call",
    [
        "nl.multiply(t, 2.0, mask=m)",
        "nisa.activation(nl.exp, t, mask=m)",
        "nl.store(y[0:128, 0:8], t, mask=m)",
        "nl.rms_norm(t, t, axis=1, n=m)",
        "nl.zeros((128, 8), dtype=nl.float32, buffer=m)",
    ],
)
def test_an_argument_that_is_not_known_is_not_taken_to_be_left_out(call: str) -> None:
    assert len(not_understood(kernel(f"{LOADED}u = {call}"))) == 1


@pytest.mark.parametrize("call", ["nl.multiply(t, 2.0, mask=None)", "nl.rms_norm(t, t, axis=1, n=m2)"])
def test_an_argument_that_is_none_or_a_number_is_read(call: str) -> None:
    assert not_understood(kernel(f"{LOADED}u = {call}", "x, y, m2")) == []


def test_the_length_of_a_parameter_is_a_number_and_that_of_a_tensor_its_first_size() -> None:
    tile = "nl.zeros((len(x), len(z)), dtype=nl.float32)"
    made = kernel(f"nl.store(y[0:len(x), 0:len(z)], {tile})\na, b = x.shape", "x, y, z")
    (store,) = [op for op in operations(made.body) if isinstance(op, Store) and op.access.buffer == "y"]
    assert [written(axis.extent) for axis in store.access.axes if axis.extent is not None] == ["a", "len(z)"]


def test_a_tile_that_is_set_under_a_mask_is_not_set_elsewhere() -> None:
    made = kernel("i = nl.arange(128)[:, None]\nt = nisa.memset((128, 8), 0.0, dtype=nl.float32, mask=i < y)")
    assert not_understood(made) == []
    assert [op.access.mask is not None for op in operations(made.body) if isinstance(op, Store)] == [True]


def test_a_module_that_hands_on_what_its_package_has_is_that_package() -> None:
    call = "t = nisa.neuron_isa.memset((128, 8), 0.0, dtype=nl.float32)"
    assert not_understood(kernel(call)) == []


AXES = (
    ("[i]", (0,)),
    ("i", (0,)),
    ("(1, i)", (1, 0)),
    ("[i + 1]", None),
    ("[i, 0]", None),
    ("-1", None),
    ("[]", None),
    ("y", None),
)


@pytest.mark.parametrize(("axes", "wanted"), AXES, ids=[axes for axes, _ in AXES])
def test_program_instances_reduce_along_axes_that_are_known(axes: str, wanted: tuple[int, ...] | None) -> None:
    body = f"i = nl.program_id(0)\nt = nl.load(x[i])\nnl.store(x[i], nl.all_reduce(t, np.add, program_axes={axes}))"
    made = kernel(body)
    found = [op for op in operations(made.body) if isinstance(op, Collective)]
    assert [op.program_axes for op in found] == ([] if wanted is None else [wanted])
    assert bool(not_understood(made)) == (wanted is None)
    assert all((op.kind, op.operator) == (CollectiveKind.REDUCE, Operator.ADD) for op in found)
