"""How many partitions a tile occupies, and at which one it begins."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.ir.uses import NameUse
from portcheck.knowledge import Chip, LimitKind, Role, Semantics
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.fit.consequences import consequence
from portcheck.rules.fit.deciding import is_given
from portcheck.rules.fit.engines import is_of_compute_engines, is_of_tensor_engine
from portcheck.rules.fit.examples import COPY_CUDA, COPY_LEGACY, COPY_NKI, HALVES_NKI
from portcheck.rules.fit.port import Placed, Port, calls_of, number_of, port_of
from portcheck.rules.fit.repeating import numbers_of, rounds_of
from portcheck.rules.fit.sizes import size_text

_BLOCKED_RANK = 3


@rule(
    "PC701",
    "partition-limit-exceeded",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
A tile occupies more partitions than SBUF and PSUM have. Its first dimension lies along the partitions, so no tile may
be longer there; a larger tensor is processed in several tiles.

**How to fix.** Give the tile at most `nl.tile_size.pmax` rows and loop over the rest.

**What happens.** Up to SDK 2.26 the kernel does not compile. From 0.3 the simulator refuses it; the compiler is only
documented to refuse it from 0.6 on.

**How we know.** The tile's first dimension as the port states it; a size that is not known is only compared where an
assertion bounds it from below. The number of partitions stands in mappings/hardware.
""",
    examples=(
        Example(title="tiles of 128 rows", cuda=COPY_CUDA, nki=COPY_NKI, hit=False),
        Example(
            title="128 rows of a tensor with more",
            cuda=COPY_CUDA,
            nki=COPY_NKI.replace("rows, cols = x.shape", "rows, cols = x.shape\n    assert rows >= 256"),
            hit=False,
        ),
        Example(
            title="blocks of tiles in the first generation",
            cuda=COPY_CUDA,
            nki=COPY_LEGACY,
            hit=False,
            nki_version="0.1",
        ),
        Example(title="tiles of 129 rows", cuda=COPY_CUDA, nki=COPY_NKI.replace("128", "129"), hit=True),
        Example(
            title="a tile of more rows than an assertion leaves",
            cuda=COPY_CUDA,
            nki=COPY_NKI.replace("rows, cols = x.shape", "rows, cols = x.shape\n    assert rows > 128").replace(
                "(128, cols)", "(rows, cols)"
            ),
            hit=True,
        ),
    ),
)
def partition_limit_exceeded(pair: Pair) -> Iterator[Draft]:
    """A tile occupies more partitions than the chip has."""
    port = port_of(pair)
    return too_tall(port) if port else iter(())


def too_tall(port: Port) -> Iterator[Draft]:
    """Tiles of more partitions than the chip has, one finding a tile."""
    limit = port.chip.partitions
    seen: set[str] = _contracted(port, limit)
    for placed in _on_chip(port):
        name = placed.tile.buffer or str(placed.call.use.span)
        if name in seen or not _is_too_tall(placed, limit):
            continue
        seen.add(name)
        yield Draft(
            message=f"{_named(placed)} occupies {size_text(placed.partitions)} partitions, and {port.chip.name} has"
            f" {limit}; {consequence(port, LimitKind.PARTITIONS)}.",
            remedy=f"Process the rows in tiles of at most {limit}.",
            nki=placed.call.use.span,
            because=(f"{port.chip.name} has {limit} partitions: {port.chip.source_of('partitions')}",),
        )


def _named(placed: Placed) -> str:
    return f"The tile `{placed.tile.buffer}`" if placed.tile.buffer else placed.title


def _on_chip(port: Port) -> Iterator[Placed]:
    for call in calls_of(port):
        yield from (placed for placed in call.tiles() if placed.is_on_chip)


def _is_too_tall(placed: Placed, limit: int) -> bool:
    port = placed.call.port
    if placed.call.is_masked:
        return False
    if (not placed.tile.buffer or port.is_legacy) and (placed.parameter or _is_taken_over(placed, limit)):
        return False  # the call that made the tile, or one of its operands, is reported
    if placed.tile.is_whole and len(placed.tile.type.shape) >= _BLOCKED_RANK and _has_blocks(port):
        return False  # the first dimension may count blocks
    return placed.call.exceeds((placed.partitions,), limit)


def _is_taken_over(placed: Placed, limit: int) -> bool:
    """Whether the call that gives back the tile is given one that is too tall, or is a product that PC703 judges."""
    given = [other for other in placed.call.tiles() if other.parameter and other.is_on_chip]
    return is_of_tensor_engine(placed.call) or any(placed.call.exceeds((other.partitions,), limit) for other in given)


def _has_blocks(port: Port) -> bool:
    """Whether a dimension of some tile is marked as that of the partitions, as the first generation may."""
    forms = (port.knowledge.api(use.name, port.version) for use in port.program.uses)
    return any(form is not None and form.semantics is Semantics.INDEX_PARTITION for form in forms)


def _contracted(port: Port, limit: int) -> set[str]:
    """The buffers of products that contract more partitions than there are; PC703 says so."""
    return {
        placed.tile.buffer
        for call in calls_of(port)
        if is_of_tensor_engine(call)
        for placed in call.tiles()
        if placed.parameter
        and placed.is_on_chip
        and placed.tile.buffer
        and placed.call.exceeds((placed.partitions,), limit)
    }


