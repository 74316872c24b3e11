"""What is known of the build of a CUDA file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaOptions:
    """What the user states about the build: macros, where headers lie, and the compiler's floating-point flags."""

    defines: tuple[tuple[str, str], ...] = ()
    include_roots: tuple[str, ...] = ()
    fast_math: bool = False
    fmad: bool = True
    flush_to_zero: bool = False
    precise_division: bool = True

    @property
    def flags(self) -> tuple[str, ...]:
        """The modes that are on, as `Program.flags` names them."""
        modes = {
            "fast-math": self.fast_math, "fmad": self.fmad, "ftz": self.flush_to_zero,
            "prec-div": self.precise_division,
        }  # fmt: skip
        return tuple(name for name, is_on in modes.items() if is_on)
