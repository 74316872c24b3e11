"""The errors portcheck expects: each has a message, a hint and an exit code; anything else is a bug."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class PortcheckError(Exception):
    """An expected error: what went wrong, what to do about it, and the process's exit code."""

    def __init__(self, message: str, hint: str = "", exit_code: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


class InputError(PortcheckError):
    """An argument, path or source text that cannot be used; exit code 2.

    `line` and `column` count from 1; 0 means that the error is about no particular place. `excerpt` is the source line.
    """

    def __init__(
        self, message: str, hint: str = "", *, path: str = "", line: int = 0, column: int = 0, excerpt: str = ""
    ) -> None:
        super().__init__(message, hint, exit_code=2)
        self.path = path
        self.line = line
        self.column = column
        self.excerpt = excerpt


class KnowledgeError(PortcheckError):
    """A file of `mappings/` that is missing, malformed or contradicts another; exit code 3."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, exit_code=3)


def nearest(name: str, candidates: Iterable[str]) -> str:
    """The candidate spelled most like `name`, or "" when none is close."""
    matches = get_close_matches(name, list(candidates), n=1)
    return matches[0] if matches else ""


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """The hint that offers the candidate nearest to `name`, or "" when none is close."""
    close = nearest(name, candidates)
    return f'did you mean "{close}"?' if close else ""
