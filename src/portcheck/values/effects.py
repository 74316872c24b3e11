"""What operations that are not followed may do: change memory, end threads, end iterations."""

from __future__ import annotations

from portcheck.ir import Call, Op, Opaque, OpaqueKind, operations, writes
from portcheck.values.evaluation import State
from portcheck.values.memory import Havoc
from portcheck.values.terms import Holds, Unknown

_UNNAMED = frozenset({OpaqueKind.CALL, OpaqueKind.TEXTURE})


def not_understood(state: State, op: Call | Opaque) -> None:
    """Carries out an operation of unknown meaning: nothing is known of what it may change or give."""
    reason = f"not understood: {op.callee if isinstance(op, Call) else op.reason}"
    forget(state, op, reason)
    state.results[op.id] = Unknown(reason, op.span)
    if state.is_trusted and _changes_unnamed_memory(op):
        for name, buffer in state.buffers.items():
            state.buffers[name] = buffer if buffer.per_thread else buffer.then(Havoc(reason))
    if isinstance(op, Opaque) and op.kind is OpaqueKind.CONTROL:
        leave_perhaps(state, op)
        state.jumps += 1


def forget(state: State, op: Op, reason: str) -> None:
    """Nothing is known any more of what `op` may write."""
    names = {name for inner in operations([op]) for name in writes(inner)}
    for name in sorted(names & state.buffers.keys()):
        state.buffers[name] = state.buffers[name].then(Havoc(reason))


def leave_perhaps(state: State, op: Op) -> None:
    """Some threads may return in `op`, which is not followed: who does what comes after it is not known."""
    left = Unknown("threads may have returned in what is not followed", op.span)
    state.exits = (*state.exits, (*state.path, Holds(left)))


def _changes_unnamed_memory(op: Call | Opaque) -> bool:
    """Whether `op` is there for what it does to memory, and no name says to which: it gives no value."""
    if op.type is not None:
        return False
    if isinstance(op, Opaque) and op.kind is OpaqueKind.MEMORY:
        return True
    return not op.writes and (isinstance(op, Call) or op.kind in _UNNAMED)
