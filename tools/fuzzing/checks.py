"""What may be wrong with a program, whatever it was lowered from."""

from portcheck.ir import Program
from portcheck.ir.text import parse_program, print_program
from portcheck.ir.verify import verify

QUOTING = "%'"


def problem_of_program(program: Program) -> str:
    """What is wrong with `program`; "" if nothing is."""
    wrong = verify(program)
    if wrong:
        words = str(wrong[0]).split()
        return f"inconsistent: {' '.join(word for word in words if word[0] not in QUOTING)}"
    shown = print_program(program)
    if print_program(parse_program(shown)) != shown:  # a program with a NaN is not equal to itself
        return "the text form means something else"
    return ""
