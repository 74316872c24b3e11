"""The command line: the only room that prints or ends the process."""

from portcheck.cli.application import main

__all__ = ["main"]


def __dir__() -> list[str]:
    return __all__
