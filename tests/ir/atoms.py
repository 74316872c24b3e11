"""The small parts of random programs: names, dtypes, texts, places, numbers."""

import math

from hypothesis import strategies as st

from portcheck.core.dtype import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    INT32,
    INT64,
    UINT32,
    DType,
    DTypeKind,
    dtype_of,
)
from portcheck.core.source import NOWHERE, Position, Span
from portcheck.ir import Const, Default, ValueType

INTEGERS = (INT32, INT64, UINT32)
DTYPES = (
    *INTEGERS,
    FLOAT32,
    FLOAT16,
    BFLOAT16,
    BOOL,
    dtype_of("x"),
    dtype_of("a (b)"),
    DType("float4_e2m1", DTypeKind.FLOAT),
    DType("float32", DTypeKind.SIGNED),
)
SIZES = ("rows", "dim", "x.shape[0]", "s.size", "true", "inf", "step", "via", "größe", 'a "b"', "")
PATH = "kernel.cu"

dtypes = st.sampled_from(DTYPES)
texts = st.text(max_size=8) | st.sampled_from(("nl.load", "x[...]", "+=", 'a\n"b"\\\u2028\r'))
positions = st.builds(Position, st.integers(1, 40), st.integers(1, 99))
spans = st.just(NOWHERE) | st.builds(Span, st.sampled_from((PATH, PATH, "other dir/b.cuh", "")), positions, positions)
numbers = (
    st.booleans()
    | st.integers(-300, 300)
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from((math.nan, math.inf, -math.inf, -0.0))
)
constants = st.builds(Const, numbers, dtypes)
defaults = st.builds(Default, numbers | texts | st.none())
accumulators = st.builds(ValueType, dtypes)
