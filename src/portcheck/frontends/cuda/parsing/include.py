"""Headers: those in the project of the file or under the given roots, read within bounds; others are left out.

The project is the nearest folder around the file that is under version control; without one, the folder of the file.
What a link or `..` leads out of both is not read: whoever writes the file must not choose what of the machine is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from portcheck.core.source import SourceFile, decoded
from portcheck.frontends.cuda.parsing.definitions import Definitions
from portcheck.frontends.cuda.parsing.repair import read_unit
from portcheck.frontends.cuda.parsing.syntax import Unit
from portcheck.frontends.cuda.text.nesting import is_too_deep
from portcheck.frontends.cuda.text.origins import Origins
from portcheck.frontends.cuda.text.preprocess import Preprocessor

_SUFFIXES = frozenset({".h", ".hh", ".hpp", ".hxx", ".cuh", ".cu", ".inc", ".inl", ".c", ".cc", ".cpp"})
_MOST_FILES = 64
_DEEPEST = 12
_LARGEST = 1_000_000
_MOST_KEPT = 4_000_000
"""Characters of the headers that are kept for the next file: files of one project name the same ones."""
_VERSION_CONTROL = (".git", ".hg", ".svn")


@dataclass
class Includes:
    """Reads the headers that the file at `path` names into `definitions`, each once."""

    path: str
    roots: tuple[str, ...]
    definitions: Definitions
    left_out: dict[str, str] = field(default_factory=dict)
    """The headers that were not read, and why."""
    _seen: set[Path] = field(default_factory=set)
    _folders: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._folders.append(Path(self.path).parent)

    def read(self, written: str, preprocessor: Preprocessor) -> None:
        """Reads the header written `"name"` or `<name>`; what is left out is noted, but for headers of the system."""
        name = written[1:].partition('"' if written.startswith('"') else ">")[0]
        is_quoted = written.startswith('"')
        found = self._find(name, is_quoted) if written[:1] in ('"', "<") else None
        if found is None:
            if is_quoted:
                self.left_out.setdefault(name, "was not found")
            return
        real = found.resolve()
        if real in self._seen:
            return
        source = self._source(name, found, real)
        if source is None:
            return
        if is_too_deep(source.text):
            self.left_out[name] = "was not read: brackets are nested too deeply"
            return
        self._seen.add(real)
        self._folders.append(found.parent)
        undefined, preprocessor.undefined = preprocessor.undefined, set()
        try:
            prepared, origins = preprocessor.process(source.text, self.read)
        finally:
            self._folders.pop()
            preprocessor.undefined = undefined
        self.definitions.collect(_parsed(source, prepared, origins), own=False)

    def _find(self, name: str, is_quoted: bool) -> Path | None:
        if not name or "\0" in name or PurePosixPath(name).is_absolute() or Path(name).suffix not in _SUFFIXES:
            return None
        folders: list[Path] = [*(reversed(self._folders) if is_quoted else ()), *(Path(root) for root in self.roots)]
        for folder in folders:
            candidate = folder / name
            try:
                if candidate.is_file():
                    return candidate
            except (OSError, ValueError):
                continue
        return None

    def _source(self, name: str, path: Path, real: Path) -> SourceFile | None:
        if not any(real.is_relative_to(area) for area in self._areas):
            self.left_out[name] = "lies outside the project and the folders given with -I, and was not read"
        elif len(self._seen) >= _MOST_FILES or len(self._folders) > _DEEPEST:
            self.left_out[name] = f"was not read: more than {_MOST_FILES} headers, or {_DEEPEST} one inside the other"
        elif (size := _size(real)) > _LARGEST:
            self.left_out[name] = f"was not read: {size} bytes are more than {_LARGEST}"
        else:
            return _read(path)
        return None

    @cached_property
    def _areas(self) -> tuple[Path, ...]:
        return (_project_of(Path(self.path).parent), *(Path(root).resolve() for root in self.roots))


def _project_of(folder: Path) -> Path:
    real = folder.resolve()
    around = (real, *real.parents)
    return next((parent for parent in around if any((parent / kept).exists() for kept in _VERSION_CONTROL)), real)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _read(path: Path) -> SourceFile | None:
    try:
        return SourceFile(str(path), *decoded(path.read_bytes()))
    except OSError:
        return None


def _parsed(source: SourceFile, prepared: str, origins: Origins) -> Unit:
    """A header parsed, or as it was parsed for another file whose macros make the same of it."""
    key = (source, prepared, origins)
    unit = _kept.pop(key, None) or read_unit(source, prepared, (origins,))
    _kept[key] = unit
    while sum(len(text) for _, text, _ in _kept) > _MOST_KEPT:
        del _kept[next(iter(_kept))]
    return unit


_kept: dict[tuple[SourceFile, str, Origins], Unit] = {}
"""The headers read last, the oldest first."""
