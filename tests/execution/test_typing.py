"""C++'s rules for types: random expressions over variables and constants of every type, executed and worked out."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.execution.cxx import COMPARISONS, FLOATS, WIDTHS, Number, binary, chosen, converted, unary
from tests.execution.running import lowered

from portcheck.execution import Geometry, Options, run

VALUES = {
    "bool": (1,), "signed char": (-7, 120), "unsigned char": (250, 3), "short": (-300, 32000),
    "unsigned short": (65000, 17), "int": (-5, 2_000_000_011), "unsigned": (4_000_000_000, 6),
    "long long": (-3_000_000_000, 9), "unsigned long long": (2**63 + 12345, 4), "float": (2.5, -0.1),
    "double": (-3.7, 1e-3),
}  # fmt: skip
VARIABLES = {
    f"{'p' if is_parameter else 'v'}{number}_{which}": (kind, value, is_parameter)
    for number, (kind, values) in enumerate(VALUES.items())
    for which, value in enumerate(values)
    for is_parameter in (True, False)
}
"""Scalar parameters, which stay symbols, and variables read from memory, which are data."""
LITERALS = {
    "3": ("int", 3), "7u": ("unsigned", 7), "100": ("int", 100), "0xffu": ("unsigned", 255),
    "9ull": ("unsigned long long", 9),
    "0x7fffffff": ("int", 2**31 - 1), "0xffffffff": ("unsigned", 2**32 - 1), "4294967295": ("long long", 2**32 - 1),
    "'a'": ("signed char", 97), "true": ("bool", 1), "1'000": ("int", 1000), "0b101": ("int", 5), "017": ("int", 15),
    "1.5f": ("float", 1.5), "0.1": ("double", 0.1), "0.1f": ("float", np.float32(0.1)), "0x1.8p1": ("double", 3.0),
}  # fmt: skip
WHOLE = tuple(WIDTHS)
DIVISORS = {"3": "int", "7u": "unsigned", "-4": "int", "5ll": "long long"}
Expression = tuple[str, Number]


def number(kind: str, value: float) -> Number:
    return Number(FLOATS[kind](value) if kind in FLOATS else int(value), kind)


def leaves(is_whole: bool) -> st.SearchStrategy[Expression]:
    variables = {name: (kind, value) for name, (kind, value, _) in VARIABLES.items()}
    known = [(text, number(*found)) for text, found in (variables | LITERALS).items()]
    return st.sampled_from([pair for pair in known if not is_whole or pair[1].type in WIDTHS])


@st.composite
def expressions(draw: st.DrawFn, depth: int, is_whole: bool) -> Expression:
    """An expression with its value; only of integers where `is_whole`."""
    if depth == 0:
        return draw(leaves(is_whole))
    form = draw(st.sampled_from(["binary", "binary", "compare", "bits", "divide", "shift", "unary", "cast", "choose"]))
    whole_only = is_whole or form in ("bits", "shift", "cast")
    left, right = draw(expressions(depth - 1, whole_only)), draw(expressions(depth - 1, whole_only))
    match form:
        case "shift":
            text, amount = draw(st.sampled_from(["<<", ">>"])), draw(st.sampled_from([1, 3, 5]))
            return f"({left[0]} {text} {amount})", binary(text, left[1], Number(amount, "int"))
        case "divide":
            text = "/" if left[1].type in FLOATS else draw(st.sampled_from("/%"))
            divisor = draw(st.sampled_from(sorted(DIVISORS)))
            value = Number(int(divisor.rstrip("ul")), DIVISORS[divisor])
            return f"({left[0]} {text} ({divisor}))", binary(text, left[1], value)
        case "unary":
            text = draw(st.sampled_from("-+!" if left[1].type in FLOATS else "-+!~"))
            return f"({text} {left[0]})", unary(text, left[1])
        case "cast":
            kind = draw(st.sampled_from(WHOLE))
            return f"(({kind}){left[0]})", converted(left[1], kind)
        case "choose":
            condition = draw(leaves(is_whole=True))
            return f"({condition[0]} ? {left[0]} : {right[0]})", chosen(condition[1], left[1], right[1])
        case _:
            operators = {"binary": "+-*", "compare": (*COMPARISONS, "&&", "||"), "bits": "&|^"}[form]
            text = draw(st.sampled_from(tuple(operators)))
            return f"({left[0]} {text} {right[0]})", binary(text, left[1], right[1])


ARRAYS = {kind: f"a{position}" for position, kind in enumerate(VALUES)}
DTYPES = {
    "bool": np.bool_, "signed char": np.int8, "unsigned char": np.uint8, "short": np.int16, "unsigned short": np.uint16,
    "int": np.int32, "unsigned": np.uint32, "long long": np.int64, "unsigned long long": np.uint64, **FLOATS,
}  # fmt: skip


def executed(statements: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """What the statements leave in `x` (whole numbers) and `y`."""
    given = [(name, kind, value) for name, (kind, value, is_parameter) in VARIABLES.items() if is_parameter]
    read = [(name, kind) for name, (kind, _, is_parameter) in VARIABLES.items() if not is_parameter]
    parameters = [f"const {kind}* {array}" for kind, array in ARRAYS.items()]
    parameters += [f"{kind} {name}" for name, kind, _ in given]
    loads = [f"{kind} {name} = {ARRAYS[kind]}[{name[-1]}];" for name, kind in read]
    text = "\n".join([*loads, *statements])
    program = lowered(f"__global__ void k(long long* x, double* y, {', '.join(parameters)}) {{\n{text}\n}}", fmad=False)
    arguments = {array: np.array(VALUES[kind], DTYPES[kind]) for kind, array in ARRAYS.items()}
    arguments |= {name: value for name, _, value in given}
    arguments |= {"x": np.zeros(len(statements), np.int64), "y": np.zeros(len(statements))}
    done = run(program, arguments, Geometry.of(1, 1, 0), Options())
    assert done.stopped is None
    return done.arrays["x"], done.arrays["y"]


def check(found: list[tuple[str, Number]]) -> None:
    """Executes each expression, assigned to a variable of the widest type of its kind."""
    statements = [
        f"{'y' if value.type in FLOATS else 'x'}[{place}] = {text};" for place, (text, value) in enumerate(found)
    ]
    whole, floating = executed(statements)
    for place, (text, value) in enumerate(found):
        if value.type in FLOATS:
            assert floating[place] == float(value.value), text
        else:
            assert whole[place] == converted(value, "long long").value, text


@settings(max_examples=15, deadline=None)
@given(st.lists(expressions(3, is_whole=True), min_size=8, max_size=16))
def test_expressions_of_integers(found: list[Expression]) -> None:
    with np.errstate(all="ignore"):
        check(found)


@settings(max_examples=15, deadline=None)
@given(st.lists(expressions(2, is_whole=False), min_size=8, max_size=16))
def test_expressions_of_all_numbers(found: list[Expression]) -> None:
    with np.errstate(all="ignore"):
        check(found)


COMPOUND = st.tuples(st.sampled_from(WHOLE[1:]), st.sampled_from("+-*/%&|^"), leaves(True))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(WHOLE[1:]), st.sampled_from("+-*/%&|^"), leaves(True)), min_size=8, max_size=8)
)
def test_compound_assignments_convert_back(found: list[tuple[str, str, Expression]]) -> None:
    statements, wanted = [], []
    for place, (kind, text, (operand, value)) in enumerate(found):
        start = number(kind, VALUES[kind][0])
        divides = text in "/%"
        operand, value = ("7u", Number(7, "unsigned")) if divides else (operand, value)
        statements.append(f"{{ {kind} q = v{WHOLE.index(kind)}_0; q {text}= {operand}; x[{place}] = q; }}")
        wanted.append(converted(converted(binary(text, start, value), kind), "long long").value)
    assert executed(statements)[0].tolist() == wanted


EXACT = {
    "(unsigned)p5_0 % 5ll": (2**32 - 5) % 5,
    "(unsigned)p5_0 + 1ll": 2**32 - 4,
    "(long long)(unsigned)p3_0": 2**32 - 300,
    "(int)p8_0 < 1000000": 12345 < 1000000,
    "(unsigned long long)(p7_0 % 7) > p6_1 + 1u": 1,
    "(unsigned)p1_0 > p7_1": 1,
    "p5_0 < p6_1": 0,
    "p1_0 + p2_1 < p6_1": 0,
    "p7_1 - 10 < p6_1": 1,
    "p7_1 - 10 < p8_1": 0,
    "(unsigned char)p5_0 >> 1": 251 >> 1,
    "(unsigned)(p5_0 * 1ll) >> 28": 15,
    "(p5_0 - 0u) / 2": (2**32 - 5) // 2,
    "(1 ? p5_0 : 0u) / 2": (2**32 - 5) // 2,
    "(signed char)(p2_0 + p2_0) * 2": -24,
    "- 0x80000000 > 0": 1,
    "!p5_0 - 1": -1,
    "~p2_0 >> 4": -16,
    "(p5_0) + (p7_1) * (p2_1)": -5 + 9 * 3,
    "-(p5_0) - (p7_1) - (p2_1)": 5 - 9 - 3,
    "(long long)(p5_0) & (p7_1) == 9": -5 & 1,
    "2 * (p5_0 * (p7_1)) - (p2_1) * 2": -96,
    "(p5_0) && (p7_1) - 9": 0,
    "(p5_0) -0x10": -21,
}
"""Conversions that are easily lost, and what looks like a cast and is none, worked out by hand.

`int` -5, `short` -300, bytes 250 and 3, `unsigned` 6, `long long` 9."""


def test_conversions_that_are_easily_lost() -> None:
    whole, _ = executed([f"x[{place}] = {text};" for place, text in enumerate(EXACT)])
    assert dict(zip(EXACT, whole.tolist(), strict=True)) == {text: int(value) for text, value in EXACT.items()}
