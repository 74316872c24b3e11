"""A malformed file of `mappings/` is refused with its name, the entry and the key."""

import re
from pathlib import Path

import pytest

from portcheck.core.errors import KnowledgeError
from portcheck.knowledge.apis import load_apis
from portcheck.knowledge.chips import load_chips
from portcheck.knowledge.constructs import load_constructs
from portcheck.knowledge.dtypes import load_dtypes
from portcheck.knowledge.objects import load_objects
from portcheck.knowledge.releases import load_releases
from portcheck.knowledge.schema import toml_files
from portcheck.knowledge.stubs import load_stub_facts

SOURCES = '[sources]\nDOC = "a document"\n'
CUDA = SOURCES + "[construct.__f]\n"
NKI = 'namespace = "nki.isa"\n' + SOURCES + "[api.f]\n"
DTYPE = SOURCES + "[dtype.float7]\n"
GOOD_CUDA = 'semantics = "load"\nsource = "DOC"\n'
GOOD = CUDA + GOOD_CUDA
GOOD_NKI = 'semantics = "load"\nsince = "0.2"\nsource = "DOC"\n'

BAD = [
    pytest.param(load_constructs, "[construct.__f]\n" + GOOD_CUDA, 'missing key "sources"', "", id="no-sources"),
    pytest.param(load_constructs, CUDA + "=", "cannot be read", "", id="not-toml"),
    pytest.param(load_constructs, CUDA + 'source = "DOC"\n', 'missing key "semantics"', "", id="missing-key"),
    pytest.param(
        load_constructs,
        CUDA + 'semantic = "load"\nsource = "DOC"\n',
        'missing key "semantics"',
        "semantic",
        id="near-key",
    ),
    pytest.param(load_constructs, GOOD + 'dtyp = "int32"\n', '"dtyp"', "dtype", id="unknown-key"),
    pytest.param(load_constructs, GOOD + "lanes = true\n", '"lanes" must be an integer', "", id="bool-for-int"),
    pytest.param(load_constructs, GOOD + 'saturates = "yes"\n', '"saturates"', "", id="text-for-flag"),
    pytest.param(load_constructs, GOOD + 'aliases = "g"\n', '"aliases" must be a list', "", id="text-for-list"),
    pytest.param(load_constructs, GOOD + 'max_ulp = "some"\n', '"max_ulp"', "", id="neither-number-nor-unknown"),
    pytest.param(
        load_constructs, GOOD + 'operator = "additon"\n', '"operator" has the unknown value', "", id="bad-operator"
    ),
    pytest.param(
        load_constructs,
        CUDA + 'semantics = "lod"\nsource = "DOC"\n',
        '"semantics" has the unknown value "lod"',
        "load",
        id="bad-semantics",
    ),
    pytest.param(load_constructs, CUDA + 'semantics = "load"\nsource = "DOK:3"\n', '"DOK"', "DOC", id="unknown-source"),
    pytest.param(
        load_constructs,
        GOOD + 'parameters = "x: sauce"\n',
        'parameter "x" has the unknown role',
        "source",
        id="bad-role",
    ),
    pytest.param(load_constructs, GOOD + 'parameters = "x,,y"\n', "empty parameter", "", id="empty-parameter"),
    pytest.param(
        load_constructs,
        GOOD + "[construct.g]\naliases = ['__f']\n" + GOOD_CUDA,
        'already taken by "__f"',
        "",
        id="spelling-twice",
    ),
    pytest.param(
        load_constructs,
        SOURCES + "[roundings]\nrn = 'nearest_even'\n[construct.'__f_[rn,rx]']\n" + GOOD_CUDA,
        '"rx"',
        "",
        id="suffix-without-rounding",
    ),
    pytest.param(
        load_apis, SOURCES + "[api.f]\n" + GOOD_NKI, 'missing key "namespace"', "", id="api-without-namespace"
    ),
    pytest.param(load_apis, NKI + 'semantics = "load"\nsource = "DOC"\n', 'no version says "since"', "", id="no-since"),
    pytest.param(load_apis, NKI + GOOD_NKI + 'order = "random"\n', '"order"', "", id="bad-order"),
    pytest.param(load_apis, NKI + GOOD_NKI + "numbers.kept = { value = 5 }\n", "source", "", id="no-source-of-number"),
    pytest.param(
        load_apis,
        NKI + GOOD_NKI + 'numbers.kept = { value = 5.5, source = "DOC" }\n',
        '"value" must be an integer',
        "",
        id="broken-number",
    ),
    pytest.param(
        load_apis,
        NKI + GOOD_NKI + 'versions = [{ since = "0.3", util = "0.4" }]\n',
        "api.f.versions[0]",
        "until",
        id="unknown-key-in-version",
    ),
    pytest.param(load_dtypes, DTYPE + 'kind = "real"\n', '"kind" has the unknown value "real"', "", id="bad-kind"),
    pytest.param(
        load_dtypes, DTYPE + 'kind = "float"\nbits = 7.5\n', '"bits" must be an integer', "", id="fraction-of-bits"
    ),
    pytest.param(load_chips, SOURCES + '[chip]\nname = "trn9"\n', 'missing key "core"', "", id="chip-without-core"),
    pytest.param(
        load_objects,
        SOURCES + '[operator.add]\nnames = ["a"]\nsource = "DOC"\n[operator.b]\nnames = ["a"]\nsource = "DOC"\n',
        'the name "a" is already taken',
        "",
        id="object-named-twice",
    ),
    pytest.param(
        load_objects,
        SOURCES + "[range]\n'nki.isa' = { source = 'DOC' }\n",
        'missing key "since"',
        "nothing the name begins with",
        id="range-without-beginning",
    ),
    pytest.param(
        load_objects,
        SOURCES + "[range]\nnki = { since = '0.2', til = '0.3', source = 'DOC' }\n",
        '"til"',
        "until",
        id="unknown-key-in-range",
    ),
]


