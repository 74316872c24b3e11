"""The check of the tables against stub files names what is missing, extra or different and not explained."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tools.stubs import differences, main, read, releases

from portcheck.knowledge import NkiVersion, load

LANGUAGE = "nki/api/nki/language/__init__.py"
LEGACY = "general/nki/api/nki/language/__init__.py"


def lines(text: str, label: str = "0.6/2.32", path: str = LANGUAGE) -> list[str]:
    return differences(read("stubs", NkiVersion.parse(label), {path: text}, load()), load())[0]


def about(text: str, word: str, label: str = "0.6/2.32", path: str = LANGUAGE) -> list[str]:
    return [line.partition(" (")[0] for line in lines(text, label, path) if word in line]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        pytest.param("def exp(x, dtype=None): ...", ".exp (", id="signature-as-in-the-table"),
        pytest.param("sbuf: MemoryRegion = ...", ".sbuf", id="memory-space"),
        pytest.param("bfloat16 = ...", ".bfloat16", id="dtype"),
        pytest.param("class NkiTensor:\n    def ap(self, pattern): ...", "NkiTensor (", id="class"),
        pytest.param("class _Inner: ...\nsbuf = ...", "_Inner", id="private-class"),
        pytest.param(
            "class _Sizes:\n    pmax: int = ...\ntile_size: _Sizes = ...", "pmax", id="members-of-an-instance"
        ),
    ],
)
def test_what_the_tables_have_is_no_difference(text, word):
    assert about(text, word) == []


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        pytest.param("def tile_sort(x): ...", "tile_sort", ["missing: nki.language.tile_sort"], id="missing-call"),
        pytest.param("float6: DType = ...", "float6", ["missing: nki.language.float6"], id="missing-constant"),
        pytest.param("sbuf = ...", ".fori_loop", ["extra: nki.language.fori_loop"], id="extra-call"),
        pytest.param("sbuf = ...", ".float8_e8m0fnu", ["extra: nki.language.float8_e8m0fnu"], id="extra-dtype"),
        pytest.param(
            "def abs(x, dtype=0): ...", ".abs (", ["different: nki.language.abs"], id="different-default"
        ),
        pytest.param("def abs(dtype=None, *, x): ...", ".abs (", ["different: nki.language.abs"], id="different-order"),
        pytest.param(
            "class MemoryRegion:\n    dram = 'dram'", "dram", ["missing: nki.language.MemoryRegion.dram"], id="member"
        ),
    ],
)  # fmt: skip
def test_a_difference_is_named(text, word, expected):
    assert about(text, word) == expected


def test_a_name_of_another_version_is_a_difference():
    text = "def fori_loop(start, stop, body_fn, step=1): ..."
    assert about(text, "fori_loop", "0.5/2.31") == ["missing: nki.language.fori_loop"]


def test_the_version_decides_which_generation_a_stub_describes():
    assert about("def par_dim(n): ...", "missing", "0.1/2.26", LEGACY) == []
    assert about("def par_dim(n): ...", "missing", "0.6/2.32") == ["missing: nki.language.par_dim"]


def test_a_keyword_that_the_stub_takes_without_naming_it_is_no_difference():
    text = "def load(src, *, mask=None, dtype=None, {more}): ..."
    assert about(text.format(more="**kwargs"), ".load (", "0.1/2.26", LEGACY) == []
    assert about(text.format(more="mode"), ".load (", "0.1/2.26", LEGACY) == ["different: neuronxcc.nki.language.load"]


def test_what_the_data_explains_is_counted_and_not_listed():
    found, explained = differences(
        read("stubs", NkiVersion.parse("0.2/2.28"), {LANGUAGE: "pass_ = ..."}, load()), load()
    )
    assert explained > 0
    assert not [line for line in found if "dynamic_range" in line]


def test_files_without_tags_are_those_of_the_newest_release(tmp_path: Path, monkeypatch, capsys):
    file = tmp_path / LANGUAGE
    file.parent.mkdir(parents=True)
    file.write_text("def nothing_we_know(x): ...\n")
    monkeypatch.setattr("sys.argv", ["stubs", str(tmp_path)])
    assert main() == 1
    assert "missing: nki.language.nothing_we_know" in capsys.readouterr().out


def test_the_first_tag_of_every_known_release_is_read(tmp_path: Path):
    def git(*arguments: str) -> None:
        user = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run(["git", "-C", str(tmp_path), *user, *arguments], check=True, capture_output=True)

    file = tmp_path / LANGUAGE
    file.parent.mkdir(parents=True)
    git("init")
    for tag, name in (("v2.29.0", "first"), ("v2.29.1", "second"), ("v2.30.0", "third"), ("v1.0.0", "old")):
        file.write_text(f"def {name}(x): ...\n")
        git("add", ".")
        git("commit", "-m", tag)
        git("tag", tag)
    read_ = [(stubs.title, [name.rpartition(".")[2] for name in stubs.names]) for stubs in releases(tmp_path, load())]
    assert read_ == [("v2.29.0 (0.3/2.29)", ["first"]), ("v2.30.0 (0.4/2.30)", ["third"])]


def test_a_folder_without_stubs_is_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["stubs", str(tmp_path)])
    with pytest.raises(SystemExit, match="no stubs"):
        main()
