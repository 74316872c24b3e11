"""What cannot be said exactly is said to be unknown: assembly, bytes, narrow numbers, repeated launches."""

from __future__ import annotations

import pytest
from tests.frontends.cuda.reading import body, kinds, not_understood, program

from portcheck.ir import Cast, Load, Opaque, Operator, Program, Store, operations, subexpressions, symbols_in
from portcheck.ir.expr import Apply, Ref, Symbol

ASSEMBLY = {
    "output": ('float v = w[n]; asm volatile("frob.f32 %0, 1.0;" : "=f"(v)); x[0] = v;', {"v"}),
    "in and out": ('float v = w[n]; asm("frob.f32 %0, %0, %0;" : "+f"(v)); x[0] = v;', {"v"}),
    "element": ('asm("frob.f32 %0, 1.0;" : "=f"(x[n])); x[1] = 0.f;', {"x"}),
    "memory": ('float v = w[n]; asm volatile("frob.global.f32 [%0], %1;" :: "l"(x), "f"(v) : "memory"); x[1] = v;',
               {"x"}),
}  # fmt: skip


@pytest.mark.parametrize(("statements", "written"), ASSEMBLY.values(), ids=ASSEMBLY)
def test_assembly_writes_its_outputs(statements: str, written: set[str]) -> None:
    found = [op for op in body(statements) if isinstance(op, Opaque)]
    assert written <= set(found[0].writes)


def test_an_output_of_assembly_is_read_again() -> None:
    found = body('float v = w[n]; asm("frob.f32 %0, %0, %0;" : "+f"(v)); x[0] = v;')
    assert kinds(found)[-3:] == ["Opaque", "Load", "Store"]


def test_a_clobbered_memory_may_be_any() -> None:
    found = body('float v = w[n]; asm volatile("frob;" ::: "memory"); x[1] = v;')
    assert "x" in next(op for op in found if isinstance(op, Opaque)).writes


COMMAS = {
    "data": "float v = (w[0], w[1]); x[0] = v;",
    "number": "int k = (n, n + 1); x[k] = w[1];",
    "effect": "float v = 0.f; v = (x[1] = w[0], w[1]); x[0] = v;",
}


def test_a_comma_is_its_last_part() -> None:
    found = body(COMMAS["data"])
    load = next(op for op in found if isinstance(op, Load) and getattr(op.access.index[0], "value", None) == 1)
    store = next(op for op in found if isinstance(op, Store))
    assert store.value == Ref(load.id, load.type.dtype)


def test_a_comma_of_numbers_is_its_last_part() -> None:
    store = next(op for op in body(COMMAS["number"]) if isinstance(op, Store))
    assert isinstance(store.access.index[0], Apply)


def test_the_effects_before_a_comma_are_kept() -> None:
    assert [op.access.buffer for op in body(COMMAS["effect"]) if isinstance(op, Store)][-2:] == ["v", "x"]
    assert len([op for op in body(COMMAS["effect"]) if isinstance(op, Store) and op.access.buffer == "x"]) == 2


DIVISIONS = frozenset({Operator.TRUNCATED_DIVIDE})
BYTES = {
    "sum": "const float* q = (const float*)((const char*)w + n); x[0] = *q;",
    "subscript": "x[0] = ((const float*)((const char*)w + n))[1];",
    "variable": "const char* b = (const char*)w; b = b + n; x[0] = *(const float*)b;",
    "address": "const char* b = (const char*)w; x[0] = *(const float*)&b[n];",
    "halves": "x[0] = *(const float*)((const short*)w + n);",
    "integer": "x[0] = *(const float*)((unsigned long long)w + n);",
}


@pytest.mark.parametrize("statements", BYTES.values(), ids=BYTES)
def test_an_address_in_bytes_is_not_one_in_elements(statements: str) -> None:
    found = body(statements)
    assert not not_understood(found)
    [access] = [op.access for op in found if isinstance(op, Load) and op.access.buffer == "w"]
    divisions = [part for part in subexpressions(access.index[0]) if getattr(part, "operator", None) in DIVISIONS]
    assert [symbols_in(division) for division in divisions] == [{"n"}]


def test_a_number_made_an_address_is_not_followed() -> None:
    assert not_understood(body("x[0] = *(const float*)((unsigned long long)w * n);"))


