"""Every call that the tables have of the newest version of each generation is executed in a kernel of our own."""

from __future__ import annotations

import pytest
from tests.execution.tiles.test_classes import called_in
from tests.execution.tiles.test_kernels import CASES

from portcheck.knowledge import NkiVersion, Semantics, load

NEWEST = {"nki": NkiVersion.parse("0.6"), "neuronxcc": NkiVersion.parse("0.1/2.26")}
NO_CALLS = (Semantics.DECORATOR, Semantics.TYPE, Semantics.LAUNCH)
GAPS = {
    "nki.collectives.all_gather_v": "how much each rank sends is known at run time",
    "nki.collectives.all_to_all_v": "how much each rank sends is known at run time",
    "nki.collectives.collective_permute_implicit_current_processing_rank_id": "the order of the ring is not documented",
    "nki.isa.rand_get_state": "what the state of a generator is made of is not documented",
    "nki.isa.rand_set_state": "what the state of a generator is made of is not documented",
    "nki.isa.topk": "how the result lies in the partitions is not documented",
    "nki.language.NkiTensor.indirect": "the size of a group depends on the engine that uses the view",
    "nki.language.NkiTensor.name": "a label",
    "nki.language.NkiTensor.offset": "where a tensor lies is up to the compiler",
    "nki.language.NkiTensor.size": "a property",
    "nki.language.NkiTensor.strides": "a property",
    "neuronxcc.nki.FrameworkKernel.dump_config": "what a framework calls",
    "neuronxcc.nki.FrameworkKernel.is_framework_tensor": "what a framework calls",
    "neuronxcc.nki.FrameworkKernel.map_framework_tensor": "what a framework calls",
    "neuronxcc.nki.FrameworkKernel.translate_to_neuron_dtype": "what a framework calls",
    "neuronxcc.nki.compiler.allocation_scope": "where tiles lie is not executed",
    "neuronxcc.nki.compiler.enable_stack_allocator": "where tiles lie is not executed",
    "neuronxcc.nki.compiler.force_auto_alloc": "where tiles lie is not executed",
    "neuronxcc.nki.compiler.multi_buffer": "where tiles lie is not executed",
    "neuronxcc.nki.compiler.no_reorder": "operations are executed in order",
    "neuronxcc.nki.compiler.psum.alloc": "where tiles lie is not executed",
    "neuronxcc.nki.compiler.psum.auto_alloc": "where tiles lie is not executed",
    "neuronxcc.nki.compiler.psum.mod_alloc": "where tiles lie is not executed",
    "neuronxcc.nki.compiler.sbuf.alloc": "where tiles lie is not executed",
    "neuronxcc.nki.compiler.sbuf.auto_alloc": "where tiles lie is not executed",
    "neuronxcc.nki.compiler.sbuf.mod_alloc": "where tiles lie is not executed",
    "neuronxcc.nki.compiler.skip_middle_end_transformations": "where tiles lie is not executed",
    "neuronxcc.nki.isa.builtin_custom_op": "what it does stands in no text",
    "neuronxcc.nki.language.gemm_grid": "how it is filled is not documented",
    "neuronxcc.nki.language.gemm_stationary_grid": "how it is filled is not documented",
    "neuronxcc.nki.language.nc": "a launch, outside of the kernel",
    "neuronxcc.nki.language.spmd_dim": "a launch, outside of the kernel",
    "neuronxcc.nki.tensor.expand_dims": "it is not documented",
}


def offered() -> list[str]:
    """What may be called in the newest version of a generation."""
    found = []
    for name in load().apis:
        version = load().api(name, NEWEST[name.partition(".")[0]])
        if version is not None and version.semantics not in NO_CALLS:
            found.append(name)
    return sorted(found)


EXECUTED = {name for case in CASES for _, name in called_in(case.source)}


@pytest.mark.parametrize("name", offered())
def test_a_call_is_executed_or_there_is_a_reason(name: str) -> None:
    assert (name in EXECUTED) != (name in GAPS), f"{name} needs a kernel that calls it"


def test_there_are_calls_of_both_generations() -> None:
    calls = [name for name in offered() if name in EXECUTED]
    assert len([name for name in calls if name.startswith("nki.")]) > 150
    assert len([name for name in calls if name.startswith("neuronxcc.")]) > 130
