"""Python texts changed as syntax trees, so that most of what comes out is still Python."""

import ast
import random
from collections.abc import Callable, Sequence

from portcheck.frontends.nki.source.nodes import nodes_in

NUMBERS = (0, 1, 2, 3, 4, 7, 8, 64, 127, 128, 129, 512, 513, -1, 1 << 31, 1 << 64, 0.0, 0.5, -1.5, 1e30, True, False)
BINARY = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr,
    ast.BitXor, ast.MatMult,
)  # fmt: skip
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.In, ast.NotIn)
MOST_TRIED = 40


class TreeMutations:
    """Changes of a tree; `pieces` gives text to take expressions and statements from."""

    def __init__(self, choose: random.Random, names: Sequence[str], pieces: Callable[[], str]) -> None:
        self._random = choose
        self._names = names
        self._pieces = pieces
        self._all = (
            self._put_expression, self._swap_expressions, self._change_leaf, self._change_operator, self._put_statement,
            self._put_statement, self._drop_statement, self._double_statement, self._wrap_statement, self._change_call,
            self._change_call,
        )  # fmt: skip

    def mutated(self, text: str, times: int) -> str:
        """`text` after some changes; `text` itself where it is no Python or the tree cannot be written."""
        try:
            tree = ast.parse(text)
            for _ in range(times):
                self._random.choice(self._all)(tree)
            return ast.unparse(tree) + "\n"
        except (SyntaxError, ValueError, RecursionError):
            return text

    def _expressions(self, tree: ast.AST) -> list[tuple[ast.AST, str, int]]:
        """Where expressions that are read stand: parent, field, place in the field (-1: the field itself)."""
        found: list[tuple[ast.AST, str, int]] = []
        for node in nodes_in(tree):
            for name, value in ast.iter_fields(node):
                items = list(enumerate(value)) if isinstance(value, list) else [(-1, value)]
                found.extend((node, name, at) for at, item in items if _is_read(item) and name != "decorator_list")
        return found

    def _put_expression(self, tree: ast.AST) -> None:
        places, given = self._expressions(tree), [node for node in nodes_in(self._parsed()) if _is_read(node)]
        if places and given:
            _put(self._random.choice(places), self._random.choice(given))

    def _swap_expressions(self, tree: ast.AST) -> None:
        places = self._expressions(tree)
        if places:
            first, second = self._random.choice(places), self._random.choice(places)
            one, other = _taken(first), _taken(second)
            inside = {id(node) for node in nodes_in(one)} & {id(node) for node in nodes_in(other)}
            if not inside:
                _put(first, other)
                _put(second, one)

    def _change_leaf(self, tree: ast.AST) -> None:
        leaves = [
            node for node in nodes_in(tree) if isinstance(node, ast.Constant | ast.Name | ast.Attribute | ast.keyword)
        ]
        if not leaves:
            return
        leaf = self._random.choice(leaves)
        if isinstance(leaf, ast.Constant):
            leaf.value = self._random.choice(NUMBERS)
        elif isinstance(leaf, ast.Name):
            leaf.id = self._random.choice(self._names)
        elif isinstance(leaf, ast.Attribute):
            leaf.attr = self._random.choice(self._names)
        elif leaf.arg:
            leaf.arg = self._random.choice(self._names)

    def _change_operator(self, tree: ast.AST) -> None:
        nodes = [node for node in nodes_in(tree) if isinstance(node, ast.BinOp | ast.Compare | ast.AugAssign)]
        if not nodes:
            return
        node = self._random.choice(nodes)
        if isinstance(node, ast.Compare):
            node.ops[0] = self._random.choice(COMPARISONS)()
        else:
            node.op = self._random.choice(BINARY)()

    def _change_call(self, tree: ast.AST) -> None:
        calls = [node for node in nodes_in(tree) if isinstance(node, ast.Call)]
        if not calls:
            return
        call, what = self._random.choice(calls), self._random.randrange(5)
        if what == 0 and call.args:
            del call.args[self._random.randrange(len(call.args))]
        elif what == 1 and call.keywords:
            del call.keywords[self._random.randrange(len(call.keywords))]
        elif what == 2 and call.keywords and not any(isinstance(item, ast.Starred) for item in call.args):
            call.args.append(call.keywords.pop().value)
        elif what == 3:
            self._random.shuffle(call.args)
        elif call.args:
            call.args.append(self._random.choice(call.args))

    def _blocks(self, tree: ast.AST) -> list[list[ast.stmt]]:
        return [
            value
            for node in nodes_in(tree)
            for name, value in ast.iter_fields(node)
            if name in ("body", "orelse", "finalbody") and isinstance(value, list) and value
        ]

    def _place(self, tree: ast.AST) -> tuple[list[ast.stmt], int]:
        block = self._random.choice(self._blocks(tree))
        return block, self._random.randrange(len(block))

    def _put_statement(self, tree: ast.AST) -> None:
        block, place = self._place(tree)
        given = [node for node in nodes_in(self._parsed()) if isinstance(node, ast.stmt)]
        block.insert(place + self._random.randrange(2), self._random.choice(given))

    def _drop_statement(self, tree: ast.AST) -> None:
        block, place = self._place(tree)
        if len(block) > 1:
            del block[place]

    def _double_statement(self, tree: ast.AST) -> None:
        (block, place), (other, at) = self._place(tree), self._place(tree)
        if not any(inner is other[at] for inner in nodes_in(block[place])) and not _holds(block[place], other):
            other.insert(at, block[place])

    def _wrap_statement(self, tree: ast.AST) -> None:
        block, place = self._place(tree)
        end = min(len(block), place + self._random.choice((1, 2, 3)))
        head = self._random.choice(HEADS)
        wrapped = ast.parse(f"{head}\n  pass").body[0]
        wrapped.body = block[place:end]  # type: ignore[attr-defined]  # a compound statement
        block[place:end] = [wrapped]

    def _parsed(self) -> ast.Module:
        try:
            return ast.parse(self._pieces())
        except SyntaxError:
            return ast.parse("pass")


HEADS = (
    "for i in range(4):", "for i in nl.affine_range(n):", "for i in nl.sequential_range(1, 8, 2):", "if n > 2:",
    "for i, j in enumerate(t):", "while n:", "while i < 3:", "if True:", "def f(a, b=1):", "with nl.no_reorder():",
    "for i in nl.dynamic_range(n):", "class C:", "if x is None:", "for t in [a, b]:",
)  # fmt: skip


def _is_read(node: object) -> bool:
    return isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _holds(node: ast.AST, block: list[ast.stmt]) -> bool:
    return any(value is block for inner in nodes_in(node) for _, value in ast.iter_fields(inner))


def _taken(place: tuple[ast.AST, str, int]) -> ast.AST:
    node, name, at = place
    value = getattr(node, name)
    return value[at] if at >= 0 else value


def _put(place: tuple[ast.AST, str, int], value: ast.AST) -> None:
    node, name, at = place
    if at >= 0:
        getattr(node, name)[at] = value
    else:
        setattr(node, name, value)
