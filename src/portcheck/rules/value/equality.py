"""Whether outputs are the same real function."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.align import OutputMatch
from portcheck.core.dtype import FLOAT32, FLOAT64, DType
from portcheck.core.finding import Certainty, Severity
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.edges.examples import CUDA, NKI_CLIPPED
from portcheck.values import Contract, Fold, subterms
from portcheck.values.equality import Outcome
from portcheck.values.terms import Function, Rounded

_NKI_TWICE = NKI_CLIPPED.replace("operand0=-1.0", "operand0=-2.0")


@rule(
    "PC520",
    "equal-over-the-reals",
    Severity.NOTE,
    Certainty.CERTAIN,
    documentation="""
Both sides compute the same real function of the inputs wherever both are defined. What remains between them is
rounding (PC2xx, PC3xx) and, where stated, which elements each computes (PC40x). Arithmetic on integers is taken to be
exact; the message says so, because it is not on every engine.

**How we know.** Both outputs were derived as formulas over the inputs and brought to one normal form, in which sums and
products have no order, the exponential of a sum is the product of the exponentials, casts between floating formats are
dropped, and reductions over tiles, lanes and threads are merged; the forms are identical. Assumptions are listed with
the finding.
""",
    examples=(
        Example(title="another constant", cuda=CUDA, nki=_NKI_TWICE, hit=False),
        Example(title="the same function", cuda=CUDA, nki=NKI_CLIPPED, hit=True),
    ),
)
def equal_over_the_reals(pair: Pair) -> Iterator[Draft]:
    """Both sides compute the same real function."""
    for output in pair.alignment.outputs:
        if output.equality.outcome is not Outcome.EQUAL:
            continue
        assumed = f" Taken for granted: {'; '.join(output.assumptions)}." if output.assumptions else ""
        where = f", {output.equality.reason}" if output.equality.reason else ""
        rounded = _roundings_of_one_side(pair, output) + _integers(pair, output)
        yield Draft(
            message=f"`{output.cuda}` is the same real function of the inputs on both sides{where}.{rounded}{assumed}",
            remedy="Decide whether the roundings may differ." if rounded else "Nothing to do.",
            cuda=output.cuda_contract.pieces[0].span,
            nki=output.nki_contract.pieces[0].span if output.nki_contract else None,
            because=("identical normal forms",),
            outputs=(output.cuda,),
            about_rounding=bool(rounded),
        )


def _roundings_of_one_side(pair: Pair, output: OutputMatch) -> str:
    """The formats that only one side rounds to on the way to `output`, as a sentence; empty if there are none."""
    stored = pair.cuda.precision.storage.get(output.cuda)
    own, other = _rounded_to(output.cuda_contract) - {stored}, _rounded_to(output.nki_contract) - {stored}
    sides = (("original", own - other), ("port", other - own))
    parts = [f"the {side} to {', '.join(sorted(map(str, dtypes)))}" for side, dtypes in sides if dtypes]
    return f" On the way to it one side rounds where the other does not: {', '.join(parts)}." if parts else ""


def _integers(pair: Pair, output: OutputMatch) -> str:
    """That integer arithmetic was taken to be exact, as a sentence; empty where there is none."""
    stored = pair.cuda.precision.storage.get(output.cuda)
    pieces = output.cuda_contract.pieces
    computes = any(isinstance(node, Function | Fold) for piece in pieces for node in subterms(piece.value))
    if stored is None or not stored.is_integer or not computes:
        return ""
    return f" Whether the port's engines keep every bit of {stored} numbers, and wrap as C does, was not checked."


def _rounded_to(contract: Contract | None) -> frozenset[DType]:
    """The formats of known name that values of `contract` are rounded to, float32 apart."""
    pieces = contract.pieces if contract is not None else ()
    nodes = (node for piece in pieces for node in subterms(piece.value))
    dtypes = {node.dtype for node in nodes if isinstance(node, Rounded) and node.dtype.is_float}
    return frozenset(dtypes - {FLOAT32, FLOAT64})


@rule(
    "PC521",
    "equality-not-decided",
    Severity.NOTE,
    Certainty.CERTAIN,
    consequence_of=("PC101", "PC110", "PC121", "PC160", "PC161", "PC201", "PC202", "PC401", "PC402"),
    documentation="""
It was neither proved nor refuted that an output is the same function on both sides. This version proves equality only
by identical normal forms; algebraic identities beyond them are not tried, and differences are not refuted by
evaluation.

**What to do.** Compare the two formulas in the outputs table by hand, at the place that the message names.

**How we know.** The message says which part stopped the proof.
""",
    examples=(
        Example(title="the same function", cuda=CUDA, nki=NKI_CLIPPED, hit=False),
        Example(title="another constant", cuda=CUDA, nki=_NKI_TWICE, hit=True),
    ),
)
def equality_not_decided(pair: Pair) -> Iterator[Draft]:
    """Equality of an output was neither proved nor refuted."""
    for output in pair.alignment.outputs:
        if output.equality.outcome is not Outcome.UNDECIDED:
            continue
        found = output.equality
        left, right = (part.replace("$", "") for part in (found.cuda_part, found.nki_part))
        parts = f" Original: {left}. Port: {right}." if left or right else ""
        yield Draft(
            message=f"`{output.cuda}` was not proved equal: {found.reason}.{parts}",
            remedy="Compare the two formulas of this output by hand at the place named.",
            cuda=output.cuda_contract.pieces[0].span if output.cuda_contract.pieces else None,
            nki=output.nki_contract.pieces[0].span if output.nki_contract and output.nki_contract.pieces else None,
            outputs=(output.cuda,),
        )