@pytest.mark.parametrize(("loader", "text", "message", "hint"), BAD)
def test_bad_file_is_refused_with_file_entry_and_key(loader, text, message, hint, tmp_path):
    (tmp_path / "bad.toml").write_text(text, encoding="utf-8")
    with pytest.raises(KnowledgeError) as caught:
        loader(tmp_path)
    assert "bad.toml" in str(caught.value)
    assert message in str(caught.value)
    assert hint in caught.value.hint
    assert caught.value.exit_code == 3


def test_number_without_source_is_refused(tmp_path):
    shipped = (Path(__file__).parents[2] / "mappings" / "hardware" / "trn2.toml").read_text(encoding="utf-8")
    line = next(line for line in shipped.splitlines() if line.startswith("partitions"))
    (tmp_path / "bad.toml").write_text(shipped.replace(line, "partitions = { value = 128 }"), encoding="utf-8")
    with pytest.raises(KnowledgeError, match=r'bad\.toml: chip\.partitions: missing key "source"'):
        load_chips(tmp_path)


EXCEPTION = "[[exception]]\nnames = ['nki.f']\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SOURCES + EXCEPTION + "source = 'DOC'\n", 'missing key "reason"'),
        (SOURCES + EXCEPTION + "reason = 'r'\n", 'missing key "source"'),
        (SOURCES + EXCEPTION + "reason = 'r'\nsource = 'DOC'\nupto = '0.3'\n", '"upto"'),
    ],
)
def test_bad_facts_about_stubs_are_refused(text, message, tmp_path):
    (tmp_path / "stubs.toml").write_text(text, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=re.escape(message)):
        load_stub_facts(tmp_path / "stubs.toml")


@pytest.mark.parametrize(("label", "sdk"), [("two", "2.28"), ("0.2", "2.twenty")])
def test_versions_are_numbers(label, sdk, tmp_path):
    text = f"[version.'{label}']\nsdks = ['{sdk}']\nroot = 'nki'\noutputs = ['hbm']\nsource = 'DOC'\n"
    (tmp_path / "versions.toml").write_text(SOURCES + text, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=re.escape(label)):
        load_releases(tmp_path / "versions.toml")


def test_empty_folder_is_an_error(tmp_path):
    with pytest.raises(KnowledgeError, match="no .toml file"):
        toml_files(tmp_path)
