"""The one door to the data folders that ship with portcheck: `mappings`, `templates`, `corpus`."""

from __future__ import annotations

from pathlib import Path

from portcheck.core.errors import PortcheckError

_PACKAGE = Path(__file__).resolve().parent.parent
_INSTALLED = _PACKAGE / "_data"
_CHECKOUT = _PACKAGE.parent.parent


def data_folder(name: str) -> Path:
    """The folder `name`: the copy installed inside the package first, then the one of the checkout.

    Raises PortcheckError when neither exists, which means a broken installation.
    """
    for root in (_INSTALLED, _CHECKOUT):
        folder = root / name
        if folder.is_dir():
            return folder
    raise PortcheckError(
        f"the data folder {name} is missing: looked in {_INSTALLED} and {_CHECKOUT}",
        hint="reinstall portcheck, or run it from a complete checkout",
        exit_code=70,
    )
