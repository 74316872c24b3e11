"""The address of a variable or array of the kernel is never null; that of a parameter may be."""

import pytest
from tests.frontends.cuda.reading import body, kernel, not_understood

from portcheck.core.dtype import UINT64
from portcheck.ir import Branch, Const, Store, Symbol, operations, subexpressions

TRUE = {
    "itself": "if (p) x[1] = 1.f;",
    "not none": "if (p != nullptr) x[1] = 1.f;",
    "none first": "if (NULL != p) x[1] = 1.f;",
    "negated": "if (!p) x[0] = 1.f; else x[1] = 1.f;",
    "none": "if (p == NULL) x[0] = 1.f; else x[1] = 1.f;",
    "with more": "if (p && n == 3) { x[1] = 1.f; }",
    "or none": "if (p || n == 3) x[1] = 1.f;",
    "chosen": "x[p ? 1 : 0] = 1.f;",
    "a truth value": "bool b = p; if (b) x[1] = 1.f; else x[0] = 1.f;",
}
OWN = {
    "a number": "int v = 2; int* p = &v;",
    "an array": "float v[4]; float* p = v;",
    "an element": "float v[4]; float* p = v + 2;",
    "shared": "__shared__ float v; float* p = &v;",
    "a shared array": "__shared__ float v[8]; float* p = &v[n];",
    "a record": "S v; S* p = &v;",
}


@pytest.mark.parametrize("test", TRUE)
@pytest.mark.parametrize("own", OWN)
def test_own_variables_are_never_null(own: str, test: str) -> None:
    found = body(f"{OWN[own]} {TRUE[test]}", before="struct S { int a; float b; };")
    assert not_understood(found) == []
    stores = [op for op in found if isinstance(op, Store) and op.access.buffer == "x"]
    assert [op.access.index[0].value for op in stores if isinstance(op.access.index[0], Const)] == [1]
    branches = [op for op in found if isinstance(op, Branch)]
    assert len(branches) == (test == "with more")
    assert not {Symbol("v", UINT64)} & {part for op in branches for part in subexpressions(op.condition)}


@pytest.mark.parametrize("test", ["if (w) x[1] = 1.f;", "if (w != nullptr) x[1] = 1.f;", "if (!w) x[1] = 1.f;"])
def test_parameters_may_be_null(test: str) -> None:
    assert [type(op) for op in body(test) if isinstance(op, Branch)] == [Branch]


NULLABLE = {
    "a number": "int v = 2; int* p = nullptr; if (n > 2) p = &v;",
    "an array": "float v[4]; float* p = nullptr; if (n > 2) p = v;",
    "a record": "S v; S* p = nullptr; if (n > 2) p = &v;",
    "shared": "__shared__ float v; float* p = nullptr; if (n > 2) p = &v;",
    "chosen": "__shared__ float v; float* p = n > 2 ? &v : nullptr;",
    "chosen of registers": "float v; float* p = n > 2 ? &v : nullptr;",
    "set back": "float v[3]; float* p = v; if (n > 2) p = nullptr;",
    "set back in a loop": "float v[3]; float* p = v; for (int i = 0; i < n; i++) { if (p) x[1] = 1.f; p = nullptr; }",
    "set back, shared": "__shared__ float v[3]; float* p = v; if (n > 2) p = nullptr;",
}


@pytest.mark.parametrize("pointer", NULLABLE)
def test_pointers_that_lead_to_them_or_nowhere_may_be_null(pointer: str) -> None:
    found = body(f"{NULLABLE[pointer]} if (p) x[1] = 1.f;", before="struct S { int a; float b; };")
    guarded = [op for branch in found if isinstance(branch, Branch) for op in branch.then if isinstance(op, Store)]
    stores = [op for op in found if isinstance(op, Store) and op.access.buffer == "x"]
    assert stores
    assert all(store in guarded for store in stores)


def test_a_helper_that_asks_whether_it_was_given_somewhere_to_write() -> None:
    text = """__device__ bool may(int a, int* q) { if (q) *q = a; return true; }
    __global__ void k(int* o) { int b = 1; may(5, &b); o[0] = b; }"""
    assert not any(isinstance(op, Branch) for op in operations(kernel(text).body))


def test_kernels_whose_name_is_in_parentheses() -> None:
    assert kernel("__global__ void (k)(float* x) { x[0] = 1.f; }").name == "k"
