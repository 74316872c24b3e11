"""The files of a port: itself, and what it imports from its package, each read once and when it is first needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from portcheck.core.source import SourceFile
from portcheck.frontends.nki.source.files import Files
from portcheck.frontends.nki.source.imports import Imported, imported_by, is_nki
from portcheck.frontends.nki.source.screen import Fault, Screened, screen
from portcheck.frontends.nki.state.scope import Scope

MOST_REACHED = 40
"""Files that are looked at for the version of a port; the largest entry of a public library reaches 35."""


class Reach:
    """The files of one port; `missing` says for each module that was not found where it was looked for."""

    def __init__(self, source: SourceFile, screened: Screened, files: Files) -> None:
        self._files = files
        path = Path(source.path).absolute()
        self.port = Scope(self, path, source.path, screened)
        self._scopes: dict[Path, Scope | str] = {path: self.port}
        self._modules: dict[tuple[Path, str], Scope | None] = {}
        self.missing: dict[str, str] = {}
        self.assumed: dict[str, None] = {}
        self.following: set[Scope] = set()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report must say: which modules are not in reach, and what was assumed."""
        return (*(f"{name} {why}" for name, why in self.missing.items()), *self.assumed)

    def module(self, importing: Scope, item: Imported) -> Scope | None:
        """The module that an import of the file `importing` names; None when it is no file that may be read."""
        if not item.level and (is_nki(item.module) or item.module.partition(".")[0] in sys.stdlib_module_names):
            return None
        key = (importing.path.parent if item.level else Path(), "." * item.level + item.module)
        if key not in self._modules:
            self._modules[key] = self._looked_up(importing, item.module, item.level)
        return self._modules[key]

    def reached(self) -> list[Scope]:
        """The port and the files that it imports, directly or not; at most MOST_REACHED."""
        found = {self.port: None}
        pending = [self.port]
        while pending and len(found) < MOST_REACHED:
            scope = pending.pop(0)
            items = [item for node in scope.imports for item in imported_by(node)]
            new = [module for item in items if (module := self.module(scope, item)) is not None and module not in found]
            found.update(dict.fromkeys(new))
            pending.extend(new)
        return list(found)[:MOST_REACHED]

    def is_missing(self, importing: Scope, item: Imported) -> bool:
        """Whether an import names a file of the port that is not there."""
        found = self.module(importing, item)
        return found is None and "." * item.level + item.module in self.missing

    def inside(self, package: Scope, name: str) -> Scope | None:
        """The module `name` of a package."""
        return self._at(package.folder / name) if package.folder is not None else None

    def _looked_up(self, importing: Scope, module: str, level: int) -> Scope | None:
        candidates = list(self._files.candidates(importing.path, module, level))
        found = next((scope for path in candidates if (scope := self._at(path)) is not None), None)
        if found is None:
            self._note(module, level, candidates)
        return found

    def _at(self, path: Path) -> Scope | None:
        file = self._files.found(path)
        if file is None:
            return None
        if file not in self._scopes:
            self._scopes[file] = self._read(file)
        scope = self._scopes[file]
        if isinstance(scope, str):
            self.missing[self._files.shown(file)] = scope
            return None
        return scope

    def _read(self, file: Path) -> Scope | str:
        source = self._files.read(file)
        if isinstance(source, str):
            return source
        screened = screen(source.text)
        if isinstance(screened, Fault):
            return f"{screened.message} (line {screened.line})"
        return Scope(self, file, source.path, screened)

    def _note(self, module: str, level: int, candidates: list[Path]) -> None:
        """Says where a module was looked for; of an absolute import, only if its package is one of the port's."""
        places = [self._files.shown(path) for path in candidates]
        if level or any(self._files.found(path) for path in self._roots(module)):
            self.missing["." * level + module] = f"is not at {' or '.join(places)}"

    def _roots(self, module: str) -> Iterator[Path]:
        root = module.partition(".")[0]
        return (place / root for place in self._files.places)