def test_a_pointer_that_moves_by_bytes_is_somewhere_unknown() -> None:
    found = body("const char* b = (const char*)w; for (int i = 0; i < n; i++) { x[i] = *(const float*)b; b += n; }")
    assert ["b.offset" in op.writes for op in found if isinstance(op, Opaque)] == [True]


EXACT = {
    "nothing": ("x[n] = *(const float*)((const char*)w);", 0),
    "constant": ("x[n] = *(const float*)((const char*)w + 8);", 2),
    "size": ("x[n] = *(const float*)((const char*)w + 3 * sizeof(float));", 3),
}


@pytest.mark.parametrize(("statements", "place"), EXACT.values(), ids=EXACT)
def test_whole_elements_in_bytes_are_elements(statements: str, place: int) -> None:
    found = body(statements)
    assert not_understood(found) == []
    load = next(op for op in found if isinstance(op, Load))
    assert getattr(load.access.index[0], "value", None) == place


def test_a_multiple_of_the_size_is_an_element() -> None:
    found = body("x[0] = *(const float*)((const char*)w + n * sizeof(float));")
    assert not_understood(found) == []
    load = next(op for op in found if isinstance(op, Load))
    assert isinstance(load.access.index[0], Symbol)
    assert load.access.index[0].name == "n"


NARROW = {
    "char": ("unsigned char k = n; x[k] = w[n];", "uint8"),
    "short": ("short k = n * 3; x[k] = w[n];", "int16"),
    "cast": ("x[(unsigned char)n] = w[n];", "uint8"),
    "assigned": ("short k = 0; k = n + 1; x[k] = w[n];", "int16"),
    "compound": ("short k = 0; k += n; x[k] = w[n];", "int16"),
    "index": ("short k = threadIdx.x; x[k] = w[n];", "int16"),
}


@pytest.mark.parametrize(("statements", "dtype"), NARROW.values(), ids=NARROW)
def test_a_number_made_narrower_is_a_cast(statements: str, dtype: str) -> None:
    casts = [op for op in body(statements) if isinstance(op, Cast)]
    assert dtype in [op.type.dtype.name for op in casts]


FITTING = {
    "constant": "short k = 3; x[k] = w[n];",
    "masked": "unsigned char k = n & 15; x[k] = w[n];",
    "remainder": "short k = threadIdx.x % 32; x[k] = w[n];",
    "unsigned": "unsigned k = n; x[k] = w[n];",
    "long": "long long k = n; x[k] = w[n];",
}


@pytest.mark.parametrize("statements", FITTING.values(), ids=FITTING)
def test_a_number_that_fits_is_no_cast(statements: str) -> None:
    assert not any(isinstance(op, Cast) for op in body(statements))


MENTIONED = {
    "lambda": "auto f = [&](float a) { x[0] = a; }; try { f(w[0]); } catch (int e) {}",
    "macro": "try { WRITE(1); } catch (int e) {}",
    "through a pointer in memory": "float** q = (float**)x; q[n][0] = 1.f;",
    "number in a wreck": "int m = n; float* p = x; try { x[m] = 2.f; p[0] = 1.f; } catch (int e) {}",
    "jump into a block": "float* p = x; if (n > 2) { q: n++; } if (n < 4) goto q; p[0] = 1.f;",
    "constant": "float* p = (float*)w; *p = 1.f;",
}


@pytest.mark.parametrize("statements", MENTIONED.values(), ids=MENTIONED)
def test_what_is_not_read_says_what_it_may_write(statements: str) -> None:
    found = [op for op in body(statements, before="#define WRITE(a) x[a] = 1.f") if isinstance(op, Opaque)]
    assert any({"x", "w"} & set(op.writes) for op in found)


KERNEL = (
    "__global__ void k(const float* a, float* o, int n) { int i = threadIdx.x; if (i < n) o[i] = a[i]; }\n"
    "__global__ void u(const float* a, float* o, int n) { int i = threadIdx.x; if (i < n) o[i] += a[i]; }\n"
)


def launched(host: str, name: str = "k") -> Program:
    return program(f"{KERNEL}{host}", name)


