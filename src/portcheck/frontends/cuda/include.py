"""Headers: quoted includes near the file or under the given roots, read within bounds; others are left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from portcheck.core.source import SourceFile, decoded
from portcheck.frontends.cuda.definitions import Definitions
from portcheck.frontends.cuda.preprocess import Preprocessor
from portcheck.frontends.cuda.repair import read_unit

_SUFFIXES = frozenset({".h", ".hh", ".hpp", ".hxx", ".cuh", ".cu", ".inc", ".inl", ".c", ".cc", ".cpp"})
_MOST_FILES = 64
_DEEPEST = 12
_LARGEST = 1_000_000


@dataclass
class Includes:
    """Reads headers into `definitions`, each once."""

    definitions: Definitions
    roots: tuple[str, ...]
    missing: list[str] = field(default_factory=list)
    _seen: set[Path] = field(default_factory=set)
    _folders: list[Path] = field(default_factory=list)

    def within(self, path: str) -> None:
        """Says which file includes are relative to."""
        self._folders.append(Path(path).parent)

    def read(self, written: str, preprocessor: Preprocessor) -> None:
        """Reads the header written `"name"` or `<name>`; a missing one is noted, if it was quoted."""
        name = written[1:].partition('"' if written.startswith('"') else ">")[0]
        is_quoted = written.startswith('"')
        found = self._find(name, is_quoted) if written[:1] in ('"', "<") else None
        if found is None:
            if is_quoted and name not in self.missing:
                self.missing.append(name)
            return
        if found in self._seen or len(self._seen) >= _MOST_FILES or len(self._folders) > _DEEPEST:
            return
        self._seen.add(found)
        source = _source(found)
        if source is None:
            return
        self._folders.append(found.parent)
        undefined, preprocessor.undefined = preprocessor.undefined, set()
        try:
            prepared, origins = preprocessor.process(source.text, self.read)
        finally:
            self._folders.pop()
            preprocessor.undefined = undefined
        self.definitions.collect(read_unit(source, prepared, (origins,)), own=False)

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


def _source(path: Path) -> SourceFile | None:
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return SourceFile(str(path), *decoded(path.read_bytes()))
    except OSError:
        return None
