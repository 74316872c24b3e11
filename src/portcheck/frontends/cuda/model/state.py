"""The state of one lowering: names in scope, buffers, the builder, what was assumed on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portcheck.core.dtype import FLOAT32, UINT32, DType
from portcheck.core.source import Span
from portcheck.frontends.cuda.model.frames import Aim, Binding, Exit, Frame, Scope
from portcheck.frontends.cuda.model.reach import changed, mentioned
from portcheck.frontends.cuda.model.recorder import Recorder
from portcheck.frontends.cuda.model.values import (
    Buffer,
    CType,
    Lost,
    Nothing,
    Place,
    Scalar,
    TypeKind,
    Value,
)  # fmt: skip
from portcheck.frontends.cuda.options import CudaOptions
from portcheck.frontends.cuda.parsing.definitions import Definitions
from portcheck.frontends.cuda.parsing.mutations import Mutations
from portcheck.frontends.cuda.parsing.returns import may_jump
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.text.macros import Macro
from portcheck.ir import (
    Access,
    Alloc,
    Apply,
    Const,
    Expr,
    Load,
    Op,
    Opaque,
    OpaqueKind,
    Operation,
    Parameter,
    Ref,
    Space,
    Store,
    Symbol,
    ValueType,
    apply,
    subexpressions,
)
from portcheck.ir.operators import Operator
from portcheck.knowledge import Construct, Knowledge, Semantics

if TYPE_CHECKING:
    from portcheck.frontends.cuda.model.fragment_types import Fragment
    from portcheck.frontends.cuda.model.host_facts import HostFacts
    from portcheck.frontends.cuda.model.records import Record

_DEEPEST = 120
"""Levels of syntax: each takes a few frames of Python's stack."""
_DEEPEST_CALL = 108
"""Levels of syntax at which calls are still followed."""
_MOST_REGIONS = 56
"""Nested bodies: the text form of the IR takes a few more."""
_MOST_STEPS = 60_000
"""Expressions and statements of one kernel, helpers and macros put in."""


