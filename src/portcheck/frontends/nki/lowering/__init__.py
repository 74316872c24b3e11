"""One function per class of meaning that the knowledge base gives NKI's calls."""

from portcheck.frontends.nki.lowering.table import lower_call

__all__ = ["lower_call"]


def __dir__() -> list[str]:
    return __all__
