"""What of the NKI kernels under a folder was understood: entries, calls, tiles of instructions, versions."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nki_census import Entry, entries_in, is_python
from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiModule
from portcheck.ir import Program
from portcheck.ir.uses import Argument, OperandUse, OtherUse, TileUse, Use, UseKind, tiles_in

UNDECIDED = "no import of NKI"
INSTRUCTIONS = "nki.isa."
PACKAGES = ("nki.language.", "nki.isa.", "nki.collectives.")
WRITTEN = ("destination", "reduce_destination")
TILES = (
    *WRITTEN, "source", "sources", "stationary", "moving", "stationary_scale", "moving_scale", "predicate", "indices",
    "operand0", "operand1", "scale", "bias", "on_true", "on_false", "value",
)  # fmt: skip
SHOWN = 20


@dataclass
class Seen:
    """How many of some things were understood."""

    all: int = 0
    known: int = 0

    def add(self, *known: bool) -> None:
        self.all += len(known)
        self.known += sum(known)

    @property
    def share(self) -> str:
        return f"{100 * self.known / max(self.all, 1):.2f} %"


@dataclass
class NkiSweep:
    """What was found in the Python files of one folder that hold NKI kernels.

    `sites` are the calls written in the text of entries and of functions of the same file that they call, once an
    entry; `calls` the places in any file that kernels reached, once a place.
    """

    files: int = 0
    not_python: list[str] = field(default_factory=list)
    entries: int = 0
    lowered: int = 0
    repeated: int = 0
    in_no_python: int = 0
    unmarked: int = 0
    lost: list[str] = field(default_factory=list)
    sites: Counter[str] = field(default_factory=Counter)
    calls: dict[tuple[str, int, int], bool] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    first_place: dict[str, str] = field(default_factory=dict)
    destinations: Seen = field(default_factory=Seen)
    operands: Seen = field(default_factory=Seen)
    versions: Counter[str] = field(default_factory=Counter)
    undecided: list[str] = field(default_factory=list)


def add(sweep: NkiSweep, path: Path, module: NkiModule, program: Program) -> None:
    """Adds what became of one file."""
    source: SourceFile = module.source
    written = entries_in(source.text)
    if not is_python(source.text):
        sweep.not_python.append(f"{path}: {module.problems[0].message if module.problems else ''}")
        sweep.entries += len(written)
        sweep.in_no_python += len(written)
        return
    if not written and not program.kernels:
        return
    sweep.files += 1
    _count_entries(sweep, path, written, program)
    _count_version(sweep, path, module)
    calls = [use for use in program.uses if use.kind is UseKind.CALL and _is_nki(use.name)]
    _count_sites(sweep, str(path), written, calls)
    for use in calls:
        if use.kernel:
            _count_call(sweep, use)


def _count_entries(sweep: NkiSweep, path: Path, written: list[Entry], program: Program) -> None:
    names = [entry.name for entry in written]
    lowered = {kernel.name for kernel in program.kernels}
    sweep.entries += len(names)
    sweep.unmarked += len(lowered - set(names))
    for place, entry in enumerate(written):
        if entry.name not in lowered:
            sweep.lost.append(f"{path}:{entry.line} {entry.name}")
        elif entry.name in names[:place]:
            sweep.repeated += 1
        else:
            sweep.lowered += 1


def _count_version(sweep: NkiSweep, path: Path, module: NkiModule) -> None:
    sweep.versions[module.version] += 1
    if any(reason.startswith(UNDECIDED) for reason in module.version_evidence):
        sweep.undecided.append(str(path))


def _count_sites(sweep: NkiSweep, path: str, written: list[Entry], calls: list[Use]) -> None:
    """Compares the calls in the text of each entry with what was seen of them; the last kernel of a name counts."""
    seen: dict[str, dict[tuple[int, int], bool]] = defaultdict(dict)
    for use in calls:
        place = (use.span.start.line, use.span.start.column)
        if use.span.path == path:
            seen[use.kernel][place] = use.is_understood and seen[use.kernel].get(place, True)
    for entry in {entry.name: entry for entry in written}.values():
        for place in entry.calls:
            found = seen[entry.name].get(place)
            sweep.sites["not reached" if found is None else "understood" if found else "not understood"] += 1


def _count_call(sweep: NkiSweep, use: Use) -> None:
    place = (use.span.path, use.span.start.line, use.span.start.column)
    sweep.calls[place] = use.is_understood and sweep.calls.get(place, True)
    if not use.is_understood:
        reason = f"{use.name.rpartition('.')[2]}: {use.reason}"
        sweep.reasons[reason] += 1
        sweep.first_place.setdefault(reason, f"{use.span.path}:{use.span.start.line}")
    if not use.name.removeprefix("neuronxcc.").startswith(INSTRUCTIONS):
        return
    for run in use.runs:
        written = [argument for argument in run.arguments if argument.role in WRITTEN]
        results = [run.result] if not written and isinstance(run.result, TileUse | OtherUse) else []
        sweep.destinations.add(*map(_is_known_argument, written), *(isinstance(item, TileUse) for item in results))
        taken = [argument for argument in run.arguments if argument.role in TILES]
        sweep.operands.add(*map(_is_known_argument, taken), *(isinstance(item, TileUse) for item in results))


def _is_known_argument(argument: Argument) -> bool:
    """Whether shape and dtype of the tiles of an argument are known, as numbers or symbols."""
    return not _is_unknown(argument.operand)


def _is_unknown(operand: OperandUse) -> bool:
    return isinstance(operand, OtherUse) and not list(tiles_in(operand))


def _is_nki(name: str) -> bool:
    return name.removeprefix("neuronxcc.").startswith(PACKAGES)


def report(sweep: NkiSweep) -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """The tables, each as its titles and rows."""
    yield (
        ("NKI files", "no Python", "entries by census", "lowered", "repeated", "in no Python", "lost", "unmarked"),
        [_row(sweep.files, len(sweep.not_python), sweep.entries, sweep.lowered, sweep.repeated, sweep.in_no_python,
              len(sweep.lost), sweep.unmarked)],
    )  # fmt: skip
    sites, calls = sweep.sites, Seen(len(sweep.calls), sum(sweep.calls.values()))
    missing = f"{100 * (calls.all - calls.known) / max(calls.all, 1):.2f} %"
    yield (
        ("calls in entries", "understood", "not understood", "not reached", "calls reached", "not understood", "share"),
        [_row(sum(sites.values()), sites["understood"], sites["not understood"], sites["not reached"],
              calls.all, calls.all - calls.known, missing)],
    )  # fmt: skip
    yield (
        ("instruction destinations", "known", "share", "instruction operands", "known", "share"),
        [_row(sweep.destinations.all, sweep.destinations.known, sweep.destinations.share,
              sweep.operands.all, sweep.operands.known, sweep.operands.share)],
    )  # fmt: skip
    versions = sorted(sweep.versions.items())
    yield (("version", *(version for version, _ in versions), "undecided"),
           [_row("files", *(count for _, count in versions), len(sweep.undecided))])  # fmt: skip
    rows = sorted(sweep.reasons.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
    if rows:
        shown = [
            _row(count, " ".join(reason.split()).replace("|", "/"), sweep.first_place[reason]) for reason, count in rows
        ]
        yield (("calls", "not understood because", "first at"), shown)


def places(sweep: NkiSweep) -> Iterator[str]:
    """What stands under the tables."""
    yield from (f"lost: {line}" for line in sweep.lost[:SHOWN])
    yield from (f"no Python: {line}" for line in sweep.not_python[:SHOWN])
    yield from (f"undecided: {line}" for line in sweep.undecided[:SHOWN])


def _row(*cells: object) -> tuple[str, ...]:
    return tuple(map(str, cells))
