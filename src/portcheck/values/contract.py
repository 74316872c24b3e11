"""What each output of a program is: value, address and domain, for all elements at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from portcheck.core.source import NOWHERE, Span
from portcheck.ir import (
    Kernel,
    Launch,
    Operator,
    Order,
    Polynomial,
    Program,
    Ranges,
    Side,
    WriteMode,
    definitions,
    number,
)
from portcheck.ir.algebra import replace_symbols
from portcheck.ir.polynomial import symbol
from portcheck.ir.ranges import INDEX_MARK
from portcheck.numerics import Stage
from portcheck.values.evaluation import State, initial_state, pruned
from portcheck.values.folds import fold
from portcheck.values.fusion import Quantified, counted_from_zero, fuse, ranges_of, unit, without_unused
from portcheck.values.interpretation import run
from portcheck.values.lanes import settled
from portcheck.values.memory import Buffer, Event, Havoc, Write
from portcheck.values.splitting import in_rows
from portcheck.values.terms import (
    Bound,
    Carried,
    Condition,
    Element,
    Fold,
    Function,
    IsZero,
    Leader,
    Moved,
    Term,
    Unknown,
    condition_symbols,
    condition_terms,
    has_kind,
    subterms,
    symbols_of,
)
from portcheck.values.views import without_punning


@dataclass(frozen=True, slots=True)
class Piece:
    """Elements that one store produces: `value` at `address` for all `bounds` for which `conditions` hold.

    `is_optional` says that a pointer of the kernel must not be null for it.
    """

    bounds: tuple[Bound, ...]
    conditions: tuple[Condition, ...]
    address: Polynomial
    value: Term
    span: Span = NOWHERE
    operation: int = 0
    is_optional: bool = False


_SHARED = "the launch passes one buffer for several parameters"
_REPEATED = "the kernel is launched several times, and what the launches do one after the other is not followed"


@dataclass(frozen=True, slots=True)
class Contract:
    """What an output holds after the program. `problem` says why it could not be summarised; empty if it could."""

    output: str
    pieces: tuple[Piece, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A program's contracts, every reduction found on the way, what is known of sizes, what was assumed."""

    contracts: tuple[Contract, ...]
    folds: tuple[Fold, ...]
    ranges: Ranges
    assumptions: tuple[str, ...]

    def contract(self, output: str) -> Contract | None:
        """The contract of `output`."""
        return next((contract for contract in self.contracts if contract.output == output), None)

    def doubted(self, problem: str) -> Evaluated:
        """The same, every contract with a problem: something that is not in the program may write the outputs."""
        return replace(self, contracts=tuple(replace(contract, problem=problem) for contract in self.contracts))


def evaluate(program: Program) -> Evaluated:
    """The contracts of `program`: of every buffer parameter it writes and every buffer it returns."""
    memory: dict[str, tuple[Event, ...]] = {}
    contracts: dict[str, Contract] = {}
    folds: list[Fold] = []
    assumptions: list[str] = []
    ranges = Ranges()
    for launch in program.launches:
        kernel = program.kernel(launch.kernel)
        state = _finished(program, launch, memory)
        ranges = state.threads.ranges
        assumptions.extend(state.assumptions)
        assumptions.extend(f"{name} is read only where it was written" for name in dict.fromkeys(state.trusted))
        names = dict(launch.arguments)
        for buffer in _outputs(kernel, state):
            outside = names.get(buffer.name, buffer.name)
            before = memory.get(outside, ())
            if buffer.events == before:
                continue
            again = (Havoc(_REPEATED),) if launch.is_repeated else ()
            buffer = replace(buffer, events=(*before, *_over_the_grid(buffer.events[len(before) :], state), *again))
            memory[outside] = buffer.events
            contracts[outside] = _contract(outside, buffer, state, kernel)
        folds.extend(_folds(state))
    unique = tuple(dict.fromkeys(assumptions))
    seen = tuple(contract for name, contract in contracts.items() if name not in program.temporaries)
    return Evaluated(seen, tuple(dict.fromkeys(folds)), ranges, unique)


