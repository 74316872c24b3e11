"""PTX instructions on the bits of words: any function of three words, permuted bytes, shifts, fields, counts."""

from __future__ import annotations

from functools import cache
from itertools import product

from portcheck.core.dtype import BOOL, INT32, INT64, UINT32, UINT64, DTypeKind, dtype_named
from portcheck.frontends.cuda.assembly.inline import Handler, Run, Step, UnreadInstructionError
from portcheck.frontends.cuda.assembly.instructions import clamped_shift, inputs, typed
from portcheck.frontends.cuda.assembly.ptx import Written
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator, select
from portcheck.frontends.cuda.expressions.numbers import calculate, reinterpreted, unsigned_of
from portcheck.frontends.cuda.model.conversions import convert, integer_bits
from portcheck.frontends.cuda.model.values import Scalar
from portcheck.frontends.cuda.provided.words import funnel_shifted, permuted_bytes
from portcheck.ir import Const, Operator
from portcheck.knowledge import Semantics

_CONSTANTS = {0x00: 0, 0xFF: 2**32 - 1}
_WORD, _TOP = 32, 63
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
    """The bits from a position on, extended with their sign for signed types."""
    dtype, _ = typed(step)
    given = inputs(step, 3)
    word = run.value(given[0], dtype)
    bits = integer_bits(dtype)
    if not all(_is_constant(run, written) for written in given[1:3]):
        run.put(step.written.operands[0], _field(run, step, word, given))
        return
    start, length = (_constant(run, step, written) for written in given[1:3])
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
    if not all(_is_constant(run, written) for written in given[2:4]):
        mask_, moved = _mask(run, step, source, given)
        kept = calculate(run.state, "&", convert(run.state, base, UINT64), _inverse(run, mask_))
        both = calculate(run.state, "|", kept, calculate(run.state, "&", moved, mask_))
        run.put(step.written.operands[0], convert(run.state, both, dtype))
        return
    start, length = (_constant(run, step, written) for written in given[2:4])
    bits = integer_bits(dtype)
    if not 0 < length <= bits - start:
        raise UnreadInstructionError(step.via)
    mask = ((1 << length) - 1) << start
    field = calculate(run.state, "&", calculate(run.state, "<<", source, start), mask)
    kept = calculate(run.state, "&", base, mask ^ ((1 << bits) - 1))
    run.put(step.written.operands[0], calculate(run.state, "|", kept, field))


def _is_constant(run: Run, written: Written) -> bool:
    return isinstance(run.value(written, UINT32).expr, Const)


def _small(run: Run, step: Step, written: Written, most: int) -> Scalar:
    """The lowest byte of an operand, or `most` if that is less."""
    byte = calculate(run.state, "&", run.value(written, UINT32), 0xFF)
    limit = Scalar(Const(most, UINT32), UINT32)
    small = apply_operator(run.state, Operator.MINIMUM, (byte, limit), UINT32, step.via)
    return convert(run.state, small, UINT64)


def _field(run: Run, step: Step, word: Scalar, given: tuple[Written, ...]) -> Scalar:
    """The bits from a position that is known when it runs: shifted up and down in a word of twice the width."""
    if integer_bits(word.dtype) != _WORD:
        raise UnreadInstructionError(step.via)
    start, length = _small(run, step, given[1], _TOP), _small(run, step, given[2], _WORD)
    is_signed = word.dtype.kind is DTypeKind.SIGNED
    wide = calculate(run.state, ">>", convert(run.state, word, INT64 if is_signed else UINT64), start)
    if not is_signed:
        one = Scalar(Const(1, UINT64), UINT64)
        mask = calculate(run.state, "-", calculate(run.state, "<<", one, length), 1)
        return convert(run.state, calculate(run.state, "&", wide, mask), word.dtype)
    is_none = calculate(run.state, "==", length, 0)
    distance = calculate(
        run.state, "&", calculate(run.state, "-", Scalar(Const(_TOP + 1, UINT64), UINT64), length), _TOP
    )
    at_top = calculate(run.state, "<<", wide, convert(run.state, distance, INT64))
    field = calculate(run.state, ">>", at_top, convert(run.state, distance, INT64))
    return select(run.state, is_none, Scalar(Const(0, word.dtype), word.dtype), convert(run.state, field, word.dtype))


