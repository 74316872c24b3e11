"""Kernels that keep to every limit, to be mutated: each step stands on a line of its own."""

HEAD = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
"""

PRODUCT = (
    HEAD
    + """
def product(x, w):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)
    right = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
    sums = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.dma_copy(dst=left, src=x)
    nisa.dma_copy(dst=right, src=w)
    nisa.nc_matmul(dst=sums, stationary=left, moving=right)
    wide = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=wide, src=sums)
    turned = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=wide[0:128, 0:128])
    block = nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.sbuf)
    nisa.nc_transpose(dst=block, data=wide[0:32, 0:32], engine=nisa.engine.vector)
    nisa.tensor_copy(dst=wide[0:128, 0:128], src=turned)
    nisa.tensor_copy(dst=wide[32:64, 128:160], src=block)
    nisa.dma_copy(dst=out, src=wide)
    return out
"""
)

VECTORS = (
    HEAD
    + """
def vectors(x, y):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    first = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    second = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    third = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    fourth = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    fifth = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    scale = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    shift = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    flags = nl.ndarray((128, 512), dtype=nl.uint8, buffer=nl.sbuf)
    bits = nl.ndarray((128, 512), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=first, src=x)
    nisa.memset(dst=scale, value=2.0)
    nisa.memset(dst=shift, value=0.0)
    nisa.memset(dst=flags, value=1)
    nisa.iota(dst=bits, pattern=[[1, 512]], offset=0, channel_multiplier=0)
    nisa.tensor_scalar(dst=second, data=first, op0=nl.multiply, operand0=scale)
    nisa.tensor_tensor(dst=third, data1=first, data2=second, op=nl.add)
    nisa.tensor_tensor(dst=bits, data1=bits, data2=bits, op=nl.bitwise_and)
    nisa.activation(dst=third, op=nl.exp, data=third, scale=scale, bias=shift)
    nisa.tensor_reduce(dst=total, op=nl.add, data=third, axis=1)
    nisa.scalar_tensor_tensor(dst=fourth, data=third, op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=second)
    nisa.tensor_copy_predicated(dst=fourth, src=third, predicate=flags)
    nisa.affine_select(dst=fifth, pattern=[[1, 512]], channel_multiplier=-1, on_true_tile=fourth, on_false_value=0.0)
    nisa.reciprocal(dst=fifth, data=fifth)
    nisa.tensor_copy(dst=third[64:128, 0:512], src=fifth[0:64, 0:512])
    nisa.tensor_copy(dst=third[0:16, 0:512], src=fifth[96:112, 0:512])
    nisa.tensor_copy(dst=fourth, src=third, engine=nisa.engine.vector)
    nisa.tensor_copy(dst=fifth, src=fourth, engine=nisa.engine.gpsimd)
    nisa.dma_copy(dst=out, src=fifth)
    return out
"""
)

GATHERED = (
    HEAD
    + """
def gathered(x, indices):
    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    data = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    places = nl.ndarray((128, 64), dtype=nl.uint32, buffer=nl.sbuf)
    taken = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=data, src=x)
    nisa.dma_copy(dst=places, src=indices)
    nisa.nc_n_gather(dst=taken, data=data, indices=places)
    moved = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    nisa.nc_stream_shuffle(dst=moved, src=taken, shuffle_mask=[31 - i for i in range(32)])
    nisa.dma_copy(dst=out, src=moved, dge_mode=nisa.dge_mode.none)
    return out
"""
)

RANDOM = (
    HEAD
    + """
def random(x):
    out = nl.ndarray((128, 64), dtype=nl.uint32, buffer=nl.shared_hbm)
    bits = nl.ndarray((128, 64), dtype=nl.uint32, buffer=nl.sbuf)
    seeds = nl.ndarray((128, 6), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.memset(dst=seeds, value=1)
    nisa.rng(dst=bits, engine=nisa.engine.vector)
    nisa.dma_copy(dst=out, src=bits)
    return out
"""
)

SCALED = (
    HEAD
    + """
def scaled(x, w):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
    b = nl.ndarray((128, 2048), dtype=nl.bfloat16, buffer=nl.sbuf)
    left = nl.ndarray((128, 128), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    right = nl.ndarray((128, 512), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    left_scale = nl.ndarray((128, 128), dtype=nl.uint8, buffer=nl.sbuf)
    right_scale = nl.ndarray((128, 512), dtype=nl.uint8, buffer=nl.sbuf)
    sums = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=b, src=w)
    nisa.quantize_mx(dst=left, src=a, dst_scale=left_scale)
    nisa.quantize_mx(dst=right, src=b, dst_scale=right_scale)
    nisa.nc_matmul_mx(dst=sums, stationary=left, moving=right, stationary_scale=left_scale, moving_scale=right_scale)
    done = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=done, src=sums)
    nisa.dma_copy(dst=out, src=done)
    return out
"""
)

OLD_HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np

@nki.jit
"""

OLD_PRODUCT = (
    OLD_HEAD
    + """
def product(x, w):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(x[0:128, 0:128], dtype=nl.bfloat16)
    right = nl.load(w[0:128, 0:512], dtype=nl.bfloat16)
    sums = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
    sums += nisa.nc_matmul(left, right)
    more = nl.matmul(left, right, transpose_x=True)
    turned = nisa.nc_transpose(left)
    small = nisa.nc_transpose(left[0:32, 0:32], engine=nisa.vector_engine)
    done = nl.add(nl.copy(sums), more)
    nl.store(out, value=done)
    return out
"""
)

OLD_VECTORS = (
    OLD_HEAD
    + """
def vectors(x, y):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    first = nl.load(x[0:128, 0:512], dtype=nl.float32)
    second = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
    scale = nl.full((128, 1), 2.0, dtype=nl.float32, buffer=nl.sbuf)
    bits = nl.zeros((128, 512), dtype=nl.int32, buffer=nl.sbuf)
    flags = nl.zeros((128, 512), dtype=nl.uint8, buffer=nl.sbuf)
    third = nisa.tensor_tensor(first, second, op=np.add)
    third = nisa.activation(op=np.exp, data=third, scale=scale, bias=scale)
    bits = nisa.tensor_tensor(bits, bits, op=np.bitwise_and)
    total = nisa.tensor_reduce(np.add, third, axis=1)
    fourth = nisa.scalar_tensor_tensor(data=third, op0=np.multiply, operand0=2.0, op1=np.add, operand1=second)
    fourth = nl.exp(fourth)
    nisa.tensor_copy_predicated(src=third, dst=fourth, predicate=flags)
    fifth = nisa.tensor_copy(fourth, engine=nisa.gpsimd_engine)
    nisa.dma_copy(dst=out, src=fifth)
    return out
"""
)

OLD_MASKED = (
    OLD_HEAD
    + """
def masked(x, w):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(x[0:128, 0:128], dtype=nl.bfloat16)
    right = nl.load(w[0:128, 0:640], dtype=nl.bfloat16)
    rows = nl.arange(128)[:, None]
    columns = nl.arange(640)[None, :]
    sums = nisa.nc_matmul(left, right[rows, columns], mask=(columns < 512))
    nl.store(out, value=nl.copy(sums[0:128, 0:512]))
    return out
"""
)

OLD_DOUBLED = (
    OLD_HEAD
    + """
def doubled(x, w):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(x[0:128, 0:2, 0:128], dtype=nl.float8_e4m3)
    right = nl.load(w[0:128, 0:2, 0:512], dtype=nl.float8_e4m3)
    sums = nisa.nc_matmul(left, right, perf_mode="double_row_gen3")
    nl.store(out, value=nl.copy(sums))
    return out
"""
)
