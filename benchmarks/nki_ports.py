"""Ports for timing: kernels and helpers of both generations, put together with different names and sizes."""

from collections.abc import Iterator

HEAD = '''"""Kernels of a layer, {rows} rows a step."""

from dataclasses import dataclass

import nki
import nki.isa as nisa
import nki.language as nl

P = {rows}
F = {free}


@dataclass
class Options:
    """What the kernels of this file are told."""

    epsilon: float = 1e-5
    block: int = F
    hidden: int = 4 * F


def rounded_up(value, step):
    """How many steps cover the value."""
    return (value + step - 1) // step


def load_rows(source, start, count, width, dtype=nl.float32):
    """`count` rows of `source` from `start` on, in SBUF."""
    tile = nl.ndarray((P, width), dtype=dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[0:count, 0:width], src=source[nl.ds(start, count), 0:width])
    return tile


def spread(vector, width):
    """A vector on every partition."""
    tile = nl.ndarray((P, width), dtype=vector.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=vector.reshape((1, width)).broadcast(0, P))
    return tile
'''

NORM = '''

@nki.jit
def norm_{name}(x, weight, bias, options=Options()):
    """Layer norm of the rows of x."""
    rows, width = x.shape
    assert width % {free} == 0, f"{{width}} columns do not fill blocks of {free}"
    out = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.shared_hbm)
    scale, shift = spread(weight, width), spread(bias, width)
    for step in nl.affine_range(rounded_up(rows, P)):
        start = step * P
        live = min(P, rows - start)
        tile = load_rows(x, start, live, width)
        total = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total[0:live], op=nl.add, data=tile[0:live, :], axis=1)
        center = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=center[0:live], data=total[0:live], op0=nl.multiply, operand0=1.0 / width)
        moved = nl.ndarray((P, width), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=moved[0:live], data=tile[0:live], op0=nl.subtract, operand0=center[0:live])
        square = nl.ndarray((P, width), dtype=nl.float32, buffer=nl.sbuf)
        spread_of = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(
            dst=square[0:live], op=nl.square, data=moved[0:live], reduce_op=nl.add, reduce_res=spread_of[0:live]
        )
        nisa.tensor_scalar(
            dst=spread_of[0:live], data=spread_of[0:live], op0=nl.multiply, operand0=1.0 / width,
            op1=nl.add, operand1=1e-5,
        )
        nisa.activation(dst=spread_of[0:live], op=nl.rsqrt, data=spread_of[0:live])
        nisa.tensor_scalar(dst=moved[0:live], data=moved[0:live], op0=nl.multiply, operand0=spread_of[0:live])
        nisa.tensor_tensor(dst=moved[0:live], data1=moved[0:live], data2=scale[0:live], op=nl.multiply)
        nisa.tensor_tensor(dst=moved[0:live], data1=moved[0:live], data2=shift[0:live], op=nl.add)
        nisa.dma_copy(dst=out[nl.ds(start, live), :], src=moved[0:live, :])
    return out
'''

PRODUCT = '''

@nki.jit
def product_{name}(left, right, transposed=False):
    """The product of two matrices, tile by tile, with a bias of none."""
    inner, rows = left.shape
    _, columns = right.shape
    out = nl.ndarray((rows, columns), dtype=left.dtype, buffer=nl.shared_hbm)
    for m in range(rows // P):
        for n in range(columns // F):
            sums = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.psum)
            tiles = []
            for k in range(4):
                a = nl.ndarray((P, P), dtype=left.dtype, buffer=nl.sbuf)
                b = nl.ndarray((P, F), dtype=right.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=a, src=left[k * P:(k + 1) * P, m * P:(m + 1) * P])
                nisa.dma_copy(dst=b, src=right[k * P:(k + 1) * P, n * F:(n + 1) * F])
                tiles.append((a, b))
            for a, b in tiles:
                nisa.nc_matmul(dst=sums, stationary=a, moving=b)
            done = nl.ndarray((P, F), dtype=left.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=done, src=sums)
            if transposed:
                nisa.tensor_scalar(dst=done, data=done, op0=nl.multiply, operand0=-1.0)
            nisa.dma_copy(dst=out[m * P:(m + 1) * P, n * F:(n + 1) * F], src=done)
    return out
'''

