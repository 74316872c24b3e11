"""What is wrong with the arguments of a call, for a version that has the call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from portcheck.ir.uses import Argument, NumberUse, Run, TextUse, Use
from portcheck.knowledge import Form, Knowledge, NkiVersion, Parameter, Role
from portcheck.knowledge.apis import ApiVersion
from portcheck.knowledge.fitting import Misfit, MisfitKind, Written, call_misfits
from portcheck.knowledge.signatures import WRITTEN
from portcheck.rules.generation.expected import can_be, enumeration_of, slots_of


class Matter(Enum):
    """What a misuse is about, besides the name."""

    NAME = auto()
    PACKAGE = auto()
    KEYWORD = auto()
    SURPLUS = auto()
    MISSING = auto()
    DESTINATION = auto()
    """The call hands its result back instead of writing it."""
    WRITTEN = auto()
    """The call is given a destination and hands its result back."""
    KIND = auto()
    """An argument is of a kind that its parameter cannot take."""
    ORDER = auto()
    """The arguments stand in the order of another version."""
    FORM = auto()
    NOTICE = auto()


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that is wrong with a call: about which argument, and which version it would be right for."""

    matter: Matter
    argument: str = ""
    bound: str = ""
    others: tuple[str, ...] = ()
    kind: MisfitKind | None = None


def wrong_in(use: Use, version: NkiVersion, knowledge: Knowledge) -> Iterator[Wrong]:
    """What is wrong with the arguments of `use` in any of its runs, each thing once."""
    form = knowledge.api(use.name, version)
    if form is None:
        return
    found = dict.fromkeys(wrong for run in use.runs for wrong in _in_run(run, form, version, knowledge))
    yield from found


def written_in(run: Run) -> Written:
    """How a call was written."""
    positions = sum(argument.position is not None for argument in run.arguments)
    return Written(positions, tuple(item.parameter for item in run.arguments if item.position is None))


def _in_run(run: Run, form: ApiVersion, version: NkiVersion, knowledge: Knowledge) -> Iterator[Wrong]:
    misfits = call_misfits(knowledge, form.name, version, written_in(run), is_method=run.receiver is not None)
    slots = slots_of(form)
    kinds = list(_of_kinds(run, form, version, knowledge))
    by_position = [wrong for wrong, argument in kinds if argument.position is not None]
    other = _other_order(run, form, knowledge) if by_position else None
    if other is not None:
        yield Wrong(Matter.ORDER, slots[0].name if slots else "", other.since)
        return
    missing = [item for item in misfits if item.kind is MisfitKind.MISSING]
    destination = next((item.argument for item in missing if _is_written(form, item.argument)), "")
    if missing and not destination and _is_handed_back(run, form, knowledge):
        destination = next((item.name for item in slots if item.role in WRITTEN), "")
    if destination:
        more = tuple(item.argument for item in misfits if item.kind is MisfitKind.ARGUMENT_GONE)
        yield Wrong(Matter.DESTINATION, destination, others=more)
        return
    surplus = next((item for item in misfits if item.kind is MisfitKind.DESTINATION), None)
    if surplus is not None:
        yield Wrong(Matter.WRITTEN, surplus.argument, surplus.bound, kind=surplus.kind)
        return
    yield from (wrong for wrong, _ in kinds)
    yield from _of_misfits(misfits, by_position, form)


def _is_handed_back(run: Run, form: ApiVersion, knowledge: Knowledge) -> bool:
    """Whether a call of another package that hands its result back takes the arguments as they are written."""
    twins = [knowledge.apis[twin] for twin in knowledge.releases.twins(form.name) if twin in knowledge.apis]
    others = [other for twin in twins for other in twin.versions]
    return any(
        not any(parameter.role in WRITTEN for parameter in slots_of(other))
        and not call_misfits(knowledge, other.name, NkiVersion.parse(other.since), written_in(run))
        and all(
            can_be(knowledge, parameter, argument.operand, knowledge.releases.root_of(other.name))
            for argument, parameter in _bound(run, other)
        )
        for other in others
    )


def _of_misfits(misfits: Sequence[Misfit], by_position: Sequence[Wrong], form: ApiVersion) -> Iterator[Wrong]:
    unknown = [item for item in misfits if item.kind is MisfitKind.ARGUMENT_UNKNOWN]
    for item in misfits:
        if item.kind is MisfitKind.SURPLUS:
            yield Wrong(Matter.SURPLUS, kind=item.kind)
        elif item.kind is not MisfitKind.MISSING:
            yield Wrong(Matter.KEYWORD, item.argument, item.bound, kind=item.kind)
        elif not unknown and not by_position:
            yield Wrong(Matter.MISSING, item.argument, kind=item.kind)


def _is_written(form: ApiVersion, name: str) -> bool:
    parameter = form.parameter(name)
    return parameter is not None and parameter.role in WRITTEN


def _of_kinds(
    run: Run, form: ApiVersion, version: NkiVersion, knowledge: Knowledge
) -> Iterator[tuple[Wrong, Argument]]:
    """The arguments that cannot be what their parameters take."""
    root = knowledge.releases.root_of(form.name)
    for argument, parameter in _bound(run, form):
        if can_be(knowledge, parameter, argument.operand, root) or _is_taken(
            argument, parameter, root, version, knowledge
        ):
            continue
        yield Wrong(Matter.KIND, parameter.name, others=(type(argument.operand).__name__,)), argument


def _bound(run: Run, form: ApiVersion) -> Iterator[tuple[Argument, Parameter]]:
    slots = slots_of(form)
    for argument in run.arguments:
        if argument.position is None:
            parameter = form.parameter(argument.parameter)
        else:
            parameter = slots[argument.position] if argument.position < len(slots) else None
        if parameter is not None:
            yield argument, parameter


def _is_taken(argument: Argument, parameter: Parameter, root: str, version: NkiVersion, knowledge: Knowledge) -> bool:
    """Whether `version` takes a number or string where newer ones want a member of an enumeration or a space."""
    is_enumeration = bool(enumeration_of(knowledge, parameter, root))
    match argument.operand:
        case NumberUse() if is_enumeration:
            return knowledge.forms.ruling(Form.NUMBER_AS_ENUMERATION, version) is None
        case TextUse() if is_enumeration:
            return knowledge.forms.ruling(Form.TEXT_AS_ENUMERATION, version) is None
        case TextUse() if parameter.role is Role.BUFFER:
            return knowledge.forms.ruling(Form.TEXT_AS_SPACE, version) is None
        case _:
            return False


def _other_order(run: Run, form: ApiVersion, knowledge: Knowledge) -> ApiVersion | None:
    """The form of another version that takes these arguments in their order."""
    names = (form.name, *knowledge.releases.twins(form.name))
    forms = [other for name in names if name in knowledge.apis for other in reversed(knowledge.apis[name].versions)]
    for other in forms:
        root = knowledge.releases.root_of(other.name)
        bound = list(_bound(run, other))
        given = [argument for argument in run.arguments if argument.position is not None]
        if other.parameters == form.parameters or len(slots_of(other)) < len(given):
            continue
        if bound and all(can_be(knowledge, parameter, argument.operand, root) for argument, parameter in bound):
            return other
    return None
