"""Headers are read in the project and under the given roots, and nowhere else."""

from pathlib import Path

import pytest
from tests.frontends.cuda.reading import not_understood, program

from portcheck.frontends.cuda import CudaOptions

KERNEL = '#include "{}"\n__global__ void k(float* x) {{ x[N] = 0.f; }}\n'
OUTSIDE = "lies outside the project and the folders given with -I, and was not read"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Where the kernel would lie; a header that says what N is lies two folders above."""
    (tmp_path / "secret.h").write_text("#define N 4\n")
    folder = tmp_path / "project" / "kernels"
    folder.mkdir(parents=True)
    return folder / "k.cu"


def notes_of(source: Path, header: str, *roots: Path) -> tuple[str, ...]:
    options = CudaOptions(include_roots=tuple(map(str, roots)))
    notes = program(KERNEL.format(header), path=str(source), options=options).notes
    return tuple(note for note in notes if note.startswith("header"))


def test_header_outside_of_the_folder_is_not_read(source: Path) -> None:
    assert notes_of(source, "../../secret.h") == (f"header ../../secret.h {OUTSIDE}",)


def test_header_outside_of_the_project_is_not_read(source: Path, tmp_path: Path) -> None:
    (tmp_path / "project" / ".git").mkdir()
    assert notes_of(source, "../../secret.h") == (f"header ../../secret.h {OUTSIDE}",)


def test_link_out_of_the_project_is_not_followed(source: Path, tmp_path: Path) -> None:
    (source.parent / "near.h").symlink_to(tmp_path / "secret.h")
    assert notes_of(source, "near.h") == (f"header near.h {OUTSIDE}",)


def test_header_of_a_header_may_not_lie_outside_either(source: Path) -> None:
    (source.parent / "near.h").write_text('#include "../../secret.h"\n')
    assert notes_of(source, "near.h") == (f"header ../../secret.h {OUTSIDE}",)


def test_header_elsewhere_in_the_project_is_read(source: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    lowered = program(KERNEL.format("../../secret.h"), path=str(source))
    assert lowered.notes == ()
    assert not_understood(list(lowered.kernels[0].body)) == []


def test_header_in_a_given_folder_is_read(source: Path, tmp_path: Path) -> None:
    assert notes_of(source, "../../secret.h", tmp_path) == ()


def test_headers_that_include_each_other_are_read_once(source: Path) -> None:
    (source.parent / "a.h").write_text('#include "b.h"\n')
    (source.parent / "b.h").write_text('#include "a.h"\n#include "./a.h"\n#define N 4\n')
    assert notes_of(source, "a.h") == ()


def test_header_that_links_to_itself_is_not_found(source: Path) -> None:
    (source.parent / "loop.h").symlink_to("loop.h")
    assert notes_of(source, "loop.h") == ("header loop.h was not found",)


def test_very_large_header_is_left_out_and_noted(source: Path) -> None:
    (source.parent / "large.h").write_text("// " + "x" * 1_000_000 + "\n")
    assert notes_of(source, "large.h") == ("header large.h was not read: 1000004 bytes are more than 1000000",)


def test_headers_deep_in_each_other_are_left_out_and_noted(source: Path) -> None:
    for number in range(20):
        (source.parent / f"h{number}.h").write_text(f'#include "h{number + 1}.h"\n')
    assert notes_of(source, "h0.h") == ("header h12.h was not read: more than 64 headers, or 12 one inside the other",)


def test_a_header_with_brackets_without_end_is_left_out_and_noted(source: Path) -> None:
    (source.parent / "deep.h").write_text("(" * 300_000)
    assert notes_of(source, "deep.h") == ("header deep.h was not read: brackets are nested too deeply",)
