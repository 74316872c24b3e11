"""libcst's trees of statements, made from Python's own trees of the same text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import libcst as cst

from portcheck.frontends.nki.source.expression_trees import (
    Trees,
    UnreadError,
    annotation,
    arguments,
    element,
    expression,
    new,
    parameters,
    perhaps,
)
from portcheck.frontends.nki.source.pattern_trees import pattern


def module(trees: Trees, nodes: Sequence[ast.stmt]) -> cst.Module:
    """The tree of statements in a row. Raises UnreadError for text of a kind that libcst has no tree for."""
    return new(cst.Module)(body=_block(trees, nodes))


def _block(trees: Trees, nodes: Sequence[ast.stmt]) -> list[cst.BaseStatement]:
    """Statements in a row; several small ones may stand in one line."""
    found: list[cst.BaseStatement] = []
    line: list[ast.stmt] = []
    for node in nodes:
        if line and (type(node) in _COMPOUND or node.lineno != line[-1].end_lineno):
            found.append(_line(trees, line))
            line = []
        if type(node) in _COMPOUND:
            found.append(trees.put(_COMPOUND[type(node)](trees, node), node))
        else:
            line.append(node)
    return [*found, _line(trees, line)] if line else found


def _line(trees: Trees, nodes: Sequence[ast.stmt]) -> cst.SimpleStatementLine:
    made = new(cst.SimpleStatementLine)(body=[_small(trees, node) for node in nodes])
    return trees.put(made, nodes[0], nodes[-1])


def _small(trees: Trees, node: ast.stmt) -> cst.BaseSmallStatement:
    make = _SMALL.get(type(node))
    if make is None:
        raise UnreadError(type(node).__name__)
    made: cst.BaseSmallStatement = make(trees, node)
    return trees.put(made, node)


def _suite(trees: Trees, nodes: Sequence[ast.stmt]) -> cst.BaseSuite:
    """The statements below a heading, or behind it in its line."""
    first = nodes[0]
    is_behind = type(first) not in _COMPOUND and bool(trees.lines[first.lineno - 1][: first.col_offset].strip())
    made: cst.BaseSuite
    if is_behind:
        made = new(cst.SimpleStatementSuite)(body=[_small(trees, node) for node in nodes])
    else:
        made = new(cst.IndentedBlock)(body=_block(trees, nodes))
    return trees.put(made, first, nodes[-1])


def _orelse(trees: Trees, nodes: Sequence[ast.stmt]) -> cst.Else | None:
    return trees.put(new(cst.Else)(body=_suite(trees, nodes)), nodes[0], nodes[-1]) if nodes else None


def _asynchronous(node: ast.AST) -> cst.Asynchronous | None:
    is_asynchronous = isinstance(node, ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith)
    return new(cst.Asynchronous)() if is_asynchronous else None


def _decorators(trees: Trees, nodes: Sequence[ast.expr]) -> list[cst.Decorator]:
    return [new(cst.Decorator)(decorator=expression(trees, node)) for node in nodes]


def _function(trees: Trees, node: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.CSTNode:
    return new(cst.FunctionDef)(
        name=trees.put(new(cst.Name)(value=node.name), node),
        params=parameters(trees, node.args),
        body=_suite(trees, node.body),
        decorators=_decorators(trees, node.decorator_list),
        returns=annotation(trees, node.returns) if node.returns is not None else None,
        asynchronous=_asynchronous(node),
    )


def _class(trees: Trees, node: ast.ClassDef) -> cst.CSTNode:
    given = arguments(trees, node.bases, node.keywords)
    return new(cst.ClassDef)(
        name=trees.put(new(cst.Name)(value=node.name), node),
        body=_suite(trees, node.body),
        bases=[item for item in given if item.keyword is None and item.star != "**"],
        keywords=[item for item in given if item.keyword is not None or item.star == "**"],
        decorators=_decorators(trees, node.decorator_list),
    )


def _if(trees: Trees, node: ast.If) -> cst.CSTNode:
    test, body = expression(trees, node.test), _suite(trees, node.body)
    other: cst.If | cst.Else | None
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and _is_elif(trees, node.orelse[0]):
        other = trees.put(_if(trees, node.orelse[0]), node.orelse[0])  # type: ignore[assignment]
    else:
        other = _orelse(trees, node.orelse)
    return new(cst.If)(test=test, body=body, orelse=other)


def _is_elif(trees: Trees, node: ast.If) -> bool:
    return trees.lines[node.lineno - 1].startswith("elif", node.col_offset)


def _while(trees: Trees, node: ast.While) -> cst.CSTNode:
    test, body = expression(trees, node.test), _suite(trees, node.body)
    return new(cst.While)(test=test, body=body, orelse=_orelse(trees, node.orelse))


def _for(trees: Trees, node: ast.For | ast.AsyncFor) -> cst.CSTNode:
    return new(cst.For)(
        target=expression(trees, node.target),
        iter=expression(trees, node.iter),
        body=_suite(trees, node.body),
        orelse=_orelse(trees, node.orelse),
        asynchronous=_asynchronous(node),
    )


def _with(trees: Trees, node: ast.With | ast.AsyncWith) -> cst.CSTNode:
    items = [
        new(cst.WithItem)(
            item=expression(trees, item.context_expr),
            asname=_as(expression(trees, item.optional_vars)) if item.optional_vars is not None else None,
        )
        for item in node.items
    ]
    return new(cst.With)(items=items, body=_suite(trees, node.body), asynchronous=_asynchronous(node))


def _as(name: Any) -> cst.AsName:
    return new(cst.AsName)(name=name)


def _try(trees: Trees, node: ast.Try | Any) -> cst.CSTNode:
    kind: Callable[..., cst.Try | cst.TryStar] = cst.Try if isinstance(node, ast.Try) else cst.TryStar
    last = node.finalbody
    return new(kind)(
        body=_suite(trees, node.body),
        handlers=[_handler(trees, item, is_star=kind is cst.TryStar) for item in node.handlers],
        orelse=_orelse(trees, node.orelse),
        finalbody=trees.put(new(cst.Finally)(body=_suite(trees, last)), last[0], last[-1]) if last else None,
    )


def _handler(trees: Trees, node: ast.ExceptHandler, *, is_star: bool) -> cst.CSTNode:
    kind: Callable[..., cst.CSTNode] = cst.ExceptStarHandler if is_star else cst.ExceptHandler
    made = new(kind)(
        type=perhaps(trees, node.type),
        name=_as(new(cst.Name)(value=node.name)) if node.name is not None else None,
        body=_suite(trees, node.body),
    )
    return trees.put(made, node)


def _match(trees: Trees, node: ast.Match) -> cst.CSTNode:
    cases = [
        trees.put(
            new(cst.MatchCase)(
                pattern=trees.all_at(case.pattern, pattern, case.pattern),
                guard=perhaps(trees, case.guard),
                body=_suite(trees, case.body),
            ),
            case.pattern,
            case.body[-1],
        )
        for case in node.cases
    ]
    return new(cst.Match)(subject=expression(trees, node.subject), cases=cases)


def _assign(trees: Trees, node: ast.Assign) -> cst.CSTNode:
    targets = [new(cst.AssignTarget)(target=expression(trees, target)) for target in node.targets]
    return new(cst.Assign)(targets=targets, value=expression(trees, node.value))


def _annotated(trees: Trees, node: ast.AnnAssign) -> cst.CSTNode:
    return new(cst.AnnAssign)(
        target=expression(trees, node.target),
        annotation=annotation(trees, node.annotation),
        value=perhaps(trees, node.value),
    )


def _update(trees: Trees, node: ast.AugAssign) -> cst.CSTNode:
    target, value = expression(trees, node.target), expression(trees, node.value)
    return new(cst.AugAssign)(target=target, operator=_UPDATING[type(node.op)], value=value)


def _expression(trees: Trees, node: ast.Expr) -> cst.CSTNode:
    return new(cst.Expr)(value=expression(trees, node.value))


def _return(trees: Trees, node: ast.Return) -> cst.CSTNode:
    return new(cst.Return)(value=perhaps(trees, node.value))


def _assert(trees: Trees, node: ast.Assert) -> cst.CSTNode:
    return new(cst.Assert)(test=expression(trees, node.test), msg=perhaps(trees, node.msg))


def _raise(trees: Trees, node: ast.Raise) -> cst.CSTNode:
    cause = new(cst.From)(item=expression(trees, node.cause)) if node.cause is not None else None
    return new(cst.Raise)(exc=perhaps(trees, node.exc), cause=cause)


def _delete(trees: Trees, node: ast.Delete) -> cst.CSTNode:
    if len(node.targets) == 1:
        return new(cst.Del)(target=expression(trees, node.targets[0]))
    several = new(cst.Tuple)(elements=[element(trees, item) for item in node.targets])
    return new(cst.Del)(target=trees.put(several, node.targets[0], node.targets[-1]))


def _import(trees: Trees, node: ast.Import) -> cst.CSTNode:
    return new(cst.Import)(names=_imported(node.names))


def _import_from(trees: Trees, node: ast.ImportFrom) -> cst.CSTNode:
    is_all = node.names[0].name == "*"
    return new(cst.ImportFrom)(
        module=_dotted(node.module) if node.module else None,
        names=new(cst.ImportStar)() if is_all else _imported(node.names),
        relative=[new(cst.Dot)() for _ in range(node.level)],
    )


def _imported(nodes: Sequence[ast.alias]) -> list[cst.ImportAlias]:
    return [
        new(cst.ImportAlias)(
            name=_dotted(item.name), asname=_as(new(cst.Name)(value=item.asname)) if item.asname else None
        )
        for item in nodes
    ]


def _dotted(name: str) -> Any:
    first, *others = name.split(".")
    made: cst.Name | cst.Attribute = new(cst.Name)(value=first)
    for word in others:
        made = new(cst.Attribute)(value=made, attr=new(cst.Name)(value=word))
    return made


def _declared(kind: type[cst.Global | cst.Nonlocal]) -> Callable[[Trees, Any], cst.CSTNode]:
    def make(trees: Trees, node: ast.Global | ast.Nonlocal) -> cst.CSTNode:
        return new(kind)(names=[new(cst.NameItem)(name=new(cst.Name)(value=word)) for word in node.names])

    return make


def _word(kind: type[cst.Pass | cst.Break | cst.Continue]) -> Callable[[Trees, Any], cst.CSTNode]:
    return lambda trees, node: new(kind)()


_UPDATING: Mapping[type[ast.operator], cst.BaseAugOp] = {
    ast.Add: cst.AddAssign(), ast.Sub: cst.SubtractAssign(), ast.Mult: cst.MultiplyAssign(),
    ast.Div: cst.DivideAssign(), ast.FloorDiv: cst.FloorDivideAssign(), ast.Mod: cst.ModuloAssign(),
    ast.Pow: cst.PowerAssign(), ast.MatMult: cst.MatrixMultiplyAssign(), ast.LShift: cst.LeftShiftAssign(),
    ast.RShift: cst.RightShiftAssign(), ast.BitAnd: cst.BitAndAssign(), ast.BitOr: cst.BitOrAssign(),
    ast.BitXor: cst.BitXorAssign(),
}  # fmt: skip
_SMALL: Mapping[type[ast.AST], Callable[[Trees, Any], Any]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _update,
    ast.Return: _return,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.Delete: _delete,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _declared(cst.Global),
    ast.Nonlocal: _declared(cst.Nonlocal),
    ast.Pass: _word(cst.Pass),
    ast.Break: _word(cst.Break),
    ast.Continue: _word(cst.Continue),
}
_COMPOUND: Mapping[type[ast.AST], Callable[[Trees, Any], Any]] = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: _match,
}
