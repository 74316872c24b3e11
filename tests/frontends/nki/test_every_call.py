"""Every call that the tables have of the current generation is lowered, in the newest version that has it."""

from __future__ import annotations

import pytest
from tests.frontends.nki.instructions import obstacles, on_tiles

from portcheck.knowledge import Semantics, load

NO_CALLS = (Semantics.DECORATOR, Semantics.TYPE, Semantics.LAUNCH)
PROPERTIES = ("buffer", "device_value", "dtype", "is_identity", "name", "ndim", "offset", "shape", "sim_value", "size")
GAPS = {
    "nki.isa.topk": "how the result lies in the partitions is not documented",
    "nki.collectives.all_gather_v": "how much each rank sends is known at run time",
    "nki.collectives.all_to_all_v": "how much each rank sends is known at run time",
    "nki.collectives.collective_permute_implicit_current_processing_rank_id": "the order of the ring is not documented",
    "nki.language.NkiTensor.indirect": "the size of a group depends on the engine that uses the view",
    "nki.isa.rand_get_state": "what the state of a generator is made of is not documented",
    "nki.isa.rand_set_state": "what the state of a generator is made of is not documented",
    "nki.language.NkiTensor.strides": "a property",
}

UNARY = [
    "abs",
    "arctan",
    "ceil",
    "copy",
    "cos",
    "erf",
    "erf_dx",
    "exp",
    "floor",
    "gelu",
    "gelu_apprx_sigmoid",
    "gelu_apprx_sigmoid_dx",
    "gelu_dx",
    "log",
    "mish",
    "negative",
    "reciprocal",
    "relu",
    "rsqrt",
    "sigmoid",
    "sign",
    "silu",
    "silu_dx",
    "sin",
    "softplus",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "logical_not",
    "softmax",
    "transpose",
    "load",
    "zeros_like",
    "empty_like",
    "gelu_apprx_tanh",
]
BINARY = [
    "abs_max",
    "abs_min",
    "add",
    "divide",
    "equal",
    "fmod",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "not_equal",
    "power",
    "subtract",
]
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]
REDUCTIONS = ["all", "max", "mean", "min", "prod", "sum", "var"]
MX = (
    "q = nl.ndarray((128, 128), dtype=nl.float8_e5m2_x4, buffer=nl.sbuf)\n"
    "z = nl.ndarray((128, 128), dtype=nl.uint8, buffer=nl.sbuf)\n"
)
GROUP = "g = ncc.ReplicaGroup([[0, 1]])\n"
CALLS = {
    **{f"nki.language.{name}": f"nl.store(y, nl.{name}(a))" for name in UNARY},
    **{f"nki.language.{name}": f"nl.store(y, nl.{name}(a, a))" for name in BINARY},
    **{f"nki.language.{name}": f"nl.store(y, nl.{name}(i, i))" for name in BITS},
    **{f"nki.language.{name}": f"nl.store(y, nl.{name}(a, axis=1))" for name in REDUCTIONS},
    **{
        f"nki.language.{name}": f"for n in nl.{name}(3):\n    nisa.memset(a, value=0.0)"
        for name in ("affine_range", "dynamic_range", "sequential_range", "static_range")
    },
    **{
        f"nki.language.{name}": f"nisa.memset(nl.{name}((128, 8), nl.float32), value=0.0)"
        for name in ("ndarray", "ones", "rand", "zeros")
    },
    **{
        f"nki.language.is_{name}": f"assert nl.is_{name}(nl.sbuf) in (True, False)"
        for name in ("hbm", "on_chip", "psum", "sbuf")
    },
    "nki.collectives.ReplicaGroup": GROUP,
    "nki.collectives.all_gather": GROUP + "ncc.all_gather([a], [a], g, 0)",
    "nki.collectives.all_reduce": GROUP + "ncc.all_reduce([a], [a], g, nl.add)",
    "nki.collectives.all_to_all": GROUP + "ncc.all_to_all([a], [a], g, 0)",
    "nki.collectives.collective_permute": "ncc.collective_permute([a], [a], [(0, 1), (1, 0)])",
    "nki.collectives.collective_permute_implicit": GROUP + "ncc.collective_permute_implicit([[a]], [[a]], g)",
    "nki.collectives.collective_permute_implicit_reduce": GROUP
    + "ncc.collective_permute_implicit_reduce([[a]], [[a]], [[a]], g, nl.add)",
    "nki.collectives.rank_id": "r = ncc.rank_id()",
    "nki.collectives.reduce_scatter": GROUP + "ncc.reduce_scatter([a], [a], g, 0, nl.maximum)",
    "nki.isa.NkiInstruction.depends_on": "first = nisa.memset(a, 1.0)\nnisa.memset(b, 1.0).depends_on(first)",
    "nki.isa.activate2": "nisa.activate2(a, nl.exp, a, 1.0, s, nl.multiply, nl.add)",
    "nki.isa.activation": "nisa.activation(a, nl.exp, a, bias=s, scale=2.0)",
    "nki.isa.activation_reduce": "nisa.activation_reduce(a, nl.exp, a, nl.add, s)",
    "nki.isa.affine_select": "nisa.affine_select(a, [[1, 512]], 1, a, 0.0)",
    "nki.isa.bn_aggr": "nisa.bn_aggr(a[:, 0:2], a[:, 0:6])",
    "nki.isa.bn_stats": "nisa.bn_stats(a[:, 0:6], a)",
    "nki.isa.core_barrier": "nisa.core_barrier(y, (0, 1))",
    "nki.isa.dma_compute": "nisa.dma_compute(y, [a, b], nl.add, scales=[1.0, 1.0])",
    "nki.isa.dma_copy": "nisa.dma_copy(y, a, priority=1)",
    "nki.isa.dma_transpose": "nisa.dma_transpose(a[0:128, 0:128], x[0:128, 0:128])",
    "nki.isa.dropout": "nisa.dropout(a, a, s)",
    "nki.isa.exponential": "nisa.exponential(a, a, s)",
    "nki.isa.get_nc_sub_version": "v = nisa.get_nc_sub_version()",
    "nki.isa.get_nc_version": "if nisa.get_nc_version() < nisa.nc_version.gen4:\n    unknown_call(a)",
    "nki.isa.iota": "nisa.iota(i, [[1, 512]], 3, 4)",
    "nki.isa.local_gather": "nisa.local_gather(a[:, 0:32], a, u[:, 0:2])",
    "nki.isa.max8": "nisa.max8(a[:, 0:8], b)",
    "nki.isa.memset": "nisa.memset(a, 1.0)",
    "nki.isa.nc_find_index8": "nisa.nc_find_index8(u[:, 0:8], a, b[:, 0:8])",
    "nki.isa.nc_match_replace8": "nisa.nc_match_replace8(a, a, b[:, 0:8], 0.0)",
    "nki.isa.nc_matmul": "nisa.nc_matmul(p, w, b, True, True, tile_position=(0, 0), tile_size=(128, 128))",
    "nki.isa.nc_matmul_mx": MX + "nisa.nc_matmul_mx(p[:, 0:128], q, q, z, z, accumulate=False)",
    "nki.isa.nc_n_gather": "nisa.nc_n_gather(a, a, u)",
    "nki.isa.nc_stream_shuffle": "nisa.nc_stream_shuffle(a, a, [255] * 31 + [0])",
    "nki.isa.nc_transpose": "nisa.nc_transpose(a[0:128, 0:128], a[:, 0:128])",
    "nki.isa.nonzero_with_count": "nisa.nonzero_with_count(i[:, 0:9], a[:, 0:8])",
    "nki.isa.quantize_mx": MX + "nisa.quantize_mx(q, b, z)",
    "nki.isa.rand2": "nisa.rand2(a, s, 1.0)",
    "nki.isa.range_select": "nisa.range_select(a, a, nl.less, nl.greater, s, s, reduce_res=s)",
    "nki.isa.reciprocal": "nisa.reciprocal(a, a)",
    "nki.isa.register_alloc": "r = nisa.register_alloc(3)",
    "nki.isa.register_load": "r = nisa.register_alloc()\nnisa.register_load(r, i[0:1, 0:1])",
    "nki.isa.register_move": "r = nisa.register_alloc()\nnisa.register_move(r, 3)",
    "nki.isa.register_store": "r = nisa.register_alloc(2)\nnisa.register_store(i[0:1, 0:1], r)",
    "nki.isa.rng": "nisa.rng(u)",
    "nki.isa.scalar_tensor_tensor": "nisa.scalar_tensor_tensor(a, a, nl.multiply, s, nl.add, b)",
    "nki.isa.select_reduce": "nisa.select_reduce(a, u, b, s, reverse_pred=True)",
    "nki.isa.sendrecv": "nisa.sendrecv(a, a, 1, 0, 0)",
    "nki.isa.sequence_bounds": "c = nl.ndarray((1, 2, 512), dtype=nl.int32)\nnisa.sequence_bounds(c, i[0:1, :])",
    "nki.isa.set_rng_seed": "nisa.set_rng_seed(u[0:1, 0:1])",
    "nki.isa.tensor_copy": "nisa.tensor_copy(a, p)",
    "nki.isa.tensor_copy_dynamic_dst": "nisa.tensor_copy_dynamic_dst(dst=a, src=b)",
    "nki.isa.tensor_copy_dynamic_src": "nisa.tensor_copy_dynamic_src(dst=a, src=b)",
    "nki.isa.tensor_copy_predicated": "nisa.tensor_copy_predicated(a, 1.0, u, reverse_pred=True)",
    "nki.isa.tensor_partition_reduce": "nisa.tensor_partition_reduce(a[0:1, :], nl.add, a)",
    "nki.isa.tensor_reduce": "nisa.tensor_reduce(s, nl.maximum, a, 1, negate=True, keepdims=True)",
    "nki.isa.tensor_scalar": "nisa.tensor_scalar(a, a, nl.subtract, s, True, nl.abs, None)",
    "nki.isa.tensor_scalar_cumulative": "nisa.tensor_scalar_cumulative(a, a, nl.add, nl.maximum, s)",
    "nki.isa.tensor_scalar_reduce": "nisa.tensor_scalar_reduce(a, a, nl.add, 1.0, nl.minimum, s)",
    "nki.isa.tensor_tensor": "nisa.tensor_tensor(a, a, b, nl.power)",
    "nki.isa.tensor_tensor_scan": "nisa.tensor_tensor_scan(a, a, b, s, nl.multiply, nl.add)",
    "nki.language.NkiTensor.ap": "nisa.dma_copy(y, a.ap([[512, 128], [1, 4]]))",
    "nki.language.NkiTensor.broadcast": "nisa.dma_copy(y, s.broadcast(1, 8))",
    "nki.language.NkiTensor.expand_dim": "nisa.dma_copy(y, a.expand_dim(1))",
    "nki.language.NkiTensor.flatten_dims": "nisa.dma_copy(y, a.reshape((128, 4, 128)).flatten_dims(1, 2))",
    "nki.language.NkiTensor.get_pattern": "nisa.dma_copy(y, a.ap(a[:, 0:4].get_pattern()))",
    "nki.language.NkiTensor.is_contiguous": "if not a.is_contiguous() or a[:, 0:8:2].is_contiguous():\n"
    "    unknown_call(a)",
    "nki.language.NkiTensor.is_indirect": "if a.is_indirect():\n    unknown_call(a)",
    "nki.language.NkiTensor.permute": "nisa.dma_copy(y, a.reshape((128, 4, 128)).permute((0, 2, 1)))",
    "nki.language.NkiTensor.rearrange": "nisa.dma_copy(y, a.rearrange(('p', ('f', 'g')), ('p', 'g', 'f'), {'f': 4}))",
    "nki.language.NkiTensor.reinterpret_cast": "nisa.dma_copy(y, a.reinterpret_cast(nl.uint8))",
    "nki.language.NkiTensor.reshape": "nisa.dma_copy(y, a.reshape((128, 4, 128)))",
    "nki.language.NkiTensor.reshape_dim": "nisa.dma_copy(y, a.reshape_dim(1, (4, -1)))",
    "nki.language.NkiTensor.select": "nisa.dma_copy(y, a.select(1, 3))",
    "nki.language.NkiTensor.slice": "nisa.dma_copy(y, a.slice(1, 2, 8, 2))",
    "nki.language.NkiTensor.squeeze_dim": "nisa.dma_copy(y, a.expand_dim(1).squeeze_dim(1))",
    "nki.language.NkiTensor.vector_select": "x0, x1 = x.shape\nnisa.dma_copy(a, x.vector_select(0, i[:, 0:1]))",
    "nki.language.NkiTensor.view": "nisa.dma_copy(y, a.view(nl.bfloat16))",
    "nki.language.broadcast_to": "nisa.dma_copy(y, nl.broadcast_to(s, (128, 8)))",
    "nki.language.device_print": "nl.device_print('a', a)",
    "nki.language.dropout": "nl.store(y, nl.dropout(a, 0.1))",
    "nki.language.ds": "nisa.memset(a[:, nl.ds(3, 4)], value=0.0)",
    "nki.language.expand_dims": "nisa.dma_copy(y, nl.expand_dims(a, 1))",
    "nki.language.fori_loop": "def f(n):\n    nisa.memset(a[:, nl.ds(n, 1)], value=0.0)\nnl.fori_loop(0, 512, f)",
    "nki.language.full": "nl.store(y, nl.full((128, 8), 2.0, nl.float32))",
    "nki.language.gather_flattened": "nl.store(y, nl.gather_flattened(a, u))",
    "nki.language.invert": "nl.store(y, nl.invert(i))",
    "nki.language.load_transpose2d": "nisa.dma_copy(a[0:64, 0:128], nl.load_transpose2d(x[0:128, 0:64]))",
    "nki.language.matmul": "nisa.tensor_copy(a[:, 0:128], nl.matmul(w, w, transpose_x=True))",
    "nki.language.no_reorder": "with nl.no_reorder():\n    nisa.memset(a, value=0.0)",
    "nki.language.num_programs": "n = nl.num_programs(0)",
    "nki.language.program_id": "n = nl.program_id(0)",
    "nki.language.program_ndim": "n = nl.program_ndim()",
    "nki.language.random_seed": "nl.random_seed(u[0:1, 0:1])",
    "nki.language.rms_norm": "nl.store(y, nl.rms_norm(a, b, 1, 512, compute_dtype=nl.float32))",
    "nki.language.shared_constant": "c = nl.shared_constant(np.identity(128, dtype=np.float32))\n"
    "nisa.dma_copy(a[:, 0:128], c)",
    "nki.language.shared_identity_matrix": "nisa.tensor_copy(w, nl.shared_identity_matrix(128, nl.bfloat16))",
    "nki.language.store": "nl.store(y, a)",
    "nki.language.where": "nl.store(y, nl.where(a, a, a))",
    "nki.language.while_loop": "r = nisa.register_alloc(3)\ndef f(r):\n    nisa.register_load(r, i[0:1, 0:1])\n"
    "    return r\nnl.while_loop(r, f)",
}  # fmt: skip


def wanted() -> dict[str, str]:
    """The calls of the current generation, each with the newest version that has it."""
    found = {}
    for name, entry in load().apis.items():
        is_call = entry.latest.semantics not in NO_CALLS and not name.endswith(tuple(f".{word}" for word in PROPERTIES))
        if name.startswith("nki.") and is_call:
            found[name] = entry.latest.until
    return found


@pytest.mark.parametrize("name", sorted(wanted()))
def test_a_call_of_the_tables_is_understood(name: str) -> None:
    assert (name in CALLS) != (name in GAPS), f"{name} needs a text that shows it"
    if name in CALLS:
        version = {"": "0.6", "0.4": "0.3"}[wanted()[name]]
        assert obstacles(on_tiles(CALLS[name], version=version)) == []
