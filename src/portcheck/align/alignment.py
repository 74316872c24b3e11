"""What answers what: parameters, outputs, sizes and reductions of the two programs, with the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, permutations

from portcheck.align.dtypes import promoted_from
from portcheck.align.handed_back import unwritten
from portcheck.align.inputs import Match, match_inputs, signatures
from portcheck.align.names import likeness
from portcheck.align.reductions import ReductionMatch, match_reductions, principal
from portcheck.align.sizes import Sizes, covered, learn, learn_strides
from portcheck.core.dtype import DType, dtype_of
from portcheck.ir import Polynomial, Program, Ranges, expressions, kernel_operations, symbols_in
from portcheck.ir.polynomial import symbol
from portcheck.passes import Facts
from portcheck.values import Contract, Evaluated, Fold, Piece
from portcheck.values.equality import Equality, Outcome, compare
from portcheck.values.renaming import Names, refused, renamed, renamed_term


@dataclass(frozen=True, slots=True)
class OutputMatch:
    """An output of the original, its counterpart, and what the comparison of their contracts gave.

    `nki_contract` is in the original's names. `assumptions` are what the comparison takes for granted.
    """

    cuda: str
    nki: str | None
    evidence: str
    cuda_contract: Contract
    nki_contract: Contract | None
    equality: Equality
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alignment:
    """The correspondence of two programs.

    `names` turns the port's names into the original's; `original_sizes` are sizes of the original that the port
    expresses by several of its own.
    """

    inputs: tuple[Match, ...]
    scalars: tuple[Match, ...]
    outputs: tuple[OutputMatch, ...]
    reductions: tuple[ReductionMatch, ...]
    names: Names
    ranges: Ranges
    original_sizes: Mapping[str, Polynomial] = field(default_factory=dict)
    extra_outputs: tuple[str, ...] = ()

    def nki_parameter(self, cuda: str) -> str | None:
        """The counterpart of the original's parameter."""
        for match in (*self.inputs, *self.scalars):
            if match.cuda == cuda:
                return match.nki
        for output in self.outputs:
            if output.cuda == cuda:
                return output.nki
        return None


_MOST_ASSIGNMENTS = 120
EXCHANGED = "makes the outputs equal"


def align(cuda: Facts, nki: Facts, original: Evaluated, port: Evaluated) -> Alignment:
    """The correspondence of two programs; never fails, a part that has no counterpart is left without one."""
    outputs = _match_outputs(cuda, nki, original, port)
    scalars = _match_scalars(cuda.program, nki.program)
    inputs = _match_inputs(cuda, nki, original, port, outputs)
    scalars = _with_tensors(scalars, inputs, nki.program)
    candidate = _Candidate(cuda, nki, original, port, outputs, inputs, scalars)
    best = candidate.solved()
    for assignment in candidate.other_assignments():
        if all(match.equality.outcome is not Outcome.UNDECIDED for match in best.outputs):
            break
        other = replace_inputs(candidate, assignment).solved()
        if _equal_outputs(other) > _equal_outputs(best):
            best = other if _is_in_order(assignment, nki.program) else _in_doubt(other)
    return best


def _is_in_order(inputs: tuple[Match, ...], port: Program) -> bool:
    """Whether the port takes the inputs in the order of the original."""
    names = _parameters(port)
    places = [names.index(match.nki) for match in inputs if match.nki in names]
    return places == sorted(places)


def _in_doubt(alignment: Alignment) -> Alignment:
    """`alignment` without its proofs: they need inputs in another order, and neither name nor use says so."""
    exchanged = [f"{match.nki} stands for {match.cuda}" for match in alignment.inputs if match.evidence == EXCHANGED]
    doubt = Equality(Outcome.UNDECIDED, f"it is equal only if {' and '.join(exchanged)}, which is another order")
    outputs = (
        replace(output, equality=doubt) if output.equality.outcome is Outcome.EQUAL else output
        for output in alignment.outputs
    )
    return replace(alignment, outputs=tuple(outputs))


def _equal_outputs(alignment: Alignment) -> int:
    return sum(match.equality.outcome is Outcome.EQUAL for match in alignment.outputs)


def _buffers(program: Program, names: list[str]) -> dict[str, DType]:
    dtypes = {parameter.name: parameter.type.dtype for kernel in program.kernels for parameter in kernel.parameters}
    return {name: dtypes[name] for name in names if name in dtypes}


