"""What a user asks for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A pair of files and everything stated about them. Kernels not named are chosen; see `align.kernels`."""

    cuda_path: str
    nki_path: str
    cuda_kernels: tuple[str, ...] = ()
    nki_kernel: str | None = None
    target: str | None = None
    nki_version: str | None = None
    defines: tuple[tuple[str, str], ...] = ()
    include_roots: tuple[str, ...] = ()
    nki_roots: tuple[str, ...] = ()
    shapes: tuple[tuple[str, str], ...] = ()
    dtypes: tuple[tuple[str, str], ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    nvcc_flags: str = ""
    assumptions: tuple[str, ...] = ()
