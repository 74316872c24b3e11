"""Calls that versions read differently."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from portcheck.core.dtype import DType
from portcheck.core.finding import Certainty, Severity
from portcheck.ir import Const, Program
from portcheck.ir.uses import (
    GroupUse,
    NameUse,
    NumberUse,
    OperandUse,
    Run,
    TextUse,
    TileUse,
    Use,
    UseKind,
    tiles_in,
)  # fmt: skip
from portcheck.knowledge import Change, Knowledge, NkiVersion, Role
from portcheck.knowledge.fitting import call_misfits, name_misfit
from portcheck.knowledge.signatures import WRITTEN
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.generation.calls import written_in
from portcheck.rules.generation.examples import CUDA
from portcheck.rules.generation.wording import places, short

_OF_FLOAT32 = 2.0**-24
"""Numbers that differ by less are one number of float32."""

_SUMS = """import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def twice(x):
    rows, cols = x.shape
    assert rows == 128
    y = nl.ndarray((128, cols), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 2, cols), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[:, 0, :], src=x)
    nisa.dma_copy(dst=tile[:, 1, :], src=x)
    total = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=2)
    nisa.dma_copy(dst=y[:, 0:2], src=total)
    return y
"""
_FIRST = _SUMS.replace("axis=2", "axis=1")
_FLAT = _SUMS.replace("(128, 2, cols)", "(128, cols)").replace("[:, 0, :]", "").replace("axis=2", "axis=1").replace(
    "    nisa.dma_copy(dst=tile[:, 1, :], src=x)\n", ""
)  # fmt: skip
_FLAT = _FLAT.replace("(128, 2)", "(128, 1)").replace("0:2", "0:1")


@rule(
    "PC806",
    "api-meaning-changed",
    Severity.WARNING,
    Certainty.CERTAIN,
    documentation="""
The port would be accepted by several versions of NKI, and a call in it means one thing in some of them and another in
the rest: the axis of a reduction of tiles with more than two dimensions, the value that a selection fills with, the
scale of a quantised block, whether an accumulator is cleared. Nothing in the text says which meaning was wanted. Or the
version is stated, and refuses a call that an earlier one took, or has releases with either meaning.

**What the version does.** The finding names both meanings and the version that separates them. All of them are silent,
but where it says that newer versions refuse the call.

**How to fix.** State the version with `--nki-version` in every check, and write the call so that both mean the same:
give the axis that is the last one, give the value and the command instead of leaving them out.

