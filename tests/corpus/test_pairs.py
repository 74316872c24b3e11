"""On every labelled pair: all labelled findings at their places, and no error or warning that no label lists."""

from __future__ import annotations

import ast

import pytest

from portcheck.pipeline.corpus import Label, labels, score_corpus, score_pair

LABELS = list(labels())


@pytest.mark.parametrize("label", LABELS, ids=[label.slug for label in LABELS])
def test_the_findings_are_exactly_those_of_the_label(label: Label) -> None:
    score = score_pair(label)
    assert [miss.codes for miss in score.missed] == []
    assert [(alarm.code, alarm.message) for alarm in score.alarms] == []
    assert score.is_verdict_right


@pytest.mark.parametrize("label", LABELS, ids=[label.slug for label in LABELS])
def test_every_quoted_anchor_occurs_once(label: Label) -> None:
    kernel = (label.path / "kernel.cu").read_text(encoding="utf-8")
    port = (label.path / "port.py").read_text(encoding="utf-8")
    ast.parse(port)
    for expected in label.findings:
        assert not expected.cuda or kernel.count(expected.cuda) == 1
        assert not expected.nki or port.count(expected.nki) == 1


def test_a_label_lists_what_its_kind_allows() -> None:
    """Faithful pairs list no warning or error; the severities come from the catalogue."""
    from portcheck.rules import find_rule

    for label in LABELS:
        severities = {find_rule(code).severity.value for entry in label.findings for code in entry.codes}
        if label.label == "faithful":
            assert not severities & {"error", "warning"}, label.slug
        if label.label == "decision":
            assert "error" not in severities, label.slug
            assert "warning" in severities, label.slug
        if label.label == "mutant":
            assert severities & {"error", "warning"}, label.slug


def test_both_generations_and_all_families_are_there() -> None:
    families = {label.path.parent.name for label in LABELS}
    assert families >= {"elementwise", "row_reduction", "histogram", "matmul", "transpose"}
    assert {label.nki_version.startswith("0.1") for label in LABELS} == {True, False}
    assert len(LABELS) >= 16


def test_the_score_counts_every_pair() -> None:
    score = score_corpus()
    assert score.pairs == len(LABELS)
    assert score.expected == sum(len(label.findings) for label in LABELS)
    assert (score.found, score.false_alarms) == (score.expected, 0)
