"""A CUDA file that was read: its kernels, what did not parse, and the door to lowering."""

from __future__ import annotations

from collections.abc import Sequence, Set

from portcheck.core.errors import InputError
from portcheck.core.source import UTF_8, SourceFile
from portcheck.frontends.cuda.host.kernel_names import tell_apart
from portcheck.frontends.cuda.lower import chain_of, instances_of, lower, specialisations_of
from portcheck.frontends.cuda.options import CudaOptions
from portcheck.frontends.cuda.parsing.definitions import Definitions, Function, declared_name
from portcheck.frontends.cuda.parsing.include import Includes
from portcheck.frontends.cuda.parsing.repair import read_unit
from portcheck.frontends.cuda.parsing.stranded import read_stranded
from portcheck.frontends.cuda.read_text import Text
from portcheck.frontends.cuda.text.containers import embedded
from portcheck.frontends.cuda.text.lexer import significant
from portcheck.frontends.cuda.text.macros import Macro
from portcheck.frontends.cuda.text.nesting import is_too_deep
from portcheck.frontends.cuda.text.preprocess import Preprocessor
from portcheck.frontends.reading import KernelSignature, Problem
from portcheck.ir import Program

_MOST_PROBLEMS = 100


class CudaModule:
    """A CUDA file with the headers it includes."""

    def __init__(self, text: Text, options: CudaOptions) -> None:
        self._text = text
        self._options = options

    @property
    def kernels(self) -> tuple[KernelSignature, ...]:
        """The kernels defined in the file, in order; one name stands once."""
        found: dict[str, KernelSignature] = {}
        for function in self._text.definitions.kernels:
            found.setdefault(function.name, _signature(function))
        return tuple(found.values())

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What did not parse inside the kernels."""
        found: list[Problem] = []
        definitions = self._text.definitions
        special = [function for functions in definitions.special_kernels.values() for function in functions]
        for function in (*definitions.kernels, *special):
            if function.node.is_broken and len(found) < _MOST_PROBLEMS:
                found.extend(_problems(function))
        return tuple(found[:_MOST_PROBLEMS])

    @property
    def instances(self) -> tuple[str, ...]:
        """The kernels in order; one that is a template by what its instances are called, where they are several."""
        found = instances_of(self._text, self._options)
        return tuple(label for kernel in self.kernels for label in found[kernel.name])

    @property
    def specialisations(self) -> tuple[str, ...]:
        """The explicit specialisations of the kernels, as `instances` has them."""
        return specialisations_of(self._text, self._options)

    @property
    def chain(self) -> tuple[str, ...]:
        """All kernels of the file, if one host function makes its outputs by launching them one after the other."""
        return chain_of(self._text, self._options)

    def lower(self, names: Sequence[str]) -> Program:
        """The program that launches the kernels `names`, in that order; InputError for an unknown name.

        If they are all that one host function launches, and build on each other, the launches are those it makes.
        A name may have template arguments, as `instances` gives it.
        """
        return lower(self._text, self._options, names)


def read_cuda(source: SourceFile, options: CudaOptions) -> CudaModule:
    """Reads a CUDA file, or the CUDA text in a Python file, and the headers in reach.

    Never raises on what they say, but for an InputError where brackets are nested without end.
    """
    held = embedded(source) if source.path.endswith(_PYTHON) else None
    text = source.text if held is None else held.text
    if is_too_deep(text):
        hint = "look for brackets that are not closed"
        raise InputError(f"{source.path}: brackets are nested too deeply to be read", hint=hint, path=source.path)
    definitions = Definitions()
    macros = {name: Macro(name, None, value) for name, value in options.defines}
    for name, value in _PREDEFINED.items():
        macros.setdefault(name, Macro(name, None, value))
    preprocessor = Preprocessor(macros, template_parameters_in(text, dict(options.defines).keys()))
    includes = Includes(source.path, options.include_roots, definitions)
    prepared, origins = preprocessor.process(text, includes.read)
    unit = read_unit(source, prepared, (origins,) if held is None else (origins, held.origins))
    definitions.collect(unit, own=True)
    left = read_stranded(definitions, unit)
    tell_apart(definitions)
    notes = [f"header {name} {reason}" for name, reason in includes.left_out.items()]
    notes.extend(held.notes if held is not None else ())
    if left:
        notes.append(f"{left} more kernels stand in text that does not parse, and were not read")
    if source.encoding != UTF_8:
        notes.append(f"not UTF-8: read as {source.encoding}")
    if preprocessor.undefined - {""}:
        notes.append(f"taken as not defined in #if: {', '.join(sorted(preprocessor.undefined - {''}))}")
    if preprocessor.has_exceeded:
        notes.append("macros expand to too much; some were left as they are")
    if _ARCHITECTURE in text and _ARCHITECTURE not in dict(options.defines):
        notes.append(f"{_ARCHITECTURE} is taken to be {_ASSUMED_ARCHITECTURE}")
    return CudaModule(Text(source.path, unit, definitions, preprocessor.macros, tuple(notes)), options)


_PYTHON = ".py"
_ARCHITECTURE = "__CUDA_ARCH__"
_ASSUMED_ARCHITECTURE = "800"
_PREDEFINED = {_ARCHITECTURE: _ASSUMED_ARCHITECTURE, "__CUDACC__": "1", "__NVCC__": "1", "__cplusplus": "201703L"}
"""What nvcc defines, with the options that it has by default."""


def template_parameters_in(text: str, wanted: Set[str]) -> frozenset[str]:
    """Those of the names `wanted` that are template parameters of `text`: macros would replace them."""
    if not wanted or "template" not in text:
        return frozenset()
    found: set[str] = set()
    tokens = [token.text for token in significant(text)]
    depth = 0
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        depth += token == "<" and (before == "template" or depth > 0)
        depth -= min(depth, {">": 1, ">>": 2}.get(token, 0))
        if depth and token in wanted and after in (",", ">", "=", ">>"):
            found.add(token)
    return frozenset(found)


def _signature(function: Function) -> KernelSignature:
    names = tuple(declared_name(parameter.field("declarator")) for parameter in function.parameters)
    body = function.body
    span = function.node.span
    if body is not None:
        span = function.node.unit.span(function.node.start, function.declarator.end)
    return KernelSignature(function.name, names, span)


def _problems(function: Function) -> list[Problem]:
    if function.body is None:
        inner = [node.span.start.line for node in function.node.below() if node.type == "ERROR"][1:]
        return [Problem(function.node.span, f"the text is broken on line {inner[0]}" if inner else "it is not closed")]
    found: list[Problem] = []
    for node in function.node.below():
        if node.is_missing:
            found.append(Problem(node.span, f"{node.type} is missing"))
        elif node.type == "ERROR":
            found.append(Problem(node.span, "does not parse"))
    return found
