"""Memory that is written as one dtype and read as another: what that leaves is not followed."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.ir import Atomic, Copy, Kernel, Load, Op, Opaque, OpaqueKind, Random, Store, operations, reads
from portcheck.ir.walk import rebuild, views, writes


def without_punning(kernel: Kernel) -> tuple[Op, ...]:
    """The body of `kernel`, accesses to memory that is written and seen in several dtypes made opaque.

    So are accesses to a parameter that is written through a view: what it holds in the end is bytes of another dtype.
    """
    bases = views(kernel.body)
    if not bases:
        return kernel.body
    mixed = _mixed(kernel, bases)
    if not mixed:
        return kernel.body
    return rebuild(kernel.body, lambda op: _without(op, mixed))


def _mixed(kernel: Kernel, bases: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """The names under which memory is written and seen in several dtypes, each with all names of that memory."""
    parameters = {parameter.name for parameter in kernel.parameters}
    seen: dict[str, set[str]] = {}
    written: dict[str, set[str]] = {}
    for op in operations(kernel.body):
        for names, table in ((reads(op), seen), (writes(op), written)):
            for name in names:
                table.setdefault(bases.get(name, name), set()).add(name)
    found: dict[str, tuple[str, ...]] = {}
    for base in dict.fromkeys(bases.values()):
        changed = written.get(base, set())
        is_mixed = len(changed | seen.get(base, set())) > 1 or (base in parameters and changed != {base})
        if changed and is_mixed:
            listed = (base, *(view for view, of in bases.items() if of == base))
            found.update(dict.fromkeys(listed, listed))
    return found


def _without(op: Op, mixed: dict[str, tuple[str, ...]]) -> Iterator[Op]:
    touched = tuple(name for name in (*reads(op), *writes(op)) if name in mixed)
    if not touched or not isinstance(op, Load | Store | Copy | Atomic | Random):
        yield op
        return
    written = tuple(dict.fromkeys(name for found in writes(op) for name in mixed.get(found, (found,))))
    yield Opaque(
        id=op.id, span=op.span, via=op.via, reason=f"{touched[0]} is written and read as several types",
        reads=reads(op), writes=written, type=getattr(op, "type", None), kind=OpaqueKind.DTYPE,
    )  # fmt: skip
