"""Each construct of a port becomes the operations that the conventions of decision 0002 say."""

from __future__ import annotations

import pytest

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import (
    Alloc,
    Branch,
    Call,
    Cast,
    Compute,
    Copy,
    Kernel,
    Load,
    Loop,
    Opaque,
    Store,
    While,
    WriteMode,
    integer,
    operations,
)  # fmt: skip
from portcheck.ir.types import AxisKind, Space

CURRENT = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\nimport math\n\n"
LEGACY = (
    "import neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as nl\n"
    "import numpy as np\nimport math\n\n"
)


def lowered(text: str, name: str = "k", **options: object) -> Kernel:
    module = read_nki(SourceFile("port.py", text), NkiOptions(**options))  # type: ignore[arg-type]  # test shorthand
    return module.lower([name]).kernels[0]


def kernel(prefix: str, body: str, parameters: str = "x, y") -> Kernel:
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return lowered(f"{prefix}@nki.jit\ndef k({parameters}):\n{lines}")


def kinds(made: Kernel) -> list[str]:
    return [type(op).__name__ for op in operations(made.body)]


TILES = """
a = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
b = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
w = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)
"""

CURRENT_CASES = [
    ("dma_copy", "nisa.dma_copy(dst=a, src=x[0:128, 0:512])", "Copy"),
    ("dma_copy_positional", "nisa.dma_copy(a, x[0:128, 0:512])", "Copy"),
    ("tensor_copy_casts", "nisa.tensor_copy(dst=b, src=a)", "Load Cast Store"),
    ("tensor_copy_same", "nisa.tensor_copy(dst=a, src=p)", "Load Store"),
    ("memset", "nisa.memset(dst=a, value=0.0)", "Store"),
    ("zeros", "z = nl.zeros((128, 4), dtype=nl.float32, buffer=nl.sbuf)", "Alloc Store"),
    ("full", "z = nl.full((128, 1), 1e-6, dtype=nl.float32)", "Alloc Store"),
    ("tensor_tensor", "nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.add)", "Load Load Cast Compute Store"),
    ("tensor_scalar", "nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=s)", "Load Load Compute Store"),
    (
        "tensor_scalar_two",
        "nisa.tensor_scalar(dst=b, data=a, op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=s)",
        "Load Compute Load Compute Cast Store",
    ),
    (
        "scalar_tensor_tensor",
        "nisa.scalar_tensor_tensor(dst=a, data=a, op0=nl.multiply, operand0=s, op1=nl.add, operand1=b)",
        "Load Load Compute Load Cast Compute Store",
    ),
    ("activation", "nisa.activation(dst=a, op=nl.exp, data=b)", "Load Cast Compute Store"),
    (
        "activation_bias_scale",
        "nisa.activation(dst=a, op=nl.exp, data=b, bias=s, scale=0.5)",
        "Load Cast Compute Load Compute Compute Store",
    ),
    ("activation_copy", "nisa.activation(dst=b, op=nl.copy, data=a)", "Load Cast Store"),
    (
        "activation_reduce",
        "nisa.activation_reduce(dst=b, op=nl.square, data=a, reduce_op=nl.add, reduce_res=s)",
        "Load Compute Reduce Store Cast Store",
    ),
    ("tensor_reduce", "nisa.tensor_reduce(dst=s, op=nl.maximum, data=b, axis=1)", "Load Cast Reduce Store"),
    (
        "tensor_reduce_negate",
        "nisa.tensor_reduce(dst=s, op=nl.add, data=a, axis=1, negate=True)",
        "Load Reduce Compute Store",
    ),
    (
        "tensor_partition_reduce",
        "nisa.tensor_partition_reduce(dst=a[0:1, 0:512], op=nl.add, data=a)",
        "Load Reduce Store",
    ),
    (
        "tensor_scalar_reduce",
        "nisa.tensor_scalar_reduce(dst=a, data=a, op0=nl.multiply, operand0=2.0, reduce_op=nl.add, reduce_res=s)",
        "Load Compute Reduce Store Store",
    ),
    ("nc_matmul", "nisa.nc_matmul(dst=p, stationary=w, moving=b)", "Load Load Matmul Store"),
    ("nc_matmul_positional", "nisa.nc_matmul(p, w, b)", "Load Load Matmul Store"),
    ("nc_transpose", "nisa.nc_transpose(dst=p[0:128, 0:128], data=w)", "Load Transpose Cast Store"),
    ("dma_transpose", "nisa.dma_transpose(dst=w, src=x[0:128, 0:128])", "Load Transpose Cast Store"),
    ("reciprocal", "nisa.reciprocal(dst=s, data=s)", "Load Compute Store"),
    ("iota", "nisa.iota(dst=a, pattern=[[1, 512]], offset=3, channel_multiplier=2)", "Cast Cast Store"),
    (
        "affine_select",
        "nisa.affine_select(dst=a, pattern=[[-1, 512]], channel_multiplier=1, on_true_tile=a, on_false_value=0.0,"
        " cmp_op=nl.greater_equal)",
        "Load Select Store",
    ),
    (
        "range_select",
        "nisa.range_select(dst=a, on_true_tile=a, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=s, bound1=s,"
        " range_start=0, on_false_value=-3.4028235e+38)",
        "Load Cast Load Compute Load Compute Compute Select Store",
    ),
    (
        "scan",
        "nisa.tensor_tensor_scan(dst=a, data0=a, data1=b, initial=0.0, op0=nl.multiply, op1=nl.add)",
        "Load Load Cast Scan Store",
    ),
    ("where", "c = nl.where(nl.greater(a, b), a, b)", "Load Load Cast Compute Cast Compute Load Load Cast Select"),
    ("load", "t = nl.load(x[0:128, 0:512])", "Load"),
    ("load_dtype", "t = nl.load(x[0:128, 0:512], dtype=nl.float32)", "Load Cast"),
    ("store", "nl.store(x[0:128, 0:512], a)", "Load Cast Store"),
    ("wrapper_sum", "t = nl.sum(b, axis=1, keepdims=True)", "Load Cast Reduce Cast"),
    ("wrapper_matmul", "t = nl.matmul(w, b, transpose_x=True)", "Load Load Matmul"),
    ("wrapper_matmul_turned", "t = nl.matmul(w, b)", "Load Load Transpose Matmul"),
    ("reshape_view", "nisa.dma_copy(dst=a, src=x[0:65536].reshape((128, 512)))", "Copy"),
    ("broadcast_view", "nisa.dma_copy(dst=a, src=y.reshape((1, 512)).broadcast_to((128, 512)))", "Copy"),
    ("access_pattern", "nisa.dma_copy(dst=a, src=x.ap(pattern=[[512, 128], [1, 512]], offset=0))", "Copy"),
    ("select_reduce", "nisa.select_reduce(dst=a, predicate=b, on_true=a, on_false=0.0)", None),
    ("dropout", "nisa.dropout(dst=a, data=a, prob=0.1)", "Load Random Compute Select Store"),
    ("core_barrier", "nisa.core_barrier(x, (0, 1))", "Barrier"),
    ("unknown_call", "mystery(a, x)", "Call"),
    ("unknown_statement", "async def f(): pass", ""),
]


