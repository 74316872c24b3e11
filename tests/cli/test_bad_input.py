"""What a user gives by mistake, through the real pipeline: one plain error, exit 2, nothing printed or written."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.cli.stubs import Outcome, Portcheck

PAIR = Path(__file__).parents[2] / "corpus" / "row_reduction" / "rmsnorm_floor_tiles"
KERNEL = (PAIR / "kernel.cu").read_bytes()
PORT = (PAIR / "port.py").read_bytes()
TOO_LARGE = 16 * 1024 * 1024 + 1

FILES = {
    "kernel.cu": KERNEL,
    "port.py": PORT,
    "empty.cu": b"",
    "blank.py": b" \n\t\n",
    "binary.cu": b"\x7fELF\x02\x01\0\0__global__",
    "latin.py": PORT.replace(b"128 rows", b"128 \xfcber rows"),
    "host.cu": b"#include <cstdio>\nint main() { return 0; }\n",
    "two.cu": b"// two\n__global__ void a(float* y) { y[0] = 1.f; }\n__global__ void b(float* z) { z[0] = 2.f; }\n",
    "plain.py": b"def f(x):\n    return x\n",
    "triton.py": b"import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(x_ptr):\n    pass\n",
    "wide.cu": KERNEL.decode().encode("utf-16"),
    "broken.py": b'SOURCE = """__global__ void k(float* y) { y[0] = 0.f; }"""\ndef (\n',
    "torch.py": b"import torch\n\ndef f(x):\n    return torch.softmax(x, -1)\n",
}

CASES = {
    "a path that is not there": (("missing.cu", "port.py"), "missing.cu does not exist"),
    "a port that is not there": (("kernel.cu", "missing.py"), "missing.py does not exist"),
    "a file of two bytes a letter": (("wide.cu", "port.py"), "wide.cu is UTF-16"),
    "CUDA text in Python that does not parse": (("broken.py", "port.py"), "broken.py does not parse as Python"),
    "an empty file": (("empty.cu", "port.py"), "empty.cu is empty"),
    "a port of white space": (("kernel.cu", "blank.py"), "blank.py is empty"),
    "a binary file": (("binary.cu", "port.py"), "binary.cu is a binary file"),
    "a file over 16 MiB": (("large.cu", "port.py"), "large.cu is too large"),
    "a device without end": (("/dev/zero", "port.py"), "/dev/zero is too large"),
    "a folder": (("folder", "port.py"), "folder is a directory"),
    "a folder as the port": (("kernel.cu", "folder"), "folder is a directory"),
    "a path through a file": (("kernel.cu/kernel.cu", "port.py"), "cannot be read: Not a directory"),
    "the wrong order": (("port.py", "kernel.cu"), "the files stand in the wrong order"),
    "CUDA twice": (("kernel.cu", "kernel.cu"), "kernel.cu is a CUDA file, but the port is expected there"),
    "Python twice": (("port.py", "port.py"), "port.py is Python and holds no CUDA text"),
    "a Triton original": (("triton.py", "port.py"), "triton.py is a Triton original, which is not supported yet"),
    "a PyTorch original": (("torch.py", "port.py"), "torch.py is a PyTorch original, which is not supported yet"),
    "an original of plain Python": (("plain.py", "port.py"), "plain.py is Python and holds no CUDA text"),
    "CUDA without a kernel": (("host.cu", "port.py"), "host.cu holds no CUDA kernel"),
    "several kernels": (("two.cu", "port.py"), "several kernels could be meant: two.cu has a, b"),
    "an unknown kernel": (
        ("kernel.cu", "port.py", "--cuda-kernel", "rmsnorm_f16"),
        "kernel.cu has no kernel called rmsnorm_f16; it has rmsnorm_f32",
    ),
    "an unknown kernel of the port": (
        ("kernel.cu", "port.py", "--nki-kernel", "z"),
        "port.py has no kernel called z; it has rmsnorm_f32",
    ),
    "an unknown target": (("kernel.cu", "port.py", "--target", "trn22"), "there is no target called trn22"),
    "an unknown version": (("kernel.cu", "port.py", "--nki-version", "0.66"), 'there is no NKI version "0.66"'),
    "a version that is none": (("kernel.cu", "port.py", "--nki-version", "new"), 'there is no NKI version "new"'),
    "an unknown dtype": (("kernel.cu", "port.py", "--dtype", "x=flot32"), 'there is no dtype "flot32"'),
    "a cast to no dtype": (("kernel.cu", "port.py", "--assume", "auto-cast=int7"), 'there is no dtype "int7"'),
    "a dtype of no parameter": (("kernel.cu", "port.py", "--dtype", "nobody=float32"), 'has no parameter "nobody"'),
    "a file as a folder of headers": (("kernel.cu", "port.py", "-I", "port.py"), "-I port.py is not a folder"),
    "a size that is none": (("kernel.cu", "port.py", "--shape", "n=many"), '"many" is not a size'),
    "a size of nothing": (("kernel.cu", "port.py", "--shape", "nobody=3"), 'the port has nothing called "nobody"'),
    "an unknown format": (("kernel.cu", "port.py", "--format", "markdwn"), 'there is no format called "markdwn"'),
    "a missing output folder": (
        ("kernel.cu", "port.py", "--output", "json=nowhere/report.json"),
        "the folder nowhere does not exist",
    ),
    "a folder as the output": (("kernel.cu", "port.py", "--output", "json=folder"), "folder is a folder"),
}

NEAREST = {
    "target": (("diff", "kernel.cu", "port.py", "--target", "trn22"), 'did you mean "trn2"?'),
    "version": (("diff", "kernel.cu", "port.py", "--nki-version", "0.66"), 'did you mean "0.6"?'),
    "kernel": (("diff", "kernel.cu", "port.py", "--cuda-kernel", "rmsnorm_f16"), 'did you mean "rmsnorm_f32"?'),
    "dtype": (("diff", "kernel.cu", "port.py", "--dtype", "x=flot32"), 'did you mean "float32"?'),
    "format": (("diff", "kernel.cu", "port.py", "--format", "markdwn"), 'did you mean "markdown"?'),
    "rule": (("explain", "tail-tile-droped"), "tail-tile-dropped"),
    "code": (("explain", "PC4O1"), "PC401"),
    "kernel of ir": (("ir", "kernel.cu", "--kernel", "rmsnorm"), 'did you mean "rmsnorm_f32"?'),
    "version of ir": (("ir", "port.py", "--nki-version", "0.66"), 'did you mean "0.6"?'),
    "size of ir": (("ir", "port.py", "--shape", "xx=3"), 'did you mean "x"?'),
    "value of ir": (("ir", "port.py", "--value", "epss=1"), 'did you mean "eps"?'),
    "order": (("diff", "port.py", "kernel.cu"), "portcheck diff kernel.cu port.py"),
    "choice": (("diff", "two.cu", "port.py"), "--cuda-kernel NAME"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with every file of the table in it."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    with (tmp_path / "large.cu").open("wb") as large:
        large.truncate(TOO_LARGE)  # takes no room on the disk
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def check_refused(outcome: Outcome, said: str) -> None:
    first, *rest = outcome.err.splitlines()
    assert (outcome.code, outcome.out) == (2, "")
    assert first.startswith("portcheck: error: ") and said in first
    assert sum(line.startswith("hint: ") and len(line) > len("hint: ") for line in rest) == 1
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(("arguments", "said"), CASES.values(), ids=CASES)
def test_it_is_refused_in_one_line_with_a_hint_and_nothing_is_written(
    arguments: tuple[str, ...], said: str, folder: Path, portcheck: Portcheck
) -> None:
    before = names(folder)
    check_refused(portcheck("diff", *arguments, "--output", "markdown=report.md"), said)
    assert names(folder) == before


@pytest.mark.parametrize(("arguments", "nearest"), NEAREST.values(), ids=NEAREST)
def test_the_hint_offers_the_nearest_name(
    arguments: tuple[str, ...], nearest: str, folder: Path, portcheck: Portcheck
) -> None:
    outcome = portcheck(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert nearest in next(line for line in outcome.err.splitlines() if line.startswith("hint: "))


@pytest.mark.parametrize(
    ("arguments", "place", "excerpt"),
    [
        (("kernel.cu", "latin.py"), "latin.py:1:26", '  1 | """RMSNorm, float32, 128 \ufffdber rows'),
        (("two.cu", "port.py"), "two.cu:2:1", "  2 | __global__ void a(float* y)"),
    ],
    ids=["encoding of the port", "several kernels"],
)
def test_an_error_inside_a_file_shows_its_line(
    arguments: tuple[str, ...], place: str, excerpt: str, folder: Path, portcheck: Portcheck
) -> None:
    outcome = portcheck("diff", *arguments)
    first, where, line, caret, hint = outcome.err.splitlines()
    assert (outcome.code, outcome.out, where.strip()) == (2, "", place)
    assert line.startswith(excerpt)
    assert line[caret.index("^")] in "\ufffd_"
    assert first.startswith("portcheck: error: ") and hint.startswith("hint: ")


