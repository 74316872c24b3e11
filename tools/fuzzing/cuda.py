"""CUDA texts of at most 1 KB: pieces of kernels put together, and mutated kernels of the corpus."""

import random
from pathlib import Path

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.frontends.cuda.text.lexer import tokens_of
from portcheck.knowledge import load

from .checks import problem_of_program
from .mutations import Mutations, Pieces

SUFFIX = ".cu"
LARGEST = 1024
MOST_MUTATIONS = 6
ODD_WORDS = ("\0", "\\\n", "\r\n", "\u00e9", "/*", "*/", '"', "'", "//", 'R"(', "##")

HEADS = """
__global__ void k(float* x, const float* w, int n)
template <typename T, int N> __global__ void k(T* x, const T* __restrict__ w, int n)
extern "C" __global__ void __launch_bounds__(256, 2) k(float4* x, half* w, unsigned n)
__device__ float helper(float a, int& b)
""".strip().splitlines()
LINES = """
#define LOOP(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
#define JOIN(a, b) a##b
#define TEXT(a) #a
#define MANY(f, ...) f(__VA_ARGS__)
#define DEFINE(NAME, T) __global__ void NAME(T* x) { x[0] = (T)1; }
#define HALF
#if __CUDA_ARCH__ >= 700 && defined(FAST)
#ifdef HALF
#ifndef OTHER
#elif N > 3
#else
#endif
#undef HALF
#include "kernel.cu"
#pragma unroll
struct Pair { float a; int b[3]; Pair* next; float sum() const { return a + b[0]; } };
union Bits { float f; unsigned u; };
typedef struct { half x, y; } Two;
enum class Kind : int { A = 1, B = A << 2 };
template <typename T> struct Box { T v; __device__ T get() { return v; } };
template <int N> __device__ int size() { return N; }
template <> __global__ void k<float, 4>(float* x, const float* __restrict__ w, int n) { x[0] = 4.f; }
__global__ void k(double* x, int n) { x[n] = 2.0; }
__constant__ float table[16];
__device__ int counter;
constexpr int W = 32;
namespace cg = cooperative_groups;
using scalar = float;
void run(float* x) { k<<<dim3(4, 2), 128, 64>>>(x, x, 5); }
void go() { dim3 g(2, 3); for (int i = 0; i < 3; ++i) k<float, 4><<<g, 32>>>(p, q, i); }
""".strip().splitlines()
STATEMENTS = """
int i = blockIdx.x * blockDim.x + threadIdx.x;
if (i >= n) return;
x[i] = w[i] * 2.f + helper(w[n], i);
for (int j = 0; j < n; j += 2) x[j] += w[j];
for (int j = n; j > 0; j >>= 1) { __syncthreads(); if (i < j) x[i] += x[i + j]; }
while (i < n && n > (i - 2)) { ++i; if (i == 3) break; continue; }
do { i--; } while (i);
switch (n) { case 1: x[0] = 1.f; break; case 2: x[1]++; default: break; }
__shared__ float tile[32][33];
extern __shared__ __align__(16) char raw[];
float* part = reinterpret_cast<float*>(raw) + n;
float4 v = reinterpret_cast<const float4*>(w)[i];
v.x += v.y * __shfl_xor_sync(0xffffffff, v.z, 16);
atomicAdd(&x[i], 1.f);
int old = atomicCAS((int*)x, 0, 1);
auto f = [&](int a) { return a * 2; };
x[f(1)] = n ? w[0] : -w[1];
half2 h = __floats2half2_rn(w[0], w[1]);
Pair p = {1.f, {1, 2, 3}}; p.b[n] = 4; x[0] = p.sum();
Bits b; b.f = w[0]; x[1] = b.u & 0xff;
LOOP(q, n) { x[q] = 1.f; }
TRACE(n)
goto end; end: ;
asm volatile("mov.u32 %0, %laneid;" : "=r"(i));
cg::thread_block block = cg::this_thread_block(); block.sync();
auto warp = cg::tiled_partition<32>(block); x[0] = cg::reduce(warp, w[0], cg::plus<float>());
const int m = sizeof(float) * W / 2 % 7 << 1;
unsigned long long u = (unsigned long long)n * 3ull >> 5;
float s[4] = {}; s[i & 3] = expf(w[i]); s[1] = fmaxf(s[0], INFINITY);
x[0] = ({ float t = w[0]; t * t; });
Kind kind = Kind::A; if (kind == Kind::B) x[2] = 0;
if constexpr (sizeof(int) == 4) { x[3] = 1; } else { x[4] = 1; }
__half* c = (__half*)x; c[i] = __float2half(1.f);
printf("%d %f\\n", n, w[0]); assert(n > 0);
""".strip().splitlines()


def problem_of(text: str) -> str:
    """What is wrong with what became of `text`; "" if nothing is. Raises whatever the frontend raises."""
    module = read_cuda(SourceFile("kernel.cu", text), CudaOptions())
    program = module.lower([*(kernel.name for kernel in module.kernels), *module.specialisations])
    for problem in module.problems:
        if problem.span.start > problem.span.end:
            return "a problem that ends before it starts"
    return problem_of_program(program)


class Inputs:
    """Texts from a seed."""

    def __init__(self, seed: int, corpus: Path) -> None:
        self._random = random.Random(seed)
        self._seeds = [path.read_text(encoding="utf-8") for path in sorted(corpus.glob("*/*/kernel.cu"))]
        words = (*sorted(load().constructs), *ODD_WORDS)
        self._mutations = Mutations(self._random, Pieces(_tokens, words, LINES, self._made, self._put_statement))

    def next(self) -> str:
        """The next input."""
        choose = self._random
        text = choose.choice(self._seeds) if choose.random() < 0.3 else self._made()
        start = choose.randrange(max(1, len(text) - LARGEST // 2)) if len(text) > LARGEST else 0
        tokens = _tokens(text[start : start + LARGEST])
        for _ in range(choose.randrange(MOST_MUTATIONS + 1)):
            self._mutations.mutate(tokens)
        return "".join(tokens)[:LARGEST]

    def _made(self) -> str:
        choose = self._random
        lines = choose.sample(LINES, choose.randrange(5))
        statements = choose.choices(STATEMENTS, k=choose.randrange(1, 8))
        body = "\n  ".join(statements)
        kernel = f"{choose.choice(HEADS)} {{\n  {body}\n}}"
        return "\n".join([*lines, kernel, *choose.sample(LINES, choose.randrange(3))]) + "\n"

    def _put_statement(self, tokens: list[str]) -> None:
        places = [index for index, token in enumerate(tokens) if token in (";", "{", "}")] or [len(tokens) - 1]
        place = self._random.choice(places) + 1
        tokens[place:place] = _tokens(f" {self._random.choice(STATEMENTS)} ")


def _tokens(text: str) -> list[str]:
    return [token.text for token in tokens_of(text)]
