"""libcst's trees of expressions, made from Python's own trees of the same text.

Python's parser is many times faster than libcst's, only raises where libcst's can be made to crash, and knows where
everything stands. What libcst would keep besides (white space, parentheses, how a literal is spelled) nothing here asks
for. What has no counterpart (operators, what stands in an f-string) is where the nearest node around it is.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, partial
from typing import Any, TypeVar

import libcst as cst

Place = tuple[ast.AST, ast.AST]
"""The nodes at whose start and at whose end something stands."""
Places = dict[int, Place]
"""Places by the identity of the node."""
Node = TypeVar("Node", bound=cst.CSTNode)
_DIGITS = 128
"""Bits of an integer that is written with decimal digits, which takes long for many."""


class UnreadError(Exception):
    """Text of a kind that libcst's trees have no place for, or not that of this version."""


@dataclass(slots=True, eq=False)
class Trees:
    """What is made of the text `lines`: where each node stands; `within` is set where that is known of no part."""

    lines: Sequence[str]
    places: Places = field(default_factory=dict)
    within: Place | None = None

    def put(self, node: Node, first: ast.AST, last: ast.AST | None = None) -> Node:
        """Notes that `node` stands where `first` does, or from there to the end of `last`."""
        self.places[id(node)] = self.within or (first, first if last is None else last)
        return node

    def all_at(self, place: ast.AST, make: Callable[[Trees, Any], Node], node: Any) -> Node:
        """What `make` makes of `node`; all of it stands at `place`."""
        before, self.within = self.within, self.within or (place, place)
        try:
            return make(self, node)
        finally:
            self.within = before


def new(kind: Callable[..., Node]) -> Callable[..., Node]:
    """`kind`, whose nodes share their white space: to make it takes longer than to make the rest of a node."""
    return _sharing(kind)


@cache
def _sharing(kind: Any) -> Callable[..., Any]:
    factories = {item.name: item.default_factory for item in fields(kind)}
    return partial(kind, **{name: make() for name, make in factories.items() if make is not MISSING})


def expression(trees: Trees, node: ast.AST) -> Any:
    """The tree of the expression `node`. Raises UnreadError."""
    make = _MAKERS.get(type(node))
    if make is None:
        raise UnreadError(type(node).__name__)
    return trees.put(make(trees, node), node)


def perhaps(trees: Trees, node: ast.AST | None) -> Any:
    """The tree of an expression that may be left out."""
    return None if node is None else expression(trees, node)


def _name(trees: Trees, node: ast.Name) -> cst.CSTNode:
    return new(cst.Name)(value=node.id)


def _constant(trees: Trees, node: ast.Constant) -> cst.CSTNode:
    value: Any = node.value
    if value is None or isinstance(value, bool):
        return new(cst.Name)(value=str(value))
    if isinstance(value, str | bytes):
        return new(cst.SimpleString)(value=repr(value))
    if value is ...:
        return new(cst.Ellipsis)()
    if isinstance(value, int):
        return new(cst.Integer)(value=str(value) if value.bit_length() <= _DIGITS else hex(value))
    if isinstance(value, float):
        return new(cst.Float)(value=repr(value) if math.isfinite(value) else "1e999")
    size = value.imag
    return new(cst.Imaginary)(value=repr(value) if math.isfinite(size) else "1e999j")


def _attribute(trees: Trees, node: ast.Attribute) -> cst.CSTNode:
    word = trees.put(new(cst.Name)(value=node.attr), node)
    return new(cst.Attribute)(value=expression(trees, node.value), attr=word)


def _call(trees: Trees, node: ast.Call) -> cst.CSTNode:
    return new(cst.Call)(func=expression(trees, node.func), args=arguments(trees, node.args, node.keywords))


def arguments(trees: Trees, plain: Sequence[ast.expr], named: Sequence[ast.keyword]) -> list[cst.Arg]:
    """Arguments in the order of the text."""
    given: list[ast.expr | ast.keyword] = [*plain, *named]
    if named and any(isinstance(item, ast.Starred) for item in plain):
        given.sort(key=lambda item: (item.lineno, item.col_offset))
    return [_argument(trees, item) for item in given]


def _argument(trees: Trees, node: ast.expr | ast.keyword) -> cst.Arg:
    if isinstance(node, ast.keyword):
        keyword = new(cst.Name)(value=node.arg) if node.arg is not None else None
        made = new(cst.Arg)(
            value=expression(trees, node.value), keyword=keyword, star="" if node.arg is not None else "**"
        )
    elif isinstance(node, ast.Starred):
        made = new(cst.Arg)(value=expression(trees, node.value), star="*")
    else:
        made = new(cst.Arg)(value=expression(trees, node))
    return trees.put(made, node)


def _subscript(trees: Trees, node: ast.Subscript) -> cst.CSTNode:
    inner = node.slice
    parts = inner.elts if isinstance(inner, ast.Tuple) and inner.elts else [inner]
    value = expression(trees, node.value)
    return new(cst.Subscript)(value=value, slice=[_selector(trees, part) for part in parts])


