"""Lowering one kernel: what its parameters are, its body, its results; functions of the file are inlined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import libcst as cst

from portcheck.core.source import Span
from portcheck.frontends.nki.expressions.calls import invoke, kept
from portcheck.frontends.nki.expressions.evaluate import evaluate, truth
from portcheck.frontends.nki.kernels.defaults import default_of
from portcheck.frontends.nki.kernels.remembering import remembering
from portcheck.frontends.nki.lowering.accumulators import with_registers
from portcheck.frontends.nki.objects.functions import all_parameters
from portcheck.frontends.nki.objects.of_parts import wrap_parts
from portcheck.frontends.nki.objects.parameters import bind_parameters
from portcheck.frontends.nki.source.discovery import is_kernel_mark
from portcheck.frontends.nki.source.trees import is_generator, names_stored_into
from portcheck.frontends.nki.state.abbreviating import chosen_dtypes, definitions
from portcheck.frontends.nki.state.context import Context, OutOfFuelError
from portcheck.frontends.nki.state.facts import Facts
from portcheck.frontends.nki.state.failure import NeedsUnrollingError, RaisedError, ReadAgainError
from portcheck.frontends.nki.state.flow import FlowKind
from portcheck.frontends.nki.state.frame import Frame
from portcheck.frontends.nki.state.joins import Joins
from portcheck.frontends.nki.state.recorder import Recorder
from portcheck.frontends.nki.statements.assigning import bind_to
from portcheck.frontends.nki.statements.forms import forms_in
from portcheck.frontends.nki.statements.returning import emit_return
from portcheck.frontends.nki.statements.skipping import imported_name, note_calls
from portcheck.frontends.nki.statements.statements import run_block
from portcheck.frontends.nki.values.callables import Function
from portcheck.frontends.nki.values.series import as_iterator
from portcheck.frontends.nki.values.values import NONE, Items, Table, Value
from portcheck.ir import Access, Kernel, OpaqueKind, Space, ValueType
from portcheck.ir import Parameter as KernelParameter
from portcheck.ir.uses import Use
from portcheck.ir.walk import accesses, operations
from portcheck.knowledge import Knowledge, NkiVersion

CALL_DEPTH = 12
"""Calls inlined into one another; a deeper one is kept as a call."""
_PASSES = 3
_MORE_PASSES = 2
"""Further ones that are only made for tiles that a branch must keep apart."""
_STARTS = 12
"""How often one reading is begun again."""
_RESERVE = 10_000
"""Nodes that may be evaluated to find what a kernel that is given up calls."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What lowering a kernel needs from its file and the options."""

    knowledge: Knowledge
    version: NkiVersion
    target: str
    path: str
    shapes: dict[str, str]
    dtypes: dict[str, str]
    values: dict[str, str]
    find: Callable[[Context], Function | None]
    """The kernel; None when its text is not read."""
    name: str


@dataclass(frozen=True, slots=True)
class Lowered:
    """A kernel, what it uses of NKI, and the functions it is made of, each by its file and the line of its name."""

    kernel: Kernel
    uses: tuple[Use, ...] = ()
    functions: frozenset[tuple[str, int]] = frozenset()


def lower_kernel(environment: Environment, builder: Recorder, names: Sequence[str], span: Span) -> Lowered | None:
    """The kernel, whose parameters are `names`; its text is read until no further pass says more about them.

    None when it is nested too deeply to be read.
    """
    facts: dict[str, Facts] = {name: Facts() for name in names}
    joins = Joins()
    for number in range(_PASSES + _MORE_PASSES):
        made, trial = _read(environment, builder.next_id, span, facts, joins)
        for access in _accesses(made):
            if access.buffer in facts:
                facts[access.buffer].accessed(len(access.index))
        for fact in facts.values():
            fact.settle()
        revised = [fact.revised() for fact in facts.values()]
        is_wrong = made is not None and joins.found_wrong(made.kernel.body)
        if not is_wrong and not (any(revised) and number + 1 < _PASSES):
            break
    builder.go_on_at(trial.next_id)
    return made


