"""Calls the PyTorch references that stand beside the kernels of nki-library."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from tools.public_ports.case import Array

PACKAGE = "nkilib_src.nkilib"


def library_at(folder: Path) -> None:
    """Makes the package of the library importable; the packages of NKI itself are replaced by stand-ins."""
    sys.path.insert(0, str(folder / "src"))
    for name in ("nki", "nki.language", "nki.isa", "nki.collectives", "nki.typing", "neuron_dtypes"):
        sys.modules.setdefault(name, StandIn(name))


class StandIn(type(sys)):  # type: ignore[misc]
    """A module whose every attribute is another one: enough to import what only names NKI's things."""

    __path__: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self.__name__}.{name}")

    def __call__(self, *given: Any, **named: Any) -> Any:
        return given[0] if given else self

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()


def reference(module: str, function: str) -> Any:
    """The function `function` of the module `module` of the library."""
    return getattr(import_module(f"{PACKAGE}.{module}"), function)


def tensor(array: Array) -> Any:
    """An array as a PyTorch tensor of the same format."""
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def array(tensor: Any) -> Array:
    """A PyTorch tensor in float64, or as it is if it holds integers."""
    if tensor.dtype.is_floating_point:
        return np.asarray(tensor.double().numpy())
    return np.asarray(tensor.numpy())
