"""The knowledge base as one object: each table is read from `mappings/` when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path

from portcheck.core.errors import nearest
from portcheck.core.resources import data_folder
from portcheck.ir import Operator
from portcheck.knowledge.apis import Api, ApiVersion, load_apis
from portcheck.knowledge.chips import Chip, load_chips
from portcheck.knowledge.constructs import Construct, ConstructKind, load_constructs
from portcheck.knowledge.dtypes import DTypeFacts, DTypeTable, load_dtypes
from portcheck.knowledge.exceeding import Exceeding, LimitKind, exceeding_at, load_exceeding
from portcheck.knowledge.forms import FormTable, load_forms
from portcheck.knowledge.fragments import FragmentLayout, load_fragments
from portcheck.knowledge.limits import Limit, load_limits
from portcheck.knowledge.meanings import Change, load_meanings
from portcheck.knowledge.objects import Activation, NkiSpace, ObjectTable, OperatorObject, TileConstant, load_objects
from portcheck.knowledge.operands import CallFacts, load_operands
from portcheck.knowledge.ranges import range_of
from portcheck.knowledge.releases import Releases, load_releases
from portcheck.knowledge.schema import Unknown
from portcheck.knowledge.semantics import Semantics
from portcheck.knowledge.signatures import WRITTEN
from portcheck.knowledge.stubs import StubFacts, load_stub_facts
from portcheck.knowledge.versions import NkiVersion


class Knowledge:
    """Everything portcheck knows about CUDA, NKI, number formats and chips; all lookups return None when unknown.

    Names are qualified and un-aliased: "nki.language.add", "neuronxcc.nki.isa.activation", "numpy.float32",
    "cooperative_groups::reduce". A malformed file raises KnowledgeError when its table is first used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def constructs(self) -> Mapping[str, Construct]:
        """All CUDA constructs by every spelling."""
        return load_constructs(self._folder / "cuda")

    @cached_property
    def variables(self) -> tuple[Construct, ...]:
        """The variables of CUDA."""
        return tuple(found for found in self.constructs.values() if found.kind is ConstructKind.VARIABLE)

    @cached_property
    def types(self) -> Mapping[str, Construct]:
        """The types of CUDA that are made of numbers, by every spelling."""
        return {name: found for name, found in self.constructs.items() if found.semantics is Semantics.TYPE}

    @cached_property
    def limits(self) -> Mapping[str, Limit]:
        """All limits of CUDA devices by name."""
        return load_limits(self._folder / "cuda")

    @cached_property
    def fragments(self) -> Mapping[str, FragmentLayout]:
        """All layouts of matrix fragments by name."""
        return load_fragments(self._folder / "cuda")

    @cached_property
    def apis(self) -> Mapping[str, Api]:
        """All NKI calls by qualified name."""
        return load_apis(self._folder / "nki" / "calls")

    @cached_property
    def objects(self) -> ObjectTable:
        """The NKI operator objects, spaces, constants and activation ranges."""
        return load_objects(self._folder / "nki" / "objects")

    @cached_property
    def operands(self) -> Mapping[str, CallFacts]:
        """What the operands of NKI calls may be, by qualified name of the call."""
        return load_operands(self._folder / "nki" / "operands")

    @cached_property
    def exceeding(self) -> Mapping[LimitKind, tuple[Exceeding, ...]]:
        """What versions of NKI do when a limit is exceeded, by the sort of limit."""
        return load_exceeding(self._folder / "nki" / "exceeding.toml")

    @cached_property
    def stub_facts(self) -> StubFacts:
        """What is known about the public stub files."""
        return load_stub_facts(self._folder / "nki" / "stubs.toml")

    @cached_property
    def releases(self) -> Releases:
        """The versions of NKI."""
        return load_releases(self._folder / "nki" / "versions.toml")

    @cached_property
    def forms(self) -> FormTable:
        """The forms of writing that a version of NKI objects to."""
        return load_forms(self._folder / "nki" / "forms.toml")

    @cached_property
    def meanings(self) -> Mapping[str, tuple[Change, ...]]:
        """The calls of NKI whose meaning changed, by name."""
        return load_meanings(self._folder / "nki" / "meanings.toml")

    @cached_property
    def dtypes(self) -> DTypeTable:
        """All number formats."""
        return load_dtypes(self._folder / "dtypes")

    @cached_property
    def chips(self) -> Mapping[str, Chip]:
        """All chips by name."""
        return load_chips(self._folder / "hardware")

    def cuda_limit(self, name: str) -> int:
        """The limit `name` of CUDA devices: "warp_size" (lanes) or "threads_per_block"; KeyError for any other."""
        return self.limits[name].value

    def construct(self, name: str) -> Construct | None:
        """The CUDA construct spelled `name`."""
        return self.constructs.get(name)

    @cached_property
    def _written(self) -> frozenset[tuple[str, int]]:
        """Methods by the last part of their names, and the positions of arguments that they write."""
        methods = [found for found in self.constructs.values() if found.kind is ConstructKind.METHOD]
        return frozenset(
            (found.name.rpartition("::")[2], position)
            for found in methods
            for position, parameter in enumerate(found.parameters)
            if parameter.role in WRITTEN
        )

    def writes_argument(self, method: str, position: int) -> bool:
        """Whether a method of CUDA's libraries called `method` may change the variable it is given at `position`."""
        return (method, position) in self._written

    def api(self, name: str, version: NkiVersion) -> ApiVersion | None:
        """The NKI call `name` as `version` accepts it; None when that version has no such call."""
        entry = self.apis.get(name)
        return entry.at(version) if entry else None

    def api_in_any_version(self, name: str) -> Api | None:
        """The NKI call `name` with all its versions, so that removed and future calls can be told from unknown ones."""
        return self.apis.get(name)

    def nearest_api(self, name: str) -> str:
        """The known call spelled most like `name`, or ""."""
        return nearest(name, self.apis)

    def when_exceeded(self, kind: LimitKind, version: NkiVersion) -> Exceeding | None:
        """What `version` does when a limit of this sort is exceeded; None where nothing is written."""
        return exceeding_at(self.exceeding[kind], version)

    def offers(self, name: str, version: NkiVersion) -> bool | None:
        """Whether `version` has the NKI call or object `name`; None when no table has the name."""
        if name not in self.object_names:
            return self.api(name, version) is not None if name in self.apis else None
        found = range_of(name, self.objects.ranges)
        is_object = found is not None and found.includes(version)
        return is_object or self.api(name, version) is not None

    @cached_property
    def object_names(self) -> frozenset[str]:
        """The NKI names that are no calls: operators, spaces, constants, enumerations and members, engines, dtypes."""
        objects = self.objects
        members = (f"{name}.{member}" for name, found in objects.enumerations.items() for member in found)
        tables = (objects.operators, objects.spaces, objects.constants, objects.enumerations, objects.engines)
        return frozenset((*members, *self.dtypes.by_nki, *(name for table in tables for name in table)))

    def operator_object(self, name: str) -> OperatorObject | None:
        """The operator object `name`, such as "nki.language.add" or "numpy.add"."""
        return self.objects.operators.get(name)

    def operator_called(self, word: str) -> OperatorObject | None:
        """The operator object that signatures call `word` where they give it as a default: "maximum"."""
        return self._operators_by_word.get(word)

    @cached_property
    def _operators_by_word(self) -> Mapping[str, OperatorObject]:
        return {entry.name: entry for entry in self.objects.operators.values()}

    def space(self, name: str) -> NkiSpace | None:
        """The memory space `name`, such as "nki.language.sbuf"."""
        return self.objects.spaces.get(name)

    def tile_constant(self, name: str) -> TileConstant | None:
        """The hardware constant `name`, such as "nki.language.tile_size.pmax", with its value on every target."""
        return self.objects.constants.get(name)

    def constant(self, name: str, target: str) -> int | float | Unknown | None:
        """The value of the hardware constant `name` on the chip `target`."""
        entry = self.tile_constant(name)
        return entry.values.get(target) if entry else None

    def enumeration(self, name: str) -> tuple[str, ...] | None:
        """The members of the enumeration `name`, such as "nki.isa.reduce_cmd"."""
        return self.objects.enumerations.get(name)

    def engine(self, name: str) -> str | None:
        """The engine the object `name` selects: "vector" for "nki.isa.engine.vector" or "nki.isa.vector_engine"."""
        return self.objects.engines.get(name)

    def activation(self, operator: Operator) -> Activation | None:
        """The documented input range and accuracy of the scalar engine's function for the IR operator `operator`."""
        return self.objects.activations.get(operator)

    def dtype(self, name: str) -> DTypeFacts | None:
        """The facts about the format called `name` in the IR."""
        return self.dtypes.by_name.get(name)

    def cuda_dtype(self, spelling: str) -> DTypeFacts | None:
        """The format that CUDA spells `spelling`."""
        return self.dtypes.by_cuda.get(spelling)

    def nki_dtype(self, spelling: str) -> DTypeFacts | None:
        """The format that NKI or NumPy spells `spelling` (qualified: "nki.language.bfloat16", "numpy.float32")."""
        return self.dtypes.by_nki.get(spelling)

    def members(self, module: str) -> frozenset[str]:
        """The names directly inside the NKI package `module` ("nki.language"), as far as any table names them."""
        objects = self.objects
        tables = (
            self.apis,
            objects.operators,
            objects.spaces,
            objects.constants,
            objects.enumerations,
            objects.engines,
        )
        start = module + "."
        names = [name for table in (*tables, self.dtypes.by_nki) for name in table if name.startswith(start)]
        return frozenset(name[len(start) :].partition(".")[0] for name in names)

    def chip(self, target: str) -> Chip | None:
        """The chip called `target`, by name or generation ("trn2", "gen3")."""
        found = self.chips.get(target)
        return found or next((chip for chip in self.chips.values() if target in chip.targets), None)


@cache
def load() -> Knowledge:
    """The shipped knowledge base, one per process."""
    return Knowledge(data_folder("mappings"))
