"""Which buffers are read and written, and what flows into an output."""

from __future__ import annotations

import pytest
from tests.passes.program_text import original, port

from portcheck.passes.usage import usage

COPY = ("%1 = load x[0] -> float16", "%2 = cast %1 -> float32")

READ_FOR_OUTPUTS = {
    "what is stored": ((*COPY, "%3: store y[0] = %2"), {"x"}),
    "what is stored nowhere": ((*COPY, "%3: store y[0] = 0.0"), set()),
    "what passes through a local variable": (
        (*COPY, "%3: alloc s: float32", "%4: store s = %2", "%5 = load s -> float32", "%6: store y[0] = %5"), {"x"},
    ),
    "what goes into a local variable that nobody stores": (
        (*COPY, "%3: alloc s: float32", "%4: store s = %2", "%6: store y[0] = 0.0"), set(),
    ),
    "what is accumulated in a loop": (
        (
            "%1: alloc s: float32", "%2: loop i = 0 to n step 1", "  %3 = load w[i] -> float32", "  %4: store s += %3",
            "%5 = load s -> float32", "%6: store y[0] = %5",
        ),
        {"w"},
    ),
    "what is copied": (("%1: copy y[0] = w[0]",), {"w"}),
    "what only guards a store": (
        ("%1 = load w[0] -> float32", "%2 = compute %1 > 0.0 -> bool", "%3: branch %2", "  %4: store y[0] = 0.0"),
        set(),
    ),
    "what only says where to load": (
        ("%1 = load w[0] -> float32", "%2 = cast %1 -> int32", "%3 = load x[%2] -> float16", "%4: store y[0] = %3"),
        {"x"},
    ),
    "what an atomic adds": (("%1 = load w[0] -> float32", "%2 = atomic add y[0] value(%1) -> float32"), {"w", "y"}),
    "what an opaque operation reads": (('%1: opaque "asm" reads(w) writes(y)',), {"w"}),
}  # fmt: skip


@pytest.mark.parametrize("name", READ_FOR_OUTPUTS)
def test_only_buffers_whose_elements_reach_an_output_are_read_for_it(name: str) -> None:
    lines, expected = READ_FOR_OUTPUTS[name]
    assert usage(original(*lines)).read_for_outputs == expected


SCALARS = {
    "a factor": (("%1 = compute eps * 2.0 -> float32", "%2: store y[0] = %1"), {"eps"}),
    "a stored scalar": (("%1: store y[0] = eps",), {"eps"}),
    "a size among the terms": (("%1 = cast n -> float32", "%2: store y[0] = %1"), {"n"}),
    "a bound": (("%1: loop i = 0 to n step 1", "  %2: store y[i] = 0.0"), set()),
    "a stride": (("%1: store y[threadIdx.x * d] = 0.0",), set()),
    "a guard": (("%1: branch threadIdx.x < n", "  %2: store y[0] = 0.0"), set()),
    "one that is computed with and not stored": (
        ("%1 = compute eps * 2.0 -> float32", "%2: store y[0] = 0.0"), set(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALARS)
def test_a_scalar_is_in_the_values_if_it_reaches_a_stored_one(name: str) -> None:
    lines, expected = SCALARS[name]
    assert usage(original(*lines)).scalars_in_values == expected


def test_read_and_written_are_counted_whether_or_not_they_reach_an_output() -> None:
    used = usage(original("%1: alloc s: float32", "%2 = load w[0] -> float32", "%3: store s = %2"))
    assert (set(used.read), set(used.written), used.outputs) == ({"w"}, {"s"}, ())


def test_the_outputs_of_an_original_are_the_parameters_it_writes() -> None:
    assert usage(original("%1: store y[0] = 0.0")).outputs == ("y",)


def test_the_outputs_of_a_port_are_what_it_returns_and_the_parameters_it_writes() -> None:
    program = port("%2: copy y[0, 0] = x[0, 0]", "%3: copy x[0, 0] = y[0, 0]", "%4: return y")
    assert usage(program).outputs == ("y", "x")
