"""How findings about a version speak: places, counts, what a version does, what to write instead."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.core.finding import Certainty
from portcheck.ir.uses import Use
from portcheck.knowledge import Form, Knowledge, NkiVersion, Reception, Ruling

_PLACES_SHOWN = 8


def places(uses: Sequence[Use]) -> str:
    """ " (3 times: lines 4, 5 and 9)", nothing for a single place."""
    lines = list(dict.fromkeys(use.span.start.line for use in uses))
    if len(lines) < 2:
        return ""
    shown = [str(line) for line in lines[:_PLACES_SHOWN]]
    rest = f" and {len(lines) - _PLACES_SHOWN} more" if len(lines) > _PLACES_SHOWN else ""
    return f" ({len(uses)} times: lines {', '.join(shown)}{rest})"


def listed(words: Sequence[str], most: int = _PLACES_SHOWN) -> str:
    """`a`, `b` and 3 more."""
    shown = ", ".join(f"`{word}`" for word in words[:most])
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown


def what_happens(version: str, ruling: Ruling | None) -> str:
    """What `version` does with something that it does not have or take."""
    match ruling.reception if ruling is not None else Reception.REJECTED:
        case Reception.IGNORED:
            return f"NKI {version} ignores it and says nothing"
        case Reception.DEPRECATED:
            return f"NKI {version} warns of it"
        case Reception.REJECTED:
            return f"NKI {version} refuses it"


def of_keyword(knowledge: Knowledge, version: NkiVersion) -> str:
    """What `version` does with a keyword that the call does not have."""
    facts = knowledge.forms.forms[Form.UNKNOWN_KEYWORD]
    rulings = [ruling for ruling in facts.rulings if ruling.includes(version)]
    ignoring = [ruling for ruling in rulings if ruling.reception is Reception.IGNORED]
    if ignoring and len(rulings) > 1:
        return f"before NKI {ignoring[0].until} it is ignored and nothing said, from there on refused"
    return what_happens(str(version), rulings[-1] if rulings else None)


def doubted(knowledge: Knowledge, form: Form) -> tuple[Certainty | None, tuple[str, ...]]:
    """How certain it is that a version refuses `form`, if less than certain, and why."""
    doubt = knowledge.forms.forms[form].doubt
    if not doubt:
        return None, ()
    return Certainty.HINT, (f"the release notes say so; the vendor's own kernels have it: {doubt}",)


def short(name: str) -> str:
    """The last two parts of a qualified name: "isa.tensor_copy"."""
    return ".".join(name.split(".")[-2:])
