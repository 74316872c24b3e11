"""What must hold of every program: passes run this between each other, valid in, valid out.

Only what is known is checked: an extent that is not a literal fits everything, a free integer symbol is a size, and
what a call or an opaque operation touches is its own affair.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from portcheck.ir.access import Access
from portcheck.ir.expr import Const, Expr, Ref, Symbol, refs_in, subexpressions, symbols_in
from portcheck.ir.iteration import Range
from portcheck.ir.iteration import Sequence as Steps
from portcheck.ir.kernel import Kernel, Launch, Program
from portcheck.ir.ops import (
    Alloc,
    Assume,
    Atomic,
    Branch,
    Collective,
    Copy,
    Leave,
    Loop,
    Op,
    Random,
    Return,
    Store,
    While,
)
from portcheck.ir.types import ValueType
from portcheck.ir.uses import Use, expressions_of_use
from portcheck.ir.value_checks import access_problems, bool_problems, form_problems, result_type, value_problems
from portcheck.ir.walk import accesses, expressions, kernel_operations, operations, views

_SHOWN = 20


class InvalidProgram(RuntimeError):  # noqa: N818  # reads as what it says; a bug of a frontend or pass, no user's error
    """A program that breaks a rule of the IR."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems[:_SHOWN]))
        self.problems = tuple(problems)


def check_valid(program: Program) -> None:
    """Raises InvalidProgram unless `program` is valid."""
    problems = verify(program)
    if problems:
        raise InvalidProgram(problems)


def verify(program: Program) -> tuple[str, ...]:
    """What is wrong with `program`, one sentence each, naming the operation; empty for a valid program."""
    problems = [*_repeated(f"kernel {kernel.name!r}" for kernel in program.kernels)]
    problems.extend(_repeated(f"%{op.id}" for op in kernel_operations(program)))
    for launch in program.launches:
        problems.extend(_launch_problems(program, launch))
    for kernel in program.kernels:
        problems.extend(_KernelChecker(kernel).problems())
    names = {"", *(kernel.name for kernel in program.kernels)}
    for use in program.uses:
        problems.extend(_use_problems(use, names))
    return tuple(problems)


