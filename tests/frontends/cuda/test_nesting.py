"""Brackets nested without end are refused before they are parsed; what people write is read."""

import pytest

from portcheck.core.errors import InputError
from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda

DEEP = {
    "closed parentheses": f"__global__ void k(float* x) {{ x[0] = {'(' * 300_000}1{')' * 300_000}; }}",
    "open parentheses": "(" * 300_000,
    "words between": "f(" * 300_000,
    "braces": "void f() {" + "{" * 300_000,
    "a Python file": f'source = """__global__ {"(" * 300_000} """\nload_inline(cuda_sources=source)\n',
}


@pytest.mark.parametrize("name", DEEP)
def test_text_that_is_nested_without_end_is_refused(name: str) -> None:
    path = "kernel.py" if "Python" in name else "kernel.cu"
    with pytest.raises(InputError, match=f"{path}: brackets are nested too deeply to be read"):
        read_cuda(SourceFile(path, DEEP[name]), CudaOptions())


def test_many_brackets_beside_each_other_are_read() -> None:
    text = "__global__ void k(float* x) { " + "x[0] = (1.f);" * 150_000 + " }"
    assert [kernel.name for kernel in read_cuda(SourceFile("kernel.cu", text), CudaOptions()).kernels] == ["k"]
