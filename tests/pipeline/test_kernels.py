"""Which kernels of two files are compared: named, the only ones, the likeliest, or none."""

from __future__ import annotations

import pytest

from portcheck.align.kernels import Pairing
from portcheck.core.errors import InputError
from portcheck.core.source import Position, SourceFile, Span
from portcheck.frontends.reading import KernelSignature
from portcheck.pipeline import Request
from portcheck.pipeline.kernels import choose_kernels

SOURCES = {
    "k.cu": SourceFile("k.cu", "// two kernels\n__global__ void first() {}\n"),
    "k.py": SourceFile("k.py", "# two kernels\ndef first():\n"),
}
Chosen = tuple[tuple[str, ...], str | None, Pairing]


def _signatures(path: str, kernels: str) -> list[KernelSignature]:
    """Kernels written as "name(a, b); other(c)"."""
    span = Span(path, Position(2, 1), Position(2, 5))
    parts = [part.strip().rstrip(")").partition("(") for part in kernels.split(";") if part.strip()]
    return [KernelSignature(name, tuple(inside.split(", ")), span) for name, _, inside in parts]


def chosen(cuda: str, nki: str, *named: str, port: str | None = None) -> Chosen:
    """What is chosen among kernels written as "name(a, b); other(c)"."""
    request = Request(cuda_path="k.cu", nki_path="k.py", cuda_kernels=named, nki_kernel=port)
    return choose_kernels(request, SOURCES, _signatures("k.cu", cuda), _signatures("k.py", nki))


TWO = "softmax(y, x); rmsnorm(y, x, gamma, eps)"
ALIKE = "first(p, q); second(p, q)"
CHOICES = {
    "the only ones": (("k(y, x)", "port(x)"), None, ("k",), "port", "the only kernel on each side"),
    "the likeliest": (
        (TWO, "rmsnorm_nki(x, gamma)"), None, ("rmsnorm",), "rmsnorm_nki", "names and parameters agree best",
    ),
    "the likeliest of the port": (
        ("rmsnorm(y, x, gamma)", TWO), None, ("rmsnorm",), "rmsnorm", "names and parameters agree best",
    ),
    "the one named, though another is likelier": (
        (TWO, "rmsnorm_nki(x, gamma)", "softmax"), None, ("softmax",), "rmsnorm_nki",
        "named by the user, the only kernel of the port",
    ),
    "those named, in that order": (
        (TWO, "port(x)", "rmsnorm", "softmax"), None, ("rmsnorm", "softmax"), "port",
        "named by the user, the only kernel of the port",
    ),
    "those named on both sides": (
        (TWO, ALIKE, "softmax"), "second", ("softmax",), "second", "named by the user",
    ),
    "those named, though no choice could be defended": (
        (ALIKE, "port(x)", "second"), None, ("second",), "port", "named by the user, the only kernel of the port",
    ),
    "the one named of the port with the only one": (
        ("k(y, x)", ALIKE), "second", ("k",), "second", "the only kernel on each side",
    ),
    "a port without kernels": ((TWO, ""), None, ("softmax",), None, "the port holds no kernel"),
    "a port without kernels, and a name": ((TWO, "", "rmsnorm"), None, ("rmsnorm",), None, "the port holds no kernel"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOICES)
def test_the_kernels_compared_are(name: str) -> None:
    given, named_port, names, port, evidence = CHOICES[name]
    found = chosen(*given, port=named_port)
    assert (found[0], found[1], found[2].evidence) == (names, port, evidence)


REFUSED = {
    "no kernel in the original": (("", "port(x)"), None, "k.cu holds no CUDA kernel", "__global__"),
    "an unknown name": (
        (TWO, "port(x)", "rmsnrom"), None, "k.cu has no kernel called rmsnrom; it has softmax, rmsnorm",
        'did you mean "rmsnorm"?',
    ),
    "an unknown name like no other": (
        (TWO, "port(x)", "zzz"), None, "k.cu has no kernel called zzz; it has softmax, rmsnorm",
        "portcheck list kernels k.cu",
    ),
    "an unknown name of the port": (
        ("k(y, x)", ALIKE), "secnd", "k.py has no kernel called secnd; it has first, second", 'did you mean "second"?',
    ),
    "a name in a port without kernels": (
        ("k(y, x)", ""), "k", "k.py has no kernel called k; it has none", "portcheck list kernels k.py",
    ),
    "several in the original": (
        (ALIKE, "port(x)"), None, "several kernels could be meant: k.cu has first, second",
        "choose with --cuda-kernel NAME",
    ),
    "several in the port": (
        ("k(y, x)", ALIKE), None, "several kernels could be meant: k.py has first, second",
        "choose with --nki-kernel NAME",
    ),
    "several on both sides": (
        (ALIKE, ALIKE.replace("first", "a").replace("second", "b")), None,
        "several kernels could be meant: k.cu has first, second; k.py has a, b",
        "choose with --cuda-kernel NAME and --nki-kernel NAME",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_is_compared_with(name: str) -> None:
    given, port, message, hint = REFUSED[name]
    with pytest.raises(InputError) as caught:
        chosen(*given, port=port)
    assert caught.value.message == message
    assert hint in caught.value.hint


def test_a_choice_left_to_the_user_points_at_the_first_kernel() -> None:
    with pytest.raises(InputError) as caught:
        chosen(ALIKE, "port(x)")
    error = caught.value
    assert (error.path, error.line, error.column) == ("k.cu", 2, 1)
    assert error.excerpt == "__global__ void first() {}"
