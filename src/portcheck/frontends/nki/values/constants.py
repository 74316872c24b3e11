"""The numbers that libraries of Python have names for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

from portcheck.frontends.nki.values.arithmetic import literal
from portcheck.ir import Const

_LIBRARIES = ("math", "numpy")
_NAMED = {"pi": math.pi, "e": math.e, "inf": math.inf}
CONSTANTS: Mapping[str, Const] = {
    f"{library}.{name}": literal(value) for library, (name, value) in product(_LIBRARIES, _NAMED.items())
}
"""Numbers by qualified name; each library names them alike."""
