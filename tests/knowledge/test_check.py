"""A contradiction between two tables is found and named."""

import shutil
from pathlib import Path

import pytest

from portcheck.core.errors import KnowledgeError
from portcheck.knowledge import Knowledge, check, load, problems

SHIPPED = Path(__file__).parents[2] / "mappings"


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        pytest.param("cuda/math.toml", 'dtype = "float32"', 'dtype = "float33"', '"float33"', id="unknown-dtype"),
        pytest.param(
            "cuda/math.toml", 'fast_math = "__expf"', 'fast_math = "__exxf"', '"__exxf"', id="unknown-construct"
        ),
        pytest.param("nki/calls/isa.toml", 'until = "0.2/2.28"', 'until = "0.4"', "overlap", id="versions-overlap"),
        pytest.param(
            "nki/calls/isa.toml", 'until = "0.2/2.28"', 'until = "soon"', "not a range", id="malformed-version"
        ),
        pytest.param("nki/calls/isa.toml", 'until = "0.2/2.28", ', "", "still open", id="two-open-versions"),
        pytest.param("nki/calls/isa.toml", '["trn3"]', '["trn9"]', '"trn9"', id="unknown-chip"),
        pytest.param("hardware/trn2.toml", '["float32"]', '["float31"]', '"float31"', id="unknown-accumulator"),
        pytest.param(
            "hardware/trn2.toml", "psum_banks = { value = 8", "psum_banks = { value = 7", "add up", id="banks"
        ),
        pytest.param("cuda/limits.toml", "value = 32", "value = 33", '"warp_size" 33', id="warp-sizes-differ"),
        pytest.param("dtypes/float.toml", "[dtype.tfloat32]", "[dtype.tf32]", '"tfloat32"', id="dtype-without-facts"),
    ],
)
def test_contradiction_is_reported(file, old, new, expected, tmp_path):
    folder = shutil.copytree(SHIPPED, tmp_path / "mappings")
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    knowledge = Knowledge(folder)
    assert any(expected in problem for problem in problems(knowledge))
    with pytest.raises(KnowledgeError):
        check(knowledge)


def test_shipped_tables_pass():
    check(load())
