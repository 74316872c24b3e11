"""Mechanical mistakes about versions are found under their own codes: ports made from the tables, one a line."""

from __future__ import annotations

from functools import cache

import pytest
from tests.rules.generation.texts import (
    HEAD,
    KNOWLEDGE,
    TAIL,
    VERSIONS,
    at,
    call,
    codes,
    codes_by_line,
    forms,
    port,
    spelled,
)  # fmt: skip

from portcheck.knowledge import ApiStatus
from portcheck.knowledge.fitting import MisfitKind, Written, call_misfits, name_misfit
from portcheck.knowledge.signatures import WRITTEN
from portcheck.rules.generation.expected import enumeration_of

LEAST_RECALL = 0.95
PACKAGES = ("isa", "language", "collectives")
Lines = dict[str, str]
"""The code that is due by line."""


def misspelt_calls(version: str) -> Lines:
    """A letter doubled in the name of every third call."""
    found = {}
    for form in forms(version, *PACKAGES)[::3]:
        line = call(form)
        name = spelled(form.name)
        wrong = f"{name[:-2]}{name[-2]}{name[-2:]}"
        found[line.replace(name, wrong, 1)] = "PC804"
    return found


def misspelt_keywords(version: str) -> Lines:
    """A letter doubled in the first keyword of every third call."""
    found = {}
    for form in forms(version, *PACKAGES)[1::3]:
        keyword = next((item.name for item in form.parameters if len(item.name) > 3 and item.default is not None), "")
        if keyword and not keyword.startswith("*"):
            found[call(form, **{f"{keyword[:-1]}{keyword[-1:] * 2}": "None"})] = "PC805"
    return found


def missing_destinations(version: str) -> Lines:
    """Calls that hand their result back."""
    found = {}
    for form in forms(version, "isa"):
        written = [item.name for item in form.parameters if item.role in WRITTEN and item.default is None]
        if written:
            found[f"c = {call(form, without=written[:1])}"] = "PC805"
    return found


def missing_arguments(version: str) -> Lines:
    """Calls without the last argument that they require."""
    found = {}
    for form in forms(version, "isa")[::2]:
        names = [item.name for item in form.parameters if item.default is None and not item.name.startswith("*")]
        last = form.parameter(names[-1]) if names else None
        if last is not None and last.role not in WRITTEN:
            found[call(form, without=names[-1:])] = "PC805"
    return found


def gone(version: str) -> Lines:
    """Calls that an earlier version had, in this package or in that of the first generation."""
    found = {}
    root = KNOWLEDGE.releases.at(at(version)).root
    for name in KNOWLEDGE.apis:
        owner, _, word = name.rpartition(".")
        here = f"{root}.{owner.rpartition('.')[2]}.{word}"
        if owner.rpartition(".")[2] not in ("isa", "language") or owner.count(".") > 2:
            continue
        misfit = name_misfit(KNOWLEDGE, here, at(version))
        if misfit is not None and misfit.kind is MisfitKind.GONE:
            found[f"{spelled(here)}(a)"] = "PC802"
    return found


def later(version: str) -> Lines:
    """Calls that only a later version has."""
    found = {}
    root = KNOWLEDGE.releases.at(at(version)).root
    for name in KNOWLEDGE.apis:
        if name.rpartition(".")[0] in (f"{root}.isa", f"{root}.language"):
            misfit = name_misfit(KNOWLEDGE, name, at(version))
            if misfit is not None and misfit.kind is MisfitKind.LATER:
                found[f"{spelled(name)}(a)"] = "PC804"
    return found


def arguments_of_other_versions(version: str) -> Lines:
    """Keywords that another version of the call has."""
    found = {}
    for form in forms(version, "isa", "language"):
        names = (form.name, *KNOWLEDGE.releases.twins(form.name))
        others = [other for name in names if name in KNOWLEDGE.apis for other in KNOWLEDGE.apis[name].versions]
        words = {item.name for other in others for item in other.parameters if not item.name.startswith("*")}
        for word in sorted(words - {item.name for item in form.parameters})[:1]:
            written = Written(0, (word,), is_open=True)
            misfits = call_misfits(KNOWLEDGE, form.name, at(version), written)
            misfit = next((item for item in misfits if item.argument == word), None)
            if misfit is not None:
                found[call(form, **{word: "None"})] = "PC802" if misfit.kind is MisfitKind.ARGUMENT_GONE else "PC805"
    return found


