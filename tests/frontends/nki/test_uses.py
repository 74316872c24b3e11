"""The record of calls: one a place, with what each argument is, and whether the call was understood."""

from __future__ import annotations

import pytest

from portcheck.core.dtype import FLOAT32
from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Program, Space, integer
from portcheck.ir.text import parse_program, print_program
from portcheck.ir.uses import (
    Argument,
    DTypeUse,
    GroupUse,
    NameUse,
    NoneUse,
    NumberUse,
    OperandUse,
    OtherUse,
    TextUse,
    TileUse,
    Use,
    UseKind,
)  # fmt: skip
from portcheck.ir.verify import verify

HEAD = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n"
TILES = (
    "a = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)\nb = nl.ndarray((128, 8), nl.float32, buffer=nl.psum)\n"
)


def program(body: str, before: str = "", head: str = HEAD) -> Program:
    lines = "".join(f"    {line}\n" for line in (TILES + body).strip().splitlines())
    module = read_nki(SourceFile("port.py", f"{head}{before}\n@nki.jit\ndef k(x, n):\n{lines}"), NkiOptions())
    made = module.lower(["k"])
    assert verify(made) == ()
    assert parse_program(print_program(made)) == made
    return made


def uses(body: str, before: str = "") -> list[Use]:
    """The uses of the body, without those of the tiles it begins with."""
    calls = [use for use in program(body, before).uses if use.kind is UseKind.CALL and use.kernel]
    return [use for use in calls if not use.name.endswith(".ndarray")]


def argument(body: str, parameter: str) -> Argument:
    return next(item for use in uses(body) for item in use.runs[0].arguments if item.parameter == parameter)


def test_call_is_recorded_with_its_kernel_and_place() -> None:
    [use] = uses("nisa.tensor_copy(dst=a, src=b)")
    assert (use.kind, use.name, use.kernel) == (UseKind.CALL, "nki.isa.tensor_copy", "k")
    assert use.is_understood and len(use.runs) == 1
    assert use.span.start.line == 10


def test_arguments_keep_position_and_role() -> None:
    [use] = uses("nisa.tensor_copy(a, src=b)")
    assert [(item.parameter, item.role, item.position) for item in use.runs[0].arguments] == [
        ("dst", "destination", 0),
        ("src", "source", None),
    ]


TILE_CASES = {
    "whole": ("a", "a", integer(0), True),
    "rows": ("a[32:64, :]", "a", integer(32), False),
    "columns": ("a[:, 2:4]", "a", integer(0), False),
    "slice of a slice": ("a[32:96, :][16:32, :]", "a", integer(48), False),
}


@pytest.mark.parametrize(("text", "buffer", "start", "is_whole"), TILE_CASES.values(), ids=TILE_CASES)
def test_tile_says_where_it_begins(text: str, buffer: str, start: OperandUse, is_whole: bool) -> None:
    tile = argument(f"nisa.memset(dst={text}, value=0.0)", "dst").operand
    assert isinstance(tile, TileUse)
    assert (tile.buffer, tile.start, tile.is_whole) == (buffer, start, is_whole)
    assert (tile.type.dtype, tile.type.space) == (FLOAT32, Space.SHARED)


OPERANDS: dict[str, tuple[str, str, OperandUse]] = {
    "number": ("nisa.memset(dst=a, value=3)", "value", NumberUse(integer(3))),
    "name": ("nisa.activation(dst=a, data=b, op=nl.exp)", "op", NameUse("nki.language.exp")),
    "text": ("nisa.memset(dst=a, value=0.0, name='z')", "name", TextUse("z")),
    "none": ("nisa.memset(dst=a, value=0.0, name=None)", "name", NoneUse()),
    "dtype of a tensor": ("nisa.memset(dst=a, value=a.dtype)", "value", DTypeUse(FLOAT32)),
    "tuple": ("nisa.memset(dst=a, value=(1, 2))", "value", GroupUse((NumberUse(integer(1)), NumberUse(integer(2))))),
    "list": ("nisa.memset(dst=a, value=[1])", "value", GroupUse((NumberUse(integer(1)),), is_list=True)),
    "function": ("nisa.memset(dst=a, value=lambda: 1)", "value", OtherUse("lambda")),
}


