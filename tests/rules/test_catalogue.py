"""The catalogue holds the rules of this version under their binding codes, names, severities and certainties."""

from __future__ import annotations

import pytest

from portcheck.core.errors import InputError
from portcheck.rules import all_rules, find_rule

CATALOGUE = {
    "PC001": ("cuda-not-parsed", "warning", "certain"),
    "PC002": ("nki-not-parsed", "error", "certain"),
    "PC003": ("construct-not-understood", "note", "certain"),
    "PC004": ("helper-not-found", "note", "certain"),
    "PC005": ("size-not-resolved", "note", "certain"),
    "PC006": ("pairing-uncertain", "warning", "likely"),
    "PC101": ("warp-shuffle-unmapped", "error", "likely"),
    "PC110": ("atomic-unmapped", "error", "certain"),
    "PC120": ("bank-padding-carried", "perf", "certain"),
    "PC121": ("bank-swizzle-carried", "error", "likely"),
    "PC122": ("bank-trick-dropped", "note", "certain"),
    "PC130": ("barrier-absorbed", "note", "certain"),
    "PC160": ("input-not-consumed", "error", "certain"),
    "PC161": ("output-not-produced", "error", "certain"),
    "PC201": ("reduction-missing", "error", "certain"),
    "PC202": ("reduction-operator-changed", "error", "certain"),
    "PC205": ("reduction-order-changed", "note", "certain"),
    "PC301": ("accumulator-narrowed", "warning", "certain"),
    "PC302": ("accumulator-widened", "note", "certain"),
    "PC303": ("double-lost", "warning", "certain"),
    "PC304": ("storage-type-changed", "warning", "certain"),
    "PC401": ("tail-tile-dropped", "error", "certain"),
    "PC402": ("bounds-guard-lost", "error", "likely"),
    "PC404": ("domain-narrowed", "warning", "certain"),
    "PC423": ("max-subtraction-dropped", "warning", "certain"),
    "PC520": ("equal-over-the-reals", "note", "certain"),
    "PC521": ("equality-not-decided", "note", "certain"),
    "PC701": ("partition-limit-exceeded", "error", "certain"),
    "PC702": ("partition-start-illegal", "error", "certain"),
    "PC703": ("matmul-tile-limit-exceeded", "error", "certain"),
    "PC704": ("operand-space-illegal", "error", "certain"),
    "PC707": ("dtype-not-on-target", "error", "certain"),
    "PC708": ("instruction-not-on-target", "error", "certain"),
    "PC801": ("api-generations-mixed", "error", "certain"),
    "PC802": ("api-removed", "error", "certain"),
    "PC803": ("api-deprecated", "note", "certain"),
    "PC804": ("api-unknown", "error", "certain"),
    "PC805": ("api-argument-unknown", "error", "certain"),
    "PC806": ("api-meaning-changed", "warning", "certain"),
    "PC807": ("output-buffer-kind-wrong", "error", "certain"),
    "PC808": ("language-subset-violated", "error", "certain"),
}
ABOUT_ROUNDING = {"PC205", "PC302"}


def test_codes_names_severities_and_certainties_are_those_of_the_catalogue() -> None:
    found = {rule.code: (rule.name, rule.severity.value, rule.certainty.value) for rule in all_rules()}
    assert found == CATALOGUE


def test_only_the_rules_about_rounding_say_so() -> None:
    assert {rule.code for rule in all_rules() if rule.about_rounding} == ABOUT_ROUNDING


@pytest.mark.parametrize("wanted", ["PC401", "pc401", "tail-tile-dropped"])
def test_a_rule_is_found_by_code_or_name(wanted: str) -> None:
    assert find_rule(wanted).code == "PC401"


def test_an_unknown_rule_is_an_input_error_with_the_nearest_name() -> None:
    with pytest.raises(InputError) as caught:
        find_rule("tail-tile-droped")
    assert "tail-tile-dropped" in caught.value.hint
