"""A port that was read: its kernels, its version, and the program that its kernels make."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from portcheck.core.source import Position, SourceFile, Span
from portcheck.frontends.nki.discovery import (
    Definition,
    kernels_in,
    names_bound_in,
    statements_around,
    top_level_functions,
)  # fmt: skip
from portcheck.frontends.nki.generation import Generation, generation_of
from portcheck.frontends.nki.imports import aliases_in
from portcheck.frontends.nki.parse import Segment, first_line, parse_statement
from portcheck.frontends.nki.screen import Fault, Screened, is_too_deep, screen
from portcheck.frontends.reading import KernelSignature, Problem
from portcheck.ir import Kernel, Launch, Opaque, OpaqueKind, Parameter, Program, Side, ValueType
from portcheck.ir.uses import Use
from portcheck.knowledge import Knowledge, NkiVersion, load

if TYPE_CHECKING:
    from portcheck.frontends.nki.context import Context
    from portcheck.frontends.nki.frame import Frame
    from portcheck.frontends.nki.recorder import Recorder
    from portcheck.frontends.nki.values import Function, Value


@dataclass(frozen=True, slots=True)
class NkiOptions:
    """What the user states about a port: version, chip, and sizes and dtypes by name ("x", "512,4096")."""

    version: str | None = None
    target: str = "trn2"
    shapes: tuple[tuple[str, str], ...] = ()
    dtypes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class NkiModule:
    """A port; `syntax_problem` is why it could not be read at all, if so."""

    source: SourceFile
    options: NkiOptions
    screened: Screened | None
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
            Problem(self._span(node), f"{node.name} is nested too deeply to be read")
            for node in self._definitions
            if is_too_deep(node)
        )

    @cached_property
    def kernels(self) -> tuple[KernelSignature, ...]:
        """The kernels of the file, in order."""
        return tuple(
            KernelSignature(node.name, tuple(_parameter_names(node)), self._span(node)) for node in self._definitions
        )

    def lower(self, names: Sequence[str]) -> Program:
        """The program that launches the kernels `names` in that order; names the file lacks are left out."""
        from portcheck.frontends.nki.recorder import Recorder

        builder = Recorder()
        by_name = {node.name: node for node in self._definitions}
        wanted = [name for name in dict.fromkeys(names) if name in by_name]
        lowered = [self._kernel(builder, by_name[name]) for name in wanted]
        launches = tuple(Launch(kernel=name, span=self._span(by_name[name])) for name in names if name in by_name)
        return Program(
            side=Side.NKI,
            path=self.source.path,
            kernels=tuple(kernel for kernel, _ in lowered),
            launches=launches,
            version=self.version,
            uses=tuple(use for _, uses in lowered for use in uses),
        )

    @cached_property
    def _knowledge(self) -> Knowledge:
        return load()

    @cached_property
    def _aliases(self) -> Mapping[str, str]:
        return aliases_in(self.screened.tree) if self.screened is not None else {}

    @cached_property
    def _definitions(self) -> tuple[Definition, ...]:
        if self.screened is None:
            return ()
        return kernels_in(self.screened.tree, self._aliases, self._knowledge)

    def _span(self, node: ast.stmt) -> Span:
        line = first_line(node)
        end = node.end_lineno or node.lineno
        width = len(self.source.lines[end - 1]) if end <= len(self.source.lines) else 0
        return Span(self.source.path, Position(line, 1), Position(end, width + 1))

    def segment(self, node: ast.stmt) -> Segment | None:
        """The top-level statement `node` as a tree, parsed once."""
        if node not in self._segments and self.screened is not None:
            self._segments[node] = parse_statement(self.screened, node, self.source.path)
        return self._segments.get(node)

    @cached_property
    def _segments(self) -> dict[ast.stmt, Segment | None]:
        return {}

    def _kernel(self, builder: Recorder, node: Definition) -> tuple[Kernel, tuple[Use, ...]]:
        from portcheck.frontends.nki.kernels import Environment, lower_kernel

        scope = _Scope(self)
        function = scope.definition(node)
        if function is None:
            return self._unreadable(builder, node), ()
        environment = Environment(
            self._knowledge, NkiVersion.parse(self.version), self.options.target, self.source.path,
            dict(self.options.shapes), dict(self.options.dtypes), scope.function, scope.constant,
        )  # fmt: skip
        return lower_kernel(environment, builder, function, self._span(node))

    def _unreadable(self, builder: Recorder, node: Definition) -> Kernel:
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
        return Kernel(name=node.name, parameters=parameters, axes=(), body=tuple(body), span=span)


def _parameter_names(node: Definition) -> list[str]:
    return [item.arg for item in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


class _Scope:
    """The module-level names of a file, evaluated when a kernel first asks for them."""

    def __init__(self, module: NkiModule) -> None:
        assert module.screened is not None
        self._module = module
        self._functions = top_level_functions(module.screened.tree)
        self._statements = _assignments(module.screened.tree)
        self._frame: Frame | None = None
        self._pending: set[str] = set()

    def function(self, name: str) -> Function | None:
        """The function of the file called `name`."""
        node = self._functions.get(name)
        return self.definition(node) if node is not None else None

    def definition(self, node: Definition) -> Function | None:
        """The function that `node` defines, parsed now."""
        from portcheck.frontends.nki.values import Function as FunctionValue

        assert self._module.screened is not None
        around = statements_around(self._module.screened.tree, node) if node.col_offset else [node]
        segment = self._segment(around[0])
        found = _function_at(segment, node) if segment is not None else None
        if segment is None or found is None:
            return None
        return FunctionValue(node.name, found, segment, self._home_inside(segment, around[:-1]))

    def _home_inside(self, segment: Segment, around: Sequence[ast.stmt]) -> Frame:
        """The frame that a function inside other functions closes over: their names are not known."""
        from portcheck.frontends.nki.frame import Frame
        from portcheck.frontends.nki.values import Unknown

        home = self._home(segment)
        for item in around:
            if isinstance(item, Definition):
                home = Frame(segment, home)
                for name in sorted(names_bound_in(item)):
                    home.names[name] = Unknown(f"{item.name}.{name}", f"{name} is a name of the function around")
        return home

    def constant(self, context: Context, name: str) -> Value | None:
        """The value of the module-level name `name`: an import, a function, or what is assigned to it."""
        from portcheck.frontends.nki.values import External

        function = self.function(name)
        if function is not None:
            return function
        statement = self._statements.get(name)
        if statement is not None and name not in self._pending:
            return self._assigned(context, name, statement)
        return External(self._module._aliases[name]) if name in self._module._aliases else None

    def _assigned(self, context: Context, name: str, statement: ast.stmt) -> Value | None:
        from portcheck.frontends.nki.frame import Frame
        from portcheck.frontends.nki.statements import run_block

        segment = self._segment(statement)
        if segment is None:
            return None
        self._pending.add(name)
        home = self._home(segment)
        frame = Frame(segment, home)
        with context.builder.region():
            run_block(context, frame, segment.module.body)
        self._pending.discard(name)
        home.names.update(frame.names)
        return home.names.get(name)

    def _home(self, segment: Segment) -> Frame:
        from portcheck.frontends.nki.frame import Frame

        if self._frame is None:
            self._frame = Frame(segment)
        return self._frame

    def _segment(self, node: ast.stmt) -> Segment | None:
        return self._module.segment(node)


def _function_at(segment: Segment, wanted: Definition) -> object | None:
    """The function `wanted` in the tree of its statement."""
    import libcst as cst

    from portcheck.frontends.nki.frame import children

    stack: list[cst.CSTNode] = [segment.module]
    while stack:
        node = stack.pop(0)
        name = node.name if isinstance(node, cst.FunctionDef) else None
        if name is not None and name.value == wanted.name and segment.span(name).start.line == wanted.lineno:
            return node
        stack.extend(children(node))
    return None


def _assignments(tree: ast.Module) -> dict[str, ast.stmt]:
    """The module-level statement that last binds each name; only plain assignments, also under `if` and `try`."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        for item in ast.walk(node) if not isinstance(node, ast.FunctionDef | ast.ClassDef) else ():
            targets = (
                item.targets
                if isinstance(item, ast.Assign)
                else [item.target]
                if isinstance(item, ast.AnnAssign)
                else []
            )
            for target in targets:
                found.update({name.id: node for name in ast.walk(target) if isinstance(name, ast.Name)})
    return found


def read_nki(source: SourceFile, options: NkiOptions) -> NkiModule:
    """Reads a port. Never raises on what it says and never runs it."""
    screened = screen(source.text)
    if isinstance(screened, Fault):
        place = Position(screened.line, screened.column)
        problem = Problem(Span(source.path, place, place), screened.message)
        return NkiModule(source, options, None, Generation(options.version or "0.6", ()), problem)
    aliases = aliases_in(screened.tree)
    generation = generation_of(screened.tree, aliases, options.version, load())
    return NkiModule(source, options, screened, generation, None)


def load_parser() -> None:
    """Loads what reading and lowering would load when they need it, libcst above all; for when there is time."""
    for name in ("kernels", "recorder"):
        import_module(f"portcheck.frontends.nki.{name}")
    knowledge = load()
    for table in ("apis", "objects", "dtypes"):
        getattr(knowledge, table)
