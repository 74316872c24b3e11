"""What a version of NKI does where a limit is exceeded, in words."""

from __future__ import annotations

from portcheck.knowledge import Exceeding, LimitKind, Outcome, Simulated
from portcheck.rules.fit.port import Port

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
