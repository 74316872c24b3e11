"""Which versions of NKI have a name and take a call as it is written."""

from __future__ import annotations

import pytest

from portcheck.knowledge import Form, NkiVersion, Reception, load
from portcheck.knowledge.fitting import Misfit, MisfitKind, Written, call_misfits, name_misfit, nearest_names

NAMES: dict[str, tuple[str, str, Misfit | None]] = {
    "there": ("nki.isa.tensor_copy", "0.6", None),
    "there still": ("nki.isa.tensor_copy_dynamic_src", "0.3", None),
    "removed": ("nki.isa.tensor_copy_dynamic_src", "0.6", Misfit(MisfitKind.GONE, bound="0.4")),
    "not yet": ("nki.language.fori_loop", "0.3", Misfit(MisfitKind.LATER, bound="0.6")),
    "not yet again": ("nki.language.load", "0.2", Misfit(MisfitKind.LATER, bound="0.3")),
    "of the other package": ("nki.language.mgrid", "0.6", Misfit(MisfitKind.GONE, bound="0.2")),
    "other package": ("neuronxcc.nki.language.load", "0.6", Misfit(MisfitKind.GONE, bound="0.2")),
    "raises": ("nki.benchmark", "0.2", Misfit(MisfitKind.GONE, bound="0.2")),
    "misspelt": ("nki.isa.tensor_coppy", "0.6", Misfit(MisfitKind.UNKNOWN)),
    "misspelt member": ("nki.isa.engine.vectr", "0.6", Misfit(MisfitKind.UNKNOWN)),
    "misspelt constant": ("nki.language.tile_size.pmx", "0.6", Misfit(MisfitKind.UNKNOWN)),
    "misspelt at the top": ("nki.jitt", "0.6", Misfit(MisfitKind.UNKNOWN)),
    "module that hands on": ("nki.isa.constants.oob_mode", "0.3", None),
    "module that is not public": ("nki.compiler.anything", "0.6", None),
    "package": ("nki.language", "0.6", None),
    "private": ("nki.isa._anything", "0.6", None),
}


@pytest.mark.parametrize(("name", "version", "misfit"), NAMES.values(), ids=NAMES)
def test_names_have_versions(name: str, version: str, misfit: Misfit | None) -> None:
    assert name_misfit(load(), name, NkiVersion.parse(version)) == misfit


CALLS: dict[str, tuple[str, str, Written, list[Misfit]]] = {
    "by keyword": ("nki.isa.memset", "0.6", Written(0, ("dst", "value")), []),
    "by position": ("nki.isa.memset", "0.6", Written(2), []),
    "may have more": ("nki.isa.memset", "0.6", Written(0, (), is_open=True), []),
    "without destination": ("nki.isa.memset", "0.6", Written(0, ("value",)), [Misfit(MisfitKind.MISSING, "dst")]),
    "misspelt": (
        "nki.isa.memset", "0.6", Written(0, ("dst", "valeu")),
        [Misfit(MisfitKind.ARGUMENT_UNKNOWN, "valeu"), Misfit(MisfitKind.MISSING, "value")],
    ),
    "removed": (
        "nki.isa.dma_copy", "0.6", Written(2, ("dst_rmw_op",)), [Misfit(MisfitKind.ARGUMENT_GONE, "dst_rmw_op", "0.3")],
    ),
    "of the first generation": (
        "nki.isa.tensor_copy", "0.6", Written(2, ("mask",)), [Misfit(MisfitKind.ARGUMENT_GONE, "mask", "0.2")],
    ),
    "not yet": (
        "nki.isa.nc_matmul", "0.2", Written(3, ("accumulate",)),
        [Misfit(MisfitKind.ARGUMENT_LATER, "accumulate", "0.3")],
    ),
    "surplus": ("nki.isa.memset", "0.6", Written(9), [Misfit(MisfitKind.SURPLUS)]),
    "hands its keywords on": ("nki.jit", "0.6", Written(0, ("anything",)), []),
}  # fmt: skip


@pytest.mark.parametrize(("name", "version", "written", "misfits"), CALLS.values(), ids=CALLS)
def test_calls_have_signatures(name: str, version: str, written: Written, misfits: list[Misfit]) -> None:
    assert list(call_misfits(load(), name, NkiVersion.parse(version), written)) == misfits


def test_nearest_names_are_those_of_the_version() -> None:
    found = nearest_names(load(), "nki.isa.tensor_coppy", NkiVersion.parse("0.6"))
    assert found[0] == "nki.isa.tensor_copy"
    assert not any(name.startswith("neuronxcc") for name in found)


FORMS = [
    (Form.IDENTITY, "0.2", None),
    (Form.IDENTITY, "0.3", Reception.REJECTED),
    (Form.IDENTITY, "0.7", None),
    (Form.UNKNOWN_KEYWORD, "0.2/2.27", Reception.IGNORED),
    (Form.UNKNOWN_KEYWORD, "0.2/2.28", Reception.REJECTED),
    (Form.NESTED_SLICE, "0.3", None),
    (Form.TEXT_AS_SPACE, "0.3", Reception.REJECTED),
]


@pytest.mark.parametrize(("form", "version", "reception"), FORMS)
def test_forms_are_received_by_version(form: Form, version: str, reception: Reception | None) -> None:
    ruling = load().forms.ruling(form, NkiVersion.parse(version))
    assert (ruling.reception if ruling else None) == reception
