"""Reads NKI ports: Python text in, a program of the semantic IR out. The text is never run."""

from portcheck.frontends.nki.module import NkiModule, NkiOptions, read_nki

__all__ = ["NkiModule", "NkiOptions", "read_nki"]


def __dir__() -> list[str]:
    return __all__
