"""A port of several kernels that a host function launches one after the other: they are one original."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pipeline.chain import MEANS, MEANS_PORT, SUM, SUM_PORT
from tests.pipeline.pairs import NKI_HEADER, PROVED, report_of

from portcheck.core.errors import InputError
from portcheck.pipeline import Request, check

NOTE = "total launches collect, finish one after the other: one program"


def test_a_reduction_in_two_kernels_is_one_original(tmp_path: Path) -> None:
    report = report_of(tmp_path, SUM, SUM_PORT)
    assert report.verdict in PROVED
    assert report.inputs.cuda.kernels == ("collect", "finish")
    assert NOTE in report.inputs.cuda.notes
    assert [output.name for output in report.outputs] == ["y"]


def test_a_proof_says_that_a_temporary_is_read_only_where_it_was_written(tmp_path: Path) -> None:
    report = report_of(tmp_path, MEANS, MEANS_PORT)
    assert report.verdict in PROVED
    (proof,) = (finding for finding in report.findings if finding.code == "PC520")
    assert "part is read only where it was written" in proof.message


def test_kernels_that_are_named_are_the_same_chain(tmp_path: Path) -> None:
    report_of(tmp_path, SUM, SUM_PORT)
    for names in (("collect", "finish"), ("finish", "collect")):
        request = Request(cuda_path=str(tmp_path / "k.cu"), nki_path=str(tmp_path / "k.py"), cuda_kernels=names)
        report = check(request).report
        assert report.verdict in PROVED
        assert report.inputs.cuda.kernels == ("collect", "finish")


def test_one_kernel_of_a_chain_is_compared_alone(tmp_path: Path) -> None:
    report = report_of(tmp_path, SUM, SUM_PORT, kernel="finish")
    assert report.inputs.cuda.kernels == ("finish",)
    assert report.verdict not in PROVED


BETWEEN = "  finish<<<"
DOUBTS = {
    "another kernel competes": (
        "void total",
        "__global__ void all(const float* x, float* y) { y[0] = x[0]; }\nvoid total",
    ),
    "the sums are looked at": ("cudaFree(sums)", "show(sums)"),
    "blocks that change between": (BETWEEN, f"  blocks = blocks / 2;\n{BETWEEN}"),
    "partial sums that change between": (BETWEEN, f"  cudaMemset(sums, 0, 4);\n{BETWEEN}"),
    "the second only at times": (BETWEEN, f"  if (n > 64){BETWEEN}"),
    "elements that are not partial sums": ("finish<<<1, 32>>>(sums", "finish<<<1, 32>>>(x"),
    "the order of the launches": (
        "  collect<<<blocks",
        "  finish<<<1, 32>>>(sums, y, blocks, 0.5f);\n  collect<<<blocks",
    ),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_in_doubt_the_kernels_are_not_taken_together(name: str, tmp_path: Path) -> None:
    old, new = DOUBTS[name]
    assert SUM.count(old) == 1
    try:
        report = report_of(tmp_path, SUM.replace(old, new), SUM_PORT)
    except InputError as error:
        assert "several kernels could be meant" in error.message
    else:
        assert len(report.inputs.cuda.kernels) == 1
        assert report.verdict not in PROVED


@pytest.mark.parametrize("name", list(DOUBTS)[2:])
def test_kernels_in_doubt_are_not_proved_where_they_are_named(name: str, tmp_path: Path) -> None:
    old, new = DOUBTS[name]
    (tmp_path / "k.cu").write_text(SUM.replace(old, new), encoding="utf-8")
    (tmp_path / "k.py").write_text(NKI_HEADER + SUM_PORT, encoding="utf-8")
    names = ("collect", "finish")
    request = Request(cuda_path=str(tmp_path / "k.cu"), nki_path=str(tmp_path / "k.py"), cuda_kernels=names)
    assert check(request).report.verdict not in PROVED
