"""An original in the strings of a Python file: compared, listed, and told from the port beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.core.errors import InputError
from portcheck.pipeline import Request, check, program_of

ROOT = Path(__file__).parents[2]
PAIR = ROOT / "corpus" / "elementwise" / "axpy_guard"


def _held(folder: Path, *, port: str = "") -> str:
    path = folder / "original.py"
    text = (PAIR / "kernel.cu").read_text(encoding="utf-8")
    path.write_text(
        f'{port}\nSOURCE = r"""\n{text}"""\nmodule = load_inline("m", cuda_sources=SOURCE)\n', encoding="utf-8"
    )
    return str(path)


def test_an_original_in_a_string_is_compared_as_one_in_a_file(tmp_path: Path) -> None:
    port = str(PAIR / "port.py")
    held = check(Request(cuda_path=_held(tmp_path), nki_path=port)).report
    alone = check(Request(cuda_path=str(PAIR / "kernel.cu"), nki_path=port)).report
    assert held.verdict == alone.verdict
    assert [finding.code for finding in held.findings] == [finding.code for finding in alone.findings]
    ours = [finding.cuda for finding in held.findings if finding.cuda is not None]
    theirs = [finding.cuda for finding in alone.findings if finding.cuda is not None]
    assert [place.span.start.line for place in ours] == [place.span.start.line + 2 for place in theirs]


def test_a_file_with_both_is_a_port_unless_a_kernel_of_the_original_is_named(tmp_path: Path) -> None:
    path = _held(tmp_path, port=(PAIR / "port.py").read_text(encoding="utf-8"))
    original = program_of(str(PAIR / "kernel.cu")).kernels[0].name
    port = program_of(str(PAIR / "port.py")).kernels[0].name
    assert [kernel.name for kernel in program_of(path).kernels] == [port]
    assert [kernel.name for kernel in program_of(path, (original,)).kernels] == [original]
    with pytest.raises(InputError):
        program_of(path, ("neither",))


def test_a_file_may_be_its_own_original(tmp_path: Path) -> None:
    path = _held(tmp_path, port=(PAIR / "port.py").read_text(encoding="utf-8"))
    assert check(Request(cuda_path=path, nki_path=path)).report.findings is not None
