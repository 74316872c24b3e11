"""PTX instructions on numbers: each becomes the operations the PTX document spells out for it."""

from __future__ import annotations

from portcheck.core.dtype import BOOL, UINT32, DType, DTypeKind, dtype_named
from portcheck.frontends.cuda.assembly.inline import Handler, Run, Step, UnreadInstructionError
from portcheck.frontends.cuda.assembly.ptx import Both, Several, Written
from portcheck.frontends.cuda.expressions.arithmetic import apply_operator, select
from portcheck.frontends.cuda.expressions.numbers import bits_of, calculate, reinterpreted, unsigned_of
from portcheck.frontends.cuda.model.conversions import convert, default_rounding, integer_bits
from portcheck.frontends.cuda.model.values import Pointer, Scalar
from portcheck.frontends.cuda.provided.compositions import propagated, rectified, saturated
from portcheck.ir import COMPARISONS, Const, Operator, Rounding, arity
from portcheck.knowledge import Semantics

_FAST = "approx", "full", "ftz"
_UNORDERED = frozenset({"equ", "neu", "ltu", "leu", "gtu", "geu"})


def typed(step: Step, place: int = 0) -> tuple[DType, int]:
    """A type the instruction names, and how many numbers of it lie in a register."""
    if place >= len(step.types):
        raise UnreadInstructionError(step.via)
    found = step.types[place]
    return dtype_named(found.dtype), found.lanes


def inputs(step: Step, count: int) -> tuple[Written, ...]:
    """The operands after the result; there must be at least `count`."""
    if len(step.written.operands) <= count:
        raise UnreadInstructionError(step.via)
    return step.written.operands[1:]


def result(run: Run, step: Step, values: list[Scalar]) -> None:
    """Puts what was computed into the first operand."""
    run.put(step.written.operands[0], values[0] if len(values) == 1 else tuple(values))


def _computes(run: Run, step: Step) -> None:
    """One operator, on each of the numbers in a register."""
    operator = step.construct.operator
    if operator is None:
        raise UnreadInstructionError(step.via)
    dtype, count = typed(step)
    given = inputs(step, arity(operator))[: arity(operator)]
    if len(step.written.operands) > 1 + len(given):
        raise UnreadInstructionError(step.via)
    columns = [run.lanes(written, dtype, count) for written in given]
    values = [_operate(run, step, operator, tuple(row)) for row in zip(*columns, strict=True)]
    result(run, step, [convert(run.state, value, UINT32) if value.dtype == BOOL else value for value in values])


def _operate(run: Run, step: Step, operator: Operator, operands: tuple[Scalar, ...]) -> Scalar:
    dtype = operands[0].dtype
    stated = step.one(Semantics.QUALIFIER_ROUNDING)
    rounding = stated.rounding if stated is not None else step.construct.rounding
    is_fast = step.construct.approximate or any(step.has(word) for word in _FAST)
    if dtype.is_float and rounding is None and step.has("rn"):
        rounding = Rounding.NEAREST_EVEN
    value = apply_operator(run.state, operator, operands, dtype, step.via, is_fast and dtype.is_float, rounding)
    if step.has("NaN"):
        value = propagated(run.state, operands, value, step.via)
    if step.has("relu"):
        value = rectified(run.state, value, step.via)
    if step.has("sat") and not dtype.is_float:
        raise UnreadInstructionError(step.via)
    return saturated(run.state, value, step.via) if step.has("sat") else value


def _divides(run: Run, step: Step) -> None:
    """A quotient of integers, whose type is part of the instruction's name."""
    dtype = dtype_named(step.construct.dtype)
    given = inputs(step, 2)
    run.put(step.written.operands[0], calculate(run.state, "/", run.value(given[0], dtype), run.value(given[1], dtype)))


def _sign_of_first(run: Run, step: Step) -> None:
    """The second number with the sign of the first."""
    dtype, _ = typed(step)
    sign, size = (run.value(written, dtype) for written in inputs(step, 2)[:2])
    run.put(step.written.operands[0], apply_operator(run.state, Operator.COPYSIGN, (size, sign), dtype, step.via))


def _shift(run: Run, step: Step) -> None:
    """A shift by at most the width: further ones give 0, or the sign."""
    dtype, _ = typed(step)
    given = inputs(step, 2)
    word, distance = run.value(given[0], dtype), run.value(given[1], UINT32)
    run.put(step.written.operands[0], clamped_shift(run, step, word, distance))


