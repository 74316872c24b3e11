"""`portcheck explain`: what a rule flags, why it matters and how to mend it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Annotated

import typer

from portcheck.cli.writing import write_data


def complete_rule(incomplete: str) -> list[tuple[str, str]]:
    """The codes and names that start with `incomplete`, each with what the rule flags, for shell completion."""
    from portcheck.rules import all_rules

    spellings = [(spelling, rule.summary) for rule in all_rules() for spelling in (rule.code, rule.name)]
    return [(spelling, summary) for spelling, summary in spellings if spelling.startswith(incomplete)]


def explain(
    rule: Annotated[
        str,
        typer.Argument(
            metavar="CODE|NAME", help="A rule, such as PC401.", show_default=False, autocompletion=complete_rule
        ),
    ],
) -> None:
    """Explain a rule: what it flags, why that matters, how to mend it, how we know, with examples."""
    from portcheck.rules import find_rule

    found = find_rule(rule)
    parts = [
        f"{found.code} {found.name}\n{found.severity}, at most {found.certainty}",
        found.summary.strip(),
        found.documentation.strip(),
        *(f"Example: {shown}" for shown in map(example_text, found.examples)),
    ]
    write_data("\n\n".join(part for part in parts if part) + "\n")


def example_text(example: object) -> str:
    """An example of a rule as text: its short fields on lines of their own, its sources as indented blocks."""
    if not is_dataclass(example) or isinstance(example, type):
        return str(example)
    named = ((field.name, getattr(example, field.name)) for field in fields(example))
    return "\n".join(line for name, value in named if value not in (None, "", ()) for line in _field(name, value))


def _field(name: str, value: object) -> Iterator[str]:
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, tuple):
        value = ", ".join(map(str, value))
    text = str(value.value) if isinstance(value, Enum) else str(value)
    if "\n" not in text.strip():
        yield f"{name}: {text.strip()}"
        return
    yield f"{name}:"
    yield from (f"    {line}".rstrip() for line in text.strip("\n").split("\n"))
