"""Element by element: operators on tiles and scalars, activations, choices, casts (second generation)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from tests.execution.tiles.ports import NEW, Arrays, Case, normal, whole

ONE_TILE = (
    NEW
    + """
def kernel({parameters}):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=nl.{result}, buffer=nl.shared_hbm)
    for first in range(0, rows, 128):
        m = min(128, rows - first)
        a = nl.ndarray((m, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[first:first + m, 0:columns])
{second}        t = nl.ndarray((m, columns), dtype=nl.{result}, buffer=nl.sbuf)
        {call}
        nisa.dma_copy(dst=out[first:first + m, 0:columns], src=t)
    return out
"""
)
SECOND = '''        b = nl.ndarray((m, {width}), dtype=y.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=b, src=y[first:first + m, 0:{width}])
'''  # fmt: skip


def on_one(call: str, result: str = "float32") -> str:
    return ONE_TILE.format(parameters="x", second="", call=call, result=result)


def on_two(call: str, result: str = "float32", width: str = "columns") -> str:
    return ONE_TILE.format(parameters="x, y", second=SECOND.format(width=width), call=call, result=result)


X, Y = normal(11, 150, 40), normal(12, 150, 40)
X16 = normal(13, 150, 40, dtype=ml_dtypes.bfloat16)
COLUMN = normal(14, 150, 1)
NUMBERS, OTHERS = whole(15, -1000, 1000, 150, 40), whole(16, 1, 1000, 150, 40)
BITS, MORE = whole(17, 0, 1 << 31, 150, 40, dtype=np.uint32), whole(18, 0, 32, 150, 40, dtype=np.uint32)
TRUTH, LIES = (whole(seed, 0, 2, 150, 40).astype(np.float32) for seed in (19, 20))


def of_two(function: Callable[..., Any]) -> Callable[[Arrays], tuple[Any]]:
    """`function` of both arrays in their own format."""
    return lambda given: (function(given["x"], given["y"]),)


def wide(function: Callable[..., Any]) -> Callable[[Arrays], tuple[Any]]:
    """`function` of all arrays in float64."""
    return lambda given: (function(*(array.astype(np.float64) for array in given.values())),)


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal,
}  # fmt: skip
BITWISE = {
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift, "right_shift": np.right_shift,
}  # fmt: skip
LOGICAL = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}


def binary_cases() -> list[Case]:
    made = []
    for name, function in BINARY.items():
        rounded = X.round(0), Y.round(0)
        source = on_two(f"nisa.tensor_tensor(dst=t, data1=a, data2=b, op=nl.{name})")
        made.append(Case(f"tensor_tensor {name}", source, dict(zip("xy", rounded, strict=True)), of_two(function)))
    for name, function in BITWISE.items():
        source = on_two(f"nisa.tensor_tensor(dst=t, data1=a, data2=b, op=nl.{name})", "uint32")
        made.append(Case(f"tensor_tensor {name}", source, {"x": BITS, "y": MORE}, of_two(function)))
    for name, function in LOGICAL.items():
        source = on_two(f"nisa.tensor_tensor(dst=t, data1=a, data2=b, op=nl.{name})")
        made.append(Case(f"tensor_tensor {name}", source, {"x": TRUTH, "y": LIES}, of_two(function)))
    return made


UNARY: dict[str, tuple[Callable[..., Any], Any]] = {
    "exp": (np.exp, X), "relu": (lambda x: np.maximum(x, 0), X), "square": (np.square, X), "tanh": (np.tanh, X),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), X), "silu": (lambda x: x / (1 + np.exp(-x)), X),
    "gelu": (lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))), X),
    "gelu_apprx_tanh": (lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), X),
    "erf": (np.vectorize(math.erf), X), "softplus": (lambda x: np.log1p(np.exp(x)), X),
    "mish": (lambda x: x * np.tanh(np.log1p(np.exp(x))), X), "log": (np.log, np.abs(X) + 0.5),
    "sqrt": (np.sqrt, np.abs(X) + 0.5), "rsqrt": (lambda x: 1 / np.sqrt(x), np.abs(X) + 0.5),
    "sin": (np.sin, np.clip(X, -3, 3)), "arctan": (np.arctan, np.clip(X, -1.5, 1.5)),
}  # fmt: skip


def unary_cases() -> list[Case]:
    """A function of the scalar engine is exact but for one rounding; a scale and bias come before it."""
    made = []
    for name, (function, given) in UNARY.items():
        source = on_one(f"nisa.activation(dst=t, op=nl.{name}, data=a)")
        made.append(Case(f"activation {name}", source, {"x": given}, wide(function), roundings=1.01))
    return made


def scaled_exp(given: Arrays) -> tuple[Any]:
    inner = (given["x"] * np.float32(0.5)).astype(np.float32) + given["y"]
    return (np.exp(inner.astype(np.float64)),)


def staged(*steps: Callable[[Any, Any], Any]) -> Callable[[Arrays], tuple[Any]]:
    """Steps in float32, one after the other, each with the second array."""

    def reference(given: Arrays) -> tuple[Any]:
        value = given["x"].astype(np.float32)
        other = given.get("y")
        for step in steps:
            value = step(value, other).astype(np.float32)
        return (value,)

    return reference


SINGLE = (
    Case(
        "activation with scale and bias a row", on_two(
            "nisa.activation(dst=t, op=nl.exp, data=a, scale=0.5, bias=b)", width="1"),
        {"x": X, "y": COLUMN}, scaled_exp, roundings=1.01,
    ),
    Case(
        "activation into bfloat16", on_one("nisa.activation(dst=t, op=nl.tanh, data=a)", "bfloat16"),
        {"x": X16}, wide(np.tanh), roundings=1.01, precision=ml_dtypes.bfloat16,
    ),
    Case(
        "tensor_scalar with a column and a number", on_two(
            "nisa.tensor_scalar(dst=t, data=a, op0=nl.subtract, operand0=b, op1=nl.multiply, operand1=3.0)",
            width="1"),
        {"x": X, "y": COLUMN}, staged(np.subtract, lambda value, _: value * np.float32(3)),
    ),
    Case(
        "tensor_scalar reversed", on_one(
            "nisa.tensor_scalar(dst=t, data=a, op0=nl.subtract, operand0=1.0, reverse0=True, op1=nl.maximum,"
            " operand1=0.25)"),
        {"x": X}, staged(lambda value, _: np.float32(1) - value, lambda value, _: np.maximum(value, 0.25)),
    ),
    Case(
        "scalar_tensor_tensor rounds once", on_two(
            "nisa.scalar_tensor_tensor(dst=t, data=a, op0=nl.multiply, operand0=1.0009765625, op1=nl.add,"
            " operand1=b)", "bfloat16"),
        {"x": X16, "y": Y.astype(ml_dtypes.bfloat16)},
        staged(lambda value, _: value * np.float32(1.0009765625), lambda value, other: value + other),
    ),
    Case("reciprocal", on_one("nisa.reciprocal(dst=t, data=a)"), {"x": X}, wide(lambda x: 1 / x), roundings=1.01),
    Case(
        "int32 tiles are added exactly", on_two("nisa.tensor_tensor(dst=t, data1=a, data2=b, op=nl.add)", "int32"),
        {"x": NUMBERS + (1 << 24), "y": OTHERS}, of_two(np.add),
    ),
    Case(
        "int32 with a number goes through float32", on_one(
            "nisa.tensor_scalar(dst=t, data=a, op0=nl.add, operand0=1.0)", "int32"),
        {"x": NUMBERS + (1 << 25)}, staged(lambda value, _: value + np.float32(1)),
    ),
    Case(
        "casts to integers go to the nearest even one and saturate", on_one(
            "nisa.tensor_copy(dst=t, src=a)", "int8"),
        {"x": (NUMBERS / 4).astype(np.float32)},
        lambda given: (np.clip(np.rint(given["x"]), -128, 127).astype(np.int8),),
    ),
    Case(
        "int32 becomes int8 through float32", on_one("nisa.tensor_copy(dst=t, src=a)", "int8"),
        {"x": NUMBERS}, lambda given: (np.clip(given["x"], -128, 127).astype(np.int8),),
    ),
    Case(
        "predicated copy", on_two(
            "nisa.memset(dst=t, value=7.0)\n        nisa.tensor_copy_predicated(dst=t, src=a, predicate=b)"),
        {"x": X, "y": whole(21, 0, 2, 150, 40, dtype=np.uint8)},
        lambda given: (np.where(given["y"] != 0, given["x"], np.float32(7)),),
    ),
)  # fmt: skip

CASES = (*binary_cases(), *unary_cases(), *SINGLE)