def _selector(trees: Trees, node: ast.expr) -> cst.SubscriptElement:
    made: cst.BaseSlice
    if isinstance(node, ast.Slice):
        ends = (perhaps(trees, end) for end in (node.lower, node.upper, node.step))
        made = new(cst.Slice)(**dict(zip(("lower", "upper", "step"), ends, strict=True)))
    elif isinstance(node, ast.Starred):
        made = new(cst.Index)(value=expression(trees, node.value), star="*")
    else:
        made = new(cst.Index)(value=expression(trees, node))
    return trees.put(new(cst.SubscriptElement)(slice=trees.put(made, node)), node)


def element(trees: Trees, node: ast.expr) -> cst.BaseElement:
    """One of the elements of a list or tuple."""
    if isinstance(node, ast.Starred):
        return trees.put(new(cst.StarredElement)(value=expression(trees, node.value)), node)
    return trees.put(new(cst.Element)(value=expression(trees, node)), node)


def _elements(kind: type[cst.Tuple | cst.List | cst.Set]) -> Callable[[Trees, Any], cst.CSTNode]:
    def make(trees: Trees, node: ast.Tuple | ast.List | ast.Set) -> cst.CSTNode:
        return new(kind)(elements=[element(trees, item) for item in node.elts])

    return make


def _dictionary(trees: Trees, node: ast.Dict) -> cst.CSTNode:
    found: list[cst.BaseDictElement] = []
    for key, value in zip(node.keys, node.values, strict=True):
        held = expression(trees, value)
        if key is None:
            found.append(trees.put(new(cst.StarredDictElement)(value=held), value))
        else:
            found.append(trees.put(new(cst.DictElement)(key=expression(trees, key), value=held), key, value))
    return new(cst.Dict)(elements=found)


def _binary(trees: Trees, node: ast.BinOp) -> cst.CSTNode:
    left, right = expression(trees, node.left), expression(trees, node.right)
    return new(cst.BinaryOperation)(left=left, operator=_BINARY[type(node.op)], right=right)


def _unary(trees: Trees, node: ast.UnaryOp) -> cst.CSTNode:
    return new(cst.UnaryOperation)(operator=_UNARY[type(node.op)], expression=expression(trees, node.operand))


def _boolean(trees: Trees, node: ast.BoolOp) -> cst.CSTNode:
    """`a and b and c` is one operation of Python's, and two in one another of libcst's."""
    operator = _AND if isinstance(node.op, ast.And) else _OR
    first, *others = node.values
    made = expression(trees, first)
    for other in others:
        operation = new(cst.BooleanOperation)(left=made, operator=operator, right=expression(trees, other))
        made = trees.put(operation, first, other)
    return made  # type: ignore[no-any-return]  # an expression


def _comparison(trees: Trees, node: ast.Compare) -> cst.CSTNode:
    left = expression(trees, node.left)
    targets = [
        new(cst.ComparisonTarget)(operator=_COMPARING[type(kind)], comparator=expression(trees, right))
        for kind, right in zip(node.ops, node.comparators, strict=True)
    ]
    return new(cst.Comparison)(left=left, comparisons=targets)


def _conditional(trees: Trees, node: ast.IfExp) -> cst.CSTNode:
    test, body, other = (expression(trees, part) for part in (node.test, node.body, node.orelse))
    return new(cst.IfExp)(test=test, body=body, orelse=other)


def _lambda(trees: Trees, node: ast.Lambda) -> cst.CSTNode:
    return new(cst.Lambda)(params=parameters(trees, node.args), body=expression(trees, node.body))


