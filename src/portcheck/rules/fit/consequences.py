"""What a version of NKI does where a limit is exceeded, in words, and findings that say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from portcheck.knowledge import Exceeding, LimitKind, Outcome, Simulated
from portcheck.rules._base import Draft
from portcheck.rules.fit.port import Call, Port

_OUTCOMES = {
    Outcome.COMPILE_ERROR: "NKI {} refuses it when it compiles the kernel",
    Outcome.VERIFICATION_ERROR: "NKI {} refuses it with a verification error",
    Outcome.UNKNOWN: "what NKI {} does then is not documented",
}
_SIMULATED = {
    Simulated.CHECKED: "; its simulator refuses it",
    Simulated.PARTLY: "; its simulator checks such limits, but not all of them",
    Simulated.ABSENT: "",
    Simulated.UNKNOWN: "",
}


def consequence(port: Port, kind: LimitKind) -> str:
    """One clause without capital letter and full stop."""
    found: Exceeding | None = port.knowledge.when_exceeded(kind, port.version)
    if found is None:
        return _OUTCOMES[Outcome.UNKNOWN].format(port.version)
    return _OUTCOMES[found.outcome].format(port.version) + _SIMULATED[found.simulator]


def one_a_place(
    port: Port, complaints: Iterable[tuple[Call, str, str, str]], kind: LimitKind, remedy: str
) -> Iterator[Draft]:
    """Findings of (call, operand, message, source), one for each place and operand."""
    seen: set[tuple[str, str]] = set()
    for call, operand, message, source in complaints:
        key = (str(call.use.span), operand)
        if key in seen:
            continue
        seen.add(key)
        yield Draft(
            message=f"{message}; {consequence(port, kind)}.", remedy=remedy, nki=call.use.span, because=(source,)
        )
