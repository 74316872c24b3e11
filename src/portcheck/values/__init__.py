"""What each output of a kernel is, as a term over its inputs; and whether two such terms are the same."""

from portcheck.values.contract import Contract, Evaluated, Piece, evaluate, unknown_part
from portcheck.values.normalise import Form, normal_form
from portcheck.values.printing import condition_text, coordinate_names, term_text
from portcheck.values.terms import (
    Bound,
    Choice,
    Element,
    Fold,
    Function,
    Index,
    Literal,
    Rounded,
    Scalar,
    Term,
    subterms,
)

__all__ = [
    "Bound",
    "Choice",
    "Contract",
    "Element",
    "Evaluated",
    "Fold",
    "Form",
    "Function",
    "Index",
    "Literal",
    "Piece",
    "Rounded",
    "Scalar",
    "Term",
    "condition_text",
    "coordinate_names",
    "evaluate",
    "normal_form",
    "subterms",
    "term_text",
    "unknown_part",
]
