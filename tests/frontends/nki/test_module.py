"""Which kernels a file has, which version it is read as, and where things stand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from portcheck.core.source import Position, SourceFile
from portcheck.frontends.nki import NkiModule, NkiOptions, read_nki
from portcheck.ir import Side, operations

BODY = "def k(x):\n    return nl.load(x[0:1, 0:1])\n"


def read(text: str, **options: str) -> NkiModule:
    return read_nki(SourceFile("port.py", text), NkiOptions(**options))  # type: ignore[arg-type]  # test shorthand


VERSIONS = [
    ("legacy", "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n", "", "0.1"),
    ("legacy_from", "from neuronxcc import nki\nimport neuronxcc.nki.language as nl\n", "", "0.1"),
    ("current", "import nki\nimport nki.language as nl\n", "", "0.6"),
    ("renamed_call", "import nki\nimport nki.isa as nisa\n", "nisa.tensor_copy_dynamic_src(dst=x, src=x)", "0.3"),
    ("renamed_keyword", "import nki\nimport nki.isa as nisa\n", "nisa.dma_copy(dst=x, src=x, dst_rmw_op=None)", "0.2"),
    ("no_import", "", "", "0.6"),
]


@pytest.mark.parametrize(("imports", "call", "version"), [case[1:] for case in VERSIONS], ids=[c[0] for c in VERSIONS])
def test_version_follows_from_imports_and_calls(imports: str, call: str, version: str) -> None:
    assert read(f"{imports}def k(x):\n    {call or 'pass'}\n").version == version


def test_stated_version_wins_and_is_evidence() -> None:
    module = read("import nki\n", version="0.3")
    assert module.version == "0.3"
    assert module.version_evidence[0] == "stated: 0.3"


KERNELS = [
    ("jit", "import nki\n@nki.jit\ndef k(x): pass\n", ["k"]),
    ("jit_called", "import nki\n@nki.jit(mode='trace')\ndef k(x): pass\n", ["k"]),
    ("jit_imported", "from nki import jit\n@jit\ndef k(x): pass\n", ["k"]),
    ("baremetal", "from neuronxcc import nki\n@nki.baremetal\ndef k(x): pass\n", ["k"]),
    ("benchmark", "from neuronxcc import nki\n@nki.benchmark(warmup=1)\ndef k(x): pass\n", ["k"]),
    ("nki_jit", "from torch_neuronx import nki_jit\n@nki_jit\ndef k(x): pass\n", ["k"]),
    ("two", "import nki\n@nki.jit\ndef a(x): pass\n@nki.jit\ndef b(x): pass\ndef c(x): pass\n", ["a", "b"]),
    (
        "undecorated",
        "import nki.language as nl\ndef h(x):\n    nl.load(x)\ndef k(x):\n    h(x)\n    nl.load(x)\n",
        ["k"],
    ),
    (
        "undecorated_by_way_of_another",
        "import nki.language as nl\ndef h(x): nl.load(x)\ndef g(x): h(x)\ndef k(x):\n    g(x)\n    nl.load(x)\n",
        ["k"],
    ),
    (
        "undecorated_for_a_host",
        "import nki.language as nl\ndef k(x):\n    nl.load(x)\ndef g(x):\n    k(x)\ndef main(x):\n    g(x)\n",
        ["k"],
    ),
    (
        "undecorated_for_a_method_of_a_kernel",
        "import nki.language as nl\ndef h(x): nl.load(x)\nclass C:\n    def g(self, x):\n        h(nl.load(x))\n",
        [],
    ),
    (
        "undecorated_for_a_method_of_the_host",
        "import nki.language as nl\ndef k(x): nl.load(x)\nclass C:\n    def forward(self, x):\n        return k(x)\n",
        ["k"],
    ),
    ("guarded", "import nki\nif True:\n    @nki.jit\n    def k(x): pass\n", ["k"]),
    ("other_decorator", "import functools\n@functools.cache\ndef k(x): pass\n", []),
]


@pytest.mark.parametrize(("text", "names"), [case[1:] for case in KERNELS], ids=[c[0] for c in KERNELS])
def test_kernels_are_found(text: str, names: list[str]) -> None:
    assert [kernel.name for kernel in read(text).kernels] == names


def test_signature_names_the_parameters() -> None:
    module = read("import nki\n@nki.jit\ndef k(a, /, b, *, c=1): pass\n")
    assert module.kernels[0].parameters == ("a", "b", "c")


def test_program_launches_the_kernels_in_the_order_asked_for() -> None:
    program = read("import nki\n@nki.jit\ndef a(x): pass\n@nki.jit\ndef b(x): pass\n").lower(["b", "a", "b", "zzz"])
    assert program.side is Side.NKI
    assert [launch.kernel for launch in program.launches] == ["b", "a", "b"]
    assert [kernel.name for kernel in program.kernels] == ["b", "a"]


def test_spans_count_lines_and_code_points_from_one() -> None:
    text = (
        "import nki\nimport nki.language as nl\n\n@nki.jit\ndef k(x):\n"
        "    '\u00e9\U0001f600'; a = nl.load(x[0:1, 0:1])\n"
    )
    program = read(text).lower(["k"])
    load = next(operations(program.kernels[0].body))
    assert (load.span.start, load.span.end) == (Position(6, 15), Position(6, 35))
    assert SourceFile("port.py", text).text_of(load.span) == "nl.load(x[0:1, 0:1])"


def test_spans_survive_a_byte_order_mark_and_windows_lines() -> None:
    text = "\ufeffimport nki.language as nl\r\ndef k(x):\r\n    a = nl.load(x[0:1, 0:1])\r\n"
    program = read(text).lower(["k"])
    load = next(operations(program.kernels[0].body))
    assert SourceFile("port.py", text).text_of(load.span) == "nl.load(x[0:1, 0:1])"


def test_helper_operations_stand_in_the_helper() -> None:
    text = (
        "import nki\nimport nki.language as nl\ndef h(x):\n    return nl.load(x[0:1, 0:1])\n@nki.jit\n"
        "def k(x):\n    h(x)\n"
    )
    program = read(text).lower(["k"])
    assert next(operations(program.kernels[0].body)).span.start.line == 4


def test_syntax_problem_points_at_the_place() -> None:
    module = read("import nki\n@nki.jit\ndef k(x:\n    pass\n")
    assert module.syntax_problem is not None
    assert module.problems == (module.syntax_problem,)
    assert module.syntax_problem.span.start.line == 3


NEWER = [
    ("alias", "import nki\ntype T = int\n@nki.jit\ndef k(x): pass\n", 2),
    ("generic", "import nki\ndef f[U](v: U): return v\n@nki.jit\ndef k(x): pass\n", 2),
]


@pytest.mark.parametrize(("text", "line"), [case[1:] for case in NEWER], ids=[c[0] for c in NEWER])
def test_what_newer_python_may_read_is_said_to_be_no_python_of_this_version(text: str, line: int) -> None:
    found = read(text).problems
    assert [problem.span.start.line for problem in found] == [line]
    assert found[0].message.startswith(f"not valid Python {sys.version_info.major}.{sys.version_info.minor}: ")


METHODS = [
    ("static", "import nki\nclass C:\n    @staticmethod\n    @nki.jit\n    def k(x):\n        return x\n"),
    ("nested", "import nki\ndef make():\n    @nki.jit\n    def k(x):\n        return x\n    return k\n"),
]


@pytest.mark.parametrize("text", [case[1] for case in METHODS], ids=[c[0] for c in METHODS])
def test_kernels_inside_classes_and_functions_are_found(text: str) -> None:
    module = read(text)
    assert [kernel.name for kernel in module.kernels] == ["k"]
    assert module.lower(["k"]).kernels[0].results == ("x",)


CURRENT_HEAD = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n@nki.jit\ndef k(x):\n    "
EVIDENCE = {
    "range that accepts all": (CURRENT_HEAD + "nl.load(x)", "0.6", "0.3 to 0.6 accept every call"),
    "no import": ("def k(x): pass", "0.6", "no import of NKI; the newest version is assumed"),
    "nothing used": ("import nki", "0.6", "uses nothing of it; the newest version of that package is assumed"),
    "mixed": (
        CURRENT_HEAD + "nl.fori_loop(0, 4, x)\n    nisa.dma_copy(x, x, dst_rmw_op=nl.add)",
        "0.6",
        "no version accepts every call; of 0.6: nki.isa.dma_copy has no parameter dst_rmw_op",
    ),
}


@pytest.mark.parametrize(("text", "version", "evidence"), EVIDENCE.values(), ids=EVIDENCE)
def test_evidence_says_why(text: str, version: str, evidence: str) -> None:
    module = read(text)
    assert module.version == version
    assert evidence in module.version_evidence


def test_neighbouring_versions_are_ruled_out_with_a_reason() -> None:
    module = read(CURRENT_HEAD + "nl.abs_max(x, x)\n    nisa.dma_copy(x, x, oob_mode=nisa.oob_mode.skip)")
    assert "0.4 to 0.6 accept every call" in module.version_evidence
    older = read(CURRENT_HEAD + "nisa.tensor_copy_dynamic_src(x, x)\n    nl.load(x)")
    assert older.version == "0.3"
    assert "not 0.4: nki.isa.tensor_copy_dynamic_src is not in it" in older.version_evidence
    assert "not 0.2: nki.language.load is not in it" in older.version_evidence


def test_helper_files_are_evidence_too(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import nki.language as nl\ndef h(x):\n    return nl.fori_loop(0, 4, x)\n")
    port = tmp_path / "port.py"
    port.write_text("import nki\nimport nki.isa as nisa\nfrom helper import h\n@nki.jit\ndef k(x):\n    h(x)\n")
    module = read_nki(SourceFile(str(port), port.read_text()), NkiOptions())
    assert "not 0.5: nki.language.fori_loop is not in it" in module.version_evidence


def test_release_that_passes_over_keywords_is_meant_only_if_it_takes_everything() -> None:
    passed_over = read(CURRENT_HEAD + "nisa.tensor_copy(dst=x, src=x, dtype=x.dtype)")
    assert passed_over.version == "0.2/2.27"
    mixed = read(CURRENT_HEAD + "nisa.tensor_copy(dst=x, src=x, dtype=x.dtype)\n    nl.arange(4)")
    assert mixed.version == "0.6"