def enumerations_as_numbers(version: str) -> Lines:
    """Numbers and strings in place of members of enumerations."""
    found = {}
    root = KNOWLEDGE.releases.at(at(version)).root
    for form in forms(version, "isa"):
        for parameter in form.parameters:
            if enumeration_of(KNOWLEDGE, parameter, root) and at(version) >= at("0.3"):
                found[call(form, **{parameter.name: "1"})] = "PC805"
                found[call(form, **{parameter.name: "'x'"})] = "PC805"
    return found


def deprecated(version: str) -> Lines:
    """Calls that the version advises against."""
    found = [form for form in forms(version, *PACKAGES) if form.status is ApiStatus.DEPRECATED]
    return {call(form): "PC803" for form in found}


MUTATIONS = {
    mutation.__name__: mutation
    for mutation in (
        misspelt_calls, misspelt_keywords, missing_destinations, missing_arguments, gone, later,
        arguments_of_other_versions, enumerations_as_numbers, deprecated,
    )
}  # fmt: skip
OTHER = "\n\n@nki.jit\ndef other(x):\n    return x\n"
REGISTER = "r = nisa.register_alloc(3)\n    while r:\n        nisa.register_load(r, a[0:1, 0:1])"
BASED = "class B(nl.NKIObject):\n    pass\n\nclass C(B):\n    pass\n\n"
SELECTION = "nisa.range_select(dst=a, on_true_tile=b, comp_op0=nl.greater, comp_op1=nl.less, bound0=a, bound1=b,"
SINGLE: dict[str, tuple[str, str | None, str]] = {
    "two packages": ("import neuronxcc.nki.isa as old\n" + port("0.6", "old.reciprocal(a)"), None, "PC801"),
    "two packages, stated": ("import neuronxcc.nki.isa as old\n" + port("0.6", "old.reciprocal(a)"), "0.6", "PC801"),
    "two versions": (
        port("0.6", "nisa.dma_copy(dst=a, src=b, dst_rmw_op=nl.add)", "nl.abs_max(a, b)"), None, "PC801",
    ),
    "first generation as 0.6": (port("0.1"), "0.6", "PC802"),
    "current generation as 0.1": (port("0.6"), "0.1", "PC804"),
    "benchmark": (port("0.6").replace("@nki.jit", "@nki.benchmark"), "0.4", "PC802"),
    "baremetal": (port("0.6").replace("@nki.jit", "@nki.baremetal"), "0.2", "PC802"),
    "simulate_kernel": (port("0.6") + "\nnki.simulate_kernel(k)\n", "0.6", "PC802"),
    "platform": (port("0.6").replace("@nki.jit", "@nki.jit(platform_target='trn2')"), "0.3", "PC802"),
    "mode": (port("0.6").replace("@nki.jit", "@nki.jit(mode='trace')"), "0.3", "PC803"),
    "name of a constant": (port("0.6", "n = nl.tile_size.psum_fmaxx"), "0.6", "PC804"),
    "deprecated constant": (port("0.6", "n = nl.tile_size.psum_fmax"), "0.6", "PC803"),
    "member of an enumeration": (port("0.6", "e = nisa.engine.vectro"), "0.6", "PC804"),
    "method of a tile": (port("0.6", "c = a.reshap((8, 128))"), "0.6", "PC804"),
    "mgrid": (port("0.6", "i, j = nl.mgrid[0:128, 0:8]"), "0.6", "PC802"),
    "arithmetic of tiles": (port("0.6", "c = a + b"), "0.6", "PC802"),
    "tile in place": (port("0.6", "a += b"), "0.6", "PC802"),
    "operator first": (port("0.6", "c = nisa.activation(nl.exp, a)"), "0.6", "PC805"),
    "sources before the operator": (port("0.6", "c = nisa.tensor_tensor(a, b, nl.add)"), "0.6", "PC805"),
    "scales before the operator": (port("0.6", "nisa.dma_compute(a, [a, b], [1.0, 1.0], nl.add)"), "0.6", "PC805"),
    "operator before the scales": (port("0.2", "nisa.dma_compute(a, [a, b], nl.add, [1.0, 1.0])"), "0.2", "PC805"),
    "string as a space": (port("0.6", "c = nl.ndarray((128, 8), dtype=nl.float32, buffer='sbuf')"), "0.6", "PC805"),
    "function as an operator": (port("0.6", "nisa.tensor_reduce(dst=a, op=nl.mean, data=b, axis=1)"), "0.6", "PC805"),
    "state of a loop": (
        port("0.6", "def body(i):", "    nisa.memset(dst=b, value=0.0)", "nl.fori_loop(0, 4, body, a)"), "0.6", "PC805",
    ),
    "dtype as an engine": (port("0.6", "nisa.memset(a, 0.0, nl.float32)"), "0.6", "PC805"),
    "operator as a string": (port("0.6", "nisa.tensor_tensor(dst=a, data1=a, data2=b, op='add')"), "0.6", "PC805"),
    "axis 1 of three": (
        port("0.6", "c = nl.ndarray((128, 2, 4), dtype=nl.float32, buffer=nl.sbuf)",
             "nisa.tensor_reduce(dst=a[:, 0:2], op=nl.add, data=c, axis=1)"), None, "PC806",
    ),
    "scale of a block": (port("0.6", "nisa.quantize_mx(dst=a, src=b, dst_scale=a)"), None, "PC806"),
    "float into integers": (
        port("0.6", "c = nl.ndarray((128, 8), dtype=nl.int32, buffer=nl.sbuf)", "nisa.memset(dst=c, value=2.5)"),
        None, "PC806",
    ),
    "fill that 0.3 refuses": (port("0.6", f"{SELECTION} on_false_value=-1.0)"), None, "PC806"),
    "fill that 0.6 refuses": (port("0.6", f"{SELECTION} on_false_value=-1.0)"), "0.6", "PC806"),
    "command that was ignored": (
        port("0.6", f"{SELECTION} on_false_value=-3.4028235e38, reduce_cmd=nisa.reduce_cmd.reduce)"), None, "PC806",
    ),
    "destination of the first generation": (
        port("0.1", "nisa.reciprocal(dst=a, data=b)", "nisa.tensor_copy(a, dst=b)"), None, "PC805",
    ),
    "product handed back": (port("0.6", "c = nisa.nc_matmul(a, b)"), "0.6", "PC805"),
    "fill of a selection": (
        port("0.2", "nisa.range_select(dst=a, on_true_tile=b, comp_op0=nl.greater, comp_op1=nl.less, bound0=a, "
             "bound1=b, reduce_op=nl.maximum)"), "0.2", "PC806",
    ),
    "private output": (port("0.6").replace("shared_hbm", "private_hbm"), "0.3", "PC807"),
    "plain output": (port("0.6").replace("nl.shared_hbm", "nl.hbm"), "0.6", "PC807"),
    "tile as output": (port("0.6").replace("return y", "return a"), "0.6", "PC807"),
    "tile as output of one of several": (
        port("0.6").replace("return y", "return a") + OTHER + "\nk[2](None)\n", "0.6", "PC807",
    ),
    "private output of one of several": (port("0.6").replace("shared_hbm", "private_hbm") + OTHER, "0.6", "PC807"),
    "tile as output, first generation": (port("0.1").replace("return y", "return a"), None, "PC807"),
    "is": (port("0.6", "if x is True:", "    pass"), "0.6", "PC808"),
    "is a dtype": (port("0.6", "if x.dtype is nl.float32:", "    pass"), "0.6", "PC808"),
    "is not": (port("0.6", "q = 1 if x.dtype is not nl.float32 else 2"), "0.3", "PC808"),
    "separator": (port("0.6").replace("def k(x)", "def k(x, *, n=1)"), "0.5", "PC808"),
    "list by default": (port("0.6").replace("def k(x)", "def k(x, n=[1])"), "0.4", "PC808"),
    "key": (port("0.6", "q = {1: 2}"), "0.6", "PC808"),
    "decorated helper": (
        port("0.2", "h(a)").replace("@nki.jit", "@nki.jit\ndef h(t):\n    nisa.memset(dst=t, value=0.0)\n\n@nki.jit"),
        "0.2", "PC808",
    ),
    "generator": (
        port("0.6", "for t in h(a):", "    pass").replace("@nki.jit", "def h(t):\n    yield t\n\n@nki.jit"),
        "0.6", "PC808",
    ),
    "register of a loop": (port("0.6", REGISTER), "0.6", "PC803"),
    "base of a class": (port("0.6", "c = C()").replace("@nki.jit", f"{BASED}@nki.jit"), "0.6", "PC808"),
    "two bases": (
        port("0.4", "c = C()").replace("@nki.jit", f"{BASED.replace('(B)', '(nl.NKIObject, B)')}@nki.jit"),
        "0.4", "PC808",
    ),
    "slice of a slice": (port("0.2", "nisa.memset(dst=a[0:64][0:32], value=0.0)"), "0.2", "PC808"),
}  # fmt: skip
SILENT: dict[str, tuple[str, str | None]] = {
    "fill that all versions write": (port("0.6", f"{SELECTION} on_false_value=-3.4028235e38)"), None),
    "fill by its exact value": (port("0.6", f"{SELECTION} on_false_value=-3.4028234663852886e+38)"), None),
    "command that all versions follow": (
        port("0.6", f"{SELECTION} on_false_value=-3.4028235e38, reduce_cmd=nisa.reduce_cmd.reset_reduce)"), None,
    ),
    "fill that is not known": (
        port("0.6", f"{SELECTION} on_false_value=n)").replace("def k(x)", "def k(x, n)"), None,
    ),
    "scale of a block in a stated version": (port("0.6", "nisa.quantize_mx(dst=a, src=b, dst_scale=a)"), "0.4"),
    "float into integers in 0.2": (
        port("0.6", "c = nl.ndarray((128, 8), dtype=nl.int32, buffer=nl.sbuf)", "nisa.memset(dst=c, value=2.5)"), "0.2",
    ),
    "result of the first generation": (port("0.1", "a = nisa.reciprocal(data=b)"), None),
    "destination that the first generation has": (port("0.1", "nisa.dma_copy(dst=a, src=b)"), None),
    "is, which Python traces": (port("0.1", "if x is None:", "    pass"), "0.1"),
    "is, which 0.2 takes": (port("0.2", "if x is None:", "    pass"), "0.2"),
    "private output of 0.2": (port("0.2").replace("shared_hbm", "private_hbm"), "0.2"),
    "a number as an enumeration in 0.2": (port("0.2", "nisa.dma_copy(dst=a, src=b, dge_mode=2)"), "0.2"),
    "arithmetic of tiles of the first generation": (port("0.1", "a = a + b"), None),
    "masks of the first generation": (port("0.1", "a = nl.exp(b, mask=None)"), None),
    "slice of a slice in 0.3": (port("0.3", "nisa.memset(dst=a[0:64][0:32], value=0.0)"), "0.3"),
    "axis of two dimensions": (port("0.6", "nisa.tensor_reduce(dst=a[:, 0:1], op=nl.add, data=b, axis=1)"), None),
    "functions of the file": (HEAD.replace("@nki.jit", "def h():\n    pass\n\n@nki.jit") + TAIL, "0.6"),
    "methods of a tile": (port("0.6", "c = a.reshape((128, 2, 4)).permute((0, 2, 1))"), "0.6"),
    "names of other modules": ("import nki.compiler as nc\n" + port("0.6", "nc.anything(a)"), "0.6"),
    "functions that are operators": (
        port("0.6", "nisa.tensor_reduce(a, nl.max, b, 1)", "nisa.activation(dst=a, op=nl.exp, data=b)"), "0.6",
    ),
    "step of a loop": (
        port("0.6", "def body(i):", "    nisa.memset(dst=b, value=0.0)", "nl.fori_loop(0, 4, body, 2)"), "0.6",
    ),
    "engine by its old name": (port("0.1", "a = nisa.tensor_copy(b, engine=nisa.vector_engine)"), "0.1"),
    "engine by a name of the file": (
        port("0.6", "nisa.memset(a, 0.0, E)").replace("@nki.jit", "E = nisa.engine.vector\n\n@nki.jit"), "0.6",
    ),
    "operator that is a parameter": (
        port("0.6", "nisa.tensor_tensor(dst=a, data1=a, data2=b, op=n)").replace("def k(x)", "def k(x, n)"), "0.6",
    ),
    "register of a loop in 0.5": (port("0.5", REGISTER), "0.5"),
    "number of a loop": (port("0.6", "n = x.shape[0]\n    while n > 1:\n        n = n // 2"), "0.6"),
    "number of a loop in a loop": (
        port("0.6", "n = x.shape[0]", "for i in range(n):", "    n = n - 1", "    while n:", "        n = n // 2"),
        "0.6",
    ),
    "class of NKI": (port("0.6", "c = B()").replace("@nki.jit", f"{BASED}@nki.jit"), "0.6"),
    "class without a base": (port("0.6", "c = B()").replace("@nki.jit", "class B:\n    pass\n\n@nki.jit"), "0.6"),
    "enumeration": (
        port("0.6", "c = E(1)").replace("@nki.jit", "from enum import Enum\nclass E(Enum):\n    A = 1\n\n@nki.jit"),
        "0.6",
    ),
    "tile of one of several kernels": (port("0.6").replace("return y", "return a") + OTHER, "0.6"),
    "import that nothing uses": ("import neuronxcc.nki.isa as old\n" + port("0.6"), "0.6"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "version"), SILENT.values(), ids=SILENT)