@pytest.mark.parametrize(("body", "parameter", "operand"), OPERANDS.values(), ids=OPERANDS)
def test_operands_are_told_apart(body: str, parameter: str, operand: OperandUse) -> None:
    assert argument(body, parameter).operand == operand


def test_result_is_recorded() -> None:
    made = next(use for use in program("nisa.memset(dst=a, value=0.0)").uses if use.name.endswith(".ndarray"))
    result = made.runs[0].result
    assert isinstance(result, TileUse)
    assert (result.buffer, result.type.shape) == ("a", (integer(128), integer(8)))


def test_call_in_a_kept_loop_is_one_run() -> None:
    [use] = uses("for i in range(n):\n    nisa.memset(dst=a, value=0.0)")
    assert len(use.runs) == 1


def test_call_that_is_evaluated_several_times_keeps_what_differs() -> None:
    [use] = uses("for t in [a, b, a]:\n    nisa.memset(dst=t, value=0.0)")
    assert [tile.buffer for run in use.runs for tile in [run.arguments[0].operand] if isinstance(tile, TileUse)] == [
        "a",
        "b",
    ]


def test_call_in_a_helper_is_recorded_where_it_stands() -> None:
    [use] = uses("clear(a)\nclear(b)", "def clear(t):\n    nisa.memset(dst=t, value=0.0)\n")
    assert use.span.start.line == 6 and len(use.runs) == 2


def test_one_evaluation_that_fails_makes_a_call_not_understood() -> None:
    [use] = uses("for flag in [0.0, mystery()]:\n    nisa.memset(dst=a, value=flag, value2=flag)")
    assert not use.is_understood and use.reason


NOT_UNDERSTOOD = {
    "unknown name": ("nisa.frobnicate(dst=a)", "nki.isa.frobnicate"),
    "unknown parameter": ("nisa.memset(dst=a, value=0.0, colour=1)", "nki.isa.memset"),
    "loop over nothing known": ("for q in mystery():\n    nisa.memset(dst=a, value=0.0)", "nki.isa.memset"),
    "statement that is not read": ("match x:\n    case [q]:\n        nisa.memset(dst=a, value=0.0)", "nki.isa.memset"),
    "perhaps evaluated": ("q = [nisa.memset(dst=a, value=0.0) for i in mystery()]", "nki.isa.memset"),
    "helper in skipped text": ("for q in mystery():\n    clear(a)", "nki.isa.memset"),
}