_LOOP = "        for p in range(0, 128, {0}):\n            nisa.memset(dst=tile[p:p + {0}, 0:cols], value=0.0)\n"
_TRANSFER = "        nisa.dma_copy(dst=y["
_ROWS = COPY_NKI.replace(_TRANSFER, _LOOP.format(1) + _TRANSFER)
_QUARTERS = COPY_NKI.replace(_TRANSFER, _LOOP.format(32) + _TRANSFER)


@rule(
    "PC702",
    "partition-start-illegal",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
An engine reads or writes a tile that begins at a partition where an access over that many partitions may not begin:
more than 64 partitions begin at 0, more than 32 at 0 or 64, all others at 0, 32, 64 or 96.

**How to fix.** Let the slice begin at one of these partitions, or move the rows with a transfer, which may begin
anywhere.

**What happens.** The architecture guide leaves the rule to the compiler's allocator, which places whole tiles; for a
slice that no placement makes legal the vendor does not say what happens. The simulator may not check it.

**How we know.** The first partition and the number of partitions of the slice, where both are numbers or the first
one is in every round of one loop, and every legal place of its tile. A tile with a stated address is left out, and so
are transfers. The rule stands in mappings/hardware.
""",
    examples=(
        Example(title="the second half of a tile", cuda=COPY_CUDA, nki=HALVES_NKI, hit=False),
        Example(
            title="a transfer that begins anywhere",
            cuda=COPY_CUDA,
            nki=COPY_NKI.replace("tile[0:128, 0:cols]", "tile[16:128, 0:cols]").replace(
                "x[r:r + 128", "x[r + 16:r + 128"
            ),
            hit=False,
        ),
        Example(title="a row in every round of a loop", cuda=COPY_CUDA, nki=_ROWS, hit=True),
        Example(title="a quarter in every round of a loop", cuda=COPY_CUDA, nki=_QUARTERS, hit=False),
        Example(title="a slice from 48", cuda=COPY_CUDA, nki=HALVES_NKI.replace("64:128", "48:112"), hit=True),
    ),
)
def partition_start_illegal(pair: Pair) -> Iterator[Draft]:
    """An engine's access begins at a partition where one over that many partitions may not begin."""
    port = port_of(pair)
    return misplaced(port) if port else iter(())


def misplaced(port: Port) -> Iterator[Draft]:
    """Accesses of engines that no placement of the tile lets begin there, one finding a place and operand."""
    heights = {} if _has_blocks(port) else _free_tiles(port)
    rounds = {kernel.name: rounds_of(kernel) for kernel in port.program.kernels}
    seen: set[tuple[str, str]] = set()
    for placed in _on_chip(port):
        if not placed.parameter or not is_of_compute_engines(placed.call) or placed.tile.buffer not in heights:
            continue
        key = (str(placed.call.use.span), placed.parameter)
        count = number_of(placed.partitions)
        if key in seen or count is None or placed.tile.start is None:
            continue
        starts = numbers_of(placed.tile.start, rounds.get(placed.call.use.kernel, {}))
        height = heights[placed.tile.buffer]
        start = next((one for one in starts if one > 0 and not _may_start(port.chip, one, count, height)), None)
        if start is None:
            continue
        seen.add(key)
        yield Draft(
            message=f"{placed.title} begins at partition {start} of `{placed.tile.buffer}`"
            f"{_in_a_loop(placed)} and occupies {count};"
            f" {_allowed(port.chip, count)}; {consequence(port, LimitKind.START_PARTITION)}.",
            remedy="Begin at a partition that is allowed, or move the rows with a transfer first.",
            nki=placed.call.use.span,
            because=tuple(dict.fromkeys(rule.source for rule in port.chip.start_rules)),
        )


def _in_a_loop(placed: Placed) -> str:
    start = placed.tile.start
    return f" in a round of the loop (at {size_text(start)})" if start is not None and number_of(start) is None else ""


def _free_tiles(port: Port) -> dict[str, int]:
    """The buffers that the compiler places, with their heights in partitions (all of them where not known)."""
    found: dict[str, int] = {}
    for call in calls_of(port):
        if call.api.semantics not in (Semantics.ALLOC, Semantics.FILL) or any(
            is_given(call.run, argument.parameter) for argument in call.run.with_role(Role.ADDRESS)
        ):
            continue
        if not all(isinstance(argument.operand, NameUse) for argument in call.run.with_role(Role.BUFFER)):
            continue
        for placed in call.tiles():
            if placed.is_on_chip and not placed.parameter:
                found[placed.tile.buffer] = number_of(placed.partitions) or 1
    return found


def _starts(chip: Chip, count: int) -> tuple[int, ...]:
    fitting = [rule for rule in chip.start_rules if count <= rule.partitions]
    return min(fitting, key=lambda rule: rule.partitions).starts if fitting else (0,)


def _may_start(chip: Chip, start: int, count: int, height: int) -> bool:
    """Whether some legal place of a tile of `height` partitions makes a slice from `start` legal."""
    return any(base + start in _starts(chip, count) for base in _starts(chip, height))


def _allowed(chip: Chip, count: int) -> str:
    starts = ", ".join(map(str, _starts(chip, count)))
    return f"on {chip.name} an access over that many begins at {starts}"
