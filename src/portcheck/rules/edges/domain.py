"""Sizes that the original accepts and the port does not."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.align.sizes import covered
from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir import Polynomial, symbols_in
from portcheck.ir.algebra import replace_symbols
from portcheck.passes import Assertion
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.edges.examples import CUDA, NKI_ASSERTED, NKI_CLIPPED
from portcheck.values import Fold, subterms


@rule(
    "PC404",
    "domain-narrowed",
    Severity.WARNING,
    Certainty.CERTAIN,
    documentation="""
The port asserts a condition on sizes that the original did not need. Inside the asserted domain both may agree;
outside, the original computes and the port refuses.

**How to fix.** Handle the general size, or make sure that every caller satisfies the condition and say so.

**How we know.** The condition is asserted in the port; the original computes all positions of that size.
""",
    examples=(
        Example(title="any size", cuda=CUDA, nki=NKI_CLIPPED, hit=False),
        Example(title="only multiples of 128", cuda=CUDA, nki=NKI_ASSERTED, hit=True),
    ),
)
def domain_narrowed(pair: Pair) -> Iterator[Draft]:
    """The port asserts a shape that the original does not need."""
    for assertion in pair.nki.assertions:
        size = replace_symbols(assertion.value, dict(pair.alignment.names.sizes))
        if not _narrows(assertion, size) or not _accepts_all(pair, size):
            continue
        yield Draft(
            message=f"The port asserts that {_text(assertion, size)}; the original computes every {size}.",
            remedy="Handle the general size, or state that every caller satisfies the condition.",
            cuda=_place(pair, size),
            nki=assertion.op.span,
            because=(f"the original's outputs reach all {size} positions",),
        )


def _narrows(assertion: Assertion, size: Polynomial) -> bool:
    if size.constant is not None:
        return False
    is_trivial = assertion.kind == "multiple" and assertion.limit.constant == 1
    return not is_trivial and assertion.limit.constant is not None and assertion.kind in ("multiple", "equal", "most")


def _text(assertion: Assertion, size: Polynomial) -> str:
    words = {"multiple": "is a multiple of", "equal": "equals", "most": "is at most"}
    return f"{size} {words[assertion.kind]} {assertion.limit}"


def _accepts_all(pair: Pair, size: Polynomial) -> bool:
    """Whether an output or reduction of the original runs over all of `size`, not only over whole tiles."""
    for extent in _extents(pair):
        if extent == size:
            return True
        is_product = len(extent.terms) == 1 and size.symbols < extent.symbols
        if is_product and all(atom.operator is None for atom in extent.atoms):
            return True
    return False


def _extents(pair: Pair) -> Iterator[Polynomial]:
    """How far outputs and reductions of the original run, before anything the port asserts is used."""
    sizes = {name: size for name, size in pair.alignment.original_sizes.items() if size.constant is None}
    for contract in pair.original.contracts:
        for piece in contract.pieces:
            yield from (replace_symbols(covered(bound.stop)[0], sizes) for bound in piece.bounds)
            for node in subterms(piece.value):
                if isinstance(node, Fold):
                    yield from (replace_symbols(bound.stop, sizes) for bound in node.bounds)


def _place(pair: Pair, size: Polynomial) -> Span | None:
    """The store of the original that reaches all of `size`; the launch where one states it."""
    for launch in pair.cuda.program.launches:
        if launch.span is not None and any(size.symbols & symbols_in(extent) for extent in launch.grid):
            return launch.span
    for output in pair.alignment.outputs:
        for piece in output.cuda_contract.pieces:
            return piece.span
    return None