def _is_used(name: str, facts: Facts) -> bool:
    """Whether a parameter is used at all; one that is not may be a buffer or a scalar."""
    return any(name in symbols_in(part) for op in kernel_operations(facts.program) for part in expressions(op)) or (
        name in facts.usage.read | facts.usage.written
    )


def _match_outputs(cuda: Facts, nki: Facts, original: Evaluated, port: Evaluated) -> dict[str, tuple[str | None, str]]:
    """The output of the port for each of the original."""
    left, right = list(cuda.usage.outputs), list(nki.usage.outputs)
    scored = []
    for left_place, name in enumerate(left):
        for right_place, other in enumerate(right):
            score, evidence = _output_score(original.contract(name), port.contract(other), name, other)
            scored.append((-score, abs(left_place - right_place), left_place, name, other, evidence))
    found: dict[str, tuple[str | None, str]] = {}
    taken: set[str] = set()
    for _, _, _, name, other, evidence in sorted(scored):
        if name not in found and other not in taken:
            found[name] = (other, evidence + _place_among_results(nki.program, other))
            taken.add(other)
    return {name: found.get(name, (None, "the port stores and returns nothing in its place")) for name in left}


def _place_among_results(program: Program, output: str) -> str:
    """Which of several results of the port an output is: a caller that takes them in order depends on it."""
    results = [name for kernel in program.kernels for name in kernel.results]
    return f", result {results.index(output) + 1} of {len(results)}" if output in results[:-1] + results[1:] else ""


def _output_score(left: Contract | None, right: Contract | None, name: str, other: str) -> tuple[float, str]:
    alike = likeness(name, other)
    evidence = ["same name"] if alike == 1.0 else (["similar name"] if alike else [])
    score = 2 * alike
    if left and right and left.pieces and right.pieces:
        if len(left.pieces[0].bounds) == len(right.pieces[0].bounds):
            score += 3
            evidence.append("as many axes")
        uses, others = signatures(left.pieces), signatures(right.pieces)
        if sorted(map(sorted, uses.values())) == sorted(map(sorted, others.values())):
            score += 2
            evidence.append("inputs read along the same axes")
        elif len(uses) == len(others):
            score += 1
    return score, ", ".join(evidence) or "in order"


def _match_scalars(cuda: Program, nki: Program) -> tuple[Match, ...]:
    scalars = [p.name for kernel in cuda.kernels for p in kernel.parameters if not p.is_buffer]
    left = list(dict.fromkeys(scalars))
    right = [p.name for kernel in nki.kernels for p in kernel.parameters if not p.is_buffer]
    matches = {}
    for name in left:
        best = max(right, key=lambda other: likeness(name, other), default=None)
        if best is not None and likeness(name, best) > 0:
            matches[name] = Match(name, best, "same name" if best == name else "similar name")
            right.remove(best)
    floats = _float_scalars(cuda)
    alone = [name for name in left if name not in matches and name in floats]
    if alone and len(alone) == len(right):
        evidence = "the only scalar left on both sides" if len(alone) == 1 else "what is left on both sides, in order"
        matches.update({name: Match(name, other, evidence) for name, other in zip(alone, right, strict=True)})
    return tuple(matches.get(name, Match(name, None, "no scalar parameter of the port")) for name in left)


def _with_tensors(scalars: tuple[Match, ...], inputs: tuple[Match, ...], nki: Program) -> tuple[Match, ...]:
    """`scalars` with those that became a tensor of the port, by name."""
    taken = {match.nki for match in inputs}
    free = [name for name in _parameters(nki) if name not in taken]
    found = []
    for match in scalars:
        best = max(free, key=lambda other: likeness(match.cuda, other), default=None)
        if match.nki is None and best is not None and likeness(match.cuda, best) > 0:
            free.remove(best)
            match = Match(match.cuda, best, "similar name; a scalar in the original, a tensor in the port")
        found.append(match)
    return tuple(found)


def _float_scalars(program: Program) -> set[str]:
    return {p.name for k in program.kernels for p in k.parameters if not p.is_buffer and p.type.dtype.is_float}


