"""The dtypes of operands."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.knowledge import ANY, LimitKind, Semantics, Together, Unknown
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.fit.consequences import one_a_place
from portcheck.rules.fit.examples import MATMUL_CUDA, MATMUL_LEGACY, MATMUL_NKI
from portcheck.rules.fit.port import Call, Port, calls_of, port_of
from portcheck.rules.fit.together import Joined, joined


@rule(
    "PC707",
    "dtype-not-on-target",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
An operand has a dtype, or two operands have dtypes, that the instruction does not take on this chip or in this
version: integers in a product, one operand of float32 and the other of 16 bits, a float where an operator works on
bit patterns, formats of another generation, or formats of 64 bits, which NKI does not have.

**How to fix.** Convert the tile with `tensor_copy` to a dtype that the instruction takes.

**What happens.** The vendor does not say what the compiler does; the simulator checks dtypes, but not all of them. A
transfer by `hwdge` between unequal dtypes is refused from 0.3 on; 0.2 moves the bytes as they are, and the values are
not defined.

**How we know.** The dtype that each tile is allocated with; one that is taken from a parameter is not judged unless
it is stated. Which ones are taken stands in mappings/nki/operands, by version and chip.
""",
    examples=(
        Example(title="bfloat16 into float32", cuda=MATMUL_CUDA, nki=MATMUL_NKI, hit=False),
        Example(
            title="the first generation", cuda=MATMUL_CUDA, nki=MATMUL_LEGACY, hit=False, nki_version="0.1"
        ),
        Example(
            title="a product of integers", cuda=MATMUL_CUDA, nki=MATMUL_NKI.replace("nl.bfloat16", "nl.int8"), hit=True
        ),
        Example(
            title="float32 times bfloat16",
            cuda=MATMUL_CUDA,
            nki=MATMUL_NKI.replace("(128, 128), dtype=nl.bfloat16", "(128, 128), dtype=nl.float32"),
            hit=True,
        ),
    ),
)  # fmt: skip
def dtype_not_on_target(pair: Pair) -> Iterator[Draft]:
    """An operand has a dtype that the instruction does not take on this chip or in this version."""
    port = port_of(pair)
    return of_wrong_dtype(port) if port else iter(())


def of_wrong_dtype(port: Port) -> Iterator[Draft]:
    """Operands of dtypes that their instructions do not take, one finding a place and operand."""
    made = ((call, *complaint) for call in calls_of(port) for complaint in _made(call))
    given = ((call, *complaint) for call in calls_of(port) for complaint in (*_alone(call), *_together(call)))
    allocate = "Allocate it with a dtype that NKI has on this chip, or state another target."
    yield from one_a_place(port, made, LimitKind.DTYPE, allocate)
    yield from one_a_place(port, given, LimitKind.DTYPE, "Convert the tile to a dtype that the instruction takes.")


def _made(call: Call) -> Iterator[tuple[str, str, str]]:
    """A tile that is made with a dtype that NKI, or the chip, does not have."""
    if call.api.semantics not in (Semantics.ALLOC, Semantics.FILL):
        return
    for placed in call.tiles():
        dtype = placed.tile.type.dtype
        facts = call.port.knowledge.dtype(dtype.name)
        if placed.parameter or dtype.is_symbolic or facts is None:
            continue
        releases = call.port.knowledge.releases
        root = releases.at(call.port.version).root
        if root not in {releases.root_of(spelling) for spelling in facts.nki}:
            yield "", f"`{call.name}` makes a tensor of {dtype}, and NKI has no such dtype", facts.source
        elif facts.targets and call.port.chip.name not in facts.targets:
            having = " and ".join(facts.targets)
            yield "", f"`{call.name}` makes a tensor of {dtype}, which only {having} has", facts.source


def _alone(call: Call) -> Iterator[tuple[str, str, str]]:
    for placed in call.tiles():
        facts = call.facts(placed.parameter) if placed.parameter else None
        dtype = placed.tile.type.dtype
        if facts is None or dtype.is_symbolic:
            continue
        start = f"{placed.title} is of {dtype}, and the instruction takes"
        if dtype.name in facts.not_dtypes:
            text = f"{start} every dtype but {', '.join(facts.not_dtypes)}"
            yield placed.parameter, text, facts.source_of("not_dtypes")
        if facts.dtypes is None or isinstance(facts.dtypes, Unknown) or ANY in facts.dtypes:
            continue
        if dtype.name not in facts.dtypes:
            text = f"{start} {', '.join(facts.dtypes)} there on {call.port.chip.name}"
            yield placed.parameter, text, facts.source_of("dtypes")


def _together(call: Call) -> Iterator[tuple[str, str, str]]:
    for found in joined(call):
        dtypes = [placed.tile.type.dtype for placed in found.tiles]
        if any(dtype.is_symbolic for dtype in dtypes):
            continue
        names = {dtype.name for dtype in dtypes}
        if _is_wrong(found, names):
            listed = " and ".join(f"`{placed.parameter}`" for placed in found.tiles)
            are = f"{listed} of `{call.name}` are of {' and '.join(sorted(names))}"
            text = f"{are}, and the instruction takes {_rule(found)}"
            yield "+".join(found.pairing.operands), text, found.pairing.source


def _is_wrong(found: Joined, names: set[str]) -> bool:
    special = names.intersection(found.pairing.dtypes)
    match found.pairing.kind:
        case Together.SAME_DTYPE:
            return len(names) > 1
        case Together.ONLY_TOGETHER:
            return bool(special) and special != names
        case Together.NEVER_TOGETHER:
            return special == set(found.pairing.dtypes)
        case _:
            return False


def _rule(found: Joined) -> str:
    dtypes = " or ".join(found.pairing.dtypes)
    match found.pairing.kind:
        case Together.ONLY_TOGETHER:
            return f"{dtypes} only with its like"
        case Together.NEVER_TOGETHER:
            return f"{' and '.join(found.pairing.dtypes)} never together"
        case _:
            return "equal dtypes only"
