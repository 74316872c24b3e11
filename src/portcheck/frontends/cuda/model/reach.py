"""What text that is not understood may read and change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from portcheck.frontends.cuda.model.frames import Scope, collect
from portcheck.frontends.cuda.model.values import Closure
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.text.lexer import significant
from portcheck.ir import Expr

if TYPE_CHECKING:
    from portcheck.frontends.cuda.model.state import State

_NAMES = ("identifier", "type_identifier")
"""`T v(a)` parses as a function that takes an `a`."""


def mentioned(state: State, node: Node) -> tuple[tuple[str, ...], tuple[Expr, ...]]:
    """The buffers `node` may read or change by the names in it, and the scalars it mentions."""
    read: dict[str, None] = {}
    operands: dict[Expr, None] = {}
    names = [(found.text, state.scopes) for found in node.found(*_NAMES)]
    seen: set[tuple[str, int]] = set()
    closures: dict[int, list[Scope]] = {}
    for name, scopes in names:  # which grows by what lambdas and macros mention
        key = (name, id(scopes))
        binding = next((scope[name] for scope in reversed(scopes) if name in scope), None)
        if key in seen:
            continue
        seen.add(key)
        if isinstance(binding, Closure):
            held = closures.setdefault(id(binding), list(binding.scopes))
            names.extend((found.text, held) for found in binding.node.found(*_NAMES))
        elif binding is not None:
            collect(binding, read, operands)
        elif name in state.macros:
            names.extend((token.text, scopes) for token in significant(state.macros[name].body))
    return tuple(read), tuple(operands)


def memory(state: State) -> tuple[str, ...]:
    """All that any address may lead to here: what is no local, and the locals in scope; not what is constant."""
    found = {name: None for name in state.buffers if name not in state.locals}
    for scope in state.scopes:
        for binding in scope.values():
            collect(binding, found, {})
    return tuple(_variable(state, found))


def changed(state: State, given: Iterable[str], *others: str) -> tuple[str, ...]:
    """What text that is not understood may change: what it is `given`, `others`, and what such text was given before.

    It may have kept the address of memory, in an object of its own say.
    """
    found = dict.fromkeys((*_variable(state, given), *others))
    state.handed.update((name, None) for name in found if name not in state.locals)
    return tuple(found | state.handed)


def _variable(state: State, names: Iterable[str]) -> Iterable[str]:
    return (name for name in names if name not in state.buffers or not state.buffers[name].constant)
