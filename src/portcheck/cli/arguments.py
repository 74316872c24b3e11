"""Option values that have a form: NAME=VALUE, FORMAT=PATH, assumptions, folders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from portcheck.cli.writing import check_destination
from portcheck.core.errors import InputError, did_you_mean
from portcheck.reporting import format_names

STOCHASTIC_ROUNDING = "stochastic-rounding"
AUTO_CAST = "auto-cast"


def named_values(option: str, items: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of NAME=VALUE; raises InputError for another form or a name given twice."""
    pairs: dict[str, str] = {}
    for item in items:
        name, equals, value = (part.strip() for part in item.partition("="))
        if not name or not equals or not value:
            raise InputError(f'{option} "{item}" is not NAME=VALUE', hint=f"write {option} NAME=VALUE")
        _once(option, name, pairs)
        pairs[name] = value
    return tuple(pairs.items())


def sizes(items: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of --shape, each a size or several with commas between; raises InputError for anything else."""
    pairs = named_values("--shape", items)
    for name, value in pairs:
        numbers = [part.strip() for part in value.strip("()[] ").replace("x", ",").split(",")]
        if not all(number.isascii() and number.isdigit() and int(number) for number in numbers):
            raise InputError(
                f'--shape {name}: "{value}" is not a size', hint="write --shape rows=512, or --shape x=512,4096"
            )
    return pairs


def definitions(items: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The macros of --define; as for a compiler, NAME alone is 1 and NAME= is empty."""
    pairs: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not name.strip().isidentifier():
            raise InputError(f'--define "{item}" does not name a macro', hint="write --define NAME=VALUE")
        _once("--define", name, pairs)
        pairs[name.strip()] = value if equals else "1"
    return tuple(pairs.items())


def assumptions(items: Iterable[str]) -> tuple[str, ...]:
    """The values of --assume, checked; in the order given."""
    checked: list[str] = []
    for item in items:
        name, equals, value = item.partition("=")
        if not (item == STOCHASTIC_ROUNDING or (name == AUTO_CAST and equals and value)):
            known = f"choose {STOCHASTIC_ROUNDING} or {AUTO_CAST}=TYPE"
            hint = did_you_mean(name, (STOCHASTIC_ROUNDING, AUTO_CAST)) if name != AUTO_CAST else ""
            raise InputError(f'--assume "{item}" is not an assumption that portcheck knows', hint=hint or known)
        checked.append(item)
    return tuple(checked)


def folders(items: Iterable[str], option: str = "-I", what: str = "header") -> tuple[str, ...]:
    """The folders of an option; raises InputError for one that is not there."""
    roots = tuple(items)
    for root in roots:
        if not Path(root).is_dir():
            problem = "is not a folder" if Path(root).exists() else "does not exist"
            raise InputError(f"{option} {root} {problem}", hint=f"name the folder that holds the {what}")
    return roots


def module_roots(items: Iterable[str]) -> tuple[str, ...]:
    """The folders of --nki-root; raises InputError for one that is not there."""
    return folders(items, "--nki-root", "package of the module")


def checked_format(name: str) -> str:
    """`name` if it is a format; raises InputError with the nearest one."""
    known = format_names()
    if name not in known:
        hint = did_you_mean(name, known) or f"choose one of {', '.join(known)}"
        raise InputError(f'there is no format called "{name}"', hint=hint)
    return name


def destinations(items: Iterable[str], inputs: Sequence[str]) -> tuple[tuple[str, Path], ...]:
    """The formats and paths of --output; raises InputError for a path that cannot be written or is one of `inputs`."""
    found: list[tuple[str, Path]] = []
    taken = {Path(name).resolve() for name in inputs}
    for item in items:
        name, _, where = item.partition("=")
        if not name or not where:
            raise InputError(f'--output "{item}" is not FORMAT=PATH', hint="write --output markdown=report.md")
        path = Path(where)
        check_destination(path)
        if path.resolve() in taken:
            raise InputError(f"--output would write over {where}", hint="name a file that is neither read nor written")
        taken.add(path.resolve())
        found.append((checked_format(name), path))
    return tuple(found)


def _once(option: str, name: str, pairs: dict[str, str]) -> None:
    if name in pairs:
        raise InputError(f"{option} gives {name} twice")