@pytest.mark.parametrize(("body", "expected"), [case[1:] for case in CURRENT_CASES], ids=[c[0] for c in CURRENT_CASES])
def test_current_construct_becomes(body: str, expected: str | None) -> None:
    made = kernel(CURRENT, TILES + body)
    found = list(kinds(made))[5:]
    if expected is None:
        assert "Opaque" not in found
    else:
        assert found == expected.split()


LEGACY_TILES = """
i = nl.arange(128)[:, None]
j = nl.arange(512)[None, :]
a = nl.load(x[i, j])
"""
LEGACY_CASES = [
    ("add", "c = a + a", "Cast Cast Compute Cast"),
    ("negate", "c = -a", "Cast Compute Cast"),
    ("float_scalar_promotes", "c = a * 2.0", "Cast Compute"),
    ("mean", "c = nl.mean(a, axis=[1])", "Cast Reduce Compute Cast"),
    ("numpy_operator", "c = nisa.tensor_reduce(np.add, a, axis=[1])", "Cast Reduce Cast"),
    ("static_cast", "c = nl.static_cast(a, nl.bfloat16)", "Cast"),
    ("copy_dtype", "c = nl.copy(a, dtype=nl.float32)", "Cast"),
    ("softmax", "c = nl.softmax(a, axis=1)", "Cast Reduce Compute Compute Reduce Compute Compute Cast"),
    ("transpose", "c = nl.transpose(a)", "Transpose"),
    ("matmul_accumulates", "p = nl.zeros((512, 512), nl.float32, buffer=nl.psum)\np += nisa.nc_matmul(a, a)",
     "Alloc Store Matmul Store"),
    ("affine_select", "c = nisa.affine_select(pred=(i >= j), on_true_tile=a, on_false_value=0.0)", "Select"),
    ("iota", "c = nisa.iota(i * 512 + j, dtype=nl.int32)", "Cast"),
    ("mgrid", "g, h = nl.mgrid[0:128, 0:512]\nb = nl.load(y[g, h])", "Load"),
    ("store", "nl.store(y[i, j], value=a)", "Cast Store"),
    ("comparison", "c = nl.less(a, 0.0)", "Cast Compute"),
    ("expand", "c = nl.load(y.reshape((1, 512))).broadcast_to((128, 512))\nd = a * c", "Load Cast Cast Compute Cast"),
    ("tile_assignment", "t = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)\nt[i, j] = a", "Alloc Store"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), [case[1:] for case in LEGACY_CASES], ids=[c[0] for c in LEGACY_CASES])
