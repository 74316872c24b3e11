"""The verifier: silent on each valid twin, and finds each planted fault."""

import pytest
from tests.ir.program_text import HEADER, program_of

from portcheck.core.dtype import BOOL, FLOAT32
from portcheck.core.source import NOWHERE
from portcheck.ir import Alloc, Assume, Kernel, Program, Ref, Side, ValueType
from portcheck.ir.text import parse_program
from portcheck.ir.verify import InvalidProgram, check_valid, verify

Lines = tuple[str, ...]


def loaded(*extents: int | str) -> str:
    """A line that gives %8 two dimensions."""
    first, second = extents
    return f"%8 = load y[p, f] over(p: free < {first}, f: free < {second}) -> float32[{first}, {second}]"


# valid twin, faulty lines, what is said of them
TWINS: dict[str, tuple[Lines, Lines, str]] = {
    "a shape for each of what is returned": (
        ("%9: return y[4, 8], tile[2]",), ("%9: return y[4, 8], tile",), "%9 return: 1 shapes for 2 buffers",
    ),
    "id used twice": (
        ("%9: barrier block", "%10: barrier block"),
        ("%9: barrier block", "%9: barrier block"),
        "%9 is there more than once",
    ),
    "result not defined": (
        ("%9 = cast %3 -> float16", "%10: store ss = %9:float16"),
        ("%10: store ss = %9:float16", "%9 = cast %3 -> float16"),
        "%10 store: %9 is not visible here",
    ),
    "result of nothing": (("%9: store ss = %3",), ("%9: store ss = %77:float32",), "%9 store: %77 is not defined"),
    "result of a loop body used outside": (
        ("%8: loop i = 0 to 4 step 1", "  %9 = cast %3 -> float16", "  %10: store ss = %9"),
        ("%8: loop i = 0 to 4 step 1", "  %9 = cast %3 -> float16", "%10: store ss = %9"),
        "%10 store: %9 is not visible here",
    ),
    "result of one branch used in the other": (
        ("%9 = cast %3 -> float16", "%8: branch %5", "else", "  %10: store ss = %9"),
        ("%8: branch %5", "  %9 = cast %3 -> float16", "else", "  %10: store ss = %9"),
        "%10 store: %9 is not visible here",
    ),
    "result of a while test used after it": (
        ("%8: while", "  test", "    %9 = compute %3 < 1.0 -> bool", "  condition %9", "  body", "    %10: assume %9"),
        ("%8: while", "  test", "    %9 = compute %3 < 1.0 -> bool", "  condition %9", "  body", "%10: assume %9"),
        "%10 assume: %9 is not visible here",
    ),
    "result of the test used in the body of a do-while": (
        ("%8: while body_first", "  test", "    %9 = compute %3 < 1.0 -> bool", "  condition %9", "  body"),
        ("%8: while body_first", "  test", "    %9 = compute %3 < 1.0 -> bool", "  condition %9", "  body",
         "    %10: assume %9"),
        "%10 assume: %9 is not visible here",
    ),
    "result used at another dtype": (
        ("%9: store ss = %3",),
        ("%9: store ss = %3:int32",),
        "%9 store: %3 is float32 and is used as int32",
    ),
    "operation without a result used": (
        ('%8 = opaque "?" -> float32', "%9: store ss = %8"),
        ('%8: opaque "?"', "%9: store ss = %8:float32"),
        "%9 store: %8 has no result",
    ),
    "buffer not there": (
        ("%9: store ss = %3",),
        ("%9: store sum = %3",),
        "'sum' is neither a buffer of the kernel nor allocated",
    ),
    "scalar used as a buffer": (
        ("%9 = load ss -> float32",),
        ("%9 = load eps -> float32",),
        "'eps' is neither a buffer",
    ),
    "view of no buffer": (
        ("%8: alloc seen: int32 shared of tile",),
        ("%8: alloc seen: int32 shared of other",),
        "'seen' is a view of 'other', which is no buffer that this can see",
    ),
    "view of a view": (
        ("%8: alloc seen: int32 shared of tile", "%9: alloc more: int16 shared of tile"),
        ("%8: alloc seen: int32 shared of tile", "%9: alloc more: int16 shared of seen"),
        "'more' is a view of 'seen', which is a view itself",
    ),
    "view in another space": (
        ("%8: alloc seen: int32 shared of tile",),
        ("%8: alloc seen: int32 global of tile",),
        "'seen' in global is a view of 'tile' in shared",
    ),
    "write to a view of what is constant": (
        ("%8: alloc seen: int32 global of y", "%9: store seen[0] = 1"),
        ("%8: alloc seen: int32 global of x", "%9: store seen[0] = 1"),
        "'seen' is constant and written",
    ),
    "buffer allocated later": (
        ("%8: alloc t: float32", "%9: store t = %3"),
        ("%9: store t = %3", "%8: alloc t: float32"),
        "%9 store: 't' is neither a buffer",
    ),
    "buffer of an inner region": (
        ("%7: branch %5", "  %8: alloc t: float32", "  %9: store t = %3"),
        ("%7: branch %5", "  %8: alloc t: float32", "%9: store t = %3"),
        "%9 store: 't' is neither a buffer",
    ),
    "too many indices": (
        ("%9 = load tile[0, 1] -> float32",),
        ("%9 = load tile[0, 1, 2] -> float32",),
        "'tile' has 2 dimensions and is given 3 indices",
    ),
    "no index": (("%9 = load tile[5] -> float32",), ("%9 = load tile -> float32",), "is given 0 indices"),
    "mask is a number": (
        ("%9 = load x[0] mask(dim > 0) -> float16",),
        ("%9 = load x[0] mask(dim) -> float16",),
        "the mask is int32, not bool",
    ),
    "mask of a source is a number": (
        ("%9: copy tile[0, 0] = x[0] mask(dim > 0)",),
        ("%9: copy tile[0, 0] = x[0] mask(dim)",),
        "the mask is int32, not bool",
    ),
    "axis bound twice": (
        ("%9 = load tile[p, f] over(p: partition < 128, f: free < 2) -> float32[128, 2]",),
        ("%9 = load tile[p, p] over(p: partition < 128, p: free < 2) -> float32[128, 2]",),
        "axis 'p' is there more than once in the access to 'tile'",
    ),
    "free symbol that is no size": (
        ("%9: store ss = n:int64 + eps:float32",),
        ("%9: store ss = scale:float32",),
        "'scale' is bound by nothing and, being float32, no size",
    ),
    "loop variable outside its loop": (
        ("%8: loop i = 0 to 4 step 1", "  %9 = load x[i] -> float16"),
        ("%8: loop i = 0 to 4 step 1", "%9 = load x[i] -> float16"),
        "%9 load: 'i' is used outside the loop or access that binds it",
    ),
    "loop variable in its own bounds": (
        ("%8: loop o = 16 while o > 0 next o >> 1",),
        ("%8: loop o = 0 to o step 1",),
        "%8 loop: 'o' is used outside",
    ),
    "axis outside its access": (
        ("%9 = load x[p] over(p: free < 4) -> float16[4]",),
        ("%8 = load x[p] over(p: free < 4) -> float16[4]", "%9 = load x[p] -> float16"),
        "%9 load: 'p' is used outside",
    ),
    "branch on a number": (("%9: branch dim > 0",), ("%9: branch dim",), "%9 branch: the condition is int32, not bool"),
    "assumption is a number": (("%9: assume dim > 0",), ("%9: assume dim",), "the condition is int32, not bool"),
    "while on a number": (
        ("%9: while", "  test", "  condition dim > 0", "  body"),
        ("%9: while", "  test", "  condition dim", "  body"),
        "%9 while: the condition is int32, not bool",
    ),
    "sequence on a number": (
        ("%8: loop o = 16 while o > 0 next o >> 1",),
        ("%8: loop o = 16 while o next o >> 1",),
        "%8 loop: the condition is int32, not bool",
    ),
    "operator with too few arguments": (
        ("%9 = load x[add(dim, 1)] -> float16",),
        ("%9 = load x[add(dim)] -> float16",),
        "add has 1 operands and takes 2",
    ),
    "compute with too many operands": (
        ("%9 = compute exp(%3) -> float32",),
        ("%9 = compute exp(%3, %3) -> float32",),
        "exp has 2 operands and takes 1",
    ),
    "predicate that gives a number": (
        ("%9: store ss = dim < 3",),
        ("%9: store ss = (dim < 3):int32",),
        "less is a predicate and must give bool",
    ),
    "computed predicate that gives a number": (
        ("%9 = compute is_nan(%3) -> bool",),
        ("%9 = compute is_nan(%3) -> float32",),
        "is_nan is a predicate and must give bool",
    ),
    "compute mask is a number": (
        ("%9 = compute exp(%4) mask(dim0 < 3) -> float32[128, 512]",),
        ("%9 = compute exp(%4) mask(dim0) -> float32[128, 512]",),
        "the mask is int32, not bool",
    ),
    "operand that does not broadcast": (
        (loaded(128, 1), "%9 = compute %4 + %8 -> float32[128, 512]"),
        (loaded(128, 2), "%9 = compute %4 + %8 -> float32[128, 512]"),
        "dimension 1 of an operand is 2 and of the result 512",
    ),
    "cast to another shape": (
        ("%9 = cast %4 -> float16[128, n]",),
        ("%9 = cast %4 -> float16[128, 256]",),
        "%9 cast: dimension 1 of an operand is 512 and of the result 256",
    ),
    "reduction over both": (
        ("%9 = reduce add(%4) dimensions(1) accumulate(float32) -> float32[128, 1]",),
        ("%9 = reduce add(%4) dimensions(1) lanes(32) accumulate(float32) -> float32[128, 1]",),
        "exactly one of dimensions and lanes",
    ),
    "reduction over nothing": (
        ("%9 = reduce add(%3) lanes(32) accumulate(float32) -> float32",),
        ("%9 = reduce add(%3) accumulate(float32) -> float32",),
        "exactly one of dimensions and lanes",
    ),
    "reduction over a dimension too many": (
        ("%9 = reduce add(%4) dimensions(0, 1) accumulate(float32) -> float32",),
        ("%9 = reduce add(%4) dimensions(1, 2) accumulate(float32) -> float32",),
        "the operand has no dimension 2",
    ),
    "reduction mask is a number": (
        ("%9 = reduce add(%4) dimensions(1) accumulate(float32) mask(dim1 < dim) -> float32",),
        ("%9 = reduce add(%4) dimensions(1) accumulate(float32) mask(dim1) -> float32",),
        "the mask is int32, not bool",
    ),
    "scan over nothing": (
        ("%9 = scan add(%4) dimension(1) -> float32[128, 512]",),
        ("%9 = scan add(%4) -> float32[128, 512]",),
        "exactly one of dimension and lanes",
    ),
    "matmul of other contractions": (
        (loaded(128, 64), "%9 = matmul %8, %4 accumulate(float32) -> float32[64, 512] psum"),
        (loaded(64, 128), "%9 = matmul %8, %4 accumulate(float32) -> float32[128, 512] psum"),
        "contracts 64 elements with 128",
    ),
    "transpose that loses a dimension": (
        ("%9 = transpose %4 permutation(1, 0) -> float32[512, 128]",),
        ("%9 = transpose %4 permutation(1, 1) -> float32[512, 128]",),
        "(1, 1) is no permutation",
    ),
    "operand of other rank": (
        ("%8 = load y[0, 0] -> float32", "%9 = compute %4 + %8 -> float32[128, 512]"),
        ("%8 = load y[0, p] over(p: free) -> float32[n]", "%9 = compute %4 + %8 -> float32[128, 512]"),
        "an operand has 1 dimensions and the result 2",
    ),
    "selected operand of other rank": (
        ("%9 = select(%5, %4, 0.0) -> float32[128, 512]",),
        ("%9 = select(%5, %4, 0.0) -> float32[128, 512, 1]",),
        "an operand has 2 dimensions and the result 3",
    ),
    "load of another rank": (
        ("%9 = load y[0, f] over(f: free < 4) -> float32[4]",),
        ("%9 = load y[0, f] over(f: free < 4) -> float32",),
        "the access to 'y' has 1 axes and the result 0 dimensions",
    ),
    "load of another extent": (
        ("%9 = load y[0, f] over(f: free < dim) -> float32[4]",),
        ("%9 = load y[0, f] over(f: free < 3) -> float32[4]",),
        "axis 0 of the access is 3 and the result's dimension 4",
    ),
    "store of more dimensions than axes": (
        ("%9: store tile[p, f] over(p: partition < 128, f: free < 512) = %4",),
        ("%9: store tile[p, 0] over(p: partition < 128) = %4",),
        "the value has 2 dimensions and the access 1",
    ),
    "store of other extents": (
        ("%9: store tile[p, f] over(p: partition < 128, f: free < n) = %4",),
        ("%9: store tile[p, f] over(p: partition < 128, f: free < 256) = %4",),
        "dimension 1 of the value is 512 and of the access 256",
    ),
    "copy between ranks": (
        ("%9: copy tile[p, 0] over(p: partition < 4) = y[q, 0] over(q: free < 4)",),
        ("%9: copy tile[p, 0] over(p: partition < 4) = y[0, 0]",),
        "copies from 0 axes to 1",
    ),
    "copy between extents": (
        ("%9: copy tile[p, 0] over(p: partition < 4) = y[q, 0] over(q: free < 4)",),
        ("%9: copy tile[p, 0] over(p: partition < 4) = y[q, 0] over(q: free < 1)",),
        "copies 1 elements to 4 along axis 0",
    ),
    "atomic of other rank": (
        ("%9 = atomic add y[p, 0] over(p: free < 4) value(%3) -> float32[4]",),
        ("%9 = atomic add y[p, 0] over(p: free < 4) value(%3) -> float32",),
        "the access to 'y' has 1 axes and the result 0 dimensions",
    ),
    "limit of a maximum": (
        ("%9 = atomic subtract y[0] value(1.0) limit(%3) -> float32",),
        ("%9 = atomic maximum y[0] value(1.0) limit(%3) -> float32",),
        "only a sum or a difference has a limit",
    ),
    "pattern of another kind": (
        ("%9 = exchange pattern(%3) lane(0) width(2) pattern(1, 0) -> float32",),
        ("%9 = exchange xor(%3) lane(1) width(2) pattern(1, 0) -> float32",),
        "an exchange of kind xor has a pattern",
    ),
    "pattern that is missing": (
        ("%9 = exchange pattern(%3) lane(0) width(n) pattern(1, 0) -> float32",),
        ("%9 = exchange pattern(%3) lane(0) width(n) -> float32",),
        "an exchange of kind pattern has no pattern",
    ),
    "pattern beyond its group": (
        ("%9 = exchange pattern(%3) lane(0) width(2) pattern(1, 1) -> float32",),
        ("%9 = exchange pattern(%3) lane(0) width(2) pattern(1, 2) -> float32",),
        "the pattern names lane 2 of 2",
    ),
    "pattern of another size": (
        ("%9 = exchange pattern(%3) lane(0) width(2) pattern(1, 0) -> float32",),
        ("%9 = exchange pattern(%3) lane(0) width(4) pattern(1, 0) -> float32",),
        "the pattern has 2 lanes and the group 4",
    ),
    "lanes masked of a dimension": (
        ("%9 = reduce add(%3) lanes(32) lanes_mask(15) accumulate(float32) -> float32",),
        ("%9 = reduce add(%4) dimensions(1) lanes_mask(15) accumulate(float32) -> float32[128, 1]",),
        "lanes_mask is given without lanes",
    ),
    "scan mask is a number": (
        ("%9 = scan add(%4) dimension(1) mask(dim1 < dim) -> float32[128, 512]",),
        ("%9 = scan add(%4) dimension(1) mask(dim1) -> float32[128, 512]",),
        "the mask is int32, not bool",
    ),
    "recurrence without its second operand": (
        ("%9 = scan add(%4, %4) dimension(1) multiplier(multiply) -> float32[128, 512]",),
        ("%9 = scan add(%4) dimension(1) multiplier(multiply) -> float32[128, 512]",),
        "a scan with a multiplier has 1 operands, not 2",
    ),
    "scan of two operands": (
        ("%9 = scan add(%4) dimension(1) -> float32[128, 512]",),
        ("%9 = scan add(%4, %4) dimension(1) -> float32[128, 512]",),
        "a scan without a multiplier has 2 operands, not 1",
    ),
    "barrier that combines nothing": (
        ("%9 = barrier block combine(add) operand(1) -> int32",),
        ("%9: barrier block combine(add)",),
        "combine, operand and type are given together or not at all",
    ),
    "random state that is no buffer": (
        ("%9 = random philox() state(y) -> float32",),
        ("%9 = random philox() state(eps) -> float32",),
        "the state 'eps' is no buffer",
    ),
    "store into a constant": (("%9: store y[0] = %3",), ("%9: store x[0] = %3",), "'x' is constant and written"),
    "copy into a constant": (("%9: copy y[0] = x[0]",), ("%9: copy x[0] = y[0]",), "'x' is constant and written"),
    "atomic on a constant": (
        ("%9 = atomic add y[0] value(%3) -> float32",),
        ("%9 = atomic add x[0] value(%3) -> float32",),
        "'x' is constant and written",
    ),
    "loop that does not move": (
        ("%9: loop i = 0 to dim step -1",),
        ("%9: loop i = 0 to dim step 0",),
        "%9 loop: the step is 0",
    ),
    "leaving no loop": (
        ("%8: loop i = 0 to 4 step 1", "  %9: branch %5", "    %10: leave loop"),
        ("%9: branch %5", "  %10: leave loop"),
        "%10 leave: there is no loop to leave",
    ),
    "returning no buffer": (("%9: return y, tile",), ("%9: return z",), "'z' is returned and is no buffer"),
}  # fmt: skip