def clamped_shift(run: Run, step: Step, word: Scalar, distance: Scalar) -> Scalar:
    """`word` shifted as the instruction says, by any distance."""
    is_left = step.construct.operator is Operator.SHIFT_LEFT
    bits = integer_bits(word.dtype)
    is_signed = word.dtype.kind is DTypeKind.SIGNED and not is_left
    if is_signed:
        most = Scalar(Const(bits - 1, UINT32), UINT32)
        distance = _fold(run, Operator.MINIMUM, distance, most)
        return calculate(run.state, ">>", word, convert(run.state, distance, word.dtype))
    shifted = calculate(run.state, "<<" if is_left else ">>", word, convert(run.state, distance, word.dtype))
    if isinstance(distance.expr, Const):
        return shifted if distance.expr.value < bits else Scalar(Const(0, word.dtype), word.dtype)
    is_far = calculate(run.state, ">=", distance, bits)
    return select(run.state, is_far, Scalar(Const(0, word.dtype), word.dtype), shifted)


def _fold(run: Run, operator: Operator, left: Scalar, right: Scalar) -> Scalar:
    if isinstance(left.expr, Const) and isinstance(right.expr, Const):
        return min(left, right, key=_size) if operator is Operator.MINIMUM else max(left, right, key=_size)
    return apply_operator(run.state, operator, (left, right), left.dtype, "")


def _size(value: Scalar) -> float:
    return float(value.expr.value) if isinstance(value.expr, Const) else 0.0


def _product(run: Run, step: Step) -> None:
    """The low, high or whole product of integers, with a third number added."""
    dtype, _ = typed(step)
    given = inputs(step, 2)
    left, right = run.value(given[0], dtype), run.value(given[1], dtype)
    is_high = step.construct.operator is Operator.MULTIPLY_HIGH
    wide = dtype
    if step.construct.semantics is Semantics.COMPUTE_PRODUCT_WIDE:
        wide = dtype_named(dtype.name.rstrip("0123456789") + str(2 * integer_bits(dtype)))
        left, right = convert(run.state, left, wide), convert(run.state, right, wide)
    operator = Operator.MULTIPLY_HIGH if is_high else Operator.MULTIPLY
    value = apply_operator(run.state, operator, (left, right), wide, step.via)
    if len(given) > 2:
        value = calculate(run.state, "+", value, run.value(given[2], wide))
    run.put(step.written.operands[0], value)


def _carries(run: Run, step: Step) -> None:
    """A sum or difference that takes the carry of the one before, and leaves its own where it ends in `.cc`."""
    dtype, _ = typed(step)
    given = inputs(step, 2)
    is_product = step.construct.operator in (Operator.MULTIPLY, Operator.MULTIPLY_HIGH)
    takes = step.written.opcode[0] in ("addc", "subc", "madc")
    unsigned = unsigned_of(integer_bits(dtype))
    left, right = run.value(given[0], dtype), run.value(given[1], dtype)
    if is_product:
        operator = step.construct.operator or Operator.MULTIPLY
        left = apply_operator(run.state, operator, (left, right), dtype, step.via)
        right = run.value(given[2], dtype)
    left, right = reinterpreted(run.state, left, unsigned), reinterpreted(run.state, right, unsigned)
    if takes and run.carry is None:
        raise UnreadInstructionError(f"{step.via} without a carry")
    is_difference = step.construct.operator is Operator.SUBTRACT
    value = calculate(run.state, "-" if is_difference else "+", left, right)
    over = calculate(run.state, "<", left, right) if is_difference else calculate(run.state, "<", value, left)
    if takes and run.carry is not None:
        carried = convert(run.state, run.carry, unsigned)
        total = calculate(run.state, "-" if is_difference else "+", value, carried)
        again = calculate(run.state, "<", value, carried) if is_difference else calculate(run.state, "<", total, value)
        value, over = total, apply_operator(run.state, Operator.LOGICAL_OR, (over, again), BOOL, step.via)
    if step.has("cc"):
        run.carry = over
    run.put(step.written.operands[0], reinterpreted(run.state, value, dtype))


def _compare(run: Run, step: Step) -> None:
    """A comparison into a predicate, and its opposite into the one beside it."""
    dtype, _ = typed(step)
    given = inputs(step, 2)
    comparison = step.one(Semantics.QUALIFIER_COMPARISON)
    if comparison is None or comparison.operator not in COMPARISONS:
        raise UnreadInstructionError(step.via)
    left, right = run.value(given[0], dtype), run.value(given[1], dtype)
    holds = apply_operator(run.state, comparison.operator, (left, right), BOOL, step.via)
    if dtype.is_float and (comparison.operator is Operator.NOT_EQUAL) != any(step.has(word) for word in _UNORDERED):
        holds = _with_unordered(run, step, (left, right), holds)
    joins = {"and": Operator.LOGICAL_AND, "or": Operator.LOGICAL_OR, "xor": Operator.LOGICAL_XOR}
    joined = next((operator for word, operator in joins.items() if step.has(word)), None)
    if joined is not None and len(given) > 2:
        holds = apply_operator(run.state, joined, (holds, run.value(given[2], BOOL)), BOOL, step.via)
    target = step.written.operands[0]
    if isinstance(target, Both):
        run.put(target.first, holds)
        run.put(target.second, apply_operator(run.state, Operator.LOGICAL_NOT, (holds,), BOOL, step.via))
        return
    run.put(target, holds)


