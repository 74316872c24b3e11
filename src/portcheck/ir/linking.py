"""Several launches in the names of their program: one kernel for each launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import count
from typing import Any, cast

from portcheck.core.dtype import DType
from portcheck.core.source import Span
from portcheck.ir.access import Access
from portcheck.ir.expr import Apply, Const, Expr, Ref, Symbol, subexpressions, substitute, symbols_in
from portcheck.ir.kernel import Kernel, Launch, Parameter, Program
from portcheck.ir.ops import Alloc, Call, Loop, Opaque, Operation, Random, Return
from portcheck.ir.types import Axis
from portcheck.ir.walk import accesses, expressions, operations

_NAMING: tuple[tuple[type, tuple[str, ...]], ...] = (
    (Access, ("buffer",)),
    (Alloc, ("name", "base")),
    (Axis, ("name",)),
    (Call, ("reads", "writes")),
    (Loop, ("variable",)),
    (Opaque, ("reads", "writes")),
    (Parameter, ("name",)),
    (Random, ("state",)),
    (Return, ("buffers",)),
)
"""The fields that hold names of buffers and symbols."""
_SIZE = ".size"
"""After the name of memory whose size the launch decides."""


def linked(program: Program) -> Program:
    """`program` with a kernel of its own for each of several launches, whose parameters are called as in the program.

    A parameter with a value is gone: the value stands in its place. A program of one launch stays as it is.
    """
    if len(program.launches) < 2:
        return program
    kernels: list[Kernel] = []
    launches: list[Launch] = []
    for launch in program.launches:
        kernel, first = program.kernel(launch.kernel), 0
        if any(known.name == kernel.name for known in kernels):
            kernel, first = replace(kernel, name=_another_name(kernel.name, kernels)), _next_id(program, kernels)
        kernels.append(_linked(kernel, launch, first))
        launches.append(replace(launch, kernel=kernel.name, arguments=(), values=()))
    return replace(program, kernels=tuple(kernels), launches=tuple(launches))


def _another_name(name: str, kernels: list[Kernel]) -> str:
    taken = {kernel.name for kernel in kernels}
    return next(made for made in (f"{name}#{number}" for number in range(2, len(kernels) + 3)) if made not in taken)


def _next_id(program: Program, kernels: list[Kernel]) -> int:
    """More than any id in use."""
    return 1 + max((op.id for kernel in (*program.kernels, *kernels) for op in operations(kernel.body)), default=0)


def _linked(kernel: Kernel, launch: Launch, first: int) -> Kernel:
    values, names = dict(launch.values), dict(launch.arguments)
    given = {names.get(parameter.name, parameter.name) for parameter in kernel.parameters}
    given = given.union(*map(symbols_in, values.values()))
    taken = given | {name for op in operations(kernel.body) for part in expressions(op) for name in symbols_in(part)}
    for name in sorted(_bound(kernel) & given):
        names[name] = next(made for made in _variants(name) if made not in taken)
        taken.add(names[name])
    linker = _Linker(names, values, first)
    parameters = _merged(linker.changed(part) for part in kernel.parameters if part.name not in values)
    axes = tuple(replace(axis, extent=linker.changed(axis.extent)) for axis in kernel.axes)
    results = tuple(names.get(name, name) for name in kernel.results)
    return replace(
        kernel,
        parameters=parameters,
        axes=axes,
        definitions=linker.changed(kernel.definitions),
        dtypes=linker.changed(kernel.dtypes),
        body=linker.changed(kernel.body),
        results=results,
    )


def _merged(listed: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Parameters of one name as one, which may be written if one of them may."""
    found: dict[str, Parameter] = {}
    for part in listed:
        known = found.setdefault(part.name, part)
        found[part.name] = replace(known, constant=known.constant and part.constant)
    return tuple(found.values())


def _variants(name: str) -> Iterator[str]:
    return (f"{name}_{number}" for number in count(2))


def _bound(kernel: Kernel) -> set[str]:
    """The names that operations of `kernel` bind."""
    found: set[str] = set()
    for op in operations(kernel.body):
        if isinstance(op, Alloc):
            found.add(op.name)
        if isinstance(op, Loop):
            found.add(op.variable)
        found.update(axis.name for access in accesses(op) for axis in access.axes)
    return found


@dataclass(frozen=True, slots=True)
class _Linker:
    """Renames what `names` has, puts `values` in the place of symbols, counts ids from `first`."""

    names: Mapping[str, str]
    values: Mapping[str, Expr]
    first: int

    def changed(self, part: Any) -> Any:
        """A part of a kernel in the names of the program."""
        if isinstance(part, Const | Symbol | Ref | Apply):
            return self._expression(part)
        if isinstance(part, tuple):
            return tuple(self.changed(inner) for inner in part)
        if not is_dataclass(part) or isinstance(part, type | Span | DType):
            return part
        naming = next((names for kind, names in _NAMING if isinstance(part, kind)), ())
        changes: dict[str, Any] = {}
        for field in fields(part):
            before = getattr(part, field.name)
            after = self._named(before) if field.name in naming else self.changed(before)
            if after is not before:
                changes[field.name] = after
        if isinstance(part, Operation):
            changes["id"] = self.first + part.id
        return replace(cast(Any, part), **changes) if changes else part

    def _named(self, name: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if isinstance(name, tuple):
            return tuple(self.names.get(part, part) for part in name)
        return self.names.get(name, name)

    def _expression(self, expression: Expr) -> Expr:
        symbols: dict[str, Expr] = {}
        for node in subexpressions(expression):
            if isinstance(node, Symbol):
                stem, dot, size = node.name.partition(_SIZE)
                known = self.names.get(stem)
                if known is not None:
                    symbols[node.name] = Symbol(known + dot + size, node.dtype)
        replaced = substitute(expression, {**symbols, **self.values})
        return _moved(replaced, self.first) if self.first else replaced


def _moved(expression: Expr, first: int) -> Expr:
    """`expression` with ids counted from `first`."""
    match expression:
        case Ref(id, dtype):
            return Ref(first + id, dtype)
        case Apply(operator, arguments, dtype):
            return Apply(operator, tuple(_moved(argument, first) for argument in arguments), dtype)
        case _:
            return expression