def _mask(run: Run, step: Step, source: Scalar, given: tuple[Written, ...]) -> tuple[Scalar, Scalar]:
    """The bits of a field, and `source` where they are."""
    if integer_bits(source.dtype) != _WORD:
        raise UnreadInstructionError(step.via)
    start, length = _small(run, step, given[2], _WORD), _small(run, step, given[3], _WORD)
    one = Scalar(Const(1, UINT64), UINT64)
    ones = calculate(run.state, "-", calculate(run.state, "<<", one, length), 1)
    return (
        calculate(run.state, "<<", ones, start),
        calculate(run.state, "<<", convert(run.state, reinterpreted(run.state, source, UINT32), UINT64), start),
    )


def _inverse(run: Run, word: Scalar) -> Scalar:
    return apply_operator(run.state, Operator.BITWISE_NOT, (word,), word.dtype, "~")


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
    if parts > 1 and not (step.has("add") and len({found.dtype for found in step.types}) == 1):
        raise UnreadInstructionError(step.via)
    is_signed = bool(step.types) and dtype_named(step.types[0].dtype).kind is DTypeKind.SIGNED
    element = dtype_named(f"{'int' if is_signed else 'uint'}{_WORD // parts}")
    total = run.value(given[2], UINT32)
    columns = [run.lanes(written, element, parts) for written in given[:2]]
    for one, other in zip(*columns, strict=True):
        sides = [convert(run.state, side, wide) if parts > 1 else side for side in (one, other)]
        larger = apply_operator(run.state, Operator.MAXIMUM, (sides[0], sides[1]), sides[0].dtype, step.via)
        smaller = apply_operator(run.state, Operator.MINIMUM, (sides[0], sides[1]), sides[0].dtype, step.via)
        distance = calculate(run.state, "-", larger, smaller)
        total = calculate(run.state, "+", total, convert(run.state, distance, UINT32))
    run.put(step.written.operands[0], total)


def _dot(run: Run, step: Step) -> None:
    """The sum of products of what lies packed in two words, added to the third; each has a sign as its type says."""
    parts = step.construct.lanes
    signs = [dtype_named(found.dtype).kind is DTypeKind.SIGNED for found in step.types[:2]]
    if len(signs) != len(("first", "second")):
        raise UnreadInstructionError(step.via)
    given = inputs(step, 3)
    first_bits = _WORD // parts
    first_type, second_type = (
        dtype_named(f"{'int' if sign else 'uint'}{bits}") for sign, bits in zip(signs, (first_bits, 8), strict=True)
    )
    start = parts if step.construct.value else 0
    first = run.lanes(given[0], first_type, parts)
    second = run.lanes(given[1], second_type, 4)[start:]
    total = run.value(given[2], UINT32)
    for one, other in zip(first, second, strict=False):
        product_ = calculate(run.state, "*", convert(run.state, one, INT32), convert(run.state, other, INT32))
        total = calculate(run.state, "+", total, convert(run.state, product_, UINT32))
    run.put(step.written.operands[0], total)


def _is_zero(run: Run, step: Step) -> None:
    dtype, _ = typed(step)
    holds = calculate(run.state, "==", run.value(inputs(step, 1)[0], dtype), 0)
    run.put(step.written.operands[0], convert(run.state, holds, dtype))


def _by_sign(run: Run, step: Step) -> None:
    """The first number where the third is not negative, else the second."""
    dtype, _ = typed(step)
    given = inputs(step, 3)
    sign, _ = typed(step, 1)
    third = run.value(given[2], sign)
    zero = Scalar(Const(0.0 if sign.is_float else 0, sign), sign)
    holds = apply_operator(run.state, Operator.GREATER_EQUAL, (third, zero), BOOL, step.via)
    run.put(step.written.operands[0], select(run.state, holds, run.value(given[0], dtype), run.value(given[1], dtype)))


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
    Semantics.COMPUTE_SHIFT_ADD: _shift_add, Semantics.DOT_PACKED: _dot, Semantics.COMPUTE_NOT: _is_zero,
    Semantics.SELECT_SIGN: _by_sign,
}  # fmt: skip
