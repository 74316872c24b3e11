"""Where text goes: data to standard output, messages to standard error, reports to files that are whole or absent."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from portcheck.core.errors import InputError

_PIPE_WIDTH = 120
_NEW_FILE_MODE = 0o666


def write_data(text: str) -> None:
    """Write `text` to standard output: as UTF-8 into a pipe or file, as the terminal can show it to a terminal.

    Raises InputError where it cannot be written; a reader that has gone away is not an error of ours.
    """
    stream = sys.stdout
    if stream is None:
        raise InputError("standard output is closed", hint="write to a file with --output FORMAT=PATH")
    encoding = "utf-8" if not stream.isatty() else stream.encoding or "utf-8"
    try:
        stream.flush()
        stream.buffer.write(text.encode(encoding, "backslashreplace"))
        stream.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(
            f"standard output cannot be written: {error.strerror}", hint="write to a file with --output FORMAT=PATH"
        ) from error


def write_message(text: str) -> None:
    """Write one line or more to standard error."""
    encoding = sys.stderr.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr)


def wants_color() -> bool:
    """Whether standard output is a terminal that shows colours and NO_COLOR (https://no-color.org) is not set."""
    return is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def output_width() -> int:
    """The width of the terminal; a fixed one elsewhere, so that a file does not depend on who wrote it."""
    return shutil.get_terminal_size().columns if is_terminal() else _PIPE_WIDTH


def is_terminal() -> bool:
    """Whether standard output is open and a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def check_destination(path: Path) -> None:
    """Raise InputError when a file at `path` could not be written, before any work is done for it."""
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist", hint="create it, or choose another path")
    if path.is_dir():
        raise InputError(f"{path} is a folder", hint="name a file in it")


def write_files(files: Sequence[tuple[Path, str]]) -> None:
    """Write every text to its path. All are written beside their places first, so that none is ever half there."""
    staged: list[tuple[Path, Path]] = []
    try:
        for path, text in files:
            staged += _staged(path, text)
        for temporary, path in staged:
            temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}", hint="choose another path, or make room and permit writing there"
        ) from error
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)


def _staged(path: Path, text: str) -> list[tuple[Path, Path]]:
    """The temporary file that holds `text` and the place it goes to; none for a device or pipe, written at once."""
    data = text.encode("utf-8", "backslashreplace")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return []
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(_mode(target))
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return [(temporary, target)]


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file gets (mkstemp makes it private)."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return _NEW_FILE_MODE & ~mask
