"""Small ports for every version of NKI, and calls made from the tables; what the rules PC801 to PC808 say of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import cast

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.knowledge import ApiVersion, Knowledge, NkiVersion, Parameter, Role, load
from portcheck.rules import Draft, Pair, all_rules

CODES = ("PC801", "PC802", "PC803", "PC804", "PC805", "PC806", "PC807", "PC808")
KNOWLEDGE: Knowledge = load()
VERSIONS = tuple(release.label for release in KNOWLEDGE.releases.versions if release.is_whole)
CURRENT = VERSIONS[1:]

HEAD = """import nki
import nki.collectives as cc
import nki.isa as nisa
import nki.language as nl

@nki.jit
def k(x):
    y = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    b = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
"""
TAIL = """    nisa.dma_copy(dst=y, src=a)
    return y
"""
LEGACY_HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

@nki.jit
def k(x):
    y = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.load(x[0:128, 0:8])
    b = nl.load(x[0:128, 0:8])
"""
LEGACY_TAIL = """    nl.store(y[0:128, 0:8], value=a)
    return y
"""


def port(version: str, *lines: str) -> str:
    """A port for `version` with `lines` in its kernel."""
    head, tail = (LEGACY_HEAD, LEGACY_TAIL) if version == VERSIONS[0] else (HEAD, TAIL)
    return head + "".join(f"    {line}\n" for line in lines) + tail


def drafts(text: str, version: str | None = None) -> Iterator[tuple[str, Draft]]:
    """What the rules say of a port, with their codes; `version` as if the user had stated it."""
    module = read_nki(SourceFile("port.py", text), NkiOptions(version=version))
    program = module.lower([kernel.name for kernel in module.kernels])
    pair = cast(Pair, SimpleNamespace(nki=SimpleNamespace(program=program), knowledge=KNOWLEDGE))
    for rule in all_rules():
        if rule.code in CODES:
            yield from ((rule.code, draft) for draft in rule.judge(pair))


def codes(text: str, version: str | None = None) -> list[str]:
    """The codes of the findings, one each."""
    return [code for code, _ in drafts(text, version)]


def codes_by_line(text: str, version: str | None = None) -> dict[str, list[str]]:
    """The codes of the findings by the text of the line that they are about."""
    lines = text.split("\n")
    found: dict[str, list[str]] = {line.strip(): [] for line in lines}
    for code, draft in drafts(text, version):
        assert draft.nki is not None
        found[lines[draft.nki.start.line - 1].strip()].append(code)
    return found


def at(version: str) -> NkiVersion:
    """`version` as an ordered label."""
    return NkiVersion.parse(version)


def forms(version: str, *packages: str) -> list[ApiVersion]:
    """The calls that `version` has in the packages called `packages`, methods and types left out."""
    root = KNOWLEDGE.releases.at(at(version)).root
    wanted = [f"{root}.{package}" for package in packages]
    found = [KNOWLEDGE.api(name, at(version)) for name in KNOWLEDGE.apis if name.rpartition(".")[0] in wanted]
    return [form for form in found if form is not None and form.parameters]


def spelled(name: str) -> str:
    """`name` as the ports here write it."""
    owner, _, word = name.rpartition(".")
    return f"{ {'isa': 'nisa', 'language': 'nl', 'collectives': 'cc'}[owner.rpartition('.')[2]] }.{word}"


def call(form: ApiVersion, without: Sequence[str] = (), **more: str) -> str:
    """A call with all arguments that `form` requires by keyword, but those `without`."""
    required = [item for item in form.parameters if item.default is None and not item.name.startswith("*")]
    given = [f"{item.name}={value_for(item)}" for item in required if item.name not in without]
    collecting = [item for item in form.parameters if item.name.startswith("*") and item.name.strip("*")]
    positional = [value_for(item) for item in collecting if not item.name.startswith("**")] if not given else []
    arguments = [*positional, *given, *(f"{key}={value}" for key, value in more.items())]
    return f"{spelled(form.name)}({', '.join(arguments)})"


def value_for(parameter: Parameter) -> str:
    """Something that may be given for `parameter`, as far as its role says."""
    return _VALUES.get(parameter.role, "1")


_VALUES = {
    Role.DESTINATION: "a", Role.REDUCE_DESTINATION: "a", Role.SOURCE: "b", Role.SOURCES: "[a, b]", Role.STATIONARY: "a",
    Role.MOVING: "b", Role.OPERATOR: "nl.add", Role.OPERATOR0: "nl.add", Role.OPERATOR1: "nl.add",
    Role.REDUCE_OPERATOR: "nl.add", Role.COMPARISON0: "nl.add", Role.COMPARISON1: "nl.add", Role.SHAPE: "(128, 8)",
    Role.DTYPE: "nl.float32", Role.BUFFER: "nl.sbuf", Role.PATTERN: "[[1, 8]]", Role.VALUE: "0.0", Role.PREDICATE: "b",
    Role.ON_TRUE: "b", Role.BODY: "lambda i: None",
}  # fmt: skip
