"""The census of NKI entries and calls, which the sweep is measured by, counts what is written."""

from __future__ import annotations

import pytest
from tools.nki_census import entries_in, is_python

CURRENT = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n"
COUNTED = {
    "a decorator with and without call": (
        CURRENT + "@nki.jit\ndef a(x): pass\n@nki.jit(mode='trace')\ndef b(x): pass\n",
        [("a", 5), ("b", 7)],
    ),
    "what is imported from a package": (
        "from neuronxcc.nki import baremetal as b, jit\n@b()\n@other\ndef a(x): pass\n@jit\ndef c(x): pass\n",
        [("a", 4), ("c", 6)],
    ),
    "methods and nested functions": (
        CURRENT + "class C:\n  @nki.jit\n  def a(x): pass\ndef f():\n  @nki.jit\n  def b(x): pass\n",
        [("a", 6), ("b", 9)],
    ),
    "decorators of other packages": (
        "import numba\nimport nkipy\n@numba.jit\ndef a(x): pass\n@nkipy.jit\ndef b(x): pass\n",
        [],
    ),
    "a name twice": (CURRENT + "@nki.jit\ndef a(x): pass\n@nki.jit\ndef a(y): pass\n", [("a", 5), ("a", 7)]),
    "text that is no Python": (
        "@nki.jit\ndef a(x):\n  pass )\n  @nki.jit(grid=1)\n  # why\n  def b(\n",
        [("a", 2), ("b", 6)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "entries"), COUNTED.values(), ids=COUNTED)
def test_entries_are_counted(text: str, entries: list[tuple[str, int]]) -> None:
    assert [(entry.name, entry.line) for entry in entries_in(text)] == entries


def test_calls_are_those_of_the_entry_and_of_functions_of_the_file_that_it_calls() -> None:
    text = (
        CURRENT + "def f(t):\n  nisa.memset(t, g(t))\ndef g(t):\n  return nl.exp(t)\ndef h(t):\n  nl.exp(t)\n"
        "@nki.jit\ndef a(x):\n  'é'; f(nl.load(x)); print(nl.add); x.reshape(2)\n"
    )
    [entry] = entries_in(text)
    assert sorted(entry.calls) == [(5, 3), (7, 10), (12, 10)]


def test_text_that_does_not_parse_is_no_python() -> None:
    assert (is_python("x = 1"), is_python("x = ("), is_python("x\0"), is_python("(" * 9000)) == (
        (True, False, False, False)
    )
