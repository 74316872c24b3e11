"""Random structured programs: all threads at once give what each thread gives alone, statement by statement."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.execution.running import executed

N = 1100
VARIABLES = ("a", "b", "c")


class Left(Exception):  # noqa: N818  # leaves a loop as StopIteration does
    """A break, continue or return, by name."""


@dataclass
class Program:
    """Statements as text for the executor and as data for the reference."""

    random: random.Random
    loops: int = 0
    names: list[str] = field(default_factory=list)

    def expression(self, depth: int = 2) -> object:
        kind = self.random.random()
        if depth == 0 or kind < 0.35:
            return self.random.choice([*VARIABLES, *self.names, "x", "t", self.random.randint(-9, 9)])
        operator = self.random.choice(["+", "-", "*", "&", "|", "^", "<", "==", "?"])
        parts = [self.expression(depth - 1) for _ in range(3 if operator == "?" else 2)]
        return (operator, *parts)

    def block(self, depth: int, in_loop: bool) -> list[tuple[object, ...]]:
        return [self.statement(depth, in_loop) for _ in range(self.random.randint(1, 4))]

    def statement(self, depth: int, in_loop: bool) -> tuple[object, ...]:
        kind = self.random.random()
        if depth == 0 or kind < 0.4:
            return ("set", self.random.choice(VARIABLES), self.expression())
        if kind < 0.65:
            return ("if", self.expression(), self.block(depth - 1, in_loop), self.block(depth - 1, in_loop))
        if kind < 0.9:
            self.loops += 1
            name = f"i{self.loops}"
            bound = ("&", self.expression(1), 7) if self.random.random() < 0.5 else self.random.randint(0, 6)
            form = self.random.choice(["for", "while", "do"])
            self.names.append(name)
            body = self.block(depth - 1, True)
            self.names.remove(name)
            return (form, name, bound, body)
        if in_loop and kind < 0.97:
            return ("leave", self.random.choice(["break", "continue"]))
        return ("leave", "return")


def shown(expression: object) -> str:
    if not isinstance(expression, tuple):
        return f"({expression})" if isinstance(expression, int) else str(expression)
    if expression[0] == "?":
        return f"({shown(expression[1])} ? {shown(expression[2])} : {shown(expression[3])})"
    return f"({shown(expression[1])} {expression[0]} {shown(expression[2])})"


def written(statements: list[tuple[object, ...]]) -> str:
    return " ".join(written_one(*statement) for statement in statements)


def written_one(kind: object, *parts: object) -> str:
    if kind == "set":
        return f"{parts[0]} = {shown(parts[1])};"
    if kind == "if":
        return f"if ({shown(parts[0])}) {{ {written(parts[1])} }} else {{ {written(parts[2])} }}"
    if kind == "leave":
        return "{ y[i] = a + b; return; }" if parts[0] == "return" else f"{parts[0]};"
    name, bound, body = parts
    if kind == "for":
        return f"for (int {name} = 0, m = {shown(bound)}; {name} < m; ++{name}) {{ {written(body)} }}"
    head = f"int {name} = -1; int m{name} = {shown(bound)};"
    if kind == "while":
        return f"{{ {head} while (++{name} < m{name}) {{ {written(body)} }} }}"
    return f"{{ {head} do {{ ++{name}; {written(body)} }} while ({name} < m{name}); }}"


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def value_of(expression: object, names: dict[str, int]) -> int:
    if not isinstance(expression, tuple):
        return expression if isinstance(expression, int) else names[str(expression)]
    if expression[0] == "?":
        return value_of(expression[2 if value_of(expression[1], names) else 3], names)
    left, right = value_of(expression[1], names), value_of(expression[2], names)
    results = {
        "+": left + right, "-": left - right, "*": left * right, "&": left & right, "|": left | right,
        "^": left ^ right, "<": int(left < right), "==": int(left == right),
    }  # fmt: skip
    return wrapped(results[str(expression[0])])


def follow(statements: list[tuple[object, ...]], names: dict[str, int]) -> None:
    for kind, *parts in statements:
        if kind == "set":
            names[parts[0]] = value_of(parts[1], names)
        elif kind == "if":
            follow(parts[1] if value_of(parts[0], names) else parts[2], names)
        elif kind == "leave":
            raise Left(parts[0])
        else:
            repeat(kind, *parts, names)


def repeat(kind: str, name: str, bound: object, body: list[tuple[object, ...]], names: dict[str, int]) -> None:
    most = value_of(bound, names)
    turn = 0
    while turn < most or (kind == "do" and turn <= max(most, 0)):
        names[name] = turn
        try:
            follow(body, names)
        except Left as how:
            if how.args[0] == "break":
                return
            if how.args[0] == "return":
                raise
        turn += 1


def alone(statements: list[tuple[object, ...]], x: int, t: int) -> int:
    names = {"a": 1, "b": x, "c": t, "x": x, "t": t}
    try:
        follow(statements, names)
    except Left:
        return wrapped(names["a"] + names["b"])
    return wrapped(names["a"] - names["c"])


@pytest.mark.parametrize("seed", range(60))
def test_threads_together_do_what_each_does_alone(seed: int) -> None:
    source = Program(random.Random(seed))
    statements = source.block(3, False)
    text = f"""
    __global__ void f(const int* x_, int* y, int n) {{
      int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
      if (i >= n) return;
      int x = x_[i], a = 1, b = x, c = t;
      {written(statements)}
      y[i] = a - c;
    }}"""
    x = np.random.default_rng(seed).integers(-20, 20, N).astype(np.int32)
    done = executed(text, {"x_": x, "y": np.zeros(N, np.int32), "n": N}, 11, 110)
    assert done.faults == (), (done.faults, text)
    some = range(0, N, 7)
    wanted = [alone(statements, int(x[place]), place % 110) for place in some]
    np.testing.assert_array_equal(done.arrays["y"][some], wanted, err_msg=text)
