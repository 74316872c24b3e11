"""The sizes of the tiles of one product or transpose of the tensor engine."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from portcheck.core.finding import Certainty, Severity
from portcheck.ir import Expr
from portcheck.knowledge import LimitKind, Size
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.fit.consequences import consequence
from portcheck.rules.fit.engines import is_of_tensor_engine
from portcheck.rules.fit.examples import MATMUL_CUDA, MATMUL_LEGACY, MATMUL_NKI
from portcheck.rules.fit.port import Call, Placed, Port, calls_of, number_of, port_of
from portcheck.rules.fit.sizes import size_text


@rule(
    "PC703",
    "matmul-tile-limit-exceeded",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
A product or transpose of the tensor engine is given a tile that is larger than the engine takes at once: the
partitions of both tiles are the contraction, and the elements of a partition are limited for the stationary and the
moving tile. How wide the moving tile may be depends on the chip, and from the third generation on also on the
destination's dtype.

**How to fix.** Split the product: accumulate over the contraction, and loop over the other two sizes.

**What happens.** Up to SDK 2.26 the kernel does not compile. Later versions do not document it; the simulator checks
such limits, but not all of them.

**How we know.** The sizes of the tiles as the port states them; one that is not known is only compared where an
assertion bounds it from below. The limits stand in mappings/nki/operands.
""",
    examples=(
        Example(title="tiles as large as they may be", cuda=MATMUL_CUDA, nki=MATMUL_NKI, hit=False),
        Example(
            title="the first generation", cuda=MATMUL_CUDA, nki=MATMUL_LEGACY, hit=False, nki_version="0.1"
        ),
        Example(title="a tile without elements", cuda=MATMUL_CUDA, nki=MATMUL_NKI.replace("512", "0"), hit=False),
        Example(title="a moving tile of 513", cuda=MATMUL_CUDA, nki=MATMUL_NKI.replace("512", "513"), hit=True),
        Example(
            title="a moving tile of 513 in the first generation",
            cuda=MATMUL_CUDA,
            nki=MATMUL_LEGACY.replace("512", "513"),
            hit=True,
            nki_version="0.1",
        ),
        Example(
            title="a stationary tile of 129",
            cuda=MATMUL_CUDA,
            nki=MATMUL_NKI.replace("left = nl.ndarray((128, 128)", "left = nl.ndarray((128, 129)").replace(
                "x[0:128, 0:128]", "x[0:128, 0:129]"
            ),
            hit=True,
        ),
        Example(
            title="a contraction of 129",
            cuda=MATMUL_CUDA,
            nki=MATMUL_NKI.replace("ndarray((128, ", "ndarray((129, ").replace("[0:128, 0:", "[0:129, 0:"),
            hit=True,
        ),
    ),
)  # fmt: skip
def matmul_tile_limit_exceeded(pair: Pair) -> Iterator[Draft]:
    """A tile of a product or transpose is larger than the tensor engine takes at once."""
    port = port_of(pair)
    return too_large(port) if port else iter(())


def too_large(port: Port) -> Iterator[Draft]:
    """Tiles that are larger than the tensor engine takes at once, one finding a place and operand."""
    seen: set[tuple[str, str]] = set()
    for call in calls_of(port):
        if call.is_masked or not is_of_tensor_engine(call):
            continue
        for placed in call.tiles():
            problem = _problem(placed) if placed.parameter and placed.is_on_chip else None
            key = (str(call.use.span), placed.parameter)
            if problem is None or key in seen:
                continue
            seen.add(key)
            text, source = problem
            yield Draft(
                message=f"{placed.title} {text}; {consequence(port, LimitKind.SIZE)}.",
                remedy="Split the product into tiles that fit, and accumulate over the contraction.",
                nki=call.use.span,
                because=(source,),
            )


def _problem(placed: Placed) -> tuple[str, str] | None:
    """What is too large, and the source of the limit."""
    port, facts = placed.call.port, placed.call.facts(placed.parameter)
    limit = facts.partitions if facts else None
    whole = Size(1, port.chip.partitions, 1)
    if _is_outside(placed.call, (placed.partitions,), whole):
        source = port.chip.source_of("partitions")
        return _sentence("partitions", (placed.partitions,), whole, port.chip.name), source
    if facts is None:
        return None
    if isinstance(limit, Size) and _is_outside(placed.call, (placed.partitions,), limit):
        return _sentence("partitions", (placed.partitions,), limit, port.chip.name), facts.source_of("partitions")
    if isinstance(facts.free, Size) and _is_outside(placed.call, placed.free, facts.free):
        text = _sentence("elements in a partition", placed.free, facts.free, port.chip.name)
        return text, facts.source_of("free")
    return None


def _is_outside(call: Call, sizes: tuple[Expr, ...], limit: Size) -> bool:
    if limit.maximum is not None and call.exceeds(sizes, limit.maximum):
        return True
    numbers = [number_of(size) for size in sizes]
    known = [value for value in numbers if value]  # a tile without elements is not too large
    return len(known) == len(numbers) > 0 and not limit.accepts(prod(known))


def _sentence(unit: str, sizes: tuple[Expr, ...], limit: Size, chip: str) -> str:
    return f"has {size_text(*sizes)} {unit}, and the tensor engine of {chip} takes {limit}"