def _match_inputs(
    cuda: Facts, nki: Facts, original: Evaluated, port: Evaluated, outputs: dict[str, tuple[str | None, str]]
) -> tuple[Match, ...]:
    written = {other for other, _ in outputs.values()}
    left = _buffers(cuda.program, [n for n in _parameters(cuda.program) if n in cuda.usage.read])
    left = {name: dtype for name, dtype in left.items() if name not in cuda.usage.written or _is_inout(name, cuda)}
    names = [n for n in _parameters(nki.program) if n not in nki.usage.outputs or n in nki.usage.read_for_outputs]
    names += [p.name for kernel in nki.program.kernels for p in kernel.parameters if not _is_used(p.name, nki)]
    right = {
        name: dtype for name, dtype in _buffers(nki.program, names).items() if name not in written - nki.usage.read
    }
    uses: dict[str, frozenset[tuple[str, ...]]] = {}
    others: dict[str, frozenset[tuple[str, ...]]] = {}
    for name, (other, _) in outputs.items():
        mine, theirs = original.contract(name), port.contract(other) if other else None
        if mine and theirs:
            _extend(uses, signatures(mine.pieces))
            _extend(others, signatures(theirs.pieces))
    return match_inputs(left, right, uses, others)


def _is_inout(name: str, facts: Facts) -> bool:
    return name in facts.usage.read_for_outputs and name not in facts.usage.outputs


def _extend(total: dict[str, frozenset[tuple[str, ...]]], more: dict[str, frozenset[tuple[str, ...]]]) -> None:
    for name, uses in more.items():
        total[name] = total.get(name, frozenset()) | uses


def _parameters(program: Program) -> list[str]:
    return [p.name for kernel in program.kernels for p in kernel.parameters if p.is_buffer]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One assignment of parameters, from which sizes, contracts and reductions follow."""

    cuda: Facts
    nki: Facts
    original: Evaluated
    port: Evaluated
    output_names: dict[str, tuple[str | None, str]]
    inputs: tuple[Match, ...]
    scalars: tuple[Match, ...]

    def other_assignments(self) -> list[tuple[Match, ...]]:
        """Assignments that exchange the port's inputs, those nearest to the chosen one first."""
        matched = [match for match in self.inputs if match.nki is not None and not likeness(match.cuda, match.nki)]
        if len(matched) < 2:
            return []
        orders = islice(permutations(range(len(matched))), 1, _MOST_ASSIGNMENTS)
        found = []
        for order in orders:
            exchanged = {
                match.cuda: replace(match, nki=matched[place].nki, evidence=EXCHANGED)
                for match, place in zip(matched, order, strict=True)
            }
            found.append(tuple(exchanged.get(match.cuda, match) for match in self.inputs))
        return found

    def solved(self) -> Alignment:
        """The alignment that follows from this assignment."""
        sizes = self._sizes()
        ranges = self._ranges(sizes)
        names = Names(self._renamings(), sizes.port, self._dtypes())
        mine = Names({}, sizes.original)
        outputs = tuple(self._output(name, names, mine, ranges, sizes) for name in self.output_names)
        return Alignment(
            inputs=self.inputs,
            scalars=self.scalars,
            outputs=outputs,
            reductions=self._reductions(names, mine, ranges),
            names=names,
            ranges=ranges,
            original_sizes=sizes.original,
            extra_outputs=self._extra_outputs(),
        )

    def _renamings(self) -> dict[str, str]:
        found = {match.nki: match.cuda for match in (*self.inputs, *self.scalars) if match.nki is not None}
        for name, (other, _) in self.output_names.items():
            if other is not None:
                found.setdefault(other, name)
        for kernel in self.nki.program.kernels:
            for parameter in kernel.parameters:
                found.setdefault(parameter.name, f"port.{parameter.name}")
        return found

    def _dtypes(self) -> dict[str, DType]:
        """What the dtypes that the port leaves open are taken to be: those of the parameters they are named after."""
        found: dict[str, DType] = {}
        for match in (*self.inputs, *self.scalars):
            if match.nki is not None and match.cuda in self.cuda.precision.storage:
                found[dtype_of(match.nki).name] = self.cuda.precision.storage[match.cuda]
        for dtype in self.nki.precision.storage.values():
            promoted = promoted_from(dtype, found)
            if promoted is not None:
                found[dtype.name] = promoted
        return found

    def _sizes(self) -> Sizes:
        sizes = Sizes(shapes=_extents(self.nki.program))
        fixed = frozenset(p.name for kernel in self.cuda.program.kernels for p in kernel.parameters if not p.is_buffer)
        for match in self.scalars:
            if (
                match.nki is not None
                and match.nki != match.cuda
                and match.cuda not in _float_scalars(self.cuda.program)
            ):
                sizes.port[match.nki] = symbol(match.cuda)
        inputs = {match.nki: match.cuda for match in self.inputs if match.nki is not None}
        for name, (other, _) in self.output_names.items():
            mine = self.original.contract(name)
            theirs = self.port.contract(other) if other else None
            if not mine or not theirs or mine.problem or theirs.problem:
                continue
            if mine.pieces and theirs.pieces:
                learn(sizes, mine.pieces[0], theirs.pieces[0], fixed | _launch_symbols(mine.pieces[0]))
                learn_strides(sizes, mine.pieces[0], theirs.pieces[0], inputs)
        for assertion in self.nki.assertions:
            if assertion.kind == "equal":
                sizes.assert_equal(assertion.value, assertion.limit)
        return sizes

    def _ranges(self, sizes: Sizes) -> Ranges:
        divisors = [(sizes.in_original(value), sizes.in_original(by)) for value, by in self.port.ranges.divisors]
        return Ranges(divisors=(*self.original.ranges.divisors, *divisors))

    def _output(self, name: str, names: Names, mine: Names, ranges: Ranges, sizes: Sizes) -> OutputMatch:
        other, evidence = self.output_names[name]
        contract = self.original.contract(name) or Contract(name, (), "the output is not written")
        contract, is_taken = _as_launched(renamed(contract, name, mine, ranges))
        if other is None:
            found = Equality(Outcome.MISSING, evidence)
            if not self.nki.is_understood:
                found = Equality(Outcome.UNDECIDED, f"{evidence}, and not all of the port was understood")
            return OutputMatch(name, None, evidence, contract, None, found)
        theirs = self.port.contract(other) or Contract(other, (), "the output is not written")
        theirs = renamed(theirs, name, names, ranges)
        exchanged = [f"{match.nki} stands for {match.cuda}" for match in self.inputs if match.evidence == EXCHANGED]
        launched = ("the launch covers every element that the guards let through",) if is_taken else ()
        equality = compare(contract, theirs, ranges)
        beside = unwritten(self.nki.program, other, theirs, sizes, ranges) if not equality.reason else ()
        assumed = (*launched, *beside, *sizes.assumptions, *self.original.assumptions, *self.port.assumptions)
        return OutputMatch(name, other, evidence, contract, theirs, equality, (*exchanged, *assumed))

    def _reductions(self, names: Names, mine: Names, ranges: Ranges) -> tuple[ReductionMatch, ...]:
        left = tuple(_named(fold, mine, ranges) for fold in principal(self.original.folds))
        right = tuple(_named(fold, names, ranges) for fold in principal(self.port.folds))
        return match_reductions(left, right)

    def _extra_outputs(self) -> tuple[str, ...]:
        taken = {other for other, _ in self.output_names.values()}
        return tuple(name for name in self.nki.usage.outputs if name not in taken)


