"""Random valid programs, as hypothesis strategies; every operation and every field can appear."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from tests.ir.atoms import INTEGERS, PATH, accumulators, constants, defaults, dtypes, spans, texts
from tests.ir.drawing import Drawing

from portcheck.core.dtype import BOOL, FLOAT32, INT32, UINT32, dtype_of
from portcheck.ir import (
    PREDICATES,
    TRUE,
    Alloc,
    Apply,
    Assume,
    Atomic,
    Axis,
    AxisKind,
    Barrier,
    Branch,
    Call,
    Cast,
    Check,
    CheckKind,
    ChosenDType,
    Collective,
    CollectiveKind,
    Compute,
    Const,
    Copy,
    Default,
    Definition,
    Exchange,
    ExchangeKind,
    Fence,
    Filter,
    Kernel,
    Launch,
    Leave,
    LeaveKind,
    Load,
    Loop,
    Matmul,
    MemoryOrder,
    Op,
    Opaque,
    OpaqueKind,
    Operation,
    Operator,
    Order,
    Outside,
    Parameter,
    Program,
    Random,
    Range,
    Reduce,
    Ref,
    Return,
    Rounding,
    Sample,
    SampleKind,
    Scan,
    Scope,
    Select,
    Sequence,
    Side,
    Sort,
    Store,
    Symbol,
    Transpose,
    ValueType,
    While,
    WriteMode,
    arity,
)  # fmt: skip
from portcheck.ir.uses import (
    Argument,
    DTypeUse,
    GroupUse,
    NameUse,
    NoneUse,
    NumberUse,
    OperandUse,
    OtherUse,
    Run,
    TextUse,
    TileUse,
    Use,
    UseKind,
)  # fmt: skip


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A valid program of one or two kernels."""
    maker = _Maker(draw)
    kernels = tuple(maker.kernel(f"{name}") for name in draw(st.sampled_from((("k",), ("k", "k<256, half>")))))
    launches = tuple(maker.launch(kernel) for kernel in kernels if draw(st.booleans()))
    return Program(
        side=draw(st.sampled_from(Side)),
        path=PATH,
        kernels=kernels,
        launches=launches,
        version=draw(st.sampled_from(("", "0.6"))),
        is_version_stated=draw(st.booleans()),
        notes=tuple(draw(st.lists(texts, max_size=2))),
        flags=draw(st.sampled_from(((), ("fast-math",), ("fmad", "prec-div")))),
        temporaries=draw(st.sampled_from(((), ("x",), ("x", "y z")))),
        uses=tuple(maker.use(kernels) for _ in range(draw(st.integers(0, 2)))),
    )


_FOLDING = [operator for operator in Operator if arity(operator) == 2]


