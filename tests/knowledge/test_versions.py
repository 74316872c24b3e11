"""NKI version labels order and match as the releases did."""

import pytest

from portcheck.knowledge import NkiVersion


@pytest.mark.parametrize(
    ("label", "since", "until", "expected"),
    [
        pytest.param("0.6", "0.2", "", True, id="open"),
        pytest.param("0.6", "0.2", "0.6", False, id="until-is-exclusive"),
        pytest.param("0.5", "0.2", "0.6", True, id="last-before-until"),
        pytest.param("0.1", "0.2", "", False, id="before-since"),
        pytest.param("0.1", "0.1/2.23", "0.2", True, id="any-release-of-a-generation"),
        pytest.param("0.1/2.22", "0.1/2.23", "0.2", False, id="release-before-since"),
        pytest.param("0.1/2.26", "0.1", "0.2", True, id="release-in-generation"),
        pytest.param("0.2", "0.2/2.28", "0.3", True, id="second-release-of-a-version"),
        pytest.param("0.2/2.27", "0.2/2.28", "0.3", False, id="first-release-only"),
        pytest.param("0.10", "0.9", "", True, id="numbers-not-text"),
    ],
)
def test_version_matches_a_half_open_range(label, since, until, expected):
    assert NkiVersion.parse(label).matches(since, until) is expected


@pytest.mark.parametrize("label", ["", "1", "0.1/3.2", "v0.6", "0.6.0"])
def test_malformed_label_is_refused(label):
    with pytest.raises(ValueError, match="NKI version"):
        NkiVersion.parse(label)


@pytest.mark.parametrize("label", ["0.1", "0.1/2.23", "0.7"])
def test_label_prints_as_it_was_read(label):
    assert str(NkiVersion.parse(label)) == label
