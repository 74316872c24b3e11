import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from tests.cli.stubs import Rooms, Rule


@pytest.fixture
def generator(rooms: Rooms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """tools/generate_docs.py with one rule, writing to an empty folder."""
    vars(sys.modules["portcheck.rules"]).update(Rule=Rule)
    monkeypatch.delitem(sys.modules, "tools.generate_docs", raising=False)
    module = import_module("tools.generate_docs")
    monkeypatch.delitem(sys.modules, "tools.generate_docs")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "REFERENCE", tmp_path / "docs" / "reference")
    return module


def test_written_docs_are_not_stale(generator: ModuleType) -> None:
    assert (generator.main(["--check"]), generator.main([]), generator.main(["--check"])) == (1, 0, 0)


@pytest.mark.parametrize("name", ["cli.md", "mappings.md", "report.schema.json", "rules/README.md", "rules/PC401.md"])
def test_a_changed_page_is_stale(name: str, generator: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    generator.main([])
    (generator.REFERENCE / name).write_text("edited")
    assert generator.main(["--check"]) == 1
    assert capsys.readouterr().out == f"stale: docs/reference/{name} (run make docs)\n"


def test_the_page_of_a_rule_that_is_no_more_is_removed(generator: ModuleType) -> None:
    generator.main([])
    (generator.REFERENCE / "rules" / "PC999.md").write_text("")
    assert (generator.main(["--check"]), generator.main([]), generator.main(["--check"])) == (1, 0, 0)
