"""Names that nothing else has."""

from __future__ import annotations

from portcheck.frontends.nki.state.naming import fresh


def test_names_are_numbered_one_behind_the_other() -> None:
    taken: dict[str, None] = {}
    assert [fresh("tile", taken) for _ in range(40)] == ["tile", *(f"tile_{number}" for number in range(2, 41))]
    assert fresh("row", taken) == "row"


def test_a_name_that_is_given_back_may_be_taken_again_and_none_is_taken_twice() -> None:
    taken: dict[str, None] = {}
    names = [fresh("tile", taken) for _ in range(10)]
    del taken[names[-1]]
    assert fresh("tile", taken) == names[-1]
    del taken["tile_4"]
    assert fresh("tile", taken) not in set(names) - {"tile_4"}