def test_legacy_construct_becomes(body: str, expected: str) -> None:
    assert kinds(kernel(LEGACY, LEGACY_TILES + body))[1:] == expected.split()


def only(made: Kernel, kind: type) -> object:
    found = [op for op in operations(made.body) if isinstance(op, kind)]
    assert len(found) == 1
    return found[0]


def test_sizes_are_named_after_the_locals_they_are_unpacked_into() -> None:
    made = kernel(
        CURRENT, "rows, dim = x.shape\nn = y.shape[0]\nz = nl.ndarray((rows, n), dtype=x.dtype, buffer=nl.hbm)"
    )
    shapes = [[getattr(size, "name", None) for size in item.type.shape] for item in made.parameters]
    assert shapes == [["rows", "dim"], ["n"]]


def test_scalar_parameter_takes_its_dtype_from_its_annotation_or_default() -> None:
    made = kernel(CURRENT, "pass", "x, eps: float, n=4, flag=True, other=None")
    assert [item.type.dtype.name for item in made.parameters] == [
        "dtype(x)", "float32", "int64", "bool", "dtype(other)",
    ]  # fmt: skip


def test_mask_names_the_same_axes_as_the_access() -> None:
    made = kernel(
        LEGACY, "i = nl.arange(128)[:, None]\nj = nl.arange(8)[None, :]\na = nl.load(x[i, j], mask=(i < 5) & (j < 3))"
    )
    load = only(made, Load)
    assert isinstance(load, Load)
    assert [axis.name for axis in load.access.axes] == ["i", "j"]
    assert [axis.kind for axis in load.access.axes] == [AxisKind.PARTITION, AxisKind.FREE]
    assert load.access.mask is not None


def test_python_and_between_masks_keeps_only_the_right_one() -> None:
    made = kernel(
        LEGACY, "i = nl.arange(128)[:, None]\nj = nl.arange(8)[None, :]\na = nl.load(x[i, j], mask=(i < 5) and (j < 3))"
    )
    load = only(made, Load)
    assert isinstance(load, Load)
    assert "'j'" in repr(load.access.mask)
    assert "'i'" not in repr(load.access.mask)


LOOPS = [
    ("legacy_affine", LEGACY, "nl.affine_range(n)", AxisKind.PARALLEL_ASSERTED),
    ("legacy_sequential", LEGACY, "nl.sequential_range(n)", AxisKind.SEQUENTIAL),
    ("legacy_range", LEGACY, "range(n)", AxisKind.SEQUENTIAL),
    ("legacy_static", LEGACY, "nl.static_range(n)", AxisKind.UNROLLED),
    ("current_affine", CURRENT, "nl.affine_range(n)", AxisKind.UNROLLED),
    ("current_range", CURRENT, "range(0, n, 128)", AxisKind.UNROLLED),
]


