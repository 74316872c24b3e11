"""What a report says of a limit: it depends on the stated chip and version, and names what the version does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.rules.fit.kernels import PRODUCT

from portcheck.core.finding import Finding
from portcheck.pipeline import Request, check
from portcheck.rules.fit.examples import COPY_CUDA, COPY_NKI, MATMUL_CUDA, RANDOM_NKI


def findings(folder: Path, cuda: str, nki: str, code: str, **stated: str) -> list[Finding]:
    (folder / "kernel.cu").write_text(cuda)
    (folder / "port.py").write_text(nki)
    request = Request(cuda_path=str(folder / "kernel.cu"), nki_path=str(folder / "port.py"), **stated)
    return [finding for finding in check(request).report.findings if finding.code == code]


@pytest.mark.parametrize(("target", "is_found"), [("trn1", True), ("trn2", True), ("trn3", False)])
def test_the_stated_chip_decides(target: str, is_found: bool, tmp_path: Path) -> None:
    assert bool(findings(tmp_path, COPY_CUDA, RANDOM_NKI, "PC708", target=target)) is is_found


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("0.2", "what NKI 0.2 does then is not documented."),
        ("0.4", "what NKI 0.4 does then is not documented; its simulator refuses it."),
        ("0.6", "NKI 0.6 refuses it with a verification error; its simulator refuses it."),
    ],
)
def test_the_message_says_what_the_version_does(version: str, words: str, tmp_path: Path) -> None:
    (found,) = findings(tmp_path, COPY_CUDA, COPY_NKI.replace("128", "129"), "PC701", nki_version=version)
    assert found.message.endswith(words)
    assert "The tile `tile` occupies 129 partitions, and trn2 has 128" in found.message


def test_the_limit_is_cited(tmp_path: Path) -> None:
    port = PRODUCT.replace("right = nl.ndarray((128, 512)", "right = nl.ndarray((128, 513)")
    (found,) = findings(tmp_path, MATMUL_CUDA, port, "PC703")
    assert "has 513 elements in a partition, and the tensor engine of trn2 takes at most 512" in found.message
    assert [source.rpartition("/")[2] for source in found.because] == ["__init__.py:489"]
    assert found.nki is not None
