import pytest
from tests.cli.stubs import Portcheck, rooms

__all__ = ["portcheck", "rooms"]


@pytest.fixture
def portcheck(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Portcheck:
    """The program, run in this process."""
    return Portcheck(monkeypatch, capsys)
