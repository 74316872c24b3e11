"""Whether what is written about operands agrees with the calls, dtypes and chips it names."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.knowledge.load import Knowledge
from portcheck.knowledge.operands import ANY, CallFacts, Scope
from portcheck.knowledge.schema import Unknown
from portcheck.knowledge.versions import NkiVersion


def operand_problems(knowledge: Knowledge) -> Iterator[str]:
    """Every contradiction between the operands and the other tables, one sentence each, in a stable order."""
    for name, facts in knowledge.operands.items():
        api = knowledge.api_in_any_version(name)
        if api is None:
            yield f'operands of "{name}": no such call'
            continue
        parameters = {parameter.name for form in api.versions for parameter in form.parameters}
        for used in _parameters(facts):
            if used not in parameters:
                yield f'operands of "{name}": the call has no parameter "{used}"'
        for dtype in _dtypes(facts):
            if dtype != ANY and knowledge.dtype(dtype) is None:
                yield f'operands of "{name}": unknown dtype "{dtype}"'
        yield from _scope_problems(facts, knowledge)
    for forms in knowledge.exceeding.values():
        for form in forms:
            if not (_is_version(form.since) and (not form.until or _is_version(form.until))):
                yield f'exceeding: "{form.since}" to "{form.until}" is not a range of NKI versions'


def _parameters(facts: CallFacts) -> Iterator[str]:
    yield from facts.operands
    yield from facts.numbers
    yield from (mode.parameter for mode in facts.modes)
    for scope in _scopes(facts):
        yield from (parameter for parameter, _ in scope.when)


def _dtypes(facts: CallFacts) -> Iterator[str]:
    for operand in (*facts.operands.values(), *(case.facts for case in facts.cases)):
        yield from operand.not_dtypes
        if not isinstance(operand.dtypes, Unknown | None):
            yield from operand.dtypes
    for pairing in facts.pairs:
        yield from pairing.dtypes


def _scopes(facts: CallFacts) -> Iterator[Scope]:
    yield from (case.scope for case in facts.cases)
    yield from (pairing.scope for pairing in facts.pairs)


def _scope_problems(facts: CallFacts, knowledge: Knowledge) -> Iterator[str]:
    ranges = [(scope.since, scope.until, scope.targets) for scope in _scopes(facts)]
    ranges += [(mode.since, mode.until, mode.targets) for mode in facts.modes]
    for since, until, targets in ranges:
        if not (_is_version(since) and (not until or _is_version(until))):
            yield f'operands of "{facts.name}": "{since}" to "{until}" is not a range of NKI versions'
        for target in targets:
            if target not in knowledge.chips:
                yield f'operands of "{facts.name}": unknown chip "{target}"'


def _is_version(label: str) -> bool:
    try:
        NkiVersion.parse(label)
    except ValueError:
        return False
    return True
