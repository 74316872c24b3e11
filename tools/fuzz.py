"""Mutates CUDA snippets and reads them in this process: nothing may raise, be inconsistent, or take long.

The same seed gives the same inputs. What fails is written to a folder, one input a file, once for every place.
"""

import argparse
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from types import FrameType

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.frontends.cuda.text.lexer import tokens_of
from portcheck.ir.text import parse_program, print_program
from portcheck.ir.verify import verify
from portcheck.knowledge import load

ROOT = Path(__file__).parents[1]
LARGEST = 1024
SLOWEST = 10
"""Seconds that one input may take, on a machine that does other things as well."""
MOST_MUTATIONS = 6
ODD_WORDS = ("\0", "\\\n", "\r\n", "\u00e9", "/*", "*/", '"', "'", "//", 'R"(', "##")
QUOTING = "%'"
OPENING = {"(": ")", "{": "}", "[": "]"}

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


def main() -> int:
    arguments = read_arguments()
    os.environ["PORTCHECK_DEBUG"] = "1"  # what fails is raised
    signal.signal(signal.SIGALRM, _too_slow)
    fuzzing = Fuzzing(arguments.seed, arguments.keep)
    fuzzing.run(arguments.count, arguments.seconds, arguments.every)
    return 1 if fuzzing.failures else 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10_000, help="inputs to read (default 10000)")
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time, whatever the count")
    parser.add_argument("--every", type=int, default=5_000, help="inputs between two lines of progress")
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "fuzz", help="folder for what failed")
    return parser.parse_args()


class TooSlow(BaseException):
    """An input takes too long. No Exception, so that nothing contains it."""


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise TooSlow


class Fuzzing:
    """One run: inputs from a seed, and what failed."""

    def __init__(self, seed: int, keep: Path) -> None:
        self._inputs = Inputs(seed)
        self._keep = keep
        self.failures: Counter[str] = Counter()

    def run(self, count: int, seconds: float, every: int) -> None:
        start = time.perf_counter()
        for number in range(1, count + 1):
            self._read(self._inputs.next())
            passed = time.perf_counter() - start
            is_over = bool(seconds) and passed > seconds
            if number % every == 0 or number == count or is_over:
                print(f"{number} inputs, {number / passed:.0f}/s, {len(self.failures)} places of failure", flush=True)
            if is_over:
                break
        for place, times in self.failures.most_common():
            print(f"{times} x {place}")

    def _read(self, text: str) -> None:
        signal.alarm(SLOWEST)
        try:
            problem = problem_of(text)
        except TooSlow:
            problem = f"too slow: {_place()}"
        except Exception as error:  # noqa: BLE001  # what a frontend raises is what fuzzing looks for
            problem = f"{type(error).__name__}: {_place()}"
        finally:
            signal.alarm(0)
        if problem:
            self._note(problem, text)

    def _note(self, problem: str, text: str) -> None:
        self.failures[problem] += 1
        if self.failures[problem] == 1:
            self._keep.mkdir(parents=True, exist_ok=True)
            name = sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
            (self._keep / f"{name}.cu").write_text(text, encoding="utf-8", errors="replace", newline="")
            (self._keep / f"{name}.txt").write_text(f"{problem}\n{traceback.format_exc()}", encoding="utf-8")
            print(f"{name}.cu: {problem}", flush=True)


