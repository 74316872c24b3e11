"""Runs a lowered port on small arrays: it may end early and say why, but must not raise anything else or take long."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from portcheck.core.dtype import CONCRETE, DType
from portcheck.core.errors import InputError
from portcheck.execution.arithmetic.formats import storage
from portcheck.execution.tiles import (
    Argument,
    FirstSum,
    NanRule,
    Options,
    Outlier,
    Overflow,
    Subnormals,
    SumOrder,
    WholeNan,
    Winner,
    run,
)
from portcheck.ir import Call, Const, Expr, Kernel, Op, Opaque, Program, Symbol, operations, symbols_in
from portcheck.ir.walk import expressions, rebuild

SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 33)
NUMBERS: tuple[int | float | bool, ...] = (0, 1, 2, 3, -1, 5, 0.5, True, False, 128)
ODD = (np.nan, np.inf, -np.inf, 0.0, 1e30, -1e-40)
DTYPES = tuple(CONCRETE.values())
LARGEST = 1 << 16
"""Elements of an array that is given."""
STEPS = 500_000
MEMORY = 1 << 25
PLACEHOLDER = "$"
"""What the name of a dimension begins with as long as no access binds it."""


def problem_of_run(program: Program, seed: int) -> str:
    """What is wrong with a run of `program`; "" if nothing is. Raises whatever the run raises but InputError."""
    for kernel in program.kernels:
        if any(name.startswith(PLACEHOLDER) for name in names_in(kernel)):
            return "inconsistent: a dimension that nothing binds"
    choose = random.Random(seed)
    grid = choose.choice((None, None, (1,), (2,), (2, 2)))
    program = understood(program) if choose.random() < 0.7 else program
    with suppress(InputError), np.errstate(all="ignore"):
        run(program, arguments_for(program, choose), grid, options(choose))
    return ""


def understood(program: Program) -> Program:
    """`program` without what was not understood and gives no value, which would end the run."""

    def kept(op: Op) -> tuple[Op, ...]:
        return () if isinstance(op, Opaque | Call) and op.type is None else (op,)

    kernels = tuple(replace(kernel, body=rebuild(kernel.body, kept)) for kernel in program.kernels)
    return replace(program, kernels=kernels)


def names_in(kernel: Kernel) -> set[str]:
    """The symbols that a kernel speaks of."""
    return {name for op in operations(kernel.body) for item in expressions(op) for name in symbols_in(item)}


def arguments_for(program: Program, choose: random.Random) -> dict[str, Argument]:
    """Small arrays and numbers for all that the kernels ask for, seldom one too few."""
    numbers: dict[str, Any] = {}
    arrays: dict[str, Argument] = {}
    for kernel in program.kernels:
        for parameter in kernel.parameters:
            if parameter.is_buffer:
                shape = [extent_of(extent, numbers, choose) for extent in parameter.type.shape]
                arrays[parameter.name] = array_of(parameter.type.dtype, shape, choose)
        for name in sorted(names_in(kernel)):
            if "[" not in name and "dtype(" not in name:
                numbers.setdefault(name, choose.choice(NUMBERS))
    given = {**{name: value for name, value in numbers.items() if name not in arrays}, **arrays}
    if given and choose.random() < 0.05:
        del given[choose.choice(sorted(given))]
    return given


def extent_of(extent: Expr, numbers: dict[str, Any], choose: random.Random) -> int:
    """A size for a dimension, the same one for the same symbol."""
    if isinstance(extent, Const):
        return min(max(0, int(extent.value)), 512)
    size = choose.choice(SIZES)
    return max(0, int(numbers.setdefault(extent.name, size))) if isinstance(extent, Symbol) else size


def array_of(dtype: DType, shape: list[int], choose: random.Random) -> Argument:
    """Numbers of every kind in one of the formats that fit."""
    while int(np.prod(shape)) > LARGEST:
        shape[shape.index(max(shape))] = 1
    kept = storage(choose.choice(DTYPES) if dtype.is_symbolic else dtype)
    generator = np.random.default_rng(choose.randrange(1 << 16))
    values = generator.standard_normal(shape) * 3
    if choose.random() < 0.2:
        values[generator.random(shape) < 0.2] = choose.choice(ODD)
    if kept.kind in "iu":
        values = np.abs(np.nan_to_num(values, posinf=3, neginf=3)) % 120
    return np.asarray(values).astype(kept)


def options(choose: random.Random) -> Options:
    """Each choice one way or another."""
    kinds = {
        "sums": SumOrder, "nan": NanRule, "whole_nan": WholeNan, "overflow": Overflow, "subnormals": Subnormals,
        "outlier": Outlier, "first_sum": FirstSum, "winner": Winner,
    }  # fmt: skip
    chosen: dict[str, Any] = {name: choose.choice(list(kind)) for name, kind in kinds.items()}
    return Options(steps=STEPS, memory=MEMORY, draws=choose.choice((None, 1)), **chosen)
