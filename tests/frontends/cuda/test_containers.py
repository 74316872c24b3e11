"""CUDA text in the strings of Python files: put together as Python does it, and placed in the Python file."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.frontends.cuda.text.python_strings import stretches_of
from portcheck.ir import Program, operations

KERNEL = "__global__ void k(float* x) { x[0] = 1.f; }"


def lowered(text: str) -> Program:
    module = read_cuda(SourceFile("build.py", text), CudaOptions())
    return module.lower([kernel.name for kernel in module.kernels])


def places(text: str) -> list[str]:
    source = SourceFile("build.py", text)
    return [source.text_of(op.span) for kernel in lowered(text).kernels for op in operations(kernel.body)]


HELD = {
    "given to a call": f"m = load_inline(name='m', cuda_sources='{KERNEL}')",
    "raw": f'm = cp.RawKernel(r"""\n{KERNEL}\n""", "k")',
    "a name": f"SOURCE = '''{KERNEL}'''\nm = SourceModule(SOURCE)",
    "a name with a type": f"SOURCE: str = '''{KERNEL}'''\nm = SourceModule(SOURCE)",
    "only assigned": f"SOURCE = '''{KERNEL}'''",
    "in a class": f"class A:\n    source = '''{KERNEL}'''",
    "returned": f"def source():\n    return '''{KERNEL}'''",
    "two strings side by side": "m = f('__global__ void k(float* x) '  # é\n      \"{ x[0] = 1.f; }\")",
    "a sum": f"HEAD = '#define N 0\\n'\nm = f(HEAD + '{KERNEL}')",
    "a sum of names": "A = '__global__ void k(float* x) '\nB = '{ x[0] = 1.f; }'\nm = f(A + B)",
    "a list": "m = f(['#define N 0', '__global__ void k(float* x) { x[N] = 1.f; }'])",
    "an f-string that is constant": "m = f(f'__global__ void k(float* x) {{ x[0] = 1.f; }}')",
    "DOS line ends": f'm = f("""\r\n{KERNEL}\r\n""")\r\n',
}


@pytest.mark.parametrize("text", HELD.values(), ids=HELD)
def test_a_kernel_in_a_string_is_read_once(text: str) -> None:
    program = lowered(text)
    assert [kernel.name for kernel in program.kernels] == ["k"]
    assert places(text) in (["x[0] = 1.f"], ["x[N] = 1.f"])


NOT_HELD = {
    "documentation": f'"""{KERNEL}"""\ndef f():\n    """{KERNEL}"""',
    "a comment": f"# {KERNEL}",
    "no Python": f"def (:\n'{KERNEL}'",
    "a mention": "print('write __global__ here')",
    "bytes": f"m = f(b'{KERNEL}')",
}


@pytest.mark.parametrize("text", NOT_HELD.values(), ids=NOT_HELD)
def test_what_holds_no_kernel_gives_none(text: str) -> None:
    assert lowered(text).kernels == ()


RUN_TIME = {
    "percent": f"m = f('{KERNEL} %s' % 'x')",
    "format": f"m = f('{KERNEL}'.format(1))",
    "f-string": "T = 1\nm = f(f'__global__ void k(float* x) {{ x[{T}] = 1.f; }}')",
    "a name bound twice": f"S = '{KERNEL}'\nS += 'x'\nm = f(S + 'y')",
}


@pytest.mark.parametrize("text", RUN_TIME.values(), ids=RUN_TIME)
def test_text_made_at_run_time_is_noted(text: str) -> None:
    program = lowered(text)
    read = [kernel.name for kernel in program.kernels]
    assert (read == [] and any("put together when the file runs" in note for note in program.notes)) or read == ["k"]


def test_escapes_do_not_move_what_follows() -> None:
    text = 'm = f("""\\\n__global__ void k(float* x) {\\n\\tx[\'\\x41\' - 65] = 1.f;  // \\u00e9\\n x[1] = 2.f;}""")'
    assert places(text) == ["x['\\x41' - 65] = 1.f", "x[1] = 2.f"]


def test_a_text_of_several_strings_is_placed_in_each() -> None:
    text = "A = '__global__ void k(float* x) { x[0] = 1.f; '\n\nB = 'x[1] = 2.f; }'\nm = f(A + B)\n"
    ops = operations(lowered(text).kernels[0].body)
    assert [op.span.start.line for op in ops] == [1, 3]


@given(st.text(alphabet="ab\\nxu01{}'\"\r\n\té", max_size=30), st.sampled_from(["", "r", "f", "rf"]))
@settings(max_examples=300, deadline=None)
def test_a_literal_means_what_python_says(inner: str, prefix: str) -> None:
    literal = f'{prefix}"""{inner}"""'
    try:
        expected = eval(compile(literal, "<test>", "eval"))  # a literal of this alphabet
    except (SyntaxError, NameError, ValueError):
        return
    if not isinstance(expected, str):
        return
    found = stretches_of(literal, 0, len(literal))
    assert found is None or "".join(stretch.text for stretch in found) == expected or "{" in inner