def _read(
    environment: Environment, first_id: int, span: Span, facts: dict[str, Facts], joins: Joins
) -> tuple[Lowered | None, Recorder]:
    """One reading of the text, begun again where it shows that a parameter has more dimensions than it was given."""
    for left in range(_STARTS, -1, -1):
        trial = Recorder(first_id)
        try:
            return _lower(environment, trial, span, facts, joins, may_read_again=left > 0), trial
        except ReadAgainError:
            joins.begin()
    raise AssertionError


def _accesses(made: Lowered | None) -> Iterator[Access]:
    for op in operations(made.kernel.body) if made is not None else ():
        yield from accesses(op)


def parameter_names(node: cst.FunctionDef | cst.Lambda) -> list[str]:
    """The names of all parameters of a function."""
    return [parameter.name.value for parameter in all_parameters(node)]


def _lower(
    environment: Environment, builder: Recorder, span: Span, facts: dict[str, Facts], joins: Joins, *,
    may_read_again: bool,
) -> Lowered | None:  # fmt: skip
    context = Context(
        builder=builder, knowledge=environment.knowledge, version=environment.version, target=environment.target,
        path=environment.path, facts=facts, scalars={}, shapes=environment.shapes,
        dtypes=environment.dtypes, values=environment.values, evaluate=evaluate, call=call_function,
        invoke=invoke, run=run_block, truth=truth, assign=bind_to, joins=joins,
        may_read_again=may_read_again,
    )  # fmt: skip
    function = environment.find(context)
    if function is None:
        return None
    context.buffers.update(dict.fromkeys(facts))
    context.symbols.update(dict.fromkeys(facts))
    context.symbols.update(dict.fromkeys(name for fact in facts.values() for name in fact.names))
    frame = Frame(
        function.segment, function.home, 0, names_stored_into(function.node), function.node,
    )  # fmt: skip
    context.noted.functions[function.node] = function
    with builder.region() as body, builder.at(span):
        _run(context, frame, function)
    kernel = Kernel(
        name=environment.name,
        parameters=tuple(_parameters(context, function)),
        axes=tuple(context.program_axes.values()),
        body=with_registers(context, body),
        span=span,
        results=context.results,
        definitions=definitions(context, body),
        dtypes=chosen_dtypes(context),
    )
    context.noted.uses.extend(_forms(context, function))
    places = (item.segment.span(item.node.name) for item in context.noted.functions.values())
    reached = frozenset((place.path, place.start.line) for place in places)
    return Lowered(kernel, context.noted.merged(kernel.name), reached)


def _forms(context: Context, kernel: Function) -> Iterator[Use]:
    """The forms of Python in the functions that were evaluated."""
    for item in context.noted.functions.values():
        yield from forms_in(item, is_kernel=item is kernel, marks=_marks(context, item))


def _marks(context: Context, function: Function) -> list[cst.Decorator]:
    """The decorators of `function` that make a kernel of it."""
    found: list[cst.Decorator] = []
    for item in function.node.decorators if isinstance(function.node, cst.FunctionDef) else ():
        called = item.decorator.func if isinstance(item.decorator, cst.Call) else item.decorator
        if is_kernel_mark(imported_name(context, function.home, called), context.knowledge):
            found.append(item)
    return found


def _run(context: Context, frame: Frame, function: Function) -> None:
    try:
        bind_parameters(context, frame, function)
        flow = run_block(context, frame, function.node.body.body)
        if flow.kind is FlowKind.RETURN and not flow.is_done:
            emit_return(context, flow)
        if flow.kind is FlowKind.RAISE:
            _give_up(context, frame, "every way through the kernel that was followed ends in an error", function)
    except OutOfFuelError:
        _give_up(context, frame, "the kernel is too long to be evaluated", function)
    except (NeedsUnrollingError, RecursionError):
        _give_up(context, frame, "the kernel nests too deeply to be evaluated", function)


def _give_up(context: Context, frame: Frame, reason: str, function: Function) -> None:
    tensors = [parameter for parameter, fact in context.facts.items() if fact.is_tensor]
    written = [*tensors, *context.builder.buffers_in_sight]
    context.results = tuple(name for name in context.results if name in written)
    context.opaque(reason, function.name, writes=written, kind=OpaqueKind.LIMIT)
    context.fuel = max(context.fuel, _RESERVE)
    with suppress(OutOfFuelError):
        note_calls(context, frame, function.node, reason, may_be_noted=True)


