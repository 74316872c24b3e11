"""Reading source files from strangers: nothing is trusted, everything that cannot be used is said plainly."""

from __future__ import annotations

import ast
import codecs
import io
import os
from pathlib import Path

from portcheck.core.errors import InputError
from portcheck.core.source import SourceFile, decoded

MOST_BYTES = 16 * 1024 * 1024
"""A larger file is refused: no kernel is that long, and reading it would only take memory."""
_FRAMEWORKS = {"triton": "Triton", "torch": "PyTorch", "jax": "JAX"}


def read_source(path: str, *, may_be_empty: bool = False) -> SourceFile:
    """The text of the file at `path`, under that name.

    Raises InputError for a path that does not exist, is not a file, is too large or binary, for Python that is not
    UTF-8, and for a file without text unless it `may_be_empty`.
    """
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{path} is a directory", hint="give the file that holds the kernel", path=path)
    try:
        data = _bytes_of(file)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", hint="check the path", path=path) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(
            f"{path} cannot be read: {reason}", hint="check the path and its permissions", path=path
        ) from None
    if len(data) > MOST_BYTES:
        raise InputError(
            f"{path} is too large: it has more than {MOST_BYTES} bytes",
            hint="give the file that holds the kernel, not a bundle",
            path=path,
        )
    if not may_be_empty and not data.strip():
        raise InputError(f"{path} is empty", hint="give the file that holds the kernel", path=path)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{path} is UTF-16", hint="save it as UTF-8 (for example with iconv)", path=path)
    if b"\0" in data:
        raise InputError(f"{path} is a binary file", hint="give source text, not a compiled kernel", path=path)
    if file.suffix == ".py":
        return SourceFile(path, _utf_8(path, data))
    text, encoding = decoded(data)
    return SourceFile(path, text, encoding)


def _bytes_of(file: Path) -> bytes:
    """What the file holds, up to one byte too many; nothing for a pipe that nobody has open to write to."""
    with open(file, "rb", buffering=0, opener=_opened) as stream:
        data = stream.read(MOST_BYTES + 1)
        if data == b"":
            return b""
        os.set_blocking(stream.fileno(), True)
        with io.BufferedReader(stream) as rest:
            return (data or b"") + rest.read(MOST_BYTES + 1 - len(data or b""))


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _utf_8(path: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        start = before.rfind(b"\n") + 1
        end = data.find(b"\n", error.start)
        excerpt = data[start : end if end >= 0 else None].decode("utf-8", "replace")
        raise InputError(
            f"{path} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}",
            hint="save the file as UTF-8 (for example with iconv)",
            path=path,
            line=line,
            column=len(before[start:].decode("utf-8", "replace")) + 1,
            excerpt=excerpt,
        ) from None


def names_in(source: SourceFile) -> frozenset[str]:
    """The names in the text of a Python file; none where it is no Python."""
    try:
        nodes = list(ast.walk(ast.parse(source.text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return frozenset(names | {node.arg for node in nodes if isinstance(node, ast.arg)})


def check_parses(source: SourceFile) -> None:
    """Raises InputError, at the place, where the text of a Python file is no Python."""
    if not _is_python(source):
        return
    hint = "mend the file, or give the CUDA text in a file of its own"
    try:
        ast.parse(source.text)
    except SyntaxError as error:
        line, column = error.lineno or 0, error.offset or 0
        excerpt = source.lines[line - 1] if 0 < line <= len(source.lines) else ""
        raise InputError(
            f"{source.path} does not parse as Python: {error.msg}",
            hint=hint, path=source.path, line=line, column=column, excerpt=excerpt,
        ) from None  # fmt: skip
    except (ValueError, RecursionError, MemoryError):
        raise InputError(f"{source.path} does not parse as Python", hint=hint, path=source.path) from None


def check_order(cuda: SourceFile, nki: SourceFile) -> None:
    """Raises InputError where the two files stand in each other's place, or the original is not CUDA."""
    if _is_python(cuda) and "__global__" not in cuda.text:
        _refuse_python_original(cuda, nki)
    if Path(nki.path).suffix in (".cu", ".cuh"):
        raise InputError(
            f"{nki.path} is a CUDA file, but the port is expected there",
            hint="portcheck diff KERNEL.cu PORT.py",
            path=nki.path,
        )


def _refuse_python_original(cuda: SourceFile, nki: SourceFile) -> None:
    if Path(nki.path).suffix in (".cu", ".cuh") or "__global__" in nki.text:
        raise InputError(
            f"the files stand in the wrong order: {cuda.path} is Python and holds no CUDA text",
            hint=f"portcheck diff {nki.path} {cuda.path}",
            path=cuda.path,
        )
    framework = _framework(cuda)
    if framework:
        raise InputError(
            f"{cuda.path} is a {framework} original, which is not supported yet",
            hint="give the CUDA source of the kernel",
            path=cuda.path,
        )
    raise InputError(
        f"{cuda.path} is Python and holds no CUDA text, but the original is expected there",
        hint="portcheck diff KERNEL.cu PORT.py",
        path=cuda.path,
    )


def _is_python(source: SourceFile) -> bool:
    return Path(source.path).suffix == ".py"


def _framework(source: SourceFile) -> str:
    """The framework that the module imports, if it is one kernels are written in."""
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    modules = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    roots = {module.partition(".")[0] for module in modules}
    return next((name for root, name in _FRAMEWORKS.items() if root in roots), "")
