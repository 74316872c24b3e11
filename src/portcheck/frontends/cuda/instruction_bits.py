"""PTX instructions on the bits of words: any function of three words, permuted bytes, shifts, fields, counts."""

from __future__ import annotations

from functools import cache
from itertools import product

from portcheck.core.dtype import UINT32, DTypeKind, dtype_named
from portcheck.frontends.cuda.arithmetic import apply_operator
from portcheck.frontends.cuda.assembly import Handler, Run, Step, UnreadInstructionError
from portcheck.frontends.cuda.conversions import convert, integer_bits
from portcheck.frontends.cuda.instructions import clamped_shift, inputs, typed
from portcheck.frontends.cuda.numbers import calculate, reinterpreted, unsigned_of
from portcheck.frontends.cuda.ptx import Written
from portcheck.frontends.cuda.values import Scalar
from portcheck.frontends.cuda.words import funnel_shifted, permuted_bytes
from portcheck.ir import Const, Operator
from portcheck.knowledge import Semantics

_CONSTANTS = {0x00: 0, 0xFF: 2**32 - 1}
Tree = int | tuple["Operator | Tree", ...]
"""A word by its number, or an operator and the trees of its operands."""


def _logic(run: Run, step: Step) -> None:
    """Any function of three bits: the table's bit k is its value where the bits read k."""
    given = inputs(step, 4)
    words = [run.value(written, UINT32) for written in given[:3]]
    table = run.value(given[3], UINT32).expr
    if not isinstance(table, Const):
        raise UnreadInstructionError(step.via)
    run.put(step.written.operands[0], logic_of(run, words, int(table.value) & 0xFF))


def logic_of(run: Run, words: list[Scalar], table: int) -> Scalar:
    """The function of three words that a table of eight bits gives."""
    if table in _CONSTANTS:
        return Scalar(Const(_CONSTANTS[table], UINT32), UINT32)
    return _tree(run, words, _trees()[table])


def _tree(run: Run, words: list[Scalar], tree: Tree) -> Scalar:
    if isinstance(tree, int):
        return words[tree]
    operator, *parts = tree
    values = tuple(_tree(run, words, part) for part in parts if not isinstance(part, Operator))
    if not isinstance(operator, Operator):
        raise UnreadInstructionError("lop3")
    return apply_operator(run.state, operator, values, UINT32, "lop3")


@cache
def _trees() -> dict[int, Tree]:
    """For every table of eight bits, save those of the constants, a tree of fewest operations that computes it."""
    found: dict[int, tuple[int, Tree]] = {0xF0: (0, 0), 0xCC: (0, 1), 0xAA: (0, 2)}
    joins = (
        (Operator.BITWISE_AND, int.__and__),
        (Operator.BITWISE_OR, int.__or__),
        (Operator.BITWISE_XOR, int.__xor__),
    )
    cost = 0
    while len(found) < 2**8 - len(_CONSTANTS):
        cost += 1
        known = list(found.items())
        made: dict[int, Tree] = {
            ~table & 0xFF: (Operator.BITWISE_NOT, tree) for table, (spent, tree) in known if spent == cost - 1
        }
        for (one, (left, first)), (other, (right, second)) in product(known, known):
            if left + right == cost - 1:
                made.update({function(one, other): (operator, first, second) for operator, function in joins})
        for table in sorted(made.keys() - found.keys() - _CONSTANTS.keys()):
            found[table] = (cost, made[table])
    return {table: tree for table, (_, tree) in found.items()}