def is_repeated(made: Program) -> bool:
    """Whether the one launch stands for several; the kernel itself is understood."""
    assert not [op for kernel in made.kernels for op in operations(kernel.body) if isinstance(op, Opaque)]
    return made.launches[0].is_repeated


def test_a_kernel_that_is_launched_twice_with_other_arguments_proves_nothing() -> None:
    made = launched("void go(float* p, float* q, float* o, int n) { k<<<1, n>>>(p, o, n); k<<<1, n>>>(q, o, n); }")
    assert is_repeated(made)
    assert any("several times" in note for note in made.notes)


def test_a_repeated_launch_that_reads_nothing_it_writes_is_one() -> None:
    made = launched("void go(float* p, float* o, int n) { k<<<1, n>>>(p, o, n); k<<<1, n>>>(p, o, n); }")
    assert not is_repeated(made)


LAUNCHED_AGAIN = {
    "twice": "void go(float* p, float* o, int n) { u<<<1, n>>>(p, o, n); u<<<1, n>>>(p, o, n); }",
    "loop": "void go(float* p, float* o, int n) { for (int j = 0; j < 3; j++) u<<<1, n>>>(p, o, n); }",
}


@pytest.mark.parametrize("host", LAUNCHED_AGAIN.values(), ids=LAUNCHED_AGAIN)
def test_a_repeated_launch_that_reads_what_it_writes_is_not_one(host: str) -> None:
    assert is_repeated(launched(host, "u"))


def test_a_warm_up_and_a_timed_loop_over_a_choice_of_templates_are_one_launch() -> None:
    choice = "if (n == 16) t<16><<<1, n, 0, s>>>(p, o, n); else t<32><<<1, n, 0, s>>>(p, o, n);"
    made = program(
        "template <int N> __global__ void t(const float* a, float* out, int n) { out[threadIdx.x] = a[threadIdx.x]; }\n"
        f"void go(float* p, float* o, int n, cudaStream_t s) {{ {choice} cudaStreamSynchronize(s);"
        f" for (int j = 0; j < 300; j++) {{ {choice} }} }}",
        "t",
    )
    assert not is_repeated(made)


def test_a_launch_in_a_loop_that_changes_its_arguments_proves_nothing() -> None:
    host = "void go(float* p, float* o, int n) { for (int j = 0; j < 3; j++) k<<<1, n>>>(p + j, o, n); }"
    assert is_repeated(launched(host))


def test_launches_in_two_functions_are_a_choice() -> None:
    made = launched(
        "void go(float* p, float* o, int n) { k<<<1, n>>>(p, o, n); }\n"
        "void of(float* p, float* o, int n) { k<<<2, n>>>(o, p, n); }"
    )
    assert not is_repeated(made)
    assert any("2" in note and "launch" in note for note in made.notes)


ALTERNATIVES = {
    "if": "if (n > 3) k<<<1, n>>>(p, o, n); else k<<<1, 32>>>(p, o, n);",
    "switch": "switch (n) { case 1: k<<<1, n>>>(p, o, n); break; default: k<<<1, 32>>>(p, o, n); }",
}


@pytest.mark.parametrize("text", ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_launches_in_two_arms_are_a_choice(text: str) -> None:
    assert not is_repeated(launched(f"void go(float* p, float* o, int n) {{ {text} }}"))


def test_what_a_reference_to_a_mere_value_is_given_is_not_taken_for_done() -> None:
    helper = "__device__ void forth(float*& p) { p += 1; }"
    found = body("forth((float*&)w); x[0] = w[n];", before=helper)
    assert not_understood(found) == ["assignment in a macro or lambda"]


ONE_OF_TWO = "struct S { int a; __device__ void up() { ++a; } }; __device__ void up(S& s) { ++s.a; }"


@pytest.mark.parametrize(
    "statement",
    ["(n > 3 ? u : v).a = 9;", "(n > 3 ? u : v).up();", "up(n > 3 ? u : v);", "S& r = n > 3 ? u : v; r.a = 1;"],
)
def test_what_is_done_to_one_of_two_is_not_done_to_a_copy(statement: str) -> None:
    assert not_understood(body(f"S u{{1}}, v{{2}}; {statement} x[0] = u.a;", before=ONE_OF_TWO))
