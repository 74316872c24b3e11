"""Every class of calls that is lowered is executed in a kernel of our own, in each generation that has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import pytest
from tests.execution.tiles.test_kernels import CASES

from portcheck.frontends.nki.lowering.table import HANDLERS
from portcheck.knowledge import Semantics, load

SAY_NOTHING = {
    Semantics.HINT,
    Semantics.QUERY,
    Semantics.QUERY_BYTES,
    Semantics.QUERY_GENERATION,
    Semantics.QUERY_LAYOUT,
    Semantics.QUERY_LIMITS,
    Semantics.QUERY_PROGRAM_RANK,
    Semantics.QUERY_SPACE,
    Semantics.ORDER,
    Semantics.QUERY_RANK,
    Semantics.RANKS,
}
"""What a kernel is told or asks before it runs."""
NOT_RUN = {Semantics.RANDOM_STATE}
"""The state of generators whose numbers are not documented."""


@cache
def executed_classes() -> frozenset[tuple[str, Semantics]]:
    """The classes of what the kernels call, with the package that they call it in."""
    return frozenset(
        (package, version.semantics)
        for case in CASES
        for package, name in called_in(case.source)
        if (api := load().apis.get(name)) is not None
        for version in api.versions
    )


def called_in(source: str) -> Iterator[tuple[str, str]]:
    """What the text of a kernel calls, with its package; methods as those of a tensor and of an instruction."""
    package = "neuronxcc" if "import neuronxcc" in source else "nki"
    root = "neuronxcc.nki" if package == "neuronxcc" else "nki"
    modules = {"nl": "language.", "nisa": "isa.", "ncc": "collectives.", "nki": ""}
    methods = {name.rpartition(".")[0] + "." for name in load().apis if name.startswith(root) and is_method(name)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            owner, _, rest = ast.unparse(node).partition(".")
            is_name = owner in modules and all(part.isidentifier() for part in rest.split("."))
            names = {f"{root}.{modules[owner]}{rest}"} if is_name else {start + node.attr for start in methods}
            yield from ((package, name) for name in names)


def is_method(name: str) -> bool:
    return name.split(".")[-2] in ("NkiTensor", "NkiInstruction", "tensor")


def offered_classes() -> list[tuple[str, Semantics]]:
    """The classes that a package has calls of and that have a lowering."""
    found = {
        (name.partition(".")[0], version.semantics)
        for name, api in load().apis.items()
        for version in api.versions
        if version.semantics in HANDLERS and version.semantics not in SAY_NOTHING | NOT_RUN
    }
    return sorted(found)


@pytest.mark.parametrize(("package", "semantics"), offered_classes())
def test_a_class_of_calls_is_executed(package: str, semantics: Semantics) -> None:
    assert (package, semantics) in executed_classes()


def test_a_class_that_no_kernel_calls_is_missed() -> None:
    assert ("nki", Semantics.HINT) not in executed_classes()
    assert len(executed_classes()) > 60
