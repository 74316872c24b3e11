"""Which other files a port may read: those of its own package, those beside it, those under folders given for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from portcheck.core.source import SourceFile
from portcheck.frontends.nki.source.screen import SIZE_LIMIT

MOST_FILES = 200
"""Files that one port may import; the largest entry of a public library reaches 35."""
MOST_BYTES = 8_000_000
"""Bytes that they may have together."""
_MOST_FOLDERS = 32
_PACKAGE = "__init__.py"


class Files:
    """Finds and reads the files that a port imports. Links and `..` lead to nothing outside the folders it may read.

    A port that is no file on the disk has no files beside it.
    """

    def __init__(self, port: str, roots: Sequence[str] = ()) -> None:
        self._is_absolute = Path(port).is_absolute()
        folder = Path(port).absolute().parent
        package = _package_of(folder)
        beside = [folder] if Path(port).is_file() else []
        given = [Path(root).absolute() for root in roots]
        around = [package.parent] if beside and package is not None else []
        self.places = tuple(dict.fromkeys([*around, *beside, *given]))
        """Where the package of an absolute import may lie."""
        near = [package] if around and package is not None else []
        self._allowed = tuple(root.resolve() for root in (*near, *beside, *given))
        self._bytes_left = MOST_BYTES
        self._files_left = MOST_FILES

    def candidates(self, importing: Path, module: str, level: int) -> Iterator[Path]:
        """The paths, without their end, that `module` may have where the file `importing` imports it."""
        parts = module.split(".") if module else []
        if not level:
            yield from (place.joinpath(*parts) for place in self.places)
            return
        base = importing.parent
        for _ in range(min(level, _MOST_FOLDERS) - 1):
            base = base.parent
        yield base.joinpath(*parts)

    def found(self, path: Path) -> Path | None:
        """The module at `path`: the file of a package, a file, or a folder, which is a package that holds no names."""
        for name in (path / _PACKAGE, path.with_name(path.name + ".py") if path.name else path):
            if name.is_file() and self._may_read(name):
                return name
        return path if path.is_dir() and self._may_read(path) else None

    def _may_read(self, path: Path) -> bool:
        real = path.resolve()
        return any(real.is_relative_to(root) for root in self._allowed)

    def read(self, path: Path) -> SourceFile | str:
        """The text of what was found, or why it is not read."""
        if path.is_dir():
            return SourceFile(self.shown(path), "")
        if not self._files_left:
            return f"more than {MOST_FILES} files are imported"
        self._files_left -= 1
        try:
            with path.open("rb") as stream:
                data = stream.read(min(SIZE_LIMIT, self._bytes_left) + 1)
            text = data.decode("utf-8-sig")
        except OSError as error:
            return f"it cannot be read ({error.strerror})"
        except UnicodeDecodeError:
            return "it is not UTF-8"
        if len(data) > min(SIZE_LIMIT, self._bytes_left):
            return "the imported files are too large"
        self._bytes_left -= len(data)
        return SourceFile(self.shown(path), text)

    def shown(self, path: Path) -> str:
        """`path` as a report names it: relative if the port was given so."""
        return str(path) if self._is_absolute else os.path.relpath(path)


def _package_of(folder: Path) -> Path | None:
    """The outermost of the packages around `folder`."""
    found: Path | None = None
    for _ in range(_MOST_FOLDERS):
        if not (folder / _PACKAGE).is_file():
            break
        found, folder = folder, folder.parent
    return found
