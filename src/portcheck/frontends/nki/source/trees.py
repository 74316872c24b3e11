"""What stands in a tree: the nodes below a node, and the names that text assigns, changes and reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

_TRIVIA = ("whitespace", "lpar", "rpar", "comma", "leading_lines", "footer", "header", "lines_after")
_REMEMBERED = 1 << 14
"""Nodes of which it is remembered what stands below them: the same text is looked through again and again."""


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind) if not item.name.startswith(_TRIVIA))


class _Kinds(dict[type, bool]):
    """Which classes are those of nodes; libcst's are abstract, and slow to ask."""

    def __missing__(self, kind: type) -> bool:
        import libcst as cst

        self[kind] = issubclass(kind, cst.CSTNode)
        return self[kind]


_IS_NODE = _Kinds()


@lru_cache(maxsize=_REMEMBERED)
def children(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """The nodes directly below `node`, in order, without white space; much faster than libcst's own `children`."""
    found: list[cst.CSTNode] = []
    for name in _fields(type(node)):
        value = getattr(node, name)
        kind = type(value)
        if kind is tuple or kind is list:
            found.extend([item for item in value if _IS_NODE[type(item)]])
        elif _IS_NODE[kind]:
            found.append(value)
    return tuple(found)


class _Leaves(dict[type, bool]):
    """Which classes are those of nodes that have none below them: names, numbers, texts, operators, punctuation."""

    def __missing__(self, kind: type) -> bool:
        import libcst as cst

        leaves = (
            cst.Name, cst.BaseNumber, cst.SimpleString, cst.Ellipsis, cst.Pass, cst.Break, cst.Continue,
            cst.BaseBinaryOp, cst.BaseUnaryOp, cst.BaseBooleanOp, cst.BaseCompOp, cst.BaseAugOp, cst.Dot, cst.Colon,
            cst.AssignEqual, cst.LeftSquareBracket, cst.RightSquareBracket, cst.LeftCurlyBrace, cst.RightCurlyBrace,
        )  # fmt: skip
        self[kind] = issubclass(kind, leaves)
        return self[kind]


_IS_LEAF = _Leaves()


@lru_cache(maxsize=_REMEMBERED)
def inner_children(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """The nodes directly below `node`, in order, that have nodes below themselves."""
    return tuple(child for child in children(node) if not _IS_LEAF[type(child)])


def inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """`node` and all nodes below it, in no order that means something."""
    stack = [node]
    while stack:
        item = stack.pop()
        yield item
        stack.extend(children(item))


@lru_cache(maxsize=1024)
def names_stored_into(body: cst.CSTNode) -> frozenset[str]:
    """The names that `body` indexes, updates in place or asks for a method: they need a buffer of their own."""
    import libcst as cst

    found: set[str] = set()
    stack: list[cst.CSTNode] = [body]
    while stack:
        node = stack.pop()
        if type(node) is cst.Subscript and isinstance(node.value, cst.Name):
            found.add(node.value.value)
        elif type(node) is cst.AugAssign and isinstance(node.target, cst.Name):
            found.add(node.target.value)
        stack.extend(inner_children(node))
    return frozenset(found)


@lru_cache(maxsize=1024)
def is_generator(function: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether `function` itself has a `yield`."""
    import libcst as cst

    stack: list[cst.CSTNode] = [function.body]
    while stack:
        node = stack.pop()
        if type(node) is cst.Yield:
            return True
        if type(node) is not cst.FunctionDef and type(node) is not cst.Lambda:
            stack.extend(children(node))
    return False


@lru_cache(maxsize=1024)
def names_bound_around(comprehension: cst.CSTNode) -> frozenset[str]:
    """The names that `:=` in a comprehension binds, outside it."""
    import libcst as cst

    found: set[str] = set()
    stack: list[cst.CSTNode] = [comprehension]
    while stack:
        node = stack.pop()
        if type(node) is cst.NamedExpr and isinstance(node.target, cst.Name):
            found.add(node.target.value)
        if type(node) is not cst.Lambda:
            stack.extend(children(node))
    return frozenset(found)


def names_of_clauses(comprehension: cst.BaseComp) -> frozenset[str]:
    """The names that the `for` clauses of a comprehension bind, in it."""
    found: set[str] = set()
    clause: cst.CompFor | None = comprehension.for_in
    while clause is not None:
        found.update(_names_in_target(clause.target))
        clause = clause.inner_for_in
    return frozenset(found)


def names_of_parameters(function: cst.FunctionDef | cst.Lambda) -> frozenset[str]:
    """The names of the parameters of a function, those with stars too."""
    import libcst as cst

    given = function.params
    starred = [item for item in (given.star_arg, given.star_kwarg) if isinstance(item, cst.Param)]
    every = (*given.posonly_params, *given.params, *given.kwonly_params, *starred)
    return frozenset(item.name.value for item in every)


@lru_cache(maxsize=4096)
def assigned_names(body: cst.CSTNode) -> tuple[str, ...]:
    """The names that `body` binds by assignment, in order of first appearance; loop variables included."""
    import libcst as cst

    found: dict[str, None] = {}
    stack: list[cst.CSTNode] = [body]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _binding_kinds():
            for target in _targets(node):
                found.update(dict.fromkeys(_names_in_target(target)))
        if kind is not cst.FunctionDef and kind is not cst.Lambda:
            stack.extend(reversed(inner_children(node)))
    return tuple(found)


@cache
def _binding_kinds() -> frozenset[type]:
    import libcst as cst

    return frozenset(
        {
            cst.Assign, cst.AugAssign, cst.AnnAssign, cst.NamedExpr, cst.For, cst.AsName, cst.MatchAs, cst.MatchStar,
            cst.MatchMapping,
        }
    )  # fmt: skip


def _targets(node: cst.CSTNode) -> list[cst.CSTNode]:
    """What `node` binds."""
    import libcst as cst

    if isinstance(node, cst.Assign):
        return [item.target for item in node.targets]
    if isinstance(node, cst.AugAssign | cst.AnnAssign | cst.NamedExpr | cst.For):
        return [node.target]
    if isinstance(node, cst.AsName | cst.MatchAs | cst.MatchStar) and node.name is not None:
        return [node.name]
    return [node.rest] if isinstance(node, cst.MatchMapping) and node.rest is not None else []


def read_outside(root: cst.CSTNode | None, block: cst.CSTNode) -> frozenset[str]:
    """The names that occur in `root` outside `block`."""
    return frozenset() if root is None else read_names(root, block)


@lru_cache(maxsize=4096)
def read_names(node: cst.CSTNode, skipped: cst.CSTNode | None = None) -> frozenset[str]:
    """The names that occur in `node` outside assignment targets; updates in place read their target."""
    import libcst as cst

    found: set[str] = set()
    stack: list[cst.CSTNode] = [node]
    while stack:
        item = stack.pop()
        if item is skipped:
            continue
        if type(item) is cst.Name:
            found.add(item.value)
        elif type(item) is cst.Attribute or type(item) is cst.Arg:
            stack.append(item.value)
        elif type(item) is cst.Assign:
            stack.append(item.value)
            stack.extend(target.target for target in item.targets if not isinstance(target.target, cst.Name))
        else:
            stack.extend(children(item))
    return frozenset(found)


def _names_in_target(target: cst.CSTNode) -> list[str]:
    import libcst as cst

    if isinstance(target, cst.Name):
        return [target.value]
    if isinstance(target, cst.Tuple | cst.List):
        return [name for element in target.elements for name in _names_in_target(element.value)]
    return []
