"""Executes CUDA kernels from their IR, all threads of many blocks at once, with NumPy."""

from __future__ import annotations

from portcheck.execution.simt.batch import Geometry
from portcheck.execution.simt.binding import Argument, Uninitialised
from portcheck.execution.simt.events import Event, EventKind
from portcheck.execution.simt.launching import Execution, run
from portcheck.execution.simt.options import Options
from portcheck.execution.simt.textures import Texture

__all__ = ["Argument", "Event", "EventKind", "Execution", "Geometry", "Options", "Texture", "Uninitialised", "run"]