def _parameters(context: Context, function: Function) -> Iterator[KernelParameter]:
    """The parameters, each with the parts of it that are used behind it."""
    for parameter in all_parameters(function.node):
        name, span = parameter.name.value, function.segment.span(parameter)
        made, default = _parameter(context, name, span), default_of(context, function, parameter)
        is_stated = default is not None and (default.value is None or not made.is_buffer)
        yield replace(made, default=default) if is_stated else made
        if not context.facts[name].is_tensor:
            parts = [item for item in context.parts if item.startswith((f"{name}.", f"{name}["))]
            yield from (_parameter(context, item, span) for item in parts)


def _parameter(context: Context, name: str, span: Span) -> KernelParameter:
    facts = context.facts[name]
    if facts.is_tensor:
        buffer = context.parameter_view(name).buffer
        value_type = ValueType(buffer.dtype, buffer.shape, Space.GLOBAL)
        return KernelParameter(name=name, type=value_type, is_buffer=True, span=span, constant=not facts.is_written)
    return KernelParameter(name=name, type=ValueType(context.scalar(name).dtype), is_buffer=False, span=span)


def _table(entries: dict[str, Value]) -> Table:
    return Table(dict(entries.items()))


def call_function(
    context: Context, function: Function, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    """A call of a function of the file: its body, with its parameters bound to the arguments."""
    depth = context.inlining + 1
    if depth > CALL_DEPTH:
        return kept(context, function.name, positional, keywords)
    frame = Frame(
        function.segment, function.home, depth, names_stored_into(function.node), function.node, method=function
    )
    if not _bind_arguments(context, frame, function, positional, keywords):
        return kept(context, function.name, positional, keywords)
    return remembering(context, function, frame.names, lambda: _called(context, function, frame))


def _called(context: Context, function: Function, frame: Frame) -> Value:
    context.inlining += 1
    try:
        if isinstance(function.node, cst.Lambda):
            return evaluate(context, frame, function.node.body)
        context.noted.functions[function.node] = function
        wrap_parts(context, frame, function)
        if is_generator(function.node):
            return _generated(context, frame, function)
        flow = run_block(context, frame, function.node.body.body)
    finally:
        context.inlining -= 1
    if flow.kind is FlowKind.RAISE:
        raise RaisedError
    value = flow.value if flow.kind is FlowKind.RETURN and flow.value is not None else NONE
    if frame.may_have_left:
        text = context.fresh_symbol(f"{function.name}()")
        return context.unknown(text, f"{function.name} returns from several places", value)
    return value


def _generated(context: Context, frame: Frame, function: Function) -> Value:
    """All that a generator gives, which it must do without computing: what it computes takes turns with its caller."""
    frame.given, marks = Items([], is_list=True), context.marks()
    with context.builder.region() as body, context.journal.changes() as changes:
        flow = run_block(context, frame, function.node.body.body)
    if not body and flow.kind in (FlowKind.NORMAL, FlowKind.RETURN) and not frame.may_have_left:
        return as_iterator(frame.given)
    changes.undo()
    context.release(marks)
    return context.unknown(context.fresh_symbol(f"{function.name}()"), "a generator that does more than count")


def _bind_arguments(
    context: Context, frame: Frame, function: Function, positional: Sequence[Value], keywords: dict[str, Value]
) -> bool:
    """Whether the arguments fit; the names are bound then."""
    parameters = function.node.params
    slots = [*parameters.posonly_params, *parameters.params]
    rest = dict(keywords)
    for parameter, value in zip(slots, positional, strict=False):
        frame.names[parameter.name.value] = value
    surplus = list(positional[len(slots) :])
    if surplus and not isinstance(parameters.star_arg, cst.Param):
        return False
    if isinstance(parameters.star_arg, cst.Param):
        frame.names[parameters.star_arg.name.value] = Items(surplus)
    for parameter in all_parameters(function.node):
        name = parameter.name.value
        if name in rest:
            frame.names[name] = rest.pop(name)
        elif name not in frame.names:
            if name not in function.defaults:
                return False
            frame.names[name] = function.defaults[name]
    if rest and not isinstance(parameters.star_kwarg, cst.Param):
        return False
    if isinstance(parameters.star_kwarg, cst.Param):
        frame.names[parameters.star_kwarg.name.value] = _table(rest)
    return True
