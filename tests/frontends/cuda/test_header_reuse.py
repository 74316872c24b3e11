"""Headers that several files name are parsed once, and again where macros make something else of them."""

from __future__ import annotations

from pathlib import Path

from portcheck.core.source import SourceFile
from portcheck.frontends.cuda import CudaOptions, read_cuda
from portcheck.frontends.cuda.parsing.parse import parse

HEADER = "const int n = N;\n__device__ int twice(int i) { return 2 * i + N; }\n"


def test_a_header_is_what_the_macros_of_each_file_make_of_it(tmp_path: Path) -> None:
    (tmp_path / "h.cuh").write_text(HEADER)
    printed = []
    for number in (1, 2, 1):
        text = f'#define N {number}\n#include "h.cuh"\n__global__ void k(int* x) {{ x[n] = twice(3); }}\n'
        printed.append(repr(read_cuda(SourceFile(str(tmp_path / "k.cu"), text), CudaOptions()).lower(["k"]).kernels))
    assert printed[0] == printed[2] != printed[1]


def test_a_header_that_changed_is_read_again(tmp_path: Path) -> None:
    source = SourceFile(str(tmp_path / "k.cu"), '#include "h.cuh"\n__global__ void k(int* x) { x[0] = n; }\n')
    printed = []
    for number in (1, 2):
        (tmp_path / "h.cuh").write_text(HEADER.replace("N", str(number)))
        printed.append(repr(read_cuda(source, CudaOptions()).lower(["k"]).kernels))
    assert printed[0] != printed[1]


def test_a_node_is_the_same_until_it_is_forgotten() -> None:
    text = "int a = 1;"
    unit = parse(SourceFile("a.cu", text), text)
    first = unit.root.named[0]
    assert unit.root.named[0] is first
    unit.forget()
    assert unit.root.named[0] is not first
    assert (unit.root.named[0].text, unit.root.named[0].key) == (first.text, first.key)


def test_a_node_that_is_kept_holds_no_others_once_they_are_forgotten() -> None:
    text = "void f() { int a = 1; g(a); }" + "int b;" * 50
    unit = parse(SourceFile("a.cu", text), text)
    kept = unit.root
    names = [name.text for name in kept.found("identifier")]
    first, body = kept.named[0], kept.named[0].field("body")
    assert kept.named[0] is first and first.field("body") is body
    assert kept.found("identifier") is kept.found("identifier")
    unit.forget()
    assert kept.named[0] is not first and first.field("body") is not body
    assert [name.text for name in kept.found("identifier")] == names
