"""Statements, definitions and expressions that NKI texts of both generations are made of."""

CURRENT = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\nimport nki.collectives as nccl\n"
LEGACY = "import neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as nl\n"
HEADS = """
@nki.jit
def k(x, y, n=4):

@nki.jit(mode='trace')
def k(x, y, n: int, *, flag=False):

@nki.jit
def k(x, y, *rest, n=0.5, **more):

def k(x, y, n):

class K:
  @nki.jit
  def k(x, y, n):

@nki.baremetal
def k(x, y, n):
""".strip("\n").split("\n\n")
DEFINITIONS = """
P = 128

SIZES = [1, 2, P]

def helper(t, s=2.0):
    nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=s)
    return t

def twice(a): return a + a

def pick(a, b, c):
    if c: return a
    return b

@dataclass(frozen=True)
class Config:
    eps: float = 1e-6
    tile: int = P
    def rows(self, n): return (n + self.tile - 1) // self.tile

from .other import load_tile

from functools import partial

import numpy as np

F = nl.float32 if P else nl.bfloat16

@nki.jit
def k2(z):
    return helper(z)
"""
CURRENT_STATEMENTS = """
rows, dim = x.shape

out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

a = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)

b = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)

p = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)

for i in nl.affine_range(x.shape[0] // 128):
    nisa.dma_copy(dst=a, src=x[i * 128:(i + 1) * 128, 0:512])

for i in range((rows + 127) // 128):
    size = min(128, rows - i * 128)
    nisa.dma_copy(dst=a[0:size, :], src=x[nl.ds(i * 128, size), :])
    nisa.activation(dst=a[0:size], op=nl.exp, data=a[0:size], scale=2.0)
    nisa.dma_copy(dst=out[nl.ds(i * 128, size), :], src=a[:size, :])

nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.add)

nisa.tensor_scalar(a, a, nl.multiply, 0.5, op1=nl.add, operand1=n)

nisa.nc_matmul(dst=p, stationary=b[:, 0:128], moving=a)

nisa.tensor_reduce(dst=a[:, 0:1], op=nl.maximum, data=a, axis=1, negate=True)

s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)

nisa.activation_reduce(dst=a, op=nl.square, data=a, reduce_op=nl.add, reduce_res=s)

tiles = [nl.ndarray((128, 64), dtype=nl.bfloat16, buffer=nl.sbuf) for _ in range(3)]

tiles.append(a); t = tiles[-1]

nisa.tensor_copy(dst=tiles[0], src=a[:, 0:64])

v = x.ap(pattern=[[512, 128], [1, 512]], offset=64)

v = x.reshape((4, -1)).broadcast(0, 2)

helper(a, s=n)

cfg = Config(tile=64); n = cfg.rows(dim)

m = {'a': a, 'b': [b, s]}; t = m['a']

nisa.memset(a, value=0.0)

nisa.dma_transpose(dst=a, src=b)

nisa.nc_transpose(dst=p[0:128, 0:128], data=a[:, 0:128])

assert x.shape[0] % 128 == 0, f'rows {x.shape[0]}'

if nl.program_id(0) == 0: nisa.memset(s, 1.0)

nisa.select_reduce(dst=a, predicate=b, on_true=a, on_false=0.0)

nisa.iota(dst=a, pattern=[[1, 512]], offset=0, channel_multiplier=512)

c = a if n > 2 else b

d = (lambda q, r=2: q * r)(n)

while n < 10: n += 1

h = [i * j for i in range(4) for j in SIZES if i % 2]

nccl.all_reduce(dsts=[out], srcs=[x], replica_groups=[[0, 1]], op=nl.add)

def body(i): nisa.memset(a[:, nl.ds(i, 1)], 0.0)
nl.fori_loop(0, 4, body)

return out
"""
LEGACY_STATEMENTS = """
i_p = nl.arange(128)[:, None]

i_f = nl.arange(512)[None, :]

out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

t = nl.load(x[i_p, i_f], mask=(i_p < x.shape[0]))

t = nl.load(x[i * 128 + i_p, i_f], dtype=nl.float32, mask=(i * 128 + i_p < x.shape[0]) & (i_f < 500))

nl.store(out[i_p, i_f], value=t * 2 + 1, mask=i_p < n)

nl.store(y, t)

acc = nl.zeros((nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)

acc += nisa.nc_matmul(t[:, 0:128], t)

acc[i_p, i_f] = nl.add(acc[i_p, i_f], t)

u = nl.exp(t - nl.max(t, axis=1, keepdims=True))

w = nl.sum(u, axis=[1], dtype=nl.float32)

r = nisa.activation(op=nl.rsqrt, data=w, scale=1.0 / 512, bias=w)

z = nisa.tensor_scalar(t, op0=np.multiply, operand0=r, reverse0=True)

q = nisa.tensor_reduce(np.add, t, axis=(1,), dtype=nl.bfloat16)

g = nl.mgrid[0:128, 0:512]

t[g.p, g.x] = nl.copy(u, dtype=nl.bfloat16)

for i in nl.affine_range(4): t = nl.load(x[nl.ds(i * 128, 128), :])

for j in nl.sequential_range(n): acc[...] = acc + j

o = nl.matmul(t, u, transpose_x=True)

v = nl.where(t > 0, t, 0.1 * t)

m = nl.loop_reduce(u, op=np.add, loop_indices=[i])

b = nl.broadcast_to(w, shape=(128, 512))

e = t.astype(nl.float16).reshape((128, 4, 128))

f = nisa.nc_transpose(e[:, 0])

rows, dim = x.shape; k = nl.program_id(0)

x[i_p, i_f] = nl.mean(t, axis=-1)

return out
"""
PRELUDES = {
    CURRENT: (
        "a = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)",
        "b = nl.ndarray((128, 512), nl.bfloat16, nl.sbuf)",
        "s = nl.ndarray((128, 1), nl.float32, nl.sbuf)",
        "p = nl.ndarray((128, 512), nl.float32, nl.psum)",
        "out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)",
        "rows, dim = x.shape",
    ),
    LEGACY: (
        "i_p, i_f = nl.mgrid[0:128, 0:512]",
        "t = nl.load(x[0:128, 0:512])",
        "i_p = nl.arange(128)[:, None]; i_f = nl.arange(512)[None, :]",
        "out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)",
        "p = nl.zeros((128, 512), nl.float32, buffer=nl.psum)",
        "s = nl.sum(t, axis=1, keepdims=True); a = t * 2; z = x.shape[0]",
    ),
}
VALUES = """
a
b
s
t
x
y
p
out
n
None
0
1
-1
0.0
2.5
128
x.shape
x.shape[0]
a.shape
(128,512)
(128,1)
[1]
[[1,128],[512,4]]
nl.float32
nl.bfloat16
nl.int32
x.dtype
nl.sbuf
nl.psum
nl.shared_hbm
nl.add
nl.multiply
nl.maximum
nl.exp
nl.copy
np.add
nl.square
a[:,0:64]
a[0:n,:]
x[nl.ds(i,128),:]
b[:,None]
tiles[0]
nisa.vector_engine
nisa.reduce_cmd.reset_reduce
True
'a'
nl.fp32.min
[a,b]
i
rows
i*128+n
i_p<n
i_p,i_f
x[i_p,i_f]
lambda:a
f'{n}'
{'a':1}
...
nl.mgrid[0:4,0:8]
nl.arange(8)
x.ap([[1,4]])
helper
cfg.eps
nl.ds(0,n)
""".strip().splitlines()
