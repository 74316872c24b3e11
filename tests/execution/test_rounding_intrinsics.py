"""Every intrinsic that names a rounding gives the exact result, rounded once in that direction."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import isfinite

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.execution.fractions_reference import nearest, square_root
from tests.execution.running import lowered

from portcheck.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, DType
from portcheck.execution import Geometry, run
from portcheck.execution.arithmetic.formats import storage
from portcheck.ir import Program, Rounding

MODES = {
    "rn": Rounding.NEAREST_EVEN, "rz": Rounding.TOWARD_ZERO, "ru": Rounding.UP, "rd": Rounding.DOWN,
}  # fmt: skip
EXAMPLES = settings(max_examples=8, deadline=None, derandomize=True, phases=(Phase.generate,))
Exact = Callable[..., Fraction | None]
Float = float | Fraction


def quotient(x: Fraction, y: Fraction) -> Fraction | None:
    return x / y if y else None


ARITHMETIC: dict[str, tuple[int, Exact]] = {
    "add": (2, lambda x, y: x + y), "sub": (2, lambda x, y: x - y), "mul": (2, lambda x, y: x * y),
    "div": (2, quotient), "rcp": (1, lambda x: quotient(Fraction(1), x)), "fma": (3, lambda x, y, z: x * y + z),
}  # fmt: skip
FORMS = {
    FLOAT32: ("float", "__f%s_%s", {"fma": "__fmaf_%s"}), FLOAT64: ("double", "__d%s_%s", {"fma": "__fma_%s"}),
}  # fmt: skip


def spelled(name: str, dtype: DType, mode: str) -> str:
    _, pattern, others = FORMS[dtype]
    return others[name] % mode if name in others else pattern % (name, mode)


@cache
def program_of(calls: tuple[str, ...], source: str, target: str) -> Program:
    lines = "".join(f"y[{place} * n + i] = {call};" for place, call in enumerate(calls))
    return lowered(
        f"__global__ void k(const {source}* x, {target}* y, int n) {{ int i = threadIdx.x; if (i < n) {{ {lines} }} }}"
    )


def given_back(calls: tuple[str, ...], types: tuple[str, str], x: np.ndarray, wanted: np.dtype) -> np.ndarray:
    count = x.shape[-1]
    y = np.zeros((len(calls), count), wanted)
    done = run(program_of(calls, *types), {"x": x, "y": y, "n": count}, Geometry.of(1, 32))
    assert not done.faults
    return done.arrays["y"]


def same(found: float, expected: float) -> bool:
    return found == expected or (np.isnan(found) and np.isnan(expected))


def numbers(dtype: DType) -> st.SearchStrategy[float]:
    """Finite numbers, many of them near each other, so that sums cancel and round."""
    width = 8 * storage(dtype).itemsize
    anything = st.floats(width=width, allow_nan=False, allow_infinity=False)
    return anything | st.sampled_from((1.0, -1.0, 1.5, 3.0, 0.0, -0.0, 2.0**-20)) | st.floats(-4, 4, width=width)


@pytest.mark.parametrize("dtype", FORMS, ids=str)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name: str, dtype: DType) -> None:
    arity, exact = ARITHMETIC[name]
    operands = ", ".join(f"x[{place} * n + i]" for place in range(arity))
    calls = tuple(f"{spelled(name, dtype, mode)}({operands})" for mode in MODES)
    types = (FORMS[dtype][0],) * 2

    @EXAMPLES
    @given(st.lists(st.tuples(*[numbers(dtype)] * 3), min_size=32, max_size=32))
    def check(rows: list[tuple[float, ...]]) -> None:
        x = np.array(rows, storage(dtype)).T.copy()
        found = given_back(calls, types, x, storage(dtype))
        for place, rounding in enumerate(MODES.values()):
            for column in range(x.shape[1]):
                value = exact(*(Fraction(float(part)) for part in x[:arity, column]))
                if value is not None:
                    result = float(found[place, column])
                    assert same(result, nearest(value, dtype, rounding)), (x[:, column], rounding, result)

    check()


@pytest.mark.parametrize("dtype", FORMS, ids=str)
def test_roots(dtype: DType) -> None:
    calls = tuple(f"{spelled('sqrt', dtype, mode)}(x[i])" for mode in MODES)
    types = (FORMS[dtype][0],) * 2

    @EXAMPLES
    @given(st.lists(numbers(dtype).map(abs), min_size=32, max_size=32))
    def check(row: list[float]) -> None:
        x = np.array(row, storage(dtype))
        found = given_back(calls, types, x, storage(dtype))
        for place, rounding in enumerate(MODES.values()):
            expected = [square_root(Fraction(float(part)), dtype, rounding) for part in x]
            assert found[place].tolist() == expected

    check()


@pytest.mark.parametrize("dtype", FORMS, ids=str)
def test_a_sum_that_is_exactly_zero_is_negative_only_towards_minus_infinity(dtype: DType) -> None:
    x = np.array([[1.5, 0.0, -0.0, 0.0, -2.0], [-1.5, 0.0, -0.0, -0.0, 2.0], [1, 1, 1, 1, 1]], storage(dtype))
    for name, operands in (
        ("add", "x[i], x[n + i]"), ("sub", "x[i], -x[n + i]"), ("fma", "x[i], x[2 * n + i], x[n + i]")
    ):  # fmt: skip
        calls = tuple(f"{spelled(name, dtype, mode)}({operands})" for mode in MODES)
        found = given_back(calls, (FORMS[dtype][0],) * 2, x, storage(dtype))
        assert not found.any()
        signs = dict(zip(MODES, np.signbit(found).tolist(), strict=True))
        usual = [False, False, True, False, False]
        assert signs == {"rn": usual, "rz": usual, "ru": usual, "rd": [True, False, True, True, True]}, name


@pytest.mark.parametrize("dtype", FORMS, ids=str)
def test_what_is_too_large_is_the_largest_number_where_the_direction_says_so(dtype: DType) -> None:
    largest = float(np.finfo(storage(dtype)).max)
    x = np.array([[largest, -largest], [largest, -largest], [largest, largest]], storage(dtype))
    up, down = [np.inf, -largest], [largest, -np.inf]
    expected = {"rn": [np.inf, -np.inf], "rz": [largest, -largest], "ru": up, "rd": down}
    for name, operands in (
        ("add", "x[i], x[n + i]"), ("sub", "x[i], -x[n + i]"), ("mul", "x[i], x[2 * n + i]"),
        ("div", "x[i], 0.5f"), ("fma", "x[i], x[2 * n + i], x[n + i]"),
    ):  # fmt: skip
        calls = tuple(f"{spelled(name, dtype, mode)}({operands})" for mode in MODES)
        found = given_back(calls, (FORMS[dtype][0],) * 2, x, storage(dtype))
        assert dict(zip(MODES, found.tolist(), strict=True)) == expected, name


@pytest.mark.parametrize("dtype", FORMS, ids=str)
def test_infinities_that_are_exact_are_the_same_in_every_direction(dtype: DType) -> None:
    x = np.array([np.inf, -np.inf, 1.0, -1.0], storage(dtype))
    for name, operands, expected in (
        ("add", "x[i], 1.f", [np.inf, -np.inf, 2, 0]), ("div", "x[i], 0.f", [np.inf, -np.inf, np.inf, -np.inf]),
        ("fma", "x[i], 2.f, 1.f", [np.inf, -np.inf, 3, -1]),
    ):  # fmt: skip
        calls = tuple(f"{spelled(name, dtype, mode)}({operands})" for mode in MODES)
        assert given_back(calls, (FORMS[dtype][0],) * 2, x, storage(dtype)).tolist() == [expected] * 4, name


WHOLE = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64, "short": np.int16, "ushort": np.uint16}
SPELLED = {
    "int": "int", "uint": "unsigned", "ll": "long long", "ull": "unsigned long long", "short": "short",
    "ushort": "unsigned short",
}  # fmt: skip
SOURCES = {
    "float": (FLOAT32, "float", tuple(WHOLE)[:4]), "double": (FLOAT64, "double", tuple(WHOLE)[:4]),
    "half": (FLOAT16, "half", tuple(WHOLE)), "bfloat16": (BFLOAT16, "__nv_bfloat16", tuple(WHOLE)),
}  # fmt: skip


def to_whole(value: float, rounding: Rounding, target: np.dtype) -> int:
    """The nearest whole number there is; `nearest` of a format without a fraction in its range."""
    limits = np.iinfo(target)
    down = int(np.floor(value))
    exact = Fraction(value)
    rounded = {
        Rounding.NEAREST_EVEN: round(exact), Rounding.DOWN: down, Rounding.UP: -int(np.floor(-value)),
        Rounding.TOWARD_ZERO: int(value),
    }[rounding]  # fmt: skip
    return min(max(rounded, int(limits.min)), int(limits.max))


@pytest.mark.parametrize(("source", "target"), [(name, whole) for name in SOURCES for whole in SOURCES[name][2]])
def test_floats_to_whole_numbers(source: str, target: str) -> None:
    dtype, ctype, _ = SOURCES[source]
    calls = tuple(f"__{source}2{target}_{mode}(x[i])" for mode in MODES)

    @EXAMPLES
    @given(st.lists(numbers(FLOAT32) | st.floats(-(2.0**65), 2.0**65), min_size=32, max_size=32))
    def check(row: list[float]) -> None:
        with np.errstate(over="ignore"):
            x = np.array(row, np.float64).astype(storage(dtype))
        x[~np.isfinite(x.astype(np.float64))] = 1
        found = given_back(calls, (ctype, SPELLED[target]), x, np.dtype(WHOLE[target]))
        for place, rounding in enumerate(MODES.values()):
            assert found[place].tolist() == [to_whole(float(part), rounding, WHOLE[target]) for part in x]

    check()


@pytest.mark.parametrize(("target", "source"), [(name, whole) for name in SOURCES for whole in SOURCES[name][2]])
def test_whole_numbers_to_floats(target: str, source: str) -> None:
    dtype, ctype, _ = SOURCES[target]
    modes = ("rn",) if target == "double" and source in ("int", "uint") else tuple(MODES)
    calls = tuple(f"__{source}2{target}_{mode}(x[i])" for mode in modes)
    limits = np.iinfo(WHOLE[source])

    @EXAMPLES
    @given(st.lists(st.integers(int(limits.min), int(limits.max)) | st.integers(0, 5000), min_size=32, max_size=32))
    def check(row: list[int]) -> None:
        found = given_back(calls, (SPELLED[source], ctype), np.array(row, WHOLE[source]), storage(dtype))
        for place, mode in enumerate(modes):
            expected = [
                nearest(Fraction(part) if part <= limits.max else Fraction(0), dtype, MODES[mode]) for part in row
            ]
            assert found[place].astype(np.float64).tolist() == expected

    check()


NARROWED = {
    "double to float": ("__double2float_%s", FLOAT64, "double", FLOAT32, "float"),
    "float to half": ("__float2half_%s", FLOAT32, "float", FLOAT16, "half"),
    "float to bfloat16": ("__float2bfloat16_%s", FLOAT32, "float", BFLOAT16, "__nv_bfloat16"),
}


@pytest.mark.parametrize("name", NARROWED)
def test_floats_to_narrower_ones(name: str) -> None:
    pattern, source, from_type, target, to_type = NARROWED[name]
    calls = tuple(f"{pattern % mode}(x[i])" for mode in MODES)

    @EXAMPLES
    @given(
        st.lists(
            numbers(source) | st.floats(-70000, 70000, width=32) | st.floats(-(2.0**-20), 2.0**-20, width=32),
            min_size=32,
            max_size=32,
        )
    )
    def check(row: list[float]) -> None:
        x = np.array(row, storage(source))
        found = given_back(calls, (from_type, to_type), x, storage(target))
        for place, rounding in enumerate(MODES.values()):
            expected = [nearest(Fraction(float(part)), target, rounding) for part in x]
            assert found[place].astype(np.float64).tolist() == expected
            assert all(isfinite(part) or rounding is not Rounding.TOWARD_ZERO for part in expected)

    check()
