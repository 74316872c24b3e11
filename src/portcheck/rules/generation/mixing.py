"""Ports that no single version accepts."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.finding import Certainty, Severity
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.generation.calls import Matter
from portcheck.rules.generation.examples import CUDA, HEAD, LEGACY, PORT, SCALE, TAIL
from portcheck.rules.generation.misuse import Blame, Misuse, misuses
from portcheck.rules.generation.wording import listed, places, short

_TWO_PACKAGES = "import neuronxcc.nki.isa as old\n" + PORT.replace(
    SCALE, "    tile = old.tensor_scalar(tile, op0=nl.multiply, operand0=2.0)\n"
)
_TWO_VERSIONS = (
    HEAD
    + """    nisa.dma_copy(dst=tile, src=x, dst_rmw_op=nl.add)
    nl.abs_max(tile, tile)
"""
    + TAIL
)


@rule(
    "PC801",
    "api-generations-mixed",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
The port uses names of both packages, `neuronxcc.nki` of the first generation and `nki` of the current one; or calls and
arguments of the current package of which some are gone in the versions that have the others. It runs nowhere as it is.

**What the version does.** Up to 0.3 the old package can be imported beside the new one, with a warning inside of
kernels; from 0.4 it is a compile error there. A call or keyword that a version does not have is an error (a keyword is
ignored without a word by the release of SDK 2.27).

**How to fix.** Choose one version, state it with `--nki-version`, and write every call as that version has it. The
other findings then say what to change.

**How we know.** Every name and keyword that the kernels and their helpers use is looked up in the tables of all
versions; none has all of them. Names in text that is never evaluated count as well, imports alone do not.
""",
    examples=(
        Example(title="one generation: the first", cuda=CUDA, nki=LEGACY, hit=False),
        Example(title="one version", cuda=CUDA, nki=PORT, hit=False),
        Example(title="a call of the other package", cuda=CUDA, nki=_TWO_PACKAGES, hit=True),
        Example(title="an argument of 0.2 beside a call of 0.4", cuda=CUDA, nki=_TWO_VERSIONS, hit=True),
    ),
)
def api_generations_mixed(pair: Pair) -> Iterator[Draft]:
    """No version of NKI accepts all calls and arguments of the port together."""
    for item in misuses(pair.nki.program, pair.knowledge, Blame.MIXED):
        yield _of_packages(item, pair) if item.matter is Matter.PACKAGE else _of_versions(item)


def _of_packages(item: Misuse, pair: Pair) -> Draft:
    version = pair.nki.program.version
    names = listed([short(name) for name in item.others])
    return Draft(
        message=f"The port is read as NKI {version} and uses {names} of the package `{item.name}`{places(item.uses)}, "
        "which kernels of that version are not written in.",
        remedy="Write the whole port in one of the two packages.",
        nki=item.uses[0].span,
    )


def _of_versions(item: Misuse) -> Draft:
    return Draft(
        message=f"No version of NKI accepts every call of the port: {item.others[0]}{places(item.uses)}.",
        remedy="Choose the version, state it with --nki-version, and write every call as that version has it.",
        nki=item.uses[0].span,
        because=item.others[1:],
    )
