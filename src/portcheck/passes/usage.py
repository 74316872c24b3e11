"""Which buffers and scalars a program uses, and how."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.ir import (
    Copy,
    Expr,
    Op,
    Program,
    Ref,
    Return,
    Store,
    kernel_operations,
    operands,
    reads,
    subexpressions,
    symbols_in,
    views,
    writes,
)


@dataclass(frozen=True, slots=True)
class Usage:
    """Parameters read and written, results, and the scalars that reach a stored value (not only a size or bound).

    `read_for_outputs` are the buffers whose elements flow into an output.
    """

    read: frozenset[str]
    written: frozenset[str]
    outputs: tuple[str, ...]
    scalars_in_values: frozenset[str]
    read_for_outputs: frozenset[str]


def usage(program: Program) -> Usage:
    """The usage of parameters in all kernels of `program`, whose names are those of its parameters."""
    ops = list(kernel_operations(program))
    parameters = {parameter.name for kernel in program.kernels for parameter in kernel.parameters}
    results = [name for kernel in program.kernels for name in kernel.results]
    bases = views(ops)
    read = {bases.get(name, name) for op in ops for name in _taken(op)}
    written = [bases.get(name, name) for op in ops for name in writes(op)]
    seen = parameters - set(program.temporaries)
    outputs = dict.fromkeys([*results, *(name for name in written if name in seen)])
    live_buffers, live_scalars = _live(ops, set(outputs), bases)
    return Usage(
        read=frozenset(read & seen),
        written=frozenset(set(written)),
        outputs=tuple(outputs),
        scalars_in_values=frozenset(live_scalars & parameters),
        read_for_outputs=frozenset(live_buffers & seen),
    )


def _live(ops: list[Op], outputs: set[str], bases: dict[str, str]) -> tuple[set[str], set[str]]:
    """Buffers and scalars from which data flows into the outputs; indices, bounds and guards do not count.

    A view counts as its base, as `bases` has it.
    """
    by_id = {op.id: op for op in ops}
    writers: dict[str, list[Op]] = {}
    for op in ops:
        for name in writes(op):
            writers.setdefault(bases.get(name, name), []).append(op)
    reached: set[str] = set()
    scalars: set[str] = set()
    pending: list[str] = sorted(outputs)
    seen: set[int] = set()
    while pending:
        name = pending.pop()
        for op in writers.get(name, ()):
            for found in _sources(op, by_id, seen, scalars):
                source = bases.get(found, found)
                if source not in reached:
                    reached.add(source)
                    pending.append(source)
    return reached, scalars


def _sources(op: Op, by_id: dict[int, Op], seen: set[int], scalars: set[str]) -> list[str]:
    """The buffers whose elements flow into what `op` writes or gives."""
    found: list[str] = []
    pending: list[Op] = [op]
    while pending:
        current = pending.pop()
        if current.id in seen:
            continue
        seen.add(current.id)
        found.extend(_taken(current))
        for operand in operands(current):
            scalars |= symbols_in(operand)
            pending.extend(by_id[inner] for inner in _refs(operand) if inner in by_id)
    return found


def _taken(op: Op) -> tuple[str, ...]:
    """The buffers `op` takes values from: neither what a store adds to nor what a port hands back."""
    match op:
        case Store() | Return():
            return ()
        case Copy():
            return (op.source.buffer,)
        case _:
            return reads(op)


def _refs(expression: Expr) -> list[int]:
    return [node.id for node in subexpressions(expression) if isinstance(node, Ref)]