def parameters(trees: Trees, node: ast.arguments) -> cst.Parameters:
    """The parameters of a function."""
    plain = [*node.posonlyargs, *node.args]
    defaults = [*[None] * (len(plain) - len(node.defaults)), *node.defaults]
    made = [_parameter(trees, item, default) for item, default in zip(plain, defaults, strict=True)]
    named = [_parameter(trees, item, value) for item, value in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
    star: Any = cst.MaybeSentinel.DEFAULT
    if node.vararg is not None:
        star = _parameter(trees, node.vararg, None, "*")
    elif named:
        star = new(cst.ParamStar)()
    count = len(node.posonlyargs)
    return new(cst.Parameters)(
        posonly_params=made[:count],
        params=made[count:],
        star_arg=star,
        kwonly_params=named,
        star_kwarg=_parameter(trees, node.kwarg, None, "**") if node.kwarg is not None else None,
    )


def _parameter(trees: Trees, node: ast.arg, default: ast.expr | None, star: str = "") -> cst.Param:
    made = new(cst.Param)(
        name=trees.put(new(cst.Name)(value=node.arg), node),
        annotation=annotation(trees, node.annotation) if node.annotation is not None else None,
        default=perhaps(trees, default),
        star=star,
    )
    return trees.put(made, node)


def annotation(trees: Trees, node: ast.expr) -> cst.Annotation:
    """What stands behind the colon of a parameter or behind an arrow."""
    stated = node.value if isinstance(node, ast.Starred) else node  # of `*args: *Shape`
    return new(cst.Annotation)(annotation=expression(trees, stated))


def _comprehension(kind: type[cst.BaseSimpleComp]) -> Callable[[Trees, Any], cst.CSTNode]:
    def make(trees: Trees, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> cst.CSTNode:
        return new(kind)(elt=expression(trees, node.elt), for_in=_clauses(trees, node.generators))

    return make


def _table_comprehension(trees: Trees, node: ast.DictComp) -> cst.CSTNode:
    key, value = expression(trees, node.key), expression(trees, node.value)
    return new(cst.DictComp)(key=key, value=value, for_in=_clauses(trees, node.generators))


def _clauses(trees: Trees, nodes: Sequence[ast.comprehension]) -> cst.CompFor:
    """The `for` clauses of a comprehension, each in the one before it."""
    made: cst.CompFor | None = None
    for node in reversed(nodes):
        made = new(cst.CompFor)(
            target=expression(trees, node.target),
            iter=expression(trees, node.iter),
            ifs=[new(cst.CompIf)(test=expression(trees, test)) for test in node.ifs],
            inner_for_in=made,
            asynchronous=new(cst.Asynchronous)() if node.is_async else None,
        )
    assert made is not None
    return made


def _named(trees: Trees, node: ast.NamedExpr) -> cst.CSTNode:
    return new(cst.NamedExpr)(target=expression(trees, node.target), value=expression(trees, node.value))


def _await(trees: Trees, node: ast.Await) -> cst.CSTNode:
    return new(cst.Await)(expression=expression(trees, node.value))


def _yield(trees: Trees, node: ast.Yield) -> cst.CSTNode:
    return new(cst.Yield)(value=perhaps(trees, node.value))


def _yield_from(trees: Trees, node: ast.YieldFrom) -> cst.CSTNode:
    return new(cst.Yield)(value=new(cst.From)(item=expression(trees, node.value)))


def _joined(trees: Trees, node: ast.JoinedStr) -> cst.CSTNode:
    return new(cst.FormattedString)(parts=trees.all_at(node, _parts, node), start='f"', end='"')


def _parts(trees: Trees, node: ast.JoinedStr) -> Any:
    return [_part(trees, part) for part in node.values]


def _part(trees: Trees, node: ast.expr) -> cst.BaseFormattedStringContent:
    if not isinstance(node, ast.FormattedValue):
        text = str(node.value) if isinstance(node, ast.Constant) else ""
        return trees.put(new(cst.FormattedStringText)(value=text.replace("{", "{{").replace("}", "}}")), node)
    spec = _parts(trees, node.format_spec) if isinstance(node.format_spec, ast.JoinedStr) else None
    made = new(cst.FormattedStringExpression)(
        expression=expression(trees, node.value),
        conversion=chr(node.conversion) if node.conversion >= 0 else None,
        format_spec=spec,
    )
    return trees.put(made, node)


_BINARY: Mapping[type[ast.operator], cst.BaseBinaryOp] = {
    ast.Add: cst.Add(), ast.Sub: cst.Subtract(), ast.Mult: cst.Multiply(), ast.Div: cst.Divide(),
    ast.FloorDiv: cst.FloorDivide(), ast.Mod: cst.Modulo(), ast.Pow: cst.Power(), ast.MatMult: cst.MatrixMultiply(),
    ast.LShift: cst.LeftShift(), ast.RShift: cst.RightShift(), ast.BitAnd: cst.BitAnd(), ast.BitOr: cst.BitOr(),
    ast.BitXor: cst.BitXor(),
}  # fmt: skip
_UNARY: Mapping[type[ast.unaryop], cst.BaseUnaryOp] = {
    ast.UAdd: cst.Plus(), ast.USub: cst.Minus(), ast.Invert: cst.BitInvert(), ast.Not: cst.Not(),
}  # fmt: skip
_AND, _OR = cst.And(), cst.Or()
_COMPARING: Mapping[type[ast.cmpop], cst.BaseCompOp] = {
    ast.Eq: cst.Equal(), ast.NotEq: cst.NotEqual(), ast.Lt: cst.LessThan(), ast.LtE: cst.LessThanEqual(),
    ast.Gt: cst.GreaterThan(), ast.GtE: cst.GreaterThanEqual(), ast.Is: cst.Is(), ast.IsNot: cst.IsNot(),
    ast.In: cst.In(), ast.NotIn: cst.NotIn(),
}  # fmt: skip
_MAKERS: Mapping[type[ast.AST], Callable[[Trees, Any], cst.CSTNode]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Tuple: _elements(cst.Tuple),
    ast.List: _elements(cst.List),
    ast.Set: _elements(cst.Set),
    ast.Dict: _dictionary,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.IfExp: _conditional,
    ast.Lambda: _lambda,
    ast.ListComp: _comprehension(cst.ListComp),
    ast.SetComp: _comprehension(cst.SetComp),
    ast.GeneratorExp: _comprehension(cst.GeneratorExp),
    ast.DictComp: _table_comprehension,
    ast.NamedExpr: _named,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.JoinedStr: _joined,
}
