"""The text form of programs: `parse_program(print_program(program)) == program` for every valid program.

One operation a line, regions indented by two spaces. `%7` is the operation or result 7; `@3:5-9` is line 3, columns 5
to 9 of the file in the header, `@3:5-4:2` goes on to line 4, `@"other.cuh" 3:5-9` stands in another file. An operation
without a place has none of these.

Expressions are infix where the spelling cannot be mistaken (`/` divides exactly, `//` floors, `>>>` shifts in zeros)
and `name(a, b)` otherwise (`truncated_divide(a, b)`); names that are not plain or dotted are quoted. A dtype follows a
colon (`(a + b):int64`) where it is not the usual one:

- a symbol's is the one in the `symbols` lines of the header, else int32; a result's that of its operation;
- an operator's is bool for predicates, else that of its first argument (of a `select`, its second);
- a number's is that of the first argument beside it that holds a symbol or result (bool does not count, nor an integer
  dtype for a number with a point), else int32, or float32 for one with a point.
"""

from portcheck.ir.text.parsing import parse_program
from portcheck.ir.text.printing import print_program
from portcheck.ir.text.spelling import IrTextError

__all__ = ["IrTextError", "parse_program", "print_program"]
