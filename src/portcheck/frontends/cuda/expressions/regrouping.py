"""What the grammar reads in another order than C++ does.

`(i) + (n) * (j)` is read as a cast although the name in the parentheses is no type: `((i)(+(n))) * (j)` binds in
another order. It is taken apart into operands and operators and put together again by their precedence. In
`(a = 1, b)` the grammar gives the comma no place: what stands between commas is put together again.
"""

from __future__ import annotations

from portcheck.frontends.cuda.model.state import State
from portcheck.frontends.cuda.model.types import named_type
from portcheck.frontends.cuda.model.values import CType, TypeKind
from portcheck.frontends.cuda.parsing.parse import parse_expression
from portcheck.frontends.cuda.parsing.syntax import Node
from portcheck.frontends.cuda.text.lexer import tokens_of

_PREFIXED = frozenset({"unary_expression", "pointer_expression"})
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_LEVELS = (
    ("||", "or"), ("&&", "and"), ("|", "bitor"), ("^", "xor"), ("&", "bitand"), ("==", "!=", "not_eq"),
    ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_PRECEDENCE = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}


def regrouped(state: State, node: Node) -> Node | None:
    """`node` as it is meant; None where the grammar read it right."""
    if not node.unit.may_be_misread(node):
        return None
    parts, is_misread = _parts(state, node)
    operators = parts[1::2]
    if not is_misread or any(operator not in _PRECEDENCE for operator in operators):
        return None
    return parse_expression(_grouped(parts), node.span)


def holds_wreck(node: Node) -> bool:
    """Whether a part of the expression itself, not of one inside it, did not parse."""
    return node.is_broken and any(child.type == "ERROR" for child in node.children)


def separated(node: Node) -> Node | None:
    """`a = 1, b`, in which the grammar has no place for the comma, as it is meant; None where that is no expression."""
    parts: list[str] = [""]
    depth = 0
    for token in tokens_of(node.text):
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if token.text == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token.text
    return parse_expression(", ".join(f"({part})" for part in parts), node.span) if len(parts) > 1 else None


def _parts(state: State, node: Node) -> tuple[list[str], bool]:
    """Operands with the operators between them, as far as no parentheses hold them together; whether one is misread."""
    if node.type == "binary_expression":
        left, right, operator = node.field("left"), node.field("right"), node.field("operator")
        if left is not None and right is not None and operator is not None:
            first, is_first = _parts(state, left)
            second, is_second = _parts(state, right)
            return [*first, operator.text, *second], is_first or is_second
    if node.type == "cast_expression":
        return _cast_parts(state, node)
    if node.type in _PREFIXED:
        operator, argument = node.field("operator"), node.field("argument")
        if operator is not None and argument is not None:
            inner, is_misread = _parts(state, argument)
            return ([f"{operator.text} {inner[0]}", *inner[1:]] if is_misread else [node.text]), is_misread
    return [node.text], False


def _cast_parts(state: State, node: Node) -> tuple[list[str], bool]:
    type_, value = node.field("type"), node.field("value")
    if type_ is None or value is None:
        return [node.text], False
    if not _is_value(state, type_):
        inner, is_misread = _parts(state, value)
        return ([f"({type_.text}){inner[0]}", *inner[1:]] if is_misread else [node.text]), is_misread
    operator, argument = value.field("operator"), value.field("argument")
    if value.type == "number_literal" and value.text[:1] in ("+", "-"):
        return [f"(({type_.text}))", value.text[:1], value.text[1:]], True
    if value.type not in _PREFIXED or operator is None or argument is None:
        return [node.text], False
    written = operator.text
    second = argument.field("argument")
    if written == "&" and argument.has("&") and argument.start == operator.end and second is not None:
        written, argument = "&&", second
    return [f"(({type_.text}))", written, *_parts(state, argument)[0]], True


def _is_value(state: State, descriptor: Node) -> bool:
    """Whether what stands where a type should begins with the name of a variable or constant."""
    inner = descriptor.field("type")
    if inner is None or inner.type != "type_identifier":
        return False
    bound = state.lookup(inner.text)
    if bound is not None:
        return not isinstance(bound, CType)
    known = inner.text in state.definitions.variables or inner.text in state.definitions.enumerators
    is_macro = inner.text in state.macros and named_type(state, inner.text).kind is TypeKind.UNKNOWN
    return known or is_macro


def _grouped(parts: list[str]) -> str:
    """The parts with parentheses around every operation."""
    operands: list[str] = [parts[0]]
    operators: list[str] = []
    for operator, operand in zip(parts[1::2], parts[2::2], strict=True):
        while operators and _PRECEDENCE[operators[-1]] >= _PRECEDENCE[operator]:
            _join(operands, operators)
        operators.append(operator)
        operands.append(operand)
    while operators:
        _join(operands, operators)
    return operands[0]


def _join(operands: list[str], operators: list[str]) -> None:
    right, left = operands.pop(), operands.pop()
    operands.append(f"({left} {operators.pop()} {right})")
