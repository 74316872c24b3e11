"""Where a kernel's results live."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir import Alloc, Kernel, Program, Return, Space, operations
from portcheck.ir.uses import NameUse, TextUse, TileUse, Use
from portcheck.knowledge import Knowledge, NkiSpace, NkiVersion, Role
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.generation.examples import CUDA, PORT
from portcheck.rules.generation.marks import is_helper, is_launched, is_marked
from portcheck.rules.generation.wording import listed

_PRIVATE = PORT.replace("nl.shared_hbm", "nl.private_hbm")
_ON_CHIP = PORT.replace("    return y\n", "    return tile\n")
_HELPER = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def twice(x):
    y = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=y, data=x, op0=nl.multiply, operand0=2.0)
    return y
"""
_CHOICE = PORT.replace("(x)", "(x, stays)").replace(
    "    return y\n", "    if stays:\n        return tile\n    return y\n"
)
_ON_CHIP_SPACES = {Space.SHARED: NkiSpace.SBUF, Space.PSUM: NkiSpace.PSUM}


@rule(
    "PC807",
    "output-buffer-kind-wrong",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
A tensor that the kernel hands back lives in a memory that the target version does not hand back from: from 0.3 it must
be in `shared_hbm`; before, any tensor in HBM would do. A tile in SBUF or PSUM can never be handed back.

**What the version does.** From 0.3 the kernel does not compile.

**How to fix.** Allocate the result with `buffer=nl.shared_hbm` and copy the tile into it.

**How we know.** The call that allocates the tensor says where. A tensor that the kernel was given
is not judged, nor is a function that nothing makes a kernel of, or that other kernels call: one of the file does, or an
engine works on what it is given, which then is on the chip. Nor is a tile of a kernel that hands back something
else elsewhere: which of them is a matter of its arguments, and a tile is what kernels that call it ask for. Nor is a
tile of one of several kernels that are read together, where the file does not launch it: those of others may call it.
""",
    examples=(
        Example(title="in shared_hbm", cuda=CUDA, nki=PORT, hit=False),
        Example(title="in private_hbm, read as 0.2", cuda=CUDA, nki=_PRIVATE, hit=False, nki_version="0.2"),
        Example(title="a helper that is given a tile", cuda=CUDA, nki=_HELPER, hit=False),
        Example(title="a tile for kernels that ask for it", cuda=CUDA, nki=_CHOICE, hit=False),
        Example(title="in private_hbm, read as 0.3", cuda=CUDA, nki=_PRIVATE, hit=True, nki_version="0.3"),
        Example(title="a tile on the chip", cuda=CUDA, nki=_ON_CHIP, hit=True),
    ),
)
def output_buffer_kind_wrong(pair: Pair) -> Iterator[Draft]:
    """A returned tensor lives in a memory from which the target version returns nothing."""
    program = pair.nki.program
    release = pair.knowledge.releases.at(NkiVersion.parse(program.version))
    for kernel in program.kernels:
        if not is_marked(kernel, program) or is_helper(kernel, program, pair.knowledge):
            continue
        found = {name: _space_of(name, kernel, program, pair.knowledge) for name in _returned(kernel)}
        wrong = {name: at for name, at in found.items() if at[0] is not None and at[0] not in release.outputs}
        may_help = _has_choice(kernel, wrong) or not is_launched(kernel, program)
        for name, (space, place) in wrong.items():
            if space is None or (may_help and space in _ON_CHIP_SPACES.values()):
                continue
            yield Draft(
                message=f"`{kernel.name}` returns `{name}`, which lives in {space.value}; kernels of NKI "
                f"{program.version} return tensors in {listed([item.value for item in release.outputs])}.",
                remedy=f"Allocate `{name}` with `buffer=nl.{NkiSpace.SHARED_HBM.value}`, and copy tiles into it.",
                nki=place,
            )


def _returned(kernel: Kernel) -> Iterator[str]:
    """The buffers that `kernel` hands back and that are no parameters of it, each once."""
    given = {parameter.name for parameter in kernel.parameters}
    returned = [name for op in operations(kernel.body) if isinstance(op, Return) for name in op.buffers]
    yield from (name for name in dict.fromkeys((*kernel.results, *returned)) if name not in given)


def _has_choice(kernel: Kernel, wrong: Collection[str]) -> bool:
    """Whether `kernel` hands back something else than what is `wrong` where its arguments ask for that."""
    returns = (op.buffers for op in operations(kernel.body) if isinstance(op, Return))
    return any(buffers and not set(buffers).intersection(wrong) for buffers in returns)


def _space_of(name: str, kernel: Kernel, program: Program, knowledge: Knowledge) -> tuple[NkiSpace | None, Span | None]:
    """The memory that the buffer `name` lives in, as far as it is known, and where that is said."""
    for use in program.uses:
        if use.kernel == kernel.name and _makes(use, name):
            space = _stated(use, knowledge)
            if space is not None:
                return space, use.span
    for op in operations(kernel.body):
        if isinstance(op, Alloc) and op.name == name:
            return _ON_CHIP_SPACES.get(op.type.space), op.span
    return None, None


def _makes(use: Use, name: str) -> bool:
    return any(isinstance(run.result, TileUse) and run.result.buffer == name for run in use.runs)


def _stated(use: Use, knowledge: Knowledge) -> NkiSpace | None:
    for run in use.runs:
        for argument in run.with_role(Role.BUFFER):
            match argument.operand:
                case NameUse(name):
                    return knowledge.space(name)
                case TextUse(text) if text in list(NkiSpace):
                    return NkiSpace(text)
                case _:
                    pass
    return None