@pytest.mark.parametrize(("body", "name"), NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_call_that_is_not_understood_is_recorded(body: str, name: str) -> None:
    [use] = uses(body, "def clear(t):\n    nisa.memset(dst=t, value=0.0)\n")
    assert (use.name, use.is_understood) == (name, False)


def test_arguments_that_no_parameter_takes_are_kept() -> None:
    [use] = uses("nisa.memset(a, 0.0, nisa.engine.vector, None, 7, colour=1)")
    extra = [(item.parameter, item.position) for item in use.runs[0].arguments if not item.role]
    assert ("", 4) in extra and ("colour", None) in extra


def test_kernel_that_is_too_long_keeps_its_calls() -> None:
    body = "for i in [0] * 64:\n    for j in [0] * 64:\n        for l in [0] * 64:\n            nisa.memset(a, 0.0)\n"
    found = uses(body + "nisa.tensor_copy(dst=a, src=b)")
    assert [(use.name, use.is_understood) for use in found if "copy" in use.name] == [("nki.isa.tensor_copy", False)]


NAMES = {
    "operator": ("nisa.activation(dst=a, data=b, op=nl.exp)", "nki.language.exp"),
    "constant": ("n2 = nl.tile_size.pmax", "nki.language.tile_size.pmax"),
    "indexed": ("q = nl.mgrid[0:128]", "nki.language.mgrid"),
    "in skipped text": ("for q in mystery():\n    nisa.activation(dst=a, data=b, op=nl.exp)", "nki.language.exp"),
    "module that hands on": ("q = nisa.constants.oob_mode.skip", "nki.isa.oob_mode.skip"),
}


@pytest.mark.parametrize(("body", "name"), NAMES.values(), ids=NAMES)
def test_name_that_is_read_is_recorded_as_long_as_it_is(body: str, name: str) -> None:
    found = [use.name for use in program(body).uses if use.kind is UseKind.NAME and use.span.start.line > 9]
    assert found == [name]


def test_name_of_what_is_called_is_no_name_that_is_read() -> None:
    found = [use for use in program("nisa.memset(dst=a, value=0.0)").uses if use.name.endswith("memset")]
    assert [use.kind for use in found] == [UseKind.CALL]


FORMS = {
    "is": ("if n is True:\n    pass", "identity"),
    "is None": ("if n is None:\n    pass", "identity_with_none"),
    "is not None": ("q = 1 if n is not None else 2", "identity_with_none"),
    "equal": ("if n == None:\n    pass", ""),
    "key": ("q = {1: 2}", "dictionary_key"),
    "string key": ("q = {'a': 2}", ""),
    "tiles": ("q = a + b", "tile_arithmetic"),
    "tile in place": ("a += b", "tile_arithmetic"),
    "numbers": ("q = n + 1", ""),
    "what is given, which may be numbers as well": (
        "nisa.dma_copy(dst=a[0:8, 0:8], src=x[0:8, 0:8])\nnisa.dma_copy(dst=a, src=n)\nq = x * n",
        "",
    ),
    "numbers that change from round to round": (
        "q, r = 0, 1\nfor i in range(n - 1, -1, -1):\n    q += n % x[i] * r\n    r *= x[i]",
        "",
    ),
    "parts of what is given": ("q = x[0:8, 0:8] * n[0:8, 0:8]", "tile_arithmetic"),
    "slice of a slice": ("nisa.memset(dst=a[0:64][0:32], value=0.0)", "nested_slice"),
    "slice": ("nisa.memset(dst=a[0:64], value=0.0)", ""),
}


@pytest.mark.parametrize(("body", "form"), FORMS.values(), ids=FORMS)
def test_forms_of_python_are_recorded(body: str, form: str) -> None:
    found = {use.name for use in program(body).uses if use.kind is UseKind.FORM}
    assert found == ({form} if form else set())


SIGNATURES = {
    "plain": ("def k(x, n=(1, 2)):", []),
    "separator": ("def k(x, *, n=1):", ["keyword_only"]),
    "collects": ("def k(x, *n):", []),
    "list": ("def k(x, n=[1, 2]):", ["list_parameter"]),
    "list by annotation": ("def k(x, n: list[int]):", ["list_parameter"]),
}


@pytest.mark.parametrize(("signature", "forms"), SIGNATURES.values(), ids=SIGNATURES)
def test_forms_in_a_signature_are_recorded(signature: str, forms: list[str]) -> None:
    module = read_nki(SourceFile("port.py", f"{HEAD}@nki.jit\n{signature}\n    return x\n"), NkiOptions())
    assert [use.name for use in module.lower(["k"]).uses if use.kind is UseKind.FORM] == forms


def test_decorator_on_a_function_that_a_kernel_calls_is_recorded() -> None:
    made = program("h(a)", "@nki.jit\ndef h(t):\n    nisa.memset(dst=t, value=0.0)\n")
    assert [use.name for use in made.uses if use.kind is UseKind.FORM] == ["decorated_helper"]


def test_generator_is_recorded() -> None:
    made = program("for q in h(a):\n    pass", "def h(t):\n    yield t\n")
    assert "generator" in [use.name for use in made.uses]


MAIN = """@nki.jit(mode='trace')
def k(x):
    nisa.memset(x, 0)
    return x

def main():
    nki.simulate(k)
"""


def test_text_outside_of_kernels_is_recorded_without_a_kernel() -> None:
    made = read_nki(SourceFile("port.py", HEAD + MAIN), NkiOptions()).lower(["k"])
    outside = [use for use in made.uses if not use.kernel]
    assert [(use.name, use.span.start.line) for use in outside] == [("nki.jit", 5), ("nki.simulate", 11)]
    [mode] = outside[0].runs[0].arguments
    assert (mode.parameter, mode.operand) == ("mode", TextUse("trace"))


def test_helper_that_a_kernel_calls_is_not_outside() -> None:
    made = program("h(a)", "def h(t):\n    nisa.memset(dst=t, value=0.0)\n")
    assert [use.kernel for use in made.uses if use.name.endswith("memset")] == ["k"]
