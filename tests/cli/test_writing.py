import os
from pathlib import Path

import pytest

from portcheck.cli.writing import wants_color, write_files
from portcheck.core.errors import InputError


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")

    def full(handle: int, mode: str) -> None:
        os.close(handle)
        raise OSError(28, "No space left on device", "a")

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(InputError, match="No space left"):
        write_files([(tmp_path / "a", "new")])
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "old")]


def test_none_is_replaced_when_a_later_one_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(InputError):
        write_files([(tmp_path / "a", "new"), (tmp_path / "missing" / "b", "new")])
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "old")]


def test_permissions_are_kept_and_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_files([(tmp_path / "link", "new")])
    assert (tmp_path / "link").is_symlink()
    assert ((tmp_path / "real").read_text(), (tmp_path / "real").stat().st_mode & 0o777) == ("new", 0o640)


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    write_files([(tmp_path / "new", "text")])
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_device_is_written_and_not_replaced() -> None:
    write_files([(Path("/dev/null"), "text")])
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_is_for_terminals_unless_no_color_is_set(
    variables: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert wants_color() is expected
