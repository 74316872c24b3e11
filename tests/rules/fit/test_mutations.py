"""Kernels that keep to every limit are left alone; each smallest step beyond one is found, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.rules.fit.kernels import (
    GATHERED,
    OLD_DOUBLED,
    OLD_MASKED,
    OLD_PRODUCT,
    OLD_VECTORS,
    PRODUCT,
    RANDOM,
    SCALED,
    VECTORS,
)  # fmt: skip

from portcheck.core.source import SourceFile
from portcheck.frontends.nki import NkiOptions, read_nki
from portcheck.knowledge import load
from portcheck.rules.fit.dtypes import of_wrong_dtype
from portcheck.rules.fit.matmuls import too_large
from portcheck.rules.fit.memories import in_wrong_memory
from portcheck.rules.fit.partitions import misplaced, too_tall
from portcheck.rules.fit.port import port_for
from portcheck.rules.fit.targets import of_other_chips

RULES = {
    "PC701": too_tall,
    "PC702": misplaced,
    "PC703": too_large,
    "PC704": in_wrong_memory,
    "PC707": of_wrong_dtype,
    "PC708": of_other_chips,
}
NEW = ("0.3", "0.4", "0.5", "0.6")


@dataclass(frozen=True)
class Mutation:
    """`old` becomes `new` in `kernel`, which `codes` then find for `target` and `version`."""

    kernel: str
    codes: str
    old: str
    new: str
    target: str = "trn2"
    version: str = "0.6"


def found(source: str, target: str, version: str) -> list[str]:
    """The codes of the findings in a port, one each."""
    options = NkiOptions(version=version, target=target)
    module = read_nki(SourceFile("port.py", source), options)
    port = port_for(module.lower([kernel.name for kernel in module.kernels]), target, load())
    assert port is not None
    return [code for code, judge in RULES.items() for _ in judge(port)]


def tall(kernel: str, tile: str, **at: str) -> Mutation:
    start = f"    {tile} = nl.ndarray((128, "
    return Mutation(kernel, "PC701", start, start.replace("128", "129"), **at)


def of_dtype(kernel: str, tile: str, codes: str, old: str, new: str, **at: str) -> Mutation:
    line = next(line for line in kernel.splitlines() if line.startswith(f"    {tile} = "))
    return Mutation(kernel, codes, line, line.replace(f"nl.{old}", f"nl.{new}"), **at)


def in_memory(kernel: str, tile: str, old: str, new: str, codes: str = "PC704", **at: str) -> Mutation:
    line = next(line for line in kernel.splitlines() if line.startswith(f"    {tile} = "))
    return Mutation(kernel, codes, line, line.replace(f"nl.{old}", f"nl.{new}"), **at)


NARROWED = GATHERED.replace(
    "out = nl.ndarray((128, 64), dtype=nl.float32", "out = nl.ndarray((128, 64), dtype=nl.bfloat16"
)
QUARTER = PRODUCT.replace("left = nl.ndarray((128,", "left = nl.ndarray((32,").replace(
    "right = nl.ndarray((128,", "right = nl.ndarray((32,"
)
BYTES = PRODUCT.replace("nl.bfloat16", "nl.float8_e5m2")
WIDEST = (
    PRODUCT.replace("right = nl.ndarray((128, 512)", "right = nl.ndarray((128, 8192)")
    .replace("sums = nl.ndarray((128, 512), dtype=nl.float32", "sums = nl.ndarray((128, 8192), dtype=nl.bfloat16")
    .replace("wide = nl.ndarray((128, 512)", "wide = nl.ndarray((128, 8192)")
)

LAST = "    nisa.dma_copy(dst=out, src=fifth)\n"


def guarded(condition: str) -> str:
    """A kernel that computes an exponential of the third generation where `condition` holds."""
    step = f"    if {condition}:\n        nisa.exponential(dst=fifth, src=fourth, max_value=0.0)\n"
    return VECTORS.replace("def vectors(x, y):", "def vectors(x, y, fast=False):").replace(LAST, step + LAST)


def rows(*lines: str) -> str:
    """A kernel with a loop over partitions in front of the last step."""
    return VECTORS.replace(LAST, "".join(f"    {line}\n" for line in ("for p in range(128):", *lines)) + LAST)


ROW = "    nisa.memset(dst=fifth[p:p + 1, 0:512], value=0.0)"
EARLY = VECTORS.replace("def vectors(x, y):", "def vectors(x, y, stop=0):").replace(
    LAST,
    "    if stop == 1:\n        return out\n    nisa.tensor_copy(dst=third[1:17, 0:512], src=fifth[0:16, 0:512])\n"
    + LAST,
)
REDUCING = "nisa.activation(dst=fifth, op=nl.exp, data=fourth, reduce_op=nl.add, reduce_res=total)"
DIVISION = "nl.divide(fourth, third)"
HANDED_BACK = PRODUCT.replace(
    "    nisa.nc_matmul(dst=sums, stationary=left, moving=right)", "    nisa.nc_matmul(left, right)"
)
CURRENT = (PRODUCT, VECTORS, GATHERED, RANDOM)
CLEAN = [
    *((kernel, target, "0.6") for kernel in CURRENT for target in ("trn1", "trn2", "trn3")),
    *((kernel, "trn2", version) for kernel in CURRENT for version in ("0.3", "0.4", "0.5")),
    *((SCALED, "trn3", version) for version in NEW),
    *((kernel, target, "0.1") for kernel in (OLD_PRODUCT, OLD_VECTORS) for target in ("trn1", "trn2")),
    (PRODUCT.replace("src=wide)\n    return", "src=sums)\n    return"), "trn2", "0.2"),
    (PRODUCT.replace("512", "4096"), "trn3", "0.6"),
    (PRODUCT.replace("nl.bfloat16", "nl.float8_e4m3fn"), "trn3", "0.4"),
    (WIDEST, "trn3", "0.6"),
    (OLD_MASKED, "trn1", "0.1"),
    (HANDED_BACK, "trn2", "0.6"),
    (rows("    if p % 32 != 0:", "        continue", ROW), "trn2", "0.6"),
    (rows("    if p >= 1:", "        break", ROW), "trn2", "0.6"),
    (rows("    if p % 32 == 0:", "    " + ROW), "trn2", "0.6"),
    (rows(ROW).replace("range(128)", "range(0, 128, 32)"), "trn2", "0.6"),
    (rows(ROW).replace("range(128)", "range(1)"), "trn1", "0.3"),
    (rows(ROW).replace("range(128)", "range(x.shape[0])"), "trn2", "0.6"),
    (rows("    nisa.dma_copy(dst=fifth[p:p + 1, 0:512], src=x[p:p + 1, 0:512])"), "trn2", "0.6"),
    (EARLY, "trn2", "0.6"),
    (VECTORS.replace(LAST, "    nl.power(fourth, third)\n" + LAST), "trn2", "0.6"),
    (VECTORS.replace(LAST, "    nl.matmul(fourth[:, 0:64], third, transpose_x=True)\n" + LAST), "trn2", "0.6"),
    (VECTORS.replace(LAST, f"    {DIVISION}\n{LAST}"), "trn2", "0.2"),
    (VECTORS.replace(LAST, "    nl.softmax(fourth)\n    nl.sum(fourth, axis=[1])\n" + LAST), "trn2", "0.6"),
    (VECTORS.replace(LAST, f"    {REDUCING}\n{LAST}"), "trn2", "0.6"),
    (OLD_DOUBLED, "trn2", "0.1"),
    (guarded("nisa.get_nc_version() >= nisa.nc_version.gen4"), "trn2", "0.6"),
    (guarded("nisa.get_nc_version() == 4"), "trn1", "0.6"),
    (guarded("fast"), "trn2", "0.6"),
    (guarded("x.shape[0] == y.shape[0]"), "trn2", "0.6"),
]

PARTITIONS = [
    *(tall(VECTORS, tile) for tile in ("first", "second", "third", "fourth", "scale", "flags", "bits")),
    *(tall(GATHERED, tile) for tile in ("data", "places", "moved")),
    *(tall(VECTORS, "third", version=version) for version in NEW),
    *(tall(VECTORS, "third", target=target) for target in ("trn1", "inf2", "trn3")),
    tall(PRODUCT, "wide"),
    tall(RANDOM, "bits"),
    Mutation(OLD_VECTORS, "PC701", "second = nl.zeros((128,", "second = nl.zeros((129,", "trn1", "0.1"),
    Mutation(OLD_VECTORS, "PC701", "nl.load(x[0:128, 0:512]", "nl.load(x[0:129, 0:512]", "trn1", "0.1"),
    Mutation(OLD_VECTORS, "PC701", "bits = nl.zeros((128,", "bits = nl.zeros((129,", "trn2", "0.1"),
]  # fmt: skip

STARTS = [
    Mutation(VECTORS, "PC702", "dst=third[64:128, 0:512]", "dst=third[63:127, 0:512]"),
    Mutation(VECTORS, "PC702", "dst=third[64:128, 0:512]", "dst=third[32:96, 0:512]"),
    Mutation(VECTORS, "PC702", "src=fifth[0:64, 0:512]", "src=fifth[1:65, 0:512]"),
    Mutation(VECTORS, "PC702", "dst=third[0:16, 0:512]", "dst=third[1:17, 0:512]"),
    Mutation(VECTORS, "PC702", "src=fifth[96:112, 0:512]", "src=fifth[95:111, 0:512]"),
    Mutation(VECTORS, "PC702", "src=fifth[96:112, 0:512]", "src=fifth[112:128, 0:512]"),
    Mutation(PRODUCT, "PC702", "dst=wide[32:64, 128:160]", "dst=wide[33:65, 128:160]", "trn1", "0.3"),
    Mutation(PRODUCT, "PC702", "dst=wide[32:64, 128:160]", "dst=wide[16:48, 128:160]", "trn3"),
    Mutation(PRODUCT, "PC702", "data=wide[0:32, 0:32]", "data=wide[16:48, 0:32]"),
    Mutation(rows(ROW), "PC702", "range(128)", "range(0, 128)"),
    Mutation(rows(ROW), "PC702", "range(128)", "range(0, 128, 16)", "trn3", "0.3"),
    Mutation(rows(ROW.replace("p:p + 1", "2 * p:2 * p + 2")), "PC702", "range(128)", "range(64)", "trn1"),
]  # fmt: skip

RIGHT = "right = nl.ndarray((128, 512)"
SIZES = [
    *(Mutation(PRODUCT, "PC703", RIGHT, RIGHT.replace("512", "513"), target) for target in ("trn1", "trn2", "inf2")),
    Mutation(PRODUCT, "PC703", "right = nl.ndarray((128, 512)", "right = nl.ndarray((128, 4097)", "trn3"),
    Mutation(PRODUCT, "PC703", "left = nl.ndarray((128, 128)", "left = nl.ndarray((128, 129)"),
    Mutation(PRODUCT, "PC703", "left = nl.ndarray((128, 128)", "left = nl.ndarray((128, 129)", "trn3"),
    Mutation(PRODUCT, "PC703", "right = nl.ndarray((128, ", "right = nl.ndarray((129, "),
    Mutation(PRODUCT, "PC703", "left = nl.ndarray((128, ", "left = nl.ndarray((129, ", "trn1", "0.4"),
    Mutation(PRODUCT, "PC703", "data=wide[0:128, 0:128])", "data=wide[0:128, 0:129])"),
    Mutation(PRODUCT, "PC703", "data=wide[0:32, 0:32]", "data=wide[0:32, 0:33]"),
    Mutation(PRODUCT, "PC703", "data=wide[0:32, 0:32]", "data=wide[0:33, 0:32]", "trn2", "0.4"),
    Mutation(SCALED, "PC703", "left = nl.ndarray((128, 128)", "left = nl.ndarray((128, 130)", "trn3"),
    Mutation(SCALED, "PC703", "left = nl.ndarray((128, 128)", "left = nl.ndarray((128, 127)", "trn3"),
    Mutation(SCALED, "PC703", "right = nl.ndarray((128, 512)", "right = nl.ndarray((128, 513)", "trn3", "0.4"),
    Mutation(SCALED, "PC703", "right = nl.ndarray((128, 512)", "right = nl.ndarray((128, 4097)", "trn3", "0.5"),
    Mutation(SCALED, "PC703", "right = nl.ndarray((128, 512)", "right = nl.ndarray((112, 512)", "trn3"),
    Mutation(OLD_PRODUCT, "PC703 PC703", "nl.load(w[0:128, 0:512]", "nl.load(w[0:128, 0:513]", "trn1", "0.1"),
    Mutation(OLD_PRODUCT, "PC703 PC703 PC703", "nl.load(x[0:128, 0:128]", "nl.load(x[0:128, 0:129]", "trn2", "0.1"),
    Mutation(OLD_PRODUCT, "PC703", "left[0:32, 0:32]", "left[0:32, 0:33]", "trn2", "0.1"),
]  # fmt: skip

MEMORIES = [
    in_memory(PRODUCT, "sums", "psum", "sbuf"),
    in_memory(PRODUCT, "left", "sbuf", "psum", "PC704 PC704"),
    in_memory(PRODUCT, "right", "sbuf", "psum", "PC704 PC704", target="trn3"),
    in_memory(PRODUCT, "left", "sbuf", "psum", version="0.2"),
    in_memory(PRODUCT, "wide", "sbuf", "psum"),
    *(Mutation(PRODUCT, "PC704", "dst=out, src=wide", "dst=out, src=sums", version=version) for version in NEW),
    Mutation(PRODUCT, "PC704", "stationary=left", "stationary=x"),
    Mutation(PRODUCT, "PC704", "moving=right", "moving=w", "trn1", "0.3"),
    Mutation(PRODUCT, "PC704", "dst=wide, src=sums)", "dst=wide, src=sums, engine=nisa.engine.gpsimd)"),
    Mutation(PRODUCT, "PC704", "dst=wide, src=sums)", "dst=out, src=sums)"),
    in_memory(VECTORS, "first", "sbuf", "psum", "PC704 PC704"),
    in_memory(VECTORS, "third", "sbuf", "psum", "PC704"),
    in_memory(VECTORS, "fourth", "sbuf", "psum", "PC704 PC704"),
    in_memory(VECTORS, "fifth", "sbuf", "psum", "PC704 PC704 PC704"),
    in_memory(VECTORS, "bits", "sbuf", "psum", "PC704 PC704"),
    Mutation(VECTORS, "PC704", "op=nl.exp, data=third,", "op=nl.exp, data=x,"),
    Mutation(VECTORS, "PC704", "data=first, op0", "data=x, op0", "trn3", "0.5"),
    Mutation(VECTORS, "PC704", "op=nl.add)", "op=nl.power)"),
    in_memory(GATHERED, "data", "sbuf", "psum", "PC704 PC704"),
    in_memory(GATHERED, "places", "sbuf", "psum", "PC704 PC704"),
    in_memory(GATHERED, "taken", "sbuf", "psum"),
    Mutation(GATHERED, "PC704", "data=data, indices", "data=x, indices"),
    in_memory(RANDOM, "bits", "sbuf", "psum"),
    in_memory(RANDOM.replace("engine.vector", "engine.gpsimd"), "bits", "sbuf", "psum", "PC704 PC704"),
    in_memory(SCALED, "sums", "psum", "sbuf", target="trn3"),
    in_memory(SCALED, "left_scale", "sbuf", "psum", "PC704 PC704", target="trn3"),
    in_memory(SCALED, "right", "sbuf", "psum", "PC704 PC704", target="trn3"),
    Mutation(OLD_PRODUCT, "PC704", "nisa.nc_matmul(left, right)", "nisa.nc_matmul(left, w)", "trn1", "0.1"),
    Mutation(OLD_PRODUCT, "PC704", "nl.store(out, value=done)", "nl.store(done, value=done)", "trn1", "0.1"),
    Mutation(OLD_PRODUCT, "PC704", "nisa.nc_transpose(left)", "nisa.nc_transpose(x)", "trn1", "0.1"),
    Mutation(OLD_VECTORS, "PC704", "tensor_tensor(first, second,", "tensor_tensor(second, second,", "trn1", "0.1"),
    Mutation(OLD_VECTORS, "PC704", "nl.exp(fourth)", "nl.exp(x)", "trn1", "0.1"),
    Mutation(OLD_VECTORS, "PC704", "nisa.tensor_copy(fourth,", "nisa.tensor_copy(second,", "trn2", "0.1"),
    Mutation(OLD_VECTORS, "PC704", "data=third, op0", "data=second, op0", "trn2", "0.1"),
]  # fmt: skip

FLOAT32 = "nl.ndarray((128, 512), dtype=nl.float32"
FLOAT64 = "nl.ndarray((128, 512), dtype='float64'"
INTEGERS = "nl.zeros((128, 512), dtype=nl.int32"
DTYPES = [
    of_dtype(PRODUCT, "left", "PC707", "bfloat16", "int8"),
    of_dtype(PRODUCT, "left", "PC707", "bfloat16", "float32"),
    of_dtype(PRODUCT, "right", "PC707", "bfloat16", "tfloat32", target="trn1", version="0.3"),
    of_dtype(PRODUCT, "right", "PC707", "bfloat16", "int32", target="trn3"),
    of_dtype(PRODUCT, "right", "PC707", "bfloat16", "float8_e4m3fn"),
    of_dtype(PRODUCT, "sums", "PC707", "float32", "bfloat16"),
    of_dtype(PRODUCT, "sums", "PC707", "float32", "float16", target="trn3"),
    of_dtype(PRODUCT, "turned", "PC707", "float32", "bfloat16"),
    of_dtype(PRODUCT, "block", "PC707", "float32", "float16"),
    of_dtype(VECTORS, "scale", "PC707 PC707", "float32", "bfloat16"),
    of_dtype(VECTORS, "shift", "PC707", "float32", "tfloat32"),
    of_dtype(VECTORS, "flags", "PC707", "uint8", "int8"),
    of_dtype(VECTORS, "flags", "PC707", "uint8", "float32", target="trn1", version="0.3"),
    of_dtype(VECTORS, "bits", "PC707 PC707 PC707", "int32", "float32"),
    of_dtype(VECTORS, "fourth", "PC707", "float32", "bfloat16"),
    Mutation(VECTORS, "PC707 PC707 PC707", "data2=second, op=nl.add", "data2=second, op=nl.bitwise_or"),
    Mutation(VECTORS, "PC707", f"first = {FLOAT32}", f"first = {FLOAT64}"),
    of_dtype(GATHERED, "places", "PC707", "uint32", "int32"),
    of_dtype(GATHERED, "taken", "PC707 PC707", "float32", "bfloat16"),
    of_dtype(GATHERED, "moved", "PC707", "float32", "bfloat16"),
    Mutation(NARROWED, "PC707", "dge_mode.none", "dge_mode.hwdge"),
    Mutation(NARROWED, "PC707", "dge_mode.none", "dge_mode.hwdge", version="0.2"),
    of_dtype(RANDOM, "bits", "PC707", "uint32", "float32"),
    of_dtype(SCALED, "a", "PC707", "bfloat16", "float32", target="trn3"),
    of_dtype(SCALED, "left_scale", "PC707 PC707", "uint8", "int8", target="trn3"),
    of_dtype(SCALED, "left_scale", "PC707 PC707", "uint8", "float8_e8m0fnu", target="trn3", version="0.4"),
    of_dtype(SCALED, "right", "PC707", "float8_e4m3fn_x4", "float4_e2m1fn_x4", target="trn3"),
    of_dtype(SCALED, "sums", "PC707", "float32", "float16", target="trn3"),
    Mutation(OLD_PRODUCT, "PC707", "nc_matmul(left, right)", f"nc_matmul(left, {INTEGERS}))", "trn1", "0.1"),
    of_dtype(OLD_VECTORS, "flags", "PC707", "uint8", "int8", target="trn1", version="0.1"),
    of_dtype(OLD_VECTORS, "bits", "PC707 PC707", "int32", "float32", target="trn1", version="0.1"),
    of_dtype(OLD_VECTORS, "scale", "PC707 PC707", "float32", "int32", target="trn1", version="0.1"),
]  # fmt: skip


def step(text: str, codes: str = "PC708", **at: str) -> Mutation:
    """One more step in front of the last one."""
    return Mutation(VECTORS, codes, LAST, f"    {text}\n{LAST}", **at)


ACTIVATE = "nisa.activate2(dst=fifth, op=nl.exp, data=fourth, imm0=1.0, imm1=0.0, op0=nl.multiply, op1=nl.add)"
RANGE = "on_true_tile=fourth, comp_op0=nl.less, comp_op1=nl.greater, bound0=scale, bound1=shift"
OLDER = ("trn1", "inf2", "trn2")
SEEDS = "nisa.rand_set_state(src_seeds=seeds"
TARGETS = [
    *(step("nisa.exponential(dst=fifth, src=fourth, max_value=0.0)", target=target) for target in OLDER),
    *(step("nisa.rand2(dst=fifth, min=0.0, max=1.0)", target=target) for target in ("trn1", "trn2")),
    *(step(ACTIVATE, target=target) for target in ("trn1", "trn2")),
    step("nl.abs_max(fourth, third)", "PC708"),
    *(step(DIVISION, version=version, target=target) for version in NEW for target in ("trn1", "trn2", "trn3")),
    step("nl.mod(fourth, third)"),
    step("nisa.tensor_reduce(dst=fifth[0:1, :], op=nl.add, data=fourth, axis=0)", version="0.2"),
    step("nisa.tensor_reduce(dst=fifth[0:1, :], op=nl.add, data=fourth, axis=(0, 1))", version="0.3"),
    *(step(f"nl.{name}(fourth, axis=0)") for name in ("sum", "max", "min", "mean", "prod", "var", "all", "softmax")),
    step(REDUCING.replace("nl.add", "nl.maximum")),
    step(REDUCING.replace("activation(", "activation_reduce(").replace("nl.add", "nl.maximum"), target="trn1"),
    step("nl.fmod(fourth, third)", version="0.3"),
    step("nl.power(fourth, 2.0)", target="trn3"),
    step("nl.matmul(fourth[:, 0:64], third)"),
    step("nl.matmul(fourth[:, 0:64], third, transpose_x=False)", version="0.4"),
    step("nisa.tensor_tensor(dst=fifth, data1=fourth, data2=third, op=nl.abs_max)"),
    step("nisa.tensor_scalar(dst=fifth, data=fourth, op0=nl.square, operand0=None)"),
    step("nisa.tensor_copy(dst=fifth, src=fourth, engine=nisa.engine.scalar)", target="trn1"),
    step("nisa.activation(dst=fifth, op=nl.exp, data=fourth, bias=1.0)", target="trn1"),
    *(step("nisa.dma_copy(dst=fifth, src=x, priority=1)", target=target) for target in ("trn1", "trn2")),
    step("nisa.dma_copy(dst=fifth, src=out, dge_mode=nisa.dge_mode.hwdge)", target="trn1"),
    step("nisa.core_barrier(data=out, cores=(0, 1))", target="trn1"),
    step("nisa.sendrecv(src=fourth, dst=fifth, send_to_rank=0, recv_from_rank=1, pipe_id=0)", target="inf2"),
    step(f"nisa.range_select(dst=fifth, {RANGE})", target="trn1"),
    *(Mutation(SCALED, "PC707 PC707 PC708 PC708 PC708", "return out", "return  out", target) for target in OLDER),
    Mutation(RANDOM, "PC708", "nisa.engine.vector", "nisa.engine.gpsimd", "trn1"),
    Mutation(RANDOM, "PC708", "    nisa.rng(", f"    {SEEDS})\n    nisa.rng(", "trn1"),
    Mutation(RANDOM, "PC708", "    nisa.rng(", f"    {SEEDS}, engine=nisa.engine.vector)\n    nisa.rng("),
    Mutation(QUARTER, "PC708", "moving=right)", "moving=right, tile_position=(0, 0), tile_size=(32, 128))", "trn1"),
    Mutation(BYTES, "PC708", "moving=right)", "moving=right, perf_mode=nisa.matmul_perf_mode.double_row)", "trn1"),
    Mutation(guarded("nisa.get_nc_version() >= nisa.nc_version.gen4"), "PC708", "nc_version.gen4", "nc_version.gen3"),
    Mutation(OLD_VECTORS, "PC708", "src=fifth)", "src=fifth, dge_mode=nisa.dge_mode.hwdge)", "trn1", "0.1"),
]  # fmt: skip

MISSED = [Mutation(VECTORS, "PC704", "data=fifth)", "data=y)")]
"""That `y` is a tensor follows from no other step."""
MUTATIONS = [*PARTITIONS, *STARTS, *SIZES, *MEMORIES, *DTYPES, *TARGETS]


def named(mutations: list[Mutation]) -> Iterator[object]:
    for place, mutation in enumerate(mutations):
        kernel = mutation.kernel.partition("def ")[2].partition("(")[0]
        yield pytest.param(mutation, id=f"{mutation.codes} {kernel} {mutation.target} {mutation.version} #{place}")


@pytest.mark.parametrize(("source", "target", "version"), CLEAN)
def test_a_kernel_within_every_limit_is_left_alone(source: str, target: str, version: str) -> None:
    assert found(source, target, version) == []


@pytest.mark.parametrize("mutation", list(named(MISSED)))
def test_what_is_missed_is_known(mutation: Mutation) -> None:
    assert found(mutation.kernel.replace(mutation.old, mutation.new), mutation.target, mutation.version) == []


@pytest.mark.parametrize("mutation", list(named(MUTATIONS)))
def test_one_step_beyond_a_limit_is_found_and_nothing_else(mutation: Mutation) -> None:
    assert mutation.kernel.count(mutation.old) == 1
    mutated = mutation.kernel.replace(mutation.old, mutation.new)
    assert found(mutated, mutation.target, mutation.version) == mutation.codes.split()