def _finished(program: Program, launch: Launch, memory: dict[str, tuple[Event, ...]]) -> State:
    kernel = program.kernel(launch.kernel)
    state = initial_state(kernel, launch, is_trusted=program.side is Side.CUDA)
    names = dict(launch.arguments)
    passed = [names.get(parameter.name, parameter.name) for parameter in kernel.parameters if parameter.is_buffer]
    for name, buffer in state.buffers.items():
        outside = names.get(name, name)
        is_input = buffer.is_input and outside not in program.temporaries
        events = memory.get(outside, ()) if passed.count(outside) == 1 else (Havoc(_SHARED),)
        state.buffers[name] = replace(buffer, events=events, is_input=is_input)
    run(state, without_punning(kernel))
    return state


def _outputs(kernel: Kernel, state: State) -> list[Buffer]:
    parameters = [parameter.name for parameter in kernel.parameters if parameter.is_buffer]
    names = dict.fromkeys([*parameters, *kernel.results])
    return [state.buffers[name] for name in names if name in state.buffers and state.buffers[name].events]


def _over_the_grid(new_events: tuple[Event, ...], state: State) -> tuple[Event, ...]:
    """What one block did as what all blocks did."""
    events: list[Event] = []
    for event in new_events:
        if isinstance(event, Write):
            bounds = (*event.scope.bounds, *state.threads.grid)
            event = replace(event, scope=replace(event.scope, bounds=bounds))
        events.append(event)
    return tuple(events)


def _contract(output: str, buffer: Buffer, state: State, kernel: Kernel) -> Contract:
    pieces: list[Piece] = []
    places = definitions(kernel)
    for event in buffer.events:
        if isinstance(event, Havoc):
            return Contract(output, tuple(pieces), event.reason)
        if not isinstance(event, Write):
            return Contract(output, tuple(pieces), "a loop over the output was not followed")
        span = places[event.operation].span if event.operation in places else NOWHERE
        piece = _piece(event, buffer, state, span)
        if piece is None:
            continue
        piece = replace(piece, span=span, operation=event.operation)
        pieces = [other for other in pieces if not _replaces(piece, other)]
        pieces.append(piece)
    return Contract(output, tuple(pieces), _problem(pieces))


def _replaces(later: Piece, earlier: Piece) -> bool:
    """Whether `later` writes every element that `earlier` wrote."""
    same_bounds = [bound.stop for bound in later.bounds] == [bound.stop for bound in earlier.bounds]
    return same_bounds and not later.conditions and address_form(later) == address_form(earlier)


def address_form(piece: Piece) -> Polynomial:
    """Where a piece writes, over names for its coordinates that do not depend on how it was written."""
    return replace_symbols(piece.address, canonical(piece))


def canonical(piece: Piece) -> dict[str, Polynomial]:
    """Names for the coordinates of a piece that do not depend on how it was written."""
    return {bound.variable: symbol(f"$i{place}") for place, bound in enumerate(piece.bounds)}


def _piece(event: Write, buffer: Buffer, state: State, span: Span) -> Piece | None:
    ranges = state.threads.ranges
    scope = event.scope
    value = settled(scope.value, ranges)
    scope = replace(scope, index=(buffer.address(scope.index),), value=value)
    fused = fuse(scope, ranges)
    if fused is None:
        return None
    if event.mode is WriteMode.ADD:
        fused = _collected(fused, buffer, event, ranges, span)
    fused = counted_from_zero(fused, ranges)
    used = in_rows(fuse(fused, ranges) or fused, ranges)
    used = without_unused(used, state.threads.names())
    value = pruned(used.value, ranges_of(used.bounds, ranges), used.conditions)
    demanded = tuple(part for part in used.conditions if not _is_null_test(part, state))
    is_optional = len(demanded) < len(used.conditions)
    return Piece(_ordered(used), demanded, used.index[0], value, is_optional=is_optional)


