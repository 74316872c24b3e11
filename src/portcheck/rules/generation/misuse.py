"""What a port uses that its version does not have, take or advise: each cause once, with all its places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from portcheck.ir import Program
from portcheck.ir.uses import Use, UseKind
from portcheck.knowledge import ApiStatus, Form, Knowledge, NkiVersion, Reception
from portcheck.knowledge.fitting import MisfitKind, name_misfit
from portcheck.rules.generation.calls import Matter, wrong_in
from portcheck.rules.generation.conflict import conflict_in
from portcheck.rules.generation.marks import is_marked


class Blame(Enum):
    """Which rule speaks of a misuse."""

    MIXED = auto()
    REMOVED = auto()
    DEPRECATED = auto()
    UNKNOWN = auto()
    ARGUMENT = auto()
    LANGUAGE = auto()


@dataclass(frozen=True, slots=True)
class Misuse:
    """One cause: `name` is the call, name or form, `argument` the parameter or keyword, `bound` a version.

    `uses` are its places; `others` are more names or words that the same cause takes in.
    """

    blame: Blame
    matter: Matter
    name: str
    uses: tuple[Use, ...]
    argument: str = ""
    bound: str = ""
    others: tuple[str, ...] = ()


def misuses(program: Program, knowledge: Knowledge, *blames: Blame) -> list[Misuse]:
    """What the rules of `blames` speak of in `program`, in the order of the text."""
    found = [item for item in _Judge(program, knowledge).found() if item.blame in blames]
    return sorted(found, key=lambda item: (item.uses[0].span.path, item.uses[0].span.start, item.name))


class _Judge:
    """Goes through the uses of one program."""

    def __init__(self, program: Program, knowledge: Knowledge) -> None:
        self._program = program
        self._knowledge = knowledge
        self._version = NkiVersion.parse(program.version or knowledge.releases.newest.label)
        self._root = knowledge.releases.at(self._version).root
        named = [use for use in program.uses if use.kind is not UseKind.FORM]
        self._natives = [use for use in named if knowledge.releases.root_of(use.name) == self._root]
        self._strangers = [use for use in named if knowledge.releases.root_of(use.name) not in ("", self._root)]

    def found(self) -> Iterator[Misuse]:
        """Every misuse, each once."""
        yield from self._of_other_packages()
        conflict = (
            None if self._program.is_version_stated else conflict_in(self._natives, self._version, self._knowledge)
        )
        if conflict is not None:
            yield Misuse(Blame.MIXED, Matter.NAME, conflict.uses[0].name, conflict.uses, others=conflict.others)
        left = [use for use in self._natives if conflict is None or use not in conflict.uses]
        yield from _grouped(item for use in left for item in self._of_native(use))
        kernels = {kernel.name for kernel in self._program.kernels if is_marked(kernel, self._program)}
        forms = [use for use in self._program.uses if use.kind is UseKind.FORM and use.kernel in kernels]
        yield from _grouped(item for use in forms for item in self._of_form(use))

    def _of_other_packages(self) -> Iterator[Misuse]:
        """Names of a package that the version's kernels are not written in."""
        if not self._strangers:
            return
        package = self._knowledge.releases.root_of(self._strangers[0].name)
        names = tuple(dict.fromkeys(use.name for use in self._strangers))
        if self._natives:
            yield Misuse(Blame.MIXED, Matter.PACKAGE, package, tuple(self._strangers), others=names)
            return
        is_older = NkiVersion.parse(self._knowledge.releases.first_in(package)) < self._version
        blame = Blame.REMOVED if is_older else Blame.UNKNOWN
        yield Misuse(blame, Matter.PACKAGE, package, tuple(self._strangers), others=names)
        without = [use for use in self._strangers if is_older and not self._has_twin(use.name)]
        yield from _grouped(
            Misuse(Blame.REMOVED, Matter.NAME, use.name, (use,), bound=self._knowledge.releases.first_in(self._root))
            for use in without
        )

    def _has_twin(self, name: str) -> bool:
        twins = self._knowledge.releases.twins(name)
        return name in self._knowledge.releases.packages or any(
            self._knowledge.offers(twin, self._version) is not False and not self._is_unknown(twin) for twin in twins
        )

    def _is_unknown(self, name: str) -> bool:
        found = name_misfit(self._knowledge, name, self._version)
        return found is not None

    def _of_native(self, use: Use) -> Iterator[Misuse]:
        found = name_misfit(self._knowledge, use.name, self._version)
        if found is not None:
            blame = Blame.REMOVED if found.kind is MisfitKind.GONE else Blame.UNKNOWN
            yield Misuse(blame, Matter.NAME, use.name, (use,), bound=found.bound)
            return
        form = self._knowledge.api(use.name, self._version)
        if form is not None and form.status is ApiStatus.DEPRECATED:
            yield Misuse(Blame.DEPRECATED, Matter.NAME, use.name, (use,), bound=form.since)
        yield from self._of_notices(use)
        if use.kind is UseKind.CALL:
            yield from self._of_arguments(use)

    def _of_arguments(self, use: Use) -> Iterator[Misuse]:
        for wrong in wrong_in(use, self._version, self._knowledge):
            blame = Blame.REMOVED if wrong.kind is MisfitKind.ARGUMENT_GONE else Blame.ARGUMENT
            yield Misuse(blame, wrong.matter, use.name, (use,), wrong.argument, wrong.bound, wrong.others)

    def _of_notices(self, use: Use) -> Iterator[Misuse]:
        keywords = {argument.parameter for run in use.runs for argument in run.arguments}
        for argument in ("", *sorted(keywords - {""})):
            ruling = self._knowledge.forms.notice(use.name, argument, self._version)
            if ruling is not None:
                blame = Blame.REMOVED if ruling.reception is Reception.REJECTED else Blame.DEPRECATED
                yield Misuse(blame, Matter.NOTICE, use.name, (use,), argument, ruling.since)

    def _of_form(self, use: Use) -> Iterator[Misuse]:
        ruling = self._knowledge.forms.ruling(Form(use.name), self._version)
        if ruling is None:
            return
        blame = Blame.REMOVED if use.name == Form.TILE_ARITHMETIC else Blame.LANGUAGE
        if ruling.reception is Reception.DEPRECATED:
            blame = Blame.DEPRECATED
        yield Misuse(blame, Matter.FORM, use.name, (use,), bound=ruling.since)


def _grouped(found: Iterable[Misuse]) -> Iterator[Misuse]:
    """One misuse for each cause, with the places of all."""
    groups: dict[tuple[object, ...], list[Misuse]] = {}
    for item in found:
        kind = item.others if item.matter is Matter.KIND else ()
        key = (item.blame, item.matter, item.name, item.argument, item.bound, kind)
        groups.setdefault(key, []).append(item)
    for items in groups.values():
        uses = tuple(dict.fromkeys(use for item in items for use in item.uses))
        others = tuple(dict.fromkeys(word for item in items for word in item.others))
        yield replace(items[0], uses=uses, others=others)