def test_what_a_version_accepts_is_silent(text: str, version: str | None) -> None:
    assert codes(text, version) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_every_call_of_a_version_is_silent_in_it(version: str) -> None:
    lines = [call(form) for form in forms(version, *PACKAGES) if form.status is ApiStatus.OK]
    found = {line: said for line, said in codes_by_line(port(version, *lines), version).items() if said}
    within = ["PC806"] if version == "0.2" else []  # its releases differ
    assert {line: said for line, said in found.items() if said != within} == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_port_of_a_version_is_silent_however_it_is_read(version: str) -> None:
    assert codes(port(version)) == codes(port(version), version) == []


@cache
def judged(mutation: str, version: str) -> dict[str, tuple[str, list[str]]]:
    """The code that is due and those that are there, by line."""
    lines = MUTATIONS[mutation](version)
    found = codes_by_line(port(version, *lines), version) if lines else {}
    return {line: (due, found[line]) for line, due in lines.items()}


CASES = [(mutation, version) for mutation in MUTATIONS for version in VERSIONS if MUTATIONS[mutation](version)]


@pytest.mark.parametrize(("mutation", "version"), CASES, ids=[f"{mutation} {version}" for mutation, version in CASES])
def test_mistakes_are_found_under_their_code(mutation: str, version: str) -> None:
    outcome = judged(mutation, version)
    missed = {line: pair for line, pair in outcome.items() if pair[0] not in pair[1]}
    assert outcome
    assert len(missed) <= (1 - LEAST_RECALL) * len(outcome), missed


@pytest.mark.parametrize(("mutation", "version"), CASES, ids=[f"{mutation} {version}" for mutation, version in CASES])
def test_one_mistake_is_one_finding(mutation: str, version: str) -> None:
    outcome = judged(mutation, version)
    doubled = {line: pair for line, pair in outcome.items() if len(pair[1]) > 1}
    assert len(doubled) <= (1 - LEAST_RECALL) * len(outcome), doubled


@pytest.mark.parametrize(("text", "version", "code"), SINGLE.values(), ids=SINGLE)
def test_a_mistake_is_one_finding_under_its_code(text: str, version: str | None, code: str) -> None:
    assert code in codes(text, version)


def test_recall_over_all_mistakes() -> None:
    outcomes = [pair for mutation, version in CASES for pair in judged(mutation, version).values()]
    found = sum(due in there for due, there in outcomes) + len(SINGLE)
    assert len(outcomes) > 1000
    assert found >= LEAST_RECALL * (len(outcomes) + len(SINGLE))
