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


def test_what_no_chip_carries_out_says_what_happens_and_what_to_write(tmp_path: Path) -> None:
    port = COPY_NKI.replace("src=tile[0:128, 0:cols])", "src=nl.divide(tile, tile))")
    (found,) = findings(tmp_path, COPY_CUDA, port, "PC708", nki_version="0.3")
    assert found.message == ("`divide` works on no chip; the release notes say that it is not supported (NKI 0.3).")
    assert found.remedy == "Multiply by `reciprocal` of the divisor."


def test_a_loop_over_partitions_names_the_first_round_that_is_illegal(tmp_path: Path) -> None:
    loop = "        for p in range(128):\n            nisa.memset(dst=tile[p:p + 1, 0:cols], value=0.0)\n"
    port = COPY_NKI.replace("        nisa.dma_copy(dst=y[", loop + "        nisa.dma_copy(dst=y[")
    (found,) = findings(tmp_path, COPY_CUDA, port, "PC702")
    assert "begins at partition 1 of `tile` in a round of the loop (at p) and occupies 1" in found.message


def test_a_tile_of_a_format_of_another_chip_is_to_be_allocated_otherwise(tmp_path: Path) -> None:
    spare = "    spare = nl.ndarray((32, 32), dtype=nl.float8_e5m2_x4, buffer=nl.sbuf)\n"
    port = PRODUCT.replace("    return", spare + "    return")
    (found,) = findings(tmp_path, MATMUL_CUDA, port, "PC707")
    assert found.remedy == "Allocate it with a dtype that NKI has on this chip, or state another target."
