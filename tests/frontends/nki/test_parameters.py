"""What the parameters of a kernel are: objects, optional tensors, parts of tuples, and what the options state."""

from __future__ import annotations

import os
import types
from pathlib import Path

import pytest

from portcheck.core.errors import InputError
from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.ir import Opaque, Program, kernel_operations
from portcheck.ir.text import print_program
from portcheck.ir.verify import verify

HEAD = """
from dataclasses import dataclass
from enum import Enum
from typing import Optional

import nki
import nki.isa as nisa
import nki.language as nl

class Mode(Enum):
    A = 0
    B = 1

@dataclass
class Inner:
    depth: int

@dataclass
class Config(nl.NKIObject):
    rows: int
    eps: float = 1e-5
    inner: Inner = None
    weight: Optional[nl.ndarray] = None
    def cols(self):
        return self.rows * 2
"""


def lowered(
    parameters: str, body: str, values: dict[str, str] | None = None, shapes: dict[str, str] | None = None
) -> Program:
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    text = f"{HEAD}\n@nki.jit\ndef k({parameters}):\n{lines}"
    options = NkiOptions(values=tuple((values or {}).items()), shapes=tuple((shapes or {}).items()))
    program = read_nki(SourceFile("port.py", text), options).lower(["k"])
    assert not verify(program)
    return program


def shape(program: Program) -> list[str]:
    (line,) = [line for line in print_program(program).split("\n") if "alloc t: float32[" in line]
    sizes = line.partition("float32[")[2].partition("] shared")[0]
    return [size.replace(":int64", "").replace('"', "") for size in sizes.split(", ")]


def tile(*sizes: str) -> str:
    return f"t = nl.ndarray(({', '.join(sizes)}), dtype=nl.float32, buffer=nl.sbuf)"


SYMBOLS = [
    ("attribute", "x, cfg", ["cfg.rows", "4"], ["cfg.rows", "4"]),
    ("object", "x, cfg: Config", ["cfg.rows", "cfg.cols()"], ["cfg.rows", "cfg.rows * 2"]),
    ("object_named_by_text", "x, cfg: 'Config'", ["cfg.cols()", "4"], ["cfg.rows * 2", "4"]),
    ("object_that_may_be_missing", "x, cfg: Optional[Config] = None", ["cfg.cols()", "4"], ["cfg.rows * 2", "4"]),
    ("object_in_an_object", "x, cfg: Config", ["cfg.inner.depth", "4"], ["cfg.inner.depth", "4"]),
    ("element", "x, sizes", ["sizes[1]", "4"], ["sizes[1]", "4"]),
    ("default_is_not_assumed", "x, n: int = 3", ["n", "4"], ["n", "4"]),
]


@pytest.mark.parametrize(
    ("parameters", "sizes", "expected"), [case[1:] for case in SYMBOLS], ids=[case[0] for case in SYMBOLS]
)
def test_what_a_parameter_holds_is_a_symbol_of_its_name(parameters: str, sizes: list[str], expected: list[str]) -> None:
    assert shape(lowered(parameters, tile(*sizes))) == expected


VALUES = [
    ("number", "x, n", {"n": "7"}, ["n", "4"], ["7", "4"]),
    ("attribute", "x, cfg", {"cfg.rows": "7"}, ["cfg.rows", "4"], ["7", "4"]),
    ("of_an_object", "x, cfg: Config", {"cfg.rows": "7"}, ["cfg.rows", "4"], ["7", "4"]),
    ("tuple", "x, sizes", {"sizes": "(7, 8)"}, ["sizes[0]", "sizes[1]"], ["7", "8"]),
    ("element", "x, sizes", {"sizes[0]": "7"}, ["sizes[0]", "4"], ["7", "4"]),
    ("nothing", "x, n=3", {"n": "None"}, ["4 if n is None else 5", "4"], ["4", "4"]),
    ("flag", "x, n", {"n": "False"}, ["4 if n else 5", "4"], ["5", "4"]),
    ("text", "x, n", {"n": "same"}, ["4 if n == 'same' else 5", "4"], ["4", "4"]),
    ("quoted", "x, n", {"n": "'same'"}, ["4 if n == 'same' else 5", "4"], ["4", "4"]),
    ("dtype", "x, n", {"n": "nl.bfloat16"}, ["4 if n == nl.bfloat16 else 5", "4"], ["4", "4"]),
    ("member", "x, n", {"n": "Mode.B"}, ["4 if n == Mode.B else 5", "4"], ["4", "4"]),
    ("member_by_its_word", "x, n: Mode = Mode.A", {"n": "B"}, ["4 if n == Mode.B else 5", "4"], ["4", "4"]),
    ("member_of_an_object", "x, cfg", {"cfg.mode": "Mode.B"}, ["4 if cfg.mode is Mode.B else 5", "4"], ["4", "4"]),
]


