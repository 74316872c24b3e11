"""NKI texts of at most 1 KB of both generations: pieces of kernels, calls made from the tables, ports of the corpus."""

import random
import re
from pathlib import Path
from zlib import crc32

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.knowledge import Api, load

from .checks import problem_of_program
from .mutations import Mutations, Pieces
from .python_trees import TreeMutations, statements_in

SUFFIX = ".py"
LARGEST = 1024
MOST_MUTATIONS = 5
VERSIONS = (None, None, None, "0.1", "0.2", "0.3", "0.4", "0.5", "0.6")
SHAPES = ((), (), (("x", "128,512"),), (("x", "130,7"), ("y", "3"), ("n", "0")))
ODD_WORDS = (
    "\0",
    "\\\n",
    "\r\n",
    "\t",
    "\u00e9",
    "'''",
    "'",
    "#",
    "\ufeff",
    "*",
    "**",
    ":=",
    "lambda",
    "yield",
    "f'{",
    "@",
)

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
a b s t x y p out n None 0 1 -1 0.0 2.5 128 x.shape x.shape[0] a.shape (128,512) (128,1) [1] [[1,128],[512,4]] nl.float32 nl.bfloat16
nl.int32 x.dtype nl.sbuf nl.psum nl.shared_hbm nl.add nl.multiply nl.maximum nl.exp nl.copy np.add nl.square a[:,0:64] a[0:n,:]
x[nl.ds(i,128),:] b[:,None] tiles[0] nisa.vector_engine nisa.reduce_cmd.reset_reduce True 'a' nl.fp32.min [a,b] i rows i*128+n
i_p<n i_p,i_f x[i_p,i_f] lambda:a f'{n}' {'a':1} ... nl.mgrid[0:4,0:8] nl.arange(8) x.ap([[1,4]]) helper cfg.eps nl.ds(0,n)
""".split()
TOKEN = re.compile(r"\n[ \t]*|[ \t]+|\w+|[^\w\s]|\s")


def problem_of(text: str) -> str:
    """What is wrong with what became of `text`; "" if nothing is. Raises whatever the frontend raises."""
    chosen = crc32(text.encode("utf-8", "replace"))
    options = NkiOptions(version=VERSIONS[chosen % len(VERSIONS)], shapes=SHAPES[chosen // 16 % len(SHAPES)])
    source = SourceFile("port.py", text)
    module = read_nki(source, options)
    for problem in module.problems:
        if not 1 <= problem.span.start.line <= len(source.lines) + 1:
            return "a problem that lies outside the file"
    return problem_of_program(module.lower([kernel.name for kernel in module.kernels]))


class Inputs:
    """Texts from a seed."""

    def __init__(self, seed: int, corpus: Path) -> None:
        self._random = random.Random(seed)
        self._seeds = [path.read_text(encoding="utf-8") for path in sorted(corpus.glob("*/*/port.py"))]
        self._apis = sorted(load().apis.values(), key=lambda api: api.name)
        self._definitions = list(statements_in(DEFINITIONS))
        self._statements = {
            LEGACY: list(statements_in(LEGACY_STATEMENTS)),
            CURRENT: list(statements_in(CURRENT_STATEMENTS)),
        }
        names = sorted(
            {
                name
                for text in (*VALUES, CURRENT_STATEMENTS, LEGACY_STATEMENTS)
                for name in re.findall(r"[a-zA-Z]\w*", text)
            }
        )
        words = (*names, *VALUES, *ODD_WORDS)
        lines = self._definitions + self._statements[LEGACY] + self._statements[CURRENT]
        self._tokens = Mutations(self._random, Pieces(TOKEN.findall, words, lines, self._made, self._put_statement))
        self._trees = TreeMutations(self._random, names, self._piece)

    def next(self) -> str:
        """The next input."""
        choose = self._random
        text = choose.choice(self._seeds)[:LARGEST] if choose.random() < 0.15 else self._made()
        if choose.random() < 0.7:
            text = self._trees.mutated(text, choose.randrange(MOST_MUTATIONS + 1))
        if choose.random() < 0.2:
            tokens: list[str] = TOKEN.findall(text)
            for _ in range(choose.randrange(MOST_MUTATIONS)):
                self._tokens.mutate(tokens)
            text = "".join(tokens)
        return text[:LARGEST]

    def _made(self) -> str:
        choose = self._random
        imports = choose.choice((CURRENT, CURRENT, LEGACY))
        definitions = choose.sample(self._definitions, choose.randrange(4))
        head = choose.choice(HEADS)
        indent = " " * (len(head.splitlines()[-1]) - len(head.splitlines()[-1].lstrip()) + 4)
        body = [self._statement(imports) for _ in range(choose.randrange(1, 10))]
        if choose.random() < 0.7:
            body[:0] = choose.sample(PRELUDES[imports], choose.randrange(1, len(PRELUDES[imports]) + 1))
        lines = [f"{indent}{line}" for statement in body for line in statement.splitlines()]
        return "\n".join([imports, *definitions, head, *lines]) + "\n"

    def _statement(self, imports: str) -> str:
        if self._random.random() < 0.3:
            return self._call(imports)
        return self._random.choice(self._statements[imports])

    def _piece(self) -> str:
        return self._statement(self._random.choice((CURRENT, LEGACY))).replace("return out", "pass")

    def _call(self, imports: str) -> str:
        """A call from the tables with arguments of any kind."""
        choose = self._random
        api: Api = choose.choice(self._apis)
        form = choose.choice(api.versions)
        by_keyword = choose.random() < 0.7
        given: list[str] = []
        for parameter in form.parameters:
            if parameter.name.startswith("*") or (parameter.default is not None and choose.random() < 0.7):
                by_keyword = True
                continue
            value = choose.choice(VALUES)
            given.append(f"{parameter.name}={value}" if by_keyword else value)
        for word in ("language", "isa", "collectives"):
            short = {"language": "nl", "isa": "nisa", "collectives": "nccl"}[word]
            _, found, rest = api.name.partition(f"nki.{word}.")
            if found:
                owner = "a" if rest.startswith("NkiTensor.") else short
                call = f"{owner}.{rest.removeprefix('NkiTensor.')}({', '.join(given)})"
                return call if choose.random() < 0.6 else f"{choose.choice('abstz')} = {call}"
        return f"nki.{api.name.partition('nki.')[2]}({', '.join(given)})"

    def _put_statement(self, tokens: list[str]) -> None:
        places = [index for index, token in enumerate(tokens) if token.startswith("\n ")] or [len(tokens) - 1]
        place = self._random.choice(places)
        lines = self._piece().splitlines()
        tokens[place:place] = [token for line in lines for token in TOKEN.findall(f"{tokens[place]}{line}")]