def test_a_long_line_is_shown_around_the_place(folder: Path, portcheck: Portcheck) -> None:
    (folder / "long.py").write_bytes(b"a" * 100_000 + b"\xe9" + b"b" * 100_000)
    lines = portcheck("diff", "kernel.cu", "long.py").err.splitlines()
    assert lines[1].strip() == "long.py:1:100001"
    assert len(lines[2]) < 130
    assert lines[2][lines[3].index("^")] == "\ufffd"


def test_a_folder_that_may_not_be_written_is_said(
    folder: Path, portcheck: Portcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied", "somewhere")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    before = names(folder)
    outcome = portcheck("diff", "kernel.cu", "port.py", "--output", "json=folder/report.json")
    check_refused(outcome, "cannot write folder/report.json: Permission denied")
    assert names(folder) == before


def test_a_full_disk_is_said_and_no_other_report_is_written(folder: Path, portcheck: Portcheck) -> None:
    before = names(folder)
    outputs = ("--output", "json=report.json", "--output", "markdown=/dev/full")
    check_refused(portcheck("diff", "kernel.cu", "port.py", *outputs), "cannot write /dev/full: ")
    assert names(folder) == before


@pytest.mark.parametrize("command", [("ir",), ("list", "kernels")], ids=" ".join)
@pytest.mark.parametrize("file", ["missing.cu", "binary.cu", "wide.cu", "large.cu", "latin.py", "broken.py", "folder"])
def test_other_commands_refuse_the_same_files(
    command: tuple[str, ...], file: str, folder: Path, portcheck: Portcheck
) -> None:
    check_refused(portcheck(*command, file), file)


@pytest.mark.parametrize("command", [("ir",), ("list", "kernels")], ids=" ".join)
@pytest.mark.parametrize("file", ["empty.cu", "blank.py", "host.cu", "plain.py"])
def test_other_commands_accept_a_file_without_kernels(
    command: tuple[str, ...], file: str, folder: Path, portcheck: Portcheck
) -> None:
    outcome = portcheck(*command, file)
    assert (outcome.code, outcome.err) == (0, f"portcheck: note: {file} holds no kernel\n")


@pytest.mark.parametrize(
    ("port", "line"),
    [
        (b"def f(:\n    pass\n", 1),
        (PORT.replace(b"    n, d = x.shape", b"    n, d = = x.shape"), 11),
        (b"def f(x):\n    return x\n", None),
        (b"import triton\n\n@triton.jit\ndef k(x_ptr):\n    pass\n", None),
        (b"x = " + b"(" * 100_000 + b"\n", None),
    ],
    ids=["not Python", "a line that is not Python", "no kernel", "Triton", "nested too deeply"],
)
def test_a_port_that_cannot_be_read_is_a_finding(
    port: bytes, line: int | None, folder: Path, portcheck: Portcheck
) -> None:
    (folder / "odd.py").write_bytes(port)
    outcome = portcheck("diff", "kernel.cu", "odd.py", "--format", "json")
    report = json.loads(outcome.out)
    assert (outcome.code, outcome.err, report["verdict"]) == (1, "", "not-faithful")
    [finding] = [finding for finding in report["findings"] if finding["severity"] == "error"]
    assert finding["code"] == "PC002"
    assert line is None or finding["nki"]["start"]["line"] == line


@pytest.mark.parametrize(
    ("old", "new", "first", "last"),
    [
        (b"s = warp_sum(s);", b"s = = warp_sum(s) @@ ;", 17, 17),
        (b"float s = 0.f;", b"float s = 0.f", 15, 15),
        (b"i < d; i += blockDim.x) s +=", b"i < d; i += blockDim.x s +=", 9, 33),
        (KERNEL[KERNEL.index(b"rsqrtf(part") :], b"", 9, 26),
    ],
    ids=["stray characters", "no semicolon", "no parenthesis", "cut off"],
)
def test_cuda_that_does_not_parse_is_a_finding(
    old: bytes, new: bytes, first: int, last: int, folder: Path, portcheck: Portcheck
) -> None:
    (folder / "odd.cu").write_bytes(KERNEL.replace(old, new, 1))
    outcome = portcheck("diff", "odd.cu", "port.py", "--format", "json", "--fail-on", "never")
    report = json.loads(outcome.out)
    assert (outcome.code, outcome.err) == (0, "")
    assert report["verdict"] in ("not-faithful", "not-verified")
    places = [finding["cuda"] for finding in report["findings"] if finding["code"] == "PC001"]
    assert {place["start"]["line"] for place in places} == {first}
    assert {place["end"]["line"] for place in places} == {last}


def test_a_process_of_its_own_behaves_alike(folder: Path) -> None:
    program = [sys.executable, "-c", "from portcheck.cli import main; main()"]
    done = subprocess.run(
        [*program, "diff", "missing.cu", "port.py"], env=dict(os.environ), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "portcheck: error: missing.cu does not exist\nhint: check the path\n"
