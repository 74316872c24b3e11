"""Where the nodes of a libcst tree stand: Python's own tree of the same text knows it, and both are walked in step.

libcst works positions out by writing the text again, which takes longer than reading it. Nodes of Python's tree start
and end where those of libcst do, parentheses around them left out. What has no counterpart (operators, patterns, what
stands in an f-string) is where the nearest node around it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

import libcst as cst

from portcheck.frontends.nki.source.trees import children

Place = tuple[ast.AST, ast.AST]
"""The nodes at whose start and at whose end something stands."""
Places = dict[int, Place]
"""Places by the identity of the node."""


def places_in(module: cst.Module, statements: Sequence[ast.stmt]) -> Places:
    """The places of the nodes of `module`, which is the text of `statements`."""
    found: Places = {}
    try:
        _block(found, module.body, statements)
    except (ValueError, LookupError, AttributeError, StopIteration):  # a newer Python, whose trees are others
        _at(found, module, (statements[0], statements[-1]))
    return found


def _block(found: Places, body: Sequence[cst.CSTNode], statements: Sequence[ast.AST]) -> None:
    """Statements in a row; several of libcst's small ones stand in one line."""
    position = 0
    for node in body:
        if isinstance(node, cst.SimpleStatementLine):
            inner = statements[position : position + len(node.body)]
            position += len(node.body)
            found[id(node)] = (inner[0], inner[-1])
            for part, statement in zip(node.body, inner, strict=True):
                _pair(found, part, statement)
        else:
            _pair(found, node, statements[position])
            position += 1


def _suite(found: Places, suite: cst.CSTNode, statements: Sequence[ast.AST]) -> None:
    found[id(suite)] = (statements[0], statements[-1])
    if isinstance(suite, cst.SimpleStatementSuite):
        for part, statement in zip(suite.body, statements, strict=True):
            _pair(found, part, statement)
    elif isinstance(suite, cst.IndentedBlock):
        _block(found, suite.body, statements)


def _pair(found: Places, node: cst.CSTNode | None, other: ast.AST | None) -> None:
    """`node` stands where `other` does, and what is in one where its counterpart in the other is."""
    if node is None or other is None:
        return
    found[id(node)] = (other, other)
    walk = _WALKS.get(type(node))
    if walk is not None:
        walk(found, node, other)


def _at(found: Places, node: cst.CSTNode, place: Place) -> None:
    """All of `node` stands at `place`."""
    stack = [node]
    while stack:
        item = stack.pop()
        found[id(item)] = place
        stack.extend(children(item))


Walk = Callable[[Places, "cst.CSTNode", ast.AST], None]


def _fields(*pairs: tuple[str, str]) -> Walk:
    """Fields of one node that are those of the other."""

    def walk(found: Places, node: cst.CSTNode, other: ast.AST) -> None:
        for own, their in pairs:
            _pair(found, getattr(node, own), getattr(other, their))

    return walk


def _inside(found: Places, node: cst.CSTNode, other: ast.AST) -> None:
    for child in children(node):
        _at(found, child, (other, other))


def _assign(found: Places, node: cst.Assign, other: ast.Assign) -> None:
    for target, their in zip(node.targets, other.targets, strict=True):
        _pair(found, target.target, their)
    _pair(found, node.value, other.value)


def _annotated(found: Places, node: cst.AnnAssign, other: ast.AnnAssign) -> None:
    _pair(found, node.target, other.target)
    _pair(found, node.annotation.annotation, other.annotation)
    _pair(found, node.value, other.value)


def _raise(found: Places, node: cst.Raise, other: ast.Raise) -> None:
    _pair(found, node.exc, other.exc)
    _pair(found, node.cause.item if node.cause is not None else None, other.cause)


def _delete(found: Places, node: cst.Del, other: ast.Delete) -> None:
    if not isinstance(node.target, cst.Tuple) or isinstance(other.targets[0], ast.Tuple):
        _pair(found, node.target, other.targets[0])
        return
    found[id(node.target)] = (other.targets[0], other.targets[-1])
    for element, their in zip(node.target.elements, other.targets, strict=True):
        _element(found, element, their)


def _else(found: Places, node: cst.CSTNode | None, statements: Sequence[ast.stmt]) -> None:
    if isinstance(node, cst.If):
        _pair(found, node, statements[0])
    elif isinstance(node, cst.Else | cst.Finally):
        found[id(node)] = (statements[0], statements[-1])
        _suite(found, node.body, statements)


