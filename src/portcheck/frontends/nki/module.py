"""A port that was read: its kernels, its version, and the program that its kernels make."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from portcheck.core.errors import InputError
from portcheck.core.source import Position, SourceFile, Span
from portcheck.frontends.nki.source.discovery import Definition, by_name, is_marked, kernels_in
from portcheck.frontends.nki.source.files import Files
from portcheck.frontends.nki.source.generation import Generation, Text, generation_of, newest_version
from portcheck.frontends.nki.source.launching import grids_in, wrapped_in
from portcheck.frontends.nki.source.parse import first_line
from portcheck.frontends.nki.source.screen import Fault, is_too_deep, screen
from portcheck.frontends.nki.state.reach import Reach
from portcheck.frontends.reading import KernelSignature, Problem
from portcheck.ir import (
    Kernel,
    Launch,
    Opaque,
    OpaqueKind,
    Parameter,
    Program,
    Side,
    ValueType,
    integer,
    kernel_operations,
)  # fmt: skip
from portcheck.ir.uses import Use
from portcheck.knowledge import Knowledge, NkiVersion, load

if TYPE_CHECKING:
    from portcheck.frontends.nki.kernels.kernels import Lowered
    from portcheck.frontends.nki.state.recorder import Recorder


@dataclass(frozen=True, slots=True)
class NkiOptions:
    """What the user states about a port: version, chip, sizes and dtypes by name ("x", "512,4096"), values as text.

    `roots` are folders in which files that it imports may lie, beside those of its own package.
    """

    version: str | None = None
    target: str = "trn2"
    shapes: tuple[tuple[str, str], ...] = ()
    dtypes: tuple[tuple[str, str], ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    roots: tuple[str, ...] = ()


@dataclass(frozen=True)
class NkiModule:
    """A port; `syntax_problem` is why it could not be read at all, if so."""

    source: SourceFile
    options: NkiOptions
    reach: Reach | None
    generation: Generation
    syntax_problem: Problem | None

    @property
    def version(self) -> str:
        """The NKI version it is read as."""
        return self.generation.version

    @property
    def version_evidence(self) -> tuple[str, ...]:
        """Why it is read as that version."""
        return self.generation.evidence

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What did not parse: the whole file, or kernels nested too deeply to be read."""
        if self.syntax_problem is not None:
            return (self.syntax_problem,)
        return tuple(
            Problem(self._span(node), f"{name} is nested too deeply to be read")
            for name, node in self._definitions.items()
            if is_too_deep(node)
        )

    @cached_property
    def kernels(self) -> tuple[KernelSignature, ...]:
        """The kernels of the file, in order."""
        return tuple(
            KernelSignature(name, tuple(_parameter_names(node)), self._span(node))
            for name, node in self._definitions.items()
        )

    def lower(self, names: Sequence[str]) -> Program:
        """The program that launches the kernels `names` in that order; names the file lacks are left out.

        Raises InputError where the options state a value of a tensor, or one that is not understood.
        """
        program = self._lowered(names)
        if self.options.values and any(isinstance(op, Opaque) for op in kernel_operations(program)):
            self._require_no_tensors(names, program)
        return program

    def _require_no_tensors(self, names: Sequence[str], program: Program) -> None:
        """Raises InputError where a parameter whose value is stated is a tensor if nothing is stated of it."""
        before = replace(self, options=replace(self.options, values=()))._lowered(names)
        tensors = {item.name for kernel in before.kernels for item in kernel.parameters if item.is_buffer}
        numbers = {item.name for kernel in program.kernels for item in kernel.parameters if not item.is_buffer}
        for name, value in self.options.values:
            if name in tensors & numbers and value != "None":
                hint = f"state its sizes with --shape {name}=... or its dtype with --dtype {name}=..."
                raise InputError(f"--value {name}: {name} is a tensor, not a number", hint=hint)

    def _lowered(self, names: Sequence[str]) -> Program:
        from portcheck.frontends.nki.state.recorder import Recorder

        builder = Recorder()
        known = self._definitions
        wanted = [name for name in dict.fromkeys(names) if name in known]
        lowered = [self._kernel(builder, name, known[name]) for name in wanted]
        launches = tuple(self._launch(name) for name in names if name in known)
        wrapped = (self._wrapped(name, known[name]) for name in wanted)
        notes = (*(self.reach.notes if self.reach is not None else ()), *(note for note in wrapped if note))
        return Program(
            side=Side.NKI,
            path=self.source.path,
            kernels=tuple(item.kernel for item in lowered),
            launches=launches,
            version=self.version,
            notes=notes,
            is_version_stated=self.generation.is_stated,
            uses=(*self._uses_outside(wanted, lowered), *(use for item in lowered for use in item.uses)),
        )

    def _uses_outside(self, wanted: Sequence[str], lowered: Sequence[Lowered]) -> tuple[Use, ...]:
        from portcheck.frontends.nki.kernels.outside import uses_outside

        if self.reach is None:
            return ()
        lines = {line for item in lowered for path, line in item.functions if path == self.source.path}
        return tuple(uses_outside(self.reach.port, tuple(self._definitions.values()), wanted, lines))

    @cached_property
    def _knowledge(self) -> Knowledge:
        return load()

    @cached_property
    def _definitions(self) -> dict[str, Definition]:
        """The kernels by name."""
        if self.reach is None:
            return {}
        screened, aliases = self.reach.port.screened, self.reach.port.aliases
        wrapped = wrapped_in(screened.nodes, aliases, self._knowledge)
        return by_name(kernels_in(screened.tree, aliases, self._knowledge, wrapped))

    @cached_property
    def _grids(self) -> Mapping[str, tuple[int, ...]]:
        if self.reach is None:
            return {}
        return grids_in(self.reach.port.screened.nodes, self.reach.port.aliases, self._knowledge)

    def _wrapped(self, name: str, node: Definition) -> str:
        """What a report says of the decorators that do not make a kernel of a function: they are not followed."""
        assert self.reach is not None
        aliases = self.reach.port.aliases
        others = [item for item in node.decorator_list if not is_marked(item, aliases, self._knowledge)]
        texts = ", ".join(ast.unparse(item)[:60] for item in others)
        return f"{name} is also decorated by {texts}, which is not followed" if others else ""

    def _launch(self, name: str) -> Launch:
        """The launch of a kernel, with the grid that the file launches it with where no other kernel has its name."""
        is_only = f"{name}#2" not in self._definitions and "#" not in name
        grid = tuple(map(integer, self._grids.get(name, ()))) if is_only else ()
        return Launch(kernel=name, grid=grid, span=self._span(self._definitions[name]))

    def _span(self, node: ast.stmt) -> Span:
        line = first_line(node)
        end = node.end_lineno or node.lineno
        width = len(self.source.lines[end - 1]) if end <= len(self.source.lines) else 0
        return Span(self.source.path, Position(line, 1), Position(end, width + 1))

    def _kernel(self, builder: Recorder, name: str, node: Definition) -> Lowered:
        from portcheck.frontends.nki.kernels.kernels import Environment, Lowered, lower_kernel

        assert self.reach is not None
        port = self.reach.port
        environment = Environment(
            self._knowledge, NkiVersion.parse(self.version), self.options.target, self.source.path,
            dict(self.options.shapes), dict(self.options.dtypes), dict(self.options.values),
            lambda context: port.definition(context, node), name,
        )  # fmt: skip
        found = lower_kernel(environment, builder, _parameter_names(node), self._span(node))
        return found if found is not None else Lowered(self._unreadable(builder, name, node))

    def _unreadable(self, builder: Recorder, name: str, node: Definition) -> Kernel:
        """A kernel whose text is not read: one opaque operation that may write every parameter."""
        from portcheck.core.dtype import dtype_of

        span = self._span(node)
        names = _parameter_names(node)
        with builder.region() as body, builder.at(span):
            builder.emit(
                Opaque,
                via=node.name,
                reason="the kernel is nested too deeply to be read",
                reads=tuple(names),
                writes=tuple(names),
                kind=OpaqueKind.LIMIT,
            )
        parameters = tuple(
            Parameter(name=name, type=ValueType(dtype_of(name)), is_buffer=True, span=span) for name in names
        )
        return Kernel(name=name, parameters=parameters, axes=(), body=tuple(body), span=span)


def _parameter_names(node: Definition) -> list[str]:
    return [item.arg for item in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def read_nki(source: SourceFile, options: NkiOptions) -> NkiModule:
    """Reads a port. Never raises on what it says and never runs it."""
    screened = screen(source.text)
    if isinstance(screened, Fault):
        place = Position(screened.line, screened.column)
        problem = Problem(Span(source.path, place, place), screened.message)
        return NkiModule(source, options, None, Generation(options.version or newest_version(load()), ()), problem)
    reach = Reach(source, screened, Files(source.path, options.roots))
    files = [Text(scope.screened.tree, scope.imports, scope.aliases) for scope in reach.reached()]
    generation = generation_of(files, options.version, load())
    return NkiModule(source, options, reach, generation, None)


def load_parser() -> None:
    """Loads what reading and lowering would load when they need it, libcst above all; for when there is time."""
    for name in ("kernels.kernels", "state.recorder"):
        import_module(f"portcheck.frontends.nki.{name}")
    knowledge = load()
    for table in ("apis", "objects", "dtypes"):
        getattr(knowledge, table)
