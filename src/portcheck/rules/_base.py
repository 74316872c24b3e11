"""What a rule is: one decorated function with its metadata, documentation and examples; and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from portcheck.align import Alignment
from portcheck.align.kernels import Pairing
from portcheck.core.finding import Certainty, Severity
from portcheck.core.source import SourceFile, Span
from portcheck.ir import Scan, kernel_operations
from portcheck.knowledge import Knowledge
from portcheck.passes import Facts
from portcheck.values import Evaluated


@dataclass(frozen=True, slots=True)
class Unparsed:
    """Text that a frontend could not read."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Everything a rule may ask about a pair. `nki` is a program without kernels where the port could not be read.

    `target` is the name of the chip that the port is judged for.
    """

    cuda: Facts
    nki: Facts
    original: Evaluated
    port: Evaluated
    alignment: Alignment
    pairing: Pairing
    knowledge: Knowledge
    target: str
    sources: Mapping[str, SourceFile]
    cuda_unparsed: tuple[Unparsed, ...] = ()
    nki_unparsed: tuple[Unparsed, ...] = ()

    @property
    def has_port(self) -> bool:
        """Whether there is an NKI kernel to compare with."""
        return bool(self.nki.program.kernels)

    @property
    def is_port_readable(self) -> bool:
        """Whether all of the port was understood, so that what was not found in it is not there."""
        return self.nki.is_understood

    @property
    def is_port_followed(self) -> bool:
        """Whether all of the port was understood and holds nothing whose reductions are not followed."""
        return self.is_port_readable and not any(isinstance(op, Scan) for op in kernel_operations(self.nki.program))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a rule reports; code, name, severity and certainty come from the rule unless lowered here.

    `subject` holds ids of operations the finding is about and `outputs` the outputs: findings of other rules about
    the same ones may be attached as consequences.
    """

    message: str
    remedy: str
    cuda: Span | None = None
    nki: Span | None = None
    because: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    subject: frozenset[int] = frozenset()
    certainty: Certainty | None = None
    about_rounding: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A miniature pair that a rule must flag (`hit`) or leave alone."""

    title: str
    cuda: str
    nki: str
    hit: bool
    nki_version: str | None = None


Judge = Callable[[Pair], Iterator[Draft]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of the catalogue. `certainty` is a ceiling. `consequence_of` lists codes that explain a finding of it."""

    code: str
    name: str
    severity: Severity
    certainty: Certainty
    summary: str
    documentation: str
    judge: Judge
    examples: tuple[Example, ...] = ()
    about_rounding: bool = False
    needs_port: bool = True
    consequence_of: tuple[str, ...] = field(default=())


def rule(
    code: str,
    name: str,
    severity: Severity,
    certainty: Certainty,
    *,
    documentation: str,
    examples: tuple[Example, ...] = (),
    about_rounding: bool = False,
    needs_port: bool = True,
    consequence_of: tuple[str, ...] = (),
) -> Callable[[Judge], Rule]:
    """Makes a rule of the decorated function; its docstring's first line is the summary."""

    def made(judge: Judge) -> Rule:
        return Rule(
            code=code,
            name=name,
            severity=severity,
            certainty=certainty,
            summary=(judge.__doc__ or "").strip().splitlines()[0],
            documentation=documentation.strip(),
            judge=judge,
            examples=examples,
            about_rounding=about_rounding,
            needs_port=needs_port,
            consequence_of=consequence_of,
        )

    return made