@pytest.mark.parametrize(("prefix", "iterated", "kind"), [case[1:] for case in LOOPS], ids=[c[0] for c in LOOPS])
def test_loop_keeps_its_meaning(prefix: str, iterated: str, kind: AxisKind) -> None:
    made = kernel(prefix, f"n = x.shape[0]\nfor i in {iterated}:\n    pass")
    loop = only(made, Loop)
    assert isinstance(loop, Loop)
    assert loop.kind is kind


def test_list_of_tiles_is_one_buffer_that_loops_index() -> None:
    body = (
        TILES
        + "parts = []\nfor i in range(3):\n    parts.append(nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf))\n"
    )
    made = kernel(CURRENT, body + "for i in range(3):\n    nisa.memset(dst=parts[i], value=0.0)")
    assert kinds(made)[5:] == ["Alloc", "Loop", "Store"]
    shapes = [op.type.shape for op in operations(made.body) if isinstance(op, Alloc)]
    assert shapes[-1] == (integer(128), integer(3), integer(8))


def test_counter_carried_by_a_loop_goes_through_a_register() -> None:
    made = kernel(CURRENT, "n = x.shape[0]\nat = 0\nfor i in range(n):\n    at = at + i\n")
    allocation = only(made, Alloc)
    assert isinstance(allocation, Alloc)
    assert (allocation.name, allocation.type.space, allocation.type.shape) == ("at", Space.REGISTER, ())


def test_tile_carried_by_a_loop_goes_through_a_buffer() -> None:
    body = "s = nl.load(x[0:128, 0:8])\nfor i in range(x.shape[0]):\n    s = nl.add(s, s)\nnl.store(y[0:128, 0:8], s)"
    made = kernel(CURRENT, body)
    assert kinds(made).count("Alloc") == 1
    assert not any(isinstance(op, Opaque) for op in operations(made.body))


def test_undecided_condition_keeps_both_arms() -> None:
    made = kernel(CURRENT, TILES + "if x.shape[0] > 3:\n    nisa.memset(a, 0.0)\nelse:\n    nisa.memset(a, 1.0)")
    branch = only(made, Branch)
    assert isinstance(branch, Branch)
    assert [type(op) for op in (*branch.then, *branch.otherwise)] == [Store, Store]


def test_decided_condition_leaves_one_arm() -> None:
    made = kernel(CURRENT, TILES + "if 2 > 3:\n    nisa.memset(a, 0.0)\nelse:\n    nisa.memset(b, 1.0)")
    store = only(made, Store)
    assert isinstance(store, Store)
    assert store.access.buffer == "b"


def test_early_return_takes_the_rest_as_its_other_arm() -> None:
    made = kernel(CURRENT, TILES + "if x.shape[0] > 3:\n    return x\nnisa.memset(a, 0.0)\nreturn y")
    branch = only(made, Branch)
    assert isinstance(branch, Branch)
    assert [type(op).__name__ for op in branch.otherwise] == ["Store", "Return"]


def test_assert_becomes_an_assumption_and_so_does_a_guard_that_raises() -> None:
    made = kernel(CURRENT, "n = x.shape[0]\nassert n % 128 == 0\nif n > 4096:\n    raise ValueError('n')")
    assert kinds(made) == ["Assume", "Assume"]


def test_helper_of_the_file_is_inlined_with_defaults_and_keywords() -> None:
    helper = (
        "def twice(t, factor=2.0, *, dst):\n"
        "    nisa.tensor_scalar(dst=dst, data=t, op0=nl.multiply, operand0=factor)\n\n"
    )
    body = "\n".join(f"    {line}" for line in (TILES.strip() + "\ntwice(a, dst=a)").splitlines())
    made = lowered(f"{CURRENT}{helper}@nki.jit\ndef k(x, y):\n{body}\n")
    assert kinds(made)[5:] == ["Load", "Compute", "Store"]


def test_recursion_ends_in_a_kept_call() -> None:
    made = lowered(f"{CURRENT}def f(t):\n    f(t)\n\n@nki.jit\ndef k(x):\n    f(x)\n")
    assert isinstance(only(made, Call), Call)


WRITE_MODES = [
    ("", [WriteMode.GROUP]),
    (", accumulate=True", [WriteMode.ADD]),
    (", accumulate=False", [WriteMode.OVERWRITE]),
    (", accumulate=(x.shape[0] > 1)", [WriteMode.ADD, WriteMode.OVERWRITE]),
]