@dataclass
class State:
    """Everything the lowering of one program shares; `evaluate`, `execute` and `call` are the rooms' doors."""

    definitions: Definitions
    macros: Mapping[str, Macro]
    knowledge: Knowledge
    options: CudaOptions
    builder: Recorder = field(default_factory=Recorder)
    notes: dict[str, None] = field(default_factory=dict)
    scopes: list[Scope] = field(default_factory=lambda: [Scope(1)])
    buffers: dict[str, Buffer] = field(default_factory=dict)
    hoisted: list[Op] = field(default_factory=list)
    file_variables: dict[str, tuple[Space, Span, tuple[Const, ...]]] = field(default_factory=dict)
    shared_once: dict[tuple[object, ...], str] = field(default_factory=dict)
    kept: dict[tuple[object, ...], Binding | None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    locals: set[str] = field(default_factory=set)
    doubted: set[str] = field(default_factory=set)
    """Variables of the kernel that a pointer leads to which may be null instead."""
    template_parameters: list[Parameter] = field(default_factory=list)
    axes: dict[str, Semantics] = field(default_factory=dict)
    ranked: set[str] = field(default_factory=set)
    """The dimensions of the block besides x that a thread's number in it was made of; "" once it was asked for."""
    dimensions: frozenset[str] = frozenset()
    """Those that it has to be made of."""
    small_symbols: set[str] = field(default_factory=set)
    undefined: dict[str, Span] = field(default_factory=dict)
    """Names that nothing in reach defines, which are numbers; where each is first used."""
    handed: dict[str, None] = field(default_factory=dict)
    """Memory that text which is not understood was given, and may have kept the address of."""
    mask: Expr | None = None
    depth: int = 0
    steps: int = 0
    statement: tuple[int, int, int] | None = None
    instances: list[tuple[object, ...]] = field(default_factory=list)
    instance: tuple[str, ...] = ()
    """The template arguments of the function that is put in: what is shared in it is one for each instance."""
    mutations: Mutations | None = None
    shown: dict[tuple[int, int, int], frozenset[str]] = field(default_factory=dict)
    """The parameters of a function, by its node, whose bytes it looks at."""
    is_device: bool = True
    evaluate: Callable[[Node], Value] = field(init=False)
    execute: Callable[[Node], None] = field(init=False)
    resolve_call: Callable[[Node], Value] = field(init=False)
    make: Callable[[CType, list[Node], Node, str], Value] = field(init=False)
    copy: Callable[[Value, CType, Node], Value] = field(init=False)
    make_array: Callable[[Place, tuple[int, ...], Node | None, Node], None] = field(init=False)
    number_of: Callable[[Value, Node, DType | None], Scalar | None] = field(init=False)
    operator_call: Callable[[Node, str, list[tuple[Node, Value]]], Value | None] = field(init=False)
    type_of: Callable[[Node], CType] = field(init=False)
    instantiate: Callable[[str, Node | None, tuple[Node, ...]], CType] = field(init=False)
    written: dict[tuple[object, ...], Node] = field(default_factory=dict)
    """Templates with packs, written out for so many arguments."""
    records: dict[str, Record] = field(default_factory=dict)
    fragments: dict[str, Fragment] = field(default_factory=dict)
    views: dict[tuple[str, DType], str] = field(default_factory=dict)
    aims: dict[str, Aim] = field(default_factory=dict)
    several: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The register of a pointer variable's offset to the buffers it was seen to point into, in this kernel."""
    execute_all: Callable[[Sequence[Node]], None] = field(init=False)
    frames: list[Frame] = field(default_factory=list)
    host_facts: dict[tuple[int, int, int], HostFacts] = field(default_factory=dict)
    host_arguments: dict[tuple[int, ...], Const | None] = field(default_factory=dict)
    """The constant that a parameter of a host function has in all its calls."""
    host_environments: dict[tuple[tuple[int, int, int] | None, int], list[Mapping[str, Binding]]] = field(
        default_factory=dict
    )
    """What the template parameters of a host function stand for, for each of its calls."""
    host_calls: dict[str, list[Node]] = field(default_factory=dict)
    """A function's name to its calls, once somebody asks."""
    enumerations: dict[tuple[int, int, int], Mapping[tuple[int, int, int], tuple[Node | None, int]]] = field(
        default_factory=dict
    )
    """An enumeration to its enumerators: the last value given at or before each, and by how much it is more."""
    handed_by_host: frozenset[str] | None = None
    """The names in what host code hands to functions, once somebody asks."""
    exits: list[Exit] = field(default_factory=list)
    labels: dict[str, Exit] = field(default_factory=dict)
    breaks: list[Exit | None] = field(default_factory=list)
    """What a `break` leaves, innermost last: a loop (None), or a switch by its exit."""
    loops: int = 0
    """How many loops are open."""

    def excess(self) -> str:
        """Why the lowering goes no further down from here; "" while it may."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            return "text that expands to too much"
        is_deep = self.depth >= _DEEPEST or self.builder.depth > _MOST_REGIONS
        return "text nested too deeply" if is_deep else ""

    @property
    def has_room(self) -> bool:
        """Whether the body of a function may be put in here, its own expressions included."""
        return self.depth < _DEEPEST_CALL and self.builder.depth <= _MOST_REGIONS

    def lookup(self, name: str) -> Binding | None:
        """What `name` means here."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def bind(self, name: str, value: Binding, is_fixed: bool = False) -> None:
        """Declares `name` in the innermost scope; one that `is_fixed` cannot be given another meaning."""
        self.scopes[-1][name] = value
        if is_fixed:
            self.scopes[-1].fixed.add(name)

    def rebind(self, name: str, value: Binding) -> bool:
        """Gives a declared name another meaning; false where it would hold beyond the region it is given in."""
        for scope in reversed(self.scopes):
            if name in scope:
                if scope.depth != self.builder.depth or name in scope.fixed:
                    return False
                scope[name] = value
                return True
        return False

    def new_scope(self) -> Scope:
        """An empty scope in the current region."""
        return Scope(self.builder.depth)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Names declared inside the `with` block end with it."""
        self.scopes.append(self.new_scope())
        try:
            yield
        finally:
            self.scopes.pop()

    @contextmanager
    def names_of_file(self) -> Iterator[None]:
        """Inside the `with` block no name means what a function declares."""
        outer, self.scopes = self.scopes, [self.new_scope()]
        try:
            yield
        finally:
            self.scopes = outer

    @contextmanager
    def rest_of_block(self) -> Iterator[list[Op]]:
        """A region in which the innermost block goes on to its end: its names may be given other meanings in it."""
        outer = self.builder.depth
        held = [scope for scope in self.scopes if scope.depth == outer]
        with self.builder.region() as emitted:
            for scope in held:
                scope.depth = self.builder.depth
            try:
                yield emitted
            finally:
                for scope in held:
                    scope.depth = outer

    @contextmanager
    def loop(self) -> Iterator[None]:
        """The body of a loop inside the `with` block."""
        self.loops += 1
        self.breaks.append(None)
        try:
            yield
        finally:
            self.breaks.pop()
            self.loops -= 1

    @contextmanager
    def masked(self, condition: Expr | None) -> Iterator[None]:
        """Loads inside the `with` block happen only where `condition` holds."""
        outer = self.mask
        if condition is not None:
            self.mask = condition if outer is None else apply(Operator.LOGICAL_AND, outer, condition)
        try:
            yield
        finally:
            self.mask = outer

    @contextmanager
    def unmasked(self) -> Iterator[None]:
        """What is emitted inside the `with` block happens wherever the kernel runs."""
        outer, self.mask = self.mask, None
        try:
            yield
        finally:
            self.mask = outer

    def construct(self, name: str) -> Construct | None:
        """What is known of the CUDA name `name`, with namespaces resolved."""
        head, separator, rest = name.partition("::")
        if separator and head in self.definitions.namespaces:
            name = f"{self.definitions.namespaces[head]}::{rest}"
        found = self.knowledge.construct(name)
        if found is None and name.startswith("::"):
            return self.construct(name[2:])
        if found is None and separator and head == "std":
            found = self.knowledge.construct(rest)
        if found is None and separator and head == "cuda":
            found = self.construct(rest) if rest.startswith("std::") else None
        for opened in self.definitions.opened if found is None and not separator else ():
            found = found or self.knowledge.construct(f"{opened}::{name}")
        return found

    def member_name(self, type_: CType, name: str) -> Binding | None:
        """The type or constant that a record calls `name`."""
        record = self.records.get(type_.name)
        if record is None or name not in record.scopes[-1]:
            return None
        return record.scopes[-1][name]

    def unique(self, name: str) -> str:
        """`name`, with a number where it is already taken in this kernel."""
        chosen, number = name, 0
        while chosen in self.names:
            number += 1
            chosen = f"{name}_{number}"
        self.names.add(chosen)
        return chosen

    def note(self, text: str) -> None:
        """States an assumption once."""
        self.notes.setdefault(text)

    def allocate(
        self, name: str, dtype: DType, shape: tuple[Expr, ...] = (), space: Space = Space.REGISTER, **fields: object
    ) -> Buffer:
        """Emits the allocation of a buffer called after `name`."""
        buffer = Buffer(self.unique(name), dtype, shape, space=space)
        self.buffers[buffer.name] = buffer
        self.locals.add(buffer.name)
        self.builder.emit(Alloc, name=buffer.name, type=ValueType(dtype, shape, space), **fields)
        return buffer

    def load(self, place: Place, dtype: DType, via: str = "") -> Scalar:
        """Reads one element."""
        return Scalar(self.builder.result(Load, access=self.access(place), type=ValueType(dtype), via=via), dtype)

    def store(self, place: Place, value: Expr, via: str = "=") -> None:
        """Writes one element."""
        self.builder.emit(Store, access=self.access(place), value=value, via=via)

    def access(self, place: Place) -> Access:
        """The one element that `place` names; a variable has no mask."""
        mask = self.mask if place.index else None
        return Access(buffer=place.buffer, index=place.index, mask=mask, is_volatile=place.type.volatile)

    def register(self, name: str, dtype: DType, depth: int | None = None) -> Place:
        """A new mutable variable; with a `depth` it is allocated in the region so deep that is open."""
        with self.builder.region_at(depth):
            buffer = self.allocate(name, dtype)
        return Place(buffer.name, (), CType(kind=TypeKind.SCALAR, dtype=dtype))

    def result(self, operation: type[Operation], dtype: DType, **fields: object) -> Scalar:
        """Emits an operation on single elements and gives its result."""
        return Scalar(self.builder.result(operation, type=ValueType(dtype), **fields), dtype)

    def opaque(
        self, node: Node, reason: str, dtype: DType = FLOAT32, operands: tuple[Expr, ...] = (),
        writes: tuple[str, ...] = (), *, kind: OpaqueKind = OpaqueKind.SYNTAX, via: str = "",
    ) -> Scalar:  # fmt: skip
        """Keeps an expression that was not understood, with the buffers it mentions; its value is some number."""
        operation = self._opaque(node, reason, operands, writes, type=ValueType(dtype), kind=kind, via=via)
        return Lost(Ref(operation.id, dtype), dtype)

    def keep(
        self, node: Node, reason: str, operands: tuple[Expr, ...] = (), writes: tuple[str, ...] = (), *,
        kind: OpaqueKind = OpaqueKind.SYNTAX,
    ) -> Nothing:  # fmt: skip
        """Keeps a statement that was not understood, with the buffers it mentions and those it `writes` besides."""
        self._opaque(node, reason, operands, writes, kind=kind)
        return Nothing()

    def _opaque(
        self, node: Node, reason: str, operands: tuple[Expr, ...], writes: tuple[str, ...], **fields: object
    ) -> Opaque:
        read, seen = mentioned(self, node)
        if may_jump(node, self.macros):
            fields["kind"] = OpaqueKind.CONTROL
        return self.builder.emit(
            Opaque, reason=reason, reads=read, writes=changed(self, read, *writes), operands=operands or seen,
            span=node.span, **fields,
        )  # fmt: skip

    def is_address(self, expression: Expr) -> bool:
        """Whether the address of a buffer is part of a number."""
        if not isinstance(expression, Symbol | Apply):
            return False
        return any(isinstance(part, Symbol) and part.name in self.buffers for part in subexpressions(expression))

    def is_own_address(self, expression: Expr) -> bool:
        """Whether a number is the address of a variable or array of the kernel, or lies at a distance from one."""
        while isinstance(expression, Apply) and expression.operator is Operator.ADD:
            expression = expression.arguments[0]
        buffer = self.buffers.get(expression.name) if isinstance(expression, Symbol) else None
        if buffer is None or buffer.name in self.doubted:
            return False
        return buffer.name in self.locals or buffer.space is Space.SHARED

    def builtin(self, name: str, semantics: Semantics) -> Scalar:
        """The symbol of a component of a built-in index or size variable."""
        self.small_symbols.add(name)
        if self.is_device:
            self.axes[name] = semantics
        return Scalar(Symbol(name, UINT32), UINT32)