def _with_unordered(run: Run, step: Step, sides: tuple[Scalar, Scalar], holds: Scalar) -> Scalar:
    """A comparison that NaN decides otherwise than C does: `ne` fails with one, `ltu` and the like hold."""
    is_nan = [apply_operator(run.state, Operator.IS_NAN, (side,), BOOL, step.via) for side in sides]
    unordered = apply_operator(run.state, Operator.LOGICAL_OR, (is_nan[0], is_nan[1]), BOOL, step.via)
    if any(step.has(word) for word in _UNORDERED):
        return apply_operator(run.state, Operator.LOGICAL_OR, (holds, unordered), BOOL, step.via)
    ordered = apply_operator(run.state, Operator.LOGICAL_NOT, (unordered,), BOOL, step.via)
    return apply_operator(run.state, Operator.LOGICAL_AND, (holds, ordered), BOOL, step.via)


def _choose(run: Run, step: Step) -> None:
    dtype, _ = typed(step)
    given = inputs(step, 3)
    chosen = select(run.state, run.value(given[2], BOOL), run.value(given[0], dtype), run.value(given[1], dtype))
    run.put(step.written.operands[0], chosen)


def _convert(run: Run, step: Step) -> None:
    """A conversion; two numbers become the high and the low half of a packed result."""
    to, lanes = typed(step)
    from_, _ = typed(step, 1)
    given = inputs(step, 1)
    values = [run.value(written, from_) for written in given[:lanes]]
    made = [_converted(run, step, value, to) for value in reversed(values)]
    if len(made) == 1 and lanes > 1:
        made = [_converted(run, step, part, to) for part in run.lanes(given[0], *typed(step, 1))]
    result(run, step, made)


def _converted(run: Run, step: Step, value: Scalar, to: DType) -> Scalar:
    stated = step.one(Semantics.QUALIFIER_ROUNDING)
    exact = default_rounding(run.state, value.dtype, to)
    rounding = stated.rounding if stated is not None and stated.rounding is not None else exact
    if value.dtype.is_float and to == value.dtype and stated is not None:
        return _rounded_to_whole(run, step, value, rounding)
    if exact is Rounding.EXACT:
        rounding = Rounding.EXACT
    saturates = step.has("satfinite") or (value.dtype.is_float and to.is_integer)
    if step.has("sat") and not to.is_float and not value.dtype.is_float:
        raise UnreadInstructionError(step.via)
    number = convert(run.state, value, to, step.via, rounding, saturates)
    if step.has("relu"):
        return rectified(run.state, number, step.via)
    return saturated(run.state, number, step.via) if step.has("sat") and to.is_float else number


def _rounded_to_whole(run: Run, step: Step, value: Scalar, rounding: Rounding) -> Scalar:
    operators = {
        Rounding.NEAREST_EVEN: Operator.ROUND_EVEN, Rounding.TOWARD_ZERO: Operator.TRUNC,
        Rounding.DOWN: Operator.FLOOR, Rounding.UP: Operator.CEIL,
    }  # fmt: skip
    if rounding not in operators:
        raise UnreadInstructionError(step.via)
    return apply_operator(run.state, operators[rounding], (value,), value.dtype, step.via)


def _move(run: Run, step: Step) -> None:
    """A copy of bits: whole, taken apart or put together."""
    dtype, _ = typed(step)
    target, source = step.written.operands[0], inputs(step, 1)[0]
    if isinstance(target, Several):
        for name, part in zip(target.parts, run.pieces(source, dtype, len(target.parts)), strict=True):
            run.put(name, part)
        return
    if isinstance(source, Several):
        width = unsigned_of(bits_of(run.state, dtype) // len(source.parts))
        run.put(target, tuple(run.value(name, width) for name in source.parts))
        return
    kept = run.registers.get(getattr(source, "text", ""), None)
    run.put(target, kept if isinstance(kept, Pointer | tuple) else run.word(source, dtype))


def _address(run: Run, step: Step) -> None:
    """An address in another window is the same address."""
    run.put(step.written.operands[0], run.address(inputs(step, 1)[0]))


ARITHMETIC: dict[Semantics, Handler] = {
    Semantics.COMPUTE_UNARY: _computes, Semantics.COMPUTE_BINARY: _computes, Semantics.COMPUTE_TERNARY: _computes,
    Semantics.COMPUTE_SHIFT: _shift, Semantics.COMPUTE_PRODUCT: _product, Semantics.COMPUTE_PRODUCT_WIDE: _product,
    Semantics.COMPUTE_CARRY: _carries, Semantics.COMPUTE_COMPARE: _compare, Semantics.SELECT: _choose,
    Semantics.CAST: _convert, Semantics.COPY: _move, Semantics.ADDRESS: _address,
    Semantics.COMPUTE_INTEGER_DIVISION: _divides, Semantics.COMPUTE_SIGN_OF_FIRST: _sign_of_first,
}  # fmt: skip
