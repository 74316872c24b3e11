"""The versions of NKI and the packages their names live in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.knowledge.objects import NkiSpace
from portcheck.knowledge.schema import Sources, Table, read_toml
from portcheck.knowledge.versions import NkiVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One version, and the SDKs that ship it.

    `root` is the package its kernels are written in, `outputs` where what they hand back may live.
    """

    label: str
    sdks: tuple[str, ...]
    root: str
    outputs: tuple[NkiSpace, ...]
    source: str

    @property
    def is_whole(self) -> bool:
        """Whether it stands for all SDKs that shipped the version."""
        return not self.version.sdk

    @property
    def version(self) -> NkiVersion:
        """The version as an ordered label."""
        return NkiVersion.parse(self.label)


@dataclass(frozen=True, slots=True)
class Releases:
    """All versions, oldest first, a release of an SDK that differs before its version.

    `packages` are those whose every public name is in the tables,
    `modules` are modules inside of packages that hand on the package's names, with that package.
    """

    versions: tuple[Release, ...]
    packages: frozenset[str]
    modules: Mapping[str, str]

    @property
    def sdks(self) -> Mapping[str, NkiVersion]:
        """The version that each SDK ships, as read by it ("2.28" -> 0.2/2.28), oldest SDK first."""
        return {sdk: NkiVersion.parse(f"{item.label}/{sdk}") for item in self.versions for sdk in item.sdks}

    @property
    def newest(self) -> Release:
        """The newest version that is known in full."""
        return self.versions[-1]

    def at(self, version: NkiVersion) -> Release:
        """What is known about `version`: of the newest that is not newer, else of the oldest."""
        older = [item for item in self.versions if item.version.numbers <= version.numbers]
        return older[-1] if older else self.versions[0]

    def root_of(self, name: str) -> str:
        """The root package that the qualified `name` lies in, "" for none."""
        roots = dict.fromkeys(item.root for item in self.versions)
        return next((root for root in roots if name == root or name.startswith(f"{root}.")), "")

    def first_in(self, root: str) -> str:
        """The first version whose kernels are written in the package `root`."""
        return next(item.label for item in self.versions if item.is_whole and item.root == root)

    def twins(self, name: str) -> tuple[str, ...]:
        """`name` as it would be called in the other root packages."""
        root = self.root_of(name)
        others = dict.fromkeys(item.root for item in self.versions if item.root != root)
        return tuple(other + name[len(root) :] for other in others) if root else ()

    def canonical(self, name: str) -> str:
        """`name` without a module that only hands on what its package has."""
        module = name
        while module := module.rpartition(".")[0]:
            if module in self.modules:
                return self.modules[module] + name[len(module) :]
        return name

    def is_complete(self, name: str) -> bool:
        """Whether the tables hold every public name of the package that `name` lies directly in."""
        return name.rpartition(".")[0] in self.packages


def load_releases(path: Path) -> Releases:
    """Read `mappings/nki/versions.toml`; raises KnowledgeError."""
    root, sources = read_toml(path, f"nki/{path.name}")
    versions = tuple(_release(label, table, sources) for label, table in root.table("version").items())
    packages = frozenset(name for name, table in root.table("package").items() if sources.cite(table))
    modules = {name: _module(table, sources) for name, table in root.table("module").items()}
    root.finish()
    return Releases(versions, packages, modules)


def _module(table: Table, sources: Sources) -> str:
    sources.cite(table)
    return table.text("package")


def _release(label: str, table: Table, sources: Sources) -> Release:
    sdks = table.texts("sdks", ())
    try:
        for text in (label, *(f"{label}/{sdk}" for sdk in sdks)):
            NkiVersion.parse(text)
    except ValueError as error:
        raise table.error(str(error)) from error
    outputs = tuple(NkiSpace(word) for word in table.texts("outputs"))
    release = Release(label=label, sdks=sdks, root=table.text("root"), outputs=outputs, source=sources.cite(table))
    table.finish()
    return release
