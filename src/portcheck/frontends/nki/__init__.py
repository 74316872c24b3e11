"""Reads NKI ports: Python text in, a program of the semantic IR out. The text is never run."""

from portcheck.frontends.nki.module import NkiModule, NkiOptions, read_nki
from portcheck.frontends.nki.values.promotion import promoted
from portcheck.frontends.nki.worker import Port, Reader, reader

__all__ = ["NkiModule", "NkiOptions", "Port", "Reader", "promoted", "read_nki", "reader"]


def __dir__() -> list[str]:
    return __all__
