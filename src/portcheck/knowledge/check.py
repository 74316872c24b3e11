"""Referential integrity of the knowledge base: what one table names, another must define."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.core.dtype import CONCRETE, DTypeKind
from portcheck.core.errors import KnowledgeError
from portcheck.knowledge.apis import Api, ApiVersion
from portcheck.knowledge.constructs import Construct
from portcheck.knowledge.load import Knowledge
from portcheck.knowledge.operand_check import operand_problems
from portcheck.knowledge.semantics import Semantics
from portcheck.knowledge.versions import NkiVersion

_RESULT_WORDS = frozenset({"", "destination", "operand", "promote", "argument", "unknown"})


def problems(knowledge: Knowledge) -> Iterator[str]:
    """Every contradiction between the tables, one sentence each, in a stable order."""
    for construct in dict.fromkeys(knowledge.constructs.values()):
        yield from _construct_problems(construct, knowledge)
    for api in knowledge.apis.values():
        yield from _api_problems(api, knowledge)
    yield from operand_problems(knowledge)
    yield from _version_problems(knowledge)
    yield from _dtype_problems(knowledge)
    yield from _chip_problems(knowledge)
    yield from _object_problems(knowledge)
    yield from _limit_problems(knowledge)
    for name, layout in knowledge.fragments.items():
        yield from _source_problems(f'layout "{name}"', layout.source)
        if (knowledge.cuda_limit("warp_size") - 1).bit_length() != sum(bit.of_lane for bit in layout.bits):
            yield f'layout "{name}" does not use every bit of a lane\'s number'
        places = sorted(bit.position for bit in layout.bits if not bit.of_lane)
        if places != list(range(len(places))):
            yield f'layout "{name}" leaves out a bit of the element\'s place'


def check(knowledge: Knowledge) -> None:
    """Raise KnowledgeError with the first contradiction and how many more there are."""
    found = list(problems(knowledge))
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise KnowledgeError(f"{found[0]}{more}")


def _construct_problems(construct: Construct, knowledge: Knowledge) -> Iterator[str]:
    name = construct.name
    if construct.dtype not in ("", "operand") and knowledge.dtype(construct.dtype) is None:
        yield f'construct "{name}" has the unknown dtype "{construct.dtype}"'
    forms = (
        ("float_form", construct.float_form), ("integer_form", construct.integer_form),
        ("fast_math", construct.fast_math),
    )  # fmt: skip
    for field, other in forms:
        if other and knowledge.construct(other) is None:
            yield f'construct "{name}" names the unknown construct "{other}" as its {field}'
    if construct.lanes < 1:
        yield f'construct "{name}" has {construct.lanes} lanes'
    if construct.error.max_absolute is not None and len(construct.error.interval) != 2:
        yield f'construct "{name}" has an absolute error without the interval it holds on'
    yield from _source_problems(f'construct "{name}"', construct.source)


def _api_problems(api: Api, knowledge: Knowledge) -> Iterator[str]:
    for form in api.versions:
        yield from _form_problems(form, knowledge)
    for earlier, later in zip(api.versions, api.versions[1:], strict=False):
        if not earlier.until or _parsed(earlier.until) is None or _parsed(later.since) is None:
            yield f'api "{api.name}": the version from {later.since} follows one that is still open'
        elif NkiVersion.parse(later.since) < NkiVersion.parse(earlier.until):
            yield f'api "{api.name}": the versions from {earlier.since} and {later.since} overlap'


def _version_problems(knowledge: Knowledge) -> Iterator[str]:
    """Contradictions in what is known of versions: names that no table has, parameters that no version has."""
    for name, argument in knowledge.forms.notices:
        if knowledge.offers(name, knowledge.releases.newest.version) is None:
            yield f'a notice is about "{name}", which no table has'
        elif argument and not any(form.parameters for form in knowledge.apis[name].versions):
            yield f'a notice is about the argument "{argument}" of "{name}", whose parameters are not known'
    for name, changes in knowledge.meanings.items():
        entry = knowledge.api_in_any_version(name)
        for change in changes:
            words = (*change.given, *change.omitted, *change.position)
            if entry is None or any(not any(form.parameter(word) for form in entry.versions) for word in words):
                yield f'the change "{change.key}" is about "{name}" with parameters that no version has'


def _form_problems(form: ApiVersion, knowledge: Knowledge) -> Iterator[str]:
    where = f'api "{form.name}" from {form.since}'
    since, until = _parsed(form.since), _parsed(form.until) if form.until else None
    if since is None or (form.until and until is None):
        yield f'{where}: "{form.since}" to "{form.until}" is not a range of NKI versions'
    elif until is not None and until <= since:
        yield f"{where}: ends at {form.until}, before it begins"
    for word in (form.result_dtype, form.accumulate_dtype):
        if word not in _RESULT_WORDS and knowledge.dtype(word) is None:
            yield f'{where}: unknown dtype "{word}"'
    names = [parameter.name for parameter in form.parameters]
    if len(names) != len(set(names)):
        yield f"{where}: two parameters of one name"
    if "." in form.replacement and knowledge.api_in_any_version(form.replacement) is None:
        yield f'{where}: the replacement "{form.replacement}" is not a known call'
    yield from _target_problems(where, form.targets, knowledge)
    yield from _source_problems(where, form.source)


def _parsed(label: str) -> NkiVersion | None:
    try:
        return NkiVersion.parse(label)
    except ValueError:
        return None


def _dtype_problems(knowledge: Knowledge) -> Iterator[str]:
    for name, facts in knowledge.dtypes.by_name.items():
        if facts.kind is DTypeKind.FLOAT and facts.min_normal_exponent - facts.significand_bits + 1 != (
            facts.min_subnormal_exponent
        ):
            yield f'dtype "{name}": its smallest subnormal does not follow from its smallest normal'
        yield from _target_problems(f'dtype "{name}"', facts.targets, knowledge)
        yield from _source_problems(f'dtype "{name}"', facts.source)
    for name in CONCRETE:
        if name not in knowledge.dtypes.by_name:
            yield f'the IR\'s dtype "{name}" has no facts'


def _chip_problems(knowledge: Knowledge) -> Iterator[str]:
    for name, chip in knowledge.chips.items():
        for dtype in (*chip.psum_dtypes, *chip.matmul_dtypes):
            if knowledge.dtype(dtype) is None:
                yield f'chip "{name}": unknown dtype "{dtype}"'
        if chip.psum_banks * chip.psum_bank_bytes != chip.psum_bytes_per_partition:
            yield f'chip "{name}": PSUM banks do not add up to a partition'
        cited = [*chip.sources.values(), *(quantity.source for quantity in chip.quantities.values())]
        for source in (*cited, *(peak.rate.source for peak in chip.peaks)):
            yield from _source_problems(f'chip "{name}"', source)


def _object_problems(knowledge: Knowledge) -> Iterator[str]:
    objects = knowledge.objects
    for name, entry in objects.operators.items():
        yield from _target_problems(f'operator object "{name}"', entry.targets, knowledge)
    for name, constant in objects.constants.items():
        if constant.values.keys() != knowledge.chips.keys():
            yield f'constant "{name}" does not give one value for every chip'
    for name, found in objects.ranges.items():
        if _parsed(found.since) is None or (found.until and _parsed(found.until) is None):
            yield f'range "{name}": "{found.since}" to "{found.until}" is not a range of NKI versions'
        if not any(other == name or other.startswith(f"{name}.") for other in knowledge.object_names):
            yield f'range "{name}" is about no known name'
        yield from _source_problems(f'range "{name}"', found.source)
    for name in knowledge.stub_facts.exceptions:
        if name not in knowledge.object_names and not any(
            api == name or api.startswith(f"{name}.") for api in knowledge.apis
        ):
            yield f'exception "{name}" is about no known name'


def _limit_problems(knowledge: Knowledge) -> Iterator[str]:
    for name, limit in knowledge.limits.items():
        yield from _source_problems(f'limit "{name}"', limit.source)
    warp = knowledge.cuda_limit("warp_size")
    for construct in dict.fromkeys(knowledge.constructs.values()):
        if construct.semantics is Semantics.INDEX_WARP_SIZE and construct.value not in (None, warp):
            yield f'construct "{construct.name}" is {construct.value} and the limit "warp_size" {warp}'


def _target_problems(where: str, targets: tuple[str, ...], knowledge: Knowledge) -> Iterator[str]:
    for target in targets:
        if target not in knowledge.chips:
            yield f'{where}: unknown chip "{target}"'


def _source_problems(where: str, source: str) -> Iterator[str]:
    if not source.strip():
        yield f"{where} has no source"
