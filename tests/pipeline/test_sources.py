"""Files that cannot be used are refused plainly, with what to do about it."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread
from time import sleep

import pytest

from portcheck.core.errors import InputError
from portcheck.core.source import SourceFile
from portcheck.pipeline.sources import MOST_BYTES, check_order, read_source

REFUSED = {
    "empty": (b"", "is empty"),
    "white space only": (b" \n\t\r\n", "is empty"),
    "binary": (b"\x7fELF\0\0", "is a binary file"),
    "UTF-16": (b"\xff\xfe" + "int n;\n".encode("utf-16-le"), "is UTF-16"),
    "UTF-16, high bytes first": (b"\xfe\xff" + "int n;\n".encode("utf-16-be"), "is UTF-16"),
    "huge": (b" " * (MOST_BYTES + 1), f"is too large: it has more than {MOST_BYTES} bytes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused_that_is(name: str, tmp_path: Path) -> None:
    data, expected = REFUSED[name]
    path = tmp_path / "k.cu"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_source(str(path))
    error = caught.value
    assert (error.message, error.path, error.exit_code) == (f"{path} {expected}", str(path), 2)
    assert error.hint


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_bytes(b"x" * MOST_BYTES)
    assert len(read_source(str(path)).text) == MOST_BYTES


def test_an_empty_file_may_be_read_where_that_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_bytes(b"")
    assert read_source(str(path), may_be_empty=True).text == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_nobody_waits_for_a_pipe_that_nobody_writes_to(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    os.mkfifo(path)
    with pytest.raises(InputError, match="is empty"):
        read_source(str(path))


def test_a_pipe_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    writer = Thread(target=lambda: (sleep(0.1), os.write(writing, b"int n;\n"), os.close(writing)))
    writer.start()
    assert read_source(f"/dev/fd/{reading}").text == "int n;\n"
    writer.join()
    os.close(reading)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_bytes("int größe;".encode("utf-8-sig"))
    assert read_source(str(path)).text == "int größe;"


def test_cuda_that_is_not_utf_8_is_read_as_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_bytes("// größe\nint n;\n".encode("latin-1"))
    source = read_source(str(path))
    assert (source.text, source.encoding) == ("// größe\nint n;\n", "Latin-1")


def test_a_byte_of_python_that_is_not_utf_8_is_shown_in_its_line(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(b"int n;\n// \xc3\xb6 gr\xf6sse\nint m;\n")
    with pytest.raises(InputError) as caught:
        read_source(str(path))
    error = caught.value
    assert (error.line, error.column, error.excerpt) == (2, 8, "// ö gr\ufffdsse")


def _missing(folder: Path) -> Path:
    return folder / "missing.cu"


def _folder(folder: Path) -> Path:
    return folder


def _loop(folder: Path) -> Path:
    path = folder / "loop.cu"
    path.symlink_to(path)
    return path


def _through_a_file(folder: Path) -> Path:
    (folder / "file").write_text("int n;")
    return folder / "file" / "k.cu"


def _null(folder: Path) -> Path:
    return folder / "k\0.cu"


PATHS = {
    "nothing is": (_missing, "does not exist"),
    "a directory is": (_folder, "is a directory"),
    "a link to itself is": (_loop, "cannot be read: Too many levels of symbolic links"),
    "a file is taken for a directory": (_through_a_file, "cannot be read: Not a directory"),
    "no path can be": (_null, "cannot be read: embedded null byte"),
}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_is_refused_where(name: str, tmp_path: Path) -> None:
    made, expected = PATHS[name]
    path = made(tmp_path)
    with pytest.raises(InputError) as caught:
        read_source(str(path))
    assert (caught.value.message, caught.value.exit_code) == (f"{path} {expected}", 2)


KERNEL = "__global__ void k(float* y) { y[0] = 0.f; }\n"
PORT = "import nki\n\n\n@nki.jit\ndef k(x):\n    return x\n"
TRITON = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(x):\n    pass\n"
ORDERS = {
    "exchanged": (("port.py", PORT), ("k.cu", KERNEL), "the files stand in the wrong order: port.py is Python"),
    "exchanged, the kernel in a file of another name": (
        ("port.py", PORT), ("k.txt", KERNEL), "the files stand in the wrong order: port.py is Python",
    ),
    "two kernels": (("k.cu", KERNEL), ("other.cuh", KERNEL), "other.cuh is a CUDA file, but the port is expected"),
    "two ports": (("a.py", PORT), ("b.py", PORT), "a.py is Python and holds no CUDA text"),
    "Triton": (("t.py", TRITON), ("port.py", PORT), "t.py is a Triton original, which is not supported yet"),
    "PyTorch": (
        ("t.py", "from torch.nn import functional\n"), ("port.py", PORT),
        "t.py is a PyTorch original, which is not supported yet",
    ),
    "JAX": (("t.py", "import jax.numpy as jnp\n"), ("port.py", PORT), "t.py is a JAX original"),
    "Python that does not parse": (
        ("t.py", "import torch\ndef (\n"), ("port.py", PORT), "t.py is Python and holds no CUDA text",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_a_pair_is_refused_of(name: str) -> None:
    cuda, nki, expected = ORDERS[name]
    with pytest.raises(InputError) as caught:
        check_order(SourceFile(*cuda), SourceFile(*nki))
    assert caught.value.message.startswith(expected)
    assert caught.value.hint


def test_the_hint_for_exchanged_files_is_the_right_order() -> None:
    with pytest.raises(InputError) as caught:
        check_order(SourceFile("port.py", PORT), SourceFile("k.cu", KERNEL))
    assert caught.value.hint == "portcheck diff k.cu port.py"


ACCEPTED = {
    "a kernel and a port": (("k.cu", KERNEL), ("port.py", PORT)),
    "a header": (("k.cuh", KERNEL), ("port.py", PORT)),
    "CUDA text in a Python file": (("k.py", f'SOURCE = """{KERNEL}"""\n'), ("port.py", PORT)),
    "files of other names": (("kernel.txt", KERNEL), ("port.txt", PORT)),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_pair_is_accepted_of(name: str) -> None:
    cuda, nki = ACCEPTED[name]
    check_order(SourceFile(*cuda), SourceFile(*nki))