@pytest.mark.parametrize(
    ("parameters", "values", "sizes", "expected"), [case[1:] for case in VALUES], ids=[case[0] for case in VALUES]
)
def test_a_stated_value_is_what_the_parameter_is(
    parameters: str, values: dict[str, str], sizes: list[str], expected: list[str]
) -> None:
    assert shape(lowered(parameters, tile(*sizes), values)) == expected


def conditions(program: Program) -> list[str]:
    lines = print_program(program).split("\n")
    return [line.partition(": branch ")[2].partition(" via ")[0] for line in lines if ": branch " in line]


COPY = "nisa.dma_copy(dst=y[0:128, 0:4], src={name}[0:128, 0:4])"
OPTIONAL = [
    ("default", "x, y, b=None", "b", {}, {}, 1),
    ("annotated", "x, y, b: Optional[nl.ndarray]", "b", {}, {}, 1),
    ("annotated_union", "x, y, b: nl.ndarray | None", "b", {}, {}, 1),
    ("field", "x, y, cfg: Config", "cfg.weight", {}, {}, 1),
    ("always_there", "x, y, b: nl.ndarray", "b", {}, {}, 0),
    ("stated_shape", "x, y, b=None", "b", {}, {"b": "128,512"}, 0),
    ("stated_nothing", "x, y, b=None", "b", {"b": "None"}, {}, 0),
]


@pytest.mark.parametrize(
    ("parameters", "name", "values", "shapes", "branches"),
    [case[1:] for case in OPTIONAL],
    ids=[case[0] for case in OPTIONAL],
)
def test_a_tensor_that_may_be_missing_keeps_both_arms(
    parameters: str, name: str, values: dict[str, str], shapes: dict[str, str], branches: int
) -> None:
    body = f"if {name} is not None:\n    {COPY.format(name=name)}"
    program = lowered(parameters, body, values, shapes)
    assert len(conditions(program)) == branches
    assert all(f"{name} is None" in condition for condition in conditions(program))


def test_forms_of_the_same_question_have_one_answer() -> None:
    questions = ["b is None", "b == None", "b is not None", "b != None"]
    body = "\n".join(f"if {question}:\n    {COPY.format(name='x')}" for question in questions)
    found = conditions(lowered("x, y, b=None", body))
    assert found[0] == found[1]
    assert found[2] == found[3] != found[0]


def test_a_tensor_inside_a_parameter_is_a_parameter_of_its_own() -> None:
    body = COPY.format(name="xs[0]") + "\n" + COPY.format(name="cfg.bias")
    (kernel,) = lowered("xs, y, cfg", body).kernels
    assert [item.name for item in kernel.parameters if item.is_buffer] == ["xs[0]", "y", "cfg.bias"]


def test_a_stated_shape_says_how_many_dimensions_there_are() -> None:
    program = lowered("x", tile("len(x.shape)", "x.shape[-1]"), shapes={"x": "3,5,2500"})
    assert shape(program) == ["3", "2500"]


def test_how_much_stands_behind_a_star_is_not_known() -> None:
    program = lowered("x, *rest, **more", tile("len(rest)", "4"))
    assert [op for op in kernel_operations(program) if isinstance(op, Opaque)] == []
    assert not shape(program)[0].isdigit()


MANAGER = """
import os
class Manager:
    def __init__(self, size=64):
        self.size = size
DEPTH = int(os.environ.get("DEPTH", "3"))
WIDTH = os.getenv("WIDTH", 5)
FLAG = "FLAG" in os.environ
"""


def lowered_with(classes: str, parameters: str, body: str, values: dict[str, str]) -> Program:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = f"{HEAD}{classes}\n@nki.jit\ndef k({parameters}):\n{lines}"
    return read_nki(SourceFile("port.py", text), NkiOptions(values=tuple(values.items()))).lower(["k"])


def test_an_object_that_nothing_describes_is_taken_to_be_missing_and_that_is_said() -> None:
    body = "if m is None:\n    m = Manager()\n" + tile("m.size", "4")
    program = lowered_with(MANAGER, "x, m: Optional[Manager] = None", body, {})
    assert shape(program) == ["64", "4"]
    assert program.notes == ("m is taken to be None, its default: state it with --value m=...",)
    stated = lowered_with(MANAGER, "x, m: Optional[Manager] = None", body, {"m": "Manager(32)"})
    assert shape(stated) == ["32", "4"]
    assert stated.notes == ()