def _repeated(names: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    reported: set[str] = set()
    for name in names:
        if name in seen and name not in reported:
            reported.add(name)
            yield f"{name} is there more than once"
        seen.add(name)


def _launch_problems(program: Program, launch: Launch) -> Iterator[str]:
    where = f"the launch of {launch.kernel!r}"
    kernel = next((kernel for kernel in program.kernels if kernel.name == launch.kernel), None)
    if kernel is None:
        yield f"{where} names no kernel of the program"
        return
    known = {parameter.name for parameter in kernel.parameters}
    for name, _ in (*launch.arguments, *launch.values):
        if name not in known:
            yield f"{where} gives an argument for {name!r}, which is no parameter"
    sizes = (*launch.grid, *launch.block, *(() if launch.shared_bytes is None else (launch.shared_bytes,)))
    sizes = (*sizes, *(value for _, value in launch.values))
    for size in sizes:
        yield from (f"{where}: {problem}" for problem in form_problems(size))


def _use_problems(use: Use, kernels: Collection[str]) -> Iterator[str]:
    where = f"the use of {use.name!r}"
    if use.kernel not in kernels:
        yield f"{where} is in {use.kernel!r}, which is no kernel of the program"
    for expression in expressions_of_use(use):
        yield from (f"{where}: {problem}" for problem in form_problems(expression))
        if refs_in(expression):
            yield f"{where} holds the result of an operation"


@dataclass(frozen=True, slots=True)
class _Scope:
    """What the operations of a region may use."""

    results: ChainMap[int, Op] = field(default_factory=lambda: ChainMap({}))
    buffers: ChainMap[str, ValueType] = field(default_factory=lambda: ChainMap({}))
    symbols: frozenset[str] = frozenset()
    is_in_loop: bool = False

    def inner(self, *symbols: str, is_loop: bool = False) -> _Scope:
        """The scope of a region in this one, which binds `symbols`."""
        return _Scope(
            self.results.new_child(),
            self.buffers.new_child(),
            self.symbols.union(symbols),
            self.is_in_loop or is_loop,
        )


class _KernelChecker:
    """Goes through one kernel in the order of its text."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._views = views(kernel.body)
        self._constants = {parameter.name for parameter in kernel.parameters if parameter.constant}
        self._constants |= {view for view, base in self._views.items() if base in self._constants}
        self._defined = {op.id for op in operations(kernel.body)}
        self._bound_somewhere = set(_bound_names(kernel.body))

    def problems(self) -> Iterator[str]:
        kernel = self._kernel
        where = f"kernel {kernel.name!r}"
        for parameter in _repeated(f"parameter {parameter.name!r}" for parameter in kernel.parameters):
            yield f"{where}: {parameter}"
        for item in kernel.parameters:
            if item.is_buffer and item.default is not None and item.default.value is not None:
                yield f"{where}: the buffer {item.name!r} has a default that is none"
        for axis in _repeated(f"axis {axis.name!r}" for axis in kernel.axes):
            yield f"{where}: {axis}"
        names = [axis.name for axis in kernel.axes] + [parameter.name for parameter in kernel.parameters]
        scope = _Scope(symbols=frozenset(names))
        scope.buffers.update({parameter.name: parameter.type for parameter in kernel.parameters if parameter.is_buffer})
        extents = [axis.extent for axis in kernel.axes if axis.extent is not None]
        shapes = [extent for parameter in kernel.parameters for extent in parameter.type.shape]
        for expression in extents + shapes:
            yield from (f"{where}: {problem}" for problem in self._expression(expression, scope))
        yield from self._definitions(scope, where)
        yield from self._region(kernel.body, scope)
        allocated = {op.name for op in operations(kernel.body) if isinstance(op, Alloc)}
        for result in kernel.results:
            if result not in allocated and result not in scope.buffers:
                yield f"{where} returns {result!r}, which is no buffer"

    def _definitions(self, scope: _Scope, where: str) -> Iterator[str]:
        """What is wrong with what symbols of the kernel stand for."""
        kernel = self._kernel
        for name in _repeated(f"definition of {item.name!r}" for item in kernel.definitions):
            yield f"{where}: {name}"
        later = [item.name for item in kernel.definitions]
        for item in kernel.definitions:
            yield from (f"{where}: {problem}" for problem in self._expression(item.value, scope))
            if item.name in scope.symbols or item.name in self._bound_somewhere:
                yield f"{where}: {item.name!r} is defined and bound"
            if refs_in(item.value) or symbols_in(item.value) & set(later):
                yield f"{where}: the definition of {item.name!r} uses what is not known before it"
            later.remove(item.name)
        for chosen in kernel.dtypes:
            yield from (f"{where}: {problem}" for problem in self._expression(chosen.condition, scope))

    def _region(self, body: Iterable[Op], scope: _Scope) -> Iterator[str]:
        for op in body:
            name = f"%{op.id} {type(op).__name__.lower()}"
            yield from (f"{name}: {problem}" for problem in self._operation(op, scope))
            yield from self._nested(op, scope, name)
            scope.results[op.id] = op
            if isinstance(op, Alloc):
                scope.buffers[op.name] = op.type

    def _nested(self, op: Op, scope: _Scope, name: str) -> Iterator[str]:
        match op:
            case Loop():
                yield from self._region(op.body, scope.inner(op.variable, is_loop=True))
            case Branch():
                yield from self._region(op.then, scope.inner())
                yield from self._region(op.otherwise, scope.inner())
            case While():
                test = scope.inner(is_loop=True)
                yield from self._region(op.test, test)
                yield from (f"{name}: {problem}" for problem in self._condition(op.condition, test))
                # In a do-while the first run of the body precedes the test, so it cannot use its results.
                yield from self._region(op.body, (scope if op.body_first else test).inner(is_loop=True))
            case _:
                pass

    def _operation(self, op: Op, scope: _Scope) -> Iterator[str]:
        if not isinstance(op, While):
            inside = scope.inner(*(axis.name for access in accesses(op) for axis in access.axes))
            if isinstance(op, Loop) and isinstance(op.values, Steps):
                inside = inside.inner(op.variable)
            for expression in expressions(op):
                yield from self._expression(expression, inside)
        for access in accesses(op):
            yield from self._access(access, scope)
        yield from self._written(op)
        yield from self._view(op, scope)
        yield from self._control(op, scope)
        yield from value_problems(op, scope.results)

    # Expressions and accesses

    def _condition(self, condition: Expr, scope: _Scope) -> Iterator[str]:
        yield from self._expression(condition, scope)
        yield from bool_problems("condition", condition)

    def _expression(self, expression: Expr, scope: _Scope) -> Iterator[str]:
        yield from form_problems(expression)
        for node in subexpressions(expression):
            match node:
                case Symbol():
                    yield from self._symbol(node, scope)
                case Ref():
                    yield from self._ref(node, scope)
                case _:
                    pass

    def _symbol(self, symbol: Symbol, scope: _Scope) -> Iterator[str]:
        if symbol.name in scope.symbols:
            return
        if symbol.name in self._bound_somewhere:
            yield f"{symbol.name!r} is used outside the loop or access that binds it"
        elif not symbol.dtype.is_integer:
            yield f"{symbol.name!r} is bound by nothing and, being {symbol.dtype}, no size"

    def _ref(self, ref: Ref, scope: _Scope) -> Iterator[str]:
        definition = scope.results.get(ref.id)
        if definition is None:
            where = "is not visible here" if ref.id in self._defined else "is not defined"
            yield f"%{ref.id} {where}"
            return
        value_type = result_type(definition)
        if value_type is None:
            yield f"%{ref.id} has no result"
        elif value_type.dtype != ref.dtype:
            yield f"%{ref.id} is {value_type.dtype} and is used as {ref.dtype}"

    def _access(self, access: Access, scope: _Scope) -> Iterator[str]:
        for axis in _repeated(f"axis {axis.name!r}" for axis in access.axes):
            yield f"{axis} in the access to {access.buffer!r}"
        buffer = scope.buffers.get(access.buffer)
        if buffer is None:
            yield f"{access.buffer!r} is neither a buffer of the kernel nor allocated where this can see it"
        yield from access_problems(access, buffer)

    def _written(self, op: Op) -> Iterator[str]:
        match op:
            case (
                Store(access=access) | Atomic(access=access) | Copy(destination=access) | Collective(destination=access)
            ):
                if access.buffer in self._constants:
                    yield f"{access.buffer!r} is constant and written"
            case _:
                pass

    def _view(self, op: Op, scope: _Scope) -> Iterator[str]:
        if not isinstance(op, Alloc) or not op.base:
            return
        base = scope.buffers.get(op.base)
        if base is None:
            yield f"{op.name!r} is a view of {op.base!r}, which is no buffer that this can see"
        elif op.base in self._views:
            yield f"{op.name!r} is a view of {op.base!r}, which is a view itself"
        elif base.space is not op.type.space:
            yield f"{op.name!r} in {op.type.space} is a view of {op.base!r} in {base.space}"

    def _control(self, op: Op, scope: _Scope) -> Iterator[str]:
        match op:
            case Branch() | Assume():
                yield from bool_problems("condition", op.condition)
            case Loop(values=Steps(condition=condition)):
                yield from bool_problems("condition", condition)
            case Loop(values=Range(step=Const(value=0))):
                yield "the step is 0"
            case Leave() if not scope.is_in_loop:
                yield "there is no loop to leave"
            case Random() if op.state and op.state not in scope.buffers:
                yield f"the state {op.state!r} is no buffer that this can see"
            case Return():
                if op.shapes and len(op.shapes) != len(op.buffers):
                    yield f"{len(op.shapes)} shapes for {len(op.buffers)} buffers"
                for buffer in op.buffers:
                    if buffer not in scope.buffers:
                        yield f"{buffer!r} is returned and is no buffer that this can see"
            case _:
                pass


def _bound_names(body: Iterable[Op]) -> Iterator[str]:
    for op in operations(body):
        if isinstance(op, Loop):
            yield op.variable
        for access in accesses(op):
            yield from (axis.name for axis in access.axes)
