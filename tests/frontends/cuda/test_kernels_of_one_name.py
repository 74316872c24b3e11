"""Overloads and explicit specialisations of kernels are kernels of their own, and launches mean one of them."""

import pytest
from tests.frontends.cuda.reading import program
from tests.frontends.cuda.test_module import shown

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.ir import Kernel, Program, Store, operations

SPECIAL = """
template <typename T> __global__ void k(T* x) { x[0] = T(1); }
template <> __global__ void k<double>(double* x) { x[0] = T_IS_DOUBLE; }
"""
OVERLOADS = """
__global__ void k(float* x, int n) { x[0] = 1.f; }
__global__ void k(float* x, int n, float a) { x[0] = 2.f; }
__global__ void k(double* x, int n) { x[0] = 3.0; }
"""


def stored(kernel: Kernel) -> str:
    (store,) = [op for op in operations(kernel.body) if isinstance(op, Store)]
    return shown(store.value).partition(":")[0]


def instances(text: str) -> Program:
    module = read_cuda(SourceFile("kernel.cu", text), CudaOptions())
    return program(text, *module.instances)


def blocks(found: Program) -> dict[str, str]:
    return {one.kernel: ", ".join(map(shown, one.block)) for one in found.launches}


def test_overloads_are_told_apart() -> None:
    found = program(OVERLOADS)
    assert {kernel.name: stored(kernel) for kernel in found.kernels} == {"k": "1.0", "k#2": "2.0", "k#3": "3.0"}


LAUNCHES = {
    "by the number of arguments": ("float* x, int n", "k<<<1, 4>>>(x, n, 2.f)", "k#2"),
    "by the type of a pointer": ("double* x, int n", "k<<<1, 4>>>(x, n)", "k#3"),
    "by the type of a pointer to constants": ("float* x, const int n", "k<<<1, 4>>>(x, n)", "k"),
    "by a cast": ("void* x, int n", "k<<<1, 4>>>((double*)x, n)", "k#3"),
}


@pytest.mark.parametrize(("parameters", "launch", "meant"), LAUNCHES.values(), ids=LAUNCHES)
def test_a_launch_means_the_overload_that_takes_its_arguments(parameters: str, launch: str, meant: str) -> None:
    found = program(f"{OVERLOADS}void run({parameters}) {{ {launch}; }}")
    assert blocks(found) == {"k": "", "k#2": "", "k#3": "", meant: "4"}


def test_a_launch_that_may_mean_several_is_left_out_and_noted() -> None:
    found = program(f"{OVERLOADS}void run(int n) {{ k<<<1, 4>>>(data(), n); }}")
    assert blocks(found) == {"k": "", "k#2": "", "k#3": ""}
    assert "k: the launch on line 5 may mean several kernels; left out" in found.notes


def test_kernels_of_several_namespaces_are_told_apart() -> None:
    text = """
    namespace a { __global__ void k(float* x) { x[0] = 1.f; } }
    namespace b { __global__ void k(float* x) { x[0] = 2.f; } void run(float* x) { k<<<1, 4>>>(x); } }
    void run(float* x) { a::k<<<1, 8>>>(x); }
    """
    found = program(text)
    assert {kernel.name: stored(kernel) for kernel in found.kernels} == {"k": "1.0", "k#2": "2.0"}
    assert blocks(found) == {"k": "8", "k#2": "4"}


def test_an_explicit_specialisation_is_the_instance_that_is_launched() -> None:
    text = SPECIAL.replace("T_IS_DOUBLE", "2.0")
    found = instances(f"{text}void run(float* x, double* y) {{ k<<<1, 4>>>(x); k<double><<<1, 8>>>(y); }}")
    assert {kernel.name: stored(kernel) for kernel in found.kernels} == {"k": "1.0", "k<double>": "2.0"}
    assert blocks(found) == {"k": "4", "k<double>": "8"}


def test_the_only_instance_that_is_launched_is_what_the_bare_name_means() -> None:
    text = SPECIAL.replace("T_IS_DOUBLE", "2.0")
    found = program(f"{text}void run(double* y) {{ k<double><<<1, 8>>>(y); }}", "k")
    assert {kernel.name: stored(kernel) for kernel in found.kernels} == {"k": "2.0"}
    assert blocks(found) == {"k": "8"}


@pytest.mark.parametrize("written", ["k<double>", "k<>", "k"])
def test_an_explicit_specialisation_that_nothing_launches_is_read(written: str) -> None:
    text = SPECIAL.replace("T_IS_DOUBLE", "2.0").replace("k<double>", written)
    assert {kernel.name: stored(kernel) for kernel in instances(text).kernels} == {"k": "1.0", "k<double>": "2.0"}


def test_stated_template_arguments_choose_the_specialisation() -> None:
    text = SPECIAL.replace("T_IS_DOUBLE", "2.0")
    (found,) = program(text, "k", options=CudaOptions(defines=(("T", "double"),))).kernels
    assert stored(found) == "2.0"


def test_a_specialisation_of_a_template_elsewhere_is_a_kernel() -> None:
    text = "template <> __global__ void k<double>(double* x) { x[0] = 2.0; }"
    assert {kernel.name: stored(kernel) for kernel in program(text).kernels} == {"k": "2.0"}


def test_a_kernel_whose_head_does_not_parse_has_a_name() -> None:
    (found,) = program("__global__(void k(float* x) { x[0] = 1.f; }) (a) {").kernels
    assert found.name == "k"


def test_a_kernel_with_two_lists_of_parameters_is_called_by_its_identifier() -> None:
    (found,) = program("__global__ void k(warp, cg::plus<float>())(float* x) { x[0] = 1.f; }").kernels
    assert found.name == "k"
