"""Numbers that are used atomically through the objects of libcu++."""

import numpy as np
import pytest
from tests.execution.running import executed, lowered

from portcheck.ir import Atomic, Fence, MemoryOrder, Scope, kernel_operations

THREADS = 64
HEAD = "#include <cuda/atomic>\ntypedef cuda::atomic_ref<int, cuda::thread_scope_device> Ref;\n"
SUM = THREADS * (THREADS - 1) // 2
CASES = {
    "sum": ("Ref a(y[0]); a.fetch_add(t, cuda::memory_order_relaxed);", {0: SUM}),
    "braces": ("cuda::atomic_ref<int> a{*y}; a.fetch_max(t);", {0: THREADS - 1}),
    "without a name": ("Ref(y[1]).fetch_sub(2); Ref{y[2]}.fetch_or(t);", {1: -2 * THREADS, 2: 63}),
    "deduced": ("auto a = Ref(y[0]); y[t + 1] = a.fetch_add(0) * 2;", {0: 0, 5: 0}),
    "operators": ("Ref a(y[0]); a++; ++a; a += 3; a -= 1; Ref b(y[1]); b |= t; b ^= 0; b &= 15; b--;",
                  {0: 4 * THREADS}),
    "values of operators": ("if (t == 0) { Ref a(y[0]); y[1] = a++; y[2] = ++a; y[3] = a += 5; y[4] = a.exchange(9); }",
                            {0: 9, 1: 0, 2: 2, 3: 7, 4: 7}),
    "load and store": (
        "if (t == 0) { Ref a(y[0]); a.store(6, cuda::memory_order_release); y[1] = a.load(cuda::memory_order_acquire);"
        "a = 8; int q = a; y[2] = q; }", {0: 8, 1: 6, 2: 8},
    ),
    "compare and exchange": (
        "Ref a(y[0]); int seen = a.load(); while (!a.compare_exchange_weak(seen, seen + t)) {}", {0: SUM},
    ),
    "what was expected": (
        "if (t == 0) { Ref a(y[0]); int seen = 4; bool done = a.compare_exchange_strong(seen, 7); y[1] = seen;"
        "y[2] = done; y[3] = a.compare_exchange_strong(seen, 7); }", {0: 7, 1: 0, 2: 0, 3: 1},
    ),
    "shared": (
        "__shared__ cuda::atomic<int, cuda::thread_scope_block> s; if (t == 0) s = 5; __syncthreads();"
        "s.fetch_add(2); __syncthreads(); if (t == 1) y[0] = s.load();", {0: 5 + 2 * THREADS},
    ),
    "array": (
        "__shared__ cuda::atomic<unsigned, cuda::thread_scope_block> s[4]; if (t < 4) s[t].store(0u); __syncthreads();"
        "s[t % 4]++; __syncthreads(); if (t < 4) y[t] = s[t];", {0: 16, 3: 16},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_objects_are_used_atomically(name: str) -> None:
    body, expected = CASES[name]
    text = f"{HEAD}__global__ void k(int* y) {{ int t = threadIdx.x; {body} }}"
    done = executed(text, {"y": np.zeros(THREADS + 1, np.int32)}, 1, THREADS)
    assert done.faults == (), done.faults
    assert {place: int(done.arrays["y"][place]) for place in expected} == expected


def test_an_object_behind_a_pointer() -> None:
    text = f"{HEAD}__global__ void k(cuda::atomic<int>* p, int* y) {{ y[threadIdx.x] = p[1].fetch_add(3); }}"
    done = executed(text, {"p": np.zeros(2, np.int32), "y": np.zeros(THREADS, np.int32)}, 1, THREADS)
    assert sorted(done.arrays["y"]) == [3 * place for place in range(THREADS)]
    assert done.arrays["p"].tolist() == [0, 3 * THREADS]


ORDERS = {
    "Ref a(*y); a.fetch_add(1, cuda::memory_order_acq_rel);": (Scope.DEVICE, MemoryOrder.ACQUIRE_RELEASE, False),
    "Ref a(*y); y[1] = a.fetch_add(1);": (Scope.DEVICE, MemoryOrder.SEQUENTIAL, True),
    "cuda::atomic_ref<int, cuda::thread_scope_block> a(*y); a.exchange(1, cuda::std::memory_order_relaxed);":
        (Scope.BLOCK, MemoryOrder.RELAXED, False),
    "cuda::atomic_ref<int> a(*y); a++;": (Scope.SYSTEM, MemoryOrder.SEQUENTIAL, False),
}  # fmt: skip


@pytest.mark.parametrize("body", ORDERS)
def test_scope_order_and_use_are_kept(body: str) -> None:
    program = lowered(f"{HEAD}__global__ void k(int* y) {{ {body} }}")
    found = [(op.scope, op.order, op.result_used) for op in kernel_operations(program) if isinstance(op, Atomic)]
    assert found == [ORDERS[body]]


def test_loads_and_stores_order_what_they_say() -> None:
    body = "Ref a(*y); a.store(1, cuda::memory_order_release); y[1] = a.load(cuda::memory_order_relaxed);"
    program = lowered(f"{HEAD}__global__ void k(int* y) {{ {body} y[2] = a.load(cuda::memory_order_acquire); }}")
    fences = [(op.scope, op.order) for op in kernel_operations(program) if isinstance(op, Fence)]
    assert fences == [(Scope.DEVICE, MemoryOrder.RELEASE), (Scope.DEVICE, MemoryOrder.ACQUIRE)]