def _permute(run: Run, step: Step) -> None:
    if any(step.has(mode) for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")):
        raise UnreadInstructionError(step.via)
    words = [run.value(written, UINT32) for written in inputs(step, 3)]
    run.put(step.written.operands[0], permuted_bytes(run.state, words[0], words[1], words[2], replicates=True))


def _funnel(run: Run, step: Step) -> None:
    low, high, distance = (run.value(written, UINT32) for written in inputs(step, 3)[:3])
    is_left = step.construct.semantics is Semantics.SHIFT_FUNNEL_LEFT
    shifted = funnel_shifted(run.state, low, high, distance, is_left, step.has("clamp"))
    run.put(step.written.operands[0], shifted)


def _extract(run: Run, step: Step) -> None:
    """The bits from a position on, extended with their sign for signed types; a field that is constant only."""
    dtype, _ = typed(step)
    given = inputs(step, 3)
    word = run.value(given[0], dtype)
    start, length = (_constant(run, step, written) for written in given[1:3])
    bits = integer_bits(dtype)
    length = min(length, bits - start) if dtype.kind is DTypeKind.UNSIGNED else length
    if not 0 < length <= bits - start:
        raise UnreadInstructionError(step.via)
    at_top = calculate(run.state, "<<", word, bits - start - length)
    run.put(step.written.operands[0], calculate(run.state, ">>", at_top, bits - length))


def _insert(run: Run, step: Step) -> None:
    """A field of the second word replaced by the first's lowest bits."""
    dtype, _ = typed(step)
    given = inputs(step, 4)
    source, base = run.value(given[0], dtype), run.value(given[1], dtype)
    start, length = (_constant(run, step, written) for written in given[2:4])
    bits = integer_bits(dtype)
    if not 0 < length <= bits - start:
        raise UnreadInstructionError(step.via)
    mask = ((1 << length) - 1) << start
    field = calculate(run.state, "&", calculate(run.state, "<<", source, start), mask)
    kept = calculate(run.state, "&", base, mask ^ ((1 << bits) - 1))
    run.put(step.written.operands[0], calculate(run.state, "|", kept, field))


def _constant(run: Run, step: Step, written: Written) -> int:
    expression = run.value(written, UINT32).expr
    if not isinstance(expression, Const):
        raise UnreadInstructionError(step.via)
    return int(expression.value) & 0xFF


def _find(run: Run, step: Step) -> None:
    """The position of the highest bit that is set (for a negative number: that is not), or all ones."""
    dtype, _ = typed(step)
    word = run.value(inputs(step, 1)[0], dtype)
    bits = integer_bits(dtype)
    if step.has("shiftamt"):
        raise UnreadInstructionError(step.via)
    if dtype.kind is DTypeKind.SIGNED:
        word = calculate(run.state, "^", word, calculate(run.state, ">>", word, bits - 1))
    word = reinterpreted(run.state, word, unsigned_of(bits))
    zeros = apply_operator(run.state, Operator.COUNT_LEADING_ZEROS, (word,), word.dtype, step.via)
    count = convert(run.state, zeros, UINT32)
    top = Scalar(Const(bits - 1, UINT32), UINT32)
    run.put(step.written.operands[0], calculate(run.state, "-", top, count))


def _count(run: Run, step: Step) -> None:
    """A count of bits: a word of 32 bits whatever is counted."""
    dtype, _ = typed(step)
    word = run.value(inputs(step, 1)[0], dtype)
    operator = step.construct.operator or Operator.POPULATION_COUNT
    value = apply_operator(run.state, operator, (word,), word.dtype, step.via)
    run.put(step.written.operands[0], convert(run.state, value, UINT32))


def _distances(run: Run, step: Step) -> None:
    """|a - b| + c; of four bytes each, the sum of the four."""
    given = inputs(step, 3)
    wide = dtype_named("int32")
    parts = step.construct.lanes
    element = unsigned_of(32 // parts)
    total = run.value(given[2], UINT32)
    columns = [run.lanes(written, element, parts) for written in given[:2]]
    for one, other in zip(*columns, strict=True):
        sides = [convert(run.state, side, wide) if parts > 1 else side for side in (one, other)]
        larger = apply_operator(run.state, Operator.MAXIMUM, (sides[0], sides[1]), sides[0].dtype, step.via)
        smaller = apply_operator(run.state, Operator.MINIMUM, (sides[0], sides[1]), sides[0].dtype, step.via)
        distance = calculate(run.state, "-", larger, smaller)
        total = calculate(run.state, "+", total, convert(run.state, distance, UINT32))
    run.put(step.written.operands[0], total)


def _shift_add(run: Run, step: Step) -> None:
    """A word shifted right by at most 32, and a third number added."""
    if not step.has("clamp") or not step.has("add"):
        raise UnreadInstructionError(step.via)
    word, distance, addend = (run.value(written, UINT32) for written in inputs(step, 3)[:3])
    shifted = clamped_shift(run, step, word, distance)
    run.put(step.written.operands[0], calculate(run.state, "+", shifted, addend))


BITS: dict[Semantics, Handler] = {
    Semantics.COMPUTE_LOGIC: _logic, Semantics.COMPUTE_BYTE_PERMUTE: _permute, Semantics.SHIFT_FUNNEL_LEFT: _funnel,
    Semantics.SHIFT_FUNNEL_RIGHT: _funnel, Semantics.BITS_EXTRACT: _extract, Semantics.BITS_INSERT: _insert,
    Semantics.BITS_FIND: _find, Semantics.COMPUTE_COUNT: _count, Semantics.COMPUTE_DIFFERENCE_SUM: _distances,
    Semantics.COMPUTE_SHIFT_ADD: _shift_add,
}  # fmt: skip