**How we know.** The vendor's release notes and migration guide list the changes; the finding is only made where the
arguments are known and such that the two meanings differ. A version that is stated settles which meaning is wanted.
""",
    examples=(
        Example(title="a tile of two dimensions", cuda=CUDA, nki=_FLAT, hit=False),
        Example(title="an axis that no version reads otherwise", cuda=CUDA, nki=_SUMS, hit=False),
        Example(title="axis 1 of three dimensions", cuda=CUDA, nki=_FIRST, hit=True),
        Example(title="a port for 0.2, which takes it", cuda=CUDA, nki=_FIRST, hit=False, nki_version="0.2"),
        Example(title="a port for 0.6, which refuses it", cuda=CUDA, nki=_FIRST, hit=True, nki_version="0.6"),
    ),
)
def api_meaning_changed(pair: Pair) -> Iterator[Draft]:
    """A call that several versions accept means something else in some of them."""
    program = pair.nki.program
    version = NkiVersion.parse(program.version)
    for change, uses in _changed(program, version, pair.knowledge).items():
        is_new = version >= change.version
        now, then = (change.after, change.before) if is_new else (change.before, change.after)
        other = f"before NKI {change.at}" if is_new else f"from NKI {change.at}"
        yield Draft(
            message=f"`{short(uses[0].name)}`{places(uses)} is read as NKI {version}, where {now}; {other}, {then}.",
            remedy="Make sure which version the port was written for, and write the call so that both mean the same.",
            nki=uses[0].span,
        )


def _changed(program: Program, version: NkiVersion, knowledge: Knowledge) -> dict[Change, list[Use]]:
    """The changes that a use depends on and that nothing settles."""
    calls = [use for use in program.uses if use.kind is UseKind.CALL and use.name in knowledge.meanings]
    found: dict[Change, list[Use]] = {}
    for use in calls:
        for change in knowledge.meanings[use.name]:
            if any(_holds(change, run) for run in use.runs):
                found.setdefault(change, []).append(use)
    if program.is_version_stated:
        return {change: uses for change, uses in found.items() if _is_open(change, version)}
    return {change: uses for change, uses in found.items() if _is_in_doubt(change, program.uses, knowledge)}


def _is_open(change: Change, version: NkiVersion) -> bool:
    """Whether a version that is stated refuses the call, or has releases on either side of the change."""
    is_within = version.matches(change.at) and change.version > version
    return is_within or (change.is_refused and version >= change.version)


def _is_in_doubt(change: Change, uses: tuple[Use, ...], knowledge: Knowledge) -> bool:
    """Whether versions on either side of the change accept the whole text."""
    accepting = [one.version for one in knowledge.releases.versions if _accepts(uses, one.version, knowledge)]
    return {one >= change.version for one in accepting} == {True, False}


def _accepts(uses: tuple[Use, ...], version: NkiVersion, knowledge: Knowledge) -> bool:
    """Whether `version` has every name and takes every call."""
    for use in uses:
        if use.kind is UseKind.FORM:
            continue
        if name_misfit(knowledge, use.name, version) is not None:
            return False
        if any(call_misfits(knowledge, use.name, version, written_in(run)) for run in use.runs):
            return False
    return True


def _holds(change: Change, run: Run) -> bool:
    """Whether a call is such that its meaning changed."""
    given = {argument.parameter: argument for argument in run.arguments}
    if not set(change.given) <= set(given) or set(change.omitted) & set(given):
        return False
    if any(given[name].position is None for name in change.position if name in given):
        return False
    if any(_may_be(given[name].operand, word) for name, word in change.same if name in given):
        return False
    sources = [tile for argument in run.with_role(Role.SOURCE) for tile in tiles_in(argument.operand)]
    if change.rank and not any(len(tile.type.shape) >= change.rank for tile in sources):
        return False
    if change.axis is not None and not _is_number(run, Role.AXIS, change.axis):
        return False
    written = [dtype for argument in run.arguments if argument.role in WRITTEN for dtype in _dtypes(argument.operand)]
    if (change.integers or change.fraction_into_integers) and not any(dtype.is_integer for dtype in written):
        return False
    return not change.fraction_into_integers or _is_fraction(run)


def _may_be(operand: OperandUse, word: str) -> bool:
    """Whether `operand` is the number or member of an enumeration called `word`, or nobody knows."""
    match operand:
        case NameUse(name):
            return name.rpartition(".")[2] == word
        case NumberUse(Const(value)):
            return _is_close(word, value)
        case TileUse() | TextUse() | GroupUse():
            return False
        case _:
            return True


def _is_close(word: str, value: int | float | bool) -> bool:
    """Whether `word` is spelled as a number that is `value` in float32."""
    try:
        return isclose(float(word), value, rel_tol=_OF_FLOAT32)
    except ValueError:
        return False


def _is_number(run: Run, role: Role, number: int) -> bool:
    return any(value == number for value in _numbers(run, role))


def _numbers(run: Run, role: Role) -> list[int | float]:
    """The numbers that are given for `role`, as far as they are known."""
    given = [argument.operand.value for argument in run.with_role(role) if isinstance(argument.operand, NumberUse)]
    return [value.value for value in given if isinstance(value, Const)]


def _dtypes(operand: OperandUse) -> list[DType]:
    return [operand.type.dtype] if isinstance(operand, TileUse) else []


def _is_fraction(run: Run) -> bool:
    """Whether the value is a float."""
    return any(isinstance(value, float) for value in _numbers(run, Role.VALUE))
