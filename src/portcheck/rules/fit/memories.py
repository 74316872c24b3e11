"""The memories that operands lie in."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.ir import Space
from portcheck.knowledge import LimitKind, NkiSpace, Together, Unknown
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.fit.consequences import one_a_place
from portcheck.rules.fit.engines import engines_of, is_engine_stated, reach
from portcheck.rules.fit.examples import MATMUL_CUDA, MATMUL_LEGACY, MATMUL_NKI
from portcheck.rules.fit.port import Call, Placed, Port, calls_of, port_of
from portcheck.rules.fit.together import Joined, joined

_SPACES = {Space.GLOBAL: "hbm", Space.SHARED: "sbuf", Space.PSUM: "psum"}
_ON_CHIP = ("sbuf", "psum")
_NAMES = {"hbm": "device memory", "sbuf": "SBUF", "psum": "PSUM"}


@rule(
    "PC704",
    "operand-space-illegal",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
An operand lies in a memory that the instruction does not take it from or write it to: a product reads SBUF and writes
PSUM, transfers reach no PSUM from version 0.3 on, the GpSimd engine reaches no PSUM at all, compute engines reach no
device memory, and of two operands read together often only one may lie in PSUM.

**How to fix.** Copy the tile to the memory that the instruction takes, with `tensor_copy` on the chip or with a
transfer.

**What happens.** Up to SDK 2.26 the kernel does not compile. Later versions do not document it for every instruction;
the simulator checks such limits, but not all of them.

**How we know.** The memory that each tile is allocated in; which ones are taken stands in mappings/nki/operands by
version and chip, and what an engine reaches in mappings/hardware.
""",
    examples=(
        Example(title="a product into PSUM", cuda=MATMUL_CUDA, nki=MATMUL_NKI, hit=False),
        Example(
            title="the first generation", cuda=MATMUL_CUDA, nki=MATMUL_LEGACY, hit=False, nki_version="0.1"
        ),
        Example(
            title="a transfer from PSUM before 0.3",
            cuda=MATMUL_CUDA,
            nki=MATMUL_NKI.replace("src=done", "src=product"),
            hit=False,
            nki_version="0.2",
        ),
        Example(
            title="a transfer from PSUM",
            cuda=MATMUL_CUDA,
            nki=MATMUL_NKI.replace("src=done", "src=product"),
            hit=True,
        ),
        Example(
            title="a product into SBUF", cuda=MATMUL_CUDA, nki=MATMUL_NKI.replace("nl.psum", "nl.sbuf"), hit=True
        ),
        Example(
            title="GpSimd reads PSUM",
            cuda=MATMUL_CUDA,
            nki=MATMUL_NKI.replace("src=product)", "src=product, engine=nisa.engine.gpsimd)"),
            hit=True,
        ),
    ),
)  # fmt: skip
def operand_space_illegal(pair: Pair) -> Iterator[Draft]:
    """An operand lies in a memory that the instruction does not reach or take."""
    port = port_of(pair)
    return in_wrong_memory(port) if port else iter(())


def in_wrong_memory(port: Port) -> Iterator[Draft]:
    """Operands in memories that their instructions do not take, one finding a place and operand."""
    complaints = ((call, *complaint) for call in calls_of(port) for complaint in (*_alone(call), *_together(call)))
    yield from one_a_place(port, complaints, LimitKind.SPACE, "Copy the tile to a memory that the instruction takes.")


def _alone(call: Call) -> Iterator[tuple[str, str, str]]:
    for placed in call.tiles():
        space = _SPACES.get(placed.tile.type.space)
        if not placed.parameter or space is None or _may_be_a_tile(placed):
            continue
        allowed, source = _allowed(placed)
        if allowed is not None and space not in allowed:
            taken = " or ".join(_NAMES[name] for name in sorted(allowed, reverse=True)) or "no memory"
            by = f" on the {engine} engine" if (engine := _engine(call)) else ""
            text = f"{placed.title} lies in {_NAMES[space]}, and the instruction{by} takes it in {taken}"
            yield placed.parameter, text, source


def _may_be_a_tile(placed: Placed) -> bool:
    """Whether it is a parameter of a function that other kernels may call with tiles."""
    use = placed.call.use
    if use.kernel in placed.call.port.entries:
        return False
    kernels = [kernel for kernel in placed.call.port.program.kernels if kernel.name == use.kernel]
    return any(placed.tile.buffer == parameter.name for kernel in kernels for parameter in kernel.parameters)


def _allowed(placed: Placed) -> tuple[frozenset[str] | None, str]:
    """The memories that an operand may lie in (None where that is not known), and the source."""
    call, reached = placed.call, reach(placed.call)
    facts = call.facts(placed.parameter)
    engine = next((engine for engine in call.port.chip.engines if engine.name in engines_of(call)), None)
    if facts is None or facts.spaces is None or isinstance(facts.spaces, Unknown):
        if call.port.is_legacy and reached is not None and not is_engine_stated(call):
            reached = frozenset(_ON_CHIP)  # calls of GpSimd take tiles of PSUM there, which the compiler then copies
        return reached, engine.spaces_source if engine else ""
    stated = frozenset(_family(space) for space in facts.spaces)
    kept = frozenset(name for name in stated if name not in _ON_CHIP or reached is None or name in reached)
    if kept != stated and engine is not None:
        return kept, engine.spaces_source
    return kept, facts.source_of("spaces")


def _family(space: NkiSpace) -> str:
    return space.value if space.value in _ON_CHIP else "hbm"


def _engine(call: Call) -> str:
    engines = engines_of(call)
    return engines[0] if len(engines) == 1 else ""


def _together(call: Call) -> Iterator[tuple[str, str, str]]:
    for found in joined(call):
        spaces = [_SPACES.get(placed.tile.type.space, "") for placed in found.tiles]
        names = " and ".join(f"`{placed.parameter}`" for placed in found.tiles)
        if found.pairing.kind is Together.NOT_ALL_IN_PSUM and all(space == "psum" for space in spaces):
            text = f"{names} of `{call.name}` all lie in PSUM, and the instruction takes at most one of them from there"
            yield _key(found), text, found.pairing.source
        if found.pairing.kind is Together.SAME_SPACE and "" not in spaces and len(set(spaces)) > 1:
            text = f"{names} of `{call.name}` lie in different memories, and the instruction takes them in one"
            yield _key(found), text, found.pairing.source


def _key(found: Joined) -> str:
    return "+".join(found.pairing.operands)