GATE = '''

def gate_of(tile, width, live):
    """SiLU of a tile."""
    made = nl.ndarray((P, width), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=made[0:live, :], op=nl.sigmoid, data=tile[0:live, :], scale=1.0)
    nisa.tensor_tensor(dst=made[0:live, :], data1=made[0:live, :], data2=tile[0:live, :], op=nl.multiply)
    return made


@nki.jit
def gate_{name}(x, y, limit: float = 7.0):
    """silu(x) * y, clipped, block by block."""
    rows, width = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    blocks = [(first, min(F, {wide} - first)) for first in range(0, {wide}, F)]
    for step in range(rounded_up(rows, P)):
        live = min(P, rows - step * P)
        for first, size in blocks:
            a = nl.ndarray((P, size), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=a[0:live], src=x[nl.ds(step * P, live), first:first + size])
            b = nl.ndarray((P, size), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=b[0:live], src=y[nl.ds(step * P, live), first:first + size])
            made = gate_of(a, size, live)
            nisa.tensor_tensor(dst=made[0:live], data1=made[0:live], data2=b[0:live], op=nl.multiply)
            nisa.tensor_scalar(
                dst=made[0:live], data=made[0:live], op0=nl.minimum, operand0=limit, op1=nl.maximum, operand1=-7.0
            )
            nisa.dma_copy(dst=out[nl.ds(step * P, live), first:first + size], src=made[0:live])
    return out
'''

SOFTMAX = '''

@nki.jit
def softmax_{name}(x):
    """Softmax of the rows of x."""
    rows, width = x.shape
    out = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.shared_hbm)
    for step in range(rounded_up(rows, P)):
        start, live = step * P, min(P, rows - step * P)
        tile = load_rows(x, start, live, width)
        highest = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=highest[0:live], op=nl.maximum, data=tile[0:live], axis=1, negate=True)
        raised = nl.ndarray((P, width), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(
            dst=raised[0:live], op=nl.exp, data=tile[0:live], bias=highest[0:live], reduce_op=nl.add,
            reduce_res=total[0:live],
        )
        nisa.reciprocal(dst=total[0:live], data=total[0:live])
        nisa.tensor_scalar(dst=raised[0:live], data=raised[0:live], op0=nl.multiply, operand0=total[0:live])
        nisa.dma_copy(dst=out[nl.ds(start, live), :], src=raised[0:live])
    return out
'''

LEGACY_HEAD = '''"""A kernel of the first generation."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
'''

LEGACY = '''

@nki.jit
def attention_{name}(q, k, v, scale=0.125):
    """Attention of one head, {rows} queries a step."""
    seq, width = q.shape
    out = nl.ndarray((seq, width), dtype=q.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange({rows})[:, None]
    i_f = nl.arange({free})[None, :]
    i_w = nl.arange(64)[None, :]
    for step in nl.affine_range((seq + {rows} - 1) // {rows}):
        inside = step * {rows} + i_p < seq
        queries = nl.load(q[step * {rows} + i_p, i_w], mask=inside)
        keys = nl.load_transpose2d(k[i_f, i_w.T] if False else k[0:{free}, 0:64])
        turned = nisa.nc_transpose(queries)
        scores = nl.zeros((nl.par_dim({rows}), {free}), dtype=nl.float32, buffer=nl.psum)
        scores[i_p, i_f] = nisa.nc_matmul(turned, keys)
        scaled = nisa.tensor_scalar(scores, op0=np.multiply, operand0=scale, dtype=nl.float32)
        highest = nisa.tensor_reduce(np.max, scaled, axis=[1], dtype=nl.float32, negate=True)
        raised = nisa.activation(op=nl.exp, data=scaled, bias=highest, scale=1.0)
        total = nisa.tensor_reduce(np.add, raised, axis=[1], dtype=nl.float32)
        share = nl.divide(raised, total)
        result = nl.zeros((nl.par_dim({rows}), 64), dtype=nl.float32, buffer=nl.psum)
        for block in nl.affine_range({free} // 128):
            part = nisa.nc_transpose(share[:, nl.ds(block * 128, 128)])
            values = nl.load(v[nl.ds(block * 128, 128), 0:64])
            result += nl.matmul(part, values, transpose_x=True)
        nl.store(out[step * {rows} + i_p, i_w], value=result, mask=inside)
    return out
'''

PARTS = (NORM, PRODUCT, GATE, SOFTMAX)


def hundred_lines(count: int) -> Iterator[str]:
    """Ports of about a hundred lines, no two alike."""
    for number in range(count):
        if number % 4 == 3:
            parts = [LEGACY.format(name=f"{number}_{turn}", rows=128, free=512) for turn in range(3)]
            yield LEGACY_HEAD + "".join(parts)
            continue
        yield file_of(number, [PARTS[(number + turn) % len(PARTS)] for turn in range(2)])


def large_file(size: int) -> str:
    """A port of about `size` characters: many kernels, the helpers once."""
    count = 1
    while len(text := file_of(0, [PARTS[turn % len(PARTS)] for turn in range(count)])) < size:
        count += 1
    return text


def copies(times: int) -> str:
    """The same kernels `times` over under different names."""
    return file_of(0, list(PARTS) * times)


def file_of(number: int, parts: list[str]) -> str:
    free = 512 >> number % 2
    head = HEAD.format(rows=128, free=free)
    names = (f"{number}_{place}" for place in range(len(parts)))
    made = [part.format(name=name, free=free, wide=2048) for part, name in zip(parts, names, strict=True)]
    return head + "".join(made)
