"""What operands may be: by version, target and the other arguments of a call; malformed entries are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from portcheck.core.errors import KnowledgeError
from portcheck.knowledge import UNKNOWN, LimitKind, NkiVersion, Outcome, Simulated, Size, Together, load
from portcheck.knowledge.exceeding import load_exceeding
from portcheck.knowledge.operands import load_operands

ENGINES = {"tensor", "vector", "scalar", "gpsimd", "dma"}


def operand(call: str, name: str, version: str, target: str, **arguments: str | None):
    """The facts where each of `arguments` is what is stated, None meaning that it cannot be told."""

    def decide(parameter: str, word: str) -> bool | None:
        if parameter in arguments and arguments[parameter] is None:
            return None
        return arguments.get(parameter) == word

    return load().operands[call].operand(name, NkiVersion.parse(version), target, decide)


@pytest.mark.parametrize(
    ("version", "target", "dst", "perf_mode", "maximum"),
    [
        ("0.6", "trn1", "float32", "none", 512),
        ("0.6", "trn2", "float32", "none", 512),
        ("0.6", "trn3", "float32", "none", 4096),
        ("0.6", "trn3", "bfloat16", "none", 8192),
        ("0.6", "trn2", "float32", "double_row", 1024),
    ],
)
def test_how_wide_a_moving_tile_may_be_depends_on_chip_and_destination(version, target, dst, perf_mode, maximum):
    facts = operand("nki.isa.nc_matmul", "moving", version, target, dst=dst, perf_mode=perf_mode)
    assert facts.free == Size(1, maximum, 1)


@pytest.mark.parametrize(("version", "dst", "maximum"), [("0.4", "float32", 512), ("0.5", "bfloat16", 8192)])
def test_a_limit_that_was_raised_holds_before_that_version(version, dst, maximum):
    assert operand("nki.isa.nc_matmul_mx", "moving", version, "trn3", dst=dst).free.maximum == maximum


def test_what_an_argument_decides_is_unknown_where_it_cannot_be_told():
    facts = operand("nki.isa.nc_matmul", "moving", "0.6", "trn2", perf_mode=None)
    assert facts.free is UNKNOWN
    assert facts.dtypes is UNKNOWN
    assert [str(space) for space in facts.spaces] == ["sbuf"]


@pytest.mark.parametrize(("version", "has_psum"), [("0.2", True), ("0.3", False), ("0.6", False)])
def test_transfers_reach_psum_only_before_0_3(version, has_psum):
    assert ("psum" in operand("nki.isa.dma_copy", "src", version, "trn2").spaces) is has_psum


@pytest.mark.parametrize(("version", "has_psum"), [("0.1/2.25", False), ("0.1/2.26", True)])
def test_store_takes_a_tile_of_psum_from_one_sdk_on(version, has_psum):
    assert ("psum" in operand("neuronxcc.nki.language.store", "value", version, "trn1").spaces) is has_psum


def test_operators_on_bit_patterns_take_integers_only():
    assert operand("nki.isa.tensor_tensor", "data1", "0.6", "trn2", op="add").dtypes == ("any",)
    assert "float32" not in operand("nki.isa.tensor_tensor", "data1", "0.6", "trn2", op="bitwise").dtypes


def test_a_dtype_accepted_from_one_version_on_one_chip():
    found = {
        (version, target): "float8_e4m3fn" in operand("nki.isa.nc_matmul", "moving", version, target).dtypes
        for version in ("0.3", "0.4")
        for target in ("trn2", "trn3")
    }
    assert [key for key, accepted in found.items() if accepted] == [("0.4", "trn3")]


def test_every_part_of_an_operand_says_where_it_stands():
    facts = operand("nki.isa.nc_matmul", "moving", "0.6", "trn3", dst="float32")
    assert facts.source_of("free").endswith("nki/api/nki/isa/__init__.py:614")
    assert facts.source_of("spaces").endswith("nki/api/nki/isa/__init__.py:489")


@pytest.mark.parametrize("namespace", ["nki.isa", "neuronxcc.nki.isa"])
def test_every_instruction_that_reads_or_writes_tiles_says_what_its_operands_may_be(namespace):
    silent = {"builtin_custom_op", "iota", "memset", "dma_transpose", "register_alloc", "register_move"}
    missing = [
        name
        for name, api in load().apis.items()
        if name.startswith(f"{namespace}.") and set(api.latest.engine.split("|")) & (ENGINES | {"sync"})
        if name not in load().operands and name.rpartition(".")[2] not in silent
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("kind", "version", "outcome", "simulator"),
    [
        (LimitKind.PARTITIONS, "0.1", Outcome.COMPILE_ERROR, Simulated.UNKNOWN),
        (LimitKind.PARTITIONS, "0.2", Outcome.UNKNOWN, Simulated.ABSENT),
        (LimitKind.PARTITIONS, "0.5", Outcome.UNKNOWN, Simulated.CHECKED),
        (LimitKind.PARTITIONS, "0.6", Outcome.VERIFICATION_ERROR, Simulated.CHECKED),
        (LimitKind.SPACE, "0.1", Outcome.COMPILE_ERROR, Simulated.UNKNOWN),
        (LimitKind.DTYPE, "0.4", Outcome.UNKNOWN, Simulated.PARTLY),
    ],
)
def test_what_happens_beyond_a_limit_depends_on_the_version(kind, version, outcome, simulator):
    found = load().when_exceeded(kind, NkiVersion.parse(version))
    assert (found.outcome, found.simulator) == (outcome, simulator)


@pytest.mark.parametrize("kind", LimitKind)
@pytest.mark.parametrize("version", ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"])
def test_every_version_says_or_leaves_unknown_what_happens(kind, version):
    assert load().when_exceeded(kind, NkiVersion.parse(version)) is not None


HEAD = 'namespace = "nki.isa"\n[sources]\nDOC = "a document"\n[call.f]\nsource = "DOC"\n'
X = 'operands.x = { spaces = ["sbuf"], dtypes = "any" }\n'


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        pytest.param('operands.x = { dtypes = "any" }', 'missing key "spaces"', "unknown", id="no-spaces"),
        pytest.param('operands.x = { spaces = ["sbuf"] }', 'missing key "dtypes"', "unknown", id="no-dtypes"),
        pytest.param('operands.x = { spaces = ["sbuff"], dtypes = "any" }', '"sbuff"', "sbuf", id="bad-space"),
        pytest.param(
            'operands.x = { spaces = "unknown", dtypes = "any", free = "1-8" }', 'no size: "1-8"', "8..16384", id="size"
        ),
        pytest.param(
            'operands.x = { spaces = "unknown", dtypes = "any", free = "8..1" }', "no size", "", id="empty-size"
        ),
        pytest.param(
            'operands.x = { spaces = "unknown", dtypes = "any", fre = "8" }', '"fre"', "free", id="unknown-key"
        ),
        pytest.param(
            X + 'cases = [{ operand = "y", free = "8", source = "DOC" }]', '"y" is no operand', "x", id="bad-operand"
        ),
        pytest.param(X + 'cases = [{ operand = "x", free = "8" }]', 'missing key "source"', "", id="no-source"),
        pytest.param(X + 'pairs = [{ kind = "same", operands = ["x"], source = "DOC" }]', '"same"', "", id="bad-kind"),
        pytest.param(X + 'modes = [{ parameter = "e", source = "DOC" }]', 'missing key "targets"', "", id="no-targets"),
        pytest.param(X + 'nan = "gone"', '"gone"', "", id="bad-nan"),
    ],
)
def test_a_malformed_entry_is_refused_with_its_place(text, message, hint, tmp_path: Path):
    (tmp_path / "bad.toml").write_text(HEAD + text + "\n", encoding="utf-8")
    with pytest.raises(KnowledgeError, match=re.escape(message)) as caught:
        load_operands(tmp_path)
    assert "bad.toml: call.f" in str(caught.value)
    assert hint in caught.value.hint


def test_a_sort_of_limit_that_is_left_out_is_an_error(tmp_path: Path):
    (tmp_path / "exceeding.toml").write_text("[sources]\n[exceeding.space]\nversions = []\n", encoding="utf-8")
    with pytest.raises(KnowledgeError, match='missing key "partitions"'):
        load_exceeding(tmp_path / "exceeding.toml")


@pytest.mark.parametrize("kind", Together)
def test_every_rule_between_operands_occurs(kind):
    assert any(pairing.kind is kind for facts in load().operands.values() for pairing in facts.pairs)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (Size(1, 128, 1), "at most 128"),
        (Size(8, 16384, 1), "at least 8 and at most 16384"),
        (Size(6, 6, 1), "exactly 6"),
        (Size(32, 128, 32), "at least 32 and at most 128 and a multiple of 32"),
        (Size(1, None, 1), "any"),
        (Size(1, 4, 1, (1, 2, 4)), "one of 1, 2, 4"),
    ],
)
def test_a_size_is_written_in_words(size, text):
    assert str(size) == text


@pytest.mark.parametrize(
    ("call", "number", "accepted", "refused"),
    [
        ("local_gather", "num_elem_per_idx", (1, 32), (0, 3, 64)),
        ("topk", "n", (8, 65535), (7, 65536)),
        ("dma_copy", "priority", (0, 3), (4,)),
    ],
)
def test_numbers_that_calls_take_have_ends(call, number, accepted, refused):
    size = load().operands[f"nki.isa.{call}"].numbers[number]
    assert [size.accepts(value) for value in accepted] == [True] * len(accepted)
    assert [size.accepts(value) for value in refused] == [False] * len(refused)


@pytest.mark.parametrize(("version", "most"), [("0.3", 5), ("0.4", 3)])
def test_how_many_dimensions_an_operand_may_have_depends_on_the_version(version, most):
    assert operand("nki.isa.max8", "src", version, "trn2").rank.maximum == most