def _if(found: Places, node: cst.If, other: ast.If) -> None:
    _pair(found, node.test, other.test)
    _suite(found, node.body, other.body)
    _else(found, node.orelse, other.orelse)


def _for(found: Places, node: cst.For, other: ast.For) -> None:
    _pair(found, node.target, other.target)
    _pair(found, node.iter, other.iter)
    _suite(found, node.body, other.body)
    _else(found, node.orelse, other.orelse)


def _with(found: Places, node: cst.With, other: ast.With) -> None:
    for item, their in zip(node.items, other.items, strict=True):
        _pair(found, item.item, their.context_expr)
        _pair(found, item.asname.name if item.asname is not None else None, their.optional_vars)
    _suite(found, node.body, other.body)


def _try(found: Places, node: cst.Try, other: ast.Try) -> None:
    _suite(found, node.body, other.body)
    for handler, their in zip(node.handlers, other.handlers, strict=True):
        found[id(handler)] = (their, their)
        _pair(found, handler.type, their.type)
        _suite(found, handler.body, their.body)
    _else(found, node.orelse, other.orelse)
    _else(found, node.finalbody, other.finalbody)


def _match(found: Places, node: cst.Match, other: ast.Match) -> None:
    _pair(found, node.subject, other.subject)
    for case, their in zip(node.cases, other.cases, strict=True):
        found[id(case)] = (their.pattern, their.body[-1])
        _at(found, case.pattern, (their.pattern, their.pattern))
        _pair(found, case.guard, their.guard)
        _suite(found, case.body, their.body)


def _function(found: Places, node: cst.FunctionDef, other: ast.FunctionDef) -> None:
    found[id(node.name)] = (other, other)
    for decorator, their in zip(node.decorators, other.decorator_list, strict=True):
        _pair(found, decorator.decorator, their)
    _parameters(found, node.params, other.args)
    _pair(found, node.returns.annotation if node.returns is not None else None, other.returns)
    _suite(found, node.body, other.body)


def _lambda(found: Places, node: cst.Lambda, other: ast.Lambda) -> None:
    _parameters(found, node.params, other.args)
    _pair(found, node.body, other.body)


def _parameters(found: Places, node: cst.Parameters, other: ast.arguments) -> None:
    plain = [*node.posonly_params, *node.params]
    theirs = [*other.posonlyargs, *other.args]
    defaults = [None] * (len(theirs) - len(other.defaults)) + list(other.defaults)
    triples = [*zip(plain, theirs, defaults, strict=True)]
    triples += [*zip(node.kwonly_params, other.kwonlyargs, other.kw_defaults, strict=True)]
    starred = ((node.star_arg, other.vararg), (node.star_kwarg, other.kwarg))
    triples += [(own, their, None) for own, their in starred if isinstance(own, cst.Param) and their is not None]
    for own, argument, default in triples:
        found[id(own)] = found[id(own.name)] = (argument, argument)
        _pair(found, own.annotation.annotation if own.annotation is not None else None, argument.annotation)
        _pair(found, own.default, default)


def _class(found: Places, node: cst.ClassDef, other: ast.ClassDef) -> None:
    found[id(node.name)] = (other, other)
    for decorator, their in zip(node.decorators, other.decorator_list, strict=True):
        _pair(found, decorator.decorator, their)
    _arguments(found, [*node.bases, *node.keywords], other.bases, other.keywords)
    _suite(found, node.body, other.body)


def _sequence(found: Places, node: cst.Tuple | cst.List | cst.Set, other: ast.Tuple | ast.List | ast.Set) -> None:
    for element, their in zip(node.elements, other.elts, strict=True):
        _element(found, element, their)


def _element(found: Places, node: cst.CSTNode, other: ast.AST) -> None:
    found[id(node)] = (other, other)
    _pair(found, node.value, other.value if isinstance(other, ast.Starred) else other)  # type: ignore[attr-defined]


def _dictionary(found: Places, node: cst.Dict, other: ast.Dict) -> None:
    for element, key, value in zip(node.elements, other.keys, other.values, strict=True):
        found[id(element)] = (key or value, value)
        if isinstance(element, cst.DictElement):
            _pair(found, element.key, key)
        _pair(found, element.value, value)


def _attribute(found: Places, node: cst.Attribute, other: ast.Attribute) -> None:
    found[id(node.attr)] = (other, other)
    _pair(found, node.value, other.value)


