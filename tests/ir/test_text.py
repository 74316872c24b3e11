"""The text form: every spelling prints as it is read; everything else is refused with its line."""

import math

import pytest
from tests.ir.program_text import HEADER, last_of, program_of, text_of

from portcheck.core.dtype import BOOL, FLOAT16, FLOAT32, INT32, INT64, UINT32, DType, DTypeKind, dtype_of
from portcheck.core.errors import PortcheckError
from portcheck.core.source import NOWHERE, Position, Span
from portcheck.ir import (
    Apply,
    Assume,
    Compute,
    Const,
    Expr,
    Kernel,
    Launch,
    Loop,
    Operator,
    Program,
    Side,
    Symbol,
    apply,
)
from portcheck.ir.text import IrTextError, parse_program, print_program

A, B, C = (Symbol(name, INT32) for name in ("a", "b", "c"))
WIDE = Symbol("wide", INT64)
O = Operator  # noqa: E741  # the table below is read by column


OPERATIONS = [
    ("%9: alloc t: float16",),
    ("%9: alloc dyn: float32[n] shared dynamic",),
    ("%9: alloc seen: int16[256, 512] shared of tile",),
    ('%9: alloc "a b": dtype(x)[128, 33] psum via "nl.ndarray" @3:5-20',),
    ("%9 = load ss -> float32",),
    ('%9 = load x[blockIdx.x * dim + threadIdx.x] -> float16 via "x[...]" @3:5-4:20',),
    ("%9 = load tile[p, f] over(p: partition < 128, f: free) mask(p < dim) fill(0.0:float16) -> float16[128, n]",),
    ("%9: store ss = %3",),
    ("%9: store ss += %3 * 2.0",),
    ("%9: store tile[p, 0] over(p: partition < 128) mask(p < rows) = 0.0 group",),
    ("%9: store y[0] volatile = %3 unique_indices",),
    ("%9: store y[0] outside(skip) += %3 unique_indices",),
    ("%9: store y[0] = %3 group unique_indices",),
    ("%9 = load x[0] mask(%5) outside(border) volatile fill(0.0:float16) -> float16",),
    ("%9: store volatile volatile = unique_indices unique_indices",),
    ("%9: copy tile[p, 0] over(p: partition < 128) = x[q] over(q: free < 128)",),
    ("%9: copy tile[0, 0] += y[0, 0]",),
    ("%9: copy tile[0, 0] outside(error) = y[0, 0] outside(clamp) volatile unique_indices",),
    ("%9 = compute %3 * %3 contractible -> float32",),
    ("%9 = compute rsqrt(%3) approximate mask(dim0 < 3) -> float32[128] shared",),
    ("%9 = compute -%3 -> float32",),
    ("%9 = compute %3 + %3 toward_zero mask(%5) -> float32",),
    ("%9 = compute -(1.0) -> float32",),
    ("%9 = compute fma(%3, %3, 1.0) -> float32",),
    ("%9 = cast %3 -> float16",),
    ("%9 = cast %3 toward_zero saturating bitwise -> int32",),
    ("%9 = cast %3 exact -> float64",),
    ("%9 = reduce add(%4) dimensions(1) accumulate(float32) -> float32[128, 1] shared",),
    ("%9 = reduce maximum(%3) lanes(32) accumulate(float32) order(butterfly) drop_dimensions mask(true) -> float32",),
    ("%9 = scan add(%4, %4) dimension(1) multiplier(multiply) initial(0.0) exclusive reverse order(any) -> float32",),
    ("%9 = scan add(%3) lanes(32) -> float32",),
    ("%9 = scan add(%3) lanes(32) lanes_mask(255) scope(core) accumulate(float64) mask(%5) -> float32",),
    ("%9 = reduce add(%3) lanes(256) lanes_mask(%5) scope(block) accumulate(float32) -> float32",),
    ("%9 = matmul %4, %4 accumulate(float32) order(pairwise) -> float32[512, 512] psum",),
    ("%9 = transpose %4 permutation(1, 0) -> float32[512, 128] shared",),
    ("%9 = exchange xor(%3) lane(16) width(32) lanes_mask(0xffffffffffffffffff) -> float32",),
    ("%9 = exchange pattern(%3) lane(0) width(4) pattern(3, 2, 1, 0) -> float32",),
    ("%9 = select(%5, %3, 0.0) -> float32",),
    ("%9: barrier block",),
    ("%9: barrier warp participants(255)",),
    ("%9 = barrier block participants(64) combine(logical_or) operand(%5) -> bool",),
    ("%9: fence device",),
    ("%9: fence system order(acquire_release)",),
    ("%9 = atomic add y[0] value(%3) -> float32",),
    ("%9 = atomic exchange y[0] mask(%5) value(%3) compare(0.0) scope(block) result_used -> float32",),
    ("%9 = atomic add y[0] volatile value(1.0) limit(%3) order(sequential) unique_indices -> float32",),
    ("%9 = random curand_uniform(%3, 7) -> float32",),
    ('%9 = random philox() state(y) distribution("log normal") -> float32',),
    ("%9: loop c = threadIdx.x to dim step 256", "  %8: store ss = %3"),
    ("%9: loop i = 0 to 4 step -1 parallel-asserted",),
    ("%9: loop o = 16 while o > 0 next o >> 1 unrolled",),
    ("%9: while body_first", "  test", "    %6: fence block", "  condition %5", "  body", "    %7: leave loop"),
    ("%9: branch %5", "  %6: leave iteration", "else", "  %7: return"),
    ("%9: branch threadIdx.x == 0",),
    ("%9: return y, tile",),
    ("%9: return y[4, 8], tile[], ss[n * 2]",),
    ('%9: return via via "return" @1:1-7',),
    ("%9 = call helper(%3, 2) reads(x) writes(y, ss) -> float32",),
    ('%9: call "ns::f<int>"()',),
    ("%9: assume dim > 0 && !%5",),
    ("%9: check trap",),
    ("%9 = check clock condition(%5) -> int64",),
    ('%9: check print operands(%3, dim) message("%d is \\"%f\\"\\n")',),
    ('%9: opaque "?" kind(texture) reads(x)',),
    ('%9: opaque "asm volatile(\\"...\\")" reads(x) writes(y) operands(%3, eps)',),
    ('%9 = opaque "?" -> float32 @"a b.cuh" 1:2-3',),
]


