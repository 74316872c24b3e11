import json

import jsonschema
import pytest
from tests.reporting.sample import EMPTY, HOSTILE_REPORT, REPORT, TAIL

from portcheck.core.report import Report
from portcheck.reporting import render, schema

TOP_LEVEL = [
    "schema_version",
    "tool",
    "inputs",
    "target",
    "nki_version",
    "verdict",
    "summary",
    "coverage",
    "alignment",
    "mapping",
    "outputs",
    "reductions",
    "precision",
    "findings",
    "suppressed",
    "not_checked",
]
FINDING = [
    "code",
    "name",
    "severity",
    "certainty",
    "message",
    "remedy",
    "because",
    "consequences",
    "cuda",
    "nki",
    "fingerprint",
    "outputs",
    "about_rounding",
]
DOCUMENT = json.loads(render(REPORT, "json"))

reports = pytest.mark.parametrize("report", [REPORT, EMPTY, HOSTILE_REPORT], ids=["full", "empty", "hostile"])


@reports
def test_document_is_valid_under_the_schema(report: Report) -> None:
    jsonschema.validate(json.loads(render(report, "json")), json.loads(schema()))


def test_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema()))


def test_top_level_keys_are_fixed_and_in_order() -> None:
    assert list(DOCUMENT) == TOP_LEVEL


def test_finding_keys_are_fixed_and_in_order() -> None:
    assert list(DOCUMENT["findings"][0]) == FINDING


def test_place_is_flat_with_start_and_end() -> None:
    assert DOCUMENT["findings"][0]["cuda"] == {
        "path": "kernel.cu",
        "start": {"line": 4, "column": 3},
        "end": {"line": 4, "column": 30},
        "text": "const int row = blockIdx.x;",
    }


def test_missing_side_is_null() -> None:
    assert DOCUMENT["findings"][2]["cuda"] is None


def test_texts_survive_the_round_trip() -> None:
    hostile = json.loads(render(HOSTILE_REPORT, "json"))["findings"][0]
    assert hostile["message"] == HOSTILE_REPORT.findings[0].message
    assert hostile["cuda"]["text"] != TAIL.message and HOSTILE_REPORT.findings[0].cuda is not None
    assert hostile["cuda"]["text"] == HOSTILE_REPORT.findings[0].cuda.text


def test_an_unknown_key_is_not_valid() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema()))
    assert not validator.is_valid({**DOCUMENT, "extra": 1})


@pytest.mark.parametrize("key", TOP_LEVEL)
def test_a_missing_key_is_not_valid(key: str) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema()))
    assert not validator.is_valid({name: value for name, value in DOCUMENT.items() if name != key})
