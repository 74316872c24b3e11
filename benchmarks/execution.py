"""Times the executor against numba's CUDA simulator: the same kernels on the same arrays, in turn, in one process.

Thread operations are those that the executor counts: operations of the IR times the threads that run them. The
simulator runs one Python thread for each CUDA thread, so that its sizes are small; the executor is also timed at a
size that it is meant for.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before numba is imported

import numpy as np

from portcheck.core.source import SourceFile
from portcheck.execution import Geometry, run
from portcheck.frontends.cuda import CudaOptions, read_cuda

TARGET_RATIO = 100
TARGET_RATE = 1e7

AXPY = """
__global__ void axpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
SUMS = """
__global__ void sums(const float* x, float* y, int n) {
  __shared__ float box[128];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  box[t] = i < n ? x[i] : 0.f;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s) box[t] += box[t + s];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = box[0];
}
"""
PRODUCT = """
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float total = 0.f;
  for (int start = 0; start < n; start += 16) {
    left[ty][tx] = a[row * n + start + tx];
    right[ty][tx] = b[(start + ty) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) total += left[ty][k] * right[k][tx];
    __syncthreads();
  }
  c[row * n + column] = total;
}
"""


@dataclass(frozen=True)
class Work:
    """A kernel in CUDA, its arguments at a size, and the array it gives."""

    name: str
    text: str
    arguments: dict[str, Any]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    output: str


def work(name: str, size: int) -> Work:
    random = np.random.default_rng(1)
    if name == "axpy":
        x, y = (random.standard_normal(size, dtype=np.float32) for _ in range(2))
        return Work(name, AXPY, {"x": x, "y": y, "a": 0.5, "n": size - 3}, (size // 128,), (128,), "y")
    if name == "sums":
        x = random.standard_normal(size, dtype=np.float32)
        arguments = {"x": x, "y": np.zeros(size // 128, np.float32), "n": size - 3}
        return Work(name, SUMS, arguments, (size // 128,), (128,), "y")
    a, b = (random.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    arguments = {"a": a, "b": b, "c": np.zeros((size, size), np.float32), "n": size}
    return Work(name, PRODUCT, arguments, (size // 16, size // 16), (16, 16), "c")


SIZES = {"axpy": (1024, 4096, 1 << 20), "sums": (1024, 4096, 1 << 18), "product": (32, 64, 256)}


def executed(given: Work) -> Callable[[], tuple[np.ndarray, int]]:
    module = read_cuda(SourceFile("kernel.cu", given.text), CudaOptions())
    program = module.lower([kernel.name for kernel in module.kernels])
    geometry = Geometry.of(given.grid, given.block)

    def once() -> tuple[np.ndarray, int]:
        done = run(program, given.arguments, geometry)
        if done.faults:
            sys.exit(f"{given.name}: {done.faults[0].message}")
        return done.arrays[given.output], done.operations

    return once


def simulated(given: Work) -> Callable[[], np.ndarray] | None:
    try:
        from numba_kernels import KERNELS
    except ImportError:
        return None

    def once() -> np.ndarray:
        copies = {
            key: value.copy() if isinstance(value, np.ndarray) else value for key, value in given.arguments.items()
        }
        KERNELS[given.name][given.grid, given.block](*copies.values())
        return copies[given.output]

    return once


def timed(once: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = once()
    return time.perf_counter() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5, help="runs of each kernel (default 5)")
    runs = parser.parse_args().runs
    if simulated(work("axpy", SIZES["axpy"][0])) is None:
        print(f"numba is not installed, or has no release for Python {sys.version.split()[0]}; it is left out.\n")
    print("| kernel | threads | operations | numba simulator | executor | operations/s | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, sizes in SIZES.items():
        for size in sizes:
            print(row(work(name, size), runs, is_simulated=size != sizes[-1]))
    print(f"\nMedians of {runs} runs each, in turn, after one that is not counted; Python {sys.version.split()[0]},")
    print(f"NumPy {np.__version__}. Checks on. Targets: {TARGET_RATIO} times, {TARGET_RATE:.0e} operations a second.")


def row(given: Work, runs: int, is_simulated: bool) -> str:
    own, other = executed(given), simulated(given) if is_simulated else None
    times: tuple[list[float], list[float]] = ([], [])
    operations = 0
    for turn in range(runs + 1):
        seconds, (result, operations) = timed(own)
        slow, wanted = timed(other) if other is not None else (0.0, result)
        if not np.array_equal(result.reshape(-1), wanted.reshape(-1)):
            sys.exit(f"{given.name}: the executor and the simulator differ")
        if turn:
            times[0].append(seconds)
            times[1].append(slow)
    fast, slow = (statistics.median(part) for part in times)
    threads = int(np.prod(given.grid) * np.prod(given.block))
    cells = (f"{slow * 1000:.0f} ms", f"{slow / fast:.0f}") if other is not None else ("-", "-")
    rate = f"{operations / fast:.2g}"
    return f"| {given.name} | {threads} | {operations} | {cells[0]} | {fast * 1000:.1f} ms | {rate} | {cells[1]} |"


if __name__ == "__main__":
    main()
