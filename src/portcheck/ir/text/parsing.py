"""Reading programs back from the text form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any, cast

from portcheck.core.source import NOWHERE
from portcheck.ir.expr import Const, Expr
from portcheck.ir.kernel import ChosenDType, Default, Definition, Kernel, Launch, Parameter, Program, Side
from portcheck.ir.ops import Alloc, Branch, Loop, Op, Operation, While
from portcheck.ir.text.operation_parsing import Fields, OperationParser
from portcheck.ir.text.spelling import INDENT, REGION_LIMIT, IrTextError
from portcheck.ir.text.tokens import Cursor
from portcheck.ir.text.uses import read_argument, read_operand
from portcheck.ir.types import Axis
from portcheck.ir.uses import Argument, OperandUse, Run, Use, UseKind


def parse_program(text: str) -> Program:
    """The program that `text` is the text form of. Raises IrTextError where it is none.

    Empty lines and lines that begin with `#` are passed over.
    """
    return _Parser(list(_lines(text))).program()


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    depth: int
    text: str

    @property
    def first(self) -> str:
        return self.text.partition(" ")[0]


def _lines(text: str) -> Iterator[_Line]:
    for number, written in enumerate(text.split("\n"), start=1):
        stripped = written.strip(" \t\r")
        if not stripped or stripped.startswith("#"):
            continue
        spaces = len(written) - len(written.lstrip(" "))
        if spaces % len(INDENT):
            raise IrTextError(f"indented by {spaces} spaces, which is not a multiple of {len(INDENT)}", number)
        yield _Line(number, spaces // len(INDENT), stripped)


class _Parser(OperationParser):
    """Reads the lines of one program."""

    def __init__(self, lines: list[_Line]) -> None:
        super().__init__()
        self._lines = lines
        self._next = 0

    def _peek(self, depth: int) -> str:
        """The first word of the next line if it is at `depth`; "" where it is further out or there is none."""
        if self._next == len(self._lines):
            return ""
        line = self._lines[self._next]
        if line.depth > depth:
            raise IrTextError("indented too far", line.number)
        return line.first if line.depth == depth else ""

    def _take(self) -> Cursor:
        if self._next == len(self._lines):
            raise IrTextError("the text ends too early", self._lines[-1].number if self._lines else 1)
        line = self._lines[self._next]
        self._next += 1
        return Cursor(line.text, line.number)

    def program(self) -> Program:
        self._peek(0)
        cursor = self._take()
        cursor.expect("program")
        side, self.path = cursor.choice(Side), cursor.string()
        version = cursor.string() if cursor.accept("version") else ""
        is_version_stated = cursor.accept("stated")
        cursor.end()
        notes: list[str] = []
        flags: tuple[str, ...] = ()
        temporaries: tuple[str, ...] = ()
        launches: list[Launch] = []
        kernels: list[Kernel] = []
        uses: list[Use] = []
        while self._peek(0):
            cursor = self._take()
            match cursor.word():
                case "note":
                    notes.append(cursor.string())
                case "flags":
                    flags = cursor.names()
                case "temporaries":
                    temporaries = cursor.names()
                case "symbols":
                    self._symbols(cursor)
                case "launch":
                    launches.append(self._launch(cursor))
                case "kernel":
                    kernels.append(self._kernel(cursor))
                case "use":
                    uses.append(self._use(cursor))
                case word:
                    cursor.fail(f"expected note, flags, temporaries, symbols, launch, kernel or use, found {word}")
            cursor.end()
        return Program(
            side=side,
            path=self.path,
            kernels=tuple(kernels),
            launches=tuple(launches),
            version=version,
            is_version_stated=is_version_stated,
            notes=tuple(notes),
            flags=flags,
            temporaries=temporaries,
            uses=tuple(uses),
        )

    def _symbols(self, cursor: Cursor) -> None:
        dtype = self.dtype(cursor)
        cursor.expect(":")
        self.symbols.update(dict.fromkeys(cursor.names(), dtype))

    def _launch(self, cursor: Cursor) -> Launch:
        name = cursor.name()
        clauses = self._clauses(
            cursor,
            grid=self.expressions,
            block=self.expressions,
            shared_bytes=self.expression,
            arguments=lambda cursor: self.listed(cursor, self._argument),
            values=lambda cursor: self.listed(cursor, self._value),
        )
        is_repeated = cursor.accept("repeated")
        return Launch(kernel=name, is_repeated=is_repeated, span=self.place(cursor), **clauses)

    def _argument(self, cursor: Cursor) -> tuple[str, str]:
        name = cursor.name()
        cursor.expect("=")
        return name, cursor.name()

    def _value(self, cursor: Cursor) -> tuple[str, Expr]:
        name = cursor.name()
        cursor.expect("=")
        return name, self.expression(cursor)

    def _kernel(self, cursor: Cursor) -> Kernel:
        name = cursor.name()
        clauses = self._clauses(cursor, results=Cursor.names)
        span = self.place(cursor) or NOWHERE
        cursor.end()
        parameters: list[Parameter] = []
        while self._peek(1) in ("buffer", "scalar"):
            parameters.append(self._parameter(self._take()))
        axes: list[Axis] = []
        while self._peek(1) == "axis":
            line = self._take()
            line.expect("axis")
            axes.append(self.axis(line))
            line.end()
        definitions: list[Definition] = []
        while self._peek(1) == "define":
            definitions.append(self._definition(self._take()))
        dtypes: list[ChosenDType] = []
        while self._peek(1) == "dtypes":
            dtypes.append(self._chosen_dtype(self._take()))
        body = self._region(1)
        return Kernel(
            name=name,
            parameters=tuple(parameters),
            axes=tuple(axes),
            definitions=tuple(definitions),
            dtypes=tuple(dtypes),
            body=body,
            span=span,
            **clauses,
        )

    def _definition(self, cursor: Cursor) -> Definition:
        cursor.expect("define")
        name = cursor.name()
        cursor.expect("=")
        made = Definition(name, self.expression(cursor))
        cursor.end()
        return made

    def _chosen_dtype(self, cursor: Cursor) -> ChosenDType:
        cursor.expect("dtypes")
        dtype = self.dtype(cursor)
        cursor.expect(",")
        first = self.dtype(cursor)
        cursor.expect(",")
        second = self.dtype(cursor)
        cursor.expect("if")
        made = ChosenDType(dtype, self.expression(cursor), first, second)
        cursor.end()
        return made

    def _parameter(self, cursor: Cursor) -> Parameter:
        is_buffer = cursor.word() == "buffer"
        name = cursor.name()
        cursor.expect(":")
        type, constant = self.type(cursor), cursor.accept("const")
        clauses = self._clauses(
            cursor, initial=lambda cursor: self.listed(cursor, self._literal), default=self._default
        )
        span = self.place(cursor) or NOWHERE
        cursor.end()
        return Parameter(name=name, type=type, is_buffer=is_buffer, constant=constant, span=span, **clauses)

    def _default(self, cursor: Cursor) -> Default:
        if cursor.accept("none"):
            return Default(None)
        return Default(cursor.string() if cursor.peek().kind == "string" else self._literal(cursor).value)

    def _literal(self, cursor: Cursor) -> Const:
        literal = self.expression(cursor)
        return literal if isinstance(literal, Const) else cursor.fail("expected a literal")

    def _use(self, cursor: Cursor) -> Use:
        kind, name = cursor.choice(UseKind), cursor.name()
        kernel = cursor.name() if cursor.accept("in") else ""
        is_understood = not cursor.accept("obstacle")
        reason = "" if is_understood else cursor.string()
        span = self.place(cursor) or NOWHERE
        cursor.end()
        runs: list[Run] = []
        while self._peek(1) == "run":
            self._part("run")
            runs.append(self._run())
        return Use(
            kind=kind,
            name=name,
            span=span,
            kernel=kernel,
            is_understood=is_understood,
            reason=reason,
            runs=tuple(runs),
        )

    def _run(self) -> Run:
        arguments: list[Argument] = []
        others: dict[str, OperandUse] = {}
        while self._peek(2) in ("argument", "receiver:", "result:"):
            cursor = self._take()
            word = cursor.word()
            if word == "argument":
                arguments.append(read_argument(self, cursor))
            else:
                others[word] = read_operand(self, cursor)
            cursor.end()
        return Run(arguments=tuple(arguments), **others)

    # Regions

    def _region(self, depth: int) -> tuple[Op, ...]:
        found: list[Op] = []
        while self._peek(depth).startswith("%"):
            cursor = self._take()
            if depth > REGION_LIMIT:
                cursor.fail(f"regions are nested deeper than {REGION_LIMIT}")
            found.append(self._operation_line(cursor, depth))
        return tuple(found)

    def _operation_line(self, cursor: Cursor, depth: int) -> Op:
        id = cursor.result_id()
        if not cursor.accept("="):
            cursor.expect(":")
        kind, given = self.operation(cursor)
        if cursor.accept("->"):
            if "type" in given or all(field.name != "type" for field in fields(kind)):
                cursor.fail("this operation has no result")
            given["type"] = self.type(cursor)
        if cursor.accept("via"):
            given["via"] = cursor.string()
        given["span"] = self.place(cursor) or NOWHERE
        cursor.end()
        given |= self._nested(kind, depth)
        made = _made(kind, id, given, cursor)
        value_type = None if isinstance(made, Alloc) else getattr(made, "type", None)
        if value_type is not None:
            self.results[id] = value_type.dtype
        return made

    def _nested(self, kind: type[Operation], depth: int) -> Fields:
        if kind is Loop:
            return {"body": self._region(depth + 1)}
        if kind is Branch:
            then = self._region(depth + 1)
            if self._peek(depth) != "else":
                return {"then": then}
            self._part("else")
            return {"then": then, "otherwise": self._region(depth + 1)}
        if kind is While:
            self._part("test")
            test = self._region(depth + 2)
            cursor = self._take()
            cursor.expect("condition")
            condition = self.expression(cursor)
            cursor.end()
            self._part("body")
            return {"test": test, "condition": condition, "body": self._region(depth + 2)}
        return {}

    def _part(self, word: str) -> None:
        cursor = self._take()
        cursor.expect(word)
        cursor.end()


def _made(kind: type[Operation], id: int, given: dict[str, Any], cursor: Cursor) -> Op:
    required = (field.name for field in fields(kind) if field.default is MISSING and field.name != "id")
    for name in required:
        if name not in given:
            cursor.fail(f"{kind.__name__.lower()} lacks its {name}")
    return cast(Op, kind(id=id, **given))