def test_the_environment_is_taken_to_be_empty_and_that_is_said() -> None:
    program = lowered_with(MANAGER, "x", tile("WIDTH", "4 if FLAG else 8"), {})
    assert shape(program) == ["5", "8"]
    assert program.notes == ("the variables of the environment are taken not to be set",)


def test_a_shape_of_unknown_rank_is_taken_apart_as_its_length_is_counted() -> None:
    assert shape(lowered("x", "sizes = tuple(x.shape)\n" + tile("len(sizes)", "len(x.shape)"))) == ["2", "2"]


SCALED = """
import nki
import nki.language as nl

@nki.jit
def k(x, eps, bias=None):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.add(nl.load(x), eps)
    if bias is not None:
        t = nl.add(t, nl.load(bias))
    nl.store(out, t)
    return out
"""


def scaled(**values: str) -> Program:
    return read_nki(SourceFile("port.py", SCALED), NkiOptions(values=tuple(values.items()))).lower(["k"])


@pytest.mark.parametrize(
    ("values", "is_refused"),
    [({"x": "3"}, True), ({"eps": "3"}, False), ({"eps": "[3]"}, False), ({"bias": "None"}, False)],
)
def test_a_tensor_has_no_value(values: dict[str, str], is_refused: bool) -> None:
    if not is_refused:
        assert scaled(**values).kernels
        return
    with pytest.raises(InputError, match="--value x: x is a tensor, not a number"):
        scaled(**values)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').mkdir({path!r})",
        "(lambda make: make({path!r}))(__import__('os').mkdir)",
        "nl.os.mkdir({path!r})",
        "[nl.os.mkdir({path!r}) for i in range(1)][0]",
        'f"{{nl.os.mkdir({path!r})}}"',
        "getattr(nl.os, 'mkdir')({path!r})",
    ],
)
def test_a_stated_value_is_never_run(text: str, tmp_path: Path) -> None:
    path = tmp_path / "ran"
    eval(text.format(path=str(path)), {"nl": types.SimpleNamespace(os=os)})
    path.rmdir()
    with pytest.raises(InputError, match="--value eps: .* is not understood"):
        scaled(eps=text.format(path=str(path)))
    assert not path.exists()


@pytest.mark.parametrize("value", ["fp8-e4m3", "missing(3)", "1 // 0", "[missing.name][1]", "-" * 300 + "1"])
def test_a_value_that_is_not_understood_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="--value eps: .* is not understood") as refused:
        scaled(eps=value)
    assert "a text in quotes" in refused.value.hint


@pytest.mark.parametrize("value", ["'fp8-e4m3'", "gelu", "nl.bfloat16", "-1e-5", "(1, 2)", "2 ** 3", "None", "True"])
def test_a_value_that_is_understood_is_taken(value: str) -> None:
    assert scaled(eps=value).kernels


def test_a_value_of_a_part_that_is_not_understood_is_refused() -> None:
    body = "t = nl.ndarray((x.shape[0], cfg.rows), dtype=nl.float32, buffer=nl.shared_hbm)\nreturn t"
    with pytest.raises(InputError, match=r"--value cfg\.rows: "):
        lowered("x, cfg", body, {"cfg.rows": "missing(3)"})
    with pytest.raises(InputError, match=r"--value cfg\.rows: "):
        lowered("x, cfg: Config", body, {"cfg.rows": "missing(3)"})


def test_defaults_are_what_their_expressions_stand_for() -> None:
    parameters = (
        "x, a=1e-5, b=-3, c=True, d='text', e=None, f=nl.bfloat16, g=(1, 2), h=Mode.A, i=unknown(), j=2 * 3, "
        "y=None, *, k=0"
    )
    body = "t = nl.ndarray((x.shape[0], 4), dtype=y.dtype, buffer=nl.shared_hbm)\nreturn t"
    made = lowered(parameters, body).kernels[0].parameters
    found = {item.name: item.default.value for item in made if item.default is not None}
    assert repr(found) == repr(
        {"a": 1e-5, "b": -3, "c": True, "d": "text", "e": None, "f": "bfloat16", "j": 6, "y": None, "k": 0}
    )
    assert next(item for item in made if item.name == "y").is_buffer


def test_a_tensor_has_no_number_as_its_default() -> None:
    body = "t = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.sbuf)\nnisa.dma_copy(dst=t, src=x[0:4, 0:4])"
    parameter = lowered("x=1.0", body).kernels[0].parameters[0]
    assert parameter.is_buffer and parameter.default is None