def _place() -> str:
    """Where in portcheck the exception that is being handled was raised."""
    _, _, trace = sys.exc_info()
    frames = [frame for frame in traceback.extract_tb(trace) if "portcheck" in frame.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"


def problem_of(text: str) -> str:
    """What is wrong with what became of `text`; "" if nothing is. Raises whatever the frontend raises."""
    module = read_cuda(SourceFile("kernel.cu", text), CudaOptions())
    program = module.lower([*(kernel.name for kernel in module.kernels), *module.specialisations])
    for problem in module.problems:
        if problem.span.start > problem.span.end:
            return "a problem that ends before it starts"
    wrong = verify(program)
    if wrong:
        words = str(wrong[0]).split()
        return f"inconsistent: {' '.join(word for word in words if word[0] not in QUOTING)}"
    shown = print_program(program)
    if print_program(parse_program(shown)) != shown:  # a program with a NaN is not equal to itself
        return "the text form means something else"
    return ""


class Inputs:
    """Texts of at most 1 KB: pieces of kernels put together, cut, doubled, mixed and spoilt."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._seeds = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "corpus").glob("*/*/kernel.cu"))]
        self._words = sorted(load().constructs) + [
            "\0",
            "\\\n",
            "\r\n",
            "\u00e9",
            "/*",
            "*/",
            '"',
            "'",
            "//",
            'R"(',
            "##",
        ]
        self._mutations: tuple[Callable[[list[str]], None], ...] = (
            self._cut, self._double, self._swap, self._put_word, self._put_line, self._put_statement, self._splice,
            self._truncate, self._nest,
        )  # fmt: skip

    def next(self) -> str:
        """The next input."""
        choose = self._random
        text = choose.choice(self._seeds) if choose.random() < 0.3 else self._made()
        start = choose.randrange(max(1, len(text) - LARGEST // 2)) if len(text) > LARGEST else 0
        tokens = [token.text for token in tokens_of(text[start : start + LARGEST])]
        for _ in range(choose.randrange(MOST_MUTATIONS + 1)):
            choose.choice(self._mutations)(tokens)
        return "".join(tokens)[:LARGEST]

    def _made(self) -> str:
        choose = self._random
        lines = choose.sample(LINES, choose.randrange(5))
        statements = choose.choices(STATEMENTS, k=choose.randrange(1, 8))
        body = "\n  ".join(statements)
        kernel = f"{choose.choice(HEADS)} {{\n  {body}\n}}"
        return "\n".join([*lines, kernel, *choose.sample(LINES, choose.randrange(3))]) + "\n"

    def _range(self, tokens: list[str]) -> tuple[int, int]:
        start = self._random.randrange(len(tokens) + 1)
        return start, min(len(tokens), start + self._random.choice((1, 1, 2, 5, 20)))

    def _cut(self, tokens: list[str]) -> None:
        start, end = self._range(tokens)
        del tokens[start:end]

    def _double(self, tokens: list[str]) -> None:
        start, end = self._range(tokens)
        tokens[end:end] = tokens[start:end] * self._random.choice((1, 1, 3, 30))

    def _swap(self, tokens: list[str]) -> None:
        if tokens:
            first, second = self._random.randrange(len(tokens)), self._random.randrange(len(tokens))
            tokens[first], tokens[second] = tokens[second], tokens[first]

    def _put_word(self, tokens: list[str]) -> None:
        start, end = self._range(tokens)
        tokens[start : end if self._random.random() < 0.5 else start] = [" ", self._random.choice(self._words), " "]

    def _put_line(self, tokens: list[str]) -> None:
        start, _ = self._range(tokens)
        tokens[start:start] = ["\n", self._random.choice(LINES), "\n"]

    def _put_statement(self, tokens: list[str]) -> None:
        places = [index for index, token in enumerate(tokens) if token in (";", "{", "}")] or [len(tokens) - 1]
        place = self._random.choice(places) + 1
        tokens[place:place] = [token.text for token in tokens_of(f" {self._random.choice(STATEMENTS)} ")]

    def _splice(self, tokens: list[str]) -> None:
        """A balanced stretch in the place of another."""
        mine, others = list(balanced(tokens)), [token.text for token in tokens_of(self._made())]
        given = list(balanced(others))
        if mine and given:
            (start, end), (first, last) = self._random.choice(mine), self._random.choice(given)
            tokens[start:end] = others[first:last]

    def _truncate(self, tokens: list[str]) -> None:
        start, _ = self._range(tokens)
        if self._random.random() < 0.3:
            del tokens[start:]

    def _nest(self, tokens: list[str]) -> None:
        start, end = self._range(tokens)
        opening = self._random.choice(sorted(OPENING))
        count = self._random.choice((1, 2, 40))
        tokens[start:end] = [opening * count, *tokens[start:end], OPENING[opening] * count]


def balanced(tokens: list[str]) -> Iterator[tuple[int, int]]:
    """The stretches between brackets, brackets included."""
    open_: list[int] = []
    for index, token in enumerate(tokens):
        if token in OPENING:
            open_.append(index)
        elif open_ and OPENING[tokens[open_[-1]]] == token:
            yield open_.pop(), index + 1


if __name__ == "__main__":
    sys.exit(main())
