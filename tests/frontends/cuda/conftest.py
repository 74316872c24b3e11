"""Tests of the CUDA side see what fails inside it."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _failures_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTCHECK_DEBUG", "1")
