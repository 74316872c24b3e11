"""A port that imports from other files: which are read, what their names mean, what is never read."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiModule, NkiOptions, read_nki
from portcheck.frontends.nki.source import files
from portcheck.ir import Call, Opaque, Program, Store, kernel_operations
from portcheck.ir.text import print_program

HEAD = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\n"
HELPER = """
import nki.isa as nisa
import nki.language as nl

SIZE = 128

def load_tile(source, size):
    tile = nl.ndarray((SIZE, size), dtype=source.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=source)
    return tile
"""
BODY = """
@nki.jit
def k(x):
    y = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = {call}(x[0:128, 0:512], 512)
    nisa.dma_copy(dst=y, src=tile)
    return y
"""


def written(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def module(path: Path, *roots: Path) -> NkiModule:
    return read_nki(SourceFile(str(path), path.read_text()), NkiOptions(roots=tuple(map(str, roots))))


def lowered(path: Path, *roots: Path) -> Program:
    port = module(path, *roots)
    return port.lower([kernel.name for kernel in port.kernels])


def gaps(program: Program) -> list[str]:
    """What was not understood."""
    found = [op for op in kernel_operations(program) if isinstance(op, Opaque | Call)]
    return [op.reason if isinstance(op, Opaque) else op.callee for op in found]


PACKAGE = {
    "pkg/__init__.py": "",
    "pkg/utils/__init__.py": "",
    "pkg/utils/tiles.py": HELPER,
    "pkg/kernels/__init__.py": "",
}
IMPORTS = [
    ("relative", {}, "from ..utils.tiles import load_tile", "load_tile"),
    ("relative_module", {}, "from ..utils import tiles", "tiles.load_tile"),
    ("absolute", {}, "from pkg.utils.tiles import load_tile", "load_tile"),
    ("absolute_module", {}, "import pkg.utils.tiles", "pkg.utils.tiles.load_tile"),
    ("module_renamed", {}, "import pkg.utils.tiles as t", "t.load_tile"),
    ("beside", {"pkg/kernels/near.py": HELPER}, "from near import load_tile", "load_tile"),
    ("star", {}, "from ..utils.tiles import *", "load_tile"),
    ("handed_on", {"pkg/utils/__init__.py": "from .tiles import load_tile as get"}, "from ..utils import get", "get"),
    (
        "handed_on_by_star",
        {"pkg/utils/__init__.py": "from .tiles import *"},
        "from ..utils import load_tile",
        "load_tile",
    ),
    (
        "first_choice_missing",
        {},
        "try:\n    from ..fast import load_tile\nexcept ImportError:\n    from ..utils.tiles import load_tile",
        "load_tile",
    ),
    (
        "circular",
        {
            "pkg/utils/a.py": "from .b import load_tile\nSIZE = 1",
            "pkg/utils/b.py": "from .a import SIZE as S\n" + HELPER,
        },
        "from ..utils.a import load_tile",
        "load_tile",
    ),
    ("inside_a_kernel", {}, "", "from ..utils.tiles import load_tile\n    tile = load_tile"),
]


@pytest.mark.parametrize(("texts", "line", "call"), [case[1:] for case in IMPORTS], ids=[case[0] for case in IMPORTS])
def test_a_helper_of_the_package_is_inlined(tmp_path: Path, texts: dict[str, str], line: str, call: str) -> None:
    body = BODY.replace("tile = {call}", call) if "\n" in call else BODY.format(call=call)
    written(tmp_path, {**PACKAGE, **texts, "pkg/kernels/port.py": f"{HEAD}{line}\n{body}"})
    program = lowered(tmp_path / "pkg/kernels/port.py")
    assert gaps(program) == []
    assert ": dtype(x)[128:int64, 512:int64] shared" in print_program(program)
    assert any(op.span.path.endswith(("tiles.py", "near.py", "b.py")) for op in kernel_operations(program))


def test_each_file_has_names_of_its_own(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "helper.py": HELPER,
            "port.py": f"{HEAD}from helper import load_tile\nSIZE = 64\n" + BODY.format(call="load_tile"),
        },
    )
    assert ": dtype(x)[128:int64, 512:int64] shared" in print_program(lowered(tmp_path / "port.py"))


OUTSIDE = [
    ("above_the_package", "from ...secret import load_tile"),
    ("by_link", "from ..utils.link import load_tile"),
    ("by_linked_folder", "from ..linked.secret import load_tile"),
]


@pytest.mark.parametrize("line", [case[1] for case in OUTSIDE], ids=[case[0] for case in OUTSIDE])
def test_nothing_outside_the_package_is_read(tmp_path: Path, line: str) -> None:
    inside = written(
        tmp_path / "in", {**PACKAGE, "pkg/kernels/port.py": f"{HEAD}{line}\n" + BODY.format(call="load_tile")}
    )
    written(tmp_path, {"in/secret.py": HELPER, "out/secret.py": HELPER})
    (inside / "pkg/utils/link.py").symlink_to(tmp_path / "out/secret.py")
    (inside / "pkg/linked").symlink_to(tmp_path / "out")
    program = lowered(inside / "pkg/kernels/port.py")
    assert "load_tile" in gaps(program)
    assert {Path(op.span.path).name for op in kernel_operations(program)} == {"port.py"}


def test_what_is_not_found_is_named_with_the_places_that_were_searched(tmp_path: Path) -> None:
    text = f"{HEAD}from ..utils.gone import load_tile\n" + BODY.format(call="load_tile")
    written(tmp_path, {**PACKAGE, "pkg/kernels/port.py": text})
    program = lowered(tmp_path / "pkg/kernels/port.py")
    assert program.notes == (f"..utils.gone is not at {tmp_path / 'pkg/utils/gone'}",)
    assert gaps(program)[0] == "load_tile"


def test_a_folder_that_was_given_is_searched(tmp_path: Path) -> None:
    text = f"{HEAD}from shared.tiles import load_tile\n" + BODY.format(call="load_tile")
    written(tmp_path, {"port/port.py": text, "lib/shared/tiles.py": HELPER})
    assert gaps(lowered(tmp_path / "port/port.py")) != []
    assert gaps(lowered(tmp_path / "port/port.py", tmp_path / "lib")) == []


def test_a_text_that_is_no_file_has_no_files_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, {"helper.py": HELPER})
    monkeypatch.chdir(tmp_path)
    text = f"{HEAD}from helper import load_tile\n" + BODY.format(call="load_tile")
    port = read_nki(SourceFile("port.py", text), NkiOptions())
    assert "load_tile" in gaps(port.lower(["k"]))


BROKEN = [
    ("no_python", "def load_tile(:\n", "not valid Python"),
    ("binary", "\0", "NUL"),
]


@pytest.mark.parametrize(("text", "said"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_helper_that_cannot_be_read_is_a_helper_that_is_not_found(tmp_path: Path, text: str, said: str) -> None:
    written(
        tmp_path,
        {"helper.py": text, "port.py": f"{HEAD}from helper import load_tile\n" + BODY.format(call="load_tile")},
    )
    program = lowered(tmp_path / "port.py")
    assert "load_tile" in gaps(program)
    assert said in program.notes[0]


def test_a_chain_of_files_without_end_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 5)
    chain = {f"f{number}.py": f"from f{number + 1} import load_tile\n" for number in range(9)}
    written(
        tmp_path,
        {**chain, "f9.py": HELPER, "port.py": f"{HEAD}from f0 import load_tile\n" + BODY.format(call="load_tile")},
    )
    program = lowered(tmp_path / "port.py")
    assert "load_tile" in gaps(program)
    assert any("more than 5 files" in note for note in program.notes)


DECORATORS = [
    (
        "handed_on",
        {"compat.py": "try:\n    import nki\nexcept ImportError:\n    import neuronxcc.nki as nki\n"},
        "from compat import nki",
    ),
    ("handed_on_by_name", {"compat.py": "from nki import jit as compiled\n"}, "from compat import compiled"),
]


@pytest.mark.parametrize(("texts", "line"), [case[1:] for case in DECORATORS], ids=[case[0] for case in DECORATORS])
def test_a_decorator_that_another_file_hands_on_marks_a_kernel(
    tmp_path: Path, texts: dict[str, str], line: str
) -> None:
    mark = "compiled" if "compiled" in line else "nki.jit"
    written(tmp_path, {**texts, "port.py": f"{line}\n@{mark}\ndef k(x):\n    pass\ndef other(x):\n    pass\n"})
    assert [kernel.name for kernel in module(tmp_path / "port.py").kernels] == ["k"]


def test_star_import_of_the_language_brings_its_names() -> None:
    text = (
        "import nki\nfrom nki.language import *\nimport nki.isa as nisa\n@nki.jit\ndef k(x):\n"
        "    y = ndarray((128, 512), dtype=float32, buffer=shared_hbm)\n"
        "    nisa.memset(dst=y, value=0.0)\n    return y\n"
    )
    assert gaps(read_nki(SourceFile("port.py", text), NkiOptions()).lower(["k"])) == []


def test_module_names_do_not_keep_what_one_kernel_did_to_them() -> None:
    text = (
        HEAD
        + "sizes = [128]\n"
        + "".join(
            f"@nki.jit\ndef {name}(x):\n    sizes.append(512)\n    y = nl.ndarray((sizes[0], sizes[-1], len(sizes)),"
            " dtype=nl.float32, buffer=nl.shared_hbm)\n    nisa.memset(dst=y, value=0.0)\n    return y\n"
            for name in ("a", "b")
        )
    )
    text_of_ir = print_program(read_nki(SourceFile("port.py", text), NkiOptions()).lower(["a", "b"]))
    assert text_of_ir.count("alloc y: float32[128:int64, 512:int64, 2:int64]") == 2


def test_the_last_of_several_bindings_counts_and_sees_those_before_it() -> None:
    text = (
        HEAD + "SIZES = (64, 128)\nSIZES = SIZES[1:]\nTABLE = {}\nTABLE['free'] = 512\n"
        "@nki.jit\ndef k(x):\n    y = nl.ndarray((SIZES[0], TABLE['free']), dtype=nl.float32, buffer=nl.shared_hbm)\n"
        "    nisa.memset(dst=y, value=0.0)\n    return y\n"
    )
    assert "alloc y: float32[128:int64, 512:int64]" in print_program(
        read_nki(SourceFile("port.py", text), NkiOptions()).lower(["k"])
    )


def test_the_file_that_holds_the_helper_is_where_its_operations_stand(tmp_path: Path) -> None:
    written(
        tmp_path,
        {"helper.py": HELPER, "port.py": f"{HEAD}from helper import load_tile\n" + BODY.format(call="load_tile")},
    )
    program = lowered(tmp_path / "port.py")
    places = {
        Path(op.span.path).name: op.span.start.line for op in kernel_operations(program) if not isinstance(op, Store)
    }
    assert places["helper.py"] == 9


def test_module_names_first_used_in_one_arm_are_as_they_were_in_the_other() -> None:
    text = HEAD + (
        "sizes = [128]\n@nki.jit\ndef k(x, flag):\n    if flag:\n        sizes.append(256)\n"
        "        y = nl.ndarray((sizes[0], sizes[-1]), dtype=nl.float32, buffer=nl.sbuf)\n"
        "    else:\n        sizes.append(512)\n"
        "        z = nl.ndarray((len(sizes), sizes[-1]), dtype=nl.float32, buffer=nl.sbuf)\n"
    )
    text_of_ir = print_program(read_nki(SourceFile("port.py", text), NkiOptions()).lower(["k"]))
    assert "alloc y: float32[128:int64, 256:int64]" in text_of_ir
    assert "alloc z: float32[2:int64, 512:int64]" in text_of_ir
