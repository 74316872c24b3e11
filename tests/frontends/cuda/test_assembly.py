"""Inline assembly becomes the operations its instructions stand for, or stays whole."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, kinds, not_understood

from portcheck.frontends.cuda.assembly.instruction_bits import _trees
from portcheck.frontends.cuda.assembly.ptx import instructions_of
from portcheck.ir import (
    Atomic,
    Cast,
    Check,
    Compute,
    Copy,
    Exchange,
    ExchangeKind,
    Fence,
    Load,
    MemoryOrder,
    Op,
    Operator,
    Reduce,
    Scope,
    Select,
    Store,
)  # fmt: skip

PARAMETERS = "float* x, unsigned* u, int n"

OPERATORS = {
    "an operator": ('asm("add.u32 %0, %1, %2;" : "=r"(d) : "r"(u[1]), "r"(u[2]));', [Operator.ADD]),
    "a product of twice the width": (
        'unsigned long long q; asm("mul.wide.u32 %0, %1, %2;" : "=l"(q) : "r"(u[1]), "r"(u[2])); u[3] = q;',
        [Operator.MULTIPLY],
    ),
    "a choice by the bits of three words": (
        'asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(d) : "r"(u[1]), "r"(u[2]), "r"(u[3]));',
        [Operator.BITWISE_XOR, Operator.BITWISE_AND, Operator.BITWISE_XOR],
    ),
    "the parity of three words": (
        'asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(d) : "r"(u[1]), "r"(u[2]), "r"(u[3]));',
        [Operator.BITWISE_XOR, Operator.BITWISE_XOR],
    ),
    "an ordered comparison that NaN fails": (
        'asm("{.reg .pred p; setp.ne.f32 p, %1, 0f00000000; selp.u32 %0, 1, 2, p;}" : "=r"(d) : "f"(x[0]));',
        [Operator.NOT_EQUAL, Operator.IS_NAN, Operator.IS_NAN, Operator.LOGICAL_OR, Operator.LOGICAL_NOT,
         Operator.LOGICAL_AND],
    ),
    "a sum with its carry": (
        'asm("add.cc.u32 %0, %1, %2; addc.u32 %0, %0, 0;" : "=r"(d) : "r"(u[1]), "r"(u[2]));',
        [Operator.ADD, Operator.LESS, Operator.ADD, Operator.LESS, Operator.ADD, Operator.LESS, Operator.LOGICAL_OR],
    ),
    "a field": (
        'asm("bfe.s32 %0, %1, 4, 8;" : "=r"(d) : "r"(u[1]));',
        [Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT_ARITHMETIC],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "operators"), OPERATORS.values(), ids=OPERATORS)
def test_instruction_is_computed(text: str, operators: list[Operator]) -> None:
    found = body(f"unsigned d; {text} u[0] = d;", PARAMETERS)
    assert not not_understood(found)
    assert [op.operator for op in found if isinstance(op, Compute)] == operators


KEPT = {
    "an unknown instruction": ('asm("frob.u32 %0, %1;" : "=r"(d) : "r"(n));', "assembly: frob.u32 is not modelled"),
    "an unknown part of a known one": (
        'asm("add.frob.u32 %0, %1, 1;" : "=r"(d) : "r"(n));', "assembly: add.frob.u32 is not modelled",
    ),
    "a jump": ('asm("L: bra L;");', "assembly with jumps or unknown text"),
    "text that is no list of instructions": ('asm("add.u32 %0 [;" : "=r"(d));', "assembly with jumps or unknown text"),
    "a carry that nothing left": (
        'asm("addc.u32 %0, %1, 1;" : "=r"(d) : "r"(n));', "assembly: addc.u32 without a carry is not modelled",
    ),
    "a result that is never given": ('asm("mov.u32 p, 1;" : "=r"(d));', "assembly: result %0 is not modelled"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), KEPT.values(), ids=KEPT)
def test_assembly_that_is_not_understood_stays_whole(text: str, reason: str) -> None:
    found = body(f"unsigned d = 0; {text} u[0] = d;", PARAMETERS)
    assert not_understood(found) == [reason]


def test_instruction_under_a_guard_keeps_the_old_value_elsewhere() -> None:
    text = 'asm("{.reg .pred p; setp.gt.s32 p, %1, 0; @!p mov.u32 %0, 7;}" : "+r"(d) : "r"(u[1]));'
    found = body(f"unsigned d = u[2]; {text} u[0] = d;", PARAMETERS)
    assert not not_understood(found)
    chosen = next(op for op in found if isinstance(op, Select))
    assert [found.index(op) for op in found if isinstance(op, Compute)] < [found.index(chosen)]


def test_packed_halves_are_taken_apart_and_put_together() -> None:
    found = body('unsigned d; asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(u[1]), "r"(u[2])); u[0] = d;', PARAMETERS)
    sums = [op for op in found if isinstance(op, Compute) and op.operator is Operator.ADD]
    assert [op.type.dtype.name for op in sums] == ["float16", "float16"]
    assert sum(isinstance(op, Cast) and op.bitwise for op in found) == 6


def test_shuffle_moves_the_number_as_it_is() -> None:
    text = 'float y; asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=f"(y) : "f"(x[1]), "r"(16));'
    found = body(f"{text} x[0] = y;", PARAMETERS)
    moved = next(op for op in found if isinstance(op, Exchange))
    assert (moved.kind, moved.lanes_mask, moved.type.dtype.name) == (ExchangeKind.XOR, None, "float32")


ORDERS = {
    "fence.acq_rel.gpu;": (Fence, Scope.DEVICE, MemoryOrder.ACQUIRE_RELEASE),
    "membar.cta;": (Fence, Scope.BLOCK, MemoryOrder.SEQUENTIAL),
    "membar.sys;": (Fence, Scope.SYSTEM, MemoryOrder.SEQUENTIAL),
}


@pytest.mark.parametrize(("text", "expected"), ORDERS.items(), ids=ORDERS)
def test_fences_say_how_far_they_reach(text: str, expected: tuple[type[Op], Scope, MemoryOrder]) -> None:
    found = body(f'asm volatile("{text}" ::: "memory");', PARAMETERS)
    fence = next(op for op in found if isinstance(op, Fence))
    assert (type(fence), fence.scope, fence.order) == expected


def test_atomic_through_an_address_says_what_it_updates() -> None:
    text = 'asm("atom.global.max.u32 %0, [%1 + 8], %2;" : "=r"(d) : "l"(u), "r"(n));'
    found = body(f"unsigned d; {text} u[0] = d;", PARAMETERS)
    update = next(op for op in found if isinstance(op, Atomic))
    assert (update.operator, update.result_used, update.scope) == (Operator.MAXIMUM, True, Scope.DEVICE)
    assert "2" in str(update.access.index)


def test_copy_to_an_address_that_is_a_number_reaches_the_shared_array() -> None:
    lines = """
    __shared__ float tile[256];
    unsigned start = (unsigned)__cvta_generic_to_shared(tile);
    int t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(start + t * 16), "l"(x + 4 * t));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    """
    found = body(lines, PARAMETERS)
    assert kinds(found) == ["Alloc", "Copy", "Fence", "Fence"]
    copy = next(op for op in found if isinstance(op, Copy))
    assert (copy.destination.buffer, copy.source.buffer) == ("tile", "x")


def test_copy_with_a_size_fills_with_zeros() -> None:
    lines = """
    __shared__ float tile[256];
    unsigned start = (unsigned)__cvta_generic_to_shared(&tile[4 * threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(start), "l"(x), "r"(n));
    """
    load, store = (op for op in body(lines, PARAMETERS) if isinstance(op, Load | Store))
    assert isinstance(load, Load)
    assert load.fill is not None
    assert load.access.mask is not None
    assert isinstance(store, Store)
    assert store.access.mask is None


def test_trap_and_reduction_are_what_they_are() -> None:
    found = body(
        'unsigned d; asm("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(d) : "r"(n)); asm("trap;"); u[0] = d;',
        PARAMETERS,
    )
    assert [type(op) for op in found if isinstance(op, Reduce | Check)] == [Reduce, Check]


def test_every_table_of_three_bits_has_a_tree_that_computes_it() -> None:
    columns = (0xF0, 0xCC, 0xAA)
    functions = {
        Operator.BITWISE_AND: int.__and__, Operator.BITWISE_OR: int.__or__, Operator.BITWISE_XOR: int.__xor__,
    }  # fmt: skip

    def table(tree: object) -> int:
        if isinstance(tree, int):
            return columns[tree]
        assert isinstance(tree, tuple)
        values = [table(part) for part in tree[1:]]
        return ~values[0] & 0xFF if tree[0] is Operator.BITWISE_NOT else functions[tree[0]](values[0], values[1])

    assert {number: table(tree) for number, tree in _trees().items()} == {number: number for number in range(1, 255)}


@pytest.mark.parametrize(
    "text", ["{" * 1000, "a.b" + " %0," * 500, "@", "[", "{}" * 99 + ".reg", "\0;", "mov.u32 %0, 1"]
)
def test_any_text_is_read_or_refused(text: str) -> None:
    found = instructions_of(text)
    assert found is None or all(instruction.opcode for instruction in found)
