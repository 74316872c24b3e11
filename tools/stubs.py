"""Compares the tables of NKI with the public stub files: names, parameters and defaults of every version.

FOLDER is a checkout of aws-neuron-sdk. Where it has tags, the first tag of every known SDK release is read; where it
has none, its files are taken for the newest release. The stubs are read with `ast`, never imported. Ends with 1 on any
difference that `mappings/nki/stubs.toml` does not explain.
"""

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from portcheck.knowledge import Knowledge, NkiVersion, load

ROOTS = ("nki/api/nki/", "general/nki/api/nki/")
"""Where the stubs lie in a checkout."""
PACKAGES = ("neuronxcc.nki", "nki")
"""What the stubs describe, under the one or the other name."""
Parameters = tuple[tuple[str, str | None], ...]
"""Names in call order, each with the text of its default."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One name of a stub: its parameters, or None for what is no function, and where it stands."""

    parameters: Parameters | None
    place: str


@dataclass(slots=True)
class Stubs:
    """What the stub files of one release declare, by qualified name."""

    title: str
    version: NkiVersion
    package: str
    names: dict[str, Declared] = field(default_factory=dict)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", metavar="FOLDER")
    knowledge = load()
    failed = False
    for stubs in releases(Path(parser.parse_args().folder), knowledge):
        found, explained = differences(stubs, knowledge)
        print(f"{stubs.title}: {len(stubs.names)} names, {len(found)} differences, {explained} explained")
        print("".join(f"  {line}\n" for line in found), end="")
        failed = failed or bool(found)
    return int(failed)


def releases(folder: Path, knowledge: Knowledge) -> Iterator[Stubs]:
    """The stubs of every known release that a tag of the checkout names, else those of its files."""
    tags = run(folder, "tag", "--list", "v2.*", "--sort=v:refname").split()
    versions = knowledge.releases.sdks
    found = False
    for sdk, version in versions.items():
        matching = [tag for tag in tags if tag.startswith(f"v{sdk}.") and tag.count(".") == 2]
        if matching:
            found = True
            listed = run(folder, "ls-tree", "-r", "--name-only", matching[0], *ROOTS).split()
            files = {path: run(folder, "show", f"{matching[0]}:{path}") for path in listed if path.endswith(".py")}
            yield read(f"{matching[0]} ({version})", version, files, knowledge)
    if not found:
        paths = sorted(path for root in ROOTS for path in (folder / root).rglob("*.py"))
        files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}
        newest = list(versions.values())[-1]
        yield read(f"{folder} ({newest})", newest, files, knowledge)


def run(folder: Path, *arguments: str) -> str:
    """What git says about the checkout; nothing where git fails, as where there is no repository."""
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def read(title: str, version: NkiVersion, files: Mapping[str, str], knowledge: Knowledge) -> Stubs:
    """The names that the stub files of a version declare, given by path and text."""
    package = next(name for name in PACKAGES if knowledge.objects.ranges[name].includes(version))
    stubs = Stubs(title, version, package)
    for path, text in files.items():
        root = next(root for root in ROOTS if path.startswith(root))
        inner = path.removeprefix(root).removesuffix(".py").removesuffix("__init__").strip("/")
        stubs.names.update(declarations(ast.parse(text).body, ".".join([stubs.package, *inner.split("/")]).strip(".")))
    if not stubs.names:
        sys.exit(f"{title}: no stubs in {' or '.join(ROOTS)}")
    return stubs


def declarations(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Declared]]:
    """The public names of a module or class, those of its classes included."""
    classes = {node.name: node.body for node in body if isinstance(node, ast.ClassDef)}
    for node in body:
        place = f"{prefix}:{node.lineno}"
        match node:
            case ast.FunctionDef(name=name) if not name.startswith("_"):
                property_ = any(ast.unparse(item) == "property" for item in node.decorator_list)
                yield f"{prefix}.{name}", Declared(None if property_ else parameters(node.args), place)
            case ast.ClassDef(name=name) if not name.startswith("_"):
                yield f"{prefix}.{name}", Declared(None, place)
                yield from declarations(node.body, f"{prefix}.{name}")
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id=of)) if of.startswith("_"):
                yield from declarations(classes[of], f"{prefix}.{name}")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield f"{prefix}.{name}", Declared(None, place)


def parameters(arguments: ast.arguments) -> Parameters:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + [ast.unparse(item) for item in arguments.defaults]
    found = list(zip((item.arg for item in plain), defaults, strict=True))
    if arguments.vararg:
        found.append((f"*{arguments.vararg.arg}", None))
    elif arguments.kwonlyargs:
        found.append(("*", None))
    for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append((item.arg, ast.unparse(default) if default else None))
    if arguments.kwarg:
        found.append((f"**{arguments.kwarg.arg}", None))
    return tuple(item for item in found if item[0] != "self")


def differences(stubs: Stubs, knowledge: Knowledge) -> tuple[list[str], int]:
    """What stubs and tables say differently, one a line, and how many differences the tables explain."""
    found, explained = [], 0
    for name, line in [*missing_or_different(stubs, knowledge), *extra(stubs, knowledge)]:
        if knowledge.stub_facts.is_exception(name, stubs.version):
            explained += 1
        else:
            found.append(line)
    return found, explained


def missing_or_different(stubs: Stubs, knowledge: Knowledge) -> Iterator[tuple[str, str]]:
    """What the stubs declare and the tables do not have in that version, or with other parameters."""
    for name, item in stubs.names.items():
        form = knowledge.api(name, stubs.version)
        if form is None and not offers(name, stubs.version, knowledge):
            yield name, f"missing: {name} ({item.place})"
        if form is None or item.parameters is None:
            continue
        ours = tuple((parameter.name, parameter.default) for parameter in form.parameters)
        if ours != item.parameters and not (form.note and names_more(ours, item.parameters)):
            yield name, f"different: {name} ({item.place}) takes {written(item.parameters)}, not {written(ours)}"


def names_more(ours: Parameters, declared: Parameters) -> bool:
    """Whether `ours` only names some of the keywords that `declared` takes without naming them."""
    known = {name for name, _ in declared}
    takes_all = any(name.startswith("**") for name in known)
    return takes_all and tuple(item for item in ours if item[0] in known) == declared


def extra(stubs: Stubs, knowledge: Knowledge) -> Iterator[tuple[str, str]]:
    """What the tables have in that version and the stubs do not declare."""
    containers = {name.rpartition(".")[0] for name in stubs.names}
    for name in sorted(knowledge.object_names.union(knowledge.apis)):
        if not name.startswith(f"{stubs.package}.") or name in stubs.names:
            continue
        is_summary = name.rpartition(".")[0] not in containers and name not in knowledge.apis
        if not is_summary and knowledge.offers(name, stubs.version):
            yield name, f"extra: {name}"


def offers(name: str, version: NkiVersion, knowledge: Knowledge) -> bool:
    """Whether the tables have the name in that version, or something that lies in it."""
    inside = [other for other in knowledge.object_names if other.startswith(f"{name}.")]
    return any(knowledge.offers(other, version) for other in (name, *inside))


def written(parameters: Parameters) -> str:
    return "(" + ", ".join(name if default is None else f"{name}={default}" for name, default in parameters) + ")"


if __name__ == "__main__":
    sys.exit(main())