@pytest.mark.parametrize(("argument", "modes"), WRITE_MODES)
def test_matmul_writes_its_group(argument: str, modes: list[WriteMode]) -> None:
    made = kernel(CURRENT, TILES + f"nisa.nc_matmul(dst=p, stationary=w, moving=b{argument})")
    assert [op.mode for op in operations(made.body) if isinstance(op, Store)] == modes


PROMOTIONS = [
    ("a + a", "dtype(x)"),
    ("a * 2.0", "float32"),
    ("a + 1", "dtype(x)"),
    ("nl.add(a, a, dtype=nl.bfloat16)", "bfloat16"),
    ("a + nl.load(y[i, j])", "dtype(promote(x, y))"),
]


@pytest.mark.parametrize(("expression", "dtype"), PROMOTIONS)
def test_legacy_result_dtype(expression: str, dtype: str) -> None:
    made = kernel(LEGACY, LEGACY_TILES + f"t = nl.ndarray((128, 512), dtype=nl.int8)\nnl.store(x[i, j], {expression})")
    last = [op for op in operations(made.body) if isinstance(op, Compute | Cast)]
    value = next(op for op in reversed(last) if op.via != "nl.store")
    assert value.type.dtype.name == dtype


def test_results_are_the_buffers_handed_back() -> None:
    body = (
        "o = nl.ndarray((4, 4), dtype=x.dtype, buffer=nl.shared_hbm)\n"
        "r = nl.ndarray((4, 1), dtype=x.dtype, buffer=nl.shared_hbm)\nreturn o, r"
    )
    assert kernel(CURRENT, body).results == ("o", "r")


def test_parameter_that_is_written_is_not_constant() -> None:
    made = kernel(LEGACY, LEGACY_TILES + "nl.store(y[i, j], value=a)")
    assert [item.constant for item in made.parameters] == [True, False]


def test_stated_shapes_and_dtypes_replace_symbols() -> None:
    text = f"{CURRENT}@nki.jit\ndef k(x):\n    rows, dim = x.shape\n    a = nl.load(x)\n"
    made = lowered(text, shapes=(("x", "512,4096"),), dtypes=(("x", "float16"),))
    kind = made.parameters[0].type
    assert (kind.dtype.name, [getattr(size, "value", None) for size in kind.shape]) == ("float16", [512, 4096])


def test_chained_slices_and_negative_ends_count_from_the_start() -> None:
    made = kernel(CURRENT, TILES + "nisa.dma_copy(dst=a[0:64, 8:-8][2:4, 1:5], src=x[0:2, 0:4])")
    copy = only(made, Copy)
    assert isinstance(copy, Copy)
    assert [getattr(axis.extent, "value", None) for axis in copy.destination.axes] == [2, 4]


def test_program_id_is_a_program_axis() -> None:
    made = kernel(LEGACY, "t = nl.load(x[nl.program_id(0) * 128 + nl.arange(128)[:, None], nl.arange(8)[None, :]])")
    assert [(axis.name, axis.kind) for axis in made.axes] == [("program_id[0]", AxisKind.PROGRAM)]


def test_while_with_an_unknown_condition_is_kept() -> None:
    made = kernel(CURRENT, "n = x.shape[0]\nwhile n > 1:\n    n = n // 2\n")
    assert isinstance(only(made, While), While)


def test_the_space_of_a_tile_is_compared_and_used() -> None:
    body = f"{TILES}assert a.buffer == nl.sbuf\nassert p.buffer != nl.sbuf\nassert x.buffer != nl.psum\n"
    made = kernel(CURRENT, f"{body}c = nl.ndarray((128, 512), dtype=nl.float32, buffer=p.buffer)\nn, m = x.shape")
    assert kinds(made) == ["Alloc"] * 6
    assert [op.type.space for op in operations(made.body) if isinstance(op, Alloc)][-1] is Space.PSUM
    assert kinds(kernel(CURRENT, "n, m = x.shape\nassert x.buffer == nl.private_hbm")) == ["Assume"]


def test_a_dtype_is_compared_by_its_text() -> None:
    body = f"{TILES}assert str(a.dtype) == str(nl.float32)\nassert str(b.dtype) != str(nl.float32)\n"
    assert kinds(kernel(CURRENT, body)) == ["Alloc"] * 5
