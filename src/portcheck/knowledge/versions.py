"""NKI versions as ordered labels: "0.1" to the newest, optionally with the SDK that shipped them ("0.1/2.23")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_LABEL = re.compile(r"(\d+)\.(\d+)(?:/2\.(\d+))?")
_FOREVER = (10**6, 0, 0)


@dataclass(frozen=True, slots=True, order=True)
class NkiVersion:
    """An NKI version; without `sdk` it stands for every SDK release that shipped it.

    `sdk` is the minor number of the Neuron SDK 2.x release.
    """

    major: int
    minor: int
    sdk: int = 0

    @property
    def numbers(self) -> tuple[int, int]:
        """Major and minor number."""
        return (self.major, self.minor)

    @classmethod
    def parse(cls, label: str) -> NkiVersion:
        """Read "0.6" or "0.1/2.23"; raises ValueError for anything else."""
        return _parsed(label)

    def matches(self, since: str, until: str = "") -> bool:
        """Whether some release of this version lies in [since, until); "" as `until` means still open."""
        low = NkiVersion.parse(since)
        high = _key(NkiVersion.parse(until)) if until else _FOREVER
        return _key(self) < high and _key(low) < self._end()

    def _end(self) -> tuple[int, int, int]:
        return (self.major, self.minor, self.sdk + 1) if self.sdk else (self.major, self.minor + 1, 0)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}/2.{self.sdk}" if self.sdk else f"{self.major}.{self.minor}"


@lru_cache(maxsize=256)
def _parsed(label: str) -> NkiVersion:
    match = _LABEL.fullmatch(label)
    if match is None:
        raise ValueError(f"{label!r} is not an NKI version such as 0.6 or 0.1/2.23")
    major, minor, sdk = match.groups()
    return NkiVersion(int(major), int(minor), int(sdk or 0))


def _key(version: NkiVersion) -> tuple[int, int, int]:
    return (version.major, version.minor, version.sdk)