def _subscript(found: Places, node: cst.Subscript, other: ast.Subscript) -> None:
    _pair(found, node.value, other.value)
    is_single = len(node.slice) == 1 and not isinstance(node.slice[0].comma, cst.Comma)
    is_single = is_single and getattr(node.slice[0].slice, "star", None) is None
    theirs = [other.slice] if is_single else other.slice.elts  # type: ignore[attr-defined]  # a tuple
    for element, their in zip(node.slice, theirs, strict=True):
        inner = element.slice
        found[id(element)] = found[id(inner)] = (their, their)
        if isinstance(inner, cst.Slice):
            _pair(found, inner.lower, their.lower)
            _pair(found, inner.upper, their.upper)
            _pair(found, inner.step, their.step)
        elif isinstance(inner, cst.Index):
            _pair(found, inner.value, their.value if isinstance(their, ast.Starred) else their)


def _call(found: Places, node: cst.Call, other: ast.Call) -> None:
    _pair(found, node.func, other.func)
    _arguments(found, node.args, other.args, other.keywords)


def _arguments(
    found: Places, given: Sequence[cst.Arg], plain: Sequence[ast.expr], named: Sequence[ast.keyword]
) -> None:
    values, keywords = iter(plain), iter(named)
    for argument in given:
        if argument.keyword is not None or argument.star == "**":
            keyword = next(keywords)
            found[id(argument)] = (keyword, keyword)
            _pair(found, argument.value, keyword.value)
        else:
            _element(found, argument, next(values))


def _boolean(found: Places, node: cst.BooleanOperation, other: ast.BoolOp) -> None:
    """`a and b and c` is one operation of Python's, and two in one another of libcst's."""
    values = list(other.values)
    inner: cst.BaseExpression = node
    while len(values) > 1 and isinstance(inner, cst.BooleanOperation):
        found[id(inner)] = (values[0], values[-1]) if inner is not node else (other, other)
        _pair(found, inner.right, values.pop())
        inner = inner.left
    _pair(found, inner, values[0])


def _comparison(found: Places, node: cst.Comparison, other: ast.Compare) -> None:
    _pair(found, node.left, other.left)
    for target, their in zip(node.comparisons, other.comparators, strict=True):
        _pair(found, target.comparator, their)


def _comprehension(found: Places, node: cst.CSTNode, other: ast.AST) -> None:
    _pair(found, getattr(node, "elt", None), getattr(other, "elt", None))
    _pair(found, getattr(node, "key", None), getattr(other, "key", None))
    _pair(found, getattr(node, "value", None), getattr(other, "value", None))
    clause = node.for_in  # type: ignore[attr-defined]  # a comprehension
    for their in other.generators:  # type: ignore[attr-defined]
        _pair(found, clause.target, their.target)
        _pair(found, clause.iter, their.iter)
        for test, condition in zip(clause.ifs, their.ifs, strict=True):
            _pair(found, test.test, condition)
        clause = clause.inner_for_in


def _yield(found: Places, node: cst.Yield, other: ast.Yield | ast.YieldFrom) -> None:
    value = node.value.item if isinstance(node.value, cst.From) else node.value
    _pair(found, value, other.value)


_WALKS: Mapping[type[cst.CSTNode], Callable[..., None]] = {
    cst.Expr: _fields(("value", "value")),
    cst.Return: _fields(("value", "value")),
    cst.Assert: _fields(("test", "test"), ("msg", "msg")),
    cst.AugAssign: _fields(("target", "target"), ("value", "value")),
    cst.BinaryOperation: _fields(("left", "left"), ("right", "right")),
    cst.UnaryOperation: _fields(("expression", "operand")),
    cst.IfExp: _fields(("test", "test"), ("body", "body"), ("orelse", "orelse")),
    cst.NamedExpr: _fields(("target", "target"), ("value", "value")),
    cst.Await: _fields(("expression", "value")),
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.Raise: _raise,
    cst.Del: _delete,
    cst.If: _if,
    cst.While: _if,
    cst.For: _for,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.Match: _match,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.Lambda: _lambda,
    cst.Tuple: _sequence,
    cst.List: _sequence,
    cst.Set: _sequence,
    cst.Dict: _dictionary,
    cst.Attribute: _attribute,
    cst.Subscript: _subscript,
    cst.Call: _call,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.ListComp: _comprehension,
    cst.SetComp: _comprehension,
    cst.GeneratorExp: _comprehension,
    cst.DictComp: _comprehension,
    cst.Yield: _yield,
    cst.FormattedString: _inside,
    cst.ConcatenatedString: _inside,
    cst.Import: _inside,
    cst.ImportFrom: _inside,
    cst.Global: _inside,
    cst.Nonlocal: _inside,
}
