"""Templates with parameter packs keep their places, and ask for no more than is reasonable."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, not_understood

from portcheck.ir import Compute, Ref, Store

PUT = """template <class... T>
__device__ void put(float* x, T... t) {
  int i = 0;
  ((x[i++] = t * 2.0f),
   ...);
}"""


def test_what_is_written_out_stands_where_it_was_written() -> None:
    stores = [op for op in body("put(x, w[0], w[1]);", before=PUT) if isinstance(op, Store) and op.access.buffer == "x"]
    assert [op.span.start.line for op in stores] == [4, 4]
    assert {op.span.start.column for op in stores} == {5}


@pytest.mark.parametrize("written", ["T...t", "T ...t", "T... t", "T&&...t", "const T&...t"])
def test_a_name_may_stand_beside_the_dots(written: str) -> None:
    found = body("put(x, w[0], w[1]);", before=PUT.replace("T... t", written))
    assert not_understood(found) == []
    (compute, other) = [op for op in found if isinstance(op, Compute)]
    assert isinstance(compute.operands[0], Ref) and isinstance(other.operands[0], Ref)


@pytest.mark.parametrize("count", [64, 65])
def test_there_are_only_so_many_copies(count: int) -> None:
    found = body(f"put(x, {', '.join(['w[0]'] * count)});", before=PUT)
    assert not_understood(found) == ([] if count == 64 else ["put"])
