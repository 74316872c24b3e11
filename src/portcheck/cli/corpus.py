"""`portcheck corpus`: how well the labelled pairs are judged."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from portcheck.cli.columns import in_columns
from portcheck.cli.writing import write_data

if TYPE_CHECKING:
    from portcheck.pipeline import CorpusScore

corpus = typer.Typer(no_args_is_help=True, help="Measure portcheck on the labelled pairs that ship with it.")


@corpus.callback()
def labelled_pairs() -> None:
    """Measure portcheck on the labelled pairs that ship with it."""


@corpus.command()
def score(
    as_json: Annotated[bool, typer.Option("--json", help="Print the score as JSON.")] = False,
) -> None:
    """Compare what is reported with what the labels say, rule by rule."""
    from portcheck.pipeline import score_corpus

    result = score_corpus()
    write_data(json.dumps(asdict(result), indent=2) + "\n" if as_json else score_text(result))


def score_text(score: CorpusScore) -> str:
    """The totals in sentences, a table of rules, then every miss and every false alarm."""
    lines = [
        f"{score.pairs} pairs; {score.verdicts_right} verdicts as labelled",
        f"recall        {_share(score.found, score.expected)} labelled findings were reported",
        f"false alarms  {score.false_alarms} findings that no label expects",
    ]
    rows = [("rule", "labelled", "reported", "recall", "false alarms")]
    for rule in score.rules:
        numbers = (str(rule.expected), str(rule.found), _percent(rule.found, rule.expected), str(rule.false_alarms))
        rows.append((rule.code, *numbers))
    problems = [f"missed: {text}" for text in score.misses] + [f"false alarm: {text}" for text in score.alarms]
    parts = ["\n".join(lines) + "\n", in_columns(rows), "".join(f"{line}\n" for line in problems)]
    return "\n".join(part for part in parts if part)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({_percent(part, whole)})"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
