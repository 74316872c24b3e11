"""Instructions, modes and operators that only some chips have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import Span
from portcheck.ir.uses import NameUse
from portcheck.knowledge import LimitKind, Mode
from portcheck.rules._base import Draft, Example, Pair, rule
from portcheck.rules.fit.consequences import consequence
from portcheck.rules.fit.deciding import NUMBER, is_given
from portcheck.rules.fit.examples import COPY_CUDA, COPY_NKI, RANDOM_NKI
from portcheck.rules.fit.port import Call, Port, calls_of, port_of


@dataclass(frozen=True, slots=True)
class _Other:
    """Something that the chip does not have: its place, what tells it from others there, and who has it.

    `text` begins a sentence. Where no chip has it, `mode` says what then happens.
    """

    span: Span
    key: str
    text: str
    targets: tuple[str, ...]
    source: str
    mode: Mode | None = None


_DIVIDED = COPY_NKI.replace("src=tile[0:128, 0:cols])", "src=nl.divide(tile, tile))")


@rule(
    "PC708",
    "instruction-not-on-target",
    Severity.ERROR,
    Certainty.CERTAIN,
    documentation="""
The port calls an instruction, or asks for a mode, an engine or an operator, that the chip it is meant for does not
have; or something that no chip carries out, such as a division or a reduction of the partition axis on the vector
engine.

**How to fix.** State the chip that the port is meant for with `--target`, or write the step with instructions that
the chip has. The finding says what the vendor advises.

**What happens.** The vendor does not say what the compiler does; the simulator checks the generation of instructions,
but not of everything. Of what no chip carries out, the release notes say that it is not supported or does not compile.

**How we know.** The chips that have each instruction stand in mappings/nki/calls, those that have a mode or take an
argument in mappings/nki/operands, those that have an operator in mappings/nki/objects. Text that is only reached
under a condition on what is given is left out.
""",
    examples=(
        Example(title="instructions that all chips have", cuda=COPY_CUDA, nki=COPY_NKI, hit=False),
        Example(title="uniform random numbers of the third generation", cuda=COPY_CUDA, nki=RANDOM_NKI, hit=True),
        Example(
            title="a division of tiles",
            cuda=COPY_CUDA,
            nki=_DIVIDED,
            hit=True,
            nki_version="0.6",
        ),
        Example(
            title="a priority of transfers",
            cuda=COPY_CUDA,
            nki=COPY_NKI.replace("src=tile[0:128, 0:cols])", "src=tile[0:128, 0:cols], priority=1)"),
            hit=True,
        ),
    ),
)
def instruction_not_on_target(pair: Pair) -> Iterator[Draft]:
    """The port uses an instruction, mode, engine or operator that the chip does not have."""
    port = port_of(pair)
    return of_other_chips(port) if port else iter(())


def of_other_chips(port: Port) -> Iterator[Draft]:
    """Instructions, modes and operators that the chip does not have, one finding a place and argument."""
    seen: set[tuple[str, str]] = set()
    for other in (*_instructions(port), *_modes(port)):
        if (str(other.span), other.key) in seen:
            continue
        seen.add((str(other.span), other.key))
        message, remedy = _said(other, port)
        yield Draft(message=message, remedy=remedy, nki=other.span, because=(other.source,))


def _said(other: _Other, port: Port) -> tuple[str, str]:
    if other.mode is not None and not other.targets:
        remedy = other.mode.instead or "Write the step with instructions that the chip has."
        return f"{other.text} on no chip; {other.mode.effect} (NKI {port.version}).", remedy
    having = ", ".join(other.targets)
    message = f"{other.text} on {having} only, and the port is judged for {port.chip.name}"
    remedy = f"Use what {port.chip.name} has, or state another target."
    return f"{message}; {consequence(port, LimitKind.TARGET)}.", remedy


def _instructions(port: Port) -> Iterator[_Other]:
    for call in calls_of(port):
        if call.api.targets and port.chip.name not in call.api.targets:
            yield _Other(call.use.span, "", f"`{call.name}` is available", call.api.targets, call.api.source)


def _modes(port: Port) -> Iterator[_Other]:
    for call in calls_of(port):
        yield from _operators(call)
        known = port.knowledge.operands.get(call.use.name)
        for mode in known.modes if known else ():
            if port.chip.name not in mode.targets and _is_asked_for(mode, call):
                key = f"{mode.parameter}={mode.value}"
                yield _Other(call.use.span, key, _asked(mode, call), mode.targets, mode.source, mode)


def _asked(mode: Mode, call: Call) -> str:
    if not mode.targets and not mode.value:
        return f"`{call.name}` works"
    asked = f"`{mode.parameter}`" if not mode.value else f"`{mode.parameter}` as {_VALUES.get(mode.value, mode.value)}"
    return f"`{call.name}` takes {asked}"


_VALUES = {NUMBER: "a number"}


def _is_asked_for(mode: Mode, call: Call) -> bool:
    if not call.port.version.matches(mode.since, mode.until):
        return False
    if mode.value:
        return call.decide(mode.parameter, mode.value) is True
    return is_given(call.run, mode.parameter)


def _operators(call: Call) -> Iterator[_Other]:
    for argument in call.run.arguments:
        found = (
            call.port.knowledge.operator_object(argument.operand.name)
            if isinstance(argument.operand, NameUse)
            else None
        )
        if found is not None and found.targets and call.port.chip.name not in found.targets:
            text = f"The operator `{found.name}`, given to `{call.name}`, is available"
            yield _Other(call.use.span, argument.parameter, text, found.targets, found.source)