@pytest.mark.parametrize("valid", [valid for valid, _, _ in TWINS.values()], ids=TWINS)
def test_valid_twin_is_accepted(valid: Lines) -> None:
    assert verify(program_of(*valid)) == ()


@pytest.mark.parametrize(("faulty", "problem"), [twin[1:] for twin in TWINS.values()], ids=TWINS)
def test_planted_fault_is_the_one_thing_found(faulty: Lines, problem: str) -> None:
    [found] = verify(program_of(*faulty))
    assert problem in found


HEADERS = {
    "launch of an unknown kernel": ("launch k ", "launch other ", "the launch of 'other' names no kernel"),
    "argument of no parameter": ("block(256)", "block(256) arguments(z = w)", "'z', which is no parameter"),
    "launch size with an operator short": ("grid(rows)", "grid(add(rows))", "add has 1 operands and takes 2"),
    "parameter twice": ("scalar eps", "scalar dim", "kernel 'k': parameter 'dim' is there more than once"),
    "number for a buffer": (
        "buffer x: float16 global const",
        "buffer x: float16 global default(1)",
        "buffer 'x' has a",
    ),
    "axis twice": ("axis threadIdx.x", "axis blockIdx.x", "kernel 'k': axis 'blockIdx.x' is there more than once"),
    "result that is no buffer": ("kernel k", "kernel k results(z)", "kernel 'k' returns 'z', which is no buffer"),
    "definition of what a loop binds": (
        "block < blockDim.x",
        "block < blockDim.x\n  define threadIdx.x = 4",
        "'threadIdx.x' is defined and bound",
    ),
    "definition by what comes later": (
        "block < blockDim.x",
        "block < blockDim.x\n  define a = b + 1\n  define b = 2",
        "of 'a' uses what is not",
    ),
    "extent that is no size": ("< gridDim.x", "< gridDim.x:float32", "'gridDim.x' is bound by nothing"),
}


