"""Every rule flags its hits and leaves its no-hits alone; the examples are those that `explain` prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.pipeline import Request, check
from portcheck.rules import Example, Rule, all_rules

CASES = [(rule, example) for rule in all_rules() for example in rule.examples]


def codes_of(example: Example, folder: Path) -> set[str]:
    """The codes of all findings, attached consequences included."""
    (folder / "kernel.cu").write_text(example.cuda)
    (folder / "port.py").write_text(example.nki)
    request = Request(
        cuda_path=str(folder / "kernel.cu"), nki_path=str(folder / "port.py"), nki_version=example.nki_version
    )
    findings = check(request).report.findings
    attached = {consequence.code for finding in findings for consequence in finding.consequences}
    return {finding.code for finding in findings} | attached


@pytest.mark.parametrize(("rule", "example"), CASES, ids=[f"{rule.code}: {example.title}" for rule, example in CASES])
def test_a_rule_flags_its_hits_and_leaves_the_others_alone(rule: Rule, example: Example, tmp_path: Path) -> None:
    assert (rule.code in codes_of(example, tmp_path)) is example.hit


@pytest.mark.parametrize("rule", all_rules(), ids=[rule.code for rule in all_rules()])
def test_every_rule_has_a_twin_that_stays_silent_and_one_that_is_flagged(rule: Rule) -> None:
    assert {example.hit for example in rule.examples} == {True, False}
    assert not rule.examples[0].hit, "the example that must stay silent comes first"


@pytest.mark.parametrize("rule", all_rules(), ids=[rule.code for rule in all_rules()])
def test_every_rule_says_how_it_knows(rule: Rule) -> None:
    assert "**How we know.**" in rule.documentation
    assert rule.summary.endswith(".")