def replace_inputs(candidate: _Candidate, inputs: tuple[Match, ...]) -> _Candidate:
    """`candidate` with another assignment of inputs."""
    return replace(candidate, inputs=inputs)


def _extents(program: Program) -> frozenset[str]:
    """The symbols that shapes of parameters are made of."""
    shapes = (parameter.type.shape for kernel in program.kernels for parameter in kernel.parameters)
    return frozenset(name for shape in shapes for extent in shape for name in symbols_in(extent))


def _launch_symbols(piece: Piece) -> frozenset[str]:
    return frozenset(name for bound in piece.bounds for name in bound.stop.symbols if name.startswith("gridDim."))


def _as_launched(contract: Contract) -> tuple[Contract, bool]:
    """The contract under a launch that covers every element its guards let through, and whether that was needed."""
    pieces, is_taken = [], False
    for piece in contract.pieces:
        found = [covered(bound.stop) for bound in piece.bounds]
        is_taken = is_taken or any(was_limited for _, was_limited in found)
        bounds = tuple(replace(bound, stop=stop) for bound, (stop, _) in zip(piece.bounds, found, strict=True))
        pieces.append(replace(piece, bounds=bounds))
    return replace(contract, pieces=tuple(pieces)), is_taken


def _named(fold: Fold, names: Names, ranges: Ranges) -> Fold:
    term = refused(renamed_term(fold, names, ranges), ranges)
    return term if isinstance(term, Fold) else fold