@pytest.mark.parametrize(("before", "after", "problem"), HEADERS.values(), ids=HEADERS)
def test_fault_outside_the_body_is_found(before: str, after: str, problem: str) -> None:
    assert verify(parse_program(HEADER)) == ()
    [found] = verify(parse_program(HEADER.replace(before, after)))
    assert problem in found


def test_two_kernels_of_one_name_are_found() -> None:
    twice = parse_program('program cuda "k.cu"\nkernel k\nkernel k\n')
    assert verify(twice) == ("kernel 'k' is there more than once",)


def test_unknown_shapes_are_not_complained_about() -> None:
    lines = (loaded("n", "m"), "%9 = compute %4 + %8 -> float32[rows, dim]",
             "%10 = matmul %8, %4 accumulate(float32) -> float32[m, 512] psum")  # fmt: skip
    assert verify(program_of(*lines)) == ()


def test_buffer_itself_is_no_result() -> None:
    alloc = Alloc(id=1, span=NOWHERE, name="t", type=ValueType(FLOAT32))
    use = Assume(id=2, span=NOWHERE, condition=Ref(1, BOOL))
    kernel = Kernel(name="k", parameters=(), axes=(), body=(alloc, use), span=NOWHERE)
    program = Program(side=Side.CUDA, path="", kernels=(kernel,), launches=())
    assert verify(program) == ("%2 assume: %1 has no result",)


def test_checking_raises_with_every_problem() -> None:
    faulty = program_of("%9: branch dim", "%10: leave loop")
    with pytest.raises(InvalidProgram, match="%10 leave: there is no loop to leave") as caught:
        check_valid(faulty)
    assert caught.value.problems == verify(faulty)
    assert len(caught.value.problems) == 2


def test_checking_passes_a_valid_program() -> None:
    check_valid(parse_program(HEADER))