def _is_null_test(condition: Condition, state: State) -> bool:
    """Whether a condition only asks whether a pointer is null."""
    pointers = {name for name, buffer in state.buffers.items() if buffer.is_input}
    return isinstance(condition, IsZero) and condition.negated and condition.value.symbols <= pointers


def _collected(scope: Quantified, buffer: Buffer, event: Write, ranges: Ranges, span: Span) -> Quantified:
    """An accumulating write as what was there plus the sum over everything that hits the same element."""
    own = tuple(bound for bound in scope.bounds if bound.variable in scope.index[0].symbols)
    others = tuple(bound for bound in scope.bounds if bound not in own)
    terms = number(1)
    for bound in others:
        terms = terms * bound.stop
    names = {bound.variable for bound in others}
    inner = tuple(part for part in scope.conditions if names & condition_symbols(part))
    stage = Stage(
        name="atomic",
        terms=terms,
        order=Order.ANY,
        dtype=buffer.dtype,
        span=span,
        operations=frozenset({event.operation}),
        buffer=buffer.name,
    )
    total = fold(Operator.ADD, others, scope.value, stage, ranges_of(own, ranges), inner)
    before = Element(buffer.name, scope.index[0])
    outer = tuple(part for part in scope.conditions if part not in inner)
    return Quantified(own, outer, scope.index, Function(Operator.ADD, (before, total)))


def _ordered(scope: Quantified) -> tuple[Bound, ...]:
    """The bounds, largest stride first."""

    def stride(bound: Bound) -> tuple[int, int, str]:
        coefficient = scope.index[0].coefficient(bound.variable)
        if coefficient is None:
            return (0, 0, bound.variable)
        degree = max((len(monomial) for monomial, _ in coefficient.terms), default=0)
        return (-degree, -(coefficient.constant or 0), str(coefficient))

    return tuple(sorted(scope.bounds, key=stride))


def _problem(pieces: list[Piece]) -> str:
    for piece in pieces:
        names = {bound.variable for bound in piece.bounds}
        if names - piece.address.symbols:
            return "an element is written more than once, with different values"
        if not all(map(unit, piece.bounds)):
            return "an index of the output runs in steps"
        problem = unknown_part(piece.value) or _unbound_part(piece, names) or _unknown_guard(piece)
        if problem:
            return problem
    return ""


def _unbound_part(piece: Piece, names: set[str]) -> str:
    """The index that is left over with no bound over it, as a problem; empty if there is none."""
    used = piece.address.symbols | symbols_of(piece.value)
    used = used.union(*(condition_symbols(condition) for condition in piece.conditions))
    left = sorted(name for name in used - names if name.startswith(INDEX_MARK))
    if any(name.startswith("%") for name in used):
        return "an index depends on data"
    return f"an element depends on {left[0].lstrip(INDEX_MARK)}, which is not followed" if left else ""


def _unknown_guard(piece: Piece) -> str:
    """Why a condition of the store is not fully understood; empty if it is."""
    terms = [term for condition in piece.conditions for term in condition_terms(condition)]
    return next(filter(None, map(unknown_part, terms)), "")


def unknown_part(value: Term) -> str:
    """Why `value` is not fully understood; empty if it is."""
    for node in subterms(value):
        match node:
            case Unknown(reason):
                return reason
            case Leader():
                return "a value that only lane 0 holds is used by other lanes"
            case Moved():
                return "a shuffle is not part of a reduction"
            case Carried(buffer):
                return f"an iteration reads what another left in {buffer}"
            case _:
                continue
    return ""


def _folds(state: State) -> list[Fold]:
    """Every reduction in what any buffer holds, outermost first."""
    found: list[Fold] = []
    for buffer in state.buffers.values():
        for event in buffer.events:
            if isinstance(event, Write) and has_kind(event.scope.value, Fold):
                found.extend(node for node in subterms(event.scope.value) if isinstance(node, Fold))
    return found