class _Maker(Drawing):
    """Draws one program."""

    # Programs and regions

    def kernel(self, name: str) -> Kernel:
        self.refs, self.symbols, self.buffers = [], [], []
        parameters = []
        for parameter, is_buffer, constant in (("x", True, True), ("y z", True, False), ("eps", False, False)):
            value_type = self.a_type()
            span = self.draw(spans)
            initial = self.some(((), (Const(3, INT32), Const(-0.5, FLOAT32)))) if is_buffer else ()
            default = self.some((None, Default(None))) if is_buffer else self.maybe(lambda: self.draw(defaults))
            parameters.append(
                Parameter(
                    name=parameter, type=value_type, is_buffer=is_buffer, span=span, constant=constant,
                    initial=initial, default=default,
                )
            )  # fmt: skip
            if is_buffer:
                self.buffers.append((parameter, len(value_type.shape), constant))
            else:
                self.symbols.append(Symbol(parameter, value_type.dtype))
        axes = tuple(
            Axis(axis, self.some(list(AxisKind)), self.maybe(lambda: Symbol("gridDim.x", UINT32)))
            for axis in ("blockIdx.x", "program_id(0)")
        )
        self.symbols.extend(Symbol(axis.name, self.some(INTEGERS)) for axis in axes)
        definitions = self.some(((), (Definition("long", self.expression()), Definition("a b", self.expression()))))
        chosen = ChosenDType(dtype_of("either"), self.expression(), self.draw(dtypes), self.draw(dtypes))
        body = self.region(2)
        results = self.some(((), ("x",), ("x", "y z")))
        return Kernel(
            name=name, parameters=tuple(parameters), axes=axes, body=body, span=self.draw(spans), results=results,
            definitions=definitions, dtypes=self.some(((), (chosen,))),
        )  # fmt: skip

    def launch(self, kernel: Kernel) -> Launch:
        self.refs, self.symbols, self.buffers = [], [], []
        return Launch(
            kernel=kernel.name,
            grid=self.expressions(3),
            block=self.expressions(3),
            shared_bytes=self.maybe(self.expression),
            arguments=self.some(((), (("x", "d_x"), ("y z", "x")))),
            values=self.some(((), (("x", Const(3, INT32)), ("y z", Symbol("m", INT32))))),
            is_repeated=self.draw(st.booleans()),
            span=self.draw(st.none() | spans),
        )

    def use(self, kernels: tuple[Kernel, ...]) -> Use:
        self.refs, self.symbols, self.buffers = [], [], []
        is_understood = self.draw(st.booleans())
        return Use(
            kind=self.some(list(UseKind)),
            name=self.some(("nki.isa.memset", "", "python.is")),
            span=self.draw(spans),
            kernel=self.some(("", *(kernel.name for kernel in kernels))),
            is_understood=is_understood,
            reason="" if is_understood else self.draw(texts),
            runs=tuple(self.run() for _ in range(self.draw(st.integers(0, 2)))),
        )

    def run(self) -> Run:
        arguments = tuple(
            Argument(
                parameter=self.some(("dst", "", "y z")),
                role=self.some(("", "destination")),
                position=self.some((None, 0, 3)),
                operand=self.operand_use(1),
            )
            for _ in range(self.draw(st.integers(0, 2)))
        )
        receiver, result = (self.maybe(lambda: self.operand_use(1)) for _ in range(2))
        return Run(arguments=arguments, receiver=receiver, result=result)

    def operand_use(self, depth: int) -> OperandUse:
        name = self.some(("", "x", "from", "y z"))
        plain: list[OperandUse] = [
            TileUse(
                type=self.a_type(), buffer=name, start=self.maybe(self.expression), is_whole=self.draw(st.booleans())
            ),
            NumberUse(self.maybe(self.expression)),
            TextUse(self.draw(texts)),
            NameUse(name),
            DTypeUse(FLOAT32),
            NoneUse(),
            OtherUse(self.draw(texts)),
        ]
        inner = [self.operand_use(depth - 1) for _ in range(self.draw(st.integers(0, 2)))] if depth else []
        return self.some((*plain, GroupUse(tuple(inner), self.draw(st.booleans()))))

    def region(self, depth: int, *symbols: Symbol, is_loop: bool = False) -> tuple[Op, ...]:
        """Some operations; nothing they define is visible afterwards."""
        outer = len(self.refs), len(self.symbols), len(self.buffers)
        self.symbols.extend(symbols)
        self.loops += is_loop
        with self.builder.region() as body:
            for _ in range(self.draw(st.integers(0, 4))):
                self.operation(depth)
        self.loops -= is_loop
        del self.refs[outer[0] :], self.symbols[outer[1] :], self.buffers[outer[2] :]
        return tuple(body)

    def operation(self, depth: int) -> None:
        kinds = [*_FIELDS, *(_NESTED if depth else ()), *((Leave,) if self.loops else ())]
        kind = self.some(kinds)
        make = {**_FIELDS, **_NESTED, Leave: _Maker.leave}[kind]
        fields = make(self, depth) if kind in _NESTED else make(self)
        self.emit(kind, **fields)

    def emit(self, kind: type[Operation], /, **fields: Any) -> None:
        made = self.builder.emit(kind, span=self.draw(spans), via=self.draw(st.just("") | texts), **fields)
        if isinstance(made, Alloc):
            self.buffers.append((made.name, len(made.type.shape), False))
        elif fields.get("type") is not None:
            self.refs.append(Ref(made.id, fields["type"].dtype))
            self.ranks[made.id] = len(fields["type"].shape)

    # Fields of each operation

    def alloc(self) -> dict[str, Any]:
        made = {"name": self.fresh("t"), "type": self.a_type(), "dynamic": self.draw(st.booleans())}
        base = next((op for op in self.builder.body if isinstance(op, Alloc) and not op.base), None)
        if base is not None and self.draw(st.booleans()):
            made |= {"base": base.name, "type": replace(made["type"], space=base.type.space)}
        return made

    def load(self) -> dict[str, Any]:
        access = self.access()
        return {"access": access, "type": self.a_type(len(access.axes)), "fill": self.maybe(self.expression)}

    def store(self) -> dict[str, Any]:
        access = self.access(True)
        return {"access": access, "value": self.operand(len(access.axes)), **self.mode()}

    def copy(self) -> dict[str, Any]:
        destination = self.access(True)
        return {"destination": destination, "source": self.access(rank=len(destination.axes)), **self.mode()}

    def mode(self) -> dict[str, Any]:
        return {"mode": self.some(list(WriteMode)), "unique_indices": self.draw(st.booleans())}

    def compute(self) -> dict[str, Any]:
        operator = self.some(list(Operator))
        value_type = self.a_type()
        if operator in PREDICATES:
            value_type = ValueType(BOOL, value_type.shape, value_type.space)
        return {
            "operator": operator,
            "operands": tuple(self.operand(len(value_type.shape)) for _ in range(arity(operator))),
            "type": value_type,
            "approximate": self.draw(st.booleans()),
            "contractible": self.draw(st.booleans()),
            "rounding": self.some(list(Rounding)),
            "mask": self.maybe(self.condition),
        }

    def cast(self) -> dict[str, Any]:
        flags = {"saturating": self.draw(st.booleans()), "bitwise": self.draw(st.booleans())}
        made = self.a_type()
        operand = self.operand(len(made.shape))
        return {"operand": operand, "type": made, "rounding": self.some(list(Rounding)), **flags}

    def reduce(self) -> dict[str, Any]:
        is_over_lanes = self.draw(st.booleans())
        return {
            "operator": self.some(_FOLDING),
            "operand": self.draw(constants),
            "type": self.a_type(),
            "accumulate": self.draw(accumulators),
            "dimensions": () if is_over_lanes else self.some(((0,), (1,), (0, 2))),
            **self.lanes(is_over_lanes),
            "keep_dimensions": self.draw(st.booleans()),
            "order": self.some(list(Order)),
            "mask": self.maybe(self.condition),
        }

    def lanes(self, is_over_lanes: bool) -> dict[str, Any]:
        return {
            "lanes": self.expression(1) if is_over_lanes else None,
            "lanes_mask": self.maybe(self.expression) if is_over_lanes else None,
            "scope": self.some(list(Scope)),
        }

    def scan(self) -> dict[str, Any]:
        is_over_lanes = self.draw(st.booleans())
        multiplier = self.maybe(lambda: self.some(_FOLDING))
        return {
            "operator": self.some(_FOLDING),
            "operands": tuple(self.expression(1) for _ in range(1 if multiplier is None else 2)),
            "type": self.a_type(),
            "dimension": None if is_over_lanes else self.draw(st.integers(0, 2)),
            **self.lanes(is_over_lanes),
            "multiplier": multiplier,
            "initial": self.maybe(self.expression),
            "inclusive": self.draw(st.booleans()),
            "reverse": self.draw(st.booleans()),
            "order": self.some(list(Order)),
            "accumulate": self.maybe(lambda: self.draw(accumulators)),
            "mask": self.maybe(self.condition),
        }

    def matmul(self) -> dict[str, Any]:
        operands = {"stationary": self.expression(1), "moving": self.expression(1)}
        return {
            **operands,
            "type": self.a_type(),
            "accumulate": self.draw(accumulators),
            "order": self.some(list(Order)),
        }

    def transpose(self) -> dict[str, Any]:
        return {
            "operand": self.expression(),
            "permutation": self.some(((1, 0), (0, 2, 1), ())),
            "type": self.a_type(),
        }

    def exchange(self) -> dict[str, Any]:
        kind = self.some(list(ExchangeKind))
        pattern = self.some(((1, 0), (0,), (3, 2, 1, 0))) if kind is ExchangeKind.PATTERN else ()
        lanes = {"lane": self.expression(1), "lanes_mask": self.maybe(self.expression), "pattern": pattern}
        width = Const(len(pattern), INT32) if pattern else self.expression(1)
        return {"kind": kind, "operand": self.expression(), "type": self.a_type(), "width": width, **lanes}

    def select(self) -> dict[str, Any]:
        made = self.a_type()
        names = ("condition", "on_true", "on_false")
        return {"type": made, **{name: self.operand(len(made.shape)) for name in names}}

    def barrier(self) -> dict[str, Any]:
        given = {"scope": self.some(list(Scope)), "participants": self.maybe(self.expression)}
        if self.draw(st.booleans()):
            return given
        return {**given, "combine": self.some(list(Operator)), "operand": self.expression(1), "type": self.a_type()}

    def fence(self) -> dict[str, Any]:
        return {"scope": self.some(list(Scope)), "order": self.some(list(MemoryOrder))}

    def atomic(self) -> dict[str, Any]:
        access = self.access(True)
        rank = len(access.axes)
        operator = self.maybe(lambda: self.some(list(Operator)))
        may_wrap = operator in (Operator.ADD, Operator.SUBTRACT)
        return {
            "access": access,
            "operator": operator,
            "value": self.operand(rank),
            "type": self.a_type(rank),
            "compare": self.maybe(self.expression),
            "limit": self.maybe(self.expression) if may_wrap else None,
            "scope": self.some(list(Scope)),
            "order": self.some(list(MemoryOrder)),
            "result_used": self.draw(st.booleans()),
            "unique_indices": self.draw(st.booleans()),
        }

    def random(self) -> dict[str, Any]:
        generator = self.some(("curand_uniform", "nisa.rng", ""))
        state = self.some(("", *(name for name, *_ in self.buffers)))
        distribution = self.some(("", "uniform", "log normal"))
        fields = {"generator": generator, "state": state, "distribution": distribution}
        return {**fields, "operands": self.expressions(), "type": self.a_type()}

    def sort(self) -> dict[str, Any]:
        made = ValueType(INT32, self.a_type(self.some((1, 2))).shape)
        return {
            "operand": self.operand(len(made.shape)),
            "type": made,
            "dimension": self.some(range(len(made.shape))),
            "descending": self.draw(st.booleans()),
        }

    def collective(self) -> dict[str, Any]:
        kind = self.some(list(CollectiveKind))
        is_combined = kind in (CollectiveKind.REDUCE, CollectiveKind.SCATTER)
        is_sent = kind is CollectiveKind.SEND
        axes = self.some(((), (0,), (2, 0))) if kind is CollectiveKind.REDUCE else ()
        ranks = () if axes else self.some(((), (0, 1), (0, 2, 1, 3)))
        return {
            "kind": kind,
            "destination": self.access(True),
            "source": self.access(),
            "operator": self.some(list(Operator)) if is_combined else None,
            "ranks": ranks,
            "group_size": 2 if ranks else 0,
            "program_axes": axes,
            "send_to": self.expression() if is_sent else None,
            "receive_from": self.expression() if is_sent else None,
        }

    def sample(self) -> dict[str, Any]:
        return {
            "kind": self.some(list(SampleKind)),
            "texture": self.expression(),
            "coordinates": self.expressions(),
            "type": self.a_type(),
            "component": self.some((0, 3)),
            "layer": self.maybe(self.expression),
            "level": self.maybe(self.expression),
            "filter": self.some((None, *Filter)),
            "outside": self.some((None, *Outside)),
            "is_normalised": self.some((None, False, True)),
        }

    def leave(self) -> dict[str, Any]:
        return {"kind": self.some(list(LeaveKind))}

    def returned(self) -> dict[str, Any]:
        buffers = tuple(name for name, *_ in self.buffers if self.draw(st.booleans()))
        shapes = tuple(self.expressions() for _ in buffers) if self.draw(st.booleans()) else ()
        return {"buffers": buffers, "shapes": shapes}

    def call(self) -> dict[str, Any]:
        names = {"reads": self.some(((), ("x", "unknown"))), "writes": self.some(((), ("x", "via")))}
        return {
            "callee": self.draw(texts),
            "arguments": self.expressions(),
            "type": self.maybe(self.a_type),
            **names,
        }

    def assume(self) -> dict[str, Any]:
        return {"condition": self.condition()}

    def check(self) -> dict[str, Any]:
        shown = {"operands": self.expressions(), "message": self.draw(st.just("") | texts)}
        condition = self.maybe(self.condition) or TRUE
        return {"kind": self.some(list(CheckKind)), "condition": condition, "type": self.maybe(self.a_type), **shown}

    def opaque(self) -> dict[str, Any]:
        names = {"reads": self.some(((), ("x",))), "writes": self.some(((), ("x", "y z")))}
        return {
            "reason": self.draw(texts),
            "kind": self.some(list(OpaqueKind)),
            "operands": self.expressions(),
            "type": self.maybe(self.a_type),
            **names,
        }

    def loop(self, depth: int) -> dict[str, Any]:
        variable = Symbol(self.fresh("i"), self.some(INTEGERS))
        values: Range | Sequence
        if self.draw(st.booleans()):
            step = Const(self.some((1, -2, 256)), INT32)
            values = Range(start=self.expression(1), stop=self.expression(1), step=step)
        else:
            condition = Apply(Operator.GREATER, (variable, Const(0, variable.dtype)), BOOL)
            halved = Apply(Operator.SHIFT_RIGHT_ARITHMETIC, (variable, Const(1, INT32)), variable.dtype)
            values = Sequence(start=self.expression(1), condition=condition, next=halved)
        body = self.region(depth - 1, variable, is_loop=True)
        return {"variable": variable.name, "values": values, "body": body, "kind": self.some(list(AxisKind))}

    def while_(self, depth: int) -> dict[str, Any]:
        regions = {"test": self.region(depth - 1, is_loop=True), "body": self.region(depth - 1, is_loop=True)}
        return {"condition": self.condition(), "body_first": self.draw(st.booleans()), **regions}

    def branch(self, depth: int) -> dict[str, Any]:
        return {
            "condition": self.condition(),
            "then": self.region(depth - 1),
            "otherwise": self.region(depth - 1),
        }


_FIELDS: dict[type[Operation], Any] = {
    Alloc: _Maker.alloc,
    Load: _Maker.load,
    Store: _Maker.store,
    Copy: _Maker.copy,
    Compute: _Maker.compute,
    Cast: _Maker.cast,
    Reduce: _Maker.reduce,
    Scan: _Maker.scan,
    Matmul: _Maker.matmul,
    Transpose: _Maker.transpose,
    Exchange: _Maker.exchange,
    Select: _Maker.select,
    Barrier: _Maker.barrier,
    Fence: _Maker.fence,
    Atomic: _Maker.atomic,
    Random: _Maker.random,
    Sample: _Maker.sample,
    Sort: _Maker.sort,
    Collective: _Maker.collective,
    Return: _Maker.returned,
    Call: _Maker.call,
    Assume: _Maker.assume,
    Check: _Maker.check,
    Opaque: _Maker.opaque,
}
_NESTED: dict[type[Operation], Any] = {Loop: _Maker.loop, While: _Maker.while_, Branch: _Maker.branch}
KINDS = frozenset({*_FIELDS, *_NESTED, Leave})
