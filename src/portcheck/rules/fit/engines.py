"""Which engines carry out a call, and which memories they reach."""

from __future__ import annotations

from portcheck.ir.uses import NameUse
from portcheck.knowledge import Role, Semantics
from portcheck.rules.fit.port import Call

_OPEN = "unknown"


def engines_of(call: Call) -> tuple[str, ...]:
    """The engines that may carry out `call`; none where that is not documented or the argument cannot be told."""
    engines = tuple(name for name in call.api.engine.split("|") if name and name != _OPEN)
    for argument in call.run.with_role(Role.ENGINE):
        if not isinstance(argument.operand, NameUse):
            return ()
        chosen = call.port.knowledge.engine(argument.operand.name)
        if chosen is None:
            return ()
        if chosen in engines:  # else it says who triggers the call, not who carries it out
            return (chosen,)
    return engines


def is_engine_stated(call: Call) -> bool:
    """Whether an argument of `call` says which engine carries it out."""
    stated = [argument.operand for argument in call.run.with_role(Role.ENGINE)]
    names = [operand.name for operand in stated if isinstance(operand, NameUse)]
    return any(call.port.knowledge.engine(name) not in (None, _OPEN) for name in names)


def is_of_compute_engines(call: Call) -> bool:
    """Whether only engines that reach on-chip memory by partitions carry out `call`."""
    known = {engine.name for engine in call.port.chip.engines}
    engines = engines_of(call)
    return bool(engines) and known.issuperset(engines)


def reach(call: Call) -> frozenset[str] | None:
    """The memories ("sbuf", "psum") that the engines of `call` reach; None where other memories may be meant."""
    if not is_of_compute_engines(call):
        return None
    engines = engines_of(call)
    return frozenset(space for engine in call.port.chip.engines if engine.name in engines for space in engine.spaces)


def is_of_tensor_engine(call: Call) -> bool:
    """Whether `call` is a product or transpose that the tensor engine carries out, or may."""
    kinds = (Semantics.MATMUL, Semantics.MATMUL_SCALED, Semantics.TRANSPOSE)
    return call.api.semantics in kinds and ("tensor" in call.api.engine or call.api.engine == _OPEN)