@pytest.mark.parametrize("lines", OPERATIONS, ids=lambda lines: lines[0])
def test_operation_prints_as_it_reads(lines: tuple[str, ...]) -> None:
    assert print_program(program_of(*lines)) == text_of(*lines)


EXPRESSIONS: list[tuple[str, Expr]] = [
    ("a + b - c", apply(O.SUBTRACT, apply(O.ADD, A, B), C)),
    ("a - (b + c)", apply(O.SUBTRACT, A, apply(O.ADD, B, C))),
    ("a + b * c", apply(O.ADD, A, apply(O.MULTIPLY, B, C))),
    ("(a + b) // c", apply(O.FLOOR_DIVIDE, apply(O.ADD, A, B), C)),
    ("a / b", apply(O.DIVIDE, A, B)),
    ("truncated_divide(a, 32)", apply(O.TRUNCATED_DIVIDE, A, Const(32, INT32))),
    ("ceiling_divide(a, b) * -1", apply(O.MULTIPLY, apply(O.CEILING_DIVIDE, A, B), Const(-1, INT32))),
    ("-(1)", apply(O.NEGATE, Const(1, INT32))),
    ("-(-1)", apply(O.NEGATE, Const(-1, INT32))),
    ("-1", Const(-1, INT32)),
    ("a - -1", apply(O.SUBTRACT, A, Const(-1, INT32))),
    ("-(-a)", apply(O.NEGATE, apply(O.NEGATE, A))),
    ("(a & 31) + b", apply(O.ADD, apply(O.BITWISE_AND, A, Const(31, INT32)), B)),
    ("a & b & c", apply(O.BITWISE_AND, apply(O.BITWISE_AND, A, B), C)),
    ("(a & b) ^ c", apply(O.BITWISE_XOR, apply(O.BITWISE_AND, A, B), C)),
    ("(a << b) == c", apply(O.EQUAL, apply(O.SHIFT_LEFT, A, B), C)),
    ("a >>> 3", apply(O.SHIFT_RIGHT_LOGICAL, A, Const(3, INT32))),
    ("(a < b) == true", apply(O.EQUAL, apply(O.LESS, A, B), Const(True, BOOL))),
    ("a < b && b < c || !(a == c)",
     apply(O.LOGICAL_OR, apply(O.LOGICAL_AND, apply(O.LESS, A, B), apply(O.LESS, B, C)),
           apply(O.LOGICAL_NOT, apply(O.EQUAL, A, C)))),
    ("select(a < b, a, 1)", Apply(O.SELECT, (apply(O.LESS, A, B), A, Const(1, INT32)), INT32)),
    (
        "select(a < b, 1, wide:int64)",
        Apply(O.SELECT, (apply(O.LESS, A, B), Const(1, INT64), WIDE), INT64),
    ),
    ("2 * wide:int64", apply(O.MULTIPLY, Const(2, INT64), WIDE)),
    ("2:int32 * wide:int64", apply(O.MULTIPLY, Const(2, INT32), WIDE)),
    ("(a + 1):int64", apply(O.ADD, A, Const(1, INT32), dtype=INT64)),
    ("a * 1:uint32", apply(O.MULTIPLY, A, Const(1, UINT32))),
    ("0.5 + 1", apply(O.ADD, Const(0.5, FLOAT32), Const(1, INT32))),
    ("0.5:float16", Const(0.5, FLOAT16)),
    ("1e+22", Const(1e22, FLOAT32)),
    ("-inf", Const(-math.inf, FLOAT32)),
    ("nan:dtype(x)", Const(math.nan, dtype_of("x"))),
    ("-0.0", Const(-0.0, FLOAT32)),
    ("0x10000000000000000:int64", Const(1 << 64, INT64)),
    ('"x.shape[0]" + blockIdx.x', apply(O.ADD, Symbol("x.shape[0]", INT32), Symbol("blockIdx.x", INT32))),
    ('"true" + step', apply(O.ADD, Symbol("true", INT32), Symbol("step", INT32))),
    ("a:<fp4 float> >> 2", apply(O.SHIFT_RIGHT_ARITHMETIC, Symbol("a", DType("fp4", DTypeKind.FLOAT)),
                                 Const(2, DType("fp4", DTypeKind.FLOAT)))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expression"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_expression_is_read_from_its_text(text: str, expression: Expr) -> None:
    made = last_of(f"%9: assume {text}")
    assert isinstance(made, Assume)
    assert repr(made.condition) == repr(expression)


@pytest.mark.parametrize(("text", "expression"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_expression_is_printed_as_its_text(text: str, expression: Expr) -> None:
    # The other side of the condition fixes the dtypes of the symbols.
    fixed = tuple(Assume(id=id, span=NOWHERE, condition=A) for id in range(2, 5))
    others = tuple(Assume(id=id, span=NOWHERE, condition=Symbol("wide", INT32)) for id in range(5, 8))
    body = (*fixed, *others, Assume(id=1, span=NOWHERE, condition=expression))
    assert print_program(program_with(*body)).split("\n")[-2] == f"  %1: assume {text}"


def program_with(*body: Assume) -> Program:
    kernel = Kernel(name="k", parameters=(), axes=(), body=body, span=NOWHERE)
    return Program(side=Side.NKI, path="p.py", kernels=(kernel,), launches=())


def test_compute_with_too_few_operands_prints_by_name() -> None:
    line = "%9 = compute add(%3) -> float32"
    made = last_of(line)
    assert isinstance(made, Compute)
    assert len(made.operands) == 1
    assert print_program(program_of(line)) == text_of(line)


def test_symbols_take_their_dtype_from_the_header() -> None:
    text = 'program nki "p.py" version "0.6"\nsymbols uint32: a, "b c"\nkernel k\n  %1: assume a < "b c"\n'
    program = parse_program(text)
    assert print_program(program) == text
    condition = apply(O.LESS, Symbol("a", UINT32), Symbol("b c", UINT32))
    assert program.kernels[0].body == (Assume(id=1, span=NOWHERE, condition=condition),)


def test_header_holds_the_flags_of_the_compiler() -> None:
    text = 'program cuda "k.cu"\nnote "x"\nflags "fast-math", fmad\nkernel k\n'
    program = parse_program(text)
    assert print_program(program) == text
    assert program.flags == ("fast-math", "fmad")


@pytest.mark.parametrize(
    ("clause", "value"),
    [
        ("none", None), ("1e-05", 1e-05), ("-inf", -math.inf), ("-3", -3), ("true", True), ('"none"', "none"),
        ('"a \\"b\\"\\n"', 'a "b"\n'), ("1.0", 1.0),
    ],
)  # fmt: skip
def test_a_default_prints_as_it_reads(clause: str, value: float | str | None) -> None:
    text = f'program nki "p.py"\nkernel k\n  scalar a: int32 default({clause})\n'
    program = parse_program(text)
    default = program.kernels[0].parameters[0].default
    assert default is not None and repr(default.value) == repr(value)
    assert print_program(program) == text


@pytest.mark.parametrize("clause", ["default()", "default(a)", "default(none, 1)", "default(1) default(2)"])
def test_what_is_no_default_is_refused(clause: str) -> None:
    with pytest.raises(IrTextError):
        parse_program(f'program nki "p.py"\nkernel k\n  scalar a: int32 {clause}\n')


def test_header_holds_notes_and_launches() -> None:
    text = (
        'program cuda "k.cu"\nnote "BLOCK = 256\\nassumed"\n'
        'launch "k<256>" grid(1, n) block(256) shared_bytes(4 * n) arguments(x = d_x, y = "a[0]") @9:1-2\n'
        'kernel "k<256>" results(x) @1:1-8:2\n  buffer x: float32 global @1:2-3\n'
    )
    program = parse_program(text)
    assert print_program(program) == text
    assert program.notes == ("BLOCK = 256\nassumed",)
    assert program.launches[0].arguments == (("x", "d_x"), ("y", "a[0]"))
    assert program.kernels[0].span == Span("k.cu", Position(1, 1), Position(8, 2))


def test_launch_nowhere_differs_from_launch_without_place() -> None:
    for span in (None, NOWHERE):
        program = Program(side=Side.CUDA, path="", kernels=(), launches=(Launch(kernel="k", span=span),))
        assert parse_program(print_program(program)) == program


def test_empty_lines_comments_and_line_ends_do_not_matter() -> None:
    text = text_of("%9: barrier block")
    assert parse_program("\n# a comment\n" + text.replace("\n", "\r\n\r\n")) == parse_program(text)


LINES = HEADER.count("\n")
MALFORMED = [
    ("", 1, "ends too early"),
    ("kernel k\n", 1, "expected 'program'"),
    ('program rust "a"\n', 1, "'rust' is no Side"),
    ('program cuda "a" 1\n', 1, "expected the end of the line"),
    ('program cuda "a\n', 1, "cannot read"),
    ('program cuda "\\q"\n', 1, "cannot read the text"),
    ('program cuda "a"\n  note "b"\n', 2, "indented too far"),
    ('program cuda "a"\nnote "b" "c"\n', 2, "end of the line"),
    ('program cuda "a"\nbody\n', 2, "expected note, flags, temporaries, symbols, launch, kernel or use"),
    ('program cuda "a"\nkernel k\n   %1: return\n', 3, "indented by 3 spaces"),
    (text_of("%9: barrier everyone"), LINES + 1, "'everyone' is no Scope"),
    (text_of("%9: fly away"), LINES + 1, "there is no operation 'fly'"),
    (text_of("%9 = load x[0]"), LINES + 1, "load lacks its type"),
    (text_of("%9: assume dim > 0 -> float32"), LINES + 1, "has no result"),
    (text_of("%9: alloc t: float32 -> float32"), LINES + 1, "has no result"),
    (text_of("%9: alloc t: float12"), LINES + 1, "'float12' is no dtype"),
    (text_of("%9 = reduce add(%4) dimensions(1) -> float32"), LINES + 1, "reduce lacks its accumulate"),
    (text_of("%9 = exchange xor(%3) lane(1) lane(2) width(32) -> float32"), LINES + 1, "'lane' stands here twice"),
    (text_of("%9: assume %77 > 0"), LINES + 1, "%77 is not the result of a line above"),
    (text_of("%9: assume a <"), LINES + 1, "expected an expression, found the end of the line"),
    (text_of("%9: assume (a < b"), LINES + 1, "expected ')'"),
    (text_of("%9: assume f(a)"), LINES + 1, "'f' is no Operator"),
    (text_of("%9: assume a $ b"), LINES + 1, "cannot read '$ b'"),
    (text_of("%9 = compute %3 -> float32"), LINES + 1, "expected an operator and its operands"),
    (text_of("%9 = compute (%3 + %3):int32 -> float32"), LINES + 1, "expected an operator and its operands"),
    (text_of("%9 = select(%5, %3) -> float32"), LINES + 1, "three operands"),
    (text_of("%9 = transpose %4 permutation(1.5) -> float32"), LINES + 1, "expected an integer"),
    (text_of("%9: while", "  body"), LINES + 2, "expected 'test'"),
    (text_of("else"), LINES + 1, "indented too far"),
    (text_of("%9: barrier block", "  %10: barrier block"), LINES + 2, "indented too far"),
    (text_of("%9: assume a == " + "9" * 5000), LINES + 1, "too long"),
]


@pytest.mark.parametrize(("text", "line", "problem"), MALFORMED, ids=[problem for _, _, problem in MALFORMED])
def test_malformed_text_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(IrTextError) as caught:
        parse_program(text)
    assert caught.value.line == line
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"line {line}: ")


def test_error_is_expected_and_a_value_error() -> None:
    assert issubclass(IrTextError, PortcheckError)
    assert issubclass(IrTextError, ValueError)
    assert IrTextError("bad").exit_code == 2


DEEP = {
    "parentheses": "(" * 100_000,
    "prefixes": "-" * 100_000 + "a",
    "negations": "!" * 100_000,
    "calls": "floor(" * 100_000,
    "sums": "a + " * 100_000 + "a",
    "right operands": "a + (" * 500 + "a" + ")" * 500,
    "mixed levels": "a || b && c == d | e + f * (" * 500,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_expression_is_refused(text: str) -> None:
    with pytest.raises(IrTextError, match="nested deeper"):
        parse_program(text_of(f"%9: assume {text}"))


@pytest.mark.parametrize("depth", [1, 50, 119])
@pytest.mark.parametrize("is_left", [True, False])
def test_expression_within_the_limit_reads_back(depth: int, is_left: bool) -> None:
    expression: Expr = A
    for _ in range(depth):
        expression = apply(O.SUBTRACT, expression, B) if is_left else apply(O.SUBTRACT, B, expression)
    program = program_with(Assume(id=1, span=NOWHERE, condition=apply(O.NEGATE, expression)))
    assert parse_program(print_program(program)) == program


def test_printing_a_deep_expression_fails_in_the_same_way() -> None:
    expression: Expr = A
    for _ in range(5_000):
        expression = apply(O.ADD, expression, B)
    with pytest.raises(IrTextError, match="nested deeper"):
        print_program(program_with(Assume(id=1, span=NOWHERE, condition=expression)))


def test_deep_regions_are_refused() -> None:
    lines = ["  " * depth + f"%{depth + 9}: loop i{depth} = 0 to 1 step 1" for depth in range(2_000)]
    with pytest.raises(IrTextError, match="regions are nested deeper"):
        parse_program(text_of(*lines))


def test_regions_within_the_limit_read_back() -> None:
    lines = ["  " * depth + f"%{depth + 9}: loop i{depth} = 0 to 1 step 1" for depth in range(60)]
    program = program_of(*lines)
    assert print_program(program) == text_of(*lines)
    assert isinstance(program.kernels[0].body[-1], Loop)
