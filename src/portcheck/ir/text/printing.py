"""Printing programs in the text form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import assert_never

from portcheck.core.dtype import INT32, DType
from portcheck.ir.access import Access
from portcheck.ir.expr import TRUE, Expr, Symbol, subexpressions
from portcheck.ir.iteration import Range
from portcheck.ir.iteration import Sequence as Steps
from portcheck.ir.kernel import Kernel, Launch, Parameter, Program
from portcheck.ir.kinds import OpaqueKind, Order, Outside, Scope
from portcheck.ir.operators import Operator
from portcheck.ir.ops import (
    Alloc,
    Assume,
    Atomic,
    Barrier,
    Branch,
    Call,
    Cast,
    Check,
    Collective,
    Compute,
    Copy,
    Exchange,
    Fence,
    Leave,
    Load,
    Loop,
    Matmul,
    Op,
    Opaque,
    Random,
    Reduce,
    Return,
    Sample,
    Scan,
    Select,
    Sort,
    Store,
    Transpose,
    While,
)  # fmt: skip
from portcheck.ir.text.clauses import (
    default_clause,
    flag_clause,
    integers_clause,
    joined,
    memory_order_clause,
    name_clause,
    names_clause,
    order_clause,
    rounding_clause,
    unless,
    written,
)  # fmt: skip
from portcheck.ir.text.expression_printing import ExpressionPrinter
from portcheck.ir.text.spelling import INDENT, REGION_LIMIT, IrTextError, dtype_text, name_text, quoted
from portcheck.ir.text.uses import use_lines
from portcheck.ir.types import AxisKind
from portcheck.ir.uses import expressions_of_use
from portcheck.ir.walk import expressions, kernel_operations


def print_program(program: Program) -> str:
    """The text form of `program`. Raises IrTextError when it is nested deeper than the form allows."""
    return "\n".join(_Printer(program.path, symbol_dtypes(program)).program_lines(program)) + "\n"


def symbol_dtypes(program: Program) -> dict[str, DType]:
    """The commonest dtype of each symbol of `program`, in order of appearance."""
    counts: dict[str, Counter[DType]] = {}
    for expression in _all_expressions(program):
        for node in subexpressions(expression):
            if isinstance(node, Symbol):
                counts.setdefault(node.name, Counter())[node.dtype] += 1
    return {name: counter.most_common(1)[0][0] for name, counter in counts.items()}


def _all_expressions(program: Program) -> Iterator[Expr]:
    for launch in program.launches:
        yield from (*launch.grid, *launch.block)
        if launch.shared_bytes is not None:
            yield launch.shared_bytes
        yield from (value for _, value in launch.values)
    for kernel in program.kernels:
        for parameter in kernel.parameters:
            yield from parameter.type.shape
        yield from (axis.extent for axis in kernel.axes if axis.extent is not None)
        for definition in kernel.definitions:
            yield from (Symbol(definition.name, definition.value.dtype), definition.value)
        yield from (chosen.condition for chosen in kernel.dtypes)
    for op in kernel_operations(program):
        yield from expressions(op)
    for use in program.uses:
        yield from expressions_of_use(use)


class _Printer(ExpressionPrinter):
    """Prints the lines of a program."""

    # Programs, kernels, regions

    def program_lines(self, program: Program) -> Iterator[str]:
        version = f" version {quoted(program.version)}" if program.version else ""
        stated = " stated" if program.is_version_stated else ""
        yield f"program {program.side} {quoted(program.path)}{version}{stated}"
        yield from (f"note {quoted(note)}" for note in program.notes)
        if program.flags:
            yield f"flags {', '.join(map(name_text, program.flags))}"
        if program.temporaries:
            yield f"temporaries {', '.join(map(name_text, program.temporaries))}"
        groups: dict[DType, list[str]] = {}
        for name, dtype in self.symbols.items():
            groups.setdefault(dtype, []).append(name_text(name))
        groups.pop(INT32, None)
        yield from (f"symbols {dtype_text(dtype)}: {', '.join(names)}" for dtype, names in groups.items())
        yield from (self.launch(launch) for launch in program.launches)
        for kernel in program.kernels:
            yield from self.kernel_lines(kernel)
        for use in program.uses:
            yield from use_lines(self, use)

    def launch(self, launch: Launch) -> str:
        renamed = ", ".join(f"{name_text(name)} = {name_text(given)}" for name, given in launch.arguments)
        stated = ", ".join(f"{name_text(name)} = {self.expression(value)}" for name, value in launch.values)
        return joined(
            f"launch {name_text(launch.kernel)}",
            self.clause("grid", launch.grid),
            self.clause("block", launch.block),
            self.optional("shared_bytes", launch.shared_bytes),
            f"arguments({renamed})" if renamed else "",
            f"values({stated})" if stated else "",
            "repeated" if launch.is_repeated else "",
            "" if launch.span is None else self.span(launch.span),
        )

    def kernel_lines(self, kernel: Kernel) -> Iterator[str]:
        yield joined(
            f"kernel {name_text(kernel.name)}", names_clause("results", kernel.results), self.place(kernel.span)
        )
        yield from (INDENT + self.parameter(parameter) for parameter in kernel.parameters)
        yield from (f"{INDENT}axis {self.axis(axis)}" for axis in kernel.axes)
        for definition in kernel.definitions:
            yield f"{INDENT}define {name_text(definition.name)} = {self.expression(definition.value)}"
        for chosen in kernel.dtypes:
            dtypes = ", ".join(map(dtype_text, (chosen.dtype, chosen.first, chosen.second)))
            yield f"{INDENT}dtypes {dtypes} if {self.expression(chosen.condition)}"
        yield from self.region(kernel.body, 1)

    def parameter(self, parameter: Parameter) -> str:
        return joined(
            f"{'buffer' if parameter.is_buffer else 'scalar'} {name_text(parameter.name)}: {self.type(parameter.type)}",
            "const" if parameter.constant else "",
            self.clause("initial", parameter.initial),
            default_clause(parameter.default),
            self.place(parameter.span),
        )

    def region(self, body: Iterable[Op], depth: int) -> Iterator[str]:
        if depth > REGION_LIMIT:
            raise IrTextError(f"regions are nested deeper than {REGION_LIMIT}")
        for op in body:
            value_type = None if isinstance(op, Alloc) else getattr(op, "type", None)
            sign = ":" if value_type is None else " ="
            via = f"via {quoted(op.via)}" if op.via else ""
            result = "" if value_type is None else f"-> {self.type(value_type)}"
            yield INDENT * depth + joined(f"%{op.id}{sign}", self.operation(op), result, via, self.place(op.span))
            yield from self.nested(op, depth)
            if value_type is not None:
                self.results[op.id] = value_type.dtype

    def nested(self, op: Op, depth: int) -> Iterator[str]:
        match op:
            case Loop():
                yield from self.region(op.body, depth + 1)
            case Branch():
                yield from self.region(op.then, depth + 1)
                if op.otherwise:
                    yield f"{INDENT * depth}else"
                    yield from self.region(op.otherwise, depth + 1)
            case While():
                yield f"{INDENT * (depth + 1)}test"
                yield from self.region(op.test, depth + 2)
                yield f"{INDENT * (depth + 1)}condition {self.expression(op.condition)}"
                yield f"{INDENT * (depth + 1)}body"
                yield from self.region(op.body, depth + 2)
            case _:
                pass

    # Operations, without id, result type, via and place

    def operation(self, op: Op) -> str:
        match op:
            case Alloc():
                base = f"of {name_text(op.base)}" if op.base else ""
                return joined(
                    f"alloc {name_text(op.name)}: {self.type(op.type)}", flag_clause("dynamic", op.dynamic), base
                )
            case Load():
                return joined("load", self.access(op.access), self.optional("fill", op.fill))
            case Store():
                return joined("store", self.access(op.access), written(op, self.expression(op.value)))
            case Copy():
                return joined("copy", self.access(op.destination), written(op, self.access(op.source)))
            case Compute():
                return self.compute(op)
            case Cast():
                flags = (flag_clause("saturating", op.saturating), flag_clause("bitwise", op.bitwise))
                return joined("cast", self.expression(op.operand), rounding_clause(op.rounding), *flags)
            case Reduce():
                return self.reduce(op)
            case Scan():
                return self.scan(op)
            case Matmul():
                operands = f"{self.expression(op.stationary)}, {self.expression(op.moving)}"
                return joined("matmul", operands, f"accumulate({self.type(op.accumulate)})", order_clause(op.order))
            case Transpose():
                return f"transpose {self.expression(op.operand)} permutation({', '.join(map(str, op.permutation))})"
            case Exchange():
                return self.exchange(op)
            case Sort():
                order = flag_clause("descending", op.descending)
                return joined(f"sort {self.expression(op.operand)} dimension({op.dimension})", order)
            case Collective():
                return self.collective(op)
            case Select():
                return self.applied(Operator.SELECT, (op.condition, op.on_true, op.on_false), None, 0)[0]
            case Atomic():
                return self.atomic(op)
            case _:
                return self.effect(op)

    def effect(
        self,
        op: Barrier | Fence | Random | Sample | Loop | While | Branch | Leave | Return | Call | Assume | Check | Opaque,
    ) -> str:
        match op:
            case Barrier():
                return self.barrier(op)
            case Fence():
                return joined(f"fence {op.scope}", memory_order_clause(op.order))
            case Random():
                drawn = f"random {name_text(op.generator)}({self.list(op.operands)})"
                return joined(drawn, name_clause("state", op.state), name_clause("distribution", op.distribution))
            case Sample():
                return self.sample(op)
            case Loop():
                return self.loop(op)
            case While():
                return joined("while", "body_first" if op.body_first else "")
            case Branch():
                return f"branch {self.expression(op.condition)}"
            case Leave():
                return f"leave {op.kind}"
            case Return():
                shapes = op.shapes or ((),) * len(op.buffers)
                seen = [f"[{self.list(shape)}]" if op.shapes else "" for shape in shapes]
                return joined("return", ", ".join(map("".join, zip(map(name_text, op.buffers), seen, strict=False))))
            case Call():
                head = f"call {name_text(op.callee)}({self.list(op.arguments)})"
                return joined(head, names_clause("reads", op.reads), names_clause("writes", op.writes))
            case Assume():
                return f"assume {self.expression(op.condition)}"
            case Check():
                return self.check(op)
            case Opaque():
                kind = "" if op.kind is OpaqueKind.SYNTAX else f"kind({op.kind})"
                touched = (names_clause("reads", op.reads), names_clause("writes", op.writes))
                return joined(f"opaque {quoted(op.reason)}", kind, *touched, self.clause("operands", op.operands))
            case _:
                assert_never(op)

    def compute(self, op: Compute) -> str:
        return joined(
            "compute",
            self.applied(op.operator, op.operands, None, 0)[0],
            flag_clause("approximate", op.approximate),
            flag_clause("contractible", op.contractible),
            rounding_clause(op.rounding),
            self.optional("mask", op.mask),
        )

    def reduce(self, op: Reduce) -> str:
        return joined(
            f"reduce {op.operator}({self.expression(op.operand)})",
            integers_clause("dimensions", op.dimensions),
            *self.lanes(op),
            f"accumulate({self.type(op.accumulate)})",
            order_clause(op.order),
            flag_clause("drop_dimensions", not op.keep_dimensions),
            self.optional("mask", op.mask),
        )

    def scan(self, op: Scan) -> str:
        return joined(
            f"scan {op.operator}({self.list(op.operands)})",
            "" if op.dimension is None else f"dimension({op.dimension})",
            *self.lanes(op),
            "" if op.multiplier is None else f"multiplier({op.multiplier})",
            self.optional("initial", op.initial),
            flag_clause("exclusive", not op.inclusive),
            flag_clause("reverse", op.reverse),
            order_clause(op.order, Order.SEQUENTIAL),
            "" if op.accumulate is None else f"accumulate({self.type(op.accumulate)})",
            self.optional("mask", op.mask),
        )

    def lanes(self, op: Reduce | Scan) -> tuple[str, ...]:
        scope = "" if op.scope is Scope.WARP else f"scope({op.scope})"
        return self.optional("lanes", op.lanes), self.optional("lanes_mask", op.lanes_mask), scope

    def collective(self, op: Collective) -> str:
        return joined(
            f"collective {op.kind} {self.access(op.destination)} = {self.access(op.source)}",
            f"operator({op.operator})" if op.operator else "",
            f"dimension({op.dimension})" if op.dimension else "",
            integers_clause("ranks", op.ranks),
            f"group_size({op.group_size})" if op.group_size else "",
            self.optional("send_to", op.send_to),
            self.optional("receive_from", op.receive_from),
            integers_clause("program_axes", op.program_axes),
        )

    def sample(self, op: Sample) -> str:
        head = f"sample {op.kind}({self.list((op.texture, *op.coordinates))})"
        given = (
            f"component({op.component})" if op.component else "", self.optional("layer", op.layer),
            self.optional("level", op.level), f"filter({op.filter})" if op.filter else "",
            f"outside({op.outside})" if op.outside else "",
            {True: "normalised", False: "unnormalised", None: ""}[op.is_normalised],
        )  # fmt: skip
        return joined(head, *given)

    def exchange(self, op: Exchange) -> str:
        return joined(
            f"exchange {op.kind}({self.expression(op.operand)})",
            self.optional("lane", op.lane),
            self.optional("width", op.width),
            self.optional("lanes_mask", op.lanes_mask),
            integers_clause("pattern", op.pattern),
        )

    def barrier(self, op: Barrier) -> str:
        return joined(
            f"barrier {op.scope}",
            self.optional("participants", op.participants),
            "" if op.combine is None else f"combine({op.combine})",
            self.optional("operand", op.operand),
        )

    def check(self, op: Check) -> str:
        return joined(
            f"check {op.kind}",
            self.optional("condition", unless(op.condition, TRUE)),
            self.clause("operands", op.operands),
            f"message({quoted(op.message)})" if op.message else "",
        )

    def atomic(self, op: Atomic) -> str:
        return joined(
            f"atomic {op.operator or 'exchange'} {self.access(op.access)}",
            self.optional("value", op.value),
            self.optional("compare", op.compare),
            self.optional("limit", op.limit),
            "" if op.scope is Scope.DEVICE else f"scope({op.scope})",
            memory_order_clause(op.order),
            flag_clause("result_used", op.result_used),
            flag_clause("unique_indices", op.unique_indices),
        )

    def loop(self, op: Loop) -> str:
        texts: tuple[str, ...]
        match op.values:
            case Range(start=start, stop=stop, step=step):
                texts = (self.expression(start), "to", self.expression(stop), "step", self.expression(step))
            case Steps(start=start, condition=condition, next=following):
                texts = (
                    self.expression(start), "while", self.expression(condition), "next", self.expression(following),
                )  # fmt: skip
            case _:
                assert_never(op.values)
        kind = "" if op.kind is AxisKind.SEQUENTIAL else op.kind
        return joined(f"loop {name_text(op.variable)} =", *texts, kind)

    def access(self, access: Access) -> str:
        index = f"[{self.list(access.index)}]" if access.index else ""
        axes = ", ".join(self.axis(axis) for axis in access.axes)
        return joined(
            name_text(access.buffer) + index,
            f"over({axes})" if axes else "",
            self.optional("mask", access.mask),
            "" if access.outside is Outside.UNDEFINED else f"outside({access.outside})",
            flag_clause("volatile", access.is_volatile),
        )
